#include "kernels/cpu/rows.h"

#include <algorithm>

#include "ops_generated/ops.h"

namespace peel::kernels {

std::vector<bool> named_dims(std::optional<Sizes> dims, int64_t count) {
  std::vector<bool> out(static_cast<size_t>(count), !dims || dims->empty());
  std::vector<bool> seen(static_cast<size_t>(std::max<int64_t>(count, 1)));
  for (const int64_t d : dims.value_or(Sizes())) {
    const auto at = static_cast<size_t>(wrap_dimension(d, count));
    if (seen[at]) throw Error("dim " + std::to_string(at) + " appears multiple times in the list of dims");
    seen[at] = true;
    if (count > 0) out[at] = true;
  }
  return out;
}

SizeVector reduced_shape(Sizes sizes, const std::vector<bool>& gone, bool keepdim) {
  SizeVector out;
  for (size_t d = 0; d < sizes.size(); ++d) {
    if (!gone[d]) out.push_back(sizes[d]);
    else if (keepdim) out.push_back(1);
  }
  return out;
}

Tensor moved_last(const Tensor& t, const std::vector<bool>& named) {
  SizeVector sizes, strides;
  for (const bool last : {false, true}) {
    for (size_t d = 0; d < named.size(); ++d) {
      if (named[d] != last) continue;
      sizes.push_back(t.sizes()[d]);
      strides.push_back(t.strides()[d]);
    }
  }
  return view_of(t, sizes, strides, t.storage_offset());
}

namespace {

Rows shaped(const Tensor& moved, const std::vector<bool>& named, Tensor data) {
  int64_t length = 1;
  const size_t kept = static_cast<size_t>(std::ranges::count(named, false));
  for (size_t d = kept; d < named.size(); ++d) length *= moved.sizes()[d];
  int64_t count = 1;
  for (size_t d = 0; d < kept; ++d) count *= moved.sizes()[d];
  return {std::move(data), count, length};
}

}  // namespace

Rows rows_of(const Tensor& t, const std::vector<bool>& named) {
  const Tensor moved = moved_last(t, named);
  if (moved.is_contiguous()) return shaped(moved, named, moved);
  const Tensor data = empty(moved.sizes(), t.dtype(), t.device());
  copy_elements(data, moved);
  return shaped(moved, named, data);
}
Rows rows_like(const Tensor& out, const std::vector<bool>& named) {
  const Tensor moved = moved_last(out, named);
  return shaped(moved, named, moved.is_contiguous() ? moved : empty(moved.sizes(), out.dtype(), out.device()));
}
void put_rows(const Tensor& out, const std::vector<bool>& named, const Rows& rows) {
  const Tensor moved = moved_last(out, named);
  if (rows.data.data() != moved.data()) copy_elements(moved, rows.data);
}

Tensor with_all_dims(const Tensor& result, Sizes sizes, const std::vector<bool>& gone, bool keepdim) {
  if (keepdim) return result;
  SizeVector shape, strides;
  size_t at = 0;
  for (size_t d = 0; d < gone.size(); ++d) {
    shape.push_back(gone[d] ? 1 : sizes[d]);
    strides.push_back(gone[d] ? 0 : result.strides()[at]);
    at += !gone[d];
  }
  return ops::as_strided::call(result, shape, strides);
}

void put_reduced(const Tensor& all_dims, const std::vector<bool>& gone, const Tensor& values) {
  const Tensor moved = moved_last(all_dims, gone);
  copy_elements(moved, view_of(values, moved.sizes(), contiguous_strides(moved.sizes()), values.storage_offset()));
}

Tensor made_contiguous(const Tensor& t) { return t.is_contiguous() ? t : ops::contiguous::call(t); }

}  // namespace peel::kernels
