// Compressed tensors written in place, looked into, masked, summed, and products that are wanted at their places alone.
#include <algorithm>

#include "core/dispatch/error.h"
#include "core/tensor/promotion.h"
#include "kernels/cpu/elementwise.h"
#include "kernels/cpu/rows.h"
#include "kernels/sparse/coordinates.h"
#include "ops_generated/kernels.h"
#include "ops_generated/ops.h"

namespace peel::kernels {

Tensor empty_compressed(Sizes size, Type dtype, LayoutArgument layout, DeviceArgument device, Flag pin, Format) {
  if (size.size() < 2) throw Error("torch.empty: Only batched sparse compressed (non-block) tensors are supported, but got size " + to_text(size));
  if (size.size() > 2) throw NotImplemented("The embedded engine has no batches of compressed tensors yet; the program can be run on stock PyTorch (--engine pytorch).");
  const Layout l = layout.value_or(Layout::SparseCsr);
  const auto part = [&](int64_t n, ScalarType type) { return ops::empty_memory_format::call(SizeVector{n}, type, Layout::Strided, device.value_or(Device()), pin); };
  const Tensor compressed = part(size[by_rows(l) ? 0 : 1] + 1, ScalarType::Long), plain = part(0, ScalarType::Long);
  const Tensor values = part(0, dtype.value_or(default_dtype()));
  std::fill_n(compressed.data_as<int64_t>(), compressed.numel(), 0);
  return ops::_sparse_compressed_tensor_unsafe::call(compressed, plain, values, size, values.dtype(), l, values.device(), pin);
}

Tensor& copy_compressed_(Tensor& self, const Tensor& src, bool) {
  if (layout_of(self) != layout_of(src)) {
    throw Error(std::string("copy of sparse compressed tensors having different layouts is not supported. self layout is ") + to_string(layout_of(self)) + " and src layout is " + to_string(layout_of(src)));
  }
  if (!std::ranges::equal(self.sizes(), src.sizes())) throw Error("torch.copy_: only sparse compressed tensors with the same shape can be copied");
  if (ops::_nnz::call(self) != ops::_nnz::call(src)) throw Error("torch.copy_: only sparse compressed tensors with the same number of specified elements are supported.");
  const auto copied = [](const Tensor& from, Tensor to) { ops::copy_::call(to, from); };
  {
    const Tensor from = compressed_of(src);
    copied(from, compressed_of(self));
  }
  {
    const Tensor from = plain_of(src);
    copied(from, plain_of(self));
  }
  const Tensor from = ops::values::call(src);
  copied(from, ops::values::call(self));
  return self;
}
Tensor& resize_as_compressed_(Tensor& self, const Tensor& src) {
  if (!is_compressed(src) || layout_of(self) != layout_of(src)) throw Error("resize_as_sparse_compressed_: self and src must have the same layout");
  SparseParts& p = sparse_of(self);
  const Tensor plain = plain_of(src), compressed = compressed_of(src);
  ops::resize_as_::call(p.compressed, compressed);
  ops::resize_as_::call(p.indices, plain);
  ops::copy_::call(p.compressed, compressed);
  ops::copy_::call(p.indices, plain);
  Tensor values = ops::values::call(self);
  ops::resize_as_::call(values, ops::values::call(src));
  set_compressed(self, p.compressed, p.indices, values, src.sizes());
  return self;
}
Tensor& zero_compressed_(Tensor& self) {
  ops::dense_dim::call(self);
  ops::sparse_dim::call(self);
  SparseParts& p = sparse_of(self);
  SizeVector size(p.values.sizes().begin(), p.values.sizes().end());
  size[0] = 0;
  p.compressed = p.compressed.dtype() == ScalarType::Long ? p.compressed : ops::to_dtype::call(p.compressed, ScalarType::Long);
  ops::resize_::call(p.compressed, SizeVector{self.size(by_rows(p.layout) ? 0 : 1) + 1});
  ops::zero_::call(p.compressed);
  ops::resize_::call(p.indices, SizeVector{0});
  ops::resize_::call(p.values, size);
  return self;
}
Tensor& fill_compressed_(Tensor& self, const Scalar& value) {
  Tensor values = ops::values::call(self);
  ops::fill__Scalar::call(values, value);
  return self;
}

Tensor to_copy_compressed(const Tensor& self, Type dtype, DeviceArgument device, bool non_blocking) {
  const ScalarType t = dtype.value_or(self.dtype());
  const Device d = device.value_or(self.device());
  const auto copied = [&](const Tensor& part, ScalarType type) { return ops::_to_copy::call(part, type, Layout::Strided, d, {}, non_blocking, {}); };
  const Tensor plain = plain_of(self), compressed = compressed_of(self);
  const Tensor values = copied(ops::values::call(self), t);
  const Tensor c = copied(compressed, compressed.dtype()), p = copied(plain, plain.dtype());
  return ops::_sparse_compressed_tensor_unsafe::call(c, p, values, self.sizes(), t, layout_of(self), d);
}

Tensor& add_compressed_(Tensor& self, const Tensor& other, const Scalar& alpha) { return ops::add_out::call(self, other, alpha, self); }
Tensor& mul_out_compressed(const Tensor& self, const Tensor& other, Tensor& out) {
  if (!is_compressed(self) || !is_compressed(other) || layout_of(out) != Layout::SparseCsr || layout_of(self) != Layout::SparseCsr) throw Error("Expected result Tensor to be of format CSR");
  const Tensor a = ops::to_sparse::call(self), b = ops::to_sparse::call(other);
  const Tensor product = ops::mul_Tensor::call(a, b);
  const Tensor again = by_rows(layout_of(out)) ? ops::to_sparse_csr::call(product) : ops::to_sparse_csc::call(product);
  ops::resize_as_sparse_::call(out, again);
  return ops::copy_::call(out, again);
}
Tensor& mul_compressed_(Tensor& self, const Tensor& other) {
  if (other.dim() == 0 && !other.impl().sparse) {
    Tensor values = ops::values::call(self);
    ops::mul__Tensor::call(values, ops::squeeze::call(other));
    return self;
  }
  return ops::mul_out::call(self, other, self);
}
Tensor mul_compressed(const Tensor& self, const Scalar& other) {
  const Tensor values = ops::mul_Scalar::call(ops::values::call(self), other);
  const Tensor plain = ops::clone::call(plain_of(self)), compressed = ops::clone::call(compressed_of(self));
  return made_of_lines(layout_of(self), compressed, plain, values, self.sizes());
}
Tensor& mul_compressed_(Tensor& self, const Scalar& other) {
  Tensor values = ops::values::call(self);
  ops::mul__Scalar::call(values, other);
  return self;
}

namespace {

int64_t number(const Tensor& t, int64_t i) { return ops::item::call(ops::select_int::call(t, 0, i)).value.to_int(); }
Tensor on_cpu(const Tensor& t) { return ops::to_dtype_layout::call(t, t.dtype(), Layout::Strided, Device(), {}, false, false, {}); }

struct Stretch {
  int64_t from, to, step;
};
// Places in rising order as a slice, where they are evenly apart.
std::optional<Stretch> stretch_of(const Tensor& places) {
  const int64_t n = places.numel();
  if (n == 0) return Stretch{0, 0, 1};
  if (n == 1) {
    const int64_t at = number(places, 0);
    return Stretch{at, at + 1, 1};
  }
  const Tensor ends = on_cpu(ops::slice_Tensor::call(places, 0, 0, n, n - 1));
  const int64_t first = number(ends, 0), last = number(ends, 1);
  if (last - first == n - 1) return Stretch{first, last + 1, 1};
  const Tensor later = ops::slice_Tensor::call(places, 0, 1, {}, 1), earlier = ops::slice_Tensor::call(places, 0, 0, n - 1, 1);
  const Tensor steps = ops::sub_Tensor::call(later, earlier), step = ops::select_int::call(steps, 0, 0);
  const Tensor even = ops::all::call(ops::eq_Tensor::call(steps, step));
  if (!ops::item::call(even).value.to_bool()) return {};
  return Stretch{first, last + 1, ops::item::call(step).value.to_int()};
}

Tensor row_as_coordinates(const Tensor& self, const Tensor& plain, const Tensor& values, SizeVector size) {
  ops::values::call(self);
  const Tensor indices = ops::to_dtype::call(ops::unsqueeze::call(plain, 0), ScalarType::Long);
  Tensor out = ops::_sparse_coo_tensor_unsafe::call(indices, values, size);
  return ops::_coalesced_::call(out, true);
}

}  // namespace

Tensor select_compressed(const Tensor& self, int64_t dim_, int64_t index_) {
  if (self.dim() == 0) throw IndexError("select() cannot be applied to a 0-dim tensor.");
  const int64_t dim = wrap_dimension(dim_, self.dim()), size = self.size(dim);
  if (index_ < -size || index_ >= size) {
    throw IndexError("select(): index " + std::to_string(index_) + " out of range for tensor of size " + to_text(self.sizes()) + " at dimension " + std::to_string(dim));
  }
  const int64_t index = index_ < 0 ? index_ + size : index_;
  const bool rows = by_rows(layout_of(self));
  const Tensor plain = plain_of(self), compressed = compressed_of(self);
  const SizeVector left{self.size(1 - dim)};
  if (rows == (dim == 0)) {  // a whole line
    const Tensor ends = on_cpu(ops::narrow::call(compressed, 0, index, 2));
    const int64_t from = number(ends, 0), to = number(ends, 1);
    const Tensor line = ops::slice_Tensor::call(plain, 0, from, to, 1);
    const Tensor values = ops::slice_Tensor::call(ops::values::call(self), 0, from, to, 1);
    return row_as_coordinates(self, line, values, left);
  }
  const Tensor places = ops::_convert_indices_from_csr_to_coo::call(compressed, plain, false, false);
  const Tensor lines = ops::select_int::call(places, 0, 0);
  const Tensor found = ops::where::call(ops::eq_Scalar::call(plain, index))[0];
  const std::optional<Stretch> s = stretch_of(found);
  const auto at_found = [&](const Tensor& t) { return s ? ops::slice_Tensor::call(t, 0, s->from, s->to, s->step) : ops::index_select::call(t, 0, found); };
  const Tensor other = at_found(lines), values = at_found(ops::values::call(self));
  if (!s) {
    ops::values::call(self);
    throw Error("select(): no view exists for the given input, consider using torch.select_copy.");
  }
  return row_as_coordinates(self, other, values, left);
}

Tensor sparse_mask_compressed(const Tensor& self, const Tensor& mask) {
  if (!is_compressed(mask)) throw Error(std::string("sparse_mask_sparse_compressed expects mask to have sparse compressed layout, got ") + to_string(layout_of(mask)));
  if (!std::ranges::equal(self.sizes(), mask.sizes())) {
    throw Error("sparse_mask(): operands have incompatible sizes; self has size " + to_text(self.sizes()) + " but mask has size " + to_text(mask.sizes()));
  }
  if (self.is_same(mask)) return self;
  if (ops::_nnz::call(mask) == 0) return ops::to_dtype::call(ops::clone::call(mask), self.dtype());
  if (is_coo(self)) {
    const Tensor masked = ops::sparse_mask::call(self, ops::to_sparse::call(mask));
    return ops::to_sparse::call(masked, layout_of(mask));
  }
  if (is_compressed(self)) {
    const Tensor product = ops::mul_Tensor::call(self, ops::ones_like::call(mask));
    return ops::to_dtype::call(product, self.dtype());
  }
  const bool rows = by_rows(layout_of(mask));
  const Tensor plain = plain_of(mask), compressed = compressed_of(mask);
  const Tensor values = ops::values::call(mask);
  const Tensor ones = ops::expand_as::call(ops::ones::call(SizeVector{1}, ScalarType::Bool, Layout::Strided, self.device()), values);
  const Tensor pattern = ops::to_dense::call(ops::_sparse_compressed_tensor_unsafe::call(compressed, plain, ones, self.sizes(), ScalarType::Bool, layout_of(mask), self.device()));
  ops::dense_dim::call(mask);
  return compressed_from_mask(self, pattern, rows);
}

Tensor sum_dim_compressed(const Tensor& self, std::optional<Sizes> dim, bool keepdim, Type dtype) {
  SizeVector dims(dim ? SizeVector(dim->begin(), dim->end()) : SizeVector());
  if (dims.empty()) dims = {0, 1};
  return ops::_sparse_csr_sum_dim_dtype::call(self, dims, keepdim, dtype);
}
namespace {

// One column: a value for each row that has any.
Tensor sums_of_rows(const Tensor& t) {
  const Tensor begins = ops::crow_indices::call(t), in = made_contiguous(ops::values::call(t));
  const int64_t rows = t.size(0);
  const auto new_part = [&](Sizes size, ScalarType type) { return ops::empty_memory_format::call(size, type, Layout::Strided, t.device()); };
  const Tensor new_begins = new_part(SizeVector{rows + 1}, begins.dtype());
  Tensor columns = new_part(SizeVector{}, begins.dtype());
  new_part(SizeVector{rows}, begins.dtype());
  Tensor sums = new_part(SizeVector{}, t.dtype());
  std::vector<int64_t> filled{0};
  for (int64_t r = 0; r < rows; ++r) filled.push_back(filled.back() + (index_at(begins, r) < index_at(begins, r + 1)));
  for (int64_t r = 0; r <= rows; ++r) {
    if (begins.dtype() == ScalarType::Int) new_begins.data_as<int32_t>()[r] = static_cast<int32_t>(filled[static_cast<size_t>(r)]);
    else new_begins.data_as<int64_t>()[r] = filled[static_cast<size_t>(r)];
  }
  const SizeVector count{filled.back()};
  ops::resize_::call(columns, count);
  ops::fill__Scalar::call(columns, 0);
  for (int i = 0; i < 2; ++i) ops::resize_::call(sums, count);
  with_any_type(t.dtype(), "sparse_csr_sum", [&]<class T>(T) {
    for (int64_t r = 0; r < rows; ++r) {
      Math<T> sum{};
      for (int64_t i = index_at(begins, r); i < index_at(begins, r + 1); ++i) sum = sum + static_cast<Math<T>>(in.data_as<T>()[i]);
      if (filled[static_cast<size_t>(r)] < filled[static_cast<size_t>(r) + 1]) sums.data_as<T>()[filled[static_cast<size_t>(r)]] = static_cast<T>(sum);
    }
  });
  return made_of_lines(layout_of(t), new_begins, columns, sums, SizeVector{rows, 1});
}

}  // namespace

Tensor sum_of_lines(const Tensor& self, Sizes dims, bool keepdim, Type dtype) {
  const ScalarType type = dtype.value_or(is_floating(self.dtype()) || is_complex(self.dtype()) ? self.dtype() : ScalarType::Long);
  const Tensor plain = plain_of(self), compressed = compressed_of(self);
  const Tensor values = ops::to_dtype::call(ops::values::call(self), type);
  const Tensor t = ops::_sparse_compressed_tensor_unsafe::call(compressed, plain, values, self.sizes(), type, layout_of(self), self.device());
  if (!keepdim) throw Error("reduction operations on CSR tensors with keepdim=False is unsupported");
  if (layout_of(self) != Layout::SparseCsr) throw NotImplemented("The embedded engine has no sums of compressed columns by dimension yet; the program can be run on stock PyTorch (--engine pytorch).");
  std::array<bool, 2> gone{};
  for (const int64_t d : dims) gone[static_cast<size_t>(wrap_dimension(d, 2))] = true;
  if (gone[1] && !gone[0]) return sums_of_rows(t);
  const Tensor in = made_contiguous(sparse_of(t).values);
  const int64_t rows = self.size(0), columns = self.size(1), nnz = in.size(0);
  std::vector<int64_t> row(static_cast<size_t>(nnz));
  const Tensor begins = sparse_of(t).compressed, at = sparse_of(t).indices;
  const auto read = [](const Tensor& x, int64_t i) { return x.dtype() == ScalarType::Int ? int64_t{x.data_as<int32_t>()[i]} : x.data_as<int64_t>()[i]; };
  for (int64_t r = 0; r < rows; ++r) {
    for (int64_t i = read(begins, r); i < read(begins, r + 1); ++i) row[static_cast<size_t>(i)] = r;
  }
  // One result for each place that some value falls on.
  std::vector<int64_t> place(static_cast<size_t>(nnz)), kept;
  for (int64_t i = 0; i < nnz; ++i) place[static_cast<size_t>(i)] = (gone[0] ? 0 : row[static_cast<size_t>(i)]) * columns + (gone[1] ? 0 : read(at, i));
  kept = place;
  std::ranges::sort(kept);
  kept.erase(std::unique(kept.begin(), kept.end()), kept.end());
  const auto n = static_cast<int64_t>(kept.size()), lines = gone[0] ? int64_t{1} : rows;
  const auto whole = [](int64_t size) { return ops::empty_memory_format::call(SizeVector{size}, ScalarType::Long, Layout::Strided, Device()); };
  const Tensor new_begins = whole(lines + 1), new_at = whole(n);
  const Tensor out = ops::empty_memory_format::call(SizeVector{n}, type, Layout::Strided, self.device());
  std::fill_n(new_begins.data_as<int64_t>(), lines + 1, 0);
  for (int64_t i = 0; i < n; ++i) {
    new_at.data_as<int64_t>()[i] = kept[static_cast<size_t>(i)] % columns;
    ++new_begins.data_as<int64_t>()[kept[static_cast<size_t>(i)] / columns + 1];
  }
  for (int64_t r = 0; r < lines; ++r) new_begins.data_as<int64_t>()[r + 1] += new_begins.data_as<int64_t>()[r];
  with_any_type(type, "sparse_csr_sum", [&]<class T>(T) {
    std::vector<Math<T>> sums(static_cast<size_t>(n));
    for (int64_t i = 0; i < nnz; ++i) {
      const auto k = std::ranges::lower_bound(kept, place[static_cast<size_t>(i)]) - kept.begin();
      sums[static_cast<size_t>(k)] = sums[static_cast<size_t>(k)] + static_cast<Math<T>>(in.data_as<T>()[i]);
    }
    for (int64_t i = 0; i < n; ++i) out.data_as<T>()[i] = static_cast<T>(sums[static_cast<size_t>(i)]);
  });
  return made_of_lines(layout_of(self), new_begins, new_at, out, SizeVector{lines, gone[1] ? 1 : columns});
}

Tensor sampled_addmm(const Tensor& self, const Tensor& mat1, const Tensor& mat2, const Scalar& beta, const Scalar& alpha) {
  Tensor out = ops::empty_memory_format::call(SizeVector{0, 0}, self.dtype(), layout_of(self), self.device());
  return sampled_addmm_out(self, mat1, mat2, beta, alpha, out);
}
Tensor& sampled_addmm_out(const Tensor& self, const Tensor& mat1, const Tensor& mat2, const Scalar& beta, const Scalar& alpha, Tensor& out) {
  const auto product_sizes = [&] { return std::to_string(mat1.size(-2)) + "x" + std::to_string(mat1.size(-1)) + " and " + std::to_string(mat2.size(-2)) + "x" + std::to_string(mat2.size(-1)); };
  if (layout_of(self) != Layout::SparseCsr) throw Error("sampled_addmm: Expected self to be a sparse CSR tensor");
  if (mat1.impl().sparse || mat2.impl().sparse) throw Error(std::string("sampled_addmm: Expected mat1 and mat2 to have strided layout"));
  const bool elsewhere = !out.is_same(self);
  if (elsewhere) {
    ops::dense_dim::call(self);
    ops::dense_dim::call(out);
  }
  if (mat1.dim() < 2 || mat2.dim() < 2) throw Error("sampled_addmm: Expected mat1 and mat2 to be matrices");
  if (mat1.size(-1) != mat2.size(-2)) throw Error("sampled_addmm: mat1 and mat2 shapes cannot be multiplied (" + product_sizes() + ")");
  if (self.size(-2) != mat1.size(-2)) throw Error("sampled_addmm: self.shape[-2] must match mat1.shape[-2]");
  if (self.size(-1) != mat2.size(-1)) throw Error("sampled_addmm: self.shape[-1] must match mat2.shape[-1]");
  if (elsewhere) {
    const int64_t nnz = ops::_nnz::call(self);
    SparseParts& p = sparse_of(out);
    ops::resize_::call(p.compressed, SizeVector{self.size(0) + 1});
    Tensor rest = ops::narrow::call(p.compressed, -1, 1, self.size(0));
    ops::fill__Scalar::call(rest, nnz);
    ops::resize_::call(p.indices, SizeVector{nnz});
    ops::resize_::call(p.values, SizeVector{nnz});
    set_compressed(out, p.compressed, p.indices, p.values, self.sizes());
    ops::copy_::call(out, self);
  }
  if (mat1.numel() == 0 || mat2.numel() == 0) return ops::mul__Scalar::call(out, beta);
  ops::_nnz::call(self);
  const Tensor right = made_contiguous(ops::transpose_int::call(mat2, -1, -2));
  compressed_of(out);
  const int64_t nnz = ops::_nnz::call(out);
  const auto flat = [](const Tensor& t) { return ops::reshape::call(t, SizeVector{-1, t.size(-1)}); };
  const Tensor values = flat(ops::values::call(out)), begins = flat(compressed_of(out)), columns = flat(plain_of(out));
  const Tensor left = mat1.is_contiguous() ? mat1 : ops::contiguous::call(mat1);
  const int64_t inner = mat1.size(-1);
  const auto read = [](const Tensor& x, int64_t i) { return x.dtype() == ScalarType::Int ? int64_t{x.data_as<int32_t>()[i]} : x.data_as<int64_t>()[i]; };
  with_floating(out.dtype(), "sampled_addmm_sparse_csr", [&]<class T>(T) {
    using M = Math<T>;
    int64_t r = 0;
    for (int64_t i = 0; i < nnz; ++i) {
      while (i >= read(begins, r + 1)) ++r;
      const T *a = left.data_as<T>() + r * inner, *b = right.data_as<T>() + read(columns, i) * inner;
      M sum = 0;
      for (int64_t k = 0; k < inner; ++k) sum += static_cast<M>(a[k]) * static_cast<M>(b[k]);
      T& v = values.data_as<T>()[i];
      v = static_cast<T>(as<M>(alpha) * sum + as<M>(beta) * static_cast<M>(v));
    }
  });
  return out;
}

}  // namespace peel::kernels
