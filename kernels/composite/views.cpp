// Looks at the same memory.
#include <algorithm>

#include "core/dispatch/error.h"
#include "kernels/sparse/coordinates.h"
#include "ops_generated/kernels.h"
#include "ops_generated/ops.h"

namespace peel::kernels {

Tensor view(const Tensor& self, Sizes size) {
  const SizeVector shape = infer_size(size, self.numel());
  const auto strides = view_strides(self.sizes(), self.strides(), shape);
  if (!strides) {
    throw Error("view size is not compatible with input tensor's size and stride (at least one dimension spans across two contiguous subspaces). Use "
                ".reshape(...) instead.");
  }
  return view_of(self, shape, *strides, self.storage_offset());
}
Tensor alias(const Tensor& self) { return view_of(self, self.sizes(), self.strides(), self.storage_offset()); }
// The same bytes as elements of another type; of another size, when the last dimension allows it.
Tensor view_dtype(const Tensor& self, ScalarType dtype) {
  if (self.dtype() == dtype) return alias(self);
  const auto from = static_cast<int64_t>(element_size(self.dtype())), to = static_cast<int64_t>(element_size(dtype));
  SizeVector sizes(self.sizes().begin(), self.sizes().end()), strides(self.strides().begin(), self.strides().end());
  int64_t offset = self.storage_offset();
  const std::string what = std::string(" to view ") + to_string(self.dtype()) + " as " + to_string(dtype) + " (different element sizes)";
  if (from != to) {
    if (sizes.empty()) throw Error("self.dim() cannot be 0" + what);
    if (strides.back() != 1) throw Error("self.stride(-1) must be 1" + what + ", but got " + std::to_string(strides.back()));
    const int64_t ratio = std::max(from, to) / std::min(from, to);
    if (from > to) {
      sizes.back() *= ratio;
      for (size_t d = 0; d + 1 < strides.size(); ++d) strides[d] *= ratio;
      offset *= ratio;
    } else {
      const auto divided = [&](int64_t* n, const std::string& name) {
        if (*n % ratio) throw Error(name + " must be divisible by " + std::to_string(ratio) + what + ", but got " + std::to_string(*n));
        *n /= ratio;
      };
      divided(&sizes.back(), "self.size(-1)");
      divided(&offset, "self.storage_offset()");
      for (size_t d = 0; d + 1 < strides.size(); ++d) divided(&strides[d], "self.stride(" + std::to_string(d) + ")");
    }
  }
  const Tensor out = alias(self);
  TensorImpl& impl = out.impl();
  impl.dtype = dtype;
  impl.sizes = std::move(sizes);
  impl.strides = std::move(strides);
  impl.offset = offset;
  return out;
}
Tensor as_strided(const Tensor& self, Sizes size, Sizes stride, std::optional<int64_t> storage_offset) {
  return view_of(self, size, stride, storage_offset.value_or(self.storage_offset()));
}
Tensor expand(const Tensor& self, Sizes size, bool) {
  const Geometry g = core::expand(self.sizes(), self.strides(), size);
  return ops::as_strided::call(self, g.sizes, g.strides);
}
Tensor t(const Tensor& self) {
  if (is_coo(self)) {
    const int64_t sparse_dim = ops::sparse_dim::call(self), dense_dim = ops::dense_dim::call(self);
    if (sparse_dim > 2 || dense_dim != 0) {
      throw Error("t() expects a tensor with <= 2 sparse and 0 dense dimensions, but got " + std::to_string(sparse_dim) + " sparse and " + std::to_string(dense_dim) + " dense dimensions");
    }
  }
  if (self.dim() > 2) throw Error("t() expects a tensor with <= 2 dimensions, but self is " + std::to_string(self.dim()) + "D");
  return ops::transpose_int::call(self, 0, self.dim() < 2 ? 0 : 1);
}
Tensor transpose(const Tensor& self, int64_t dim0, int64_t dim1) {
  SizeVector sizes(self.sizes().begin(), self.sizes().end()), strides(self.strides().begin(), self.strides().end());
  const auto a = static_cast<size_t>(wrap_dimension(dim0, self.dim())), b = static_cast<size_t>(wrap_dimension(dim1, self.dim()));
  if (is_coo(self)) return transpose_sparse(self, static_cast<int64_t>(a), static_cast<int64_t>(b));
  if (is_compressed(self)) return transpose_compressed(self, static_cast<int64_t>(a), static_cast<int64_t>(b));
  if (a == b) return ops::alias::call(self);
  std::swap(sizes[a], sizes[b]);
  std::swap(strides[a], strides[b]);
  return ops::as_strided::call(self, sizes, strides);
}
Tensor select(const Tensor& self, int64_t dim, int64_t index) {
  if (self.dim() == 0) throw IndexError("select() cannot be applied to a 0-dim tensor.");
  const auto d = static_cast<size_t>(wrap_dimension(dim, self.dim()));
  const int64_t size = self.sizes()[d];
  if (index < -size || index >= size) {
    throw IndexError("select(): index " + std::to_string(index) + " out of range for tensor of size " + to_text(self.sizes()) + " at dimension " +
                     std::to_string(d));
  }
  const int64_t at = index < 0 ? index + size : index;
  if (is_coo(self)) return select_sparse(self, static_cast<int64_t>(d), at);
  SizeVector sizes(self.sizes().begin(), self.sizes().end()), strides(self.strides().begin(), self.strides().end());
  const int64_t offset = self.storage_offset() + at * strides[d];
  sizes.erase(sizes.begin() + static_cast<ptrdiff_t>(d));
  strides.erase(strides.begin() + static_cast<ptrdiff_t>(d));
  return ops::as_strided::call(self, sizes, strides, offset);
}
Tensor select_backward(const Tensor& grad_output, Sizes input_sizes, int64_t dim, int64_t index) {
  Tensor out = ops::zeros::call(input_sizes, grad_output.dtype(), Layout::Strided, grad_output.device());
  Tensor part = ops::select_int::call(out, dim, index);
  ops::copy_::call(part, grad_output);
  return out;
}
Tensor unsqueeze(const Tensor& self, int64_t dim) {
  const auto d = static_cast<size_t>(wrap_dimension(dim, self.dim() + 1));
  SizeVector sizes(self.sizes().begin(), self.sizes().end()), strides(self.strides().begin(), self.strides().end());
  const int64_t stride = d < sizes.size() ? sizes[d] * strides[d] : 1;
  sizes.insert(sizes.begin() + static_cast<ptrdiff_t>(d), 1);
  strides.insert(strides.begin() + static_cast<ptrdiff_t>(d), stride);
  return ops::as_strided::call(self, sizes, strides);
}
Tensor squeeze(const Tensor& self, int64_t dim) {
  const auto d = static_cast<size_t>(wrap_dimension(dim, self.dim()));
  SizeVector sizes(self.sizes().begin(), self.sizes().end()), strides(self.strides().begin(), self.strides().end());
  if (self.dim() > 0 && sizes[d] == 1) {
    sizes.erase(sizes.begin() + static_cast<ptrdiff_t>(d));
    strides.erase(strides.begin() + static_cast<ptrdiff_t>(d));
  }
  return ops::as_strided::call(self, sizes, strides);
}
Tensor unsafe_view(const Tensor& self, Sizes size) { return view(self, size); }
Tensor reshape_alias(const Tensor& self, Sizes size, Sizes stride) { return view_of(self, size, stride, self.storage_offset()); }
Tensor reshape(const Tensor& self, Sizes shape) {
  if (self.impl().sparse) throw Error("reshape is not implemented for sparse tensors");
  if (self.is_contiguous()) return ops::view::call(self, shape);
  const SizeVector s = infer_size(shape, self.numel());
  if (const auto strides = view_strides(self.sizes(), self.strides(), s)) {
    // Of a transform's tensor the strides say less; one without data goes with those.
    return self.impl().wraps || self.keys().has(DispatchKey::Meta) ? ops::view::call(self, s) : ops::_reshape_alias::call(self, s, *strides);
  }
  return ops::_unsafe_view::call(ops::clone::call(self, MemoryFormat::Contiguous), s);
}
Tensor detach(const Tensor& self) {
  return shallow_copy(self, self.impl().version);
}

std::vector<Tensor> broadcast_tensors(std::span<const Tensor> tensors) {
  std::vector<Tensor> out(tensors.begin(), tensors.end());
  SizeVector shape;
  for (const Tensor& t : tensors) shape = broadcast(shape, t.sizes());
  for (Tensor& t : out) {
    if (!std::ranges::equal(t.sizes(), shape)) t = ops::expand::call(t, shape);
  }
  return out;
}

}  // namespace peel::kernels
