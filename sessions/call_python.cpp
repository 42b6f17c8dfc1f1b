// A Python program that repeats one recorded call.
#include <algorithm>
#include <array>
#include <filesystem>
#include <map>
#include <numeric>

#include "sessions/call_text.h"
#include "sessions/show.h"

namespace peel {
namespace {

using Numbers = std::vector<int64_t>;

Numbers numbers(std::string_view text) {
  Numbers out;
  for (size_t i = 0; i < text.size();) {
    if ((text[i] < '0' || text[i] > '9') && text[i] != '-') {
      ++i;
      continue;
    }
    out.push_back(std::strtoll(text.data() + i, nullptr, 10));
    while (i < text.size() && (text[i] == '-' || (text[i] >= '0' && text[i] <= '9'))) ++i;
  }
  return out;
}

std::string tuple(const Numbers& n) {
  std::string out = "(";
  for (size_t i = 0; i < n.size(); ++i) out += (i ? ", " : "") + std::to_string(n[i]);
  return out + (n.size() == 1 ? ",)" : ")");
}

/// The strides that a shape gives by itself? Exactly: kernels look at those of sizes 1, too.
bool contiguous(const Numbers& shape, const Numbers& strides) {
  int64_t want = 1;
  for (size_t i = shape.size(); i-- > 0; want *= std::max<int64_t>(shape[i], 1))
    if (strides[i] != want) return false;
  return true;
}

/// Every element has a place of its own and no place is left out: empty_strided makes it.
bool dense(const Numbers& shape, const Numbers& strides) {
  std::vector<size_t> order(shape.size());
  std::iota(order.begin(), order.end(), size_t{0});
  std::sort(order.begin(), order.end(), [&](size_t a, size_t b) { return strides[a] < strides[b]; });
  int64_t want = 1;
  for (const size_t i : order) {
    if (shape[i] <= 1) continue;
    if (strides[i] != want) return false;
    want *= shape[i];
  }
  return true;
}

bool has(std::string_view flags, std::string_view flag) {
  for (size_t at = flags.find(flag); at != flags.npos; at = flags.find(flag, at + 1)) {
    const size_t end = at + flag.size();
    const auto word = [&](size_t i) { return i < flags.size() && (std::isalnum(static_cast<unsigned char>(flags[i])) || flags[i] == '_'); };
    if ((at == 0 || !word(at - 1)) && !word(end)) return true;
  }
  return false;
}

// A session file may come from anybody, and what is written here will be run: nothing of it gets into the program unread.

/// Names: letters, digits, `_`, `.`, `:`.
bool word(std::string_view t) {
  return !t.empty() && std::all_of(t.begin(), t.end(), [](unsigned char c) { return std::isalnum(c) || c == '_' || c == '.' || c == ':'; });
}
/// A number, a list of numbers, or one quoted text.
bool literal(std::string_view t) {
  if (t.size() >= 2 && (t[0] == '\'' || t[0] == '"')) {
    for (size_t i = 1; i + 1 < t.size(); ++i) {
      if (t[i] == t[0] || static_cast<unsigned char>(t[i]) < 0x20) return false;
      if (t[i] == '\\' && ++i + 1 >= t.size()) return false;
    }
    return t.back() == t[0];
  }
  static constexpr std::string_view kWords[] = {"True", "False", "None", "inf", "nan", "infj", "nanj"};
  for (size_t i = 0; i < t.size();) {
    size_t end = i;
    while (end < t.size() && std::isalpha(static_cast<unsigned char>(t[end]))) ++end;
    const bool exponent = end == i + 1 && (t[i] == 'e' || t[i] == 'j') && i > 0 && (std::isdigit(static_cast<unsigned char>(t[i - 1])) || t[i - 1] == '.');
    if (end > i && !exponent && std::find(std::begin(kWords), std::end(kWords), t.substr(i, end - i)) == std::end(kWords)) return false;
    if (end == i && !std::isdigit(static_cast<unsigned char>(t[i])) && std::string_view("+-.,[]() ").find(t[i]) == t.npos) return false;
    i = std::max(end, i + 1);
  }
  return !t.empty();
}
/// For comments.
std::string one_line(std::string text) {
  std::replace_if(text.begin(), text.end(), [](unsigned char c) { return c < 0x20 || c == 0x7f; }, ' ');
  return text;
}

std::string torch_dtype(std::string_view dtype) { return dtype.starts_with("torch.") ? std::string(dtype) : "torch." + std::string(dtype); }

/// A name that a Python program may use.
std::string variable(std::string name) {
  static constexpr const char* kWords[] = {"and", "as", "assert", "class", "def", "del", "for", "from", "global", "if", "import", "in", "is", "lambda", "not", "or", "pass", "raise", "return", "torch", "try", "while", "with"};
  if (std::any_of(std::begin(kWords), std::end(kWords), [&](const char* w) { return name == w; })) name += '_';
  return name;
}

/// The types of a schema's arguments and where those begin that must be named: `aten::add.Tensor(Tensor self, *, Scalar alpha=1) -> ...`.
struct Types {
  std::vector<std::string> types;
  size_t named = SIZE_MAX;
};
Types types_of(std::string_view schema) {
  Types out;
  const size_t open = schema.find('(');
  if (open == schema.npos) return out;
  int depth = 0;
  std::string one;
  bool quoted = false;
  const auto finish = [&] {
    const size_t begin = one.find_first_not_of(' ');
    if (begin == one.npos) return;
    std::string text = one.substr(begin);
    one.clear();
    if (text == "*") {
      out.named = out.types.size();
      return;
    }
    size_t end = 0;
    for (int inner = 0; end < text.size() && (text[end] != ' ' || inner); ++end) inner += text[end] == '(' || text[end] == '[' ? 1 : text[end] == ')' || text[end] == ']' ? -1 : 0;
    out.types.push_back(text.substr(0, end));
  };
  for (size_t i = open + 1; i < schema.size(); ++i) {
    const char c = schema[i];
    if (c == '"' || c == '\'') quoted = !quoted;
    if (!quoted && (c == '(' || c == '[')) ++depth;
    if (!quoted && c == ')' && depth == 0) break;
    if (!quoted && (c == ')' || c == ']')) --depth;
    if (!quoted && c == ',' && depth == 0) finish();
    else one += c;
  }
  finish();
  return out;
}

class Program {
 public:
  Program(const Session& s, EventId call) : s_(s), event_(s.event(call)), op_(s.op(event_.op)), types_(types_of(op_.schema)) {}

  Result<std::string> write() {
    if (event_.flags & kNoValues) return Error{"the arguments of hop " + std::to_string(event_.id.value) + " were not recorded (--detail keys)"};
    if (op_.schema.empty()) return Error{op_.full + " has no schema in the recording, so it can't be called"};
    if (!word(op_.name) || op_.name.find("::") == op_.name.npos || !(op_.overload.empty() || word(op_.overload))) return Error{"hop " + std::to_string(event_.id.value) + " calls an operator whose name no program can write"};
    std::map<int, std::vector<Value>> arguments;
    for (Value& v : s_.arguments(event_.id)) arguments[v.position].push_back(std::move(v));
    std::string positional, named;
    for (size_t i = 0; i < types_.types.size(); ++i) {
      const auto at = arguments.find(static_cast<int>(i));
      if (at == arguments.end()) return Error{"argument " + std::to_string(i) + " of hop " + std::to_string(event_.id.value) + " is not in the recording"};
      const Result<std::string> text = argument(i, at->second);
      if (!text) return Error{text.error()};
      if (i >= types_.named) named += ", " + name_of(i) + "=" + *text;
      else positional += ", " + *text;
    }
    const Tls& tls = s_.tls(event_.tls);
    const Result<std::string> modes = enter_modes(tls);
    if (!modes) return Error{modes.error()};
    const size_t colon = op_.name.find("::");
    const std::string target = "torch.ops." + op_.name.substr(0, colon) + "." + op_.name.substr(colon + 2) + "." + (op_.overload.empty() ? "default" : op_.overload);
    const std::string both = positional + named;
    return head() + made_ + "\n" + *modes + target + "(" + (both.empty() ? "" : both.substr(2)) + ")\nprint(result)\n";
  }

 private:
  std::string name_of(size_t i) const { return i < op_.arguments.size() && word(op_.arguments[i].name) ? op_.arguments[i].name : "argument_" + std::to_string(i); }

  std::string head() const {
    const std::string where = where_brief(s_, event_.stack), version = s_.meta("engine_version");
    std::string out = "# Repeats hop " + std::to_string(event_.id.value) + " of " + one_line(std::filesystem::path(s_.path()).filename().string() + ": " + op_.full + (where.empty() ? "" : " at " + where)) + ".\n";
    if (!version.empty()) out += "# Recorded with " + one_line(s_.meta("engine") + " " + version) + ". Contents are not recorded: floats are random, other numbers 0 (divisors 1), bools True.\n";
    const auto raised = s_.raised_in(event_.id);
    if (!raised.empty()) out += one_line("# The recorded call raised " + raised.front().type + ": " + raised.front().message) + "\n";
    const std::string space = op_.name.substr(0, op_.name.find("::"));
    if (space != "aten" && space != "prims") out += "# The program registered " + space + ": import what does that first.\n";
    out += "import torch\n";
    if (uses_inf_) out += "from math import inf, nan\n";
    return out + "\ntorch.manual_seed(0)\n";
  }

  Result<std::string> argument(size_t i, const std::vector<Value>& values) {
    const std::string& type = types_.types[i];
    const bool list = values.front().list_index >= 0;
    if (list) {
      std::string out = "[";
      for (const Value& v : values) {
        const Result<std::string> one = v.tensor || !v.dtype.empty() ? tensor(v, name_of(i) + "_" + std::to_string(v.list_index), written(i)) : plain(v, type, i);
        if (!one) return one;
        out += (out.size() > 1 ? ", " : "") + *one;
      }
      return out + "]";
    }
    const Value& v = values.front();
    if (v.tensor || !v.dtype.empty()) return tensor(v, name_of(i), written(i));
    if (has(v.flags, "undefined")) return std::string("None");
    return plain(v, type, i);
  }

  Result<std::string> plain(const Value& v, const std::string& type, size_t i) {
    const std::string& t = v.value;
    const auto cannot = [&](const std::string& why) { return Error{"argument " + name_of(i) + " of hop " + std::to_string(event_.id.value) + " can't be made: " + why}; };
    if (t == "generator") return std::string("torch.default_generator");
    if (t.find("…") != t.npos) return cannot("it was cut in the recording");
    if (t.empty() || t == "?" || t == "storage" || t == "stream" || t == "symbolic" || t == "[symbolic]" || t == "[...]" || t == "Object") return cannot("it is recorded as " + (t.empty() ? "nothing" : t));
    if (t == "None" || t == "True" || t == "False") return t;
    const bool named = type.starts_with("ScalarType") || type.starts_with("Layout") || type.starts_with("MemoryFormat") || type.starts_with("Device");
    if (named ? !word(t) : !literal(t)) return cannot("it is recorded as " + one_line(t));
    if (type.starts_with("ScalarType")) return t[0] >= '0' && t[0] <= '9' ? numbered(dtypes(), t, "dtype", i) : Result<std::string>(torch_dtype(t));
    if (type.starts_with("Layout")) return t.starts_with("torch.") ? Result<std::string>(t) : t[0] >= '0' && t[0] <= '9' ? numbered({"torch.strided", "torch.sparse_coo", "torch.sparse_csr", "torch._mkldnn"}, t, "layout", i) : Result<std::string>("torch." + t);
    if (type.starts_with("MemoryFormat")) return t[0] >= '0' && t[0] <= '9' ? numbered({"torch.contiguous_format", "torch.preserve_format", "torch.channels_last", "torch.channels_last_3d"}, t, "memory format", i) : Result<std::string>(t);
    if (type.starts_with("Device")) return "torch.device('" + t + "')";
    uses_inf_ |= t.find("inf") != t.npos || t.find("nan") != t.npos;
    if (type.starts_with("Tensor")) return cannot("it is recorded as " + t);
    return t;
  }
  /// Operators whose tensors torch.ops makes of Python numbers as Python's own calls do (python_arg_parser.cpp, should_allow_numbers_as_tensors).
  bool takes_numbers() const {
    static constexpr const char* kNames[] = {"add", "sub", "mul", "div", "divide", "multiply", "subtract", "true_divide", "floor_divide", "to", "_to_copy", "copy", "_conj"};
    if (!op_.name.starts_with("aten::")) return false;
    std::string name = op_.name.substr(6);
    if (name.ends_with("_")) name.pop_back();
    return std::any_of(std::begin(kNames), std::end(kNames), [&](const char* n) { return name == n; });
  }
  /// PyTorch hands these as plain numbers where a kernel is entered boxed.
  static const std::vector<std::string>& dtypes() {
    static const std::vector<std::string> names = {"torch.uint8", "torch.int8", "torch.int16", "torch.int32", "torch.int64", "torch.float16", "torch.float32", "torch.float64",
                                                   "torch.complex32", "torch.complex64", "torch.complex128", "torch.bool", "torch.qint8", "torch.quint8", "torch.qint32", "torch.bfloat16"};
    return names;
  }
  Result<std::string> numbered(const std::vector<std::string>& names, const std::string& t, const char* what, size_t i) const {
    const size_t n = std::strtoul(t.c_str(), nullptr, 10);
    if (n < names.size()) return names[n];
    return Error{"argument " + name_of(i) + " of hop " + std::to_string(event_.id.value) + " can't be made: its " + what + " has the number " + t};
  }

  bool written(size_t i) const { return i < op_.arguments.size() && op_.arguments[i].flags & 1; }
  /// unsafe_chunk and the like share storage with their argument, and autograd doesn't know of it.
  bool made_unsafe(EventId birth) const {
    for (EventId e = birth; e; e = s_.parent(e)) {
      if (s_.op(s_.event(e).op).name.find("::unsafe_") != std::string::npos) return true;
    }
    return false;
  }

  /// The name of a variable that holds such a tensor; one tensor is one variable.
  Result<std::string> tensor(const Value& v, const std::string& wanted, bool written) {
    if (has(v.flags, "undefined")) return std::string("None");
    if (v.tensor) {
      if (const auto known = variables_.find(v.tensor); known != variables_.end()) return known->second;
    }
    const auto cannot = [&](const std::string& why) { return Error{"argument " + wanted + " of hop " + std::to_string(event_.id.value) + " can't be made: " + why}; };
    const std::string& keys = s_.keyset(v.keyset).text;
    for (const auto& [key, words] : kUnmakeable) {
      if (has(keys, key)) return cannot(std::string("it is ") + words);
    }
    const bool integral = v.dtype.find("int") != v.dtype.npos, boolean = v.dtype.find("bool") != v.dtype.npos;
    if (has(v.flags, "wrapped_number") && takes_numbers()) return std::string(boolean ? "True" : integral ? "2" : v.dtype.find("complex") != v.dtype.npos ? "2j" : "2.0");
    const std::string layout = v.layout.starts_with("torch.") ? v.layout.substr(6) : v.layout;
    const bool strided = layout.empty() || layout == "strided";
    if (!strided && layout != "sparse_coo" && layout != "sparse_csr") return cannot("its layout is " + layout);
    const Numbers shape = numbers(v.shape), strides = numbers(v.strides);
    if (v.shape.empty()) return cannot("its sizes are symbolic");
    if (!word(v.dtype) || !(v.device.empty() || word(v.device))) return cannot("its dtype or device has an odd name");
    std::string name = variable(wanted);
    for (int n = 2; std::find(names_.begin(), names_.end(), name) != names_.end(); ++n) name = variable(wanted) + "_" + std::to_string(n);
    names_.push_back(name);

    std::string more = ", dtype=" + torch_dtype(v.dtype);
    if (torch_dtype(v.dtype) == "torch.float32") more.clear();
    if (!v.device.empty() && v.device != "cpu") more += ", device='" + v.device + "'";
    const bool divides = op_.name.find("div") != op_.name.npos || op_.name.find("remainder") != op_.name.npos || op_.name.find("mod") != op_.name.npos;
    const std::string maker = boolean || (integral && divides) ? "torch.ones" : integral ? "torch.zeros" : "torch.rand";
    const std::string fill = boolean || (integral && divides) ? ".fill_(1)" : integral ? ".zero_()" : ".uniform_()";
    const bool requires_grad = has(v.flags, "requires_grad"), leaf = has(v.flags, "leaf");
    const auto row = v.tensor ? s_.tensor(v.tensor) : std::nullopt;
    const bool view = row && row->base && !made_unsafe(row->birth);
    const std::string as_shape = tuple(shape), as = ".as_strided(" + as_shape + ", " + tuple(strides) + ")";
    const bool plain = !strided || shape.size() != strides.size() || contiguous(shape, strides);
    std::string make, after;
    if (requires_grad) after = leaf ? ".requires_grad_()" : ".requires_grad_().clone()";
    if (plain) {
      make = maker + "(" + as_shape + more + ")" + (strided ? "" : layout == "sparse_coo" ? ".to_sparse()" : ".to_sparse_csr()") + after;
    } else if (dense(shape, strides)) {
      make = "torch.empty_strided(" + as_shape + ", " + tuple(strides) + more + ")" + fill + after;
    } else {
      int64_t room = 1;
      for (size_t i = 0; i < shape.size(); ++i) room += std::max<int64_t>(shape[i] - 1, 0) * strides[i];
      make = maker + "(" + std::to_string(room) + more + ")";
      if (!requires_grad || leaf) make += as + after;
      else if (view) make += after + as;
      else make = "torch.unsafe_split(" + make + as + ".requires_grad_(), " + std::to_string(std::max<int64_t>(shape[0], 1)) + ")[0]";  // no view for autograd, and its strides
    }
    // Writing to a view makes other nodes than writing to a tensor of its own.
    if (view && strided && !leaf && (requires_grad || written) && make.find(".as_strided(") == make.npos) make += plain ? ".view(" + as_shape + ")" : "[...]";
    if (has(v.flags, "conj")) make += ".conj()";
    if (has(v.flags, "neg")) make = "torch._neg_view(" + make + ")";
    made_ += has(v.flags, "inference") ? "with torch.inference_mode():\n    " + name + " = " + make + "\n" : name + " = " + make + "\n";
    if (v.tensor) variables_[v.tensor] = name;
    return name;
  }

  /// `with a, b:\n    result = `, or `result = `.
  Result<std::string> enter_modes(const Tls& tls) const {
    std::vector<std::string> entered;
    std::string rest = tls.modes;
    while (!rest.empty()) {
      const size_t comma = rest.find(", ");
      const std::string one = rest.substr(0, comma);
      rest = comma == rest.npos ? "" : rest.substr(comma + 2);
      if (!one.starts_with("autocast ")) return Error{"hop " + std::to_string(event_.id.value) + " ran under " + one + ", which can't be set up from a recording"};
      const size_t space = one.find(' ', 9);
      const std::string dtype = one.substr(space + 1);
      entered.push_back("torch.autocast('" + one.substr(9, space - 9) + "', dtype=torch." + (dtype == "Half" ? "float16" : dtype == "BFloat16" ? "bfloat16" : "float32") + ")");
    }
    if (tls.inference_mode) entered.push_back("torch.inference_mode()");
    else if (!tls.grad_mode) entered.push_back("torch.no_grad()");
    if (std::string set = forced_keys(tls); !set.empty()) entered.push_back(std::move(set));
    if (entered.empty()) return std::string("result = ");
    std::string out;
    for (const std::string& e : entered) out += (out.empty() ? "with " : ", ") + e;
    return out + ":\n    result = ";
  }

  /// A guard for the thread-local key sets, when they aren't what the modes give by themselves: calls that kernels made.
  std::string forced_keys(const Tls& tls) const {
    const KeyMath math(s_);
    const auto bits = [&](std::initializer_list<const char*> names) {
      uint64_t set = 0;
      for (const char* n : names) {
        if (const Key* k = s_.key_by_name(n)) set |= math.bits(k->id);
      }
      return set;
    };
    uint64_t casts = 0, gradients = 0, known = 0;
    for (const Key* k : s_.keys()) {
      if (k->alias()) continue;
      known |= math.bits(k->id);
      if (k->name.starts_with("Autocast")) casts |= math.bits(k->id);
      if (k->name.starts_with("Autograd")) gradients |= math.bits(k->id);
    }
    known &= ~uint64_t{0} << 16;  // backends are never excluded by modes
    const uint64_t included = bits({"BackendSelect"}) | (tls.inference_mode ? 0 : bits({"ADInplaceOrView"}));
    uint64_t excluded = casts;
    if (tls.inference_mode) excluded |= gradients;
    const bool casting = tls.modes.find("autocast") != tls.modes.npos;
    const uint64_t may_differ = casting ? casts : 0;
    if (((tls.included ^ included) & known) == 0 && ((tls.excluded ^ excluded) & known & ~may_differ) == 0) return "";
    char text[160];
    std::snprintf(text, sizeof text, "torch._C._ForceDispatchKeyGuard(torch._C.DispatchKeySet.from_raw_repr(%#llx), torch._C.DispatchKeySet.from_raw_repr(%#llx))",
                  static_cast<unsigned long long>(tls.included), static_cast<unsigned long long>(tls.excluded));
    return text;
  }

  static constexpr std::array<std::pair<const char*, const char*>, 8> kUnmakeable = {{
      {"Python", "of a Python class of its own"}, {"FuncTorchBatched", "inside vmap"}, {"FuncTorchGradWrapper", "inside a transform of torch.func"},
      {"Functionalize", "a functional tensor of torch.compile"}, {"NestedTensor", "nested"}, {"QuantizedCPU", "quantized"}, {"QuantizedCUDA", "quantized"}, {"MkldnnCPU", "in oneDNN's layout"}}};

  const Session& s_;
  const Event event_;
  const Op& op_;
  const Types types_;
  std::string made_;
  std::vector<std::string> names_;
  std::map<TensorId, std::string> variables_;
  bool uses_inf_ = false;
};

}  // namespace

Result<std::string> call_program(const Session& s, EventId e) {
  const EventId call = call_of(s, e);
  if (!call) return Error{"hop " + std::to_string(e.value) + " is no call of an operator: only calls can be repeated"};
  return Program(s, call).write();
}

}  // namespace peel
