// Sums, products and functions of tensors of coordinates, with each other, with dense ones and with numbers.
#include <algorithm>

#include "core/dispatch/error.h"
#include "core/tensor/promotion.h"
#include "kernels/cpu/elementwise.h"
#include "kernels/cpu/rows.h"
#include "kernels/sparse/coordinates.h"
#include "ops_generated/kernels.h"
#include "ops_generated/ops.h"

namespace peel::kernels {
namespace {

ScalarType common_type(const Tensor& a, const Tensor& b) {
  const Operand both[] = {as_operand(a), as_operand(b)};
  return core::result_type(both);
}

Tensor empty_like_self(const Tensor& self, ScalarType type) { return ops::empty_memory_format::call(SizeVector{0}, type, layout_of(self), self.device()); }

// Coordinate `i` of both, first dimension first: below 0 where `a` comes before `b`.
int order(const Tensor& a, int64_t i, const Tensor& b, int64_t j) {
  for (int64_t d = 0; d < a.size(0); ++d) {
    const int64_t x = a.data_as<int64_t>()[d * a.strides()[0] + i * a.strides()[1]], y = b.data_as<int64_t>()[d * b.strides()[0] + j * b.strides()[1]];
    if (x != y) return x < y ? -1 : 1;
  }
  return 0;
}
void copy_coordinate(const Tensor& to, int64_t i, const Tensor& from, int64_t j) {
  for (int64_t d = 0; d < to.size(0); ++d) to.data_as<int64_t>()[d * to.strides()[0] + i * to.strides()[1]] = from.data_as<int64_t>()[d * from.strides()[0] + j * from.strides()[1]];
}

void require_same_density(const Tensor& a, const Tensor& b) {
  const int64_t ai = ops::sparse_dim::call(a), bi = ops::sparse_dim::call(b);
  bool same = ai == bi;
  int64_t ad = 0, bd = 0;
  if (same) {
    ad = ops::dense_dim::call(a);
    bd = ops::dense_dim::call(b);
    same = ad == bd;
  }
  if (same) return;
  throw Error("add: expected 'self' and 'other' to have same density, but 'self' has " + std::to_string(sparse_of(a).sparse_dim) + " sparse dimensions while 'other' has " +
              std::to_string(sparse_of(b).sparse_dim) + " sparse dimensions");
}

// Both in the order of their coordinates: merged, as stock does it also where they aren't coalesced.
Tensor& add_sparse_sparse(Tensor& r, const Tensor& a, const Tensor& b, const Scalar& alpha, ScalarType common) {
  ops::_values::call(b);
  ops::_values::call(a);
  const int64_t an = ops::_nnz::call(a), bn = ops::_nnz::call(b);
  const bool coalesced = ops::is_coalesced::call(a) && ops::is_coalesced::call(b);
  ops::sparse_dim::call(b);
  const ScalarType index_type = ops::_indices::call(a).dtype();
  const Tensor indices = ops::empty_memory_format::call(SizeVector{ops::sparse_dim::call(b), an + bn}, index_type, Layout::Strided, a.device());
  const Tensor av = ops::to_dtype::call(ops::_values::call(a), common), bv = ops::to_dtype::call(ops::_values::call(b), common);
  SizeVector size(bv.sizes().begin(), bv.sizes().end());
  size[0] = an + bn;
  Tensor values = ops::empty_memory_format::call(size, common, Layout::Strided, a.device());
  ops::zero_::call(values);
  const Tensor ai = ops::_indices::call(a), bi = ops::_indices::call(b);
  const int64_t block = an + bn ? values.numel() / (an + bn) : 0;
  int64_t n = 0;
  with_any_type(common, "cadd_sparse", [&]<class T>(T) {
    const auto by = as<Math<T>>(alpha);
    T* to = values.data_as<T>();
    for (int64_t i = 0, j = 0; i < an || j < bn; ++n) {
      const int before = i >= an ? 1 : j >= bn ? -1 : order(ai, i, bi, j);
      T* out = to + n * block;
      if (before <= 0) {
        copy_coordinate(indices, n, ai, i);
        for (int64_t k = 0; k < block; ++k) out[k] = static_cast<T>(static_cast<Math<T>>(out[k]) + static_cast<Math<T>>(av.data_as<T>()[i * block + k]));
        ++i;
      }
      if (before >= 0) {
        copy_coordinate(indices, n, bi, j);
        for (int64_t k = 0; k < block; ++k) out[k] = static_cast<T>(static_cast<Math<T>>(out[k]) + by * static_cast<Math<T>>(bv.data_as<T>()[j * block + k]));
        ++j;
      }
    }
  });
  if (r.dtype() != common) values = ops::to_dtype::call(values, r.dtype());
  set_parts(r, indices, values);
  narrow_parts(r, n);
  return ops::_coalesced_::call(r, coalesced);
}

Tensor& add_dense_sparse(Tensor& r, const Tensor& dense, const Tensor& sparse, const Scalar& alpha) {
  if (!std::ranges::equal(dense.sizes(), sparse.sizes())) {
    throw Error("add: expected 'self' and 'other' to have same size, but self has size " + to_text(dense.sizes()) + " while other has size " + to_text(sparse.sizes()) +
                " (FYI: dense-sparse addition does not currently support broadcasting)");
  }
  const ScalarType common = common_type(dense, sparse);
  if (!core::can_cast(common, r.dtype())) throw Error(std::string("result type ") + to_string(common) + " can't be cast to the desired output type " + to_string(r.dtype()));
  ops::resize_as_::call(r, dense);
  const int64_t nnz = ops::_nnz::call(sparse);
  if (nnz == 0) {
    if (!r.is_same(dense)) ops::copy_::call(r, dense);
    return r;
  }
  ops::sparse_dim::call(sparse);
  Tensor result = r;
  if (r.dtype() != common) result = ops::to_dtype::call(dense, common);
  else if (!r.is_same(dense)) ops::copy_::call(result, dense);
  const Tensor values = ops::_values::call(sparse);
  ops::is_coalesced::call(sparse);
  if (nnz > 0) {
    const Tensor indices = ops::_indices::call(sparse), in = made_contiguous(ops::to_dtype::call(values, common));
    const int64_t sparse_dim = ops::sparse_dim::call(sparse);
    ops::_nnz::call(sparse);
    const auto dims = static_cast<size_t>(sparse_dim);
    const int64_t block = in.numel() / nnz;
    with_any_type(common, "add_dense_sparse", [&]<class T>(T) {
      const auto by = as<Math<T>>(alpha);
      Walk<1> inner(SizeVector(result.sizes().begin() + sparse_dim, result.sizes().end()));
      for (int64_t i = 0; i < nnz; ++i) {
        T* at = result.data_as<T>();
        for (size_t d = 0; d < dims; ++d) at += result.strides()[d] * indices.data_as<int64_t>()[static_cast<int64_t>(d) * indices.strides()[0] + i * indices.strides()[1]];
        const T* from = in.data_as<T>() + i * block;
        for (int64_t k = 0; k < block; ++k) {
          int64_t rest = k, offset = 0;
          for (size_t d = result.sizes().size(); d-- > dims;) {
            offset += rest % result.sizes()[d] * result.strides()[d];
            rest /= result.sizes()[d];
          }
          at[offset] = static_cast<T>(static_cast<Math<T>>(at[offset]) + by * static_cast<Math<T>>(from[k]));
        }
      }
    });
  }
  if (r.dtype() != common) ops::copy_::call(r, result);
  return r;
}

Tensor& scaled_into(Tensor& r, const Tensor& t, const Tensor& number, bool divide, std::optional<std::string_view> rounding = {}) {
  const bool coalesced = sparse_of(t).coalesced;
  if (divide && r.is_same(t)) {
    Tensor values = ops::_values::call(r);
    ops::div__Tensor_mode::call(values, number, rounding);
    return r;
  }
  if (!r.is_same(t)) {
    ops::resize_as_::call(r, t);
    Tensor indices = ops::_indices::call(r);
    ops::resize_as_::call(indices, ops::_indices::call(t));
    ops::copy_::call(indices, ops::_indices::call(t));
  }
  Tensor values = ops::_values::call(r);
  const Tensor from = ops::_values::call(t);
  if (divide) ops::div_out_mode::call(from, number, rounding, values);
  else ops::mul_out::call(from, number, values);
  SparseParts& p = sparse_of(r);
  p.values = values;
  narrow_parts(r, ops::_nnz::call(t));
  ops::is_coalesced::call(t);
  return ops::_coalesced_::call(r, coalesced);
}

// Each coordinate of `r` once, its values summed up, in its own memory.
void take_coalesced(Tensor& r, const Tensor& summed) {
  const auto sized = [&](Tensor (*part)(const Tensor&)) {
    Tensor to = part(r);
    ops::resize_as_::call(to, part(summed));
  };
  const auto copied = [&](Tensor (*part)(const Tensor&)) {
    Tensor to = part(r);
    ops::copy_::call(to, part(summed));
  };
  sized(&ops::_values::call);
  sized(&ops::_indices::call);
  copied(&ops::_values::call);
  copied(&ops::_indices::call);
  ops::_coalesced_::call(r, true);
}

Tensor& floor_divided_into(Tensor& r, const Tensor& t, const Tensor& number) {
  ops::resize_as_::call(r, t);
  Tensor indices = ops::_indices::call(r);
  ops::resize_as_::call(indices, ops::_indices::call(t));
  ops::_indices::call(r);
  ops::copy_::call(indices, ops::_indices::call(t));
  Tensor values = ops::_values::call(r);
  ops::floor_divide_out::call(ops::_values::call(t), number, values);
  sparse_of(r).values = values;
  narrow_parts(r, ops::_nnz::call(t));
  return ops::_coalesced_::call(r, ops::is_coalesced::call(t));
}

Tensor& mul_dense_sparse(Tensor& r, const Tensor& dense, const Tensor& sparse) {
  const SizeVector shape = broadcast(dense.sizes(), sparse.sizes());
  ops::_nnz::call(sparse);
  const int64_t sparse_dim = ops::sparse_dim::call(sparse), dense_dim = ops::dense_dim::call(sparse);
  const Tensor indices = ops::_indices::call(sparse), values = ops::_values::call(sparse);
  if (!std::ranges::equal(shape, sparse.sizes())) throw Error("mul(sparse, dense): the dense factor has a larger shape, " + to_text(dense.sizes()) + ", than the sparse one, " + to_text(sparse.sizes()));
  Tensor factor = dense;
  if (dense.dim() > dense_dim) {
    // A factor with fewer dimensions has the last ones.
    const int64_t first = static_cast<int64_t>(shape.size()) - dense.dim();
    std::vector<std::optional<Tensor>> at;
    for (int64_t d = first; d < sparse_dim; ++d) at.emplace_back(ops::select_int::call(indices, 0, d));
    factor = ops::index_Tensor::call(ops::expand::call(dense, SizeVector(shape.begin() + first, shape.end())), at);
  }
  const Tensor new_indices = ops::clone::call(indices);
  const Tensor product = ops::mul_Tensor::call(factor, values);
  const bool in_place = r.is_same(sparse) && product.dtype() == r.dtype();
  SparseParts& p = sparse_of(r);
  r.impl().sizes = SizeVector(shape);
  r.impl().strides = contiguous_strides(shape);
  p.sparse_dim = sparse_dim;
  p.dense_dim = dense_dim;
  set_parts(r, new_indices, in_place ? product : ops::to_dtype::call(product, r.dtype()));
  narrow_parts(r, ops::_nnz::call(sparse));
  return ops::_coalesced_::call(r, ops::is_coalesced::call(sparse));
}

Tensor& mul_sparse_sparse(Tensor& r, const Tensor& a_, const Tensor& b_) {
  if (a_.dim() != b_.dim() || !std::ranges::equal(a_.sizes(), b_.sizes()) || sparse_of(a_).sparse_dim != sparse_of(b_).sparse_dim) {
    if (a_.dim() == b_.dim() && ops::sparse_dim::call(a_) == ops::sparse_dim::call(b_)) {
      ops::sparse_dim::call(b_);
      ops::sparse_dim::call(a_);
    }
    throw Error("sparse_binary_op_intersection_cpu(): expects sparse inputs with equal dimensionality, number of sparse dimensions, and shape of sparse dimensions");
  }
  if (ops::_nnz::call(b_) == 0 || ops::_nnz::call(a_) == 0) {
    ops::resize_as_::call(r, b_);
    return ops::zero_::call(r);
  }
  const ScalarType common = common_type(a_, b_);
  if (!ops::is_coalesced::call(a_) || !ops::is_coalesced::call(b_)) return product_at_coordinates(r, a_, b_, common);
  const Tensor a = ops::coalesce::call(a_), b = ops::coalesce::call(b_);
  const int64_t an = ops::_nnz::call(a), bn = ops::_nnz::call(b), sparse_dim = ops::sparse_dim::call(b);
  const Tensor ai = ops::_indices::call(a), bi = ops::_indices::call(b);
  const Tensor indices = ops::empty_memory_format::call(SizeVector{sparse_dim, std::min(an, bn)}, ai.dtype(), Layout::Strided, a.device());
  const Tensor av = made_contiguous(ops::to_dtype::call(ops::_values::call(a), common)), bv = made_contiguous(ops::to_dtype::call(ops::_values::call(b), common));
  SizeVector size(av.sizes().begin(), av.sizes().end());
  size[0] = std::min(an, bn);
  Tensor values = ops::empty_memory_format::call(size, common, Layout::Strided, a.device());
  ops::zero_::call(values);
  const int64_t block = av.numel() / an;
  const bool of_blocks = av.dim() > 1;
  int64_t n = 0;
  with_any_type(common, "mul_sparse", [&]<class T>(T) {
    for (int64_t i = 0, j = 0; i < an && j < bn;) {
      const int before = order(ai, i, bi, j);
      if (before == 0) {
        copy_coordinate(indices, n, ai, i);
        if (of_blocks) {
          Tensor to = ops::select_int::call(values, 0, n);
          const Tensor x = ops::select_int::call(av, 0, i), y = ops::select_int::call(bv, 0, j);
          ops::addcmul_::call(to, x, y);
        }
        for (int64_t k = 0; !of_blocks && k < block; ++k) {
          values.data_as<T>()[n * block + k] = static_cast<T>(static_cast<Math<T>>(av.data_as<T>()[i * block + k]) * static_cast<Math<T>>(bv.data_as<T>()[j * block + k]));
        }
        ++n;
      }
      i += before <= 0;
      j += before >= 0;
    }
  });
  ops::resize_as_::call(r, b_);
  set_parts(r, indices, ops::to_dtype::call(values, r.dtype()));
  narrow_parts(r, n);
  return ops::_coalesced_::call(r, true);
}

}  // namespace

namespace {

Scalar negative(const Scalar& s) { return s.value.tag() == IValue::Tag::kInt ? Scalar(-s.value.to_int()) : Scalar(-s.value.to_double()); }

void refuse_sparse_and_dense(const Tensor& self, const Tensor& other) {
  if (is_coo(self) && !is_coo(other)) throw Error("add(sparse, dense) is not supported. Use add(dense, sparse) instead.");
}

}  // namespace

Tensor& add_out_sparse(const Tensor& self, const Tensor& other, const Scalar& alpha, Tensor& out) {
  if (!is_coo(self)) return add_dense_sparse(out, self, other, alpha);
  refuse_sparse_and_dense(self, other);
  if (!std::ranges::equal(self.sizes(), other.sizes())) {
    throw Error("add: expected sizes of 'self' and 'other' to match, but " + to_text(self.sizes()) + " != " + to_text(other.sizes()));
  }
  const ScalarType common = common_type(self, other);
  if (ops::_nnz::call(other) == 0) return ops::copy_sparse_to_sparse_::call(out, self);
  if (ops::_nnz::call(self) == 0) return scaled_into(out, other, wrapped(alpha), false);
  require_same_density(self, other);
  ops::resize_as_::call(out, other);
  return add_sparse_sparse(out, self, other, alpha, common);
}
Tensor add_sparse(const Tensor& self, const Tensor& other, const Scalar& alpha) {
  refuse_sparse_and_dense(self, other);
  const ScalarType common = ops::result_type_Tensor::call(self, other);
  Tensor out = empty_like_self(self, common);
  return ops::add_out::call(self, other, alpha, out);
}
Tensor& add_sparse_(Tensor& self, const Tensor& other, const Scalar& alpha) { return ops::add_out::call(self, other, alpha, self); }
Tensor sub_sparse(const Tensor& self, const Tensor& other, const Scalar& alpha) {
  refuse_sparse_and_dense(self, other);
  const ScalarType common = ops::result_type_Tensor::call(self, other);
  Tensor out = empty_like_self(self, common);
  return ops::add_out::call(self, other, negative(alpha), out);
}
Tensor& sub_sparse_(Tensor& self, const Tensor& other, const Scalar& alpha) { return ops::add_out::call(self, other, negative(alpha), self); }
Tensor& sub_out_sparse(const Tensor& self, const Tensor& other, const Scalar& alpha, Tensor& out) { return ops::add_out::call(self, other, negative(alpha), out); }

Tensor& mul_out_sparse(const Tensor& self, const Tensor& other, Tensor& out) {
  if (!is_coo(other)) return mul_dense_sparse(out, other, self);
  if (!is_coo(self)) return mul_dense_sparse(out, self, other);
  return mul_sparse_sparse(out, self, other);
}
Tensor mul_sparse(const Tensor& self, const Tensor& other) {
  const ScalarType common = ops::result_type_Tensor::call(self, other);
  Tensor out = ops::empty_memory_format::call(SizeVector{0}, common, Layout::Sparse, self.device());
  return ops::mul_out::call(self, other, out);
}
Tensor& mul_sparse_(Tensor& self, const Tensor& other) {
  if (is_coo(self)) return ops::mul_out::call(self, other, self);
  const Tensor product = ops::mul_Tensor::call(self, other);
  ops::zero_::call(self);
  return ops::add__Tensor::call(self, product);
}

Tensor& div_out_sparse(const Tensor& self, const Tensor& other, std::optional<std::string_view> rounding, Tensor& out) {
  if (other.dim() != 0) throw Error("Sparse division requires a scalar or zero-dim dense tensor divisor (got shape " + to_text(other.sizes()) + " for divisor)");
  if (is_coo(other)) throw Error("Sparse division requires a scalar or zero-dim dense tensor divisor");
  // What is rounded has to be summed up first.
  if (!rounding || ops::is_coalesced::call(self)) return scaled_into(out, self, other, true, rounding);
  const Tensor summed = ops::coalesce::call(self);
  if (!out.is_same(self)) return scaled_into(out, summed, other, true, rounding);
  take_coalesced(out, summed);
  return scaled_into(out, out, other, true, rounding);
}
Tensor floor_divide_sparse(const Tensor& self, const Tensor& other) {
  const ScalarType common = ops::result_type_Tensor::call(self, other);
  Tensor out = ops::empty_memory_format::call(SizeVector{0}, common, Layout::Sparse, self.device());
  if (other.dim() != 0) throw Error("Sparse floor division requires a scalar or zero-dim dense tensor divisor (got shape " + to_text(other.sizes()) + " for divisor)");
  return floor_divided_into(out, ops::is_coalesced::call(self) ? self : ops::coalesce::call(self), other);
}
Tensor& div_out_sparse(const Tensor& self, const Tensor& other, Tensor& out) { return div_out_sparse(self, other, {}, out); }
Tensor div_sparse(const Tensor& self, const Tensor& other, std::optional<std::string_view> rounding) {
  ScalarType common = ops::result_type_Tensor::call(self, other);
  if (!is_floating(common) && !is_complex(common) && !rounding) common = default_dtype();
  Tensor out = ops::empty_memory_format::call(SizeVector{0}, common, Layout::Sparse, self.device());
  return div_out_sparse(self, other, rounding, out);
}
Tensor div_sparse(const Tensor& self, const Tensor& other) { return div_sparse(self, other, {}); }
Tensor& div_sparse_(Tensor& self, const Tensor& other, std::optional<std::string_view> rounding) { return div_out_sparse(self, other, rounding, self); }
Tensor& div_sparse_(Tensor& self, const Tensor& other) { return div_out_sparse(self, other, {}, self); }

Tensor neg_sparse(const Tensor& self) {
  Tensor out = ops::empty_like::call(self);
  ops::copy_sparse_to_sparse_::call(out, self);
  Tensor values = ops::_values::call(out);
  ops::neg_::call(values);
  return out;
}
Tensor& neg_out_sparse(const Tensor& self, Tensor& out) {
  ops::copy_sparse_to_sparse_::call(out, self);
  Tensor values = ops::_values::call(out);
  ops::neg_::call(values);
  return out;
}
Tensor& neg_sparse_(Tensor& self) { return neg_out_sparse(self, self); }
Tensor pow_sparse(const Tensor& self, const Scalar& exponent) {
  Tensor out = ops::empty_memory_format::call(SizeVector{0}, self.dtype(), Layout::Sparse, self.device());
  if (exponent.value.to_double() == 0) throw Error("pow: cannot raise to zeroth power on sparse tensor; it would make the result tensor dense");
  const Tensor t = ops::coalesce::call(self);
  ops::resize_as_::call(out, t);
  Tensor indices = ops::_indices::call(out);
  ops::resize_as_::call(indices, ops::_indices::call(t));
  ops::copy_::call(indices, ops::_indices::call(t));
  Tensor values = ops::_values::call(out);
  ops::pow_Tensor_Scalar_out::call(ops::_values::call(t), exponent, values);
  sparse_of(out).values = values;
  narrow_parts(out, ops::_nnz::call(t));
  return ops::_coalesced_::call(out, ops::is_coalesced::call(t));
}

}  // namespace peel::kernels
