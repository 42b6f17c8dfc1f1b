// New tensors out of smaller calls, and casts.
#include "kernels/composite/factory_arguments.h"
#include "kernels/cpu/random.h"
#include "kernels/sparse/coordinates.h"
#include "ops_generated/kernels.h"
#include "ops_generated/ops.h"

namespace peel::kernels {

namespace {

// Whether the tensor lies as the format says, as far as `to` cares: whatever isn't channels last counts as contiguous.
bool lies_in(const Tensor& t, Format format) {
  const MemoryFormat f = format.value_or(MemoryFormat::Preserve);
  const bool last = !t.is_contiguous() && t.dim() == 4 && is_contiguous(t.sizes(), t.strides(), MemoryFormat::ChannelsLast);
  return f == MemoryFormat::Preserve || (f == MemoryFormat::Contiguous && !last) || (f == MemoryFormat::ChannelsLast && last);
}
bool dense(const Tensor& t) { return is_non_overlapping_and_dense(t.sizes(), t.strides()); }

}  // namespace

Tensor ones(Sizes size, Type dtype, LayoutArgument layout, DeviceArgument device, Flag pin) {
  Tensor out = ops::empty_memory_format::call(size, dtype, layout, device, pin);
  return ops::fill__Scalar::call(out, 1.0);
}
Tensor zeros(Sizes size, Type dtype, LayoutArgument layout, DeviceArgument device, Flag pin) {
  Tensor out = ops::empty_memory_format::call(size, dtype, layout, device, pin);
  return ops::zero_::call(out);
}
Tensor& ones_out(Sizes size, Tensor& out) { return ops::fill__Scalar::call(ops::resize_::call(out, size), 1.0); }
Tensor& zeros_out(Sizes size, Tensor& out) { return ops::zero_::call(ops::resize_::call(out, size)); }
Tensor& full_out(Sizes size, const Scalar& fill_value, Tensor& out) { return ops::fill__Scalar::call(ops::resize_::call(out, size), fill_value); }
Tensor randn(Sizes size, Type dtype, LayoutArgument layout, DeviceArgument device, Flag pin) {
  Tensor out = ops::empty_memory_format::call(size, dtype, layout, device, pin);
  return ops::normal_::call(out, 0, 1);
}

Tensor& rand_out(Sizes size, Tensor& out) {
  ops::resize_::call(out, size);
  return ops::uniform_::call(out, 0, 1);
}
Tensor& randn_out(Sizes size, Tensor& out) {
  ops::resize_::call(out, size);
  return ops::normal_::call(out, 0, 1);
}
Tensor& randint_low_out(int64_t low, int64_t high, Sizes size, Tensor& out) {
  ops::resize_::call(out, size);
  return ops::random__from::call(out, low, high);
}
Tensor& randint_out(int64_t high, Sizes size, Tensor& out) { return randint_low_out(0, high, size, out); }

Tensor empty_permuted(Sizes size, Sizes physical_layout, Type dtype, LayoutArgument layout, DeviceArgument device, Flag pin) {
  const int64_t rank = static_cast<int64_t>(size.size());
  if (physical_layout.size() != size.size()) {
    throw Error("Number of dimensions in size does not match the length of the physical_layout; i.e. len(size) = " + std::to_string(rank) +
                " is not equal to len(physical_layout) = " + std::to_string(physical_layout.size()));
  }
  SizeVector in_memory(size.size());
  std::vector<bool> seen(size.size());
  for (size_t i = 0; i < size.size(); ++i) {
    const int64_t d = physical_layout[i];
    if (d < 0 || d >= rank) {
      throw Error("Dimension out of range (expected to be between 0 and " + std::to_string(rank - 1) + ", but got " + std::to_string(d) + " at index " + std::to_string(i) +
                  ").  NB: negative dims not currently supported; file an issue if you want it.");
    }
    if (seen[d]) throw Error("Duplicate dim not allowed");
    seen[d] = true;
    in_memory[i] = size[d];
  }
  const Tensor packed = ops::empty_memory_format::call(in_memory, dtype, layout, device, pin);
  SizeVector strides(size.size());
  for (size_t i = 0; i < size.size(); ++i) strides[physical_layout[i]] = packed.strides()[i];
  return ops::as_strided::call(packed, size, strides);
}

Tensor empty_like(const Tensor& self, Type dtype, LayoutArgument layout, DeviceArgument device, Flag pin, Format format) {
  const ScalarType t = dtype.value_or(self.dtype());
  const Device d = device.value_or(self.device());
  const LayoutArgument l = layout.value_or(Layout::Strided);
  if (format.value_or(MemoryFormat::Preserve) != MemoryFormat::Preserve) {
    return ops::empty_memory_format::call(self.sizes(), t, l, d, pin.value_or(false), format);
  }
  const SizeVector strides = like_strides(self.sizes(), self.strides());
  return ops::empty_strided::call(self.sizes(), strides, t, l, d, pin.value_or(false));
}
Tensor new_empty_strided(const Tensor& self, Sizes size, Sizes stride, Type dtype, LayoutArgument layout, DeviceArgument device, Flag pin) {
  return ops::empty_strided::call(size, stride, dtype.value_or(self.dtype()), layout.value_or(Layout::Strided), device.value_or(self.device()), pin);
}
Tensor new_empty(const Tensor& self, Sizes size, Type dtype, LayoutArgument layout, DeviceArgument device, Flag pin) {
  return ops::empty_memory_format::call(size, dtype.value_or(self.dtype()), layout.value_or(Layout::Strided), device.value_or(self.device()), pin);
}
Tensor new_zeros(const Tensor& self, Sizes size, Type dtype, LayoutArgument layout, DeviceArgument device, Flag pin) {
  Tensor out = ops::new_empty::call(self, size, dtype, layout, device, pin);
  return ops::zero_::call(out);
}
Tensor ones_like(const Tensor& self, Type dtype, LayoutArgument layout, DeviceArgument device, Flag pin, Format format) {
  Tensor out = ops::empty_like::call(self, dtype, layout, device, pin, format);
  return ops::fill__Scalar::call(out, 1.0);
}
Tensor zeros_like(const Tensor& self, Type dtype, LayoutArgument layout, DeviceArgument device, Flag pin, Format format) {
  if (is_coo(self) && layout.value_or(Layout::Sparse) == Layout::Sparse) return zeros_like_sparse(self, dtype);
  if ((layout_of(self) == Layout::SparseCsr || layout_of(self) == Layout::SparseCsc) && layout.value_or(layout_of(self)) == layout_of(self)) return zeros_like_compressed(self, dtype);
  Tensor out = ops::empty_like::call(self, dtype, layout, device, pin, format);
  return ops::zero_::call(out);
}

Tensor clone(const Tensor& self, Format format) {
  Tensor out = format.value_or(MemoryFormat::Preserve) != MemoryFormat::Preserve ? ops::empty_like::call(self, {}, {}, {}, {}, format)
               : dense(self) ? ops::empty_strided::call(self.sizes(), self.strides(), self.dtype(), Layout::Strided, self.device())
                             : ops::empty_like::call(self);
  return ops::copy_::call(out, self);
}

Tensor _to_copy(const Tensor& self, Type dtype, LayoutArgument, DeviceArgument device, Flag, bool non_blocking, Format format) {
  if (is_coo(self)) return to_copy_sparse(self, dtype, device, non_blocking);
  if (is_compressed(self)) return to_copy_compressed(self, dtype, device, non_blocking);
  const ScalarType t = dtype.value_or(self.dtype());
  const Device d = device.value_or(self.device());
  const bool keep = format.value_or(MemoryFormat::Preserve) == MemoryFormat::Preserve;
  const SizeVector strides = like_strides(self.sizes(), self.strides());
  Tensor out = keep ? ops::empty_strided::call(self.sizes(), strides, t, Layout::Strided, d)
                    : ops::empty_memory_format::call(self.sizes(), t, Layout::Strided, d, {}, format);
  return ops::copy_::call(out, self, non_blocking);
}
Tensor to_dtype(const Tensor& self, ScalarType dtype, bool non_blocking, bool copy, Format format) {
  if (self.dtype() == dtype && !copy && lies_in(self, format)) return self;
  return ops::_to_copy::call(self, dtype, {}, {}, {}, non_blocking, format);
}
Tensor to_dtype_layout(const Tensor& self, Type dtype, LayoutArgument layout, DeviceArgument device, Flag, bool non_blocking, bool copy, Format format) {
  const bool same = dtype.value_or(self.dtype()) == self.dtype() && device.value_or(self.device()) == self.device();
  if (same && !copy && lies_in(self, format)) return self;
  return ops::_to_copy::call(self, dtype, layout, device, {}, non_blocking, format);
}
bool _has_compatible_shallow_copy_type(const Tensor& self, const Tensor& from) {
  return self.device() == from.device();
}

}  // namespace peel::kernels
