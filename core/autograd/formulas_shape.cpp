// Gradients of views, and of what picks and joins.
#include <algorithm>

#include "core/autograd/formulas.h"

namespace peel::core::formulas {
namespace {

const Tensor& first_defined(const std::vector<Tensor>& grads) {
  return *std::ranges::find_if(grads, [](const Tensor& t) { return t.defined(); });
}

}  // namespace

Tensor permute_backward(const Tensor& grad, Sizes dims) {
  const auto count = static_cast<int64_t>(dims.size());
  SizeVector back(dims.size());
  for (int64_t d = 0; d < count; ++d) back[static_cast<size_t>(wrap_dimension(dims[static_cast<size_t>(d)], count))] = d;
  return permute(grad, back);
}

Tensor unsqueeze_all(const Tensor& grad, Sizes sizes) {
  Tensor out = grad;
  for (size_t d = 0; d < sizes.size(); ++d) {
    if (sizes[d] == 1) out = unsqueeze(out, static_cast<int64_t>(d));
  }
  return out;
}
Tensor unsqueeze_to(const Tensor& grad, Sizes dims, Sizes sizes) {
  const auto count = static_cast<int64_t>(sizes.size());
  std::vector<bool> named(sizes.size());
  for (const int64_t d : dims) {
    if (count > 0) named[static_cast<size_t>(wrap_dimension(d, count))] = true;
  }
  Tensor out = grad;
  for (size_t d = 0; d < sizes.size(); ++d) {
    if (named[d] && sizes[d] == 1) out = unsqueeze(out, static_cast<int64_t>(d));
  }
  return out;
}

Tensor split_with_sizes_backward(const std::vector<Tensor>& grads, Sizes parts, int64_t dim, Sizes sizes) {
  const Tensor like = first_defined(grads);
  std::vector<Tensor> all = grads;
  SizeVector shape(sizes.begin(), sizes.end());
  for (size_t i = 0; i < all.size(); ++i) {
    if (all[i].defined()) continue;
    shape[static_cast<size_t>(wrap_dimension(dim, static_cast<int64_t>(sizes.size())))] = parts[i];
    all[i] = zeros(shape, like.dtype(), Layout::Strided, like.device());
  }
  return cat(all, wrap_dimension(dim, static_cast<int64_t>(sizes.size())));
}
Tensor split_backward(const std::vector<Tensor>& grads, int64_t size, int64_t dim, Sizes sizes) {
  const int64_t whole = sizes[static_cast<size_t>(wrap_dimension(dim, static_cast<int64_t>(sizes.size())))];
  SizeVector parts(grads.size(), size);
  parts.back() = size - (size * static_cast<int64_t>(grads.size()) - whole);
  return split_with_sizes_backward(grads, parts, dim, sizes);
}
Tensor unbind_backward(const std::vector<Tensor>& grads, int64_t dim) {
  const Tensor like = first_defined(grads);
  std::vector<Tensor> all = grads;
  for (Tensor& t : all) {
    if (!t.defined()) t = zeros(like.sizes(), like.dtype(), Layout::Strided, like.device());
  }
  return stack(all, dim);
}

std::vector<Tensor> cat_backward(const Tensor& grad, const std::vector<SizeVector>& sizes, int64_t dim) {
  std::vector<Tensor> out(sizes.size());
  const int64_t d = wrap_dimension(dim, grad.dim());
  int64_t at = 0;
  for (size_t i = 0; i < sizes.size(); ++i) {
    if (sizes[i].size() == 1 && sizes[i][0] == 0) {  // an empty vector joins anything
      out[i] = zeros(SizeVector{0}, grad.dtype(), Layout::Strided, grad.device());
      continue;
    }
    const int64_t size = sizes[i][static_cast<size_t>(d)];
    out[i] = narrow(grad, d, at, size);
    at += size;
  }
  return out;
}
std::vector<Tensor> stack_backward(const Tensor& grad, int64_t dim, size_t count) {
  std::vector<Tensor> out;
  for (size_t i = 0; i < count; ++i) out.push_back(select(grad, dim, static_cast<int64_t>(i)));
  return out;
}

Tensor index_backward(Tensor zeros, std::span<const std::optional<Tensor>> indices, const Tensor& grad) {
  if (grad.keys().has(DispatchKey::Meta)) return index_put(zeros, indices, grad, true);
  return _index_put_impl_(zeros, indices, grad, true, true);
}
Tensor index_add_backward(const Tensor& grad, int64_t dim, const Tensor& index, const Tensor& source, const Scalar& alpha) {
  const Tensor picked = source.dim() > 0 ? expand_as(index_select(grad, dim, index), source) : index_select(grad, dim, squeeze(index, 0));
  return maybe_multiply(picked, alpha);
}

Tensor index_copy_backward(const Tensor& grad, int64_t dim, const Tensor& index, const Tensor& source) {
  if (source.dim() > 0) return expand_as(index_select(grad, dim, index), source);
  return index_select(grad, dim, squeeze(index, 0));
}
Tensor repeat_backward(const Tensor& grad, Sizes repeats, Sizes sizes) {
  if (std::ranges::find(repeats, 0) != repeats.end()) return zeros(sizes, grad.dtype(), Layout::Strided, grad.device());
  Tensor out = grad;
  const size_t added = repeats.size() - sizes.size();
  for (size_t i = 0; i < added; ++i) out = sum(out, SizeVector{0}, false);
  SizeVector shape, summed;
  for (size_t d = 0; d < sizes.size(); ++d) {
    if (repeats[d + added] != 1) {
      summed.push_back(static_cast<int64_t>(shape.size()));
      shape.push_back(repeats[d + added]);
    }
    shape.push_back(sizes[d]);
  }
  if (summed.empty()) return out;
  return sum(reshape(out, shape), Sizes(summed), false);
}
Tensor roll_backward(const Tensor& grad, Sizes shifts, Sizes dims) {
  SizeVector back, order(dims.rbegin(), dims.rend());
  for (size_t i = shifts.size(); i-- > 0;) back.push_back(-shifts[i]);
  return roll(grad, back, order);
}
Tensor constant_pad_nd_backward(const Tensor& grad, Sizes pad) {
  SizeVector back;
  for (const int64_t p : pad) back.push_back(-p);
  return constant_pad_nd(grad, back, 0);
}

}  // namespace peel::core::formulas
