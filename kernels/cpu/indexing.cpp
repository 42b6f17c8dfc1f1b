// Picking and putting elements by tensors of indices.
#include <algorithm>

#include "core/tensor/sparse.h"
#include "kernels/cpu/indexing.h"
#include "kernels/cpu/rows.h"
#include "ops_generated/kernels.h"
#include "ops_generated/ops.h"

namespace peel::kernels {

std::vector<int64_t> whole_numbers_of(const Tensor& index) {
  std::vector<int64_t> out(static_cast<size_t>(index.numel()));
  const Tensor flat = rows_of(index, named_dims(std::nullopt, index.dim())).data;
  with_type(index.dtype(), "index", [&]<class T>(T) {
    for (size_t i = 0; i < out.size(); ++i) out[i] = static_cast<int64_t>(static_cast<Math<T>>(flat.data_as<T>()[i]));
  });
  return out;
}

Tensor like(const Tensor& self) { return empty_strided(self.sizes(), like_strides(self.sizes(), self.strides()), self.dtype(), self.device()); }
Tensor slice_at(const Tensor& t, int64_t d, int64_t i) {
  if (t.dim() == 0) return t;
  SizeVector sizes(t.sizes().begin(), t.sizes().end()), strides(t.strides().begin(), t.strides().end());
  const int64_t offset = t.storage_offset() + i * strides[static_cast<size_t>(d)];
  sizes.erase(sizes.begin() + static_cast<ptrdiff_t>(d));
  strides.erase(strides.begin() + static_cast<ptrdiff_t>(d));
  return view_of(t, sizes, strides, offset);
}

namespace {

void check_index_type(const char* op, const Tensor& index) {
  if (index.dtype() != ScalarType::Long && index.dtype() != ScalarType::Int) {
    throw Error(std::string(op) + "(): Expected dtype int32/int64 for index");
  }
}
// One element at each place of `index`: where it is in `index` and `other`, and in `self` at the index along `dim`.
template <class F>
void each_place(const Tensor& self, int64_t dim, const Tensor& index, const Tensor& other, F f) {
  const auto rank = static_cast<size_t>(index.dim());
  if (index.numel() == 0) return;
  const auto d = static_cast<size_t>(dim);
  SizeVector at(rank, 0);
  const Sizes is = index.strides(), ss = self.strides(), os = other.strides();
  for (;;) {
    int64_t i = 0, s = 0, o = 0;
    for (size_t k = 0; k < rank; ++k) {
      i += at[k] * is[k];
      o += at[k] * os[k];
      if (k != d) s += at[k] * ss[k];
    }
    const int64_t along = index.dtype() == ScalarType::Long ? index.data_as<int64_t>()[i] : index.data_as<int32_t>()[i];
    const int64_t size = rank ? self.sizes()[d] : 1;
    if (along < 0 || along >= size) {
      throw Error("index " + std::to_string(along) + " is out of bounds for dimension " + std::to_string(dim) + " with size " + std::to_string(size));
    }
    f(s + (rank ? along * ss[d] : 0), o);
    size_t k = rank;
    while (k-- > 0) {
      if (++at[k] < index.sizes()[k]) break;
      at[k] = 0;
    }
    if (k == static_cast<size_t>(-1)) return;
  }
}

void check_gather(const char* op, const Tensor& self, int64_t dim, const Tensor& index) {
  if (index.dtype() != ScalarType::Long && index.dtype() != ScalarType::Int) throw Error(std::string(op) + "(): Expected dtype int32/int64 for index");
  if (std::max<int64_t>(index.dim(), 1) != std::max<int64_t>(self.dim(), 1)) {
    if (std::string_view(op) == "gather") throw Error("Index tensor must have the same number of dimensions as input tensor");
    throw Error("Index tensor must have the same number of dimensions as self tensor");
  }
  for (int64_t d = 0; d < index.dim(); ++d) {
    if (d != dim && self.dim() > 0 && index.size(d) > self.size(d)) {
      if (std::string_view(op) == "gather") {
        throw Error("Size does not match at dimension " + std::to_string(d) + " expected index " + to_text(index.sizes()) + " to be no larger than self " +
                    to_text(self.sizes()) + " apart from dimension " + std::to_string(dim));
      }
      throw Error("Expected index " + to_text(index.sizes()) + " to be no larger than self " + to_text(self.sizes()) + " apart from dimension " +
                  std::to_string(dim));
    }
  }
}
void check_source(const Tensor& self, int64_t dim, const Tensor& index, const Tensor& src) {
  if (self.dtype() != src.dtype()) throw Error("scatter(): Expected self.dtype to be equal to src.dtype");
  for (int64_t d = 0; d < index.dim(); ++d) {
    if (index.size(d) > src.size(d) || (d != dim && index.size(d) > self.size(d))) {
      throw Error("Expected index " + to_text(index.sizes()) + " to be no larger than self " + to_text(self.sizes()) + " apart from dimension " +
                  std::to_string(dim) + " and to be no larger size than src " + to_text(src.sizes()));
    }
  }
}

Tensor long_index(const Tensor& index) { return ops::to_dtype::call(index, ScalarType::Long); }

// Long rows are added as a whole: by an index for the first dimension that is expanded over the others.
bool by_rows(const Tensor& self, int64_t dim, const Tensor& index, const Tensor& src) {
  const ScalarType type = self.dtype();
  if (dim != 0 || index.dim() == 0 || index.numel() / index.size(0) < 16 || type == ScalarType::Half || !is_floating(type)) return false;
  for (int64_t d = 1; d < index.dim(); ++d) {
    if (index.size(d) != src.size(d) || index.strides()[static_cast<size_t>(d)] != 0) return false;
  }
  return index.strides()[0] == 1 && self.is_contiguous() && src.is_contiguous();
}

enum class Put : uint8_t { kSet, kAdd };
void scatter_into(const Tensor& self, int64_t dim, const Tensor& index, const Tensor& src, Put put) {
  const int64_t d = wrap_dimension(dim, self.dim());
  check_gather("scatter", self, d, index);
  check_source(self, d, index, src);
  if (index.numel() == 0) return;
  const Tensor i = put == Put::kAdd && by_rows(self, d, index, src) ? index : long_index(index);
  with_real_type(self.dtype(), "scatter_add_", [&]<class T>(T) {
    each_place(self, d, i, src, [&](int64_t to, int64_t from) {
      T& o = self.data_as<T>()[to];
      const T x = src.data_as<T>()[from];
      o = put == Put::kSet ? x : static_cast<T>(static_cast<Math<T>>(o) + static_cast<Math<T>>(x));
    });
  });
}
void scatter_into(const Tensor& self, int64_t dim, const Tensor& index, const Scalar& value) {
  const int64_t d = wrap_dimension(dim, self.dim());
  check_gather("scatter", self, d, index);
  if (index.numel() == 0) return;
  const Tensor i = long_index(index);
  with_real_type(self.dtype(), "scatter_fill_", [&]<class T>(T) {
    each_place(self, d, i, i, [v = as<T>(value), &self](int64_t to, int64_t) { self.data_as<T>()[to] = v; });
  });
}

}  // namespace

Tensor gather(const Tensor& self, int64_t dim, const Tensor& index, bool) {
  const int64_t d = wrap_dimension(dim, self.dim());
  check_gather("gather", self, d, index);
  Tensor out = empty(index.sizes(), self.dtype(), self.device());
  if (index.numel() == 0) return out;
  const Tensor i = long_index(index);
  with_real_type(self.dtype(), "gather_out_cpu", [&]<class T>(T) {
    each_place(self, d, i, out, [&](int64_t from, int64_t to) { out.data_as<T>()[to] = self.data_as<T>()[from]; });
  });
  return out;
}
Tensor& scatter_(Tensor& self, int64_t dim, const Tensor& index, const Tensor& src) {
  scatter_into(self, dim, index, src, Put::kSet);
  return self;
}
Tensor& scatter_(Tensor& self, int64_t dim, const Tensor& index, const Scalar& value) {
  scatter_into(self, dim, index, value);
  return self;
}
Tensor& scatter_add_(Tensor& self, int64_t dim, const Tensor& index, const Tensor& src) {
  scatter_into(self, dim, index, src, Put::kAdd);
  return self;
}
Tensor scatter(const Tensor& self, int64_t dim, const Tensor& index, const Tensor& src) {
  Tensor out = like(self);
  ops::copy_::call(out, self);
  scatter_into(out, dim, index, src, Put::kSet);
  return out;
}
Tensor scatter(const Tensor& self, int64_t dim, const Tensor& index, const Scalar& value) {
  Tensor out = like(self);
  ops::copy_::call(out, self);
  scatter_into(out, dim, index, value);
  return out;
}
Tensor scatter_add(const Tensor& self, int64_t dim, const Tensor& index, const Tensor& src) {
  Tensor out = like(self);
  ops::copy_::call(out, self);
  scatter_into(out, dim, index, src, Put::kAdd);
  return out;
}

Tensor& index_select_out(const Tensor& self, int64_t dim, const Tensor& index, Tensor& out) {
  if (index.dim() > 1) throw IndexError("index_select(): Index is supposed to be a vector");
  check_index_type("index_select", index);
  const int64_t d = wrap_dimension(dim, self.dim());
  SizeVector shape(self.sizes().begin(), self.sizes().end());
  if (!shape.empty()) shape[static_cast<size_t>(d)] = index.numel();
  if (out.dtype() != self.dtype()) throw Error("index_select(): self and result must have the same scalar type");
  if (!std::ranges::equal(out.sizes(), shape)) reshape_out(out, shape);
  const std::vector<int64_t> places = whole_numbers_of(made_contiguous(index));
  const int64_t size = self.dim() ? self.size(d) : 1;
  for (const int64_t p : places) {
    if (p < 0 || p >= size) throw IndexError("index out of range in self");
  }
  if (out.numel() == 0) return out;
  if (self.dim() > 1 && !(d == 1 && out.is_contiguous())) {
    ops::select_int::call(self, d, 0);
    ops::select_int::call(out, d, 0);
  }
  for (size_t k = 0; k < places.size(); ++k) {
    if (self.dim() == 0) {
      copy_elements(out, self);
      continue;
    }
    SizeVector part(self.sizes().begin(), self.sizes().end());
    part[static_cast<size_t>(d)] = 1;
    copy_elements(view_of(out, part, out.strides(), out.storage_offset() + static_cast<int64_t>(k) * out.strides()[static_cast<size_t>(d)]),
                  view_of(self, part, self.strides(), self.storage_offset() + places[k] * self.strides()[static_cast<size_t>(d)]));
  }
  return out;
}
Tensor index_select(const Tensor& self, int64_t dim, const Tensor& index) {
  Tensor out = ops::empty_memory_format::call(SizeVector{0}, self.dtype(), Layout::Strided, self.device());
  return index_select_out(self, dim, index, out);
}
Tensor index_select_backward(const Tensor& grad, Sizes self_sizes, int64_t dim, const Tensor& index) {
  Tensor out = ops::new_zeros::call(grad, self_sizes, grad.dtype(), core::layout_of(grad), grad.device(), false);
  if (grad.keys().has(DispatchKey::Meta)) return ops::index_add::call(out, dim, index, grad);
  return ops::index_add_::call(out, dim, index, grad);
}
Tensor gather_backward(const Tensor& grad, const Tensor& self, int64_t dim, const Tensor& index, bool) {
  Tensor out = ops::new_zeros::call(grad, self.sizes());
  if (grad.keys().has(DispatchKey::Meta)) return ops::scatter_add::call(out, dim, index, grad);
  return ops::scatter_add_::call(out, dim, index, grad);
}
Tensor value_selecting_reduction_backward(const Tensor& grad, int64_t dim, const Tensor& indices, Sizes sizes, bool keepdim) {
  Tensor g = grad, i = indices;
  if (!keepdim && !sizes.empty()) {
    i = ops::unsqueeze::call(indices, dim);
    g = ops::unsqueeze::call(grad, dim);
  }
  if (g.keys().has(DispatchKey::Meta)) return ops::scatter_src::call(ops::new_zeros::call(g, sizes), dim, i, g);
  Tensor out = ops::zeros::call(sizes, g.dtype(), Layout::Strided, g.device(), {});
  return ops::scatter__src::call(out, dim, i, g);
}

namespace {

void add_at(Tensor& self, int64_t dim, const Tensor& given_index, const Tensor& source, const Scalar& alpha) {
  const int64_t d = wrap_dimension(dim, self.dim());
  Tensor index = given_index;
  if (index.dim() > 1) throw IndexError("index_add_(): Index is supposed to be a vector, but got dim: " + std::to_string(index.dim()) + " with type: " + to_string(index.dtype()) + " and size: " + to_text(index.sizes()));
  check_index_type("index_add_", index);
  if (self.dtype() != source.dtype()) throw Error(std::string("index_add_(): self (") + to_string(self.dtype()) + ") and source (" + to_string(source.dtype()) + ") must have the same scalar type");
  if (index.numel() == 0) return;
  index = made_contiguous(index);
  const double factor = alpha.value.to_double();
  if (self.dim() > 1 && factor == 1 && (d == 0 || d == self.dim() - 1)) {  // by places along the dimension, repeated over the others
    SizeVector strides(source.sizes().size(), 0);
    strides[static_cast<size_t>(d)] = index.dim() ? index.strides()[0] : 0;
    ops::scatter_add_::call(self, d, ops::as_strided::call(index, source.sizes(), strides), source);
    return;
  }
  if (self.dim() > 1) {
    ops::select_int::call(self, d, 0);
    ops::select_int::call(source, d, 0);
  }
  const std::vector<int64_t> places = whole_numbers_of(index);
  with_type(self.dtype(), "index_add_cpu_", [&]<class T>(T) {
    for (size_t k = 0; k < places.size(); ++k) {
      const int64_t at = places[k], size = self.dim() ? self.size(d) : 1;
      if (at < 0 || at >= size) throw IndexError("index out of range in self");
      SizeVector part(self.sizes().begin(), self.sizes().end());
      int64_t to = self.storage_offset(), from = source.storage_offset();
      if (!part.empty()) {
        part[static_cast<size_t>(d)] = 1;
        to += at * self.strides()[static_cast<size_t>(d)];
        from += static_cast<int64_t>(k) * (source.dim() ? source.strides()[static_cast<size_t>(d)] : 0);
      }
      Walk<2> walk(part);
      walk.set(0, view_of(self, part, self.strides(), to));
      walk.set(1, view_of(source, part, source.strides(), from));
      each<T, T>(walk, [f = static_cast<Math<T>>(factor)](T& o, T x) { o = static_cast<T>(static_cast<Math<T>>(o) + f * static_cast<Math<T>>(x)); });
    }
  });
}

}  // namespace

Tensor& index_add_(Tensor& self, int64_t dim, const Tensor& index, const Tensor& source, const Scalar& alpha) {
  add_at(self, dim, index, source, alpha);
  return self;
}
Tensor index_add(const Tensor& self, int64_t dim, const Tensor& index, const Tensor& source, const Scalar& alpha) {
  Tensor out = like(self);
  ops::copy_::call(out, self);
  add_at(out, dim, index, source, alpha);
  return out;
}

namespace {

// Slices of `self` at the places that a vector of indices names along `dim`: stock's iterator looks at both by as_strided.
std::vector<int64_t> places_along(const char* op, const Tensor& self, int64_t d, const Tensor& index) {
  check_index_type(op, index);
  if (index.dim() > 1) throw Error("Index has to be a vector/scalar");
  std::vector<int64_t> out = whole_numbers_of(index);
  const int64_t size = self.dim() ? self.size(d) : 1;
  for (int64_t& i : out) {
    if (i < -size || i >= size) throw IndexError("index out of range in self");
    if (i < 0) i += size;
  }
  return out;
}
void copy_at(const Tensor& self, int64_t dim, const Tensor& index, const Tensor& source) {
  const int64_t d = wrap_dimension(dim, self.dim());
  if (self.dtype() != source.dtype()) {
    throw Error(std::string("index_copy_(): self and source expected to have the same dtype, but got (self) ") + to_string(self.dtype()) + " and (source) " + to_string(source.dtype()));
  }
  if (source.dim() > 0 && index.numel() != source.size(d)) {
    throw IndexError("index_copy_(): Number of indices (" + std::to_string(index.numel()) + ") should be equal to source.size(dim) (" + std::to_string(source.size(d)) + ")");
  }
  const std::vector<int64_t> places = places_along("index_copy_", self, d, index);
  if (places.empty()) return;
  ops::as_strided::call(self, self.sizes(), self.strides());
  ops::as_strided::call(index, index.sizes(), index.strides());
  for (size_t k = 0; k < places.size(); ++k) copy_elements(slice_at(self, d, places[k]), slice_at(source, d, static_cast<int64_t>(k)));
}

}  // namespace

Tensor& index_fill_(Tensor& self, int64_t dim, const Tensor& index, const Scalar& value) {
  const int64_t d = wrap_dimension(dim, self.dim());
  if (index.dtype() != ScalarType::Long) throw IndexError("index_fill_(): Expected dtype int64 for index.");
  const std::vector<int64_t> places = places_along("index_fill_", self, d, index);
  ops::as_strided::call(self, self.sizes(), self.strides());
  ops::as_strided::call(index, index.sizes(), index.strides());
  if (self.numel() == 0) return self;
  with_any_type(self.dtype(), "index_fill_cpu", [&]<class T>(T) {
    for (const int64_t i : places) {
      const Tensor part = slice_at(self, d, i);
      Walk<1> walk(part.sizes());
      walk.set(0, part);
      each<T>(walk, [v = as<T>(value)](T& o) { o = v; });
    }
  });
  return self;
}
Tensor index_fill(const Tensor& self, int64_t dim, const Tensor& index, const Scalar& value) {
  Tensor out = ops::clone::call(self, MemoryFormat::Preserve);
  return ops::index_fill__int_Scalar::call(out, dim, index, value);
}
Tensor& index_copy_(Tensor& self, int64_t dim, const Tensor& index, const Tensor& source) {
  copy_at(self, dim, index, source);
  return self;
}
Tensor index_copy(const Tensor& self, int64_t dim, const Tensor& index, const Tensor& source) {
  Tensor out = like(self);
  ops::copy_::call(out, self);
  copy_at(out, dim, index, source);
  return out;
}

}  // namespace peel::kernels
