// Runs operators by name, for comparison with stock. One command a line, fields between tabs; "." ends an answer.
//   seed N | tensor NAME dtype sizes strides values requires_grad [coo|twice|csr|csc [SPARSE_DIM]] | number NAME VALUE (a Python number as a tensor)
//   data NAME OTHER (its .data)
//   call NAME op.overload [argument...]   `$name`, `[1, 2]`, `None`, `True`, numbers, `dtype:float64`, `format:preserve`
//   grad_of NAMES ROOT INPUTS (autograd.grad with create_graph; joined by commas)
//   push no_grad|enable_grad|inference|factory|autocast|no_autocast | pop | backward NAME [keep] | drop NAME
//   show NAME | grad NAME | hops
// What raises answers "error TYPE TEXT" (first line; Python's type). Operators are entered boxed, as only their names are known.
#include <functional>
#include <iostream>
#include <map>
#include <memory>
#include <sstream>

#include "core/autocast/autocast.h"
#include "core/autograd/engine.h"
#include "core/dispatch/dispatcher.h"
#include "core/dispatch/error.h"
#include "core/ops/sparse.h"
#include "core/tensor/nested.h"
#include "kernels/cpu/elementwise.h"
#include "kernels/cpu/random.h"
#include "ops_generated/ops.h"
#include "tests/conformance/engine_replay.h"
#include "tests/conformance/hop_log.h"

namespace peel::core {
namespace {

std::vector<std::string> split(const std::string& line, char between) {
  std::vector<std::string> out;
  std::string field;
  std::istringstream in(line);
  while (std::getline(in, field, between)) out.push_back(field);
  return out;
}
SizeVector numbers(const std::string& text) {
  SizeVector out;
  for (const std::string& s : split(text, ',')) {
    if (s != "-") out.push_back(std::stoll(s));
  }
  return out;
}

template <class T>
T read(const std::string& text) {
  const double v = std::stod(text);
  if constexpr (kernels::kIsComplex<T>) return T(static_cast<typename T::value_type>(v), static_cast<typename T::value_type>(v + 0.5));
  else return static_cast<T>(static_cast<kernels::Math<T>>(v));
}

// What Python raises for it.
const char* python_type(const std::exception& e) {
  if (dynamic_cast<const NotImplemented*>(&e)) return "NotImplementedError";
  if (dynamic_cast<const IndexError*>(&e)) return "IndexError";
  if (dynamic_cast<const ValueError*>(&e)) return "ValueError";
  if (dynamic_cast<const TypeError*>(&e)) return "TypeError";
  if (dynamic_cast<const LinAlgError*>(&e)) return "_LinAlgError";
  return "RuntimeError";
}

struct Guard {
  explicit Guard(const std::string& kind) {
    if (kind == "no_grad" || kind == "enable_grad") grad = std::make_unique<GradMode>(kind == "enable_grad");
    else if (kind == "inference") inference = std::make_unique<InferenceMode>(true);
    else if (kind == "autocast" || kind == "no_autocast") autocast = std::make_unique<AutocastScope>(kind == "autocast", ScalarType::BFloat16, true);
    else factory = std::make_unique<BelowADInplaceOrView>();
  }
  std::unique_ptr<GradMode> grad;
  std::unique_ptr<InferenceMode> inference;
  std::unique_ptr<AutocastScope> autocast;
  std::unique_ptr<BelowADInplaceOrView> factory;
};

class Script {
 public:
  void run() {
    std::string line;
    while (std::getline(std::cin, line)) {
      try {
        command(split(line, '\t'));
      } catch (const std::exception& e) {
        const std::string text = e.what();
        std::cout << "error " << python_type(e) << ' ' << text.substr(0, text.find('\n')) << '\n';
      }
      std::cout << "." << std::endl;
    }
  }

 private:
  void command(const std::vector<std::string>& f) {
    const std::string& what = f.at(0);
    if (what == "seed") kernels::manual_seed(std::stoull(f.at(1)));
    else if (what == "tensor") make(f);
    else if (what == "number") tensors_[f.at(1)] = kernels::wrapped(value(f.at(2), "Scalar"));
    else if (what == "data") tensors_[f.at(1)] = Tensor(Ref<KeyedObject>(tensors_.at(f.at(2)).impl().detached(make_ref<VersionCounter>())));
    else if (what == "call") call(f);
    else if (what == "push") guards_.push_back(std::make_unique<Guard>(f.at(1)));
    else if (what == "pop") guards_.pop_back();
    else if (what == "drop") tensors_.erase(f.at(1));
    else if (what == "backward") run_backward(tensors_.at(f.at(1)), f.size() > 2);
    else if (what == "grad_of") run_gradients(split(f.at(1), ','), tensors_.at(f.at(2)), split(f.at(3), ','));
    else if (what == "show") show(tensors_.at(f.at(1)));
    else if (what == "grad") show(grad_meta(tensors_.at(f.at(1))) ? grad_meta(tensors_.at(f.at(1)))->grad : Tensor());
    else if (what == "hops") for (const std::string& line : log_.take()) std::cout << line << '\n';
    else throw Error("no such command: " + what);
  }

  void make(const std::vector<std::string>& f) {
    ScalarType type{};
    parse_scalar_type(f.at(2), &type);
    Tensor t = empty_strided(numbers(f.at(3)), numbers(f.at(4)), type);
    // Values of the whole storage, in its order.
    const std::vector<std::string> values = split(f.at(5), ',');
    kernels::with_any_type(type, "tensor", [&]<class T>(T) {
      for (size_t i = 0; i < values.size() && values[0] != "-"; ++i) t.data_as<T>()[i] = read<T>(values[i]);
    });
    if (f.size() > 7 && !f[7].empty()) t = sparse(t, f[7], f.size() > 8 ? std::stoll(f[8]) : t.dim());
    if (f.at(6) == "1") set_requires_grad(t, true);
    tensors_[f.at(1)] = t;
  }

  // `twice`: coordinates backwards, then in order.
  static Tensor sparse(const Tensor& dense, const std::string& layout, int64_t sparse_dim) {
    const Tensor t = layout == "csr" ? ops::to_sparse_csr::call(dense) : layout == "csc" ? ops::to_sparse_csc::call(dense) : ops::to_sparse_sparse_dim::call(dense, sparse_dim);
    if (layout != "twice") return t;
    const Tensor indices = ops::_indices::call(t), values = ops::_values::call(t);
    const Tensor places[] = {ops::flip::call(indices, SizeVector{1}), indices}, both[] = {ops::flip::call(values, SizeVector{0}), values};
    return ops::sparse_coo_tensor_indices_size::call(ops::cat::call(places, 1), ops::cat::call(both, 0), t.sizes());
  }

  IValue value(const std::string& text, const std::string& type) {
    if (text == "None") return {};
    if (text == "undefined") return IValue(TensorHandle());
    if (text.empty()) return IValue(Device());
    if (text[0] == '$') return IValue(tensors_.at(text.substr(1)));
    if (text == "True" || text == "False") return IValue(text == "True");
    if (text.starts_with("dtype:")) {
      ScalarType t{};
      parse_scalar_type(text.substr(6), &t);
      return IValue(static_cast<int64_t>(t));
    }
    if (text.starts_with("str:")) return IValue(text.substr(4));
    if (text == "format:preserve") return IValue(static_cast<int64_t>(MemoryFormat::Preserve));
    if (text == "format:contiguous") return IValue(static_cast<int64_t>(MemoryFormat::Contiguous));
    if (text[0] == '[') {
      std::vector<IValue> out;
      for (const std::string& s : split(text.substr(1, text.size() - 2), ',')) out.push_back(value(s[0] == ' ' ? s.substr(1) : s, type));
      return IValue::list(std::move(out));
    }
    const bool whole = text.find_first_of(".einf") == std::string::npos && type.find("float") == std::string::npos;
    return whole ? IValue(static_cast<int64_t>(std::stoll(text))) : IValue(std::stod(text));
  }

  void call(const std::vector<std::string>& f) {
    const size_t dot = f.at(2).find('.');
    const OperatorHandle op = Dispatcher::get().find_schema_or_throw("aten::" + f[2].substr(0, dot), dot == std::string::npos ? "" : f[2].substr(dot + 1));
    Stack stack;
    const auto& arguments = op.schema().arguments;
    for (size_t i = 0; i < arguments.size(); ++i) {
      if (i + 3 < f.size()) stack.push_back(value(f[i + 3], arguments[i].type.name));
      else stack.push_back(arguments[i].default_value.value_or(IValue()));
    }
    op.call_boxed(&stack);
    if (stack.empty()) return;
    // Several results, or a list of them, go to names with commas between.
    const std::vector<std::string> names = split(f.at(1), ',');
    const bool list = stack[0].tag() == IValue::Tag::kList;
    if (!list && stack[0].tag() != IValue::Tag::kTensor) std::cout << to_text(stack[0]) << '\n';
    const std::vector<IValue>& results = list ? stack[0].to_list() : stack;
    for (size_t i = 0; i < names.size() && i < results.size(); ++i) {
      if (results[i].tag() == IValue::Tag::kTensor) tensors_[names[i]] = Tensor(results[i].to_tensor().object());
    }
  }

  void run_backward(const Tensor& root, bool keep) {
    std::vector<Tensor> grads(1);
    if (requires_grad(root)) {
      BelowADInplaceOrView factory;
      grads[0] = ops::ones_like::call(root, {}, {}, {}, {}, MemoryFormat::Preserve);
    }
    backward(std::span(&root, 1), std::move(grads), {keep, false});
  }

  void run_gradients(const std::vector<std::string>& names, const Tensor& root, const std::vector<std::string>& of) {
    std::vector<Tensor> grads(1), inputs;
    for (const std::string& name : of) inputs.push_back(tensors_.at(name));
    {
      BelowADInplaceOrView factory;
      grads[0] = ops::ones_like::call(root, {}, {}, {}, {}, MemoryFormat::Preserve);
    }
    const std::vector<Tensor> out = gradients(std::span(&root, 1), std::move(grads), inputs, {.keep_graph = true, .create_graph = true});
    for (size_t i = 0; i < names.size(); ++i) tensors_[names[i]] = out[i];
  }

  void show(const Tensor& t) {
    if (!t.defined()) {
      std::cout << "None\n";
      return;
    }
    const Ref<Node> node = grad_node(t);
    const SparseParts* parts = t.impl().sparse.get();
    std::cout << python_name(t.dtype()) << '\t' << to_text(t.sizes()) << '\t' << (parts ? said(*parts) : is_nested(t) ? said_sizes(t) : to_text(t.strides())) << '\t' << requires_grad(t) << '\t'
              << (node ? node->name() : "None") << '\t' << t.keys().raw() << '\t' << (t.is_inference() ? -1 : static_cast<int>(t.impl().current_version()))
              << '\t';
    std::cout.precision(17);
    bool first = true;
    if (is_nested(t)) for (int64_t i = 0; i < part_count(t); ++i) show_numbers(nested_part(t, i), first);
    else if (!parts) show_numbers(t, first);
    else for (const Tensor* part : {&parts->compressed, &parts->indices, &parts->values}) if (part->defined()) show_numbers(*part, first);
    std::cout << '\n';
  }

  // How a sparse tensor is stored, in numbers.
  static std::string said(const SparseParts& p) {
    if (p.compressed.defined()) return to_text(SizeVector{p.layout == Layout::SparseCsr, p.dense_dim, p.indices.size(-1)});
    return to_text(SizeVector{p.sparse_dim, p.dense_dim, p.values.size(0), p.coalesced});
  }

  static std::string said_sizes(const Tensor& t) {
    const Tensor& sizes = nested_of(t).sizes;
    return to_text(Sizes(sizes.data_as<int64_t>(), static_cast<size_t>(sizes.numel())));
  }
  static Tensor nested_part(const Tensor& t, int64_t i) {
    const NestedParts& p = nested_of(t);
    const auto row = [i](const Tensor& rows) { return SizeVector(rows.data_as<int64_t>() + i * rows.size(1), rows.data_as<int64_t>() + (i + 1) * rows.size(1)); };
    return view_of(nested_buffer(t), row(p.sizes), row(p.strides), p.offsets.data_as<int64_t>()[i]);
  }

  void show_numbers(const Tensor& t, bool& first) {
    const double imaginary = t.keys().has(DispatchKey::Conjugate) ? -1 : 1, sign = t.keys().has(DispatchKey::Negative) ? -1 : 1;
    kernels::with_any_type(t.dtype(), "show", [&]<class T>(T) {
      kernels::Walk<1> walk(t.sizes());
      walk.set(0, t);
      kernels::each<T>(walk, [&](T& v) {
        if constexpr (kernels::kIsComplex<T>) std::cout << (first ? "" : ",") << sign * v.real() << ',' << sign * imaginary * v.imag();
        else if constexpr (kernels::kIsFloating<T>) std::cout << (first ? "" : ",") << sign * static_cast<double>(static_cast<kernels::Math<T>>(v));
        else std::cout << (first ? "" : ",") << +v;
        first = false;
      });
    });
  }

  HopLog log_;
  std::map<std::string, Tensor> tensors_;
  std::vector<std::unique_ptr<Guard>> guards_;
};

}  // namespace

void script() { Script().run(); }

}  // namespace peel::core
