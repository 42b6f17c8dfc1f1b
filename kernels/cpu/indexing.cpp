// Picking and putting elements by tensors of indices.
#include <algorithm>

#include "kernels/cpu/rows.h"
#include "ops_generated/kernels.h"
#include "ops_generated/ops.h"

namespace peel::kernels {
namespace {

int64_t wrapped_index(int64_t i, int64_t size, int64_t dim) {
  if (i < -size || i >= size) {
    throw IndexError("index " + std::to_string(i) + " is out of bounds for dimension " + std::to_string(dim) + " with size " + std::to_string(size));
  }
  return i < 0 ? i + size : i;
}
void check_index_type(const char* op, const Tensor& index) {
  if (index.dtype() != ScalarType::Long && index.dtype() != ScalarType::Int) {
    throw Error(std::string(op) + "(): Expected dtype int32/int64 for index");
  }
}
std::vector<int64_t> values_of(const Tensor& index) {
  std::vector<int64_t> out(static_cast<size_t>(index.numel()));
  const Tensor flat = rows_of(index, named_dims(std::nullopt, index.dim())).data;
  with_type(index.dtype(), "index", [&]<class T>(T) {
    for (size_t i = 0; i < out.size(); ++i) out[i] = static_cast<int64_t>(static_cast<Math<T>>(flat.data_as<T>()[i]));
  });
  return out;
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

enum class Put : uint8_t { kSet, kAdd };
void scatter_into(const Tensor& self, int64_t dim, const Tensor& index, const Tensor& src, Put put) {
  const int64_t d = wrap_dimension(dim, self.dim());
  check_gather("scatter", self, d, index);
  check_source(self, d, index, src);
  if (index.numel() == 0) return;
  const Tensor i = long_index(index);
  with_type(self.dtype(), "scatter_add_", [&]<class T>(T) {
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
  with_type(self.dtype(), "scatter_fill_", [&]<class T>(T) {
    each_place(self, d, i, i, [v = as<T>(value), &self](int64_t to, int64_t) { self.data_as<T>()[to] = v; });
  });
}
Tensor like(const Tensor& self) { return empty_strided(self.sizes(), like_strides(self.sizes(), self.strides()), self.dtype(), self.device()); }

}  // namespace

Tensor gather(const Tensor& self, int64_t dim, const Tensor& index, bool) {
  const int64_t d = wrap_dimension(dim, self.dim());
  check_gather("gather", self, d, index);
  Tensor out = empty(index.sizes(), self.dtype(), self.device());
  if (index.numel() == 0) return out;
  const Tensor i = long_index(index);
  with_type(self.dtype(), "gather_out_cpu", [&]<class T>(T) {
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

Tensor index_select(const Tensor& self, int64_t dim, const Tensor& index) {
  if (index.dim() > 1) throw IndexError("index_select(): Index is supposed to be a vector");
  check_index_type("index_select", index);
  const int64_t d = wrap_dimension(dim, self.dim());
  SizeVector shape(self.sizes().begin(), self.sizes().end());
  if (!shape.empty()) shape[static_cast<size_t>(d)] = index.numel();
  Tensor out = ops::empty_memory_format::call(SizeVector{0}, self.dtype(), Layout::Strided, self.device());
  const Tensor made = empty(shape, self.dtype(), self.device());
  out.impl().storage = made.impl().storage;
  out.impl().sizes = made.impl().sizes;
  out.impl().strides = made.impl().strides;
  const std::vector<int64_t> places = values_of(index);
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
Tensor index_select_backward(const Tensor& grad, Sizes self_sizes, int64_t dim, const Tensor& index) {
  Tensor out = ops::new_zeros::call(grad, self_sizes, grad.dtype(), Layout::Strided, grad.device(), false);
  return ops::index_add_::call(out, dim, index, grad);
}
Tensor gather_backward(const Tensor& grad, const Tensor& self, int64_t dim, const Tensor& index, bool) {
  Tensor out = ops::new_zeros::call(grad, self.sizes());
  return ops::scatter_add_::call(out, dim, index, grad);
}
Tensor value_selecting_reduction_backward(const Tensor& grad, int64_t dim, const Tensor& indices, Sizes sizes, bool keepdim) {
  Tensor g = grad, i = indices;
  if (!keepdim && !sizes.empty()) {
    i = ops::unsqueeze::call(indices, dim);
    g = ops::unsqueeze::call(grad, dim);
  }
  Tensor out = ops::zeros::call(sizes, g.dtype(), Layout::Strided, g.device(), {});
  return ops::scatter__src::call(out, dim, i, g);
}

namespace {

void add_at(Tensor& self, int64_t dim, const Tensor& index, const Tensor& source, const Scalar& alpha) {
  const int64_t d = wrap_dimension(dim, self.dim());
  if (index.dim() > 1) throw IndexError("index_add_(): Index is supposed to be a vector, but got dim: " + std::to_string(index.dim()) + " with type: " + to_string(index.dtype()) + " and size: " + to_text(index.sizes()));
  check_index_type("index_add_", index);
  if (self.dtype() != source.dtype()) throw Error(std::string("index_add_(): self (") + to_string(self.dtype()) + ") and source (" + to_string(source.dtype()) + ") must have the same scalar type");
  if (index.numel() == 0) return;
  const double factor = alpha.value.to_double();
  if (self.dim() > 1 && factor == 1) {  // by places along the dimension, repeated over the others
    SizeVector strides(source.sizes().size(), 0);
    strides[static_cast<size_t>(d)] = index.dim() ? index.strides()[0] : 0;
    ops::scatter_add_::call(self, d, ops::as_strided::call(index, source.sizes(), strides), source);
    return;
  }
  const std::vector<int64_t> places = values_of(index);
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

// Advanced indexing: indices that broadcast together; where they are neighbours their shape takes their place, else it comes first.
struct Picked {
  std::vector<Tensor> indices;   // broadcast, of whole numbers; undefined: the whole dimension
  Tensor source;                 // with the indexed dimensions first when they aren't neighbours
  SizeVector shape;              // of the result
  size_t first = 0, count = 0;   // the indexed dimensions
  SizeVector broadcast_shape;
};

Picked picked(const Tensor& self, std::span<const std::optional<Tensor>> given) {
  Picked p;
  if (static_cast<int64_t>(given.size()) > self.dim()) {
    throw IndexError("too many indices for tensor of dimension " + std::to_string(self.dim()) + " (got " + std::to_string(given.size()) + ")");
  }
  for (const auto& one : given) {
    if (!one || !one->defined()) {
      p.indices.emplace_back();
      continue;
    }
    if (one->dtype() == ScalarType::Bool) {
      for (int64_t d = 0; d < one->dim(); ++d) {
        const auto at = static_cast<int64_t>(p.indices.size()) + d;
        if (at >= self.dim() || one->size(d) != self.size(at)) {
          throw IndexError("The shape of the mask " + to_text(one->sizes()) + " at index " + std::to_string(d) + " does not match the shape of the indexed tensor " +
                           to_text(self.sizes()) + " at index " + std::to_string(at));
        }
      }
      const Tensor found = ops::nonzero::call(*one);
      for (int64_t d = 0; d < one->dim(); ++d) p.indices.push_back(ops::select_int::call(found, 1, d));
    } else if (one->dtype() == ScalarType::Long || one->dtype() == ScalarType::Int) {
      p.indices.push_back(*one);
    } else {
      throw IndexError("tensors used as indices must be long, int, byte or bool tensors");
    }
  }
  bool same = true;
  for (const Tensor& t : p.indices) {
    if (!t.defined()) continue;
    try {
      p.broadcast_shape = broadcast(p.broadcast_shape, t.sizes());
    } catch (const Error&) {
      std::string shapes;
      for (const Tensor& i : p.indices) shapes += i.defined() ? (shapes.empty() ? "" : ", ") + to_text(i.sizes()) : "";
      throw IndexError("shape mismatch: indexing tensors could not be broadcast together with shapes " + shapes);
    }
  }
  for (Tensor& t : p.indices) {
    same = same && (!t.defined() || std::ranges::equal(t.sizes(), p.broadcast_shape));
    if (t.defined() && !std::ranges::equal(t.sizes(), p.broadcast_shape)) t = ops::expand::call(t, p.broadcast_shape);
  }
  p.indices.resize(static_cast<size_t>(self.dim()));
  p.source = self;
  const auto defined = [](const Tensor& t) { return t.defined(); };
  const auto start = std::ranges::find_if(p.indices, defined);
  const auto gap = std::find_if_not(start, p.indices.end(), defined);
  if (std::any_of(gap, p.indices.end(), defined)) {
    SizeVector order;
    std::vector<Tensor> moved;
    for (const bool want : {true, false}) {
      for (size_t d = 0; d < p.indices.size(); ++d) {
        if (p.indices[d].defined() != want) continue;
        order.push_back(static_cast<int64_t>(d));
        moved.push_back(p.indices[d]);
      }
    }
    p.source = ops::permute::call(self, order);
    p.indices = std::move(moved);
  }
  for (size_t d = 0; d < p.indices.size(); ++d) {
    if (p.indices[d].defined()) {
      if (p.count == 0) {
        p.first = d;
        p.shape.insert(p.shape.end(), p.broadcast_shape.begin(), p.broadcast_shape.end());
      }
      ++p.count;
    } else {
      p.shape.push_back(p.source.sizes()[d]);
    }
  }
  // Stock's looks at the source and its indices.
  SizeVector sizes, strides;
  for (size_t d = 0; d < p.indices.size(); ++d) {
    if (!p.indices[d].defined()) {
      sizes.push_back(p.source.sizes()[d]);
      strides.push_back(p.source.strides()[d]);
    } else if (d == p.first) {
      sizes.insert(sizes.end(), p.broadcast_shape.begin(), p.broadcast_shape.end());
      strides.insert(strides.end(), p.broadcast_shape.size(), 0);
    }
  }
  for (size_t d = 0; d < p.indices.size(); ++d) {
    if (p.indices[d].defined() && p.source.sizes()[d] == 0 && element_count(p.broadcast_shape) != 0) {
      throw IndexError("index is out of bounds for dimension with size 0");
    }
  }
  ops::as_strided::call(p.source, sizes, strides);
  for (const Tensor& t : p.indices) {
    if (!t.defined()) continue;
    SizeVector shape(p.first, 1);
    shape.insert(shape.end(), t.sizes().begin(), t.sizes().end());
    shape.insert(shape.end(), p.indices.size() - p.first - p.count, 1);
    ops::reshape::call(t, shape);
  }
  return p;
}

// f(the part of the source at the k-th place of the indices, the same part of `values`).
template <class F>
void each_part(const Picked& p, const Tensor& values, F f) {
  std::vector<std::vector<int64_t>> places;
  std::vector<size_t> dims;
  for (size_t d = 0; d < p.indices.size(); ++d) {
    if (!p.indices[d].defined()) continue;
    dims.push_back(d);
    places.push_back(values_of(p.indices[d]));
    for (int64_t& i : places.back()) i = wrapped_index(i, p.source.sizes()[d], static_cast<int64_t>(d));
  }
  SizeVector part, from, to;
  const size_t rank = p.broadcast_shape.size();
  for (size_t d = 0; d < p.indices.size(); ++d) {
    if (p.indices[d].defined()) continue;
    part.push_back(p.source.sizes()[d]);
    from.push_back(p.source.strides()[d]);
    to.push_back(values.strides()[d < p.first ? d : d - p.count + rank]);
  }
  const int64_t n = element_count(p.broadcast_shape);
  for (int64_t k = 0; k < n; ++k) {
    int64_t source = p.source.storage_offset(), target = values.storage_offset(), rest = k;
    for (size_t i = 0; i < dims.size(); ++i) source += places[i][static_cast<size_t>(k)] * p.source.strides()[dims[i]];
    for (size_t d = rank; d-- > 0;) {
      target += rest % p.broadcast_shape[d] * values.strides()[p.first + d];
      rest /= p.broadcast_shape[d];
    }
    f(view_of(p.source, part, from, source), view_of(values, part, to, target));
  }
}

}  // namespace

Tensor index(const Tensor& self, std::span<const std::optional<Tensor>> indices) {
  const Picked p = picked(self, indices);
  const Tensor out = empty(p.shape, self.dtype(), self.device());
  if (out.numel() > 0) each_part(p, out, [](const Tensor& from, const Tensor& to) { copy_elements(to, from); });
  return out;
}
Tensor& _index_put_impl_(Tensor& self, std::span<const std::optional<Tensor>> indices, const Tensor& values, bool accumulate, bool) {
  if (self.dtype() != values.dtype()) {
    throw Error(std::string("Index put requires the source and destination dtypes match, got ") + to_string(self.dtype()) + " for the destination and " +
                to_string(values.dtype()) + " for the source.");
  }
  // One mask and one value: a fill.
  if (!accumulate && values.numel() == 1 && values.dim() == 0 && !indices.empty()) {
    const auto defined = std::ranges::count_if(indices, [](const auto& t) { return t && t->defined(); });
    const auto& last = indices.back();
    if (defined == 1 && last && last->defined() && last->dtype() == ScalarType::Bool) {
      Tensor mask = *last;
      for (size_t d = 0; d + 1 < indices.size(); ++d) mask = ops::unsqueeze::call(mask, 0);
      for (int64_t d = mask.dim(); d < self.dim(); ++d) mask = ops::unsqueeze::call(mask, -1);
      return ops::masked_fill__Scalar::call(self, mask, ops::item::call(values));
    }
  }
  const Picked p = picked(self, indices);
  Tensor from = values;
  try {
    if (!std::ranges::equal(values.sizes(), p.shape)) {
      const Geometry g = core::expand(values.sizes(), values.strides(), p.shape);
      from = view_of(values, g.sizes, g.strides, values.storage_offset());
    }
  } catch (const Error&) {
    throw Error("shape mismatch: value tensor of shape " + to_text(values.sizes()) + " cannot be broadcast to indexing result of shape " + to_text(p.shape));
  }
  if (from.numel() == 0) return self;
  with_type(self.dtype(), "index_put", [&]<class T>(T) {
    each_part(p, from, [accumulate](const Tensor& to, const Tensor& value) {
      if (!accumulate) return copy_elements(to, value);
      Walk<2> walk(to.sizes());
      walk.set(0, to);
      walk.set(1, value);
      each<T, T>(walk, [](T& o, T x) { o = static_cast<T>(static_cast<Math<T>>(o) + static_cast<Math<T>>(x)); });
    });
  });
  return self;
}
Tensor& index_put_(Tensor& self, std::span<const std::optional<Tensor>> indices, const Tensor& values, bool accumulate) {
  return ops::_index_put_impl_::call(self, indices, values, accumulate, false);
}
Tensor index_put(const Tensor& self, std::span<const std::optional<Tensor>> indices, const Tensor& values, bool accumulate) {
  Tensor out = ops::clone::call(self, MemoryFormat::Preserve);
  return ops::index_put_::call(out, indices, values, accumulate);
}

}  // namespace peel::kernels
