// Views of nested tensors, copies, and others like them.
#include <algorithm>

#include "core/dispatch/error.h"
#include "core/ops/sparse.h"
#include "kernels/nested/nested.h"
#include "ops_generated/kernels.h"
#include "ops_generated/ops.h"

namespace peel::kernels {
namespace {

// The parts named by number, as a vector to look rows up by.
Tensor columns_in_order(const Tensor& like, const std::vector<int64_t>& order) {
  const Tensor t = ops::new_empty::call(like, SizeVector{static_cast<int64_t>(order.size())});
  std::ranges::copy(order, t.data_as<int64_t>());
  return t;
}
Tensor with_columns(const Tensor& self, const std::vector<int64_t>& order) {
  const NestedParts& p = nested_of(self);
  const Tensor columns = columns_in_order(p.sizes, order);
  const Tensor sizes = ops::index_select::call(p.sizes, 1, columns), strides = ops::index_select::call(p.strides, 1, columns);
  return nested_over(self, {sizes, strides, ops::clone::call(p.offsets)});
}

Tensor part(const Tensor& buffer, const NestedParts& p, int64_t i) {
  return ops::as_strided::call(buffer, row_of(p.sizes, i), row_of(p.strides, i), p.offsets.data_as<int64_t>()[i]);
}

}  // namespace

Tensor transpose_nested(const Tensor& self, int64_t dim0, int64_t dim1) {
  const int64_t a = wrap_dimension(dim0, self.dim()), b = wrap_dimension(dim1, self.dim());
  if (a == b) return self;
  if (a == 0 || b == 0) throw Error("Nested tensor dimension 0 cannot be transposed");
  std::vector<int64_t> order(static_cast<size_t>(self.dim() - 1));
  for (size_t i = 0; i < order.size(); ++i) order[i] = static_cast<int64_t>(i);
  std::swap(order[static_cast<size_t>(a - 1)], order[static_cast<size_t>(b - 1)]);
  return with_columns(self, order);
}

Tensor values_nested(const Tensor& self) { return nested_buffer(self); }
std::vector<Tensor> unbind_nested(const Tensor& self, int64_t dim) {
  if (wrap_dimension(dim, self.dim()) != 0) throw Error("NestedTensor can only be unbound along dimension 0 got dimension " + std::to_string(dim) + " instead.");
  std::vector<Tensor> out;
  if (part_count(self) == 0) return out;
  const Tensor buffer = ops::values::call(self);
  for (int64_t i = 0; i < part_count(self); ++i) out.push_back(part(buffer, nested_of(self), i));
  return out;
}
Tensor select_nested(const Tensor& self, int64_t dim, int64_t index) {
  const int64_t n = part_count(self);
  if (wrap_dimension(dim, self.dim()) != 0) nested_missing("select() in a dimension beyond the first");
  if (n == 0) throw IndexError("select() cannot be applied to a 0-dim tensor.");
  if (index < -n || index >= n) throw IndexError("index " + std::to_string(index) + " is out of bounds for dimension 0 with size " + std::to_string(n));
  return part(nested_buffer(self), nested_of(self), index < 0 ? index + n : index);
}
Tensor select_backward_nested(const Tensor& grad, const Tensor& self, int64_t dim, int64_t index) {
  const Tensor buffer = ops::new_zeros::call(nested_buffer(self), SizeVector{nested_numel(self)});
  const Tensor out = wrap_buffer(buffer, nested_of(self).sizes);
  Tensor at = ops::select_int::call(out, dim, index);
  ops::copy_::call(at, grad);
  return out;
}

Tensor clone_nested(const Tensor& self, Format format) {
  const NestedParts& p = nested_of(self);
  if (format.value_or(MemoryFormat::Preserve) == MemoryFormat::Preserve || is_nested_contiguous(self)) {
    const Tensor offsets = ops::clone::call(p.offsets), strides = ops::clone::call(p.strides), sizes = ops::clone::call(p.sizes);
    return nested_over(ops::clone::call(nested_buffer(self)), {sizes, strides, offsets});
  }
  const Tensor buffer = ops::empty_memory_format::call(SizeVector{nested_numel(self)}, self.dtype(), Layout::Strided, self.device());
  const Tensor out = wrap_buffer(buffer, p.sizes);
  const std::vector<Tensor> from = ops::unbind_int::call(self);
  std::vector<Tensor> to = ops::unbind_int::call(out);
  for (size_t i = 0; i < to.size(); ++i) ops::copy_::call(to[i], from[i]);
  return out;
}
Tensor& copy_nested_(Tensor& self, const Tensor& src, bool non_blocking) {
  if (!is_nested(self) || !is_nested(src)) throw Error("copy_ only supports Nested tensors when both are nested");
  if (!ops::equal::call(nested_of(self).sizes, nested_of(src).sizes)) throw Error("copy_ only supports tensors that are the same size for Nested implementations");
  Tensor to = nested_buffer(self);
  ops::copy_::call(to, nested_buffer(src), non_blocking);
  return self;
}
Tensor detach_nested(const Tensor& self) { return shallow_copy(self, self.impl().version); }
Tensor alias_nested(const Tensor& self) { return nested_over(self, nested_of(self)); }

Tensor to_copy_nested(const Tensor& self, Type dtype, LayoutArgument layout, DeviceArgument device, Flag pin, bool non_blocking, Format format) {
  Tensor out = ops::empty_like::call(self, dtype.value_or(self.dtype()), layout.value_or(Layout::Strided), device.value_or(self.device()), pin, format);
  Tensor buffer = nested_buffer(out);
  ops::copy_::call(buffer, nested_buffer(self), non_blocking);
  return out;
}
Tensor empty_like_nested(const Tensor& self, Type dtype, LayoutArgument layout, DeviceArgument device, Flag pin, Format format) {
  const NestedParts& p = nested_of(self);
  const Tensor buffer = ops::empty_like::call(nested_buffer(self), dtype.value_or(self.dtype()), layout.value_or(Layout::Strided), device.value_or(self.device()), pin, format);
  const Tensor sizes = ops::clone::call(p.sizes), strides = ops::clone::call(p.strides), offsets = ops::clone::call(p.offsets);
  return nested_over(buffer, {sizes, strides, offsets});
}
Tensor zeros_like_nested(const Tensor& self, Type dtype, LayoutArgument layout, DeviceArgument device, Flag pin, Format format) {
  Tensor out = ops::empty_like::call(self, dtype.value_or(self.dtype()), layout.value_or(Layout::Strided), device.value_or(self.device()), pin, format);
  return ops::zero_::call(out);
}
Tensor ones_like_nested(const Tensor& self, Type dtype, LayoutArgument layout, DeviceArgument device, Flag pin, Format format) {
  Tensor out = ops::empty_like::call(self, dtype, layout, device, pin, format);
  return ops::fill__Scalar::call(out, 1.0);
}
Tensor& zero_nested_(Tensor& self) {
  Tensor buffer = nested_buffer(self);
  ops::fill__Scalar::call(buffer, 0);
  return self;
}
Tensor& fill_nested_(Tensor& self, const Scalar& value) {
  Tensor buffer = nested_buffer(self);
  ops::fill__Scalar::call(buffer, value);
  return self;
}

namespace {

// The sizes that a new shape gives each part: -1 stands for a part's own size there, once for what is left.
struct Viewed {
  Tensor sizes, strides;
};
Viewed viewed(const Tensor& self, Sizes shape, const std::string& name) {
  const Tensor& old = nested_of(self).sizes;
  const int64_t n = part_count(self);
  if (shape.empty()) throw Error("shape '[]' is invalid for a nested tensor");
  if (shape[0] != n) throw Error(name + ": For now nested " + name + " cannot change or infer the implicit batch dimension");
  const auto dims = static_cast<int64_t>(shape.size()) - 1;
  const auto rows = [&] { return ops::empty_memory_format::call(SizeVector{n, dims}, ScalarType::Long, Layout::Strided, Device()); };
  const Tensor sizes = rows(), strides = rows();
  for (int64_t i = 0; i < n; ++i) {
    const Sizes from = row_of(old, i);
    int64_t* to = sizes.data_as<int64_t>() + i * dims;
    int64_t known = 1, left = -1;
    for (int64_t d = 0; d < dims; ++d) {
      const int64_t wanted = shape[static_cast<size_t>(d) + 1];
      if (wanted >= 0) to[d] = wanted;
      else if (static_cast<size_t>(d) < from.size()) to[d] = from[static_cast<size_t>(d)];  // the part's own
      else if (left < 0) left = d;
      else throw Error("only one dimension can be inferred");
      if (d != left) known *= to[d];
    }
    if (left >= 0) to[left] = known ? element_count(from) / known : 0;
    if (element_count(Sizes(to, static_cast<size_t>(dims))) != element_count(from)) throw Error("shape '" + to_text(shape) + "' is invalid for input of size " + std::to_string(element_count(from)));
    std::ranges::copy(contiguous_strides(Sizes(to, static_cast<size_t>(dims))), strides.data_as<int64_t>() + i * dims);
  }
  return {sizes, strides};
}

}  // namespace

Tensor view_nested(const Tensor& self, Sizes shape) {
  if (!is_nested_contiguous(self)) nested_missing("view() where the parts don't lie row-major");
  const auto [sizes, strides] = viewed(self, shape, "view");
  return nested_over(self, {sizes, strides, ops::clone::call(nested_of(self).offsets)});
}
Tensor reshape_nested(const Tensor& self, Sizes shape) {
  viewed(self, shape, "reshape");
  if (is_nested_contiguous(self)) return ops::view::call(self, shape);
  return ops::view::call(ops::clone::call(self, MemoryFormat::Contiguous), shape);
}
Tensor reshape_as_nested(const Tensor& self, const Tensor& other) {
  SizeVector shape;
  for (int64_t d = 0; d < other.dim(); ++d) shape.push_back(nested_size(other, d).value_or(-1));
  return ops::reshape::call(self, shape);
}

Tensor unsqueeze_nested(const Tensor& self, int64_t dim_) {
  const int64_t dim = wrap_dimension(dim_, self.dim() + 1);
  if (dim == 0) {
    throw Error("unsqueeze(): For nested tensors, unsqueezing dimension 0 is not supported at the moment if you need this feature, please open an issue on github describing your use case.");
  }
  const NestedParts& p = nested_of(self);
  const int64_t at = dim - 1, all = self.dim();
  const auto inserted = [&](const Tensor& rows, const Tensor& column) {
    const Tensor parts[] = {ops::slice_Tensor::call(rows, 1, 0, at, 1), column, ops::slice_Tensor::call(rows, 1, at, all, 1)};
    return ops::cat::call(parts, 1);
  };
  const Tensor one = ops::new_ones::call(p.sizes, SizeVector{p.sizes.size(0), 1});
  const Tensor sizes = inserted(p.sizes, one);
  Tensor stride;
  if (dim < self.dim()) {
    const Tensor size = ops::select_int::call(p.sizes, 1, at), step = ops::select_int::call(p.strides, 1, at);
    stride = ops::unsqueeze::call(ops::mul_Tensor::call(size, step), -1);
  } else {
    stride = ops::new_ones::call(p.sizes, SizeVector{p.sizes.size(0), 1});
  }
  const Tensor strides = inserted(p.strides, stride);
  return nested_over(self, {sizes, strides, ops::clone::call(p.offsets)});
}
Tensor squeeze_nested(const Tensor& self, int64_t dim_) {
  const int64_t dim = wrap_dimension(dim_, self.dim());
  if (dim == 0) {
    throw Error("squeeze(): For nested tensors, squeezing dimension 0 is not supported at the moment if you need this feature, please open an issue on github describing your use case.");
  }
  if (nested_size(self, dim) != 1) return ops::detach::call(self);
  std::vector<int64_t> order;
  for (int64_t d = 0; d + 1 < self.dim(); ++d) {
    if (d != dim - 1) order.push_back(d);
  }
  return with_columns(self, order);
}

}  // namespace peel::kernels
