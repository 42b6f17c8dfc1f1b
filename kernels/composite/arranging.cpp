// Parts, diagonals, blocks, combinations: made of views, joins and copies.
#include <algorithm>

#include "core/dispatch/error.h"
#include "kernels/composite/factory_arguments.h"
#include "kernels/cpu/elementwise.h"
#include "ops_generated/kernels.h"
#include "ops_generated/ops.h"

namespace peel::kernels {

using Optional = std::optional<Tensor>;

Tensor rot90(const Tensor& self, int64_t k, Sizes dims) {
  if (dims.size() != 2) throw Error("expected total rotation dims == 2, but got dims = " + std::to_string(dims.size()));
  if (self.dim() < 2) throw Error("expected total dims >= 2, but got total dims = " + std::to_string(self.dim()));
  if (dims[0] == dims[1] || std::abs(dims[0] - dims[1]) == self.dim()) {
    throw Error("expected rotation dims to be different, but got dim0 = " + std::to_string(dims[0]) + " and dim1 = " + std::to_string(dims[1]));
  }
  for (const int64_t d : dims) {
    if (d >= self.dim() || d < -self.dim()) throw IndexError("Rotation dim" + std::string(d == dims[0] ? "0" : "1") + " out of range, dim" + (d == dims[0] ? "0" : "1") + " = " + std::to_string(d));
  }
  switch (((k % 4) + 4) % 4) {
    case 1: {
      Tensor out = ops::flip::call(self, SizeVector{dims[1]});
      return ops::transpose_::call(out, dims[0], dims[1]);
    }
    case 2: return ops::flip::call(self, dims);
    case 3: {
      Tensor out = ops::flip::call(self, SizeVector{dims[0]});
      return ops::transpose_::call(out, dims[0], dims[1]);
    }
    default: return ops::clone::call(self, MemoryFormat::Contiguous);
  }
}

Tensor kron(const Tensor& self, const Tensor& other) {
  const size_t n = std::max(self.sizes().size(), other.sizes().size());
  SizeVector a, b, out;
  for (size_t d = 0; d < n; ++d) {
    const auto size = [n, d](const Tensor& t) { return d < n - t.sizes().size() ? int64_t{1} : t.sizes()[d - (n - t.sizes().size())]; };
    a.insert(a.end(), {size(self), 1});
    b.insert(b.end(), {1, size(other)});
    out.push_back(size(self) * size(other));
  }
  const Tensor left = ops::_unsafe_view::call(self, a);
  return ops::_unsafe_view::call(ops::mul_Tensor::call(left, ops::_unsafe_view::call(other, b)), out);
}

Tensor block_diag(std::span<const Tensor> tensors) {
  if (tensors.empty()) return ops::empty_memory_format::call(SizeVector{1, 0});
  int64_t rows = 0, columns = 0;
  std::vector<Tensor> blocks;
  ScalarType type = tensors[0].dtype();
  for (size_t i = 0; i < tensors.size(); ++i) {
    Tensor t = tensors[i];
    if (t.dim() > 2) throw Error("torch.block_diag: Input tensors must have 2 or fewer dimensions. Input " + std::to_string(i) + " has " + std::to_string(t.dim()) + " dimensions");
    if (t.dim() == 0) t = ops::expand::call(t, SizeVector{1, 1});
    else if (t.dim() == 1) t = ops::expand::call(t, SizeVector{1, t.size(0)});
    rows += t.size(0);
    columns += t.size(1);
    type = promote(type, t.dtype());
    blocks.push_back(t);
  }
  const Tensor out = ops::zeros::call(SizeVector{rows, columns}, type, Layout::Strided, tensors[0].device());
  int64_t row = 0, column = 0;
  for (const Tensor& t : blocks) {
    Tensor part = ops::slice_Tensor::call(ops::slice_Tensor::call(out, 0, row, row + t.size(0), 1), 1, column, column + t.size(1), 1);
    ops::copy_::call(part, t);
    row += t.size(0);
    column += t.size(1);
  }
  return out;
}

Tensor combinations(const Tensor& self, int64_t r, bool with_replacement) {
  if (self.dim() != 1) throw Error("Expect a 1D vector, but got shape " + to_text(self.sizes()));
  if (r < 0) throw Error("Expect a non-negative number, but got " + std::to_string(r));
  if (r == 0) return ops::empty_memory_format::call(SizeVector{0}, self.dtype(), Layout::Strided, self.device());
  const auto times = [r](const Tensor& t) { return std::vector<Tensor>(static_cast<size_t>(r), t); };
  const std::vector<Tensor> grids = ops::meshgrid_indexing::call(times(self), "ij");
  const Tensor places = ops::arange::call(self.numel(), ScalarType::Long, Layout::Strided, self.device(), {});
  const std::vector<Tensor> orders = ops::meshgrid_indexing::call(times(places), "ij");
  Tensor mask = ops::full::call(SizeVector(static_cast<size_t>(r), self.numel()), true, ScalarType::Bool, Layout::Strided, self.device());
  for (size_t i = 0; i + 1 < static_cast<size_t>(r); ++i) {
    ops::mul__Tensor::call(mask, with_replacement ? ops::le_Tensor::call(orders[i], orders[i + 1]) : ops::lt_Tensor::call(orders[i], orders[i + 1]));
  }
  std::vector<Tensor> columns;
  for (const Tensor& g : grids) columns.push_back(ops::masked_select::call(g, mask));
  return ops::stack::call(columns, 1);
}

Tensor take_along_dim(const Tensor& self, const Tensor& indices, std::optional<int64_t> dim) {
  if (indices.dtype() != ScalarType::Long) throw Error(std::string("torch.take_along_dim(): dtype of indices should be Long but got ") + to_string(indices.dtype()) + " instead.");
  if (!dim) {
    const Tensor all = ops::view::call(self, SizeVector{-1});
    return ops::gather::call(all, 0, ops::view::call(indices, SizeVector{-1}));
  }
  if (self.dim() != indices.dim()) {
    throw Error("torch.take_along_dim(): input and indices should have the same number of dimensions, but got " + std::to_string(self.dim()) + " dimensions for input, and " +
                std::to_string(indices.dim()) + " dimensions for indices");
  }
  const auto d = static_cast<size_t>(wrap_dimension(*dim, self.dim()));
  SizeVector a(self.sizes().begin(), self.sizes().end()), b(indices.sizes().begin(), indices.sizes().end());
  SizeVector from = b;
  from[d] = a[d];
  const SizeVector wide_self = broadcast(a, from);
  SizeVector to = a;
  to[d] = b[d];
  const SizeVector wide_indices = broadcast(b, to);
  const Tensor i = ops::broadcast_to::call(indices, wide_indices), s = ops::broadcast_to::call(self, wide_self);
  return ops::gather::call(s, static_cast<int64_t>(d), ops::remainder_Scalar::call(i, self.size(static_cast<int64_t>(d))));
}

Tensor diagflat(const Tensor& self, int64_t offset) {
  const Tensor rows = self.is_contiguous() ? self : ops::contiguous::call(self);
  return ops::diag::call(ops::view::call(rows, SizeVector{-1}), offset);
}

Tensor& fill_diagonal_(Tensor& self, const Scalar& fill_value, bool wrap) {
  if (self.dim() < 2) throw Error("dimensions must larger than 1");
  const int64_t height = self.size(0), width = self.size(1);
  int64_t stride = 0, size = height;
  for (int64_t d = 0; d < self.dim(); ++d) {
    if (self.dim() > 2 && self.size(d) != height) throw Error("all dimensions of input must be of equal length");
    size = std::min(size, self.size(d));
    stride += self.strides()[static_cast<size_t>(d)];
  }
  Tensor main = ops::as_strided::call(self, SizeVector{size}, SizeVector{stride}, self.storage_offset());
  ops::fill__Scalar::call(main, fill_value);
  if (wrap && self.dim() == 2 && height > width + 1) {
    const int64_t step = width + 1, more = (self.numel() + step - 1) / step - size;
    Tensor further = ops::as_strided::call(self, SizeVector{more}, SizeVector{stride}, self.storage_offset() + self.strides()[0] * step);
    ops::fill__Scalar::call(further, fill_value);
  }
  return self;
}

namespace {

// A copy with the strides that a tensor has, its gaps too.
Tensor cloned(const Tensor& t) {
  if (internal_overlap(t.sizes(), t.strides()) != Overlap::kNo) return ops::clone::call(t);
  const auto all = static_cast<int64_t>(t.impl().storage->bytes() / element_size(t.dtype()));
  const Tensor copy = ops::clone::call(ops::as_strided::call(t, SizeVector{all}, SizeVector{1}, 0));
  return ops::as_strided::call(copy, t.sizes(), t.strides(), t.storage_offset());
}
Tensor with_part(const Tensor& copy, Tensor part, const Tensor& src, const char* name) {
  if (!std::ranges::equal(part.sizes(), src.sizes())) {
    throw Error(std::string(name) + ": expected src to have a size equal to the slice of self. src size = " + to_text(src.sizes()) + ", slice size = " + to_text(part.sizes()));
  }
  ops::copy_::call(part, src);
  return copy;
}

}  // namespace

Tensor select_scatter(const Tensor& self, const Tensor& src, int64_t dim, int64_t index) {
  const Tensor copy = cloned(self);
  return with_part(copy, ops::select_int::call(copy, dim, index), src, "select_scatter");
}
Tensor slice_scatter(const Tensor& self, const Tensor& src, int64_t dim, std::optional<int64_t> start, std::optional<int64_t> end, int64_t step) {
  const Tensor copy = cloned(self);
  return with_part(copy, ops::slice_Tensor::call(copy, dim, start, end, step), src, "slice_scatter");
}
Tensor diagonal_scatter(const Tensor& self, const Tensor& src, int64_t offset, int64_t dim1, int64_t dim2) {
  const Tensor copy = cloned(self);
  return with_part(copy, ops::diagonal::call(copy, offset, dim1, dim2), src, "diagonal_scatter");
}

Tensor atleast_3d(const Tensor& self) {
  if (self.dim() == 0) return ops::reshape::call(self, SizeVector{1, 1, 1});
  if (self.dim() == 1) return ops::unsqueeze::call(ops::unsqueeze::call(self, 0), -1);
  return self.dim() == 2 ? ops::unsqueeze::call(self, -1) : self;
}
std::vector<Tensor> atleast_3d_Sequence(std::span<const Tensor> tensors) {
  std::vector<Tensor> out;
  for (const Tensor& t : tensors) out.push_back(atleast_3d(t));
  return out;
}
Tensor dstack(std::span<const Tensor> tensors) {
  if (tensors.empty()) throw Error("dstack expects a non-empty TensorList");
  return ops::cat::call(ops::atleast_3d_Sequence::call(tensors), 2);
}

namespace {

void need_dims(const Tensor& t, int64_t least, const char* name) {
  if (t.dim() < least) {
    throw Error(std::string("torch.") + name + " requires a tensor with at least " + std::to_string(least) + " dimension" + (least > 1 ? "s" : "") + ", but got a tensor with " +
                std::to_string(t.dim()) + " dimensions!");
  }
}
void need_even(const Tensor& t, int64_t dim, int64_t sections, const char* name) {
  if (sections == 0 || t.size(dim) % sections != 0) {
    throw Error(std::string("torch.") + name + " attempted to split along dimension " + std::to_string(dim) + ", but the size of the dimension " + std::to_string(t.size(dim)) +
                " is not divisible by the split_size " + std::to_string(sections) + "!");
  }
}

}  // namespace

#define PEEL_SPLIT(name, least, dim)                                          \
  std::vector<Tensor> name##_int(const Tensor& self, int64_t sections) {     \
    need_dims(self, least, #name);                                            \
    need_even(self, dim, sections, #name);                                    \
    return ops::tensor_split_sections::call(self, sections, dim);             \
  }                                                                           \
  std::vector<Tensor> name##_array(const Tensor& self, Sizes indices) {      \
    need_dims(self, least, #name);                                            \
    return ops::tensor_split_indices::call(self, indices, dim);               \
  }
PEEL_SPLIT(hsplit, 1, self.dim() == 1 ? 0 : 1)
PEEL_SPLIT(vsplit, 2, 0)
PEEL_SPLIT(dsplit, 3, 2)
#undef PEEL_SPLIT

Tensor sum_to_size(const Tensor& self, Sizes size) {
  SizeVector dims;
  const size_t lead = self.sizes().size() - std::min(self.sizes().size(), size.size());
  bool fits = size.size() <= self.sizes().size();
  for (size_t d = 0; d < self.sizes().size(); ++d) {
    if (d < lead) dims.push_back(static_cast<int64_t>(d));
    else if (size[d - lead] == 1 && self.sizes()[d] != 1) dims.push_back(static_cast<int64_t>(d));
    else fits = fits && size[d - lead] == self.sizes()[d];
  }
  if (size.empty()) return ops::sum::call(self, {});
  if (!fits) throw Error("size {" + to_text(size) + "} is not expandable to size {" + to_text(self.sizes()) + "}.");
  if (dims.empty()) return self;
  const Tensor out = ops::sum_dim_IntList::call(self, dims, true, {});
  return lead > 0 ? ops::view::call(out, size) : out;
}

std::vector<Tensor> nonzero_numpy(const Tensor& self) {
  if (self.dim() == 0) return ops::unbind_int::call(ops::nonzero::call(ops::unsqueeze::call(self, 0)), 1);
  return ops::unbind_int::call(ops::nonzero::call(self), 1);
}
std::vector<Tensor> where(const Tensor& condition) { return ops::nonzero_numpy::call(condition); }

Tensor repeat_interleave_self_Tensor(const Tensor& self, const Tensor& repeats, std::optional<int64_t> dim, std::optional<int64_t> output_size) {
  const Tensor in = dim ? self : ops::flatten_using_ints::call(self, 0, -1);
  const int64_t d = dim.value_or(0);
  Tensor counts = repeats;
  if (repeats.dim() == 0 || (repeats.dim() == 1 && repeats.size(0) == 1)) {
    counts = ops::expand::call(ops::reshape::call(repeats, SizeVector{1}), SizeVector{in.size(d)});
  } else if (repeats.dim() == 1) {
    if (repeats.size(0) != in.size(d)) throw Error("repeats must have the same size as input along dim, but got repeats.size(0) = " + std::to_string(repeats.size(0)) + " and input.size(" + std::to_string(d) + ") = " + std::to_string(in.size(d)));
  } else {
    throw Error("repeats must be 0-dim or 1-dim tensor");
  }
  return ops::index_select::call(in, d, ops::repeat_interleave_Tensor::call(counts, output_size));
}

Tensor addr(const Tensor& self, const Tensor& vec1, const Tensor& vec2, const Scalar& beta, const Scalar& alpha) {
  if (vec1.dim() != 1 || vec2.dim() != 1) {
    throw Error("addr: Expected 1-D argument vec1 and vec2, but got " + std::to_string(vec1.dim()) + "-D and " + std::to_string(vec2.dim()) + "-D");
  }
  const Tensor column = ops::reshape::call(vec1, SizeVector{vec1.size(0), 1});
  Elementwise e({self, column, vec2}, {}, {.allocates_by_call = true});
  with_type(e.type(), "addr", [&]<class T>(T) {
    using M = Math<T>;
    auto walk = e.walk<4>();
    each<T, T, T, T>(walk, [b = as<M>(beta), a = as<M>(alpha)](T& o, T s, T x, T y) {
      if constexpr (std::is_same_v<T, bool>) o = (b && s) || (a && x && y);
      else o = static_cast<T>((b == M{} ? M{} : static_cast<M>(b * static_cast<M>(s))) + a * static_cast<M>(x) * static_cast<M>(y));
    });
  });
  return e.finish();
}
Tensor addbmm(const Tensor& self, const Tensor& batch1, const Tensor& batch2, const Scalar& beta, const Scalar& alpha) {
  Tensor out = ops::empty_memory_format::call(SizeVector{0}, self.dtype(), Layout::Strided, self.device());
  if (batch1.dim() != 3) throw Error("batch1 must be a 3D tensor");
  if (batch2.dim() != 3) throw Error("batch2 must be a 3D tensor");
  const SizeVector shape{batch1.size(1), batch2.size(2)};
  const Tensor added = std::ranges::equal(self.sizes(), shape) ? self : ops::expand::call(self, shape);
  ops::resize_as_::call(out, added);
  ops::copy_::call(out, added);
  Scalar keep = beta;
  for (int64_t i = 0; i < batch1.size(0); ++i) {
    const Tensor a = ops::select_int::call(batch1, 0, i);
    ops::addmm_::call(out, a, ops::select_int::call(batch2, 0, i), keep, alpha);
    keep = 1;
  }
  return out;
}

std::vector<Tensor> gradient_scalarint(const Tensor& self, const std::optional<Scalar>& spacing, std::optional<int64_t> dim, int64_t edge_order) {
  if (edge_order != 1 && edge_order != 2) throw Error("torch.gradient only supports edge_order=1 and edge_order=2.");
  if (edge_order == 2) throw NotImplemented("The embedded engine has no gradient(edge_order=2) yet; the program can be run on stock PyTorch (--engine pytorch).");
  const double step = spacing ? spacing->value.to_double() : 1;
  std::vector<Tensor> out;
  for (int64_t d = 0; d < self.dim(); ++d) {
    if (dim && wrap_dimension(*dim, self.dim()) != d) continue;
    if (self.size(d) < 2) throw Error("torch.gradient expected each dimension size to be at least edge_order+1");
    const auto part = [&](int64_t from, std::optional<int64_t> to) { return ops::slice_Tensor::call(self, d, from, to, 1); };
    const auto slope = [&](int64_t a, std::optional<int64_t> a_end, int64_t b, std::optional<int64_t> b_end) {
      const Tensor before = part(a, a_end);
      return ops::div_Scalar::call(ops::sub_Tensor::call(part(b, b_end), before), step);
    };
    const Tensor middle = slope(0, -2, 2, {}), first = slope(0, 1, 1, 2), last = slope(-2, -1, -1, {});
    const Tensor parts[] = {first, ops::div_Scalar::call(middle, 2), last};
    out.push_back(ops::cat::call(parts, d));
  }
  return out;
}

Tensor randint_like(const Tensor& self, int64_t low, int64_t high, Type dtype, LayoutArgument layout, DeviceArgument device, Flag pin, Format format) {
  Tensor out = ops::empty_like::call(self, dtype, layout, device, pin, format);
  return ops::random__from::call(out, low, high);
}
Tensor randint_like(const Tensor& self, int64_t high, Type dtype, LayoutArgument layout, DeviceArgument device, Flag pin, Format format) {
  return randint_like(self, 0, high, dtype, layout, device, pin, format);
}

}  // namespace peel::kernels
