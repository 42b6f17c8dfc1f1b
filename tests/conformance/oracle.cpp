// What stock PyTorch dispatches, seen through public API only: the independent answer that the recorder is
// held against. It shares no code, no private layout and no idea with the recorder.
//
//  * calls: a boxed backend fallback at TESTING_ONLY_GenericMode, a key that nothing else uses; the driver
//    puts it into the thread's included set, so every call lands here first and goes on by redispatchBoxed.
//  * announced: PyTorch's own record-function callbacks name every call (never a redispatch), also where the
//    fallback is excluded, but say neither key nor set.
//  * hops: boxed wrappers registered over the kernels that an operator has already, at the same key, so that
//    no rule of the table decides differently.
//
// Rows are written as JSON in begin order; key sets are raw, without the oracle's own bit.
// Nodes are read from the raw field `grad_fn_`: the accessor would make nodes anew for views.
#include <ATen/SequenceNumber.h>
#include <ATen/core/dispatch/Dispatcher.h>
#include <ATen/record_function.h>
#include <torch/csrc/autograd/function.h>
#include <torch/csrc/autograd/functions/accumulate_grad.h>
#include <torch/csrc/autograd/variable.h>
#include <torch/library.h>

#include <cstdio>
#include <deque>
#include <map>
#include <mutex>
#include <set>
#include <sstream>

namespace {

using c10::DispatchKey;
using c10::DispatchKeySet;
using torch::jit::Stack;

constexpr DispatchKey kOwnKey = DispatchKey::TESTING_ONLY_GenericMode;
const DispatchKeySet own_set(kOwnKey);

struct Node {
  std::string name;
  uint64_t sequence_nr;
  std::vector<std::string> next;
};

struct Row {
  const char* kind;  // "call" or "hop"
  int thread, depth;
  std::string op, key;
  uint64_t keyset, included, excluded, arguments;  // arguments: union over the tensors and generators passed
  bool grad, inference;
  bool on;         // would a call made here be seen as a call?
  bool announced;  // did a record-function callback name this operator just before?
  uint64_t sequence_before, sequence_after;
  std::string raised, in, out;
  std::vector<Node> nodes;
};

std::mutex mutex;  // guards all of these
std::deque<Row> rows;
std::set<std::pair<int, uint64_t>> seen_nodes;
std::set<std::string> announced_names;
int threads = 0;

thread_local int depth = 0;
thread_local int thread_id = -1;
thread_local std::string announced;  // by a callback, and not yet followed by a row
// Nodes made outside of any call (a Python autograd.Function) are looked for at the inputs of the next one.
thread_local uint64_t base_sequence = 0, known_nodes = 0;

std::string escaped(const std::string& text) {
  std::string out;
  for (unsigned char c : text) {
    if (c == '"' || c == '\\') {
      out += '\\';
      out += static_cast<char>(c);
    } else if (c < 32) {
      char buffer[8];
      snprintf(buffer, sizeof buffer, "\\u%04x", c);
      out += buffer;
    } else {
      out += static_cast<char>(c);
    }
  }
  return out;
}

std::string describe(const at::Tensor& t) {
  if (!t.defined()) return "undef";
  std::ostringstream o;
  o << c10::toString(t.scalar_type()) << "[";
  if (t.layout() == c10::kStrided && !t.is_nested()) {
    const char* comma = "";
    for (const c10::SymInt& size : t.sym_sizes()) {
      auto number = size.maybe_as_int();
      o << comma;
      o << (number ? std::to_string(*number) : "?");
      comma = ",";
    }
  } else {
    o << "?";
  }
  o << "]";
  if (t.unsafeGetTensorImpl()->is_wrapped_number()) o << "w";
  return o.str();
}

template <class F>
void each_tensor(const c10::IValue& value, F f) {
  if (value.isTensor()) {
    f(value.toTensor());
  } else if (value.isTensorList()) {
    for (const at::Tensor& t : value.toTensorVector()) f(t);
  } else if (value.isList()) {
    for (const c10::IValue& element : value.toListRef()) each_tensor(element, f);
  }
}

template <class Iterator>
DispatchKeySet keys_of(Iterator begin, Iterator end) {
  DispatchKeySet keys;
  for (; begin != end; ++begin) {
    each_tensor(*begin, [&](const at::Tensor& t) {
      keys = keys | t.key_set();  // an undefined one has a set too, and it counts
    });
    if (begin->isGenerator()) keys = keys | begin->toGenerator().key_set();
  }
  return keys;
}

template <class Iterator>
std::string describe_all(Iterator begin, Iterator end) {
  std::string text;
  for (; begin != end; ++begin) {
    each_tensor(*begin, [&](const at::Tensor& t) {
      if (!text.empty()) text += " ";
      text += describe(t);
    });
  }
  return text;
}

std::string node_name(torch::autograd::Node* node) {
  std::string name = node->name();
  auto colon = name.rfind("::");
  return colon == std::string::npos ? name : name.substr(colon + 2);
}

/// Collects the nodes reachable from `node` that were made in [low, high) and not seen before.
void walk(torch::autograd::Node* node, uint64_t low, uint64_t high, std::vector<Node>& out) {
  if (!node || node->sequence_nr() < low || node->sequence_nr() >= high) return;
  {
    std::lock_guard<std::mutex> guard(mutex);
    if (!seen_nodes.insert({thread_id, node->sequence_nr()}).second) return;
  }
  known_nodes++;
  Node found{node_name(node), node->sequence_nr(), {}};
  for (auto& edge : node->next_edges()) {
    found.next.push_back(edge.function ? node_name(edge.function.get()) : "none");
  }
  out.push_back(std::move(found));
  for (auto& edge : node->next_edges()) walk(edge.function.get(), low, high, out);
}

void nodes_at(const at::Tensor& t, uint64_t low, uint64_t high, std::vector<Node>& out) {
  if (!t.defined()) return;
  if (auto* meta = torch::autograd::impl::get_autograd_meta(t)) walk(meta->grad_fn_.get(), low, high, out);
}

std::unique_ptr<at::ObserverContext> announce(const at::RecordFunction& function) {
  if (auto name = function.operator_name()) {
    announced = c10::toString(*name);
    std::lock_guard<std::mutex> guard(mutex);
    announced_names.insert(announced);
  }
  return nullptr;
}

/// One row while its call runs.
class Scope {
 public:
  /// `key`: where the hop landed; Undefined = the highest of the set.
  Scope(const char* kind, const c10::OperatorHandle& op, DispatchKeySet keyset, DispatchKey key, Stack* stack)
      : stack_(stack), returns_(op.schema().returns().size()), before_(at::sequence_number::peek()) {
    if (thread_id < 0) {
      std::lock_guard<std::mutex> guard(mutex);
      thread_id = threads++;
    }
    auto first = stack->end() - static_cast<ptrdiff_t>(op.schema().arguments().size());
    auto tls = c10::impl::tls_local_dispatch_key_set();
    auto set = keyset - own_set;
    Row row{kind, thread_id, depth++, c10::toString(op.operator_name()), c10::toString(key == DispatchKey::Undefined ? set.highestPriorityTypeId() : key),
            set.raw_repr(), (tls.included_ - own_set).raw_repr(), tls.excluded_.raw_repr(),
            keys_of(first, stack->end()).raw_repr(), c10::GradMode::is_enabled(), c10::InferenceMode::is_enabled(),
            tls.included_.has(kOwnKey) && !tls.excluded_.has(kOwnKey), false, before_, before_, "",
            describe_all(first, stack->end()), "", {}};
    if (before_ - base_sequence > known_nodes) {
      for (auto it = first; it != stack->end(); ++it) {
        each_tensor(*it, [&](const at::Tensor& t) { nodes_at(t, base_sequence, before_, row.nodes); });
      }
    }
    row.announced = announced == row.op;
    announced.clear();
    std::lock_guard<std::mutex> guard(mutex);
    rows.push_back(std::move(row));
    row_ = &rows.back();  // a deque keeps it in place
  }
  ~Scope() {
    depth--;
    row_->sequence_after = at::sequence_number::peek();
  }

  template <class F>
  void run(F f) {
    try {
      f();
    } catch (const c10::Error& e) {
      raised(e.what_without_backtrace());
      throw;
    } catch (const std::exception& e) {
      raised(e.what());
      throw;
    }
    returned();
  }

 private:
  void returned() {
    uint64_t after = at::sequence_number::peek();
    auto first = stack_->end() - static_cast<ptrdiff_t>(returns_);
    for (auto it = first; it != stack_->end(); ++it) {
      each_tensor(*it, [&](const at::Tensor& t) { nodes_at(t, before_, after, row_->nodes); });
    }
    row_->out = describe_all(first, stack_->end());
  }
  void raised(const std::string& what) {
    std::string line = what.substr(0, what.find('\n'));
    row_->raised = line.empty() ? "?" : line;
  }

  Row* row_;
  Stack* stack_;
  size_t returns_;
  uint64_t before_;
};

void call_kernel(const c10::OperatorHandle& op, DispatchKeySet keyset, Stack* stack) {
  Scope scope("call", op, keyset, DispatchKey::Undefined, stack);
  scope.run([&] { op.redispatchBoxed(keyset & DispatchKeySet(DispatchKeySet::FULL_AFTER, kOwnKey), stack); });
}

struct HopKernel : c10::OperatorKernel {
  HopKernel(c10::SafeKernelFunction previous, DispatchKey at)
      : previous(std::move(previous)), key(c10::isAliasDispatchKey(at) ? DispatchKey::Undefined : at) {}
  void operator()(const c10::OperatorHandle& op, DispatchKeySet keyset, Stack* stack) {
    Scope scope("hop", op, keyset, key, stack);
    scope.run([&] { previous.callBoxed(op, keyset, stack); });
  }
  c10::SafeKernelFunction previous;
  // The set doesn't always say where a call landed: the Python dispatcher calls the kernel of a key of its choice.
  DispatchKey key;
};

using Handles = std::vector<c10::RegistrationHandleRAII>;
/// Never destroyed: the wrappers must outlive every static that may still call an operator.
Handles& held() {
  static auto* handles = new Handles();
  return *handles;
}
/// By operator: what oracle_release takes back.
std::map<std::string, Handles>& loosely_held() {
  static auto* handles = new std::map<std::string, Handles>();
  return *handles;
}

}  // namespace

TORCH_LIBRARY_IMPL(_, TESTING_ONLY_GenericMode, m) {
  m.fallback(torch::CppFunction::makeFromBoxedFunction<&call_kernel>());
}

// Called by oracle.py through ctypes.
extern "C" {

/// Turns the recording of this thread's calls on or off.
void oracle_mode(int on) {
  c10::impl::tls_set_dispatch_key_included(kOwnKey, on != 0);
  if (on) base_sequence = at::sequence_number::peek();
  static const auto handle = at::addGlobalCallback(at::RecordFunctionCallback(&announce).scopes({at::RecordScope::FUNCTION}));
}

/// The same without counting nodes anew. Returns whether it was on.
int oracle_aside(int on) {
  bool was = c10::impl::tls_is_dispatch_key_included(kOwnKey);
  c10::impl::tls_set_dispatch_key_included(kOwnKey, on != 0);
  return was;
}

/// Wraps the kernel now computed for the runtime key `from`, registering the wrapper at `at`: the key or alias
/// that supplied it; `loose`: until oracle_release. 0 = done, 1 = no such operator, 2 = refused (said on stderr).
int oracle_wrap(const char* name, const char* overload, int at, int from, int loose) {
  auto& dispatcher = c10::Dispatcher::singleton();
  auto op = dispatcher.findOp({name, overload});
  if (!op) return 1;
  try {
    auto kernel = op->getComputedKernelForDispatchKey(static_cast<DispatchKey>(from));
    Handles& handles = loose ? loosely_held()[std::string(name) + "." + overload] : held();
    handles.push_back(dispatcher.registerImpl(
        {name, overload}, static_cast<DispatchKey>(at),
        c10::KernelFunction::makeFromBoxedFunctor(std::make_unique<HopKernel>(std::move(kernel), static_cast<DispatchKey>(at))),
        std::nullopt, nullptr, "oracle"));
  } catch (const std::exception& e) {
    fprintf(stderr, "wrap %s.%s: %s\n", name, overload, e.what());
    return 2;
  }
  return 0;
}

/// Removes the wrappers of that operator that were registered loosely.
void oracle_release(const char* name, const char* overload) {
  loosely_held().erase(std::string(name) + "." + overload);
}

/// The number of the key of that name in this PyTorch, -1 = none.
int oracle_key(const char* name) {
  for (int i = 0; i <= static_cast<int>(DispatchKey::EndOfAliasKeys); i++) {
    if (std::string(c10::toString(static_cast<DispatchKey>(i))) == name) return i;
  }
  return -1;
}

/// Writes the names of all operators that were called, one a line: also where no row tells. 0 = done.
int oracle_names(const char* path) {
  std::lock_guard<std::mutex> guard(mutex);
  FILE* f = fopen(path, "w");
  if (!f) return 1;
  for (const std::string& name : announced_names) fprintf(f, "%s\n", name.c_str());
  return fclose(f) == 0 ? 0 : 1;
}

/// How many rows there are by now.
int oracle_count() {
  std::lock_guard<std::mutex> guard(mutex);
  return static_cast<int>(rows.size());
}

/// Writes all rows so far as a JSON list. 0 = done.
int oracle_dump(const char* path) {
  std::lock_guard<std::mutex> guard(mutex);
  FILE* f = fopen(path, "w");
  if (!f) return 1;
  auto u = [](uint64_t v) { return static_cast<unsigned long long>(v); };
  fputs("[", f);
  for (size_t i = 0; i < rows.size(); i++) {
    const Row& r = rows[i];
    fprintf(f,
            "%s\n{\"kind\":\"%s\",\"thread\":%d,\"depth\":%d,\"op\":\"%s\",\"key\":\"%s\",\"ks\":\"0x%llx\","
            "\"inc\":\"0x%llx\",\"exc\":\"0x%llx\",\"args\":\"0x%llx\",\"grad\":%d,\"inf\":%d,\"on\":%d,\"announced\":%d,\"seq\":[%llu,%llu],\"raised\":\"%s\","
            "\"in\":\"%s\",\"out\":\"%s\",\"nodes\":[",
            i ? "," : "", r.kind, r.thread, r.depth, escaped(r.op).c_str(), r.key.c_str(), u(r.keyset),
            u(r.included), u(r.excluded), u(r.arguments), r.grad, r.inference, r.on, r.announced, u(r.sequence_before), u(r.sequence_after),
            escaped(r.raised).c_str(), escaped(r.in).c_str(), escaped(r.out).c_str());
    for (size_t n = 0; n < r.nodes.size(); n++) {
      const Node& node = r.nodes[n];
      fprintf(f, "%s{\"name\":\"%s\",\"seq\":%llu,\"next\":[", n ? "," : "", escaped(node.name).c_str(),
              u(node.sequence_nr));
      for (size_t e = 0; e < node.next.size(); e++) {
        fprintf(f, "%s\"%s\"", e ? "," : "", escaped(node.next[e]).c_str());
      }
      fputs("]}", f);
    }
    fputs("]}", f);
  }
  fputs("\n]\n", f);
  return fclose(f) == 0 ? 0 : 1;
}

}  // extern "C"
