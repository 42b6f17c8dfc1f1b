// The gradient of a table whose rows were looked up, with only those rows in it; and matrices of diagonals.
#include <algorithm>

#include "core/dispatch/error.h"
#include "kernels/sparse/coordinates.h"
#include "ops_generated/kernels.h"
#include "ops_generated/ops.h"

namespace peel::kernels {

Tensor embedding_sparse_backward(const Tensor& grad_, const Tensor& indices_, int64_t num_weights, int64_t padding_idx, bool scale_grad_by_freq) {
  if (scale_grad_by_freq) throw Error("embedding_backward: scale_grad_by_freq not supported with sparse gradients");
  Tensor indices = indices_, grad = grad_;
  if (padding_idx != -1) {
    const std::optional<Tensor> kept[] = {ops::ne_Scalar::call(indices, padding_idx)};
    indices = ops::index_Tensor::call(indices, kept);
    grad = ops::index_Tensor::call(grad, kept);
  }
  const int64_t width = grad_.size(-1);
  const SizeVector size{num_weights, width};
  if (grad.numel() == 0) {
    const Tensor values = ops::empty_memory_format::call(SizeVector{0, width}, grad.dtype(), Layout::Strided, grad.device());
    const Tensor none = ops::empty_memory_format::call(SizeVector{1, 0}, ScalarType::Long, Layout::Strided, grad.device());
    return ops::_sparse_coo_tensor_unsafe::call(none, values, size);
  }
  const Tensor index = ops::reshape::call(indices, SizeVector{1, -1});
  const Tensor values = ops::reshape::call(grad, SizeVector{-1, width});
  return ops::_sparse_coo_tensor_unsafe::call(ops::to_dtype::call(index, ScalarType::Long), values, size);
}

// One diagonal a row, as coordinates of a matrix of that shape.
Tensor spdiags(const Tensor& diagonals, const Tensor& offsets, Sizes shape, std::optional<Layout> layout) {
  const Tensor rows = diagonals.dim() == 2 ? diagonals : ops::unsqueeze::call(diagonals, 0);
  const Tensor at = offsets.dim() == 1 ? offsets : ops::unsqueeze::call(offsets, 0);
  if (shape.size() != 2) throw Error("Output shape must be 2d");
  if (at.dim() != 1) throw Error("Offsets must be scalar or vector");
  if (rows.dim() != 2) throw Error("Diagonals must be vector or matrix");
  if (rows.size(0) != at.size(0)) throw Error("Number of diagonals (" + std::to_string(rows.size(0)) + ") does not match the number of offsets (" + std::to_string(at.size(0)) + ")");
  if (layout && *layout != Layout::Sparse && *layout != Layout::SparseCsr && *layout != Layout::SparseCsc) {
    throw Error(std::string("Only output layouts (Sparse, SparseCsc, SparseCsr) are supported, got ") + to_string(*layout));
  }
  if (at.dtype() != ScalarType::Long) throw Error(std::string("Offset Tensor must have dtype Long but got ") + to_string(at.dtype()));
  if (std::get<0>(ops::_unique::call(at, true, false)).size(0) != at.size(0)) throw Error("Offset tensor contains duplicate values");
  // How many places each diagonal has: those left of the main one are cut by the rows, those right of it by the columns.
  const int64_t width = rows.size(1);
  const auto cut = [](const Tensor& t, int64_t n) { return ops::add_Scalar::call(t, n); };
  const Tensor low = cut(at, shape[0]);
  Tensor high = cut(ops::neg::call(at), shape[1]);
  ops::clamp_max_::call(high, std::min(width, shape[1]));
  const Tensor counts = ops::where_self::call(ops::le_Scalar::call(at, 0), low, high);
  const Tensor ends = ops::cumsum::call(counts, -1);
  if (at.size(0)) ops::item::call(ops::select_int::call(ends, -1, -1));
  ops::sub_Tensor::call(ends, counts);
  struct Place {
    int64_t row, column, diagonal;
  };
  std::vector<Place> places;
  for (int64_t d = 0; d < at.size(0); ++d) {
    const int64_t k = at.data_as<int64_t>()[d * at.strides()[0]];
    for (int64_t column = std::max<int64_t>(k, 0); column < std::min(width, shape[1]); ++column) {
      if (column - k < shape[0]) places.push_back({column - k, column, d});
    }
  }
  const auto n = static_cast<int64_t>(places.size());
  const Tensor indices = ops::empty_memory_format::call(SizeVector{2, n}, ScalarType::Long, Layout::Strided, at.device());
  const Tensor values = ops::empty_memory_format::call(SizeVector{n}, rows.dtype(), Layout::Strided, rows.device());
  const size_t bytes = element_size(rows.dtype());
  for (int64_t i = 0; i < n; ++i) {
    const Place& p = places[static_cast<size_t>(i)];
    indices.data_as<int64_t>()[i] = p.row;
    indices.data_as<int64_t>()[n + i] = p.column;
    const char* from = static_cast<const char*>(rows.data()) + static_cast<size_t>(p.diagonal * rows.strides()[0] + p.column * rows.strides()[1]) * bytes;
    std::copy_n(from, bytes, static_cast<char*>(values.data()) + static_cast<size_t>(i) * bytes);
  }
  ops::arange::call(at.size(0), ScalarType::Long, Layout::Strided, at.device());
  Tensor room = ops::empty_memory_format::call(SizeVector{1}, ScalarType::Long, Layout::Strided, at.device());
  ops::resize_::call(room, SizeVector{0});
  const Tensor out = ops::sparse_coo_tensor_indices_size::call(indices, values, shape);
  if (!layout || *layout == Layout::Sparse) return out;
  return *layout == Layout::SparseCsr ? ops::to_sparse_csr::call(out) : ops::to_sparse_csc::call(out);
}

bool is_pinned(const Tensor&, std::optional<Device>) { return false; }

}  // namespace peel::kernels
