// Stacking, tiling, taking apart, diagonals: calls of views and joins.
#include <algorithm>
#include <numeric>

#include "core/dispatch/error.h"
#include "kernels/cpu/elementwise.h"
#include "ops_generated/kernels.h"
#include "ops_generated/ops.h"

namespace peel::kernels {

using Optional = std::optional<Tensor>;

Tensor tile(const Tensor& self, Sizes dims) {
  SizeVector all(dims.begin(), dims.end());
  if (static_cast<int64_t>(all.size()) < self.dim()) all.insert(all.begin(), self.sizes().size() - all.size(), 1);
  return ops::repeat::call(self, all);
}

Tensor atleast_1d(const Tensor& self) { return self.dim() == 0 ? ops::reshape::call(self, SizeVector{1}) : self; }
Tensor atleast_2d(const Tensor& self) {
  if (self.dim() == 0) return ops::reshape::call(self, SizeVector{1, 1});
  return self.dim() == 1 ? ops::unsqueeze::call(self, 0) : self;
}
std::vector<Tensor> atleast_1d_Sequence(std::span<const Tensor> tensors) {
  std::vector<Tensor> out;
  for (const Tensor& t : tensors) out.push_back(atleast_1d(t));
  return out;
}
std::vector<Tensor> atleast_2d_Sequence(std::span<const Tensor> tensors) {
  std::vector<Tensor> out;
  for (const Tensor& t : tensors) out.push_back(atleast_2d(t));
  return out;
}

Tensor hstack(std::span<const Tensor> tensors) {
  if (tensors.empty()) throw Error("hstack expects a non-empty TensorList");
  const std::vector<Tensor> all = ops::atleast_1d_Sequence::call(tensors);
  return ops::cat::call(all, all[0].dim() == 1 ? 0 : 1);
}
Tensor vstack(std::span<const Tensor> tensors) {
  if (tensors.empty()) throw Error("vstack expects a non-empty TensorList");
  return ops::cat::call(ops::atleast_2d_Sequence::call(tensors), 0);
}
Tensor column_stack(std::span<const Tensor> tensors) {
  if (tensors.empty()) throw Error("column_stack expects a non-empty TensorList");
  std::vector<Tensor> all;
  for (const Tensor& t : tensors) all.push_back(t.dim() <= 1 ? ops::reshape::call(t, SizeVector{t.numel(), 1}) : t);
  return ops::hstack::call(all);
}

std::vector<Tensor> tensor_split_sections(const Tensor& self, int64_t sections, int64_t dim) {
  if (self.dim() == 0) throw Error("tensor_split expected at least a 1-dimensional tensor, but got a tensor with 0 dims");
  const int64_t d = wrap_dimension(dim, self.dim());
  if (sections <= 0) throw Error("number of sections must be larger than 0, got " + std::to_string(sections));
  const int64_t n = self.size(d), least = n / sections, longer = n % sections;
  std::vector<Tensor> out;
  int64_t at = 0;
  for (int64_t i = 0; i < sections; ++i) {
    const int64_t length = least + (i < longer);
    out.push_back(ops::slice_Tensor::call(self, d, at, at + length, 1));
    at += length;
  }
  return out;
}
std::vector<Tensor> tensor_split_indices(const Tensor& self, Sizes indices, int64_t dim) {
  if (self.dim() == 0) throw Error("tensor_split expected at least a 1-dimensional tensor, but got a tensor with 0 dims");
  const int64_t d = wrap_dimension(dim, self.dim());
  std::vector<Tensor> out;
  int64_t at = 0;
  for (const int64_t end : indices) {
    out.push_back(ops::slice_Tensor::call(self, d, at, end, 1));
    at = end;
  }
  out.push_back(ops::slice_Tensor::call(self, d, at, self.size(d), 1));
  return out;
}

Tensor repeat_interleave_self_int(const Tensor& self, int64_t repeats, std::optional<int64_t> dim, std::optional<int64_t>) {
  const Tensor in = dim ? self : ops::flatten_using_ints::call(self);
  if (repeats < 0) throw Error("Repeats must be non-negative");
  const int64_t d = wrap_dimension(dim.value_or(0), std::max<int64_t>(in.dim(), 1));
  const Tensor thin = ops::unsqueeze::call(in, d + 1);
  SizeVector shape(thin.sizes().begin(), thin.sizes().end());
  shape[static_cast<size_t>(d + 1)] = repeats;
  const Tensor copied = ops::clone::call(ops::expand::call(thin, shape), MemoryFormat::Contiguous);
  return ops::flatten_using_ints::call(copied, d, d + 1);
}

Tensor fliplr(const Tensor& self) {
  if (self.dim() < 2) throw Error("Input must be >= 2-d.");
  return ops::flip::call(self, SizeVector{1});
}
Tensor flipud(const Tensor& self) {
  if (self.dim() < 1) throw Error("Input must be >= 1-d.");
  return ops::flip::call(self, SizeVector{0});
}
Tensor moveaxis_int(const Tensor& self, int64_t source, int64_t destination) { return ops::movedim_intlist::call(self, SizeVector{source}, SizeVector{destination}); }
Tensor swapdims(const Tensor& self, int64_t dim0, int64_t dim1) { return ops::transpose_int::call(self, dim0, dim1); }

Tensor tensordot(const Tensor& self, const Tensor& other, Sizes dims_self, Sizes dims_other) {
  if (dims_self.size() != dims_other.size()) throw Error("both dimension lists should have same length");
  const auto order = [](const Tensor& t, Sizes named, bool named_first, SizeVector* kept, int64_t* rows) {
    std::vector<bool> gone(t.sizes().size());
    SizeVector contracted, out;
    for (const int64_t d : named) {
      contracted.push_back(wrap_dimension(d, t.dim()));
      gone[static_cast<size_t>(contracted.back())] = true;
    }
    *rows = 1;
    for (int64_t d = 0; d < t.dim(); ++d) {
      if (gone[static_cast<size_t>(d)]) continue;
      out.push_back(d);
      kept->push_back(t.size(d));
      *rows *= t.size(d);
    }
    out.insert(named_first ? out.begin() : out.end(), contracted.begin(), contracted.end());
    return out;
  };
  int64_t shared = 1;
  for (size_t i = 0; i < dims_self.size(); ++i) {
    const int64_t a = self.size(dims_self[i]), b = other.size(dims_other[i]);
    if (a != b) {
      throw Error("contracted dimensions need to match, but first has size " + std::to_string(a) + " in dim " + std::to_string(dims_self[i]) + " and second has size " +
                  std::to_string(b) + " in dim " + std::to_string(dims_other[i]));
    }
    shared *= a;
  }
  SizeVector shape;
  int64_t rows = 1, columns = 1;
  const SizeVector left = order(self, dims_self, false, &shape, &rows), right = order(other, dims_other, true, &shape, &columns);
  const Tensor a = ops::reshape::call(ops::permute::call(self, left), SizeVector{rows, shared});
  const Tensor b = ops::reshape::call(ops::permute::call(other, right), SizeVector{shared, columns});
  return ops::reshape::call(ops::mm::call(a, b), shape);
}
Tensor inner(const Tensor& self, const Tensor& other) {
  if (self.dim() == 0 || other.dim() == 0) return ops::mul_Tensor::call(self, other);
  if (self.size(-1) != other.size(-1)) {
    throw Error("inner() the last dimension must match on both input tensors but got shapes " + to_text(self.sizes()) + " and " + to_text(other.sizes()));
  }
  return ops::tensordot::call(self, other, SizeVector{-1}, SizeVector{-1});
}
Tensor cartesian_prod(std::span<const Tensor> tensors) {
  for (const Tensor& t : tensors) {
    if (t.dim() != 1) throw Error("Expect a 1D vector, but got shape " + to_text(t.sizes()));
  }
  if (tensors.size() == 1) return tensors[0];
  std::vector<Tensor> columns = ops::meshgrid_indexing::call(tensors, "ij");
  for (Tensor& t : columns) t = ops::flatten_using_ints::call(t);
  return ops::stack::call(columns, 1);
}

Tensor diff(const Tensor& self, int64_t n, int64_t dim, const Optional& prepend, const Optional& append) {
  if (self.dim() == 0) throw Error("diff expects input to be at least one-dimensional");
  if (n < 0) throw Error("order must be non-negative but got " + std::to_string(n));
  const int64_t d = wrap_dimension(dim, self.dim());
  Tensor in = self;
  const bool before = prepend && prepend->defined(), after = append && append->defined();
  if (before || after) {
    std::vector<Tensor> parts;
    if (before) parts.push_back(*prepend);
    parts.push_back(self);
    if (after) parts.push_back(*append);
    in = ops::cat::call(parts, d);
  }
  if (n == 0) return ops::zeros_like::call(in);
  n = std::min(n, in.size(d));
  for (int64_t i = 0; i < n; ++i) {
    const int64_t length = in.size(d) - 1;
    const Tensor later = ops::narrow::call(in, d, 1, length), earlier = ops::narrow::call(in, d, 0, length);
    in = in.dtype() == ScalarType::Bool ? ops::logical_xor::call(later, earlier) : ops::sub_Tensor::call(later, earlier);
  }
  return in;
}

Tensor pad_sequence(std::span<const Tensor> sequences, bool batch_first, double padding_value, std::string_view padding_side) {
  if (sequences.empty()) throw Error("received an empty list of sequences");
  if (padding_side != "left" && padding_side != "right") throw Error("Expected padding_side to be one of left or right, but got " + std::string(padding_side) + ".");
  int64_t longest = 0;
  for (const Tensor& t : sequences) longest = std::max(longest, t.size(0));
  SizeVector shape{static_cast<int64_t>(sequences.size()), longest};
  if (!batch_first) std::swap(shape[0], shape[1]);
  shape.insert(shape.end(), sequences[0].sizes().begin() + 1, sequences[0].sizes().end());
  const Tensor out = ops::full::call(shape, padding_value, sequences[0].dtype(), Layout::Strided, sequences[0].device());
  for (size_t i = 0; i < sequences.size(); ++i) {
    const int64_t n = sequences[i].size(0), start = padding_side == "left" ? longest - n : 0, at = static_cast<int64_t>(i);
    Tensor part = batch_first ? ops::narrow::call(ops::select_int::call(out, 0, at), 0, start, n) : ops::select_int::call(ops::narrow::call(out, 0, start, n), 1, at);
    ops::copy_::call(part, sequences[i]);
  }
  return out;
}

Tensor trace(const Tensor& self) {
  const bool whole = !is_floating(self.dtype());
  Tensor out = ops::empty_memory_format::call(Sizes(), whole ? ScalarType::Long : self.dtype(), Layout::Strided, self.device());
  if (self.dim() != 2) throw Error("trace: expected a matrix, but got tensor with dim " + std::to_string(self.dim()));
  with_type(self.dtype(), "trace", [&]<class T>(T) {
    double sum = 0;
    int64_t count = 0;
    for (int64_t i = 0; i < std::min(self.size(0), self.size(1)); ++i) {
      const auto x = static_cast<Math<T>>(self.data_as<T>()[i * (self.strides()[0] + self.strides()[1])]);
      if constexpr (std::is_integral_v<T>) count += static_cast<int64_t>(x);
      else sum += static_cast<double>(x);
    }
    if constexpr (std::is_integral_v<T>) *out.data_as<int64_t>() = count;
    else *out.data_as<T>() = static_cast<T>(sum);
  });
  return out;
}
Tensor trace_backward(const Tensor& grad, Sizes sizes) {
  if (sizes.size() != 2) throw Error("expected matrix input");
  Tensor out = ops::zeros::call(SizeVector{sizes[0] * sizes[1]}, grad.dtype(), Layout::Strided, grad.device());
  const Tensor places = ops::arange_start_step::call(0, out.numel(), sizes[1] + 1, ScalarType::Long, {}, grad.device(), {});
  ops::index_fill__int_Tensor::call(out, 0, places, grad);
  return ops::view::call(out, sizes);
}

Tensor diag(const Tensor& self, int64_t diagonal) {
  if (self.dim() == 1) return ops::diag_embed::call(self, diagonal);
  if (self.dim() == 2) return ops::diagonal_copy::call(self, diagonal);
  throw Error("diag(): Supports 1D or 2D tensors. Got " + std::to_string(self.dim()) + "D");
}
Tensor diag_embed(const Tensor& self, int64_t offset, int64_t dim1, int64_t dim2) {
  const int64_t dims = self.dim() + 1, a = wrap_dimension(dim1, dims), b = wrap_dimension(dim2, dims);
  if (a == b) throw Error("diagonal dimensions cannot be identical " + std::to_string(dim1) + ", " + std::to_string(dim2));
  const int64_t length = std::abs(offset) + self.size(-1);
  SizeVector shape(self.sizes().begin(), self.sizes().end() - 1);
  shape.insert(shape.begin() + static_cast<ptrdiff_t>(std::min(a, b)), length);
  shape.insert(shape.begin() + static_cast<ptrdiff_t>(std::max(a, b)), length);
  Tensor out = ops::zeros::call(shape, self.dtype(), Layout::Strided, self.device());
  Tensor line = ops::diagonal::call(out, offset, a, b);
  ops::copy_::call(line, self);
  return out;
}
Tensor diagonal_copy(const Tensor& self, int64_t offset, int64_t dim1, int64_t dim2) {
  return ops::clone::call(ops::diagonal::call(self, offset, dim1, dim2), MemoryFormat::Contiguous);
}

}  // namespace peel::kernels
