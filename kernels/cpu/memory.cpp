// New tensors, fills, copies and what reads one element.
#include <algorithm>
#include <cstring>

#include "kernels/cpu/elementwise.h"
#include "ops_generated/kernels.h"
#include "ops_generated/ops.h"

namespace peel::kernels {
namespace {

void write(const Tensor& self, const Scalar& value) {
  check_no_overlap(self);
  with_any_type(self.dtype(), "fill_out", [&]<class T>(T) {
    const T v = as<T>(value);
    Walk<1> walk(self.sizes());
    walk.set(0, self);
    each<T>(walk, [v](T& o) { o = v; });
  });
}

template <class Word>
void copy_words(Walk<2>& walk) {
  each<Word, Word>(walk, [](Word& o, Word x) { o = x; });
}
struct Word16 {
  uint64_t a, b;
};

}  // namespace

void copy_elements(const Tensor& to, const Tensor& from) {
  if (!to.data() || !from.data()) return;
  Walk<2> walk(to.sizes());
  walk.set(0, to);
  walk.set(1, from);
  if (to.dtype() != from.dtype()) {
    with_any_type(to.dtype(), "copy_", [&]<class T>(T) {
      with_any_type(from.dtype(), "copy_", [&]<class S>(S) { each<T, S>(walk, [](T& o, S x) { o = converted<T>(x); }); });
    });
    return;
  }
  const size_t bytes = element_size(to.dtype());
  if (to.is_contiguous() && from.is_contiguous() && std::ranges::equal(to.sizes(), from.sizes())) {
    std::memmove(to.data(), from.data(), static_cast<size_t>(to.numel()) * bytes);
    return;
  }
  switch (bytes) {
    case 1: return copy_words<uint8_t>(walk);
    case 2: return copy_words<uint16_t>(walk);
    case 4: return copy_words<uint32_t>(walk);
    case 8: return copy_words<uint64_t>(walk);
    default: return copy_words<Word16>(walk);
  }
}

namespace {

void negate_elements(const Tensor& t) {
  with_any_type(t.dtype(), "neg_cpu", [&]<class T>(T) {
    Walk<1> walk(t.sizes());
    walk.set(0, t);
    each<T>(walk, [](T& o) { o = static_cast<T>(-o); });
  });
}

}  // namespace

void conjugate_elements(const Tensor& t) {
  with_any_type(t.dtype(), "conj_cpu", [&]<class T>(T) {
    if constexpr (kIsComplex<T>) {
      Walk<1> walk(t.sizes());
      walk.set(0, t);
      each<T>(walk, [](T& o) { o = std::conj(o); });
    }
  });
}

Tensor empty_backend(Sizes size, std::optional<ScalarType> dtype, std::optional<Layout>, std::optional<Device> device, std::optional<bool>,
                     std::optional<MemoryFormat> memory_format) {
  return empty(size, dtype.value_or(default_dtype()), device.value_or(Device()), memory_format.value_or(MemoryFormat::Contiguous));
}
Tensor empty_strided_backend(Sizes size, Sizes stride, std::optional<ScalarType> dtype, std::optional<Layout>, std::optional<Device> device,
                             std::optional<bool>) {
  return empty_strided(size, stride, dtype.value_or(default_dtype()), device.value_or(Device()));
}

Tensor& fill_(Tensor& self, const Scalar& value) {
  write(self, value);
  return self;
}
Tensor& fill_(Tensor& self, const Tensor& value) {
  if (value.dim() != 0) {
    throw Error("fill_ only supports 0-dimension value tensor but got tensor with " + std::to_string(value.dim()) + " dimensions.");
  }
  return ops::copy_::call(self, value);
}
Tensor& fill_meta_(Tensor& self, const Scalar&) { return self; }
Tensor& fill_meta_(Tensor& self, const Tensor&) { return self; }
Tensor& zero_(Tensor& self) {
  constexpr int64_t kSmall = 32768;  // stock's grain: what is larger, empty or has gaps is filled by another call
  const int64_t n = self.numel();
  if (!self.data() || n >= kSmall || !is_non_overlapping_and_dense(self.sizes(), self.strides())) return ops::fill__Scalar::call(self, 0);
  std::memset(self.data(), 0, static_cast<size_t>(n) * element_size(self.dtype()));
  return self;
}
Tensor& zero_meta_(Tensor& self) { return self; }

Tensor& resize_(Tensor& self, Sizes size, std::optional<MemoryFormat>) {
  TensorImpl& impl = self.impl();
  const size_t bytes = storage_bytes(size, element_size(impl.dtype));
  const size_t start = static_cast<size_t>(impl.offset) * element_size(impl.dtype);
  if (start + bytes > impl.storage->bytes()) impl.storage->resize(start + bytes);
  impl.sizes.assign(size.begin(), size.end());
  impl.strides = contiguous_strides(size);
  return self;
}

Tensor& copy_(Tensor& self, const Tensor& src, bool) {
  if (self.is_same(src)) return self;
  check_no_overlap(self);
  const SizeVector shape = broadcast(self.sizes(), src.sizes());
  if (!std::ranges::equal(shape, self.sizes())) {
    throw Error("output with shape " + to_text(self.sizes()) + " doesn't match the broadcast shape " + to_text(shape));
  }
  if (src.keys().has(DispatchKey::Meta) && !self.keys().has(DispatchKey::Meta)) throw NotImplemented("Cannot copy out of meta tensor; no data!");
  if (!self.data() || !src.data()) return self;
  copy_elements(self, src);
  // Lazily conjugated or negated: what is stored differs from what is meant.
  const auto differs = [&](DispatchKey k) { return self.keys().has(k) != src.keys().has(k); };
  if (is_complex(self.dtype()) && is_complex(src.dtype()) && differs(DispatchKey::Conjugate)) conjugate_elements(self);
  if (differs(DispatchKey::Negative)) negate_elements(self);
  return self;
}

Scalar local_scalar(const Tensor& self) {
  return with_any_type(self.dtype(), "_local_scalar_dense_cpu", [&]<class T>(T) {
    const T v = *self.data_as<T>();
    if constexpr (kIsComplex<T>) return Scalar(IValue(std::complex<double>(v)));
    else return Scalar(static_cast<Math<T>>(v));
  });
}

Tensor& set_(Tensor& self, StorageRef source, int64_t storage_offset, Sizes size, Sizes stride) {
  if (storage_offset < 0) throw Error("Tensor: invalid storage offset " + std::to_string(storage_offset));
  if (!stride.empty() && size.size() != stride.size()) {
    throw Error("unequal size length (" + std::to_string(size.size()) + ") and stride length (" + std::to_string(stride.size()) + ")");
  }
  const SizeVector strides = stride.empty() ? contiguous_strides(size) : SizeVector(stride.begin(), stride.end());
  int64_t reach = storage_offset + 1;
  for (size_t d = 0; d < size.size(); ++d) reach += (size[d] - 1) * strides[d];
  const auto bytes = static_cast<size_t>(element_count(size) == 0 ? 0 : reach) * element_size(self.dtype());
  if (bytes > source->bytes()) source->resize(bytes);
  TensorImpl& impl = self.impl();
  impl.storage = source;
  impl.offset = storage_offset;
  impl.sizes.assign(size.begin(), size.end());
  impl.strides = strides;
  return self;
}
Tensor& set_(Tensor& self, StorageRef source) {
  const SizeVector all{static_cast<int64_t>(source->bytes() / element_size(self.dtype()))};
  return ops::set__source_Storage_storage_offset::call(self, std::move(source), 0, all, Sizes());
}
Tensor& set_(Tensor& self, const Tensor& source) {
  if (source.dtype() != self.dtype()) throw Error("set_: expected both tensors to have one dtype");
  return self.is_same(source) ? self : ops::set__source_Storage_storage_offset::call(self, source.impl().storage, source.storage_offset(), source.sizes(), source.strides());
}

}  // namespace peel::kernels
