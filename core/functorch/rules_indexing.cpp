#include <algorithm>

#include "core/dispatch/error.h"
#include "core/functorch/rules.h"
#include "ops_generated/ops.h"

namespace peel::core::functorch::rules {
namespace {

Tensor arange_of_batch(int64_t size, const Tensor& like) { return ops::arange::call(size, ScalarType::Long, Layout::Strided, like.device(), {}); }

bool is_mask(const Tensor& t) { return t.dtype() == ScalarType::Bool || t.dtype() == ScalarType::Byte; }

// Where, among the program's dimensions, an index of several tensors puts its own.
struct IndexLayout {
  bool apart = false;   // with a whole dimension between two of them: then in front
  int64_t first = 0;    // of the dimensions that have one
  int64_t rank = 0;     // of the indices broadcast together
};

IndexLayout layout_of(const std::vector<Batched>& indices) {
  IndexLayout out;
  bool seen = false, ended = false;
  for (size_t i = 0; i < indices.size(); ++i) {
    if (!indices[i].value.defined()) {
      ended = seen;
      continue;
    }
    if (!seen) out.first = static_cast<int64_t>(i);
    if (ended) out.apart = true;
    seen = true;
    out.rank = std::max(out.rank, indices[i].rank());
  }
  return out;
}

// None where there was none, and undefined where that was given (it has keys).
std::vector<IValue> boxed(const std::vector<Tensor>& list, const std::vector<IValue>& given) {
  const size_t more = list.size() - given.size();
  std::vector<IValue> out;
  for (size_t i = 0; i < list.size(); ++i) {
    const bool none = !list[i].defined() && (i < more || given[i - more].is_none());
    out.push_back(none ? IValue() : IValue(static_cast<const TensorHandle&>(list[i])));
  }
  return out;
}

void refuse_masks(const std::vector<Batched>& indices) {
  for (const Batched& b : indices) {
    if (b.dim && is_mask(b.value)) {
      throw Error("vmap: We do not support batching operators that can support dynamic shape. Attempting to batch over indexing with a boolean mask.");
    }
  }
}

// Indices as they are for a tensor whose batch is in front: of each sample its own, when they differ.
std::vector<Tensor> physical_indices(const std::vector<Batched>& indices, const Tensor& self, bool self_batched, bool own, int64_t rank) {
  std::vector<Tensor> out;
  for (const Batched& b : indices) out.push_back(b.value.defined() ? padded(front(b), b.dim.has_value(), b.rank(), rank) : Tensor());
  if (!self_batched) return out;
  if (!own) {
    out.insert(out.begin(), Tensor());
    return out;
  }
  Tensor numbers = arange_of_batch(self.sizes()[0], self);
  for (int64_t d = 0; d < rank; ++d) numbers = ops::unsqueeze::call(numbers, -1);
  out.insert(out.begin(), numbers);
  return out;
}

}  // namespace

// gather, scatter and the like: the tensors lie sample by sample before one another. A scalar is a row of one.
void gather(BatchCall& c) {
  std::vector<size_t> places;
  for (size_t i = 0; i < c.count(); ++i) {
    if (c.is_tensor(i)) places.push_back(i);
  }
  std::vector<Batched> all;
  for (const size_t i : places) all.push_back(c.tensor(i));
  const int64_t self_rank = all[0].rank(), result_rank = c.op().name().name == "aten::gather" ? all[1].rank() : self_rank;
  std::vector<Tensor> moved;
  for (const Batched& b : all) moved.push_back(front(b));
  for (size_t k = 0; k < places.size(); ++k) {
    if (all[k].rank() == 0) moved[k] = ops::unsqueeze::call(moved[k], -1);
  }
  for (size_t k = 0; k < places.size(); ++k) c.set(places[k], with_batch(moved[k], all[k].dim.has_value(), c.batch_size()));
  const size_t at = c.dims()[0];
  c.argument(at) = physical(c.argument(at).to_int(), std::max<int64_t>(self_rank, 1));
  if (c.op().schema().arguments[0].alias) {
    if (!all[0].dim) incompatible_in_place(c.op().name().name.substr(6).c_str());
    c.run();
    return c.give_back(0);
  }
  std::vector<IValue> results = c.run();
  if (result_rank == 0) {
    const Tensor t = ops::squeeze_dim::call(Tensor(results[0].to_tensor().release()), -1);
    results[0] = IValue(static_cast<const TensorHandle&>(t));
  }
  c.give(results, 0);
}

void index(BatchCall& c) {
  const Batched self = c.tensor(0);
  const std::vector<Batched> indices = c.tensors(1);
  refuse_masks(indices);
  const bool own = std::ranges::any_of(indices, [](const Batched& b) { return b.dim.has_value(); });
  const Tensor t = front(self);
  const IndexLayout layout = layout_of(indices);
  c.set(0, t);
  c.argument(1) = IValue::list(boxed(physical_indices(indices, t, self.dim.has_value(), own, layout.rank), c.argument(1).to_list()));
  const std::vector<IValue> results = c.run();
  Tensor out(results[0].to_tensor().release());
  if (!self.dim) {  // the indices' dimensions, of which the batch is the first, stand where the first index is
    return c.give(out, layout.apart ? 0 : layout.first);
  }
  if (!own) {
    // Indices that are apart have their dimensions in front of the batch.
    return c.give(out, layout.apart ? layout.rank : 0);
  }
  // With the batch's own index in front all dimensions of indices come first: they go back to where the program has them.
  if (!layout.apart && layout.first > 0) {
    SizeVector order{0};
    for (int64_t d = 0; d < layout.first; ++d) order.push_back(1 + layout.rank + d);
    for (int64_t d = 0; d < layout.rank; ++d) order.push_back(1 + d);
    for (int64_t d = static_cast<int64_t>(order.size()); d < out.dim(); ++d) order.push_back(d);
    out = ops::permute::call(out, order);
  }
  c.give(out, 0);
}

void index_put(BatchCall& c) {
  const Batched self = c.tensor(0);
  const std::vector<Batched> indices = c.tensors(1);
  const Batched values = c.tensor(2);
  const bool in_place = c.op().schema().arguments[0].alias.has_value();
  const IndexLayout layout = layout_of(indices);
  Tensor t = front(self);
  if (!self.dim) {
    if (in_place) {
      incompatible_in_place("index_put_");
    }
    t = with_batch(t, false, c.batch_size());
  }
  refuse_masks(indices);
  const bool own = std::ranges::any_of(indices, [](const Batched& b) { return b.dim.has_value(); }) || values.dim;
  Tensor v = front(values);
  if (own) v = with_batch(v, values.dim.has_value(), c.batch_size());
  std::vector<Tensor> places;
  for (const Batched& b : indices) places.push_back(b.value.defined() ? padded(front(b), b.dim.has_value(), b.rank(), layout.rank) : Tensor());
  if (own) {
    SizeVector shape{t.sizes()[0]};
    for (const Batched& b : indices) {
      if (!b.value.defined()) continue;
      const Sizes all = b.value.sizes();
      SizeVector logical;
      for (size_t d = 0; d < all.size(); ++d) {
        if (!b.dim || static_cast<int64_t>(d) != *b.dim) logical.push_back(all[d]);
      }
      const SizeVector before(shape.begin() + 1, shape.end());
      const SizeVector both = broadcast(before, logical);
      shape.assign(1, t.sizes()[0]);
      shape.insert(shape.end(), both.begin(), both.end());
    }
    Tensor numbers = arange_of_batch(t.sizes()[0], t);
    for (int64_t d = 0; d < layout.rank; ++d) numbers = ops::unsqueeze::call(numbers, -1);
    ops::expand::call(numbers, shape, false);  // for its shape alone, as in stock
    places.insert(places.begin(), numbers);
    // The values have the shape of what is written: dimensions of indices, then those left.
    int64_t left = t.dim() - 1;
    for (const Batched& b : indices) left -= b.value.defined() ? 1 : 0;
    v = padded(v, true, values.rank(), layout.rank + std::max<int64_t>(left, 0));
    if (!layout.apart && layout.first > 0) {  // to where the written place has them
      SizeVector order{0};
      for (int64_t d = 0; d < layout.rank; ++d) order.push_back(1 + layout.first + d);
      for (int64_t d = 0; d < layout.first; ++d) order.push_back(1 + d);
      for (int64_t d = static_cast<int64_t>(order.size()); d < v.dim(); ++d) order.push_back(d);
      v = ops::permute::call(v, order);
    }
  } else {
    places.insert(places.begin(), Tensor());
  }
  c.set(0, t);
  c.argument(1) = IValue::list(boxed(places, c.argument(1).to_list()));
  c.set(2, v);
  const std::vector<IValue> results = c.run();
  if (in_place) return c.give_back(0);
  c.give(results, 0);
}

void embedding(BatchCall& c) {
  const Batched weight = c.tensor(0), indices = c.tensor(1);
  if (!weight.dim) {
    c.set(1, indices.value);
    return c.give(c.run(), indices.dim);
  }
  if (!indices.dim) {  // the samples' tables beside each other
    c.set(0, fold(*weight.dim, 1, weight.value));
    const Tensor out(c.run()[0].to_tensor().release());
    return c.give(unfold(-1, c.batch_size(), out), out.dim() - 1);
  }
  // The samples' tables below each other.
  const Tensor table = fold(*weight.dim, 0, weight.value), i = front(indices);
  const int64_t size = c.batch_size(), rows = table.sizes()[0] / size;
  Tensor begin = ops::arange_start_step::call(0, size * rows, rows, i.dtype(), Layout::Strided, i.device(), {});
  begin = padded(begin, true, 0, indices.rank());
  c.give(ops::embedding::call(table, ops::add_Tensor::call(i, begin), c.argument(2).to_int(), c.argument(3).to_bool(), c.argument(4).to_bool()), 0);
}

void embedding_backward(BatchCall& c) {
  const Batched grad = c.tensor(0), indices = c.tensor(1);
  const int64_t size = c.batch_size(), rows = c.argument(2).to_int();
  if (!indices.dim) {  // the samples' gradients beside each other
    c.set(0, fold(*grad.dim, -1, grad.value));
    const Tensor out(c.run()[0].to_tensor().release());
    return c.give(unfold(-1, size, out), 1);
  }
  const Tensor g = with_batch(front(grad), grad.dim.has_value(), size), i = front(indices);
  Tensor begin = ops::arange_start_step::call(0, size * rows, rows, i.dtype(), Layout::Strided, i.device(), {});
  begin = padded(begin, true, 0, indices.rank());
  c.set(0, g);
  c.set(1, ops::add_Tensor::call(i, begin, 1));
  c.argument(2) = size * rows;
  c.give(unfold(0, size, Tensor(c.run()[0].to_tensor().release())), 0);
}

// index_add, index_fill and index_copy, by the tensor that is to be written.
void index_along(BatchCall& c) {
  const Batched self = c.tensor(0), at = c.tensor(2);
  if (at.dim) return each_sample(c);
  const bool in_place = c.op().schema().arguments[0].alias.has_value();
  const int64_t rank = self.rank();
  const Tensor own = in_place ? self.value : ops::clone::call(self.value, MemoryFormat::Preserve);
  Tensor t = with_batch(front({own, self.dim}), self.dim.has_value(), c.batch_size());
  if (c.count() > 3 && c.is_tensor(3)) {
    const Batched other = c.tensor(3);
    c.set(3, with_batch(front(other), other.dim.has_value(), c.batch_size()));
  }
  c.argument(1) = physical(c.argument(1).to_int(), rank);
  c.set(0, t);
  if (in_place) {
    c.run();
    return c.give_back(0);
  }
  const std::string_view name = c.op().name().name;
  if (name == "aten::index_fill") {
    if (c.is_tensor(3)) ops::index_fill__int_Tensor::call(t, c.argument(1).to_int(), at.value, c.given(3));
    else ops::index_fill__int_Scalar::call(t, c.argument(1).to_int(), at.value, Scalar(c.argument(3)));
    return c.give(t, 0);
  }
  c.give(c.run(), 0);
}

}  // namespace peel::core::functorch::rules
