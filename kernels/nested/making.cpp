// Nested tensors made of lists, masks and padded tensors, and padded again.
#include <algorithm>
#include <cstring>

#include "core/autograd/fallback.h"
#include "core/dispatch/error.h"
#include "kernels/cpu/elementwise.h"
#include "kernels/nested/nested.h"
#include "ops_generated/kernels.h"
#include "ops_generated/ops.h"

namespace peel::kernels {

void nested_missing(const char* what) {
  throw NotImplemented(std::string("The embedded engine has no ") + what + " of nested tensors yet; the program can be run on stock PyTorch (--engine pytorch).");
}

Sizes row_of(const Tensor& rows, int64_t i) { return {rows.data_as<int64_t>() + i * rows.size(1), static_cast<size_t>(rows.size(1))}; }

namespace {

// Said once.
void warn_of_prototype() {
  static bool said = false;
  if (std::exchange(said, true)) return;
  warn("The PyTorch API of nested tensors is in prototype stage and will change in the near future. We recommend specifying layout=torch.jagged when constructing a nested tensor, as "
       "this layout receives active development, has better operator coverage, and works with torch.compile. ");
}

}  // namespace

Tensor wrap_buffer(const Tensor& buffer, const Tensor& sizes) {
  warn_of_prototype();
  if (sizes.dim() < 2) return nested_over(buffer, {sizes, sizes, ops::empty_memory_format::call(SizeVector{0}, ScalarType::Long, Layout::Strided, Device())});
  const int64_t n = sizes.size(0);
  const Tensor offsets = ops::empty_memory_format::call(SizeVector{n}, ScalarType::Long, Layout::Strided, Device());
  const Tensor strides = ops::new_empty::call(sizes, sizes.sizes());
  int64_t at = 0;
  for (int64_t i = 0; i < n; ++i) {
    const Sizes size = row_of(sizes, i);
    const SizeVector usual = contiguous_strides(size);
    std::ranges::copy(usual, strides.data_as<int64_t>() + i * sizes.size(1));
    offsets.data_as<int64_t>()[i] = at;
    at += element_count(size);
  }
  return nested_over(buffer, {sizes, strides, offsets});
}

SizeVector largest_sizes(const Tensor& sizes) {
  SizeVector out(sizes.dim() == 2 ? static_cast<size_t>(sizes.size(1)) : 0);
  for (int64_t i = 0; sizes.dim() == 2 && i < sizes.size(0); ++i) {
    for (size_t d = 0; d < out.size(); ++d) out[d] = std::max(out[d], row_of(sizes, i)[d]);
  }
  return out;
}

namespace {

Tensor padded_to(const Tensor& t, Sizes goal, const Scalar& value) {
  SizeVector pad;
  for (size_t d = goal.size(); d-- > 0;) {
    pad.push_back(0);
    pad.push_back(goal[d] - t.sizes()[d]);
  }
  return ops::reshape::call(ops::constant_pad_nd::call(t, pad, value), goal);
}

// Of tensors that lie as they are, of one type: one copy of each.
Tensor joined_as_they_lie(std::span<const Tensor> list) {
  int64_t count = 0;
  for (const Tensor& t : list) count += t.numel();
  const Tensor buffer = ops::empty_memory_format::call(SizeVector{count}, list[0].dtype(), Layout::Strided, list[0].device());
  char* to = static_cast<char*>(buffer.data());
  for (const Tensor& t : list) {
    const size_t bytes = static_cast<size_t>(t.numel()) * element_size(t.dtype());
    if (bytes) std::memcpy(to, t.data(), bytes);
    to += bytes;
  }
  return buffer;
}

}  // namespace

Tensor nested_from_list(std::span<const Tensor> list, Type dtype, LayoutArgument layout, DeviceArgument device, Flag pin) {
  if (list.empty()) {
    const auto ones = [&](SizeVector size) { return ops::ones::call(size, dtype, layout, device); };
    const Tensor sizes = ones({}), buffer = ones({0});
    return wrap_buffer(buffer, sizes);
  }
  for (size_t i = 1; i < list.size(); ++i) {
    if (list[i].dim() == list[i - 1].dim()) continue;
    throw Error("All Tensors given to nested_tensor must have the same dimension. Found dimension " + std::to_string(list[i].dim()) + " for Tensor at index " + std::to_string(i) +
                " and dimension " + std::to_string(list[i - 1].dim()) + " for Tensor at index " + std::to_string(i - 1) + ".");
  }
  const auto n = static_cast<int64_t>(list.size()), dims = list[0].dim();
  const bool as_they_lie = std::ranges::all_of(list, [&](const Tensor& t) { return t.is_contiguous() && t.dtype() == list[0].dtype(); });
  Tensor buffer, sizes;
  if (as_they_lie) {
    buffer = joined_as_they_lie(list);
    sizes = ops::empty_memory_format::call(SizeVector{n, dims}, ScalarType::Long);
    for (int64_t i = 0; i < n; ++i) std::ranges::copy(list[static_cast<size_t>(i)].sizes(), sizes.data_as<int64_t>() + i * dims);
  } else {
    std::vector<Tensor> parts, rows;
    for (const Tensor& t : list) {
      if (t.numel() > 0) {
        const Tensor flat = ops::reshape::call(t, SizeVector{-1});
        parts.push_back(flat.is_contiguous() ? flat : ops::contiguous::call(flat));
      }
      rows.push_back(ops::empty_memory_format::call(SizeVector{dims}, ScalarType::Long));
      std::ranges::copy(t.sizes(), rows.back().data_as<int64_t>());
    }
    buffer = ops::cat::call(parts, 0);
    sizes = ops::view::call(ops::cat::call(rows, 0), SizeVector{n, dims});
  }
  buffer = ops::to_dtype_layout::call(buffer, dtype.value_or(list[0].dtype()), Layout::Strided, device.value_or(list[0].device()), pin, false, false, {});
  return wrap_buffer(buffer, sizes);
}

namespace {

struct Lengths {
  Tensor of_mask, to_first_gap;
};
Lengths lengths_of(const Tensor& t, const Tensor& mask) {
  if (mask.dtype() != ScalarType::Bool) throw Error(std::string("Expected mask to be of ScalarType Bool, but got ") + to_string(mask.dtype()) + " instead.");
  if (mask.dim() != 2) throw Error("Padding mask should be 2D");
  if (t.dim() != 3) throw Error("Input should be a 3D tensor, N * L * D");
  const int64_t n = t.size(0), length = t.size(1);
  if (mask.size(0) != n || mask.size(1) != length) throw Error("Mask size should match input size");
  const Tensor end = ops::zeros::call(SizeVector{n, 1}, ScalarType::Bool, Layout::Strided, mask.device());
  const Tensor both[] = {mask, end};
  const Tensor gap = ops::argmin::call(ops::to_dtype::call(ops::cat::call(both, 1), ScalarType::Int), 1);
  const Tensor count = ops::select_int::call(ops::cumsum::call(mask, 1), 1, length - 1);
  return {count, ops::to_dtype_layout::call(gap, count.dtype(), Layout::Strided, count.device(), {}, false, false, {})};
}

}  // namespace

bool is_mask_left_aligned(const Tensor& t, const Tensor& mask) {
  const Lengths l = lengths_of(t, mask);
  return ops::equal::call(l.of_mask, l.to_first_gap);
}
Tensor nested_from_mask(const Tensor& t, const Tensor& mask, bool mask_check) {
  const Lengths l = lengths_of(t, mask);
  if (mask_check && !ops::equal::call(l.of_mask, l.to_first_gap)) throw Error("Mask must be left-aligned without gaps");
  const Tensor rows = ops::reshape::call(l.of_mask, SizeVector{t.size(0), 1});
  const Tensor both[] = {rows, ops::full_like::call(rows, t.size(2))};
  const Tensor sizes = ops::to_dtype_layout::call(ops::cat::call(both, 1), {}, {}, Device(), {}, false, false, {});
  return ops::_nested_from_padded::call(t, sizes, false);
}

Tensor nested_from_padded_rows(const Tensor& padded, const Tensor& sizes) {
  SizeVector goal = largest_sizes(sizes);
  if (padded.dim() - 1 != static_cast<int64_t>(goal.size())) throw Error("dim: " + std::to_string(padded.dim()) + "target_size: " + std::to_string(goal.size()));
  for (size_t d = 0; d < goal.size(); ++d) goal[d] = std::max(goal[d], padded.sizes()[d + 1]);
  std::vector<Tensor> masks;
  for (const Tensor& row : ops::unbind_int::call(sizes)) {
    const auto* first = row.data_as<int64_t>();
    masks.push_back(padded_to(ops::new_full::call(padded, SizeVector(first, first + row.numel()), true, ScalarType::Bool), goal, 0.0));
  }
  const Tensor mask = ops::stack::call(masks, 0);
  const Tensor buffer = ops::to_dtype_layout::call(ops::masked_select::call(padded, mask), {}, {}, padded.device(), {}, false, false, {});
  return wrap_buffer(buffer, sizes);
}
Tensor nested_from_padded(const Tensor& padded, const Tensor& sizes, bool transposed) {
  if (!transposed) return nested_from_padded_rows(padded, sizes);
  const Tensor turned = ops::contiguous::call(ops::permute::call(padded, SizeVector{0, 2, 1, 3}));
  return nested_from_padded_rows(ops::view::call(turned, SizeVector{padded.size(0), padded.size(2), padded.size(1) * padded.size(3)}), sizes);
}
Tensor nested_from_padded_like(const Tensor& padded, const Tensor& example) { return ops::_nested_from_padded::call(padded, nested_of(example).sizes, false); }

Tensor padded_from_nested(const Tensor& self, double padding, std::optional<Sizes> output_size) {
  if (!is_nested_contiguous(self)) throw Error("for now to_padded_tensor only supports contiguous nested tensor");
  if (nested_numel(self) == 0) throw Error("to_padded_tensor: at least one constituent tensor should have non-zero numel");
  const Tensor& sizes = nested_of(self).sizes;
  const SizeVector goal = largest_sizes(sizes);
  SizeVector counts;
  for (int64_t i = 0; i < sizes.size(0); ++i) counts.push_back(element_count(row_of(sizes, i)));
  std::vector<Tensor> parts = ops::split_with_sizes::call(nested_buffer(self), counts, 0);
  for (size_t i = 0; i < parts.size(); ++i) parts[i] = padded_to(ops::reshape::call(parts[i], row_of(sizes, static_cast<int64_t>(i))), goal, padding);
  const Tensor out = ops::stack::call(parts, 0);
  if (!output_size) return out;
  if (static_cast<int64_t>(output_size->size()) != self.dim()) throw Error("Length of output_size does not match NestedTensor dims. Broadcasting is not supported.");
  for (size_t d = 0; d < output_size->size(); ++d) {
    if ((*output_size)[d] < out.sizes()[d]) throw Error("Value in output_size is less than NestedTensor padded size. Truncation is not supported.");
  }
  return padded_to(out, *output_size, padding);
}
Tensor nested_to_padded_tensor(const Tensor& self, double padding, std::optional<Sizes> output_size) { return ops::to_padded_tensor::call(self, padding, output_size); }

Tensor sizes_of_nested(const Tensor& self) { return nested_of(self).sizes; }
Tensor strides_of_nested(const Tensor& self) { return nested_of(self).strides; }
Tensor offsets_of_nested(const Tensor& self) { return nested_of(self).offsets; }
bool is_same_size_nested(const Tensor& self, const Tensor& other) {
  if (!is_nested(self) || !is_nested(other)) {
    throw Error(std::string("Expected both self and other to be nested tensors. Self ") + (is_nested(self) ? "is" : "is not") + " nested. While Other " + (is_nested(other) ? "is" : "is not") + " nested.");
  }
  return ops::equal::call(ops::_nested_tensor_size::call(self), ops::_nested_tensor_size::call(other));
}

}  // namespace peel::kernels
