// Joining, repeating and padding.
#include <algorithm>

#include "core/dispatch/error.h"
#include "core/tensor/promotion.h"
#include "kernels/cpu/elementwise.h"
#include "ops_generated/kernels.h"
#include "ops_generated/ops.h"

namespace peel::kernels {
namespace {

bool is_empty_vector(const Tensor& t) { return t.dim() == 1 && t.sizes()[0] == 0; }

}  // namespace

Tensor cat(std::span<const Tensor> tensors, int64_t dim) {
  if (tensors.empty()) throw Error("torch.cat(): expected a non-empty list of Tensors");
  std::vector<Operand> types;
  const Tensor* model = nullptr;
  for (size_t i = 0; i < tensors.size(); ++i) {
    if (tensors[i].dim() == 0) throw Error("zero-dimensional tensor (at position " + std::to_string(i) + ") cannot be concatenated");
    types.push_back(as_operand(tensors[i]));
    if (!model && !is_empty_vector(tensors[i])) model = &tensors[i];
  }
  const ScalarType t = result_type(types);
  if (!model) return empty(SizeVector{0}, t, tensors[0].device());
  const auto d = static_cast<size_t>(wrap_dimension(dim, model->dim()));
  SizeVector shape(model->sizes().begin(), model->sizes().end());
  shape[d] = 0;
  for (size_t i = 0; i < tensors.size(); ++i) {
    const Tensor& one = tensors[i];
    if (is_empty_vector(one)) continue;
    if (one.dim() != model->dim()) {
      throw Error("Tensors must have same number of dimensions: got " + std::to_string(model->dim()) + " and " + std::to_string(one.dim()));
    }
    for (size_t k = 0; k < shape.size(); ++k) {
      if (k != d && one.sizes()[k] != model->sizes()[k]) {
        throw Error("Sizes of tensors must match except in dimension " + std::to_string(d) + ". Expected size " + std::to_string(model->sizes()[k]) +
                    " but got size " + std::to_string(one.sizes()[k]) + " for tensor number " + std::to_string(i) + " in the list.");
      }
    }
    shape[d] += one.sizes()[d];
  }
  const Tensor out = empty(shape, t, model->device());
  // Stock copies what lies row by row in one loop (whole numbers along the first dimension only); else one by one, into parts of the result, of which
  // it makes one when all are alike.
  const auto joins = [](const Tensor& one) { return !is_empty_vector(one); };
  const auto alike = [&](const Tensor& one) { return std::ranges::equal(one.sizes(), model->sizes()) && std::ranges::equal(one.strides(), model->strides()); };
  const bool one_type = std::ranges::all_of(tensors, [t](const Tensor& one) { return one.dtype() == t; });
  const bool fast = one_type && (is_floating(t) || d == 0) && std::ranges::all_of(tensors, [](const Tensor& one) { return one.is_contiguous(); });
  const bool reuses = one_type && std::ranges::all_of(tensors, alike);
  int64_t at = 0;
  for (const Tensor& one : tensors) {
    if (!joins(one)) continue;
    if (out.numel() && !fast && (!reuses || at == 0)) {  // into an empty result nothing is copied
      Tensor part = ops::narrow::call(out, static_cast<int64_t>(d), at, one.sizes()[d]);
      if (one.dtype() != t) {
        Tensor same = ops::empty_like::call(part, one.dtype(), {}, {}, {}, MemoryFormat::Contiguous);
        copy_elements(same, one);
        ops::copy_::call(part, same);
        at += one.sizes()[d];
        continue;
      }
    }
    copy_elements(view_of(out, one.sizes(), out.strides(), out.numel() ? at * out.strides()[d] : 0), one);
    at += one.sizes()[d];
  }
  return out;
}

Tensor stack(std::span<const Tensor> tensors, int64_t dim) {
  if (tensors.empty()) throw Error("stack expects a non-empty TensorList");
  const Tensor& first = tensors[0];
  for (size_t i = 1; i < tensors.size(); ++i) {
    if (!std::ranges::equal(tensors[i].sizes(), first.sizes())) {
      throw Error("stack expects each tensor to be equal size, but got " + to_text(first.sizes()) + " at entry 0 and " + to_text(tensors[i].sizes()) +
                  " at entry " + std::to_string(i));
    }
  }
  const int64_t d = wrap_dimension(dim, first.dim() + 1);
  if (d < first.dim() && !first.impl().sparse) {
    SizeVector shape(first.sizes().begin(), first.sizes().end());
    shape.insert(shape.begin() + static_cast<ptrdiff_t>(d), static_cast<int64_t>(tensors.size()));
    return ops::view::call(ops::cat::call(tensors, d), shape);
  }
  std::vector<Tensor> wide;
  for (const Tensor& t : tensors) wide.push_back(ops::unsqueeze::call(t, d));
  return ops::cat::call(wide, d);
}

Tensor& stack_out(std::span<const Tensor> tensors, int64_t dim, Tensor& out) {
  if (tensors.empty()) throw Error("stack expects a non-empty TensorList");
  const Tensor& first = tensors[0];
  const int64_t d = wrap_dimension(dim, first.dim() + 1);
  SizeVector shape(first.sizes().begin(), first.sizes().end());
  shape.insert(shape.begin() + static_cast<ptrdiff_t>(d), static_cast<int64_t>(tensors.size()));
  if (!std::ranges::equal(out.sizes(), shape)) reshape_out(out, shape);
  if (d < first.dim() && out.is_contiguous()) {
    SizeVector joined(first.sizes().begin(), first.sizes().end());
    joined[static_cast<size_t>(d)] *= static_cast<int64_t>(tensors.size());
    Tensor seen = ops::view::call(out, joined);
    ops::cat_out::call(tensors, d, seen);
    return out;
  }
  std::vector<Tensor> wide;
  for (const Tensor& t : tensors) wide.push_back(ops::unsqueeze::call(t, d));
  return ops::cat_out::call(wide, d, out);
}

Tensor repeat(const Tensor& self, Sizes repeats) {
  if (static_cast<int64_t>(repeats.size()) < self.dim()) {
    throw Error("Number of dimensions of repeat dims can not be smaller than number of dimensions of tensor");
  }
  SizeVector padded(repeats.size() - self.sizes().size(), 1), target;
  padded.insert(padded.end(), self.sizes().begin(), self.sizes().end());
  bool none = false;
  for (size_t d = 0; d < repeats.size(); ++d) {
    none = none || repeats[d] == 0;
    target.push_back(padded[d] * repeats[d]);
  }
  const Tensor wide = ops::expand::call(self, padded);
  Tensor out = ops::empty_memory_format::call(target, self.dtype(), Layout::Strided, self.device());
  if (none) return out;
  Tensor folded = out;
  for (size_t d = 0; d < repeats.size(); ++d) folded = ops::unfold::call(folded, static_cast<int64_t>(d), padded[d], std::max<int64_t>(padded[d], 1));
  ops::copy_::call(folded, ops::expand_as::call(wide, folded));
  // Counts and sizes alternate in the result; stock computes that order with tensors.
  const auto n = static_cast<int64_t>(repeats.size());
  const Tensor counts = ops::arange::call(n, ScalarType::Long, {}, self.device(), {});
  const Tensor sizes = ops::add_Scalar::call(counts, n);
  const Tensor columns[] = {ops::unsqueeze::call(counts, 1), ops::unsqueeze::call(sizes, 1)};
  const Tensor order = ops::flatten_using_ints::call(ops::cat::call(columns, 1));
  return ops::reshape::call(ops::permute::call(folded, Sizes(order.data_as<int64_t>(), static_cast<size_t>(2 * n))), target);
}

Tensor flip(const Tensor& self, Sizes dims) {
  std::vector<bool> named(self.sizes().size());
  for (const int64_t d : dims) {
    const auto at = static_cast<size_t>(wrap_dimension(d, self.dim()));
    if (at < named.size()) {
      if (named[at]) throw Error("dim " + std::to_string(at) + " appears multiple times in the list of dims");
      named[at] = true;
    }
  }
  Tensor out = ops::empty_like::call(self, {}, {}, {}, {}, MemoryFormat::Preserve);
  SizeVector strides(out.strides().begin(), out.strides().end());
  int64_t flipped = 0;
  for (size_t d = 0; d < named.size(); ++d) {
    if (!named[d] || self.sizes()[d] <= 1 || self.strides()[d] == 0) named[d] = false;
    if (named[d]) ++flipped;
  }
  if (flipped == 0 || self.numel() <= 1) return ops::copy_::call(out, self);
  SizeVector restrided(self.strides().begin(), self.strides().end());
  ops::as_strided::call(self, self.sizes(), restrided);
  const int64_t n = self.numel();
  SizeVector at(self.sizes().size(), 0);
  const size_t bytes = element_size(self.dtype());
  const auto* from = static_cast<const char*>(self.data());
  auto* to = static_cast<char*>(out.data());
  for (int64_t i = 0; i < n && from; ++i) {
    int64_t a = 0, b = 0;
    for (size_t d = 0; d < at.size(); ++d) {
      a += at[d] * self.strides()[d];
      b += (named[d] ? self.sizes()[d] - 1 - at[d] : at[d]) * strides[d];
    }
    std::copy_n(from + a * static_cast<int64_t>(bytes), bytes, to + b * static_cast<int64_t>(bytes));
    for (size_t d = at.size(); d-- > 0;) {
      if (++at[d] < self.sizes()[d]) break;
      at[d] = 0;
    }
  }
  return out;
}

Tensor roll(const Tensor& self, Sizes shifts, Sizes dims) {
  if (shifts.empty()) throw Error("`shifts` required");
  if (dims.empty() && shifts.size() == 1) {
    const Tensor flat = ops::view::call(self.is_contiguous() ? self : ops::contiguous::call(self), SizeVector{self.numel()});
    return ops::view::call(ops::roll::call(flat, shifts, SizeVector{0}), self.sizes());
  }
  if (shifts.size() != dims.size()) {
    throw Error("shifts and dimensions must align. shifts: " + std::to_string(shifts.size()) + ", dims:" + std::to_string(dims.size()));
  }
  if (dims.size() > 1) {
    const Tensor first = ops::roll::call(self, shifts.subspan(0, 1), dims.subspan(0, 1));
    return ops::roll::call(first, shifts.subspan(1), dims.subspan(1));
  }
  if (self.numel() == 0) return ops::clone::call(self, MemoryFormat::Preserve);
  const int64_t size = self.size(dims[0]);
  int64_t start = (size - shifts[0]) % size;
  if (start < 0) start += size;
  const Tensor parts[] = {ops::narrow::call(self, dims[0], start, size - start), ops::narrow::call(self, dims[0], 0, start)};
  return ops::cat::call(parts, dims[0]);
}

namespace {

/// The calls by which stock makes matrices lie one after the other: what is contiguous gets the usual strides, else more than three
/// dimensions, or matrices that lie otherwise, are copied.
Tensor with_rows_in_batches(const Tensor& self) {
  if (self.is_contiguous()) {
    const SizeVector usual = contiguous_strides(self.sizes());
    return std::ranges::equal(self.strides(), usual) ? self : ops::as_strided::call(self, self.sizes(), usual);
  }
  int64_t expected = self.size(-1) * self.size(-2);
  for (int64_t d = self.dim() - 3; d >= 0; --d) {
    if (self.strides()[static_cast<size_t>(d)] != expected) return ops::contiguous::call(self);
    expected *= self.size(d);
  }
  return self;
}

Tensor triangle(const Tensor& self, int64_t diagonal, bool upper) {
  if (self.dim() < 2) throw Error(std::string(upper ? "triu" : "tril") + ": input tensor must have at least 2 dimensions");
  const Tensor out = empty(self.sizes(), self.dtype(), self.device());
  copy_elements(out, self.numel() ? with_rows_in_batches(self) : self);
  const int64_t rows = self.size(-2), columns = self.size(-1);
  with_real_type(self.dtype(), "tril_triu", [&]<class T>(T) {
    T* data = out.data_as<T>();
    for (int64_t i = 0; i < out.numel() && data; ++i) {
      const int64_t column = i % columns, row = i / columns % rows;
      if (upper ? column < row + diagonal : column > row + diagonal) data[i] = T{};
    }
  });
  return out;
}

}  // namespace

Tensor tril(const Tensor& self, int64_t diagonal) { return triangle(self, diagonal, false); }
Tensor triu(const Tensor& self, int64_t diagonal) { return triangle(self, diagonal, true); }

Tensor constant_pad_nd(const Tensor& self, Sizes pad, const Scalar& value) {
  if (pad.size() % 2 != 0) throw Error("Length of pad must be even but instead it equals " + std::to_string(pad.size()));
  const auto pairs = static_cast<int64_t>(pad.size() / 2);
  if (pairs > self.dim()) {
    throw Error("Length of pad should be no more than twice the number of dimensions of the input. Pad length is " + std::to_string(pad.size()) +
                "while the input has " + std::to_string(self.dim()) + "dimensions.");
  }
  const int64_t first = self.dim() - pairs;
  const auto before = [&](int64_t d) { return pad[static_cast<size_t>(2 * (self.dim() - d - 1))]; };
  const auto after = [&](int64_t d) { return pad[static_cast<size_t>(2 * (self.dim() - d - 1) + 1)]; };
  Tensor in = self;
  for (int64_t d = first; d < self.dim(); ++d) {
    if (before(d) < 0) in = ops::narrow::call(in, d, -before(d), in.size(d) + before(d));
    if (after(d) < 0) in = ops::narrow::call(in, d, 0, in.size(d) + after(d));
  }
  if (std::ranges::all_of(pad, [](int64_t p) { return p <= 0; })) return ops::clone::call(in);
  SizeVector shape;
  for (int64_t d = 0; d < self.dim(); ++d) {
    const int64_t size = self.size(d) + (d < first ? 0 : before(d) + after(d));
    if (size < 0) {
      throw Error("The input size " + std::to_string(self.size(d)) + ", plus negative padding " + std::to_string(before(d)) + " and " +
                  std::to_string(after(d)) + " resulted in a negative output size, which is invalid. Check dimension " + std::to_string(d) + " of your input.");
    }
    shape.push_back(size);
  }
  Tensor out = ops::empty_memory_format::call(shape, self.dtype(), Layout::Strided, self.device(), {}, MemoryFormat::Contiguous);
  ops::fill__Scalar::call(out, value);
  Tensor inside = out;
  for (int64_t d = first; d < self.dim(); ++d) {
    if (before(d) > 0) inside = ops::narrow::call(inside, d, before(d), inside.size(d) - before(d));
    if (after(d) > 0) inside = ops::narrow::call(inside, d, 0, inside.size(d) - after(d));
  }
  ops::copy_::call(inside, in);
  return out;
}
Tensor pad(const Tensor& self, Sizes pad, std::string_view mode, std::optional<double> value) {
  if (pad.size() % 2 != 0) throw Error("Padding length must be divisible by 2");
  if (mode == "constant") return ops::constant_pad_nd::call(self, pad, value.value_or(0.0));
  if (value) throw Error("Padding mode \"" + std::string(mode) + "\" doesn't take in value argument");
  if (pad.size() == 2 && (self.dim() == 2 || self.dim() == 3)) {
    if (mode == "reflect") return ops::reflection_pad1d::call(self, pad);
    if (mode == "replicate") return ops::replication_pad1d::call(self, pad);
    if (mode == "circular") return ops::_pad_circular::call(self, pad);
  } else if (pad.size() == 4 && (self.dim() == 3 || self.dim() == 4)) {
    if (mode == "reflect") return ops::reflection_pad2d::call(self, pad);
    if (mode == "replicate") return ops::replication_pad2d::call(self, pad);
    if (mode == "circular") return ops::_pad_circular::call(self, pad);
  } else if (pad.size() == 6 && (self.dim() == 4 || self.dim() == 5)) {
    if (mode == "replicate") return ops::replication_pad3d::call(self, pad);
    if (mode == "circular") return ops::_pad_circular::call(self, pad);
  }
  if (mode == "reflect" || mode == "replicate" || mode == "circular") {
    throw NotImplemented("Only 2D, 3D, 4D, 5D padding with non-constant padding are supported for now");
  }
  throw NotImplemented("Unrecognised padding mode " + std::string(mode));
}

std::vector<Tensor> meshgrid_indexing(std::span<const Tensor> tensors, std::string_view indexing) {
  if (tensors.empty()) throw Error("meshgrid expects a non-empty TensorList");
  if (indexing != "ij" && indexing != "xy") throw Error("torch.meshgrid: indexing must be one of \"xy\" or \"ij\", but received: " + std::string(indexing));
  const bool swap = indexing == "xy" && tensors.size() >= 2;
  std::vector<Tensor> in(tensors.begin(), tensors.end());
  if (swap) std::swap(in[0], in[1]);
  SizeVector shape;
  for (const Tensor& t : in) shape.push_back(t.numel());
  std::vector<Tensor> out;
  for (size_t i = 0; i < in.size(); ++i) {
    SizeVector seen(in.size(), 1);
    seen[i] = -1;
    out.push_back(ops::expand::call(ops::view::call(in[i], seen), shape));
  }
  if (swap) {
    for (Tensor& t : out) t = ops::swapaxes::call(t, 0, 1);
    std::swap(out[0], out[1]);
  }
  return out;
}
std::vector<Tensor> meshgrid(std::span<const Tensor> tensors) { return meshgrid_indexing(tensors, "ij"); }

Tensor one_hot(const Tensor& self, int64_t num_classes) {
  if (self.dtype() != ScalarType::Long) throw Error("one_hot is only applicable to index tensor of type LongTensor.");
  SizeVector shape(self.sizes().begin(), self.sizes().end());
  if (self.numel() == 0) {
    if (num_classes <= 0) throw Error("Can not infer total number of classes from empty tensor.");
    shape.push_back(num_classes);
    return ops::empty_memory_format::call(shape, ScalarType::Long, Layout::Strided, self.device());
  }
  if (self.keys().has(DispatchKey::Meta)) {  // nobody can ask what its numbers are
    if (num_classes == -1) num_classes = ops::item::call(ops::max::call(self)).value.to_int() + 1;
    const Tensor classes = ops::arange::call(num_classes, ScalarType::Long, Layout::Strided, self.device());
    return ops::to_dtype::call(ops::eq_Tensor::call(ops::unsqueeze::call(self, -1), classes), ScalarType::Long);
  }
  const auto [low, high] = ops::aminmax::call(self);
  if (ops::item::call(low).value.to_int() < 0) throw Error("Class values must be non-negative.");
  const int64_t largest = ops::item::call(high).value.to_int();
  if (num_classes != -1 && num_classes < 1) throw Error("num_classes should be positive");
  if (num_classes != -1 && num_classes <= largest) throw Error("Class values must be smaller than num_classes.");
  shape.push_back(num_classes == -1 ? largest + 1 : num_classes);
  Tensor out = ops::zeros::call(shape, ScalarType::Long, Layout::Strided, self.device());
  return ops::scatter__value::call(out, -1, ops::unsqueeze::call(self, -1), 1);
}

}  // namespace peel::kernels
