// A tensor seen as rows: what a reduction, a scan or a sort works along lies together.
#pragma once
#include <utility>

#include "kernels/cpu/elementwise.h"

namespace peel::kernels {

/// Which dimensions are named; none: all of them. Errors as stock's for a dimension that is no dimension or named twice.
std::vector<bool> named_dims(std::optional<Sizes> dims, int64_t count);
inline std::vector<bool> named_dims(int64_t dim, int64_t count) { return named_dims(Sizes(&dim, 1), count); }
/// Of a reduction over these dimensions.
SizeVector reduced_shape(Sizes sizes, const std::vector<bool>& gone, bool keepdim);
/// The same memory with the named dimensions last. No call.
Tensor moved_last(const Tensor&, const std::vector<bool>& named);

struct Rows {
  Tensor data;  // row-major, the rows' elements without gaps; of the tensor itself when it lies so
  int64_t count, length;
};
/// Rows run over the named dimensions; their order is that of the others.
Rows rows_of(const Tensor&, const std::vector<bool>& named);
/// Memory for results of `rows`, and its elements into `out` as rows_of has it.
Rows rows_like(const Tensor& out, const std::vector<bool>& named);
void put_rows(const Tensor& out, const std::vector<bool>& named, const Rows&);

/// A reduction's result, as stock's iterator looks at it: with the dimensions that went (a call of as_strided unless keepdim).
Tensor with_all_dims(const Tensor& result, Sizes sizes, const std::vector<bool>& gone, bool keepdim);
/// One value a row into such a look at the result.
void put_reduced(const Tensor& all_dims, const std::vector<bool>& gone, const Tensor& values);
/// A call when the tensor is not row-major already.
Tensor made_contiguous(const Tensor&);

/// All elements of a tensor of indices, in order.
std::vector<int64_t> whole_numbers_of(const Tensor&);

}  // namespace peel::kernels
