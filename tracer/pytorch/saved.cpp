// What autograd nodes keep for backward, read raw out of them right after they were found.
//
// SavedVariable::unpack() would make tensors, run hooks and raise; nothing of it is called. Backward of another thread may
// let a node's variables go at any time, under the node's mutex: a node that this hop did not make is read under it, or not
// at all. Custom functions of Python have no such mutex; each is read once in a process, nearly always by the thread that
// made it.
#include <dlfcn.h>
#include <torch/csrc/autograd/custom_function.h>
#include <torch/csrc/autograd/functions/tensor.h>
#include <torch/csrc/autograd/python_function.h>
#include <torch/csrc/autograd/saved_variable.h>

#include <cstring>
#include <string_view>
#include <unordered_map>

#include "tracer/pytorch/agent.h"
#include "tracer/pytorch/saved.h"

namespace peel::agent {
namespace {

using torch::autograd::Node;
using torch::autograd::SavedVariable;

constexpr std::string_view kPythonType = "N5torch8autograd6PyNodeE", kCppType = "N5torch8autograd7CppNodeI", kSlicesType = "N5torch8autograd10CopySlicesE";
const SavedClass kPython{"", nullptr, 0}, kCpp{"", nullptr, 0}, kSlices{"", nullptr, 0};

std::unordered_map<std::string_view, const SavedClass*>* g_classes = nullptr;  // complete before the recording begins

/// String ids of names, by their address; of one process.
struct CachedName { std::atomic<const char*> text{nullptr}; std::atomic<uint64_t> id{0}; };
CachedName g_names[4096];
uint32_t name_id(const char* name) {
  CachedName& c = g_names[(reinterpret_cast<uintptr_t>(name) * 0x9e3779b97f4a7c15ull) >> 52];
  const uint64_t epoch = uint64_t{g_process_epoch} << 32;
  const uint64_t known = c.id.load(std::memory_order_acquire);
  if (c.text.load(std::memory_order_relaxed) == name && known >> 32 == g_process_epoch) return static_cast<uint32_t>(known);
  const uint32_t id = intern(name);
  const char* none = nullptr;
  if (c.text.compare_exchange_strong(none, name, std::memory_order_relaxed) || none == name) c.id.store(epoch | id, std::memory_order_release);
  return id;
}

/// Nodes whose variables some thread of this process has recorded; forgets.
std::atomic<uint64_t> g_read[1 << 14];
std::atomic<uint64_t>& read_slot(const Node* n, uint64_t* mark) {
  *mark = (reinterpret_cast<uintptr_t>(n) ^ n->sequence_nr_ * 0x9e3779b97f4a7c15ull) + g_process_epoch;
  return g_read[(*mark * 0x9e3779b97f4a7c15ull) >> 50];
}

struct Writing {
  Thread* t;
  const Node* node;
  uint32_t flags, number = 0;
};

void put(Writing& w, const SavedVariable& v, const char* name, uint32_t list_index) {
  if (v.was_default_constructed_) return;  // None was saved
  const uint32_t number = w.number++;
  c10::TensorImpl* i = v.data_.defined() ? v.data_.unsafeGetTensorImpl() : nullptr;
  const uint32_t own = sizeof(wire::Saved) / 8, more = i ? tensor_words(i) : 0, text = name_id(name);
  uint64_t* at = w.t->ring.reserve(own + more);
  if (!at) return;
  auto* r = reinterpret_cast<wire::Saved*>(at);
  r->head = {wire::RecordKind::kSaved, static_cast<uint16_t>(own + more), text};
  r->node = reinterpret_cast<uintptr_t>(w.node);
  r->sequence_nr = w.node->sequence_nr_;
  r->number = number;
  r->list_index = list_index;
  r->version = v.saved_version_;
  r->flags = w.flags | (i ? v.saved_original_ ? 0u : uint32_t(wire::kSavedOutput) : v.hooks_ ? wire::kSavedPacked : wire::kSavedReleased);
  r->bytes = 0;
  if (i) {
    const c10::StorageImpl* s = i->storage_.unsafeGetStorageImpl();
    if (s && s->data_ptr_.get() && !s->size_bytes_.is_heap_allocated()) r->bytes = static_cast<uint64_t>(s->size_bytes_.as_int_unchecked());
    if (!i->version_counter_.version_counter_) r->version = wire::kNoVersion;
    describe_tensor(reinterpret_cast<wire::Tensor*>(r + 1), more, 0, i, flags_of(i));
  }
  w.t->ring.publish(own + more);
}

void put_list(Writing& w, const std::vector<SavedVariable>& list, const char* name) {
  for (size_t i = 0; i < list.size(); i++) put(w, list[i], name, static_cast<uint32_t>(i) + 1);
}

void put_fields(Writing& w, const Node* n, const SavedClass* c) {
  const char* base = reinterpret_cast<const char*>(n);
  if (c == &kPython) {
    // a field in 2.12 and earlier
    PyObject* object = nullptr;
    const auto get = [&](const auto* p) {
      if constexpr (requires { p->pyobj(); }) object = p->pyobj();
      else object = p->obj;
    };
    get(static_cast<const torch::autograd::PyNode*>(n));
    if (object) put_list(w, reinterpret_cast<const THPFunction*>(object)->saved_variables, "saved_tensors");
  } else if (c == &kCpp) {
    struct Any {};  // where ctx_ lies doesn't depend on the function
    put_list(w, static_cast<const torch::autograd::CppNode<Any>*>(n)->ctx_.saved_variables_, "saved_variables");
  } else if (c == &kSlices) {
    const Node* inner = static_cast<const torch::autograd::CopySlices*>(n)->fn.get();
    const SavedClass* inside = inner ? saves(typeid(*inner).name()) : nullptr;
    w.flags |= wire::kSavedInside;
    if (inside && inside != &kSlices) put_fields(w, inner, inside);
  }
  for (uint32_t i = 0; i < c->count; i++) {
    const SavedField& f = c->fields[i];
    if (f.list) put_list(w, *reinterpret_cast<const std::vector<SavedVariable>*>(base + f.offset), f.name);
    else put(w, *reinterpret_cast<const SavedVariable*>(base + f.offset), f.name, 0);
  }
}

}  // namespace

const SavedClass* saves(const char* type) {
  if (!g_classes) return nullptr;
  const std::string_view name = type;
  if (name == kPythonType) return &kPython;
  if (name == kSlicesType) return &kSlices;
  if (name.starts_with(kCppType)) return &kCpp;
  const auto at = g_classes->find(name);
  return at == g_classes->end() ? nullptr : at->second;
}

void write_saved(Thread* t, const void* node, const SavedClass* c, bool made_here) {
  if (!g_classes) return;
  const auto* n = static_cast<const Node*>(node);
  if (!c) return lost(t, "saved tensors of nodes of unknown classes");
  if (!c->count && c != &kPython && c != &kCpp && c != &kSlices) return;
  uint64_t mark;
  std::atomic<uint64_t>& slot = read_slot(n, &mark);
  if (slot.load(std::memory_order_relaxed) == mark) return;
  std::mutex* mutex = made_here ? nullptr : &const_cast<Node*>(n)->mutex_;
  if (mutex && !mutex->try_lock()) return lost(t, "saved tensors of nodes that were running elsewhere");
  Writing w{t, n, 0};
  put_fields(w, n, c);
  if (mutex) mutex->unlock();
  slot.store(mark, std::memory_order_relaxed);
}

const char* load_saved_part(const char* path) {
  if (g_classes) return nullptr;
  static std::string why;
  void* library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
  const auto* table = library ? static_cast<const SavedTable*>(dlsym(library, kSavedTable)) : nullptr;
  if (!table) return why = std::string("the table of what nodes save does not load: ") + dlerror(), why.c_str();
  auto* classes = new std::unordered_map<std::string_view, const SavedClass*>();
  for (uint32_t i = 0; i < table->count; i++) classes->emplace(table->classes[i].type, &table->classes[i]);
  g_classes = classes;
  return nullptr;
}

}  // namespace peel::agent
