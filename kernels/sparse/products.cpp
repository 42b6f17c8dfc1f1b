// Products of tensors of coordinates with dense matrices and with each other.
#include <algorithm>
#include <array>
#include <cmath>
#include <map>

#include "core/dispatch/error.h"
#include "kernels/cpu/elementwise.h"
#include "kernels/cpu/rows.h"
#include "kernels/sparse/coordinates.h"
#include "ops_generated/kernels.h"
#include "ops_generated/ops.h"

namespace peel::kernels {
namespace {

template <class T>
void add_products(Tensor& out, const Tensor& indices, const Tensor& values, const Tensor& dense, Math<T> alpha) {
  const int64_t columns = dense.size(1), is = indices.strides()[0], ns = indices.strides()[1];
  const int64_t* at = indices.data_as<int64_t>();
  for (int64_t i = 0; i < values.size(0); ++i) {
    const int64_t row = at[i * ns], column = at[is + i * ns];
    if (row < 0 || row >= out.size(0)) throw Error("addmm: index out of row bound: " + std::to_string(row) + " not between 1 and " + std::to_string(out.size(0)));
    if (column < 0 || column >= dense.size(0)) throw Error("addmm: index out of column bound: " + std::to_string(column) + " not between 1 and " + std::to_string(dense.size(0)));
    const auto by = product<T>(alpha, values.data_as<T>()[i * values.strides()[0]]);
    const T* from = dense.data_as<T>() + column * dense.strides()[0];
    T* to = out.data_as<T>() + row * out.strides()[0];
    for (int64_t k = 0; k < columns; ++k) {
      T& o = to[k * out.strides()[1]];
      o = static_cast<T>(static_cast<Math<T>>(o) + by * static_cast<Math<T>>(from[k * dense.strides()[1]]));
    }
  }
}

Tensor& addmm_into(Tensor& r, const Tensor& t, const Tensor& sparse, const Tensor& dense, const Scalar& beta, const Scalar& alpha) {
  if (is_coo(dense)) throw Error("addmm: expected 'mat2' to be strided, but got tensor with layout Sparse");
  const int64_t sparse_dim = ops::sparse_dim::call(sparse), dense_dim = ops::dense_dim::call(sparse);
  if (sparse_dim != 2) throw Error("addmm: matrices expected, got " + std::to_string(sparse_dim) + "D tensor");
  if (dense_dim != 0) throw Error("addmm: scalar values expected, got " + std::to_string(dense_dim) + "D values");
  if (dense.dim() != 2) throw Error("addmm: matrices expected, got " + std::to_string(dense.dim()) + "D tensor");
  const int64_t rows = sparse.size(0), inner = sparse.size(1), columns = dense.size(1);
  if (dense.size(0) != inner) throw Error("addmm: Argument #3 (dense): Expected dim 0 size " + std::to_string(inner) + ", got " + std::to_string(dense.size(0)));
  if (t.size(0) != rows) throw Error("addmm: Argument #1 (t): Expected dim 0 size " + std::to_string(rows) + ", got " + std::to_string(t.size(0)));
  if (t.size(1) != columns) throw Error("addmm: Argument #1 (t): Expected dim 1 size " + std::to_string(columns) + ", got " + std::to_string(t.size(1)));
  ops::resize_::call(r, SizeVector{rows, columns});
  const int64_t nnz = ops::_nnz::call(sparse);
  if (nnz == 0) {
    ops::mul_out::call(t, ops::scalar_tensor::call(beta, r.dtype(), Layout::Strided, r.device()), r);
    return r;
  }
  const Tensor indices = ops::_indices::call(sparse), values = ops::_values::call(sparse);
  const bool whole = !is_floating(values.dtype()) && !is_complex(values.dtype());  // then so is the number
  const double by = whole ? std::trunc(beta.value.to_double()) : beta.value.to_double();
  if (by == 0) ops::zero_::call(r);
  else if (by != 1) ops::mul_out::call(t, wrapped(beta), r);
  else if (!r.is_same(t)) ops::copy_::call(r, t);
  if (values.dtype() != dense.dtype()) {
    throw Error(std::string("expected scalar type ") + to_string(values.dtype()) + " but found " + to_string(dense.dtype()));
  }
  with_any_type(values.dtype(), "addmm_sparse_dense", [&]<class T>(T) { add_products<T>(r, indices, values, dense, as<Math<T>>(alpha)); });
  return r;
}

Tensor product_of(const Tensor& self, const Tensor& mat2) {
  if (is_coo(self) && is_coo(mat2)) return ops::_sparse_sparse_matmul::call(self, mat2);
  const bool left = is_coo(self) || is_compressed(self);
  const Tensor& dense = left ? mat2 : self;
  const Tensor t = ops::zeros::call(SizeVector{self.size(-2), mat2.size(-1)}, dense.dtype(), Layout::Strided, dense.device());
  if (left) return ops::_sparse_addmm::call(t, self, mat2, 0, 1);
  const auto turned = [](const Tensor& x) { return ops::transpose_int::call(x, -2, -1); };
  const Tensor c = turned(self), b = turned(mat2);
  return turned(ops::_sparse_addmm::call(turned(t), b, c, 0, 1));
}

}  // namespace

Tensor mm_sparse(const Tensor& self, const Tensor& mat2) { return product_of(self, mat2); }
Tensor _sparse_mm(const Tensor& sparse, const Tensor& dense) { return product_of(sparse, dense); }
Tensor sparse_addmm(const Tensor& self, const Tensor& mat1, const Tensor& mat2, const Scalar& beta, const Scalar& alpha) {
  return ops::addmm::call(self, mat1, mat2, beta, alpha);
}
Tensor addmm_sparse(const Tensor& self, const Tensor& mat1, const Tensor& mat2, const Scalar& beta, const Scalar& alpha) {
  if (!is_coo(mat1)) throw NotImplemented("The embedded engine has no addmm with a sparse second factor yet; the program can be run on stock PyTorch (--engine pytorch).");
  const SizeVector shape{mat1.size(0), mat2.size(1)};
  const Tensor t = std::ranges::equal(self.sizes(), shape) ? self : ops::expand::call(self, shape);
  Tensor out = ops::empty_memory_format::call(SizeVector{0}, t.dtype(), Layout::Strided, t.device());
  return addmm_into(out, t, mat1, mat2, beta, alpha);
}
Tensor& addmm_sparse_(Tensor& self, const Tensor& mat1, const Tensor& mat2, const Scalar& beta, const Scalar& alpha) { return addmm_into(self, self, mat1, mat2, beta, alpha); }
Tensor& mm_out_sparse(const Tensor& self, const Tensor& mat2, Tensor& out) {
  const Tensor t = ops::zeros::call(SizeVector{}, mat2.dtype(), Layout::Strided, mat2.device());
  return ops::addmm_out::call(t, self, mat2, 0, 1, out);
}
Tensor bmm_sparse(const Tensor& self, const Tensor& mat2) {
  Tensor out = ops::empty_memory_format::call(SizeVector{}, mat2.dtype(), Layout::Strided, mat2.device());
  return bmm_out_sparse(self, mat2, out);
}
// One matrix after the other, each from its stretch of the coordinates.
Tensor& bmm_out_sparse(const Tensor& self, const Tensor& mat2, Tensor& out) {
  if (mat2.impl().sparse) throw Error("bmm_sparse: Tensor 'mat2' must be dense");
  const int64_t dense_dim = ops::dense_dim::call(self);
  if (dense_dim != 0) throw Error("bmm_sparse: Tensor 'self' must have 0 dense dims, but has " + std::to_string(dense_dim));
  const int64_t sparse_dim = ops::sparse_dim::call(self);
  if (sparse_dim != 3) throw Error("bmm_sparse: Tensor 'self' must have 3 sparse dims, but has " + std::to_string(sparse_dim));
  if (mat2.dim() != 3) throw Error("bmm_sparse: Tensor 'mat2' must have 3 dims, but has " + std::to_string(mat2.dim()));
  if (self.size(0) != mat2.size(0)) throw Error("bmm_sparse: 'self.size(0)' and 'mat2.size(0)' must match");
  if (self.size(2) != mat2.size(1)) throw Error("bmm_sparse: 'self.size(2)' and 'mat2.size(1)' must match");
  ops::resize_::call(out, SizeVector{self.size(0), self.size(1), mat2.size(2)});
  if (ops::_nnz::call(self) == 0) return ops::zero_::call(out);
  const Tensor t = ops::coalesce::call(self);
  const int64_t nnz = ops::_nnz::call(t);
  const Tensor indices = ops::_indices::call(t), values = ops::_values::call(t);
  const Tensor batch = ops::select_int::call(indices, 0, 0), places = ops::slice_Tensor::call(indices, 0, 1, 3, 1);
  int64_t from = 0;
  for (int64_t b = 0; b < self.size(0); ++b) {
    int64_t to = from;
    while (to < nnz && batch.data_as<int64_t>()[to * batch.strides()[0]] == b) ++to;
    const Tensor dense = ops::select_int::call(mat2, 0, b);
    Tensor result = ops::select_int::call(out, 0, b);
    if (from == to) {
      ops::zero_::call(result);
      continue;
    }
    const Tensor at = ops::slice_Tensor::call(places, 1, from, to, 1), v = ops::slice_Tensor::call(values, 0, from, to, 1);
    ops::zero_::call(result);
    with_any_type(values.dtype(), "bmm_sparse", [&]<class T>(T) { add_products<T>(result, at, v, dense, Math<T>(1)); });
    from = to;
  }
  return out;
}
Tensor& addmm_out_sparse(const Tensor& self, const Tensor& mat1, const Tensor& mat2, const Scalar& beta, const Scalar& alpha, Tensor& out) {
  const SizeVector shape{mat1.size(0), mat2.size(1)};
  return addmm_into(out, std::ranges::equal(self.sizes(), shape) ? self : ops::expand::call(self, shape), mat1, mat2, beta, alpha);
}
Tensor mv_sparse(const Tensor& self, const Tensor& vec) {
  if (self.dim() != 2 || vec.dim() != 1) throw Error("mv: two tensor dim should be 2 and 1, but got SparseTensor Dim: " + std::to_string(self.dim()) + "Tensor Dim: " + std::to_string(vec.dim()));
  if (vec.size(0) != self.size(1)) throw Error("mv: expected self.size(-1) == vec.size(-1)");
  return ops::squeeze_dim::call(ops::matmul::call(self, ops::unsqueeze::call(vec, -1)), -1);
}

// By rows, in the order of the left factor; the result is coalesced.
Tensor sparse_sparse_matmul(const Tensor& self, const Tensor& other) {
  ops::dense_dim::call(self);
  ops::dense_dim::call(other);
  if (self.size(1) != other.size(0)) {
    throw Error("mat1 and mat2 shapes cannot be multiplied (" + std::to_string(self.size(0)) + "x" + std::to_string(self.size(1)) + " and " + std::to_string(other.size(0)) + "x" +
                std::to_string(other.size(1)) + ")");
  }
  Tensor out = ops::empty_memory_format::call(self.sizes(), self.dtype(), Layout::Sparse, self.device(), {}, MemoryFormat::Contiguous);
  const SizeVector size{self.size(0), other.size(1)};
  const int64_t sparse_dim = ops::sparse_dim::call(self);
  ops::sparse_resize_and_clear_::call(out, size, sparse_dim, 0);
  const Tensor right = ops::coalesce::call(other), left = ops::coalesce::call(self);
  const Tensor a = ops::to_sparse_csr::call(left), b = ops::to_sparse_csr::call(right);
  const auto parts = [](const Tensor& t) {
    for (int i = 0; i < 2; ++i) ops::crow_indices::call(t);
    for (int i = 0; i < 2; ++i) ops::col_indices::call(t);
    for (int i = 0; i < 2; ++i) ops::values::call(t);
    const SparseParts& p = sparse_of(t);
    return std::array<Tensor, 3>{made_contiguous(p.compressed), made_contiguous(p.indices), made_contiguous(p.values)};
  };
  const auto [a_begins, a_columns, a_values] = parts(a);
  const auto [b_begins, b_columns, b_values] = parts(b);
  ops::_indices::call(out);
  ops::_values::call(out);
  ops::empty_memory_format::call(SizeVector{size[0] + 1}, ScalarType::Long);
  with_any_type(self.dtype(), "sparse_matmul", [&]<class T>(T) {
    std::map<int64_t, Math<T>> row;
    std::vector<int64_t> rows, columns;
    std::vector<Math<T>> sums;
    for (int64_t r = 0; r < size[0]; ++r) {
      row.clear();
      for (int64_t i = index_at(a_begins, r); i < index_at(a_begins, r + 1); ++i) {
        const int64_t k = index_at(a_columns, i);
        for (int64_t j = index_at(b_begins, k); j < index_at(b_begins, k + 1); ++j) {
          Math<T>& sum = row[index_at(b_columns, j)];
          sum = static_cast<Math<T>>(sum + static_cast<Math<T>>(a_values.template data_as<T>()[i]) * static_cast<Math<T>>(b_values.template data_as<T>()[j]));
        }
      }
      for (const auto& [column, sum] : row) {
        rows.push_back(r);
        columns.push_back(column);
        sums.push_back(sum);
      }
    }
    const auto n = static_cast<int64_t>(sums.size());
    const Tensor indices = core::empty(SizeVector{2, n}, ScalarType::Long), values = core::empty(SizeVector{n}, self.dtype());
    std::ranges::copy(rows, indices.data_as<int64_t>());
    std::ranges::copy(columns, indices.data_as<int64_t>() + n);
    for (int64_t i = 0; i < n; ++i) values.template data_as<T>()[i] = static_cast<T>(sums[static_cast<size_t>(i)]);
    set_parts(out, indices, values);
  });
  for (int64_t d = 0; d < 2; ++d) ops::select_int::call(sparse_of(out).indices, 0, d);
  return ops::_coalesced_::call(out, true);
}

}  // namespace peel::kernels
