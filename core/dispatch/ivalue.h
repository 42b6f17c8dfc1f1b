// A boxed value and the stack of them that boxed kernels work on: what dispatch needs, no more.
#pragma once
#include <complex>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/dispatch/reference.h"

namespace peel::core {

struct Device {
  uint8_t type = 0;  // BackendComponent's index is not it: 0 cpu, 1 cuda, ... as PyTorch numbers device types
  int8_t index = -1;
  bool operator==(const Device&) const = default;
};
/// `cpu`, `cuda:1`.
std::string to_string(Device);
bool parse_device(std::string_view text, Device* out);

/// One value of any type of the schema language. Lists, tuples and dicts are shared when copied, as in PyTorch.
class IValue {
 public:
  enum class Tag : uint8_t { kNone, kTensor, kInt, kDouble, kBool, kDevice, kComplex, kString, kList, kTuple, kDict, kGenerator, kObject };

  IValue() = default;
  IValue(const TensorHandle& t) : IValue(Tag::kTensor, Ref<RefCounted>(t.object())) {}
  IValue(TensorHandle&& t) : IValue(Tag::kTensor, Ref<RefCounted>(t.release())) {}
  IValue(const GeneratorHandle& g) : IValue(Tag::kGenerator, Ref<RefCounted>(g.object())) {}
  IValue(int64_t v) : tag_(Tag::kInt) { u_.i = v; }
  IValue(int v) : IValue(int64_t{v}) {}
  IValue(double v) : tag_(Tag::kDouble) { u_.d = v; }
  IValue(bool v) : tag_(Tag::kBool) { u_.i = v; }
  IValue(Device v) : tag_(Tag::kDevice) { u_.i = v.type << 8 | static_cast<uint8_t>(v.index); }
  IValue(std::complex<double>);
  IValue(std::string);
  IValue(std::string_view v) : IValue(std::string(v)) {}
  IValue(const char* v) : IValue(std::string(v)) {}
  static IValue list(std::vector<IValue>);
  static IValue tuple(std::vector<IValue>);
  static IValue dict(std::vector<std::pair<IValue, IValue>>);  // in order of insertion
  static IValue object(Ref<RefCounted>);

  IValue(const IValue& o) : tag_(o.tag_), u_(o.u_) {
    if (counted()) Ref<RefCounted>(u_.p).release();
  }
  IValue(IValue&& o) noexcept : tag_(std::exchange(o.tag_, Tag::kNone)), u_(o.u_) {}
  ~IValue() {
    if (counted()) Ref<RefCounted>::adopt(u_.p);
  }
  IValue& operator=(IValue o) noexcept {
    std::swap(tag_, o.tag_);
    std::swap(u_, o.u_);
    return *this;
  }

  Tag tag() const { return tag_; }
  bool is_none() const { return tag_ == Tag::kNone; }
  /// Each throws Error when the value is of another type.
  TensorHandle to_tensor() const;
  TensorHandle take_tensor() {  // leaves None
    if (tag_ != Tag::kTensor) return to_tensor();
    tag_ = Tag::kNone;
    return TensorHandle(Ref<KeyedObject>::adopt(static_cast<KeyedObject*>(u_.p)));
  }
  GeneratorHandle to_generator() const;
  int64_t to_int() const;
  double to_double() const;  // ints too
  bool to_bool() const;
  Device to_device() const;
  std::complex<double> to_complex() const;  // every number
  const std::string& to_string() const;
  const std::vector<IValue>& to_list() const;
  const std::vector<IValue>& to_tuple() const;
  const std::vector<std::pair<IValue, IValue>>& to_dict() const;
  Ref<RefCounted> to_object() const;
  /// The keys that it brings to a boxed call: of a tensor, or of the tensors of a list.
  DispatchKeySet keys() const {
    if (tag_ == Tag::kTensor) return u_.p ? static_cast<KeyedObject*>(u_.p)->keys : kUndefinedTensor;
    return tag_ == Tag::kList ? keys_of_list() : DispatchKeySet();
  }

  /// Equal by value; tensors, generators and objects by identity.
  bool operator==(const IValue&) const;

 private:
  IValue(Tag t, Ref<RefCounted> r) : tag_(t) { u_.p = r.release(); }
  bool counted() const { return (tag_ == Tag::kTensor || tag_ >= Tag::kComplex) && u_.p; }
  void expect(Tag, const char* type) const;
  DispatchKeySet keys_of_list() const;
  Tag tag_ = Tag::kNone;
  union {
    int64_t i;
    double d;
    RefCounted* p;
  } u_{0};
};

const char* to_string(IValue::Tag);
/// As PyTorch prints defaults: `1.`, `[0, 1]`, `None`, `True`, `cpu`.
std::string to_text(const IValue&);

using Stack = std::vector<IValue>;
/// Takes the last `n` values off.
inline void drop(Stack* s, size_t n) {
  while (n-- > 0) s->pop_back();
}

}  // namespace peel::core
