// Sequences of a batch without their padding, and with it again.
#include "core/dispatch/error.h"
#include "ops_generated/kernels.h"
#include "ops_generated/ops.h"

namespace peel::kernels {
namespace {

SizeVector with_front(std::initializer_list<int64_t> front, Sizes rest, size_t from) {
  SizeVector out(front);
  out.insert(out.end(), rest.begin() + static_cast<ptrdiff_t>(from), rest.end());
  return out;
}
Tensor part(const Tensor& t, int64_t dim, int64_t from, int64_t to) { return ops::slice_Tensor::call(t, dim, from, to, 1); }
Tensor row_major(const Tensor& t) { return t.is_contiguous() ? t : ops::contiguous::call(t); }

}  // namespace

std::tuple<Tensor, Tensor> _pack_padded_sequence(const Tensor& padded, const Tensor& lengths_given, bool batch_first) {
  if (padded.numel() == 0) throw Error("Cannot pack empty tensors.");
  const Tensor input = batch_first ? ops::transpose_int::call(padded, 0, 1) : padded;
  const Tensor lengths_kept = row_major(lengths_given);
  const int64_t* lengths = lengths_kept.data_as<int64_t>();
  const int64_t batch = input.size(1);
  if (lengths_kept.size(0) != batch) {
    throw Error("Expected `len(lengths)` to be equal to batch_size, but got " + std::to_string(lengths_kept.size(0)) + " (batch_size=" + std::to_string(batch) + ")");
  }
  if (batch == 0 || lengths[batch - 1] <= 0) throw Error("Length of all samples has to be greater than 0, but found an element in 'lengths' that is <= 0");
  for (int64_t i = 1; i < batch; ++i) {
    if (lengths[i] > lengths[i - 1]) {
      throw Error("`lengths` array must be sorted in decreasing order when `enforce_sorted` is True. You can pass `enforce_sorted=False` to pack_padded_sequence and/or pack_sequence to "
                  "sidestep this requirement if you do not need ONNX exportability.");
    }
  }
  const Tensor batch_sizes = ops::empty_memory_format::call(SizeVector{lengths[0]}, ScalarType::Long, Layout::Strided, Device(), false);
  int64_t* size = batch_sizes.data_as<int64_t>();
  const SizeVector shape = with_front({-1}, input.sizes(), 2);
  std::vector<Tensor> steps;
  int64_t before = 0;
  for (int64_t left = batch; left > 0; --left) {  // the shortest first: all steps that it has go on with all that are left
    const int64_t length = lengths[left - 1];
    if (length == before) continue;
    steps.push_back(ops::view::call(row_major(part(part(input, 0, before, length), 1, 0, left)), shape));
    for (int64_t i = before; i < length; ++i) *size++ = left;
    before = length;
  }
  return {ops::cat::call(steps, 0), batch_sizes};
}

Tensor _pack_padded_sequence_backward(const Tensor& grad, Sizes input_size, const Tensor& batch_sizes_given, bool batch_first) {
  SizeVector size(input_size.begin(), input_size.end());
  if (batch_first) std::swap(size[0], size[1]);
  Tensor out = ops::zeros::call(size, grad.dtype(), Layout::Strided, grad.device(), false);
  const Tensor batch_sizes = row_major(batch_sizes_given);
  const int64_t* sizes = batch_sizes.data_as<int64_t>();
  int64_t at = 0;
  for (int64_t i = 0; i < batch_sizes.size(0); ++i) {
    Tensor step = part(ops::select_int::call(out, 0, i), 0, 0, sizes[i]);
    ops::copy_::call(step, part(grad, 0, at, at + sizes[i]));
    at += sizes[i];
  }
  return batch_first ? ops::transpose_int::call(out, 0, 1) : out;
}

std::tuple<Tensor, Tensor> _pad_packed_sequence(const Tensor& data, const Tensor& batch_sizes_given, bool batch_first, const Scalar& padding_value, int64_t total_length) {
  const Tensor batch_sizes = row_major(batch_sizes_given);
  const int64_t* sizes = batch_sizes.data_as<int64_t>();
  const int64_t batch = sizes[0], steps = batch_sizes.size(0);
  if (total_length > 0 && total_length < steps) {
    throw Error("Expected total_length to be at least the length of the longest sequence in input, but got total_length=" + std::to_string(total_length) +
                " and max sequence length being " + std::to_string(steps));
  }
  Tensor out = ops::full::call(with_front({total_length > 0 ? total_length : steps, batch}, data.sizes(), 1), padding_value, data.dtype(), Layout::Strided, data.device(), false);
  const Tensor lengths = ops::empty_memory_format::call(SizeVector{batch}, ScalarType::Long, Layout::Strided, Device(), false);
  int64_t* length = lengths.data_as<int64_t>() + batch;
  int64_t before = batch, first = 0, at = 0;
  for (int64_t i = 0; i <= steps; ++i) {
    const int64_t now = i < steps ? sizes[i] : 0;
    if (now != before) {
      const int64_t rows = before * (i - first);
      const Tensor from = part(data, 0, at, at + rows);
      Tensor to = part(part(out, 0, first, i), 1, 0, before);
      ops::copy_::call(to, ops::view::call(from, with_front({i - first, before}, data.sizes(), 1)));
      at += rows;
      first = i;
    }
    for (int64_t k = now; k < before; ++k) *--length = i;
    before = now;
  }
  return {batch_first ? ops::transpose_int::call(out, 0, 1) : out, lengths};
}

}  // namespace peel::kernels
