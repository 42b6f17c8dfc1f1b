// Tensors of compressed rows or columns: made, taken apart, multiplied, and to and from the other layouts.
#include "core/dispatch/error.h"
#include "kernels/cpu/elementwise.h"
#include "kernels/sparse/coordinates.h"
#include "ops_generated/kernels.h"
#include "ops_generated/ops.h"

namespace peel::kernels {
namespace {

bool by_rows(Layout l) { return l == Layout::SparseCsr || l == Layout::SparseBsr; }

Tensor compressed_of(const Tensor& t) { return by_rows(layout_of(t)) ? ops::crow_indices::call(t) : ops::ccol_indices::call(t); }
Tensor plain_of(const Tensor& t) { return by_rows(layout_of(t)) ? ops::col_indices::call(t) : ops::row_indices::call(t); }

void set_compressed(const Tensor& t, const Tensor& compressed, const Tensor& plain, const Tensor& values, Sizes size) {
  SparseParts& p = sparse_of(t);
  p.compressed = compressed;
  p.indices = plain;
  p.values = values;
  p.dense_dim = values.dim() - 1;
  t.impl().sizes.assign(size.begin(), size.end());
  t.impl().strides = contiguous_strides(t.impl().sizes);
}

// Without a call, as a constructor of stock's does it.
Tensor made(Layout layout, const Tensor& compressed, const Tensor& plain, const Tensor& values, Sizes size) {
  const Tensor t = new_compressed(layout, values.dtype());
  const auto own = [](const Tensor& part) { return Tensor(Ref<KeyedObject>(part.impl().detached(part.impl().version))); };
  set_compressed(t, own(compressed), own(plain), own(values), size);
  return t;
}
Tensor unsafe(Layout layout, const Tensor& compressed, const Tensor& plain, const Tensor& values, Sizes size) {
  return ops::_sparse_compressed_tensor_unsafe::call(compressed, plain, values, size, values.dtype(), layout, values.device());
}

void require_plain(const Tensor& t) {
  if (t.dim() != 2 || sparse_of(t).dense_dim != 0) {
    throw NotImplemented("The embedded engine has no batches of compressed tensors yet; the program can be run on stock PyTorch (--engine pytorch).");
  }
}

int64_t at(const Tensor& t, int64_t i) {
  const int64_t place = i * t.strides()[0];
  return t.dtype() == ScalarType::Int ? t.data_as<int32_t>()[place] : t.data_as<int64_t>()[place];
}

Tensor with_values(const Tensor& self, const Tensor& values) {
  const Tensor plain = plain_of(self), compressed = compressed_of(self);
  const Tensor new_plain = ops::clone::call(plain), new_compressed_ = ops::clone::call(compressed);
  return unsafe(layout_of(self), new_compressed_, new_plain, values, self.sizes());
}

}  // namespace

Tensor sparse_compressed_tensor(const Tensor& compressed, const Tensor& plain, const Tensor& values, Sizes size, Type dtype, LayoutArgument layout, DeviceArgument device, Flag pin) {
  if (!layout) throw Error("sparse_compressed_tensor: expected sparse compressed tensor layout but got none");
  return ops::_sparse_compressed_tensor_unsafe::call(compressed, plain, values, size, dtype.value_or(values.dtype()), layout, device, pin);
}
Tensor sparse_compressed_tensor(const Tensor& compressed, const Tensor& plain, const Tensor& values, Type dtype, LayoutArgument layout, DeviceArgument device, Flag pin) {
  if (!layout) throw Error("sparse_compressed_tensor: expected sparse compressed tensor layout but got none");
  const int64_t lines = compressed.size(-1) - 1;
  const Tensor last = plain.numel() > 0 ? ops::max::call(plain) : Tensor();
  const int64_t others = last.defined() ? ops::item::call(last).value.to_int() + 1 : 0;
  const SizeVector size = by_rows(*layout) ? SizeVector{lines, others} : SizeVector{others, lines};
  return ops::_sparse_compressed_tensor_unsafe::call(compressed, plain, values, size, dtype.value_or(values.dtype()), layout, device, pin);
}
Tensor _sparse_compressed_tensor_unsafe(const Tensor& compressed, const Tensor& plain, const Tensor& values, Sizes size, Type dtype, LayoutArgument layout, DeviceArgument, Flag) {
  if (layout != Layout::SparseCsr && layout != Layout::SparseCsc) {
    throw NotImplemented("The embedded engine has no sparse blocks yet; the program can be run on stock PyTorch (--engine pytorch).");
  }
  if (size.size() != 2) throw NotImplemented("The embedded engine has no batches of compressed tensors yet; the program can be run on stock PyTorch (--engine pytorch).");
  const Tensor t = made(*layout, compressed, plain, values, size);
  if (dtype) t.impl().dtype = *dtype;
  return t;
}

int64_t sparse_dim_compressed(const Tensor&) { return 2; }
int64_t dense_dim_compressed(const Tensor& self) { return sparse_of(self).dense_dim; }
int64_t nnz_compressed(const Tensor& self) { return sparse_of(self).indices.size(-1); }
Tensor values_compressed(const Tensor& self) { return ops::alias::call(sparse_of(self).values); }

namespace {

Tensor part(const Tensor& self, const char* name, bool rows, bool compressed) {
  if (by_rows(layout_of(self)) != rows) {
    throw Error(std::string(name) + " expected sparse " + (rows ? "row" : "column") + " compressed tensor layout but got " + to_string(layout_of(self)));
  }
  return ops::alias::call(compressed ? sparse_of(self).compressed : sparse_of(self).indices);
}

}  // namespace

Tensor crow_indices_compressed(const Tensor& self) { return part(self, "crow_indices", true, true); }
Tensor col_indices_compressed(const Tensor& self) { return part(self, "col_indices", true, false); }
Tensor ccol_indices_compressed(const Tensor& self) { return part(self, "ccol_indices", false, true); }
Tensor row_indices_compressed(const Tensor& self) { return part(self, "row_indices", false, false); }

Tensor clone_compressed(const Tensor& self, Format) {
  const Tensor compressed = compressed_of(self), plain = plain_of(self), values = ops::values::call(self);
  const Tensor v = ops::clone::call(values), p = ops::clone::call(plain), c = ops::clone::call(compressed);
  return unsafe(layout_of(self), c, p, v, self.sizes());
}
Tensor transpose_compressed(const Tensor& self, int64_t dim0, int64_t dim1) {
  require_plain(self);
  const Tensor compressed = compressed_of(self), plain = plain_of(self), values = ops::values::call(self);
  if (dim0 == dim1) return unsafe(layout_of(self), compressed, plain, values, self.sizes());
  return unsafe(by_rows(layout_of(self)) ? Layout::SparseCsc : Layout::SparseCsr, compressed, plain, values, SizeVector{self.size(1), self.size(0)});
}
Tensor empty_like_compressed(const Tensor& self, Type dtype, LayoutArgument, DeviceArgument, Flag, Format) {
  const Tensor values = ops::values::call(self);
  const Tensor new_values = ops::empty_memory_format::call(values.sizes(), dtype.value_or(self.dtype()), Layout::Strided, self.device());
  const auto copied = [&](Tensor (*part)(const Tensor&)) {
    const ScalarType type = part(self).dtype();
    return ops::to_device::call(part(self), self.device(), type, false, true);
  };
  const Tensor plain = copied(&plain_of), compressed = copied(&compressed_of);
  return made(layout_of(self), compressed, plain, new_values, self.sizes());
}

Tensor convert_indices_from_coo_to_csr(const Tensor& self, int64_t size, bool out_int32) {
  if (self.dim() > 1) throw Error("Input is supposed to be a vector, but got " + std::to_string(self.dim()) + " dimensional tensor.");
  const Tensor out = core::empty(SizeVector{size + 1}, out_int32 ? ScalarType::Int : ScalarType::Long);
  std::vector<int64_t> counts(static_cast<size_t>(size) + 1);
  for (int64_t i = 0; i < self.numel(); ++i) ++counts[static_cast<size_t>(at(self, i)) + 1];
  int64_t sum = 0;
  for (int64_t i = 0; i <= size; ++i) {
    sum += counts[static_cast<size_t>(i)];
    if (out_int32) out.data_as<int32_t>()[i] = static_cast<int32_t>(sum);
    else out.data_as<int64_t>()[i] = sum;
  }
  return out;
}
Tensor convert_indices_from_csr_to_coo(const Tensor& crow_indices, const Tensor& col_indices, bool out_int32, bool transpose) {
  const int64_t nnz = col_indices.numel();
  const Tensor out = core::empty(SizeVector{2, nnz}, out_int32 ? ScalarType::Int : ScalarType::Long);
  const int64_t line = transpose ? 1 : 0;
  const Tensor lines = ops::select_int::call(out, 0, line);
  Tensor others = ops::select_int::call(out, 0, 1 - line);
  ops::copy_::call(others, ops::view::call(col_indices, SizeVector{-1}));
  for (int64_t r = 0; r + 1 < crow_indices.numel(); ++r) {
    for (int64_t i = at(crow_indices, r); i < at(crow_indices, r + 1); ++i) {
      if (out_int32) lines.data_as<int32_t>()[i] = static_cast<int32_t>(r);
      else lines.data_as<int64_t>()[i] = r;
    }
  }
  return out;
}

Tensor to_dense_compressed(const Tensor& self, Type dtype, Flag) {
  if (dtype) throw Error("dtype argument is not supported by sparse_csr_to_dense");
  require_plain(self);
  const bool rows = by_rows(layout_of(self));
  Tensor compressed = compressed_of(self), plain = plain_of(self);
  compressed_of(self);
  Tensor values = ops::values::call(self);
  Tensor dense = ops::zeros::call(self.sizes(), self.dtype(), Layout::Strided, self.device());
  for (Tensor* t : {&compressed, &plain, &values, &dense}) ops::unsqueeze_::call(*t, 0);
  Tensor flat = ops::reshape::call(dense, SizeVector{self.numel()});
  const int64_t nnz = values.size(1), lines = compressed.size(1) - 1;
  const auto numbered = [&](int64_t times) {
    return ops::repeat_interleave_self_int::call(ops::arange_start::call(0, 1, compressed.dtype(), Layout::Strided, self.device()), times);
  };
  const Tensor batch = numbered(nnz);
  const Tensor begins = ops::mul_Scalar::call(numbered(lines), nnz);
  const Tensor all_but_last = ops::add_Tensor::call(ops::flatten_using_ints::call(ops::slice_Tensor::call(compressed, 1, 0, lines)), begins);
  const Tensor end = ops::mul_Scalar::call(ops::ones::call(SizeVector{1}, compressed.dtype(), Layout::Strided, self.device()), nnz);
  const Tensor both[] = {all_but_last, end};
  const Tensor joined = ops::cat::call(both, 0);
  const Tensor places = ops::_convert_indices_from_csr_to_coo::call(joined, ops::flatten_using_ints::call(plain), false, !rows);
  Tensor row = ops::select_int::call(places, 0, 0), column = ops::select_int::call(places, 0, 1);
  ops::sub__Tensor::call(rows ? row : column, ops::mul_Scalar::call(batch, rows ? self.size(0) : self.size(1)));
  const Tensor before = ops::mul_Scalar::call(ops::mul_Scalar::call(batch, self.size(0)), self.size(1));
  const Tensor offsets = ops::add_Tensor::call(ops::add_Tensor::call(before, ops::mul_Scalar::call(row, self.size(1))), column);
  ops::index_add_::call(flat, 0, offsets, ops::flatten_using_ints::call(values, 0, 1));
  return ops::reshape::call(flat, self.sizes());
}

namespace {

// Of a dense matrix: what isn't zero, line by line.
Tensor compressed_from_dense(const Tensor& self, bool rows) {
  if (self.dim() != 2) throw NotImplemented("The embedded engine has no batches of compressed tensors yet; the program can be run on stock PyTorch (--engine pytorch).");
  const Tensor mask = ops::ne_Scalar::call(self, 0);
  const Tensor found = ops::nonzero::call(rows ? mask : ops::transpose_int::call(mask, 0, 1));
  const Tensor plain = ops::select_int::call(found, 1, 1), lines = ops::select_int::call(found, 1, 0);
  const Tensor compressed = ops::_convert_indices_from_coo_to_csr::call(lines, rows ? self.size(0) : self.size(1), false);
  const auto flat = [rows](const Tensor& t) { return ops::flatten_using_ints::call(rows ? t : ops::transpose_int::call(t, 0, 1)); };
  const Tensor at_mask = flat(mask);
  const Tensor places = ops::view::call(ops::nonzero::call(at_mask), SizeVector{-1});
  const Tensor values = ops::index_select::call(ops::flatten_using_ints::call(rows ? self : ops::transpose_int::call(self, 0, 1), 0, 1), 0, places);
  return unsafe(rows ? Layout::SparseCsr : Layout::SparseCsc, compressed, plain, values, self.sizes());
}
Tensor compressed_from_coo(const Tensor& self, bool rows) {
  const int64_t sparse_dim = ops::sparse_dim::call(self);
  if (sparse_dim != 2) throw Error("Only tensors with two sparse dimensions can be converted to the SparseCsr layout, got " + std::to_string(sparse_dim));
  const Tensor t = ops::coalesce::call(self);
  if (!rows) return compressed_from_dense(ops::to_dense::call(t), false);
  const Tensor lines = ops::select_int::call(ops::indices::call(t), 0, 0);
  const Tensor compressed = ops::_convert_indices_from_coo_to_csr::call(lines, self.size(0), false);
  const Tensor values = ops::values::call(t);
  const Tensor plain = ops::select_int::call(ops::indices::call(t), 0, 1);
  return made(Layout::SparseCsr, compressed, plain, values, self.sizes());
}

}  // namespace

Tensor to_sparse_csr(const Tensor& self, std::optional<int64_t> dense_dim) { return layout_of(self) == Layout::SparseCsr ? self : ops::_to_sparse_csr::call(self, dense_dim); }
Tensor to_sparse_csc(const Tensor& self, std::optional<int64_t> dense_dim) { return layout_of(self) == Layout::SparseCsc ? self : ops::_to_sparse_csc::call(self, dense_dim); }
Tensor dense_to_csr(const Tensor& self, std::optional<int64_t>) { return compressed_from_dense(self, true); }
Tensor dense_to_csc(const Tensor& self, std::optional<int64_t>) { return compressed_from_dense(self, false); }
Tensor coo_to_csr(const Tensor& self, std::optional<int64_t>) { return compressed_from_coo(self, true); }
Tensor coo_to_csc(const Tensor& self, std::optional<int64_t>) { return compressed_from_coo(self, false); }
Tensor compressed_to_csr(const Tensor& self, std::optional<int64_t>) { return compressed_from_dense(ops::to_dense::call(self), true); }
Tensor compressed_to_csc(const Tensor& self, std::optional<int64_t>) { return compressed_from_dense(ops::to_dense::call(self), false); }
Tensor to_sparse_compressed(const Tensor& self, int64_t sparse_dim) {
  if (sparse_dim != 2) throw Error("sparse dim 1 is not supported by sparse_csr_to_dense");
  const bool rows = by_rows(layout_of(self));
  const Tensor plain = plain_of(self), compressed = compressed_of(self);
  const Tensor indices = ops::_convert_indices_from_csr_to_coo::call(compressed, plain, false, !rows);
  const Tensor values = ops::flatten_using_ints::call(ops::values::call(self), 0, 0);
  Tensor out = ops::_sparse_coo_tensor_with_dims_and_tensors::call(2, 0, self.sizes(), indices, values, self.dtype(), Layout::Sparse, self.device());
  return ops::_coalesced_::call(out, rows);
}
Tensor to_sparse_compressed(const Tensor& self, LayoutArgument layout, std::optional<Sizes>, std::optional<int64_t> dense_dim) {
  switch (layout.value_or(Layout::Sparse)) {
    case Layout::Sparse: return to_sparse_compressed(self, 2);
    case Layout::SparseCsr: return ops::to_sparse_csr::call(self, dense_dim);
    case Layout::SparseCsc: return ops::to_sparse_csc::call(self, dense_dim);
    default: throw NotImplemented("The embedded engine has no sparse blocks yet; the program can be run on stock PyTorch (--engine pytorch).");
  }
}

namespace {

struct Lines {
  Tensor compressed, plain, values;
};
// The parts as the library of stock takes them, with 32-bit indices.
Lines lines_of(const Tensor& t) {
  const Tensor compressed = compressed_of(t), plain = plain_of(t), values = ops::values::call(t);
  return {ops::to_dtype::call(compressed, ScalarType::Int), ops::to_dtype::call(plain, ScalarType::Int), values};
}

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
    for (int64_t n = at(l.compressed, i); n < at(l.compressed, i + 1); ++n) {
      const int64_t row = rows ? i : at(l.plain, n), column = rows ? at(l.plain, n) : i;
      const auto by = product<T>(alpha, l.values.data_as<T>()[n * l.values.strides()[0]]);
      for (int64_t k = 0; k < columns; ++k) {
        T& o = out.data_as<T>()[row * r0 + k * r1];
        o = static_cast<T>(static_cast<Math<T>>(o) + by * static_cast<Math<T>>(dense.data_as<T>()[column * dr + k * dc]));
      }
    }
  }
}

}  // namespace

Tensor mm_compressed(const Tensor& self, const Tensor& mat2) {
  if (!is_compressed(self) || mat2.impl().sparse) {
    throw NotImplemented("The embedded engine has no product with a compressed tensor on the right yet; the program can be run on stock PyTorch (--engine pytorch).");
  }
  const Tensor zeros = ops::zeros::call(SizeVector{self.size(0), mat2.size(1)}, mat2.dtype(), Layout::Strided, mat2.device());
  return ops::addmm::call(zeros, self, mat2, 0.0, 1.0);
}
Tensor addmm_compressed(const Tensor& self, const Tensor& mat1, const Tensor& mat2, const Scalar& beta, const Scalar& alpha) {
  Tensor out = ops::empty_memory_format::call(SizeVector{0, 0}, self.dtype(), Layout::Strided, self.device());
  return ops::addmm_out::call(self, mat1, mat2, beta, alpha, out);
}
Tensor& addmm_out_compressed(const Tensor& self, const Tensor& mat1, const Tensor& mat2, const Scalar& beta, const Scalar& alpha, Tensor& out) {
  if (!is_compressed(mat1) || mat2.impl().sparse || self.impl().sparse) {
    throw NotImplemented("The embedded engine has no addmm with a compressed tensor in this place yet; the program can be run on stock PyTorch (--engine pytorch).");
  }
  if (mat1.dim() != 2 || mat2.dim() != 2 || mat1.size(1) != mat2.size(0)) {
    throw Error("mat1 and mat2 shapes cannot be multiplied (" + std::to_string(mat1.size(0)) + "x" + std::to_string(mat1.size(1)) + " and " + std::to_string(mat2.size(0)) + "x" +
                std::to_string(mat2.size(-1)) + ")");
  }
  const SizeVector shape{mat1.size(0), mat2.size(1)};
  const Tensor start = std::ranges::equal(self.sizes(), shape) ? self : ops::expand::call(self, shape);
  if (!out.is_same(self)) {
    reshape_out(out, shape);
    ops::copy_::call(out, start);
  }
  if (ops::_nnz::call(mat1) == 0) {
    if (beta.value.to_double() == 0) return ops::zero_::call(out);
    return ops::mul__Scalar::call(out, beta);
  }
  const Lines l = lines_of(mat1);
  with_any_type(out.dtype(), "addmm_sparse_csr", [&]<class T>(T) { add_lines<T>(out, mat1, l, mat2, as<Math<T>>(alpha), as<Math<T>>(beta)); });
  return out;
}
Tensor& addmv_compressed_(Tensor& self, const Tensor& mat, const Tensor& vec, const Scalar& beta, const Scalar& alpha) {
  if (mat.dim() != 2 || vec.dim() != 1 || mat.size(1) != vec.size(0) || mat.size(0) != self.size(0)) {
    throw Error("size mismatch, got input (" + std::to_string(self.size(0)) + "), mat (" + std::to_string(mat.size(0)) + "x" + std::to_string(mat.size(1)) + "), vec (" +
                std::to_string(vec.numel()) + ")");
  }
  return ops::addmv_out::call(self, mat, vec, beta, alpha, self);
}
Tensor& addmv_out_compressed(const Tensor& self, const Tensor& mat, const Tensor& vec, const Scalar& beta, const Scalar& alpha, Tensor& out) {
  if (beta.value.to_double() != 0 && !out.is_same(self)) ops::copy_::call(out, self);
  if (ops::_nnz::call(mat) == 0) {
    if (beta.value.to_double() == 0) return ops::zero_::call(out);
    return ops::mul__Scalar::call(out, beta);
  }
  const Lines l = lines_of(mat);
  with_any_type(out.dtype(), "addmv_sparse_csr", [&]<class T>(T) { add_lines<T>(out, mat, l, vec, as<Math<T>>(alpha), as<Math<T>>(beta)); });
  return out;
}

Tensor mul_compressed(const Tensor& self, const Tensor& other) {
  const Tensor& sparse = is_compressed(self) ? self : other;
  const Tensor& factor = is_compressed(self) ? other : self;
  if (factor.numel() != 1 || factor.impl().sparse) {
    throw NotImplemented("The embedded engine has no product of a compressed tensor, element by element, yet; the program can be run on stock PyTorch (--engine pytorch).");
  }
  const Tensor number = ops::squeeze::call(factor);
  const Tensor product = ops::mul_Tensor::call(ops::values::call(sparse), number);
  return with_values(sparse, ops::to_dtype::call(product, ops::result_type_Tensor::call(self, other)));
}
Tensor add_compressed(const Tensor& self, const Tensor& other, const Scalar& alpha) {
  const ScalarType common = ops::result_type_Tensor::call(self, other);
  if (!is_compressed(self)) {
    Tensor out = ops::clone::call(self);
    return ops::add__Tensor::call(out, ops::to_dense::call(other), alpha);
  }
  if (!is_compressed(other)) throw Error("torch.add: Expected both tensors to be sparse compressed, but got " + std::string(to_string(layout_of(other))));
  Tensor out = ops::empty_like::call(self, common, layout_of(self), self.device());
  return ops::add_out::call(self, other, alpha, out);
}
Tensor& add_out_compressed(const Tensor& self, const Tensor& other, const Scalar& alpha, Tensor& out) {
  if (!std::ranges::equal(self.sizes(), other.sizes())) {
    throw Error("torch.add: Expected input tensors to have the same shape, but got tensor `self` with shape " + to_text(self.sizes()) + " and tensor `other` with shape " + to_text(other.sizes()));
  }
  if (layout_of(self) != layout_of(other)) throw Error("torch.add: Expected both tensors to have the same layout");
  const SparseParts &a = sparse_of(self), &b = sparse_of(other);
  const auto equal = [](const Tensor& x, const Tensor& y) {
    bool same = x.numel() == y.numel();
    for (int64_t i = 0; same && i < x.numel(); ++i) same = at(x, i) == at(y, i);
    return same;
  };
  if (equal(a.compressed, b.compressed) && equal(a.indices, b.indices)) {
    plain_of(self);
    compressed_of(self);
    const Tensor y = ops::values::call(other), x = ops::values::call(self);
    const Tensor sum = ops::add_Tensor::call(x, y, alpha);
    set_compressed(out, a.compressed, a.indices, sum, self.sizes());
    return out;
  }
  const Tensor sum = ops::add_Tensor::call(ops::to_sparse::call(self), ops::to_sparse::call(other), alpha);
  const Tensor again = by_rows(layout_of(self)) ? ops::to_sparse_csr::call(sum) : ops::to_sparse_csc::call(sum);
  set_compressed(out, sparse_of(again).compressed, sparse_of(again).indices, sparse_of(again).values, self.sizes());
  return out;
}
Tensor neg_compressed(const Tensor& self) { return with_values(self, ops::neg::call(ops::values::call(self))); }
Tensor abs_compressed(const Tensor& self) { return with_values(self, ops::abs::call(ops::values::call(self))); }
Tensor sum_compressed(const Tensor& self, Type dtype) { return ops::sum::call(ops::values::call(self), dtype); }

}  // namespace peel::kernels
