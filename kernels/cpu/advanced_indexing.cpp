// Picking and putting by tensors of indices and masks that stand for dimensions.
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
    places.push_back(whole_numbers_of(p.indices[d]));
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
      for (int64_t d = static_cast<int64_t>(indices.size()) - 1 + mask.dim(); d < self.dim(); ++d) mask = ops::unsqueeze::call(mask, -1);
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
  with_real_type(self.dtype(), "index_put", [&]<class T>(T) {
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
