// Values of tensors while a thread stands. They are read from memory, element by element: no kernel of the program's runs, and
// nothing is allocated in its pools. Those of GPUs are copied to the host first (tracer/cupti/look.cpp).
#include <ATen/core/IListRef.h>
#include <ATen/core/List.h>

#include "tracer/pytorch/agent.h"
#include "tracer/pytorch/thunk.h"
#include "tracer/wire/statistics.h"

namespace peel::agent {
namespace {

<<<<<<< HEAD
=======
constexpr int64_t kMostElements = 1 << 22;  // looked at; a second at most
constexpr int64_t kShown = 6;
constexpr int64_t kMostBytes = 32 << 20;       // copied from a GPU; what lies further apart is not looked at

struct Seen {
  int64_t count = 0, nan = 0, infinite = 0;
  double least = INFINITY, most = -INFINITY, sum = 0;
  std::string first;
};

std::string number_text(double x) {
  char text[32];
  const auto end = std::to_chars(text, text + sizeof text, x, std::chars_format::general, 6);
  return std::string(text, end.ptr);
}
template <class T>
std::string value_text(T x) {
  if constexpr (std::is_same_v<T, bool>) return x ? "True" : "False";
  else if constexpr (std::is_integral_v<T>) return std::to_string(x);
  else return number_text(static_cast<double>(x));
}

template <class T>
void see(Seen& s, T x) {
  const double d = static_cast<double>(x);
  s.count++;
  if (std::isnan(d)) s.nan++;
  else {
    s.least = std::min(s.least, d), s.most = std::max(s.most, d);
    if (std::isinf(d)) s.infinite++;
    else s.sum += d;
  }
  if (s.count <= kShown) s.first += (s.first.empty() ? "" : ", ") + value_text(x);
}
template <class T>
void see(Seen& s, c10::complex<T> x) {  // no order: only what is finite is counted
  s.count++;
  const double re = static_cast<double>(x.real()), im = static_cast<double>(x.imag());
  if (std::isnan(re) || std::isnan(im)) s.nan++;
  else if (std::isinf(re) || std::isinf(im)) s.infinite++;
  if (s.count <= kShown) s.first += (s.first.empty() ? "" : ", ") + number_text(re) + (im < 0 || std::signbit(im) ? "" : "+") + number_text(im) + "j";
}

/// Offsets of all elements in order, the last dimension fastest, up to kMostElements, until `visit` is false.
template <class Visit>
void each_offset(const c10::TensorImpl* i, Visit&& visit) {
  const auto dims = static_cast<int64_t>(i->sizes_and_strides_.size());
  std::vector<int64_t> at(static_cast<size_t>(dims));
  int64_t offset = i->storage_offset_;
  for (int64_t left = std::min(i->numel_, kMostElements); left > 0 && visit(offset); left--) {
    for (int64_t d = dims; d-- > 0;) {
      const int64_t stride = i->sizes_and_strides_.stride_at_unchecked(static_cast<size_t>(d));
      offset += stride;
      if (++at[static_cast<size_t>(d)] < i->sizes_and_strides_.size_at_unchecked(static_cast<size_t>(d))) break;
      offset -= at[static_cast<size_t>(d)] * stride;
      at[static_cast<size_t>(d)] = 0;
    }
  }
}

/// What is read: the storage from element `first` on, as far as it is here.
struct Memory {
  const void* data;
  int64_t first = 0, elements = INT64_MAX;
};

template <class T>
void see_all(Seen& s, const c10::TensorImpl* i, const Memory& m, bool negative, bool conjugate) {
  const T* data = static_cast<const T*>(m.data);
  each_offset(i, [&](int64_t offset) {
    if (offset - m.first < 0 || offset - m.first >= m.elements) return false;
    T x = data[offset - m.first];
    if constexpr (!std::is_same_v<T, bool>) if (negative) x = static_cast<T>(-x);
    if constexpr (requires { x.imag(); }) if (conjugate) x = T(x.real(), -x.imag());
    see(s, x);
    return true;
  });
}

/// The part of a GPU's storage that holds the elements, or as many of the first as lie near enough. "" = it is in `to`.
std::string fetch(const c10::TensorImpl* i, const void* storage, size_t element, std::vector<char>* to, Memory* m) {
  const auto size = static_cast<int64_t>(element);
  int64_t low = INT64_MAX, high = INT64_MIN;
  each_offset(i, [&](int64_t offset) {
    const int64_t l = std::min(low, offset), h = std::max(high, offset);
    if ((h - l + 1) * size > kMostBytes) return false;
    low = l, high = h;
    return true;
  });
  to->resize(static_cast<size_t>((high - low + 1) * size));
  *m = {to->data(), low, high - low + 1};
  const char* why_not = read_gpu_memory(i->device_opt_->index(), static_cast<const char*>(storage) + low * size, to->data(), to->size());
  return why_not ? why_not : "";
}

>>>>>>> five
/// "" = seen.
std::string look(const c10::TensorImpl* i, wire::Seen& s) {
  using K = c10::DispatchKey;
  const auto ks = i->key_set_;
  const auto device = i->device_opt_;
  if (ks.has_any(c10::sparse_ks | c10::sparse_csr_ks | c10::mkldnn_ks)) return "its values are not strided";
  if (ks.has(K::FuncTorchBatched) || ks.has(K::FuncTorchGradWrapper) || ks.has(K::Functionalize)) return "it wraps another tensor, which has the values";
  if (i->has_symbolic_sizes_strides_) return "its sizes are symbolic";
  if (ks.has_backend(c10::BackendComponent::MetaBit) || (device && device->type() == c10::DeviceType::Meta)) return "meta tensors have no values";
  const bool gpu = device && device->type() == c10::DeviceType::CUDA;
  if (!device || (!gpu && device->type() != c10::DeviceType::CPU)) return "its values are on " + (device ? device->str() : std::string("no device")) + ", which is not read while the program stands";
  if (i->numel_ == 0) return "";
  const c10::StorageImpl* storage = i->storage_.unsafeGetStorageImpl();
  if (!storage || !storage->data_ptr_.get()) return "it has no memory";
  const auto type = i->data_type_.toScalarType();
  const auto& geometry = i->sizes_and_strides_;
  const size_t dims = geometry.size();
  const int64_t *sizes = geometry.sizes_data(), *strides = geometry.strides_data();
  if (!wire::stays_inside(sizes, strides, dims, i->storage_offset_, c10::elementSize(type), storage->nbytes())) return "its sizes reach beyond its storage";
  const bool neg = ks.has(K::Negative), conj = ks.has(K::Conjugate);
<<<<<<< HEAD
  const auto see_all = [&]<class T>(const T*) {
    wire::see_all(s, static_cast<const T*>(storage->data_ptr_.get()) + i->storage_offset_, sizes, strides, dims, neg, conj);
    return "";
  };
  switch (type) {
    case c10::ScalarType::Float: return see_all(static_cast<const float*>(nullptr));
    case c10::ScalarType::Double: return see_all(static_cast<const double*>(nullptr));
    case c10::ScalarType::Half: return see_all(static_cast<const c10::Half*>(nullptr));
    case c10::ScalarType::BFloat16: return see_all(static_cast<const c10::BFloat16*>(nullptr));
    case c10::ScalarType::Long: return see_all(static_cast<const int64_t*>(nullptr));
    case c10::ScalarType::Int: return see_all(static_cast<const int32_t*>(nullptr));
    case c10::ScalarType::Short: return see_all(static_cast<const int16_t*>(nullptr));
    case c10::ScalarType::Char: return see_all(static_cast<const int8_t*>(nullptr));
    case c10::ScalarType::Byte: return see_all(static_cast<const uint8_t*>(nullptr));
    case c10::ScalarType::Bool: return see_all(static_cast<const bool*>(nullptr));
    case c10::ScalarType::ComplexFloat: return see_all(static_cast<const c10::complex<float>*>(nullptr));
    case c10::ScalarType::ComplexDouble: return see_all(static_cast<const c10::complex<double>*>(nullptr));
=======
  std::vector<char> copy;
  Memory m{storage->data_ptr_.get()};
  if (gpu)
    if (const std::string why_not = fetch(i, m.data, element, &copy, &m); !why_not.empty()) return why_not;
  switch (type) {
    case c10::ScalarType::Float: see_all<float>(s, i, m, neg, conj); return "";
    case c10::ScalarType::Double: see_all<double>(s, i, m, neg, conj); return "";
    case c10::ScalarType::Half: see_all<c10::Half>(s, i, m, neg, conj); return "";
    case c10::ScalarType::BFloat16: see_all<c10::BFloat16>(s, i, m, neg, conj); return "";
    case c10::ScalarType::Long: see_all<int64_t>(s, i, m, neg, conj); return "";
    case c10::ScalarType::Int: see_all<int32_t>(s, i, m, neg, conj); return "";
    case c10::ScalarType::Short: see_all<int16_t>(s, i, m, neg, conj); return "";
    case c10::ScalarType::Char: see_all<int8_t>(s, i, m, neg, conj); return "";
    case c10::ScalarType::Byte: see_all<uint8_t>(s, i, m, neg, conj); return "";
    case c10::ScalarType::Bool: see_all<bool>(s, i, m, neg, conj); return "";
    case c10::ScalarType::ComplexFloat: see_all<c10::complex<float>>(s, i, m, neg, conj); return "";
    case c10::ScalarType::ComplexDouble: see_all<c10::complex<double>>(s, i, m, neg, conj); return "";
>>>>>>> five
    default: return std::string("values of dtype ") + c10::toString(type) + " are not read";
  }
}

void tell(wire::AnswerRows& rows, size_t position, int64_t index, const c10::TensorImpl* i) {
  wire::Seen s;
  const std::string why_not = look(i, s);
  wire::tell(rows, position, index, reinterpret_cast<uintptr_t>(i->storage_.unsafeGetStorageImpl()), s, why_not, i->numel_);
}

}  // namespace

bool any_tensor(const Held& held, const TensorTest& test) {
  const auto given = [&](uint32_t position, int64_t index, const at::Tensor& x) { return x.defined() && test(position, index, x.unsafeGetTensorImpl()); };
  const auto among = [&](uint32_t position, const auto& xs) {
    int64_t index = 0;
    for (const at::Tensor& x : xs) if (given(position, index++, x)) return true;
    return false;
  };
  for (uint32_t i = 0; held.typed && i < held.typed->count; i++) {
    const void* at = held.typed->at[i];
    bool found = false;
    switch (held.typed->tags[i]) {
      case Tag::kTensor: found = given(i, -1, *static_cast<const at::Tensor*>(at)); break;
      case Tag::kMaybeTensor: if (const auto& x = *static_cast<const std::optional<at::Tensor>*>(at)) found = given(i, -1, *x); break;
      case Tag::kTensors: found = among(i, *static_cast<const at::TensorList*>(at)); break;
      case Tag::kTensorRefs: found = among(i, *static_cast<const at::ITensorListRef*>(at)); break;
      case Tag::kTensorVector: found = among(i, *static_cast<const std::vector<at::Tensor>*>(at)); break;
      case Tag::kMaybeTensors: {
        const auto& xs = *static_cast<const c10::List<std::optional<at::Tensor>>*>(at);
        for (size_t k = 0; k < xs.size() && !found; k++)
          if (const std::optional<at::Tensor> x = xs.get(k)) found = given(i, static_cast<int64_t>(k), *x);
        break;
      }
      default: break;
    }
    if (found) return true;
  }
  const c10::TensorImpl* undefined = c10::UndefinedTensorImpl::singleton();
  const auto boxed = [&](uint32_t position, int64_t index, const c10::IValue& v) { return v.isTensor() && v.unsafeToTensorImpl() != undefined && test(position, index, v.unsafeToTensorImpl()); };
  for (uint32_t i = 0; i < held.count; i++) {
    if (boxed(i, -1, held.boxed[i])) return true;
    int64_t index = 0;
    if (held.boxed[i].isList()) for (const auto& e : held.boxed[i].toListRef()) if (boxed(i, index++, e)) return true;
  }
  return false;
}

void tell_tensors(const Held& held, wire::AnswerRows& rows) {
  any_tensor(held, [&](uint32_t position, int64_t index, c10::TensorImpl* i) { return tell(rows, position, index, i), false; });
}

}  // namespace peel::agent
