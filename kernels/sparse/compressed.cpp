// Tensors of compressed rows or columns: made, taken apart, multiplied, and to and from the other layouts.
#include "core/dispatch/error.h"
#include "kernels/cpu/elementwise.h"
#include "kernels/sparse/coordinates.h"
#include "ops_generated/kernels.h"
#include "ops_generated/ops.h"

namespace peel::kernels {

bool by_rows(Layout l) { return l == Layout::SparseCsr || l == Layout::SparseBsr; }
Tensor compressed_of(const Tensor& t) { return by_rows(layout_of(t)) ? ops::crow_indices::call(t) : ops::ccol_indices::call(t); }
Tensor plain_of(const Tensor& t) { return by_rows(layout_of(t)) ? ops::col_indices::call(t) : ops::row_indices::call(t); }

void set_compressed(const Tensor& t, const Tensor& compressed, const Tensor& plain, const Tensor& values, Sizes size) {
  SparseParts& p = sparse_of(t);
  p.compressed = compressed;
  p.indices = plain;
  p.values = values;
  p.dense_dim = values.dim() - (p.layout == Layout::SparseBsr || p.layout == Layout::SparseBsc ? 3 : 1);
  t.impl().sizes.assign(size.begin(), size.end());
  t.impl().strides = contiguous_strides(t.impl().sizes);
}

Tensor made_of_lines(Layout layout, const Tensor& compressed, const Tensor& plain, const Tensor& values, Sizes size) {
  const Tensor t = new_compressed(layout, values.dtype());
  const auto own = [](const Tensor& part) { return Tensor(Ref<KeyedObject>(part.impl().detached(part.impl().version))); };
  set_compressed(t, own(compressed), own(plain), own(values), size);
  return t;
}

int64_t index_at(const Tensor& t, int64_t i) {
  const int64_t place = i * t.strides()[0];
  return t.dtype() == ScalarType::Int ? t.data_as<int32_t>()[place] : t.data_as<int64_t>()[place];
}

namespace {

Tensor unsafe(Layout layout, const Tensor& compressed, const Tensor& plain, const Tensor& values, Sizes size) {
  return ops::_sparse_compressed_tensor_unsafe::call(compressed, plain, values, size, values.dtype(), layout, values.device());
}

void require_plain(const Tensor& t) {
  if (t.dim() != 2 || sparse_of(t).dense_dim != 0) {
    throw NotImplemented("The embedded engine has no batches of compressed tensors yet; the program can be run on stock PyTorch (--engine pytorch).");
  }
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
  if (!layout || *layout == Layout::Strided || *layout == Layout::Sparse) throw Error("sparse_compressed_tensor: expected sparse compressed tensor layout");
  if (size.size() != 2) throw NotImplemented("The embedded engine has no batches of compressed tensors yet; the program can be run on stock PyTorch (--engine pytorch).");
  const Tensor t = made_of_lines(*layout, compressed, plain, values, size);
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
  return made_of_lines(layout_of(self), compressed, plain, new_values, self.sizes());
}

Tensor convert_indices_from_coo_to_csr(const Tensor& self, int64_t size, bool out_int32) {
  if (self.dim() > 1) throw Error("Input is supposed to be a vector, but got " + std::to_string(self.dim()) + " dimensional tensor.");
  const Tensor out = core::empty(SizeVector{size + 1}, out_int32 ? ScalarType::Int : ScalarType::Long);
  std::vector<int64_t> counts(static_cast<size_t>(size) + 1);
  for (int64_t i = 0; i < self.numel(); ++i) ++counts[static_cast<size_t>(index_at(self, i)) + 1];
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
    for (int64_t i = index_at(crow_indices, r); i < index_at(crow_indices, r + 1); ++i) {
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
  const bool blocks = values.dim() == 4;
  const int64_t height = blocks ? values.size(2) : 1, width = blocks ? values.size(3) : 1, of_rows = self.size(0) / height, of_columns = self.size(1) / width;
  Tensor flat = ops::reshape::call(dense, blocks ? SizeVector{of_rows * of_columns, height, width} : SizeVector{self.numel()});
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
  ops::sub__Tensor::call(rows ? row : column, ops::mul_Scalar::call(batch, rows ? of_rows : of_columns));
  const Tensor before = ops::mul_Scalar::call(ops::mul_Scalar::call(batch, of_rows), of_columns);
  const Tensor offsets = ops::add_Tensor::call(ops::add_Tensor::call(before, ops::mul_Scalar::call(row, of_columns)), column);
  ops::index_add_::call(flat, 0, offsets, ops::flatten_using_ints::call(values, 0, 1));
  if (blocks) flat = ops::transpose_int::call(ops::unflatten_int::call(flat, 0, SizeVector{-1, of_rows, of_columns}), 2, 3);
  return ops::reshape::call(flat, self.sizes());
}

namespace {

Tensor compressed_from_dense(const Tensor& self, bool rows) {
  if (self.dim() != 2) throw NotImplemented("The embedded engine has no batches of compressed tensors yet; the program can be run on stock PyTorch (--engine pytorch).");
  return compressed_from_mask(self, ops::ne_Scalar::call(self, 0), rows);
}
Tensor compressed_from_coo(const Tensor& self, bool rows) {
  const int64_t sparse_dim = ops::sparse_dim::call(self);
  if (sparse_dim != 2) {
    throw Error(std::string("coo_to_sparse_") + (rows ? "csr" : "csc") + ": conversion from Sparse to " + (rows ? "SparseCsr" : "SparseCsc") + " for input tensors with sparse_dim()!=2 is not supported");
  }
  if (!rows) {  // rows of what is turned
    const Tensor turned = ops::to_sparse_csr::call(ops::transpose_int::call(self, 0, 1));
    const Tensor values = ops::values::call(turned), plain = ops::col_indices::call(turned), compressed = ops::crow_indices::call(turned);
    return made_of_lines(Layout::SparseCsc, compressed, plain, values, self.sizes());
  }
  const Tensor t = ops::coalesce::call(self);
  const Tensor lines = ops::select_int::call(ops::indices::call(t), 0, 0);
  const Tensor compressed = ops::_convert_indices_from_coo_to_csr::call(lines, self.size(0), false);
  const Tensor values = ops::values::call(t);
  const Tensor plain = ops::select_int::call(ops::indices::call(t), 0, 1);
  return made_of_lines(Layout::SparseCsr, compressed, plain, values, self.sizes());
}

}  // namespace

Tensor compressed_from_mask(const Tensor& self, const Tensor& mask, bool rows) {
  const Tensor found = ops::nonzero::call(rows ? mask : ops::transpose_int::call(mask, 1, 0));
  const Tensor plain = ops::select_int::call(found, 1, 1), lines = ops::select_int::call(found, 1, 0);
  const Tensor compressed = ops::_convert_indices_from_coo_to_csr::call(lines, rows ? self.size(0) : self.size(1), false);
  const auto flat = [rows](const Tensor& t) { return ops::flatten_using_ints::call(rows ? t : ops::transpose_int::call(t, 0, 1)); };
  const Tensor at_mask = flat(mask);
  const Tensor places = ops::view::call(ops::nonzero::call(at_mask), SizeVector{-1});
  const Tensor values = ops::index_select::call(ops::flatten_using_ints::call(rows ? self : ops::transpose_int::call(self, 0, 1), 0, 1), 0, places);
  return unsafe(rows ? Layout::SparseCsr : Layout::SparseCsc, compressed, plain, values, self.sizes());
}
namespace {

// Columns of rows, or rows of columns: sorted by the other index, by the calls of stock, which does batches of them.
Tensor flipped(const Tensor& self, const char* name) {
  if (layout_of(self) != Layout::SparseCsr && layout_of(self) != Layout::SparseCsc) {
    throw Error(std::string("sparse_compressed_to_sparse_") + name + ": expected SparseCsr or SparseCsc layout but got " + to_string(layout_of(self)));
  }
  require_plain(self);
  const bool rows = by_rows(layout_of(self));
  Tensor plain = plain_of(self), compressed = compressed_of(self), values = ops::values::call(self);
  for (Tensor* t : {&compressed, &plain, &values}) ops::unsqueeze_::call(*t, 0);
  const int64_t nnz = values.size(1), lines = compressed.size(1) - 1, others = self.size(rows ? 1 : 0);
  const auto whole = [](int64_t n) { return ops::empty_memory_format::call(SizeVector{n}, ScalarType::Long, Layout::Strided, Device()); };
  const Tensor batch = whole(1);
  *batch.data_as<int64_t>() = nnz;
  const Tensor sizes = ops::expand::call(batch, SizeVector{1});
  Tensor before = ops::cumsum::call(sizes, -1);
  ops::sub__Tensor::call(before, batch);
  before = ops::reshape::call(before, SizeVector{1});
  const Tensor begins = ops::slice_Tensor::call(compressed, -1, 0, -1, 1);
  const Tensor shifted = ops::reshape::call(ops::add_Tensor::call(begins, ops::expand_as::call(ops::unsqueeze::call(before, -1), begins)), SizeVector{-1});
  const Tensor all = whole(lines + 1);
  Tensor first = ops::slice_Tensor::call(all, -1, 0, -1, 1);
  ops::copy_::call(first, shifted);
  Tensor last = ops::slice_Tensor::call(all, -1, -1, {}, 1);
  ops::fill__Scalar::call(last, nnz);
  const Tensor flat_plain = ops::flatten_using_ints::call(plain, 0, 1), flat_values = ops::flatten_using_ints::call(values, 0, 1);
  const Tensor places = ops::_convert_indices_from_csr_to_coo::call(all, flat_plain, false, true);
  Tensor line = ops::select_int::call(places, 0, 1);
  const Tensor other = ops::select_int::call(places, 0, 0);
  const Tensor number = ops::div_Scalar_mode::call(line, lines, "trunc");
  ops::fmod__Scalar::call(line, lines);
  Tensor offset = ops::mul_Scalar::call(number, others);
  ops::add__Tensor::call(offset, other);
  ops::arange::call(nnz, ScalarType::Long, Layout::Strided, Device());
  const auto [sorted, order] = ops::sort::call(offset, -1, false);
  const Tensor in_order = ops::index_select::call(places, 1, order);
  ops::select_int::call(in_order, 0, 0);
  const Tensor new_plain = ops::select_int::call(in_order, 0, 1);
  const Tensor new_values = ops::index_select::call(flat_values, 0, order);
  const Tensor ends = ops::_convert_indices_from_coo_to_csr::call(sorted, others, false);
  const Tensor new_compressed_ = ops::zeros::call(SizeVector{1, others + 1}, ScalarType::Long, Layout::Strided, Device());
  const Tensor tops = ops::reshape::call(ops::slice_Tensor::call(ends, 0, 1, {}, 1), SizeVector{1, -1});
  const Tensor starts = ops::reshape::call(ops::slice_Tensor::call(ends, 0, 0, -1, others), SizeVector{1, -1});
  Tensor to = ops::narrow::call(new_compressed_, -1, 1, others);
  ops::copy_::call(to, ops::sub_Tensor::call(tops, starts));
  Tensor c = ops::unflatten_int::call(new_compressed_, 0, SizeVector{1}), p = ops::unflatten_int::call(new_plain, 0, SizeVector{1, -1}), v = ops::unflatten_int::call(new_values, 0, SizeVector{1, -1});
  for (Tensor* t : {&c, &p, &v}) ops::squeeze__dim::call(*t, 0);
  return unsafe(rows ? Layout::SparseCsc : Layout::SparseCsr, c, p, v, self.sizes());
}

}  // namespace

Tensor to_sparse_csr(const Tensor& self, std::optional<int64_t> dense_dim) { return layout_of(self) == Layout::SparseCsr ? self : ops::_to_sparse_csr::call(self, dense_dim); }
Tensor to_sparse_csc(const Tensor& self, std::optional<int64_t> dense_dim) { return layout_of(self) == Layout::SparseCsc ? self : ops::_to_sparse_csc::call(self, dense_dim); }
Tensor dense_to_csr(const Tensor& self, std::optional<int64_t>) { return compressed_from_dense(self, true); }
Tensor dense_to_csc(const Tensor& self, std::optional<int64_t>) { return compressed_from_dense(self, false); }
Tensor coo_to_csr(const Tensor& self, std::optional<int64_t>) { return compressed_from_coo(self, true); }
Tensor coo_to_csc(const Tensor& self, std::optional<int64_t>) { return compressed_from_coo(self, false); }
Tensor compressed_to_csr(const Tensor& self, std::optional<int64_t>) { return flipped(self, "csr"); }
Tensor compressed_to_csc(const Tensor& self, std::optional<int64_t>) { return flipped(self, "csc"); }
Tensor to_sparse_compressed(const Tensor& self, int64_t sparse_dim) {
  if (sparse_dim != 2) throw Error("sparse dim 1 is not supported by sparse_csr_to_dense");
  const bool rows = by_rows(layout_of(self));
  const Tensor plain = plain_of(self), compressed = compressed_of(self);
  const Tensor indices = ops::_convert_indices_from_csr_to_coo::call(compressed, plain, false, !rows);
  if (!rows) ops::_nnz::call(self);
  const Tensor values = ops::flatten_using_ints::call(ops::values::call(self), 0, 0);
  Tensor out = ops::_sparse_coo_tensor_with_dims_and_tensors::call(2, 0, self.sizes(), indices, values, self.dtype(), Layout::Sparse, self.device());
  return ops::_coalesced_::call(out, rows);
}
Tensor to_sparse_compressed(const Tensor& self, LayoutArgument layout, std::optional<Sizes> blocksize, std::optional<int64_t> dense_dim) {
  switch (layout.value_or(Layout::Sparse)) {
    case Layout::Sparse: return to_sparse_compressed(self, 2);
    case Layout::SparseCsr: return compressed_to_csr(self, dense_dim);
    case Layout::SparseCsc: return compressed_to_csc(self, dense_dim);
    default: return to_blocks(self, *layout, blocksize, dense_dim);
  }
}

namespace {

Tensor multiplied(const Tensor& a, const Tensor& b) {
  const ScalarType common = ops::result_type_Tensor::call(a, b);
  Tensor out = ops::empty_memory_format::call(SizeVector{0, 0}, common, Layout::SparseCsr, a.device());
  return ops::mul_out::call(a, b, out);
}

}  // namespace

Tensor mul_compressed(const Tensor& self, const Tensor& other) {
  const Tensor& sparse = is_compressed(self) ? self : other;
  const Tensor& factor = is_compressed(self) ? other : self;
  if (factor.dim() == 0 && !factor.impl().sparse) {
    const Tensor number = ops::squeeze::call(factor);
    const Tensor product = ops::mul_Tensor::call(ops::values::call(sparse), number);
    return with_values(sparse, ops::to_dtype::call(product, ops::result_type_Tensor::call(self, other)));
  }
  if (!factor.impl().sparse) {  // at the places of the sparse one alone
    const Tensor there = ops::sparse_mask::call(factor, sparse);
    return is_compressed(self) ? multiplied(self, there) : multiplied(there, other);
  }
  return multiplied(self, other);
}
Tensor sum_compressed(const Tensor& self, Type dtype) { return ops::sum::call(ops::values::call(self), dtype); }

}  // namespace peel::kernels
