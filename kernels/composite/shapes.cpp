// More looks at the same memory, and copies that change a shape.
#include <algorithm>

#include "core/dispatch/error.h"
#include "core/tensor/nested.h"
#include "kernels/cpu/elementwise.h"
#include "ops_generated/kernels.h"
#include "ops_generated/ops.h"

namespace peel::kernels {
namespace {

// One place of a dimension, below dispatch.
Tensor place_of(const Tensor& t, size_t d, int64_t i) {
  SizeVector sizes(t.sizes().begin(), t.sizes().end()), strides(t.strides().begin(), t.strides().end());
  const int64_t offset = t.storage_offset() + i * strides[d];
  sizes.erase(sizes.begin() + static_cast<ptrdiff_t>(d));
  strides.erase(strides.begin() + static_cast<ptrdiff_t>(d));
  return view_of(t, sizes, strides, offset);
}
void add_elements(const Tensor& to, const Tensor& from) {
  with_floating(to.dtype(), "unfold_backward_cpu", [&]<class T>(T) {
    Walk<2> walk(to.sizes());
    walk.set(0, to);
    walk.set(1, from);
    each<T, T>(walk, [](T& o, T x) { o = static_cast<T>(static_cast<Math<T>>(o) + static_cast<Math<T>>(x)); });
  });
}

SizeVector list(Sizes s) { return {s.begin(), s.end()}; }
size_t wrapped_dim(int64_t d, const Tensor& t) { return static_cast<size_t>(wrap_dimension(d, t.dim())); }

}  // namespace

Tensor contiguous(const Tensor& self, MemoryFormat format) {
  if (is_nested(self) ? is_nested_contiguous(self) : self.is_contiguous(format)) return self;
  if (format == MemoryFormat::Preserve) throw Error("preserve memory format is unsupported by the contiguous operator");
  return ops::clone::call(self, format);
}
Tensor permute(const Tensor& self, Sizes dims) {
  if (static_cast<int64_t>(dims.size()) != self.dim()) {
    throw Error("permute(sparse_coo): number of dimensions in the tensor input does not match the length of the desired ordering of dimensions i.e. "
                "input.dim() = " + std::to_string(self.dim()) + " is not equal to len(dims) = " + std::to_string(dims.size()));
  }
  SizeVector sizes, strides;
  std::vector<bool> seen(dims.size());
  for (const int64_t d : dims) {
    const size_t at = wrapped_dim(d, self);
    if (seen[at]) throw Error("permute(): duplicate dims are not allowed.");
    seen[at] = true;
    sizes.push_back(self.sizes()[at]);
    strides.push_back(self.strides()[at]);
  }
  return ops::as_strided::call(self, sizes, strides);
}
Tensor slice(const Tensor& self, int64_t dim, std::optional<int64_t> start, std::optional<int64_t> end, int64_t step) {
  if (self.dim() == 0) throw Error("slice() cannot be applied to a 0-dim tensor.");
  const size_t d = wrapped_dim(dim, self);
  if (step <= 0) throw Error("slice step must be positive");
  const int64_t size = self.sizes()[d];
  int64_t from = start.value_or(0), to = end.value_or(size);
  from = std::clamp<int64_t>(from < 0 ? from + size : from, 0, size);
  to = std::clamp<int64_t>(to < 0 ? to + size : to, from, std::max(from, size));
  SizeVector sizes = list(self.sizes()), strides = list(self.strides());
  const int64_t offset = self.storage_offset() + from * strides[d];
  sizes[d] = (to - from + step - 1) / step;
  strides[d] *= step;
  return ops::as_strided::call(self, sizes, strides, offset);
}
Tensor slice_backward(const Tensor& grad_output, Sizes input_sizes, int64_t dim, int64_t start, int64_t end, int64_t step) {
  Tensor out = ops::zeros::call(input_sizes, grad_output.dtype(), Layout::Strided, grad_output.device());
  Tensor part = ops::slice_Tensor::call(out, dim, start, end, step);
  ops::copy_::call(part, grad_output);
  return out;
}
Tensor narrow(const Tensor& self, int64_t dim, int64_t start, int64_t length) {
  if (self.dim() == 0) throw Error("narrow() cannot be applied to a 0-dim tensor.");
  if (length < 0) throw Error("narrow(): length must be non-negative.");
  const int64_t size = self.size(dim);
  if (start < -size || start > size) {
    throw IndexError("start out of range (expected to be in range of [" + std::to_string(-size) + ", " + std::to_string(size) + "], but got " + std::to_string(start) + ")");
  }
  const int64_t from = start < 0 ? start + size : start;
  if (from > size - length) throw Error("start (" + std::to_string(from) + ") + length (" + std::to_string(length) + ") exceeds dimension size (" + std::to_string(size) + ").");
  return ops::slice_Tensor::call(self, dim, from, from + length, 1);
}

namespace {

Tensor squeezed(const Tensor& self, const std::vector<bool>& named) {
  SizeVector sizes, strides;
  for (size_t d = 0; d < named.size(); ++d) {
    if (named[d] && self.sizes()[d] == 1) continue;
    sizes.push_back(self.sizes()[d]);
    strides.push_back(self.strides()[d]);
  }
  return ops::as_strided::call(self, sizes, strides);
}

}  // namespace

Tensor squeeze(const Tensor& self) { return squeezed(self, std::vector<bool>(self.sizes().size(), true)); }
Tensor squeeze(const Tensor& self, Sizes dim) {
  std::vector<bool> named(self.sizes().size());
  for (const int64_t d : dim) {
    const size_t at = wrapped_dim(d, self);
    if (at < named.size()) named[at] = true;
  }
  return squeezed(self, named);
}

std::vector<Tensor> split(const Tensor& self, int64_t split_size, int64_t dim) {
  if (self.dim() == 0) throw Error("split expects at least a 1-dimensional tensor");
  if (split_size < 0) throw Error("split expects split_size be non-negative, but got split_size=" + std::to_string(split_size));
  const int64_t size = self.size(dim);
  if (split_size == 0 && size != 0) {
    throw Error("split_size can only be 0 if dimension size is 0, but got dimension size of " + std::to_string(size));
  }
  const int64_t count = split_size ? std::max<int64_t>((size + split_size - 1) / split_size, 1) : 1;
  std::vector<Tensor> out;
  for (int64_t i = 0; i < count; ++i) {
    const int64_t length = i + 1 < count ? split_size : split_size - (split_size * count - size);
    out.push_back(ops::narrow::call(self, dim, i * split_size, length));
  }
  return out;
}
std::vector<Tensor> split_with_sizes(const Tensor& self, Sizes split_sizes, int64_t dim) {
  if (self.dim() == 0) throw Error("split expects at least a 1-dimensional tensor");
  const size_t d = wrapped_dim(dim, self);
  const int64_t size = self.sizes()[d];
  int64_t total = 0;
  for (const int64_t s : split_sizes) {
    if (s < 0) throw Error("split_with_sizes expects split_sizes have only non-negative entries, but got split_sizes=" + to_text(split_sizes));
    total += s;
  }
  if (total != size) {
    throw Error("split_with_sizes expects split_sizes to sum exactly to " + std::to_string(size) + " (input tensor's size at dimension " + std::to_string(d) +
                "), but got split_sizes=" + to_text(split_sizes));
  }
  std::vector<Tensor> out;
  SizeVector sizes = list(self.sizes());
  int64_t offset = self.storage_offset();
  for (const int64_t s : split_sizes) {
    sizes[d] = s;
    out.push_back(ops::as_strided::call(self, sizes, self.strides(), offset));
    offset += s * self.strides()[d];
  }
  return out;
}
std::vector<Tensor> split_sizes(const Tensor& self, Sizes split_size, int64_t dim) { return ops::split_with_sizes::call(self, split_size, dim); }
std::vector<Tensor> chunk(const Tensor& self, int64_t chunks, int64_t dim) {
  if (self.dim() == 0) throw Error("chunk expects at least a 1-dimensional tensor");
  if (chunks <= 0) throw Error("chunk expects `chunks` to be greater than 0, got: " + std::to_string(chunks));
  const int64_t size = self.size(dim), part = (size + chunks - 1) / chunks;
  if (part == 0 && size == 0) return ops::split_with_sizes::call(self, SizeVector(static_cast<size_t>(chunks), 0), dim);
  return ops::split_Tensor::call(self, part, dim);
}
std::vector<Tensor> unbind(const Tensor& self, int64_t dim) {
  const int64_t d = wrap_dimension(dim, self.dim()), size = self.dim() ? self.size(d) : 0;
  if (self.dim() == 0) throw IndexError("Dimension specified as " + std::to_string(dim) + " but tensor has no dimensions");
  std::vector<Tensor> out;
  for (int64_t i = 0; i < size; ++i) out.push_back(ops::select_int::call(self, d, i));
  return out;
}

Tensor diagonal(const Tensor& self, int64_t offset, int64_t dim1, int64_t dim2) {
  const size_t a = wrapped_dim(dim1, self), b = wrapped_dim(dim2, self);
  if (a == b) throw Error("diagonal dimensions cannot be identical " + std::to_string(dim1) + ", " + std::to_string(dim2));
  SizeVector sizes, strides;
  for (size_t d = 0; d < self.sizes().size(); ++d) {
    if (d == a || d == b) continue;
    sizes.push_back(self.sizes()[d]);
    strides.push_back(self.strides()[d]);
  }
  const int64_t n = self.sizes()[a], m = self.sizes()[b];
  const int64_t length = std::max<int64_t>(offset >= 0 ? std::min(n, m - offset) : std::min(n + offset, m), 0);
  int64_t start = self.storage_offset();
  if (length > 0) start += offset >= 0 ? offset * self.strides()[b] : -offset * self.strides()[a];
  sizes.push_back(length);
  strides.push_back(self.strides()[a] + self.strides()[b]);
  return ops::as_strided::call(self, sizes, strides, start);
}
Tensor diagonal_backward(const Tensor& grad_output, Sizes input_sizes, int64_t offset, int64_t dim1, int64_t dim2) {
  Tensor out = ops::zeros::call(input_sizes, grad_output.dtype(), Layout::Strided, grad_output.device());
  Tensor part = ops::diagonal::call(out, offset, dim1, dim2);
  ops::copy_::call(part, grad_output);
  return out;
}
Tensor unfold_backward(const Tensor& grad_in, Sizes input_sizes, int64_t dim, int64_t size, int64_t step) {
  const Tensor out = ops::zeros::call(input_sizes, grad_in.dtype(), Layout::Strided, grad_in.device());
  if (grad_in.dim() == 0 || input_sizes.empty()) return ops::copy_::call(const_cast<Tensor&>(out), grad_in);
  const auto d = static_cast<size_t>(wrap_dimension(dim, static_cast<int64_t>(input_sizes.size())));
  if (!is_floating(grad_in.dtype())) throw Error("unfold_backward: expected a floating point tensor");
  if (step >= size) {
    ops::unfold::call(out, dim, size, step);
  } else {  // stock runs over the result, the windows that hold each place, and the places' numbers
    const int64_t places = std::min(input_sizes[d], (grad_in.sizes()[d] - 1) * step + size);
    SizeVector shape = list(out.sizes()), one(out.sizes().size(), 1), windows = list(grad_in.sizes()), strides = list(grad_in.strides());
    shape[d] = places;
    ops::as_strided::call(out, shape, out.strides());
    windows[d] = 1;
    strides[d] = 0;
    windows.pop_back();
    strides.pop_back();
    ops::as_strided::call(ops::squeeze_dim::call(grad_in, -1), windows, strides);
    const Tensor numbers = ops::arange_start::call(0, places, ScalarType::Long, Layout::Strided, grad_in.device(), {});
    SizeVector steps(one.size(), 0);
    one[d] = places;
    steps[d] = 1;
    ops::as_strided::call(numbers, one, steps);
  }
  // Windows may overlap: each place of a window in its turn.
  for (int64_t w = 0; w < grad_in.sizes()[d]; ++w) {
    for (int64_t i = 0; i < grad_in.sizes().back(); ++i) add_elements(place_of(out, d, w * step + i), place_of(place_of(grad_in, grad_in.sizes().size() - 1, i), d, w));
  }
  return out;
}
Tensor unfold(const Tensor& self, int64_t dimension, int64_t size, int64_t step) {
  const size_t d = wrapped_dim(dimension, self);
  const int64_t whole = self.dim() ? self.sizes()[d] : 1;
  if (step <= 0) throw Error("step is " + std::to_string(step) + " but must be > 0");
  if (size < 0) throw Error("size is " + std::to_string(size) + " but must be >= 0");
  if (size > whole) {
    throw Error("maximum size for tensor at dimension " + std::to_string(d) + " is " + std::to_string(whole) + " but size is " + std::to_string(size));
  }
  SizeVector sizes = list(self.sizes()), strides = list(self.strides());
  const int64_t stride = self.dim() ? strides[d] : 1;
  if (self.dim()) {
    sizes[d] = (whole - size) / step + 1;
    strides[d] = step * stride;
  }
  sizes.push_back(size);
  strides.push_back(stride);
  return ops::as_strided::call(self, sizes, strides);
}

Tensor flatten_using_ints(const Tensor& self, int64_t start_dim, int64_t end_dim) {
  const auto start = static_cast<size_t>(wrap_dimension(start_dim, self.dim())), end = static_cast<size_t>(wrap_dimension(end_dim, self.dim()));
  if (start > end) throw Error("flatten() has invalid args: start_dim cannot come after end_dim");
  if (self.dim() == 0) return ops::reshape::call(self, SizeVector{1});
  if (start == end) return self;
  SizeVector shape(self.sizes().begin(), self.sizes().begin() + static_cast<ptrdiff_t>(start));
  shape.push_back(element_count(self.sizes().subspan(start, end - start + 1)));
  shape.insert(shape.end(), self.sizes().begin() + static_cast<ptrdiff_t>(end) + 1, self.sizes().end());
  return reshape(self, shape);  // no call, as in stock
}
Tensor unflatten_int(const Tensor& self, int64_t dim, Sizes sizes) {
  const size_t d = wrapped_dim(dim, self);
  if (sizes.empty()) throw Error("unflatten: sizes must be non-empty");
  SizeVector shape = list(self.sizes());
  const SizeVector parts = infer_size(sizes, shape[d]);
  shape.erase(shape.begin() + static_cast<ptrdiff_t>(d));
  shape.insert(shape.begin() + static_cast<ptrdiff_t>(d), parts.begin(), parts.end());
  return ops::view::call(self, shape);
}
Tensor ravel(const Tensor& self) { return ops::view::call(ops::contiguous::call(self), SizeVector{-1}); }
Tensor view_as(const Tensor& self, const Tensor& other) { return ops::view::call(self, other.sizes()); }
Tensor expand_as(const Tensor& self, const Tensor& other) { return ops::expand::call(self, other.sizes()); }
Tensor reshape_as(const Tensor& self, const Tensor& other) { return ops::reshape::call(self, other.sizes()); }
Tensor numpy_T(const Tensor& self) {
  SizeVector order;
  for (int64_t d = self.dim(); d-- > 0;) order.push_back(d);
  return ops::permute::call(self, order);
}
Tensor mT(const Tensor& self) {
  if (self.dim() < 2) throw Error("tensor.mT is only supported on matrices or batches of matrices. Got " + std::to_string(self.dim()) + "-D tensor.");
  return ops::transpose_int::call(self, -2, -1);
}
Tensor movedim_int(const Tensor& self, int64_t source, int64_t destination) {
  return ops::movedim_intlist::call(self, Sizes(&source, 1), Sizes(&destination, 1));
}
Tensor movedim_intlist(const Tensor& self, Sizes source, Sizes destination) {
  if (source.size() != destination.size()) {
    throw Error("movedim: Invalid source or destination dims: source (" + to_text(source) + " dims) should contain the same number of dims as destination (" +
                to_text(destination) + " dims)");
  }
  if (self.dim() == 0) {
    for (const Sizes dims : {source, destination}) {
      for (const int64_t d : dims) wrap_dimension(d, 0);
    }
    return ops::alias::call(self);
  }
  SizeVector order(self.sizes().size(), -1);
  std::vector<bool> moved(order.size());
  for (size_t i = 0; i < source.size(); ++i) {
    const size_t from = wrapped_dim(source[i], self), to = wrapped_dim(destination[i], self);
    if (moved[from]) throw Error("movedim: repeated dim in `source` (" + to_text(source) + ")");
    if (order[to] != -1) throw Error("movedim: repeated dim in `destination` (" + to_text(destination) + ")");
    moved[from] = true;
    order[to] = static_cast<int64_t>(from);
  }
  size_t next = 0;
  for (int64_t& o : order) {
    if (o != -1) continue;
    while (moved[next]) ++next;
    o = static_cast<int64_t>(next++);
  }
  return ops::permute::call(self, order);
}
Tensor swapaxes(const Tensor& self, int64_t axis0, int64_t axis1) { return ops::transpose_int::call(self, axis0, axis1); }

Tensor& as_strided_(Tensor& self, Sizes size, Sizes stride, std::optional<int64_t> storage_offset) {
  TensorImpl& impl = self.impl();
  const Tensor seen = view_of(self, size, stride, storage_offset.value_or(impl.offset));  // checks
  impl.sizes = seen.impl().sizes;
  impl.strides = seen.impl().strides;
  impl.offset = seen.impl().offset;
  return self;
}
Tensor& squeeze_(Tensor& self, int64_t dim) {
  const size_t d = wrapped_dim(dim, self);
  SizeVector sizes = list(self.sizes()), strides = list(self.strides());
  if (self.dim() > 0 && sizes[d] == 1) {
    sizes.erase(sizes.begin() + static_cast<ptrdiff_t>(d));
    strides.erase(strides.begin() + static_cast<ptrdiff_t>(d));
  }
  return ops::as_strided_::call(self, sizes, strides);
}
Tensor& squeeze_(Tensor& self) {
  SizeVector sizes, strides;
  for (size_t d = 0; d < self.sizes().size(); ++d) {
    if (self.sizes()[d] == 1) continue;
    sizes.push_back(self.sizes()[d]);
    strides.push_back(self.strides()[d]);
  }
  return ops::as_strided_::call(self, sizes, strides);
}
Tensor& squeeze_(Tensor& self, Sizes dims) {
  std::vector<bool> goes(self.sizes().size() + 1);
  for (const int64_t d : dims) goes[wrapped_dim(d, self)] = true;
  SizeVector sizes, strides;
  for (size_t d = 0; d < self.sizes().size(); ++d) {
    if (goes[d] && self.sizes()[d] == 1) continue;
    sizes.push_back(self.sizes()[d]);
    strides.push_back(self.strides()[d]);
  }
  return ops::as_strided_::call(self, sizes, strides);
}
Tensor& t_(Tensor& self) {
  if (self.dim() > 2) throw Error("t_() expects a tensor with <= 2 dimensions, but self is " + std::to_string(self.dim()) + "D");
  return ops::transpose_::call(self, 0, self.dim() < 2 ? 0 : 1);
}
Tensor& unsqueeze_(Tensor& self, int64_t dim) {
  const auto d = static_cast<size_t>(wrap_dimension(dim, self.dim() + 1));
  SizeVector sizes = list(self.sizes()), strides = list(self.strides());
  const int64_t stride = d < sizes.size() ? sizes[d] * strides[d] : 1;
  sizes.insert(sizes.begin() + static_cast<ptrdiff_t>(d), 1);
  strides.insert(strides.begin() + static_cast<ptrdiff_t>(d), stride);
  return ops::as_strided_::call(self, sizes, strides);
}
Tensor& transpose_(Tensor& self, int64_t dim0, int64_t dim1) {
  const size_t a = wrapped_dim(dim0, self), b = wrapped_dim(dim1, self);
  if (a == b) return self;
  SizeVector sizes = list(self.sizes()), strides = list(self.strides());
  std::swap(sizes[a], sizes[b]);
  std::swap(strides[a], strides[b]);
  return ops::as_strided_::call(self, sizes, strides);
}
Tensor& detach_(Tensor& self) { return self; }
Tensor lift_fresh(const Tensor& self) { return self; }

}  // namespace peel::kernels
