#include <algorithm>

#include "core/functorch/rules.h"
#include "core/functorch/wrappers.h"
#include "ops_generated/ops.h"

namespace peel::core::functorch::rules {
namespace {

std::vector<int64_t> ints(const IValue& v) {
  std::vector<int64_t> out;
  if (v.tag() == IValue::Tag::kInt) return {v.to_int()};
  for (const IValue& e : v.to_list()) out.push_back(e.to_int());
  return out;
}

void shift(BatchCall& c, size_t i, int64_t rank) {
  IValue& v = c.argument(i);
  if (v.is_none()) return;
  if (v.tag() == IValue::Tag::kInt) {
    v = physical(v.to_int(), rank);
    return;
  }
  std::vector<int64_t> all = ints(v);
  for (int64_t& d : all) d = physical(d, rank);
  c.set(i, std::move(all));
}

void prepend(BatchCall& c, size_t i, int64_t first) {
  std::vector<int64_t> all = ints(c.argument(i));
  all.insert(all.begin(), first);
  c.set(i, std::move(all));
}

void dims_of_first(BatchCall& c, int64_t more) {
  const Batched self = c.tensor(0);
  c.set(0, front(self));
  for (const size_t i : c.dims()) shift(c, i, self.rank() + more);
  c.give(c.run(), 0);
}

SizeVector expanded_sizes(const Tensor& t, int64_t size) {
  SizeVector out{size};
  out.insert(out.end(), t.sizes().begin(), t.sizes().end());
  return out;
}

// As the rules that PyTorch had before functorch do it: by permute.
Tensor permuted_to_front(const Batched& b) {
  if (!b.dim || *b.dim == 0) return b.value;
  SizeVector order{*b.dim};
  for (int64_t d = 0; d < b.value.dim(); ++d) {
    if (d != *b.dim) order.push_back(d);
  }
  return ops::permute::call(b.value, order);
}

}  // namespace

void to_front(BatchCall& c) {
  for (size_t i = 0; i < c.count(); ++i) {
    if (c.is_tensor(i)) c.set(i, front(c.tensor(i)));
  }
  c.give(c.run(), 0);
}

void with_dims(BatchCall& c) { dims_of_first(c, 0); }
void with_new_dims(BatchCall& c) { dims_of_first(c, 1); }

void with_dims_all(BatchCall& c) {
  int64_t rank = 0;
  std::vector<bool> batched(c.count());
  for (size_t i = 0; i < c.count(); ++i) {
    if (!c.is_tensor(i)) continue;
    const Batched b = c.tensor(i);
    rank = std::max(rank, b.rank());
    batched[i] = b.dim.has_value();
    c.set(i, front(b));
  }
  for (size_t i = 0; i < c.count(); ++i) {
    if (c.is_tensor(i)) c.set(i, with_batch(c.given(i), batched[i], c.batch_size()));
  }
  for (const size_t i : c.dims()) shift(c, i, rank);
  c.give(c.run(), 0);
}

void with_sizes(BatchCall& c) {
  c.set(0, front(c.tensor(0)));
  for (const size_t i : c.dims()) prepend(c, i, c.given(0).sizes()[0]);
  c.give(c.run(), 0);
}

void new_of_sizes(BatchCall& c) {
  c.set(0, c.tensor(0).value);
  for (const size_t i : c.dims()) prepend(c, i, c.batch_size());
  c.give(c.run(), 0);
}

void with_sizes_and_dims(BatchCall& c) {
  c.set(0, front(c.tensor(0)));
  const int64_t rank = static_cast<int64_t>(ints(c.argument(c.dims()[0])).size());
  prepend(c, c.dims()[0], c.given(0).sizes()[0]);
  for (const size_t i : c.dims().subspan(1)) shift(c, i, rank);
  c.give(c.run(), 0);
}

void squeeze(BatchCall& c) {
  const Batched self = c.tensor(0);
  SizeVector shape;
  int64_t dim = 0;
  for (int64_t d = 0; d < self.value.dim(); ++d) {
    if (d == *self.dim) dim = static_cast<int64_t>(shape.size());
    if (d == *self.dim || self.value.sizes()[static_cast<size_t>(d)] != 1) shape.push_back(self.value.sizes()[static_cast<size_t>(d)]);
  }
  c.give(ops::view::call(self.value, shape), dim);
}

void squeeze_dims(BatchCall& c) {
  const Batched self = c.tensor(0);
  std::vector<int64_t> dims = ints(c.argument(1));
  int64_t at = *self.dim;
  for (int64_t& d : dims) {
    const int64_t actual = wrap_dimension(d, self.rank());
    if (actual < *self.dim && self.value.sizes()[static_cast<size_t>(actual)] == 1) --at;
    d = actual < *self.dim ? actual : actual + 1;
  }
  if (self.rank() == 0) dims.clear();
  c.give(ops::squeeze_dims::call(self.value, dims), at);
}

// Dimensions that the expansion adds come behind the batch.
void expand(BatchCall& c) {
  const Batched self = c.tensor(0);
  const Tensor t = front(self);
  const std::vector<int64_t> size = ints(c.argument(1));
  SizeVector shape{t.sizes()[0]}, target{t.sizes()[0]};
  if (static_cast<int64_t>(size.size()) > self.rank()) shape.insert(shape.end(), size.size() - static_cast<size_t>(self.rank()), 1);
  shape.insert(shape.end(), t.sizes().begin() + 1, t.sizes().end());
  target.insert(target.end(), size.begin(), size.end());
  c.give(ops::expand::call(ops::view::call(t, shape), target, c.argument(2).to_bool()), 0);
}

void permute(BatchCall& c) {
  const Batched self = c.tensor(0);
  c.set(0, front(self));
  shift(c, 1, self.rank());
  prepend(c, 1, 0);
  c.give(c.run(), 0);
}

void repeat(BatchCall& c) {
  const Batched self = c.tensor(0);
  const int64_t count = static_cast<int64_t>(ints(c.argument(1)).size());
  Tensor t = front(self);
  while (t.dim() < count + 1) t = ops::unsqueeze::call(t, 1);
  c.set(0, t);
  prepend(c, 1, 1);
  c.give(c.run(), 0);
}

void roll(BatchCall& c) {
  const Batched self = c.tensor(0);
  const Tensor t = front(self);
  if (!ints(c.argument(2)).empty()) {
    c.set(0, t);
    shift(c, 2, self.rank());
    return c.give(c.run(), 0);
  }
  if (self.rank() == 0) return c.give(t, 0);
  const Tensor flat = ops::flatten_using_ints::call(t, 1, -1);
  const std::vector<int64_t> shifts = ints(c.argument(1));
  c.give(ops::reshape::call(ops::roll::call(flat, shifts, SizeVector{1}), t.sizes()), 0);
}

// Of rules older than functorch: they don't exclude the key while they run (measured).
void split(BatchCall& c) {
  const BatchedAgain seen;
  const Batched self = c.tensor(0);
  c.set(0, permuted_to_front(self));
  for (const size_t i : c.dims()) shift(c, i, self.rank());
  c.give(c.run(), 0);
}

void as_strided(BatchCall& c) {
  const BatchedAgain seen;
  const Batched self = c.tensor(0);
  const Tensor t = permuted_to_front(self);
  c.set(0, t);
  prepend(c, 1, t.sizes()[0]);
  prepend(c, 2, t.strides()[0]);
  c.give(c.run(), 0);
}

void cat(BatchCall& c) {
  std::vector<IValue> list;
  int64_t rank = 0;
  for (const Batched& b : c.tensors(0)) {
    rank = std::max(rank, b.rank());
    list.emplace_back(static_cast<const TensorHandle&>(with_batch(front(b), b.dim.has_value(), c.batch_size())));
  }
  c.argument(0) = IValue::list(std::move(list));
  shift(c, 1, rank);
  c.give(c.run(), 0);
}

void stack(BatchCall& c) {
  std::vector<IValue> list;
  int64_t rank = 0;
  for (const Batched& b : c.tensors(0)) {
    rank = std::max(rank, b.rank());
    const Tensor t = b.dim ? ops::movedim_int::call(b.value, *b.dim, 0)
                           : ops::expand::call(ops::unsqueeze::call(b.value, 0), expanded_sizes(b.value, c.batch_size()), false);
    list.emplace_back(static_cast<const TensorHandle&>(t));
  }
  c.argument(0) = IValue::list(std::move(list));
  shift(c, 1, rank + 1);
  const BatchedAgain seen;
  c.give(c.run(), 0);
}

// The tensor that is stood for changes its shape, and so does the one that stands for it; where the batch lies may change.
void in_place_view(BatchCall& c) {
  const BatchedAgain seen;
  const Tensor given = c.given(0);
  BatchWrapping* b = batch_wrapping(given);
  Tensor value = b->value;
  const int64_t rank = given.dim();
  const std::string_view name = c.op().name().name;
  const auto place = [&](int64_t d) { return d < b->dim ? d : d + 1; };
  if (name == "aten::unsqueeze_") {
    const int64_t d = wrap_dimension(c.argument(1).to_int(), rank + 1);
    ops::unsqueeze_::call(value, place(d));
    if (d < b->dim) ++b->dim;
  } else if (name == "aten::transpose_") {
    ops::transpose_::call(value, place(wrap_dimension(c.argument(1).to_int(), rank)), place(wrap_dimension(c.argument(2).to_int(), rank)));
  } else if (name == "aten::squeeze_") {
    if (c.count() == 1) {
      int64_t before = 0;
      for (int64_t d = 0; d < b->dim; ++d) before += value.sizes()[static_cast<size_t>(d)] == 1;
      ops::squeeze_::call(value);
      b->dim -= before;
    } else {
      const int64_t d = place(wrap_dimension(c.argument(1).to_int(), rank));
      const bool goes = value.sizes()[static_cast<size_t>(d)] == 1;
      ops::squeeze__dims::call(value, SizeVector{d});
      if (goes && d < b->dim) --b->dim;
    }
  }
  refresh_shape(given);
  c.give_back(0);
}

}  // namespace peel::core::functorch::rules
