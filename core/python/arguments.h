// Calls from Python: which overload the arguments fit, and their values. Order of attempts, conversions and errors are those of PyTorch's
// own functions as measured on 2.13.0 (tests/conformance/engine_python.py).
#pragma once
#include <nanobind/nanobind.h>

#include <memory>
#include <string>
#include <vector>

#include "core/dispatch/operator_handle.h"
#include "core/python/bindings.h"

namespace peel::core::python {

namespace nb = nanobind;

/// One of NumPy's numbers, such as numpy.float32(2).
bool is_numpy_number(nb::handle h);

struct Parameter {
  enum class Kind : uint8_t {
    kTensor, kScalar, kInt, kFloat, kBool, kString, kDtype, kLayout, kDevice, kFormat, kGenerator, kStorage, kInts, kFloats, kBools, kTensors, kHandle, kOther
  } kind;
  std::string name;
  bool optional = false, keyword_only = false, number_allowed = false;
  int out_at = -1;           // its place in out=
  int repeated = 0;          // the 2 of int[2]: an int stands for a list of so many
  std::optional<IValue> default_value;
};

/// One overload as Python calls it.
struct Signature {
  Signature(const Binding&, bool method);
  /// As torch.ops calls it: boxed.
  explicit Signature(const OperatorHandle&);
  std::vector<Parameter> parameters;  // without the tensor that a method belongs to
  size_t positional = 0, required = 0;
  bool ints_may_be_spread = false;    // x.view(2, 3)
  bool factory = false;
  size_t outs = 0;                    // tensors that it writes into: Python gives them as out=
  OperatorHandle op;
  KernelFunction entry;               // not valid: boxed
  std::string text() const;

 private:
  enum class Numbers { kNone, kRight, kBoth };  // where a number may stand for a tensor
  void read_schema(bool method, Numbers numbers);
};

/// A function or method of some overloads.
class Function {
 public:
  Function(std::string name, bool method) : name_(std::move(name)), method_(method) {}
  void add(const Binding& b) { add(Signature(b, method_)); }
  void add(Signature);
  /// With keys: a redispatch to them, of a function made of boxed signatures.
  nb::object call(nb::handle self, nb::args, nb::kwargs, std::optional<DispatchKeySet> keys = {}) const;
  const std::string& name() const { return name_; }
  /// The object that Python calls it by, which handlers of __torch_function__ are given; lives as long as the interpreter.
  PyObject* object() const { return object_; }
  void stands_for(PyObject* object, const char* place) {
    object_ = object;
    Py_INCREF(object_);  // a class may put something else in its place; a handler is still given this one
    spoken_ = place + name_;
  }

 private:
  [[noreturn]] void refuse(const nb::args&, const nb::kwargs&) const;
  std::string name_, spoken_;
  PyObject* object_ = nullptr;
  bool method_;
  std::vector<Signature> signatures_;
};

/// torch.ops.<space>.<name>(...), or one overload of it; with keys a redispatch to them.
nb::object call_operator(const std::string& name, const std::optional<std::string>& overload, std::optional<DispatchKeySet> keys, nb::args, nb::kwargs);
/// Makes torch._C._VariableFunctions, _nn, _linalg, _special and _fft, and puts methods on TensorBase.
void bind_operators(nb::module_&);

}  // namespace peel::core::python
