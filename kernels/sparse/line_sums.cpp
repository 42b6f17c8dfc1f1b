// Sums of compressed tensors with each other and with dense ones.
#include <algorithm>
#include <map>

#include "core/dispatch/error.h"
#include "kernels/cpu/elementwise.h"
#include "kernels/sparse/coordinates.h"
#include "ops_generated/kernels.h"
#include "ops_generated/ops.h"

namespace peel::kernels {

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

namespace {

struct Lines32 {
  Tensor begins, columns, values;
};
Lines32 narrow_lines_of(const Tensor& t, ScalarType type) {
  const Tensor begins = ops::crow_indices::call(t), columns = ops::col_indices::call(t), values = ops::values::call(t);
  const auto narrow = [](const Tensor& part) { return part.dtype() == ScalarType::Int ? part : ops::to_dtype::call(part, ScalarType::Int); };
  const Tensor b = narrow(begins), c = narrow(columns);
  return {b, c, values.dtype() == type ? values : ops::to_dtype::call(values, type)};
}

// Line by line, in the order of the columns. In the meantime the result has 32-bit indices, as the library of stock wants them.
Tensor& add_lines(const Tensor& self, const Tensor& other, const Scalar& alpha, Tensor& out) {
  plain_of(self);
  compressed_of(self);
  ops::dense_dim::call(self);
  ops::values::call(self);
  SparseParts& p = sparse_of(out);
  const int64_t rows = self.size(0);
  if (!std::ranges::equal(out.sizes(), self.sizes())) {
    set_compressed(out, core::empty(SizeVector{rows + 1}, ScalarType::Long), core::empty(SizeVector{0}, ScalarType::Long), core::empty(SizeVector{0}, out.dtype()), self.sizes());
  }
  ops::_nnz::call(self);
  ops::_nnz::call(other);
  for (int i = 0; i < 3; ++i) ops::crow_indices::call(out);
  ops::col_indices::call(out);
  ops::values::call(out);
  const Tensor wide_columns = p.indices, wide_begins = p.compressed;
  p.indices = ops::to_dtype::call(ops::col_indices::call(out), ScalarType::Int);
  p.compressed = ops::to_dtype::call(ops::crow_indices::call(out), ScalarType::Int);
  const Lines32 a = narrow_lines_of(self, out.dtype()), b = narrow_lines_of(other, out.dtype());
  with_any_type(out.dtype(), "add_out_sparse_csr", [&]<class T>(T) {
    std::map<int64_t, Math<T>> row;
    std::vector<int32_t> begins{0}, columns;
    std::vector<Math<T>> sums;
    const auto value = [](const Tensor& t, int64_t i) { return static_cast<Math<T>>(t.data_as<T>()[i * t.strides()[0]]); };
    for (int64_t r = 0; r < rows; ++r) {
      row.clear();
      for (int64_t i = index_at(a.begins, r); i < index_at(a.begins, r + 1); ++i) row[index_at(a.columns, i)] += value(a.values, i);
      for (int64_t i = index_at(b.begins, r); i < index_at(b.begins, r + 1); ++i) {
        Math<T>& sum = row[index_at(b.columns, i)];
        sum = static_cast<Math<T>>(sum + as<Math<T>>(alpha) * value(b.values, i));
      }
      for (const auto& [column, sum] : row) {
        columns.push_back(static_cast<int32_t>(column));
        sums.push_back(sum);
      }
      begins.push_back(static_cast<int32_t>(columns.size()));
    }
    const auto n = static_cast<int64_t>(columns.size());
    Tensor values = ops::values::call(out);
    ops::resize_::call(values, SizeVector{n});
    Tensor to_columns = ops::col_indices::call(out);
    ops::resize_::call(to_columns, SizeVector{n});
    const Tensor to_begins = ops::crow_indices::call(out);
    std::ranges::copy(begins, to_begins.data_as<int32_t>());
    std::ranges::copy(columns, to_columns.data_as<int32_t>());
    for (int64_t i = 0; i < n; ++i) values.template data_as<T>()[i] = static_cast<T>(sums[static_cast<size_t>(i)]);
    set_compressed(out, to_begins, to_columns, values, self.sizes());
  });
  ops::crow_indices::call(out);
  ops::col_indices::call(out);
  ops::values::call(out);
  ops::_nnz::call(out);
  ops::values::call(out);
  if (wide_columns.dtype() == ScalarType::Int) return out;
  Tensor columns = wide_columns, begins = wide_begins;
  ops::resize_::call(columns, p.indices.sizes());
  ops::copy_::call(columns, ops::col_indices::call(out));
  ops::copy_::call(begins, ops::crow_indices::call(out));
  p.indices = columns;
  p.compressed = begins;
  return out;
}

}  // namespace

Tensor& add_out_compressed(const Tensor& self, const Tensor& other, const Scalar& alpha, Tensor& out) {
  if (!std::ranges::equal(self.sizes(), other.sizes())) {
    throw Error("torch.add: Expected input tensors to have the same shape, but got tensor `self` with shape " + to_text(self.sizes()) + " and tensor `other` with shape " + to_text(other.sizes()));
  }
  if (layout_of(self) != layout_of(other)) throw Error("torch.add: Expected both tensors to have the same layout");
  if (sparse_of(self).values.dim() != 1) throw NotImplemented("The embedded engine has no sums of blocks yet; the program can be run on stock PyTorch (--engine pytorch).");
  if (out.is_same(self) && self.is_same(other)) {
    Tensor to = ops::values::call(out);
    ops::add__Tensor::call(to, ops::values::call(other), alpha);
    return out;
  }
  if (self.is_same(other)) {
    const Tensor plain = plain_of(self), compressed = compressed_of(self);
    const Tensor y = ops::values::call(other), x = ops::values::call(self);
    const Tensor sum = ops::add_Tensor::call(x, y, alpha);
    set_compressed(out, compressed, plain, sum, self.sizes());
    return out;
  }
  return add_lines(self, other, alpha, out);
}

}  // namespace peel::kernels
