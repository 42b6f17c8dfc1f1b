// Rows of a table by bags of indices: their sums, means or largest elements.
#include <algorithm>
#include <cstring>

#include "core/autograd/history.h"
#include "kernels/cpu/rows.h"
#include "ops_generated/kernels.h"
#include "ops_generated/ops.h"

namespace peel::kernels {
namespace {

using Optional = std::optional<Tensor>;
using Four = std::tuple<Tensor, Tensor, Tensor, Tensor>;
enum Mode : int64_t { kSum, kMean, kMax };

Tensor nothing_yet(ScalarType t) { return ops::empty_memory_format::call(SizeVector{0}, t, Layout::Strided, Device()); }

void check(const Tensor& weight, const Tensor& indices, const Tensor& offsets, int64_t mode, const Optional& per_sample_weights, bool include_last_offset) {
  for (const auto& [t, name] : {std::pair(&indices, "indices"), std::pair(&offsets, "offsets")}) {
    if (t->dtype() == ScalarType::Long || t->dtype() == ScalarType::Int) continue;
    throw Error("Expected tensor for argument #1 '" + std::string(name) + "' to have one of the following scalar types: Long, Int; but got torch." + to_string(t->dtype()) +
                "Tensor instead (while checking arguments for embedding_bag)");
  }
  if (!is_floating(weight.dtype())) {
    throw Error("expected scalar type Half or BFloat16 or Float or Double but found " + std::string(to_string(weight.dtype())));
  }
  if (offsets.size(0) > 0) {
    const std::vector<int64_t> starts = whole_numbers_of(offsets);
    if (starts.front() != 0) {
      ops::to_device::call(ops::select_int::call(offsets, 0, 0), Device(), ScalarType::Double);
      throw Error("offsets[0] has to be 0, i.e., the first sequence in the mini-batch has to start from position 0. However, got " + std::to_string(starts.front()));
    }
    if (starts.back() > indices.size(0)) {
      throw Error("offsets[-1] can not be greater than input's length: " + std::to_string(indices.size(0)) + " but got offsets[-1] of " + std::to_string(starts.back()));
    }
  }
  if (per_sample_weights && per_sample_weights->defined()) {
    if (mode != kSum) throw Error("embedding_bag: per_sample_weights was not None. per_sample_weights is only supported for mode='sum' (got mode='" + std::string(mode == kMean ? "mean" : "max") + "').");
    if (per_sample_weights->numel() != indices.numel()) throw Error("expected per_sample_weights to have the same number of elements as indices");
  }
  if (include_last_offset && offsets.size(0) < 1) throw Error("include_last_offset: number of offset should be at least 1");
}

// Which bag each index is in. The first element tells after a sum over 1 at each offset.
void number_bags(const Tensor& offsets, Tensor& bags) {
  const Tensor ones = ops::ones_like::call(offsets, {}, {}, {}, {}, MemoryFormat::Contiguous);
  ops::index_add_::call(bags, 0, offsets, ones, 1);
  Tensor first = ops::select_int::call(bags, 0, 0);
  ops::sub__Scalar::call(first, 1, 1);
  bags = ops::cumsum::call(bags, 0, bags.dtype());
}
// How many indices each bag has.
void count_in_bags(const Tensor& offsets, const Tensor& indices, int64_t bags, const Tensor& sizes) {
  if (bags != 1) {
    const Tensor next = ops::slice_Tensor::call(offsets, 0, 1, bags, 1), start = ops::slice_Tensor::call(offsets, 0, 0, bags - 1, 1);
    const Tensor apart = ops::sub_Tensor::call(next, start);
    Tensor to = ops::slice_Tensor::call(sizes, 0, 0, sizes.size(0) - 1, 1);
    ops::copy_::call(to, apart);
  }
  if (bags <= 0) return;
  const Tensor last = ops::select_int::call(offsets, 0, bags - 1);
  Tensor rest = ops::empty_like::call(last);
  ops::fill__Scalar::call(rest, indices.size(0));
  ops::sub__Tensor::call(rest, last);
  Tensor to = ops::select_int::call(sizes, 0, -1);
  ops::copy_::call(to, rest);
}
int64_t row_at(const std::vector<int64_t>& indices, int64_t i, int64_t rows) {
  const int64_t at = indices[static_cast<size_t>(i)];
  if (at >= 0 && at < rows) return at;
  throw Error("Index " + std::to_string(i) + " of input takes value " + std::to_string(at) + " which is not in the valid range [0, " + std::to_string(rows) + ")");
}
// f(bag, place among the indices, row), except for what is padding.
template <class F>
void each_entry(const Tensor& indices, const Tensor& offsets, int64_t bags, int64_t rows, int64_t padding_idx, F f) {
  const std::vector<int64_t> all = whole_numbers_of(indices), starts = whole_numbers_of(offsets);
  for (int64_t b = 0; b < bags; ++b) {
    const auto at = static_cast<size_t>(b);
    const int64_t end = at + 1 < starts.size() ? starts[at + 1] : static_cast<int64_t>(all.size());
    for (int64_t i = starts[at]; i < end; ++i) {
      const int64_t row = row_at(all, i, rows);
      if (row != padding_idx) f(b, i, row);
    }
  }
}

Four bags_of(const Tensor& weight, const Tensor& indices, const Tensor& offsets, int64_t mode, const Optional& per_sample_weights, bool include_last_offset, int64_t padding_idx,
             bool requires_grad) {
  check(weight, indices, offsets, mode, per_sample_weights, include_last_offset);
  const int64_t bags = offsets.size(0) - include_last_offset, width = weight.size(1), rows = weight.size(0), n = indices.size(0);
  const ScalarType type = weight.dtype();
  const Tensor out = ops::empty_memory_format::call(SizeVector{bags, width}, type, Layout::Strided, weight.device());
  Tensor numbers = nothing_yet(indices.dtype());
  // Sums of single precision need no numbers of bags: stock has a fast way there.
  if (mode != kSum || padding_idx >= 0 || type == ScalarType::Double || weight.strides()[1] != 1) {
    reshape_out(numbers, SizeVector{n + 1});
    std::memset(numbers.data(), 0, static_cast<size_t>(n + 1) * element_size(numbers.dtype()));
    number_bags(include_last_offset ? ops::narrow::call(offsets, 0, 0, bags) : offsets, numbers);
    reshape_out(numbers, SizeVector{n});
  }
  const Tensor sizes = nothing_yet(indices.dtype());
  reshape_out(sizes, requires_grad || mode != kSum ? SizeVector{bags} : SizeVector(offsets.sizes().begin(), offsets.sizes().end()));
  if (requires_grad || mode != kSum) count_in_bags(offsets, indices, bags, sizes);
  Tensor largest = nothing_yet(indices.dtype());
  reshape_out(largest, mode == kMax ? SizeVector{bags, width} : SizeVector(sizes.sizes().begin(), sizes.sizes().end()));
  const bool weighed = per_sample_weights && per_sample_weights->defined();
  with_floating(type, "embedding_bag", [&]<class T>(T) {
    const auto element = [&](int64_t row, int64_t k) { return static_cast<double>(static_cast<Math<T>>(weight.data_as<T>()[row * weight.strides()[0] + k * weight.strides()[1]])); };
    std::vector<double> sums(static_cast<size_t>(bags * width)), counts(static_cast<size_t>(bags));
    std::vector<int64_t> from(sums.size());
    each_entry(indices, offsets, bags, rows, padding_idx, [&](int64_t b, int64_t i, int64_t row) {
      const double w = weighed ? static_cast<double>(static_cast<Math<T>>(per_sample_weights->data_as<T>()[i * per_sample_weights->strides()[0]])) : 1;
      const bool first = counts[static_cast<size_t>(b)]++ == 0;
      for (int64_t k = 0; k < width; ++k) {
        const auto at = static_cast<size_t>(b * width + k);
        if (mode != kMax) {
          sums[at] += w * element(row, k);
        } else if (first || element(row, k) > sums[at]) {
          sums[at] = element(row, k);
          from[at] = row;
        }
      }
    });
    for (size_t at = 0; at < sums.size(); ++at) {
      const double count = counts[at / static_cast<size_t>(width)];
      out.data_as<T>()[at] = static_cast<T>(mode == kMean && count > 0 ? sums[at] / count : sums[at]);
    }
    with_integral(indices.dtype(), "embedding_bag", [&]<class I>(I) {
      for (size_t at = 0; at < from.size() && mode == kMax; ++at) largest.data_as<I>()[at] = static_cast<I>(from[at]);
      for (size_t b = 0; b < counts.size() && padding_idx >= 0; ++b) sizes.data_as<I>()[b] = static_cast<I>(counts[b]);
    });
  });
  if (mode == kMax) return {out, numbers, sizes, largest};
  if (mode == kMean) {  // stock divides here
    const Tensor ones = ops::ones_like::call(sizes, {}, {}, {}, {}, MemoryFormat::Contiguous);
    const Tensor counts = ops::to_dtype_layout::call(ops::max_other::call(sizes, ones), type, Layout::Strided, weight.device());
    const Tensor wide = ops::expand_as::call(ops::unsqueeze::call(counts, 1), out), whole = empty(out.sizes(), type);
    Tensor sums = out;
    copy_elements(whole, out);
    ops::div__Tensor::call(sums, wide);
    copy_elements(out, whole);
  }
  ops::copy_::call(largest, sizes);
  return {out, numbers, sizes, largest};
}

}  // namespace

namespace {

Four by_grad(const Tensor& weight, const Tensor& indices, const Tensor& offsets, bool scale_grad_by_freq, int64_t mode, bool sparse, const Optional& per_sample_weights,
             bool include_last_offset, int64_t padding_idx) {
  // Stock passes an undefined tensor on where there are no weights, which brings keys of its own.
  const Optional weights = per_sample_weights ? per_sample_weights : Optional(Tensor());
  if (!wants_grad(weight) && !wants_grad(weights)) return ops::_embedding_bag_forward_only::call(weight, indices, offsets, scale_grad_by_freq, mode, sparse, weights, include_last_offset, padding_idx);
  return ops::_embedding_bag::call(weight, indices, offsets, scale_grad_by_freq, mode, sparse, weights, include_last_offset, padding_idx);
}

}  // namespace

Four embedding_bag(const Tensor& weight, const Tensor& indices, const Tensor& offsets, bool scale_grad_by_freq, int64_t mode, bool sparse, const Optional& per_sample_weights,
                   bool include_last_offset) {
  return by_grad(weight, indices, offsets, scale_grad_by_freq, mode, sparse, per_sample_weights, include_last_offset, -1);
}
Four embedding_bag_padding_idx(const Tensor& weight, const Tensor& indices, const Tensor& offsets, bool scale_grad_by_freq, int64_t mode, bool sparse, const Optional& per_sample_weights,
                               bool include_last_offset, std::optional<int64_t> padding_idx) {
  int64_t padding = -1;
  if (padding_idx) {
    const int64_t rows = weight.size(0);
    if (*padding_idx < -rows || *padding_idx >= rows) {
      throw Error("padding_idx must be within the number of embeddings, -" + std::to_string(rows) + " through " + std::to_string(rows - 1) + ", but got " + std::to_string(*padding_idx));
    }
    padding = wrap_dimension(*padding_idx, rows);
  }
  return by_grad(weight, indices, offsets, scale_grad_by_freq, mode, sparse, per_sample_weights, include_last_offset, padding);
}
Four _embedding_bag(const Tensor& weight, const Tensor& indices, const Tensor& offsets, bool, int64_t mode, bool, const Optional& per_sample_weights, bool include_last_offset,
                    int64_t padding_idx) {
  return bags_of(weight, indices, offsets, mode, per_sample_weights, include_last_offset, padding_idx, true);
}
Four _embedding_bag_forward_only(const Tensor& weight, const Tensor& indices, const Tensor& offsets, bool, int64_t mode, bool, const Optional& per_sample_weights,
                                 bool include_last_offset, int64_t padding_idx) {
  return bags_of(weight, indices, offsets, mode, per_sample_weights, include_last_offset, padding_idx, false);
}

Tensor _embedding_bag_backward(const Tensor& grad, const Tensor& indices, const Tensor& offsets, const Tensor& offset2bag, const Tensor& bag_size, const Tensor& maximum_indices,
                               int64_t num_weights, bool scale_grad_by_freq, int64_t mode, bool sparse, const Optional& per_sample_weights, int64_t padding_idx) {
  Tensor numbers = offset2bag;
  if (indices.numel() != 0 && offset2bag.numel() == 0) {
    numbers = ops::new_zeros::call(offsets, SizeVector{indices.size(0) + 1}, offsets.dtype(), Layout::Strided, offsets.device());
    number_bags(offsets, numbers);
    ops::resize_::call(numbers, SizeVector{indices.size(0)});
  }
  if (sparse) {
    return ops::_embedding_bag_sparse_backward::call(grad, indices, offsets, numbers, bag_size, num_weights, scale_grad_by_freq, mode, per_sample_weights, padding_idx);
  }
  return ops::_embedding_bag_dense_backward::call(grad, indices, numbers, bag_size, maximum_indices, num_weights, scale_grad_by_freq, mode, per_sample_weights, padding_idx);
}
Tensor _embedding_bag_sparse_backward(const Tensor& grad, const Tensor& indices, const Tensor&, const Tensor& offset2bag, const Tensor& bag_size, int64_t num_weights,
                                      bool scale_grad_by_freq, int64_t mode, const Optional& per_sample_weights, int64_t padding_idx) {
  Tensor of_rows = ops::index_select::call(grad, 0, offset2bag);
  if (mode == kMean) {
    const Tensor sizes = ops::to_dtype_layout::call(bag_size, grad.dtype(), Layout::Strided, grad.device(), {}, false, false, {});
    Tensor share = ops::empty_like::call(sizes, {}, {}, {}, {}, MemoryFormat::Preserve);
    ops::fill__Scalar::call(share, 1);
    ops::div__Tensor::call(share, sizes);
    ops::mul__Tensor::call(of_rows, ops::index_select::call(ops::unsqueeze::call(share, 1), 0, offset2bag));
  }
  if (per_sample_weights && per_sample_weights->defined()) ops::mul__Tensor::call(of_rows, ops::unsqueeze::call(*per_sample_weights, 1));
  return ops::embedding_sparse_backward::call(of_rows, indices, num_weights, padding_idx, scale_grad_by_freq);
}
Tensor _embedding_bag_dense_backward(const Tensor& grad_output, const Tensor& indices, const Tensor& offset2bag, const Tensor& bag_size, const Tensor& maximum_indices,
                                     int64_t num_weights, bool scale_grad_by_freq, int64_t mode, const Optional& per_sample_weights, int64_t padding_idx) {
  const Tensor grad = made_contiguous(grad_output), out = ops::zeros::call(SizeVector{num_weights, grad.size(1)}, grad.dtype(), Layout::Strided, grad.device(), {});
  if (mode == kMax) {
    const Tensor filled = ops::index_select::call(maximum_indices, 0, ops::view::call(ops::nonzero::call(bag_size), SizeVector{-1}));
    const Tensor of_filled = ops::index_select::call(grad, 0, ops::view::call(ops::nonzero::call(bag_size), SizeVector{-1}));
    for (int64_t k = 0; k < grad.size(1); ++k) {
      const Tensor source = ops::select_int::call(of_filled, 1, k), rows = ops::select_int::call(filled, 1, k);
      Tensor column = ops::select_int::call(out, 1, k);
      ops::index_add_::call(column, 0, rows, source, 1);
    }
    return out;
  }
  const auto [rows, order] = ops::sort::call(indices, -1, false);
  const std::vector<int64_t> bags = whole_numbers_of(ops::index_select::call(offset2bag, 0, order)), row = whole_numbers_of(rows), sizes = whole_numbers_of(bag_size);
  const bool weighed = per_sample_weights && per_sample_weights->defined();
  const Tensor weights = weighed ? ops::index_select::call(*per_sample_weights, 0, order) : Tensor();
  with_floating(grad.dtype(), "embedding_bag_backward", [&]<class T>(T) {
    const int64_t width = grad.size(1);
    std::vector<double> sums(static_cast<size_t>(out.numel()));
    for (size_t i = 0, rows_before = 0; i < row.size(); ++i) {
      if (i > 0 && row[i] != row[i - 1]) ++rows_before;
      if (row[i] == padding_idx) continue;
      double scale = weighed ? static_cast<double>(static_cast<Math<T>>(weights.data_as<T>()[i])) : 1;
      // Stock looks up how often a row occurs by the number of rows before it, not by its place.
      if (scale_grad_by_freq) scale /= static_cast<double>(std::ranges::count(row, row[rows_before]));
      if (mode == kMean) scale /= static_cast<double>(std::max<int64_t>(1, sizes[static_cast<size_t>(bags[i])]));
      for (int64_t k = 0; k < width; ++k) sums[static_cast<size_t>(row[i] * width + k)] += scale * static_cast<double>(static_cast<Math<T>>(grad.data_as<T>()[bags[i] * width + k]));
    }
    for (size_t i = 0; i < sums.size(); ++i) out.data_as<T>()[i] = static_cast<T>(sums[i]);
  });
  return out;
}
Tensor _embedding_bag_per_sample_weights_backward(const Tensor& grad, const Tensor& weight, const Tensor& indices, const Tensor& offsets, const Tensor& offset2bag, int64_t mode,
                                                  int64_t padding_idx) {
  if (mode != kSum) throw Error("embedding_bag_backward: per_sample_weights only supported for mode='sum'");
  const Tensor out = ops::zeros::call(SizeVector{indices.size(0)}, grad.dtype(), Layout::Strided, grad.device(), {});
  Tensor numbers = offset2bag;
  if (indices.numel() != 0 && offset2bag.numel() == 0) {
    numbers = ops::zeros::call(SizeVector{indices.size(0) + 1}, offset2bag.dtype(), Layout::Strided, offset2bag.device(), {});
    number_bags(offsets, numbers);
    reshape_out(numbers, SizeVector{indices.size(0)});
  }
  const std::vector<int64_t> bags = whole_numbers_of(numbers), rows = whole_numbers_of(indices);
  with_floating(grad.dtype(), "embedding_bag_per_sample_weights", [&]<class T>(T) {
    for (size_t i = 0; i < rows.size(); ++i) {
      double sum = 0;
      for (int64_t k = 0; k < grad.size(1) && rows[i] != padding_idx; ++k) {
        sum += static_cast<double>(static_cast<Math<T>>(grad.data_as<T>()[bags[i] * grad.strides()[0] + k * grad.strides()[1]])) *
               static_cast<double>(static_cast<Math<T>>(weight.data_as<T>()[rows[i] * weight.strides()[0] + k * weight.strides()[1]]));
      }
      out.data_as<T>()[i] = static_cast<T>(sum);
    }
  });
  return out;
}

}  // namespace peel::kernels
