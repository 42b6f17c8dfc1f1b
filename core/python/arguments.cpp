#include "core/python/arguments.h"

#include <algorithm>
#include <map>
#include <set>
#include <string_view>

#include "core/autograd/history.h"
#include "core/dispatch/dispatcher.h"
#include "core/dispatch/error.h"
#include "core/python/overrides.h"
#include "core/python/tensor_object.h"
#include "core/python/values.h"
#include "kernels/cpu/elementwise.h"

namespace peel::core::python {
namespace {

using Kind = Parameter::Kind;

Kind kind_of(const Type& t) {
  if (t.kind == Type::Kind::kOptional) return kind_of(t.element());
  if (t.kind == Type::Kind::kList) {
    const Kind one = kind_of(t.element());
    return one == Kind::kTensor ? Kind::kTensors : one == Kind::kInt ? Kind::kInts : one == Kind::kFloat ? Kind::kFloats : one == Kind::kBool ? Kind::kBools : Kind::kOther;
  }
  static const std::map<std::string, Kind> names = {
      {"Tensor", Kind::kTensor}, {"Scalar", Kind::kScalar}, {"int", Kind::kInt}, {"SymInt", Kind::kInt}, {"float", Kind::kFloat}, {"bool", Kind::kBool},
      {"str", Kind::kString}, {"ScalarType", Kind::kDtype}, {"Layout", Kind::kLayout}, {"Device", Kind::kDevice}, {"MemoryFormat", Kind::kFormat},
      {"Generator", Kind::kGenerator}, {"Storage", Kind::kStorage}};
  const auto found = names.find(t.name);
  if (found == names.end()) return t.name.starts_with("__torch__.") ? Kind::kHandle : Kind::kOther;
  return found->second;
}

// As errors call it.
const char* kind_text(Kind k) {
  static const char* const names[] = {"Tensor", "Number", "int", "float", "bool", "str", "torch.dtype", "torch.layout", "torch.device",
                                      "torch.memory_format", "torch.Generator", "torch.Storage", "tuple of ints", "tuple of floats", "tuple of bools",
                                      "tuple of Tensors", "object"};
  return names[static_cast<int>(k)];
}

std::string type_text(nb::handle h) {
  if (is_tensor(h)) {
    const std::string name = Py_TYPE(h.ptr())->tp_name;
    return name.substr(name.rfind('.') + 1);
  }
  if (nb::isinstance<DType>(h)) return "torch.dtype";
  const std::string name = Py_TYPE(h.ptr())->tp_name;
  if ((PyTuple_Check(h.ptr()) || PyList_Check(h.ptr())) && PySequence_Size(h.ptr()) > 0) {
    return name + " of " + type_text(nb::borrow<nb::sequence>(h)[0]) + "s";
  }
  return name;
}

bool fits(const Parameter& p, nb::handle h) {
  PyObject* o = h.ptr();
  if (h.is_none()) return p.optional;
  switch (p.kind) {
    case Kind::kTensor: return is_tensor(h) || (p.number_allowed && (PyLong_Check(o) || PyFloat_Check(o) || PyComplex_Check(o)));
    case Kind::kScalar:
      return PyLong_Check(o) || PyFloat_Check(o) || PyComplex_Check(o) || (is_tensor(h) && tensor_of(h).dim() == 0 && !requires_grad(tensor_of(h)));
    case Kind::kInt: return is_index(h);
    case Kind::kFloat: return PyFloat_Check(o) || PyLong_Check(o) || (is_tensor(h) && tensor_of(h).dim() == 0 && !requires_grad(tensor_of(h)));
    case Kind::kBool: return PyBool_Check(o);
    case Kind::kString: return PyUnicode_Check(o);
    case Kind::kDtype: return nb::isinstance<DType>(h);
    case Kind::kLayout: return nb::isinstance<LayoutName>(h);
    case Kind::kDevice: return nb::isinstance<Device>(h) || PyUnicode_Check(o);
    case Kind::kFormat: return nb::isinstance<FormatName>(h);
    case Kind::kGenerator: return nb::isinstance<GeneratorHandle>(h);
    case Kind::kStorage: return nb::isinstance<StorageHolder>(h);
    case Kind::kHandle: return PyLong_Check(o);
    case Kind::kInts: return (p.repeated && is_index(h)) || to_ints(h, nullptr);
    case Kind::kTensors: {
      if (!PyTuple_Check(o) && !PyList_Check(o)) return false;
      for (nb::handle one : nb::borrow<nb::sequence>(h)) {
        if (!is_tensor(one) && !one.is_none()) return false;
      }
      return true;
    }
    default: return PyTuple_Check(o) || PyList_Check(o);
  }
}

IValue value_for(const Parameter& p, nb::handle h) {
  if (h.is_none()) return {};
  switch (p.kind) {
    case Kind::kTensor: {
      if (is_tensor(h)) return IValue(tensor_of(h));
      IValue number;
      to_scalar(h, &number);
      return IValue(kernels::wrapped(Scalar(number)));
    }
    case Kind::kScalar: {
      IValue number;
      to_scalar(h, &number);
      return number;
    }
    case Kind::kFloat: {
      IValue number;
      to_scalar(h, &number);
      return IValue(number.to_double());
    }
    case Kind::kInt:
    case Kind::kInts: {
      SizeVector ints;
      const bool one = is_index(h);
      to_ints(one ? nb::handle(nb::make_tuple(nb::borrow(h)).release()) : h, &ints);
      if (p.kind == Kind::kInt) return IValue(ints.at(0));
      if (one) ints.assign(static_cast<size_t>(p.repeated), ints.at(0));
      return Boxing<SizeVector>::box(ints);
    }
    case Kind::kDevice: {
      const Device d = PyUnicode_Check(h.ptr()) ? device_named(nb::cast<const char*>(h)) : nb::cast<Device>(h);
      require_device(d);
      return IValue(d);
    }
    case Kind::kGenerator: return IValue(nb::cast<GeneratorHandle>(h));
    case Kind::kStorage: return IValue::object(nb::cast<StorageHolder>(h).storage);
    default: return box(h);
  }
}

// PyTorch takes NumPy's words too.
std::string other_name(const std::string& name) {
  static const std::map<std::string, std::string> names = {{"dim", "axis"}, {"keepdim", "keepdims"}, {"input", "x"}, {"other", "x2"}};
  const auto found = names.find(name);
  return found == names.end() ? "" : found->second;
}

nb::object keyword(const nb::kwargs& k, const std::string& name) {
  if (k.contains(name.c_str())) return k[name.c_str()];
  const std::string other = other_name(name);
  return !other.empty() && k.contains(other.c_str()) ? nb::object(k[other.c_str()]) : nb::object();
}

// What out= gives for a parameter: the tensor, or one of as many as the operator writes.
nb::object given_out(const nb::kwargs& k, const Parameter& p, size_t outs) {
  if (!k.contains("out")) return {};
  nb::object all = k["out"];
  if (outs == 1) return all;
  if (!(PyTuple_Check(all.ptr()) || PyList_Check(all.ptr())) || nb::len(all) != outs) return p.out_at == 0 ? all : nb::object();
  return nb::borrow<nb::sequence>(all)[static_cast<size_t>(p.out_at)];
}

std::string plural(size_t n, const char* what) { return std::to_string(n) + " " + what + (n == 1 ? "" : "s"); }

// The values in the order of the parameters; what doesn't fit is told in *error, or only left empty there.
struct Parsed {
  std::vector<IValue> values;
  std::string error;
  bool ours = false;  // stock takes what is refused here
};

bool match(const Signature& s, const std::string& name, size_t positions_before, const nb::args& args, const nb::kwargs& kwargs,
           std::vector<nb::object>* out, Parsed* parsed) {
  const size_t given = nb::len(nb::handle(args));
  size_t used_keywords = 0, at = 0;
  std::string missing_names;
  size_t missing_count = 0;
  for (size_t i = 0; i < s.parameters.size(); ++i) {
    const Parameter& p = s.parameters[i];
    nb::object value;
    bool from_position = false;
    if (at < given) {
      if (p.keyword_only) {
        parsed->error = name + "() takes " + plural(s.positional, "positional argument") + " but " + std::to_string(given) + (given == 1 ? " was given" : " were given");
        return false;
      }
      from_position = true;
      value = nb::object(args[at]);
      if (i == 0 && s.ints_may_be_spread && !fits(p, value) && is_index(value)) {
        value = nb::object(args);
        at = given - 1;
      }
      ++at;
    } else {
      if (p.out_at >= 0) value = given_out(kwargs, p, s.outs);
      const bool by_out = value.is_valid();
      if (!by_out) value = keyword(kwargs, p.name);
      used_keywords += value.is_valid() && (!by_out || p.out_at == 0);
    }
    if (!value.is_valid()) {
      if (!p.default_value) {
        missing_names += (missing_names.empty() ? "\"" : ", \"") + p.name + "\"";
        ++missing_count;
      }
      out->push_back({});
      continue;
    }
    if (!fits(p, value) && is_numpy_number(value)) value = value.attr("item")();
    if (!fits(p, value)) {
      const std::string position = from_position ? "(position " + std::to_string(i + 1 + positions_before) + ") " : "";
      parsed->error = name + "(): argument '" + p.name + "' " + position + "must be " + kind_text(p.kind) + ", not " + type_text(value);
      parsed->ours = (is_tensor(value) && p.kind != Kind::kTensor && p.kind != Kind::kDtype) || (nb::isinstance<DType>(value) && p.kind == Kind::kInts);
      return false;
    }
    out->push_back(std::move(value));
  }
  if (at < given) {
    parsed->error = name + "() takes " + plural(s.positional, "positional argument") + " but " + std::to_string(given) + (given == 1 ? " was given" : " were given");
    return false;
  }
  if (missing_count) {
    parsed->error = name + "() missing " + std::to_string(missing_count) + " required positional arguments: " + missing_names;
    return false;
  }
  if (used_keywords < nb::len(nb::handle(kwargs))) {
    for (auto [key, value] : kwargs) {
      const std::string word = nb::cast<std::string>(key);
      bool known = false;
      for (const Parameter& p : s.parameters) known |= p.name == word || other_name(p.name) == word || (p.out_at >= 0 && word == "out");
      if (known) continue;
      parsed->error = name + "() got an unexpected keyword argument '" + word + "'";
      parsed->ours = word == "out" || word == "generator";
    }
    if (parsed->error.empty()) parsed->error = name + "() got several values for one argument";
    return false;
  }
  return true;
}

bool is_option(const Argument& a) { return a.name == "dtype" || a.name == "layout" || a.name == "device" || a.name == "pin_memory"; }

}  // namespace

bool is_numpy_number(nb::handle h) {
  return std::string_view(Py_TYPE(h.ptr())->tp_name).starts_with("numpy.") && nb::isinstance(h, nb::module_::import_("numpy").attr("generic"));
}

Signature::Signature(const Binding& b, bool method) : op(Dispatcher::get().find_schema_or_throw(std::string("aten::") + b.name, b.overload)), entry(b.entry()) {
  static const std::set<std::string> with_numbers = {"add", "sub", "mul", "div", "true_divide", "floor_divide", "copy_", "multiply", "subtract", "divide"};
  std::string plain = b.name;
  if (plain != "copy_" && plain.back() == '_') plain.pop_back();
  factory = b.where & kFactory && !method;
  const bool numbers = with_numbers.count(b.name) || with_numbers.count(plain);
  read_schema(method, numbers ? plain == "copy_" ? Numbers::kRight : Numbers::kBoth : Numbers::kNone);
  if (!factory) return;
  Parameter p{Kind::kBool, "requires_grad"};
  p.keyword_only = true;
  p.default_value = IValue(false);
  parameters.push_back(std::move(p));
}

Signature::Signature(const OperatorHandle& o) : op(o) { read_schema(false, o.schema().name.name.starts_with("prims::") ? Numbers::kBoth : Numbers::kRight); }

void Signature::read_schema(bool method, Numbers numbers) {
  for (const Argument& a : op.schema().arguments) {
    if (method && a.name == "self") continue;
    Parameter p{kind_of(a.type), a.name == "self" && entry.valid() ? "input" : a.name};
    p.optional = a.type.kind == Type::Kind::kOptional;
    p.keyword_only = a.keyword_only;
    p.number_allowed = p.kind == Kind::kTensor && !a.keyword_only && (numbers == Numbers::kBoth || (numbers == Numbers::kRight && (a.name == "other" || a.name == "src")));
    p.repeated = a.size.value_or(0);
    p.default_value = a.default_value;
    if (a.keyword_only && a.alias && a.alias->write) p.out_at = static_cast<int>(outs++);
    if (!p.keyword_only) {
      ++positional;
      if (!p.default_value) ++required;
    }
    parameters.push_back(std::move(p));
  }
  ints_may_be_spread = positional == 1 && !parameters.empty() && parameters[0].kind == Kind::kInts;
}

std::string Signature::text() const {
  std::string out = "(";
  bool starred = false;
  for (const Parameter& p : parameters) {
    if (out.size() > 1) out += ", ";
    if (p.keyword_only && !std::exchange(starred, true)) out += "*, ";
    out += std::string(kind_text(p.kind)) + " " + p.name;
    if (p.default_value) out += " = " + (p.default_value->tag() == IValue::Tag::kTensor ? "None" : to_text(*p.default_value));
  }
  return out + ")";
}

void Function::add(Signature s) {
  // Tensors are tried before numbers, as a tensor without dimensions is a number too; an int before a list of them.
  const auto before = [](const Signature& x, const Signature& y) {
    for (size_t i = 0; i < std::min(x.parameters.size(), y.parameters.size()); ++i) {
      const Kind a = x.parameters[i].kind, c = y.parameters[i].kind;
      if (a != c) return (a == Kind::kTensor && (c == Kind::kScalar || c == Kind::kFloat)) || (a == Kind::kInt && c == Kind::kInts);
    }
    return false;
  };
  const auto at = std::ranges::find_if(signatures_, [&](const Signature& other) { return before(s, other); });
  signatures_.insert(at, std::move(s));
}

void Function::refuse(const nb::args& args, const nb::kwargs& kwargs) const {
  const size_t count = nb::len(nb::handle(args)) + nb::len(nb::handle(kwargs));
  std::vector<const Signature*> plausible;
  bool ours = false;
  const bool into = kwargs.contains("out");
  for (const Signature& s : signatures_) {
    if (s.outs && !into) continue;
    if (count >= s.required && count <= s.parameters.size()) plausible.push_back(&s);
    std::vector<nb::object> values;
    Parsed parsed;
    match(s, name_, 0, args, kwargs, &values, &parsed);
    ours |= parsed.ours;
  }
  if (std::ranges::count_if(signatures_, [](const Signature& s) { return !s.outs; }) == 1 && !into) plausible = {&*std::ranges::find_if(signatures_, [](const Signature& s) { return !s.outs; })};
  std::string got;
  for (nb::handle a : args) got += (got.empty() ? "" : ", ") + type_text(a);
  for (auto [key, value] : kwargs) got += (got.empty() ? "" : ", ") + nb::cast<std::string>(key) + "=" + type_text(value);
  if (method_ && signatures_.size() == 1 && signatures_[0].parameters.empty()) {
    if (nb::len(nb::handle(kwargs))) throw TypeError("TensorBase." + name_ + "() takes no keyword arguments");
    throw TypeError("TensorBase." + name_ + "() takes no arguments (" + std::to_string(count) + " given)");
  }
  if (ours) missing((method_ ? "Tensor." : "torch.") + name_ + "(" + got + ")");
  if (plausible.size() == 1) {
    std::vector<nb::object> values;
    Parsed parsed;
    match(*plausible[0], name_, 0, args, kwargs, &values, &parsed);
    throw TypeError(parsed.error);
  }
  std::string text = name_ + "() received an invalid combination of arguments - got (" + got + (nb::len(nb::handle(kwargs)) ? ", " : "") + "), but expected one of:\n";
  for (const Signature& s : signatures_) {
    if (!s.outs) text += " * " + s.text() + "\n";
  }
  throw TypeError(text);
}

nb::object Function::call(nb::handle self, nb::args args, nb::kwargs kwargs, std::optional<DispatchKeySet> keys) const {
  if (object_ && is_overridden(self, args, kwargs)) [[unlikely]] return call_overridden(object_, spoken_.c_str(), self, args, kwargs);
  if (kwargs.contains("out") && kwargs["out"].is_none()) PyDict_DelItemString(kwargs.ptr(), "out");
  for (const Signature& s : signatures_) {
    std::vector<nb::object> given;
    Parsed parsed;
    if (!match(s, name_, 0, args, kwargs, &given, &parsed)) continue;
    Stack stack;
    size_t next = 0;
    for (const Argument& a : s.op.schema().arguments) {
      if (method_ && a.name == "self") {
        stack.push_back(IValue(tensor_of(self)));
        continue;
      }
      const Parameter& p = s.parameters[next];
      const nb::object& value = given[next++];
      if (value.is_valid()) stack.push_back(value_for(p, value));
      else stack.push_back(p.default_value.value_or(IValue()));
      // Python's factories name their options.
      const bool like = s.factory && s.op.schema().arguments[0].name == "self";
      if (s.factory && is_option(a) && stack.back().is_none()) {
        if (a.name == "device" && !like) stack.back() = IValue(default_device());
        else if (a.name == "pin_memory") stack.back() = IValue(false);
      }
    }
    if (keys) {
      s.op.redispatch_boxed(*keys, &stack);
    } else if (!s.entry.valid()) {
      s.op.call_boxed(&stack);
    } else {
      std::optional<BelowADInplaceOrView> below;
      if (s.factory) below.emplace();
      s.entry.boxed(s.entry.functor.get(), s.op, {}, &stack);
    }
    if (s.factory && given.back().is_valid() && given.back().ptr() == Py_True) {
      Tensor t(stack.back().to_tensor().release());
      set_requires_grad(t, true);
    }
    return unbox_results(stack, s.op.schema().returns, name_);
  }
  refuse(args, kwargs);
}

namespace {

// Why a call by torch.ops doesn't fit a schema, in the words that PyTorch has for such calls; empty where it does.
std::string boxed_refusal(const Signature& s, const nb::args& args, const nb::kwargs& kwargs) {
  const FunctionSchema& schema = s.op.schema();
  const std::string name = schema.name.name + "() ", declared = "Declaration: " + schema.text();
  const size_t given = nb::len(nb::handle(args)), all = given + nb::len(nb::handle(kwargs));
  if (all > s.parameters.size()) {
    return name + "expected at most " + std::to_string(s.parameters.size()) + " argument(s) but received " + std::to_string(all) + " argument(s). " + declared;
  }
  for (size_t i = 0; i < s.parameters.size(); ++i) {
    const Parameter& p = s.parameters[i];
    nb::object value;
    if (i < given) {
      if (p.keyword_only) return name + "takes " + std::to_string(s.positional) + " positional argument(s) but " + std::to_string(given) + " was/were given.  " + declared;
      value = nb::object(args[i]);
    } else {
      value = keyword(kwargs, p.name);
    }
    if (!value.is_valid()) {
      if (p.default_value) continue;
      return name + "is missing value for argument '" + p.name + "'. " + declared;
    }
    if (fits(p, value)) continue;
    const nb::handle type = value.type();
    const std::string why = p.kind == Kind::kTensor ? "Unable to cast " + std::string(nb::str(value).c_str()) + " to Tensor"
                                                    : "Unable to cast Python instance of type " + std::string(nb::str(type).c_str()) +
                                                          " to C++ type '?' (#define PYBIND11_DETAILED_ERROR_MESSAGES or compile in debug mode for details)";
    return name + "Expected a value of type '" + schema.arguments[i].type.text() + "' for argument '" + p.name + "' but instead found type '" +
           nb::cast<std::string>(type.attr("__name__")) + "'.\nPosition: " + std::to_string(i) + "\nValue: " + nb::repr(value).c_str() + "\n" + declared + "\nCast error details: " + why;
  }
  for (auto [key, value] : kwargs) {
    const std::string word = nb::cast<std::string>(key);
    if (std::ranges::none_of(s.parameters, [&](const Parameter& p) { return p.name == word; })) {
      return "Unknown keyword argument '" + word + "' for operator '" + schema.name.name + "'. Schema: " + schema.text();
    }
  }
  return {};
}

}  // namespace

namespace {

// What torch.ops has under one name, as long as nothing is registered or removed. Python's lock is held.
struct ByName {
  explicit ByName(const std::string& name) : function(name, false) {}
  Function function;
  std::vector<Signature> signatures;
  uint64_t version = 0;
};
std::shared_ptr<const ByName> by_name(const std::string& name, const std::optional<std::string>& overload) {
  static auto& known = *new std::map<std::pair<std::string, std::optional<std::string>>, std::shared_ptr<const ByName>>;  // never freed: lives as long as the interpreter
  std::shared_ptr<const ByName>& found = known[{name, overload}];
  const uint64_t version = Dispatcher::get().version();
  if (found && found->version == version) return found;
  auto fresh = std::make_shared<ByName>(name.substr(name.find("::") + 2));
  fresh->version = version;
  const auto add = [&](const OperatorName& n) {
    if (const auto op = Dispatcher::get().find(n); op && op->has_schema()) fresh->function.add(fresh->signatures.emplace_back(*op));
  };
  if (overload) {
    add({name, *overload});
  } else {
    for (const OperatorName& n : Dispatcher::get().names()) {
      if (n.name == name) add(n);
    }
  }
  return found = std::move(fresh);  // a call that runs in the one before holds it
}

}  // namespace

nb::object call_operator(const std::string& name, const std::optional<std::string>& overload, std::optional<DispatchKeySet> keys, nb::args args, nb::kwargs kwargs) {
  const std::shared_ptr<const ByName> called = by_name(name, overload);
  try {
    return called->function.call({}, args, kwargs, keys);
  } catch (const TypeError& e) {
    std::string why;
    for (const Signature& s : called->signatures) {
      const std::string one = boxed_refusal(s, args, kwargs);
      why += one.empty() ? name.substr(0, name.find("::") + 2) + e.what() : one;
      if (called->signatures.size() > 1) why += "\n\n";
    }
    throw Error(called->signatures.size() > 1 ? "Overloaded torch operator invoked from Python failed to match any schema:\n" + why : why);  // torch.ops has no TypeError of its own
  }
}

void bind_operators(nb::module_& m) {
  std::map<int, nb::object> modules;
  modules[kFunction] = m.def_submodule("_VariableFunctions");
  modules[kNn] = m.def_submodule("_nn");
  modules[kLinalg] = m.def_submodule("_linalg");
  modules[kSpecial] = m.def_submodule("_special");
  modules[kFft] = m.def_submodule("_fft");
  modules[kSparse] = m.def_submodule("_sparse");
  // Never freed: functions live as long as the interpreter.
  static auto& all = *new std::map<std::pair<int, std::string>, std::unique_ptr<Function>>;
  for (const Binding& b : bindings()) {
    for (const Place place : {kFunction, kMethod, kNn, kLinalg, kSpecial, kFft, kSparse}) {
      if (!(b.where & place)) continue;
      std::unique_ptr<Function>& f = all[{place, b.name}];
      if (!f) f = std::make_unique<Function>(b.name, place == kMethod);
      f->add(b);
    }
  }
  m.def("_methods", [] {
    nb::dict found;
    for (const auto& [key, f] : all) {
      if (key.first == kMethod) found[f->name().c_str()] = nb::borrow(f->object());
    }
    return found;
  });
  const std::map<int, const char*> spoken = {{kFunction, "torch."}, {kMethod, "torch.Tensor."}, {kNn, "torch.nn.functional."}, {kLinalg, "torch.linalg."},
                                             {kSpecial, "torch.special."}, {kFft, "torch.fft."}, {kSparse, "torch.sparse."}};
  for (const auto& [key, f] : all) {
    const Function* function = f.get();
    const char* name = function->name().c_str();
    nb::object made;
    if (key.first == kMethod) {
      made = nb::cpp_function([function](nb::handle self, nb::args a, nb::kwargs k) { return function->call(self, std::move(a), std::move(k)); }, nb::name(name), nb::is_method());
      tensor_base().attr(name) = made;
    } else {
      const nb::object& home = modules.at(key.first);
      made = nb::cpp_function([function](nb::args a, nb::kwargs k) { return function->call({}, std::move(a), std::move(k)); }, nb::name(name), nb::scope(home));
      home.attr(name) = made;
    }
    f->stands_for(made.ptr(), spoken.at(key.first));
  }
}

}  // namespace peel::core::python
