// Products of compressed tensors with dense ones and with each other.
#include <algorithm>

#include "core/dispatch/error.h"
#include "kernels/cpu/elementwise.h"
#include "kernels/sparse/coordinates.h"
#include "ops_generated/kernels.h"
#include "ops_generated/ops.h"

namespace peel::kernels {

namespace {

struct Lines {
  Tensor compressed, plain, values;
};
// The parts as the library of stock takes them, with 32-bit indices.
Lines lines_of(const Tensor& t) {
  const Tensor compressed = compressed_of(t), plain = plain_of(t), values = ops::values::call(t);
  return {ops::to_dtype::call(compressed, ScalarType::Int), ops::to_dtype::call(plain, ScalarType::Int), values};
}

Tensor in_rows(const Tensor& t) { return layout_of(t) == Layout::SparseCsc ? ops::to_sparse_csr::call(t) : t; }

template <class T>
void add_lines(const Tensor& out, const Tensor& sparse, const Lines& l, const Tensor& dense, Math<T> alpha, Math<T> beta) {
  const bool rows = by_rows(layout_of(sparse)), vector = dense.dim() == 1;
  const int64_t columns = vector ? 1 : dense.size(1), dr = dense.strides()[0], dc = vector ? 0 : dense.strides()[1], r0 = out.strides()[0], r1 = vector ? 0 : out.strides()[1];
  for (int64_t r = 0; r < out.size(0); ++r) {
    for (int64_t k = 0; k < columns; ++k) {
      T& o = out.data_as<T>()[r * r0 + k * r1];
      o = beta == Math<T>(0) ? T{} : static_cast<T>(beta * static_cast<Math<T>>(o));
    }
  }
  for (int64_t i = 0; i + 1 < l.compressed.numel(); ++i) {
    for (int64_t n = index_at(l.compressed, i); n < index_at(l.compressed, i + 1); ++n) {
      const int64_t row = rows ? i : index_at(l.plain, n), column = rows ? index_at(l.plain, n) : i;
      const auto by = product<T>(alpha, l.values.data_as<T>()[n * l.values.strides()[0]]);
      for (int64_t k = 0; k < columns; ++k) {
        T& o = out.data_as<T>()[row * r0 + k * r1];
        o = static_cast<T>(static_cast<Math<T>>(o) + by * static_cast<Math<T>>(dense.data_as<T>()[column * dr + k * dc]));
      }
    }
  }
}

// By turning all three around: columns of the right factor become rows of the left one.
Tensor& dense_times_lines(const Tensor& mat1, const Tensor& mat2, const Scalar& beta, const Scalar& alpha, Tensor& out) {
  const Tensor result = ops::transpose_int::call(out, 0, 1), right = ops::transpose_int::call(mat1, 0, 1);
  const Tensor left = ops::to_sparse_csr::call(ops::transpose_int::call(mat2, 0, 1));
  Tensor turned = ops::clone::call(ops::mT::call(right), MemoryFormat::Contiguous);
  ops::transpose_::call(turned, -2, -1);
  const Lines l = lines_of(left);
  with_any_type(out.dtype(), "addmm_sparse_csr", [&]<class T>(T) { add_lines<T>(result, left, l, turned, as<Math<T>>(alpha), as<Math<T>>(beta)); });
  return out;
}

// Row by row, each result at most once in a row, in order.
Tensor& lines_times_lines(const Tensor& self, const Tensor& mat1, const Tensor& mat2, const Scalar& beta, const Scalar& alpha, Tensor& out) {
  const Tensor a = ops::to_sparse_csr::call(mat1), b = ops::to_sparse_csr::call(mat2);
  const int64_t rows = a.size(0), columns = b.size(1);
  const SparseParts &p = sparse_of(a), &q = sparse_of(b);
  const Tensor begins = core::empty(SizeVector{rows + 1}, ScalarType::Long);
  begins.data_as<int64_t>()[0] = 0;
  std::vector<std::vector<int64_t>> of_row(static_cast<size_t>(rows));
  for (int64_t r = 0; r < rows; ++r) {
    std::vector<int64_t>& found = of_row[static_cast<size_t>(r)];
    for (int64_t i = index_at(p.compressed, r); i < index_at(p.compressed, r + 1); ++i) {
      const int64_t k = index_at(p.indices, i);
      for (int64_t j = index_at(q.compressed, k); j < index_at(q.compressed, k + 1); ++j) found.push_back(index_at(q.indices, j));
    }
    std::ranges::sort(found);
    found.erase(std::unique(found.begin(), found.end()), found.end());
    begins.data_as<int64_t>()[r + 1] = begins.data_as<int64_t>()[r] + static_cast<int64_t>(found.size());
  }
  const int64_t nnz = begins.data_as<int64_t>()[rows];
  const Tensor plain = core::empty(SizeVector{nnz}, ScalarType::Long), values = core::empty(SizeVector{nnz}, out.dtype());
  with_any_type(out.dtype(), "addmm_sparse_csr", [&]<class T>(T) {
    const Tensor room = core::empty(SizeVector{columns}, out.dtype());
    T* sums = room.data_as<T>();
    std::fill_n(sums, columns, T{});
    for (int64_t r = 0, n = 0; r < rows; ++r) {
      for (int64_t i = index_at(p.compressed, r); i < index_at(p.compressed, r + 1); ++i) {
        const int64_t k = index_at(p.indices, i);
        const auto x = static_cast<Math<T>>(p.values.data_as<T>()[i * p.values.strides()[0]]);
        for (int64_t j = index_at(q.compressed, k); j < index_at(q.compressed, k + 1); ++j) {
          T& sum = sums[index_at(q.indices, j)];
          sum = static_cast<T>(static_cast<Math<T>>(sum) + x * static_cast<Math<T>>(q.values.data_as<T>()[j * q.values.strides()[0]]));
        }
      }
      for (const int64_t c : of_row[static_cast<size_t>(r)]) {
        plain.data_as<int64_t>()[n] = c;
        values.data_as<T>()[n++] = static_cast<T>(product<T>(as<Math<T>>(alpha), sums[c]));
        sums[c] = T{};
      }
    }
  });
  const Tensor product = made_of_lines(Layout::SparseCsr, begins, plain, values, SizeVector{rows, columns});
  const bool alone = beta.value.to_double() == 0 || sparse_of(self).values.size(0) == 0;
  const Tensor sum = alone ? product : ops::add_Tensor::call(product, self, beta);
  set_compressed(out, sparse_of(sum).compressed, sparse_of(sum).indices, sparse_of(sum).values, sum.sizes());
  return out;
}

}  // namespace

Tensor mm_compressed(const Tensor& self, const Tensor& mat2) {
  if (layout_of(self) == Layout::SparseCsc && !mat2.impl().sparse) return mm_compressed(ops::to_sparse_csr::call(self), mat2);
  const bool both = is_compressed(self) && is_compressed(mat2);
  const Tensor& like = is_compressed(self) ? mat2 : self;
  const Tensor zeros = ops::zeros::call(SizeVector{self.size(0), mat2.size(1)}, like.dtype(), both ? Layout::SparseCsr : Layout::Strided, like.device());
  return ops::addmm::call(zeros, self, mat2, 0.0, 1.0);
}
Tensor addmm_compressed(const Tensor& self, const Tensor& mat1, const Tensor& mat2, const Scalar& beta, const Scalar& alpha) {
  Tensor out = ops::empty_memory_format::call(SizeVector{0, 0}, self.dtype(), layout_of(self), self.device());
  return ops::addmm_out::call(self, mat1, mat2, beta, alpha, out);
}
Tensor& addmm_out_compressed(const Tensor& self, const Tensor& mat1, const Tensor& mat2, const Scalar& beta, const Scalar& alpha, Tensor& out) {
  if (mat1.dim() != 2 || mat2.dim() != 2 || mat1.size(1) != mat2.size(0)) {
    throw Error("mat1 and mat2 shapes cannot be multiplied (" + std::to_string(mat1.size(0)) + "x" + std::to_string(mat1.size(1)) + " and " + std::to_string(mat2.size(0)) + "x" +
                std::to_string(mat2.size(-1)) + ")");
  }
  if (is_compressed(mat1) && is_compressed(mat2)) return lines_times_lines(self, mat1, mat2, beta, alpha, out);
  if (is_coo(mat1) || is_coo(mat2) || self.impl().sparse) {
    throw NotImplemented("The embedded engine has no addmm with a compressed tensor in this place yet; the program can be run on stock PyTorch (--engine pytorch).");
  }
  const SizeVector shape{mat1.size(0), mat2.size(1)};
  const Tensor start = std::ranges::equal(self.sizes(), shape) ? self : ops::expand::call(self, shape);
  if (!out.is_same(self)) {
    reshape_out(out, shape);
    ops::copy_::call(out, start);
  }
  if (ops::_nnz::call(is_compressed(mat1) ? mat1 : mat2) == 0) {
    if (beta.value.to_double() == 0) return ops::zero_::call(out);
    return ops::mul__Scalar::call(out, beta);
  }
  if (!is_compressed(mat1)) return dense_times_lines(mat1, mat2, beta, alpha, out);
  const Tensor left = in_rows(mat1);
  const Lines l = lines_of(left);
  with_any_type(out.dtype(), "addmm_sparse_csr", [&]<class T>(T) { add_lines<T>(out, left, l, mat2, as<Math<T>>(alpha), as<Math<T>>(beta)); });
  return out;
}
Tensor& addmv_compressed_(Tensor& self, const Tensor& mat, const Tensor& vec, const Scalar& beta, const Scalar& alpha) {
  if (mat.dim() != 2 || vec.dim() != 1 || mat.size(1) != vec.size(0) || mat.size(0) != self.size(0)) {
    throw Error("size mismatch, got input (" + std::to_string(self.size(0)) + "), mat (" + std::to_string(mat.size(0)) + "x" + std::to_string(mat.size(1)) + "), vec (" +
                std::to_string(vec.numel()) + ")");
  }
  return ops::addmv_out::call(self, mat, vec, beta, alpha, self);
}
Tensor& addmv_out_compressed(const Tensor& self, const Tensor& mat_, const Tensor& vec, const Scalar& beta, const Scalar& alpha, Tensor& out) {
  const Tensor mat = in_rows(mat_);
  if (beta.value.to_double() != 0 && !out.is_same(self)) ops::copy_::call(out, self);
  if (ops::_nnz::call(mat) == 0) {
    if (beta.value.to_double() == 0) return ops::zero_::call(out);
    return ops::mul__Scalar::call(out, beta);
  }
  const Lines l = lines_of(mat);
  with_any_type(out.dtype(), "addmv_sparse_csr", [&]<class T>(T) { add_lines<T>(out, mat, l, vec, as<Math<T>>(alpha), as<Math<T>>(beta)); });
  return out;
}

}  // namespace peel::kernels
