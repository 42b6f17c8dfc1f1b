// Values of tensors while a thread stands. They are read from memory, element by element: no kernel of the program's runs, and
// nothing is allocated in its pools. Those of GPUs are copied to the host first (tracer/cupti/look.cpp).
#include <ATen/core/IListRef.h>
#include <ATen/core/List.h>

#include "tracer/pytorch/agent.h"
#include "tracer/pytorch/thunk.h"
#include "tracer/wire/statistics.h"

namespace peel::agent {
namespace {

constexpr int64_t kMostBytes = 32 << 20;  // copied from a GPU; what lies further apart is not looked at

/// The part of a GPU's memory that holds the elements, or as many of the first as lie near enough; `at` is where the first one is. "" = it is in `to`.
std::string fetch(int device, const char* at, const int64_t* sizes, const int64_t* strides, size_t dims, size_t element, std::vector<char>* to, wire::Readable* m) {
  const auto size = static_cast<int64_t>(element);
  int64_t low = 0, high = 0;
  wire::each_offset(sizes, strides, dims, [&](int64_t offset) {
    const int64_t l = std::min(low, offset), h = std::max(high, offset);
    if ((h - l + 1) * size > kMostBytes) return false;
    low = l, high = h;
    return true;
  });
  to->resize(static_cast<size_t>((high - low + 1) * size));
  *m = {to->data(), low, high - low + 1};
  const char* why_not = read_gpu_memory(device, at + low * size, to->data(), to->size());
  return why_not ? why_not : "";
}

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
  const size_t element = c10::elementSize(type);
  const auto& geometry = i->sizes_and_strides_;
  const size_t dims = geometry.size();
  const int64_t *sizes = geometry.sizes_data(), *strides = geometry.strides_data();
  if (!wire::stays_inside(sizes, strides, dims, i->storage_offset_, element, storage->nbytes())) return "its sizes reach beyond its storage";
  const bool neg = ks.has(K::Negative), conj = ks.has(K::Conjugate);
  const char* first = static_cast<const char*>(storage->data_ptr_.get()) + i->storage_offset_ * static_cast<int64_t>(element);
  std::vector<char> copy;
  wire::Readable m{first};
  if (gpu)
    if (const std::string why_not = fetch(device->index(), first, sizes, strides, dims, element, &copy, &m); !why_not.empty()) return why_not;
  switch (type) {
    case c10::ScalarType::Float: wire::see_all<float>(s, m, sizes, strides, dims, neg, conj); return "";
    case c10::ScalarType::Double: wire::see_all<double>(s, m, sizes, strides, dims, neg, conj); return "";
    case c10::ScalarType::Half: wire::see_all<c10::Half>(s, m, sizes, strides, dims, neg, conj); return "";
    case c10::ScalarType::BFloat16: wire::see_all<c10::BFloat16>(s, m, sizes, strides, dims, neg, conj); return "";
    case c10::ScalarType::Long: wire::see_all<int64_t>(s, m, sizes, strides, dims, neg, conj); return "";
    case c10::ScalarType::Int: wire::see_all<int32_t>(s, m, sizes, strides, dims, neg, conj); return "";
    case c10::ScalarType::Short: wire::see_all<int16_t>(s, m, sizes, strides, dims, neg, conj); return "";
    case c10::ScalarType::Char: wire::see_all<int8_t>(s, m, sizes, strides, dims, neg, conj); return "";
    case c10::ScalarType::Byte: wire::see_all<uint8_t>(s, m, sizes, strides, dims, neg, conj); return "";
    case c10::ScalarType::Bool: wire::see_all<bool>(s, m, sizes, strides, dims, neg, conj); return "";
    case c10::ScalarType::ComplexFloat: wire::see_all<c10::complex<float>>(s, m, sizes, strides, dims, neg, conj); return "";
    case c10::ScalarType::ComplexDouble: wire::see_all<c10::complex<double>>(s, m, sizes, strides, dims, neg, conj); return "";
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
