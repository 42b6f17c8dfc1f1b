// Autograd nodes: when they are made (walked from a hop's results), when first met, and each run in backward.
//
// Fields are read raw: grad_fn() would rebuild the nodes of views, topological_nr() would mark the node.
#include <ATen/SequenceNumber.h>
#include <ATen/record_function.h>
#include <cxxabi.h>
#include <torch/csrc/autograd/engine.h>
#include <torch/csrc/autograd/function.h>
#include <torch/csrc/autograd/functions/accumulate_grad.h>
#include <torch/csrc/autograd/graph_task.h>
#include <torch/csrc/autograd/python_function.h>
#include <torch/csrc/autograd/variable.h>

#include <cstring>

#include "tracer/pytorch/agent.h"

namespace peel::agent {
namespace {

using torch::autograd::Node;
constexpr size_t kMaxWalk = 4096;  // nodes recorded by one hop at most; a graph made before the recording may be large

inline Node* grad_fn_of(c10::TensorImpl* i) {
  auto* m = static_cast<torch::autograd::AutogradMeta*>(i->autograd_meta_.get());
  return m ? m->grad_fn_.get() : nullptr;
}

/// The tensor whose gradient a node accumulates; null: another node.
const c10::TensorImpl* variable_of(const Node* n) {
  if (typeid(*n) != typeid(torch::autograd::AccumulateGrad)) return nullptr;
  return static_cast<const torch::autograd::AccumulateGrad*>(n)->variable.unsafeGetTensorImpl();
}

/// True when this thread has recorded the node; remembers it until another one lies there. Nodes of leaves have no number
/// of their own: they are told apart by their variable.
bool seen(Thread* t, const Node* n) {
  uint64_t sequence = n->sequence_nr_;
  if (sequence == UINT64_MAX) sequence -= reinterpret_cast<uintptr_t>(variable_of(n));
  const uintptr_t a = reinterpret_cast<uintptr_t>(n);
  auto& s = t->seen[(a * 0x9e3779b97f4a7c15ull) >> 51];
  static_assert(kSeenNodes == 1 << (64 - 51));
  if (s.node == n && s.sequence == sequence) return true;
  s = {n, sequence};
  return false;
}

std::string short_name(const char* mangled) {
  int status = 0;
  char* s = abi::__cxa_demangle(mangled, nullptr, nullptr, &status);
  std::string r = status == 0 && s ? s : mangled;
  free(s);
  const size_t template_at = r.find('<');
  const size_t colon = r.rfind("::", template_at);
  return colon == std::string::npos ? r : r.substr(colon + 2);
}

/// The Python object of a custom function (a field in 2.12 and earlier).
template <class N>
PyObject* object_of(const N* n) {
  if constexpr (requires { n->pyobj(); }) return n->pyobj();
  else return n->obj;
}

/// The Python type of a custom function; null: another node.
PyTypeObject* python_type(const Node* n) {
  if (strcmp(typeid(*n).name(), "N5torch8autograd6PyNodeE")) return nullptr;  // its type_info is not exported
  auto* object = object_of(static_cast<const torch::autograd::PyNode*>(n));
  return object ? Py_TYPE(object) : nullptr;
}

/// A node's class: its name as `grad_fn.name()` says it, without its namespace, and what it saves. Custom functions
/// have the name of their Python class.
const Thread::NodeClass& class_of(Thread* t, const Node* n) {
  const PyTypeObject* python = python_type(n);
  const void* key = python ? static_cast<const void*>(python) : &typeid(*n);
  auto& c = t->node_classes[(reinterpret_cast<uintptr_t>(key) >> 4) % kNodeClasses];
  if (c.type != key) c = {key, intern(node_text(n)), saves(typeid(*n).name())};
  return c;
}

void write_node(Thread* t, const Node* n, const c10::TensorImpl* output, bool late) {
  const auto& edges = n->next_edges_;
  const size_t count = std::min<size_t>(edges.size(), 2000);
  const Thread::NodeClass& of = class_of(t, n);
  const uint32_t words = wire::words_of(sizeof(wire::Node) + count * sizeof(wire::Edge));
  uint64_t* at = t->ring.reserve(words);
  if (!at) return;
  auto* r = reinterpret_cast<wire::Node*>(at);
  r->head = {wire::RecordKind::kNode, static_cast<uint16_t>(words), of.name};
  r->node = reinterpret_cast<uintptr_t>(n);
  r->sequence_nr = n->sequence_nr_;
  r->topological_nr = n->topological_nr_;
  r->thread_id = n->thread_id_;
  r->variable = reinterpret_cast<uintptr_t>(variable_of(n));
  r->output = reinterpret_cast<uintptr_t>(output);
  r->edges = static_cast<uint32_t>(count);
  r->found_late = late;
  auto* e = reinterpret_cast<wire::Edge*>(r + 1);
  for (size_t i = 0; i < count; i++) {
    const Node* next = edges[i].function.get();
    e[i] = {reinterpret_cast<uintptr_t>(next), next ? next->sequence_nr_ : 0, edges[i].input_nr, 0};
  }
  t->ring.publish(words);
  write_saved(t, n, of.saves, !late);
}

void notice_node(Thread* t, const Node* n) {
  Noticed& seen = t->noticed;
  if (seen.depth != t->depth) seen.nodes.clear(), seen.depth = t->depth;
  seen.nodes.push_back(node_text(n));
}

/// Records a node and what it leads to, as far as that is new. Nodes of this thread that are numbered from `low` on were made by
/// this hop; others are only met here.
void walk(Thread* t, const Node* first, uint64_t low, const c10::TensorImpl* output) {
  if (seen(t, first)) return;
  std::vector<const Node*> todo{first};
  for (size_t written = 0; !todo.empty() && written < kMaxWalk; written++) {
    const Node* n = todo.back();
    todo.pop_back();
    const bool made_here = n->sequence_nr_ >= low && n->sequence_nr_ != UINT64_MAX && n->thread_id_ == at::RecordFunction::currentThreadId();
    write_node(t, n, n == first ? output : nullptr, !made_here);
    if (made_here && attention(t)) notice_node(t, n);
    for (const auto& e : n->next_edges_)
      if (const Node* next = e.function.get(); next && !seen(t, next)) todo.push_back(next);
  }
}

struct RunContext : at::ObserverContext { bool recorded = false; };

std::unique_ptr<at::ObserverContext> run_begins(const at::RecordFunction& f) {
  auto context = std::make_unique<RunContext>();
  Thread* t = g_detail.load(std::memory_order_relaxed) == kStandard ? this_thread() : nullptr;
  const auto node = torch::autograd::get_current_node();
  if (!t || !node) return context;
  context->recorded = begin_node_run(t, node.get(), torch::autograd::get_current_graph_task_id());
  return context;
}
void run_ends(const at::RecordFunction&, at::ObserverContext* c) {
  auto* context = static_cast<RunContext*>(c);
  if (!context || !context->recorded || !tl_thread || !tl_thread->depth) return;
  Frame* f = &tl_thread->frames[tl_thread->depth - 1];
  f->raised = std::uncaught_exceptions() > 0;
  end_hop(tl_thread, f);
}

}  // namespace

/// Without its namespace; custom functions have the name of their Python class.
std::string node_text(const void* node) {
  const auto* n = static_cast<const Node*>(node);
  const PyTypeObject* python = python_type(n);
  return python ? python->tp_name : short_name(typeid(*n).name());
}
const void* running_node() { return torch::autograd::get_current_node().get(); }

void find_nodes(Thread* t, Frame* f, c10::TensorImpl* result) {
  if (const Node* n = grad_fn_of(result)) walk(t, n, f->sequence, result);
}

void meet_node(Thread* t, c10::TensorImpl* argument) {
  if (const Node* n = grad_fn_of(argument)) walk(t, n, UINT64_MAX, argument);
}

void write_node_run(Thread* t, const void* node, int64_t graph_task) {
  const auto* n = static_cast<const Node*>(node);
  walk(t, n, UINT64_MAX, nullptr);
  constexpr uint32_t kWords = sizeof(wire::NodeRun) / 8;
  if (uint64_t* at = t->ring.reserve(kWords)) {
    *reinterpret_cast<wire::NodeRun*>(at) = {{wire::RecordKind::kNodeRun, kWords, 0}, reinterpret_cast<uintptr_t>(n), n->sequence_nr_, static_cast<uint64_t>(graph_task)};
    t->ring.publish(kWords);
  }
}

void install_backward_callback() {
  at::addGlobalCallback(at::RecordFunctionCallback(&run_begins, &run_ends).scopes({at::RecordScope::BACKWARD_FUNCTION}));
}

}  // namespace peel::agent
