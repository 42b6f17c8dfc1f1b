#include "core/dispatch/ivalue.h"

#include <charconv>
#include <cstdio>

#include "core/dispatch/error.h"

namespace peel::core {
namespace {

template <class T>
struct Held final : RefCounted {
  explicit Held(T v) : value(std::move(v)) {}
  T value;
};
using List = std::vector<IValue>;
using Dict = std::vector<std::pair<IValue, IValue>>;

template <class T>
const T& held(const RefCounted* p) {
  return static_cast<const Held<T>*>(p)->value;
}

// Order is PyTorch's DeviceType.
constexpr const char* kDeviceNames[] = {"cpu", "cuda", "mkldnn", "opengl", "opencl", "ideep", "hip",  "fpga",  "maia", "xla",
                                        "vulkan", "metal", "xpu",  "mps",    "meta",   "hpu",   "ve", "lazy", "ipu",  "mtia", "privateuseone"};

// What reads back as the same double; whole numbers end in a dot.
std::string text_of(double v) {
  char buffer[40];
  std::snprintf(buffer, sizeof buffer, "%.17g", v);
  const std::string out = buffer;
  return out.find_first_not_of("-0123456789") == std::string::npos ? out + "." : out;
}

std::string joined(const List& values) {
  std::string out;
  for (const IValue& v : values) out += (out.empty() ? "" : ", ") + to_text(v);
  return out;
}

}  // namespace

std::string to_string(Device d) {
  std::string out = d.type < std::size(kDeviceNames) ? kDeviceNames[d.type] : "unknown";
  if (d.index >= 0) out += ":" + std::to_string(d.index);
  return out;
}

bool parse_device(std::string_view text, Device* out) {
  const size_t colon = text.find(':');
  Device d;
  if (colon != std::string_view::npos) {
    const std::string_view digits = text.substr(colon + 1);
    const auto end = std::from_chars(digits.data(), digits.data() + digits.size(), d.index);
    if (end.ec != std::errc() || end.ptr != digits.data() + digits.size() || d.index < 0) return false;
  }
  for (; d.type < std::size(kDeviceNames); ++d.type) {
    if (text.substr(0, colon) != kDeviceNames[d.type]) continue;
    *out = d;
    return true;
  }
  return false;
}

IValue::IValue(std::complex<double> v) : IValue(Tag::kComplex, make_ref<Held<std::complex<double>>>(v)) {}
IValue::IValue(std::string v) : IValue(Tag::kString, make_ref<Held<std::string>>(std::move(v))) {}
IValue IValue::list(std::vector<IValue> v) { return {Tag::kList, make_ref<Held<List>>(std::move(v))}; }
IValue IValue::tuple(std::vector<IValue> v) { return {Tag::kTuple, make_ref<Held<List>>(std::move(v))}; }
IValue IValue::dict(std::vector<std::pair<IValue, IValue>> v) { return {Tag::kDict, make_ref<Held<Dict>>(std::move(v))}; }
IValue IValue::object(Ref<RefCounted> r) { return {Tag::kObject, std::move(r)}; }

void IValue::expect(Tag t, const char* type) const {
  if (tag_ != t) throw Error(std::string("Expected ") + type + " but got " + core::to_string(tag_));
}

TensorHandle IValue::to_tensor() const {
  if (tag_ == Tag::kNone) return {};  // an absent Tensor? is an undefined tensor to a kernel that takes one
  expect(Tag::kTensor, "Tensor");
  return TensorHandle(Ref<KeyedObject>(static_cast<KeyedObject*>(u_.p)));
}
GeneratorHandle IValue::to_generator() const {
  expect(Tag::kGenerator, "Generator");
  return GeneratorHandle(Ref<KeyedObject>(static_cast<KeyedObject*>(u_.p)));
}
int64_t IValue::to_int() const {
  if (tag_ != Tag::kBool) expect(Tag::kInt, "Int");
  return u_.i;
}
double IValue::to_double() const {
  if (tag_ == Tag::kInt || tag_ == Tag::kBool) return static_cast<double>(u_.i);
  expect(Tag::kDouble, "Double");
  return u_.d;
}
bool IValue::to_bool() const {
  expect(Tag::kBool, "Bool");
  return u_.i != 0;
}
Device IValue::to_device() const {
  expect(Tag::kDevice, "Device");
  return {static_cast<uint8_t>(u_.i >> 8), static_cast<int8_t>(u_.i & 0xff)};
}
std::complex<double> IValue::to_complex() const { return tag_ == Tag::kComplex ? held<std::complex<double>>(u_.p) : to_double(); }
const std::string& IValue::to_string() const {
  expect(Tag::kString, "String");
  return held<std::string>(u_.p);
}
const std::vector<IValue>& IValue::to_list() const {
  expect(Tag::kList, "GenericList");
  return held<List>(u_.p);
}
const std::vector<IValue>& IValue::to_tuple() const {
  expect(Tag::kTuple, "Tuple");
  return held<List>(u_.p);
}
const std::vector<std::pair<IValue, IValue>>& IValue::to_dict() const {
  expect(Tag::kDict, "GenericDict");
  return held<Dict>(u_.p);
}
Ref<RefCounted> IValue::to_object() const {
  expect(Tag::kObject, "Object");
  return Ref<RefCounted>(u_.p);
}

DispatchKeySet IValue::keys_of_list() const {
  DispatchKeySet out;
  for (const IValue& v : held<List>(u_.p)) {
    if (v.tag_ == Tag::kTensor) out = out | v.keys();
  }
  return out;
}

bool IValue::operator==(const IValue& o) const {
  if (tag_ != o.tag_) return false;
  switch (tag_) {
    case Tag::kNone: return true;
    case Tag::kInt:
    case Tag::kBool:
    case Tag::kDevice: return u_.i == o.u_.i;
    case Tag::kDouble: return u_.d == o.u_.d;
    case Tag::kComplex: return to_complex() == o.to_complex();
    case Tag::kString: return to_string() == o.to_string();
    case Tag::kList:
    case Tag::kTuple: return held<List>(u_.p) == held<List>(o.u_.p);
    case Tag::kDict: return held<Dict>(u_.p) == held<Dict>(o.u_.p);
    case Tag::kTensor:
    case Tag::kGenerator:
    case Tag::kObject: return u_.p == o.u_.p;
  }
  return false;
}

const char* to_string(IValue::Tag t) {
  constexpr const char* names[] = {"None",        "Tensor", "Int",         "Double",    "Bool",  "Device", "ComplexDouble", "String",
                                   "GenericList", "Tuple",  "GenericDict", "Generator", "Object"};
  return names[static_cast<int>(t)];
}

std::string to_text(const IValue& v) {
  switch (v.tag()) {
    case IValue::Tag::kNone: return "None";
    case IValue::Tag::kTensor: return v.to_tensor().defined() ? "<Tensor>" : "<undefined Tensor>";
    case IValue::Tag::kInt: return std::to_string(v.to_int());
    case IValue::Tag::kDouble: return text_of(v.to_double());
    case IValue::Tag::kBool: return v.to_bool() ? "True" : "False";
    case IValue::Tag::kDevice: return to_string(v.to_device());
    case IValue::Tag::kComplex: {
      const auto c = v.to_complex();
      return text_of(c.real()) + (c.imag() < 0 ? "" : "+") + text_of(c.imag()) + "j";
    }
    case IValue::Tag::kString: return v.to_string();
    case IValue::Tag::kList: return "[" + joined(v.to_list()) + "]";
    case IValue::Tag::kTuple: return "(" + joined(v.to_tuple()) + ")";
    case IValue::Tag::kDict: {
      std::string out;
      for (const auto& [key, value] : v.to_dict()) out += (out.empty() ? "" : ", ") + to_text(key) + ": " + to_text(value);
      return "{" + out + "}";
    }
    case IValue::Tag::kGenerator: return "<Generator>";
    case IValue::Tag::kObject: return "<object>";
  }
  return {};
}

}  // namespace peel::core
