// Functions that leave 0 at 0: of the values alone, of tensors of coordinates and of compressed ones.
#include "core/dispatch/error.h"
#include "kernels/sparse/coordinates.h"
#include "ops_generated/kernels.h"
#include "ops_generated/ops.h"

namespace peel::kernels {
namespace {

template <class F>
Tensor coo_with(const Tensor& self, const F& f) {
  const Tensor t = ops::coalesce::call(self);
  const Tensor values = f(ops::values::call(t)), indices = ops::clone::call(ops::indices::call(t));
  const int64_t dense_dim = ops::dense_dim::call(t), sparse_dim = ops::sparse_dim::call(t);
  return ops::_sparse_coo_tensor_with_dims_and_tensors::call(sparse_dim, dense_dim, t.sizes(), indices, values, values.dtype(), Layout::Sparse, self.device(), {}, true);
}
template <class F>
Tensor& coo_in_place(Tensor& self, const char* name, const F& f) {
  if (!ops::is_coalesced::call(self)) throw Error(std::string(name) + "_ requires coalesced input");
  Tensor values = ops::_values::call(self);
  f(values);
  return self;
}
template <class F>
Tensor& coo_out(const Tensor& self, Tensor& out, const F& f) {
  if (self.is_same(out)) {
    if (!ops::is_coalesced::call(self)) throw Error("expected coalesced tensor for in-place operation");
    Tensor values = ops::values::call(self);
    f(values, values);
    return out;
  }
  if (!is_coo(out)) throw Error("expected a sparse result of a function of a sparse tensor");
  const Tensor t = ops::coalesce::call(self);
  const int64_t dense_dim = ops::dense_dim::call(t), sparse_dim = ops::sparse_dim::call(t);
  resize_coo(out, sparse_dim, dense_dim, t.sizes());
  SparseParts &to = sparse_of(out), &from = sparse_of(t);
  ops::resize_::call(to.values, from.values.sizes());
  f(from.values, to.values);
  ops::resize_::call(to.indices, from.indices.sizes());
  ops::copy_::call(to.indices, from.indices);
  return ops::_coalesced_::call(out, true);
}
template <class F>
Tensor lines_with(const Tensor& self, const F& f) {
  const Tensor values = f(ops::values::call(self));
  const Tensor compressed = compressed_of(self), plain = plain_of(self);
  const Tensor p = ops::clone::call(plain), c = ops::clone::call(compressed);
  return ops::_sparse_compressed_tensor_unsafe::call(c, p, values, self.sizes(), values.dtype(), layout_of(self), values.device());
}
template <class F>
Tensor& lines_in_place(Tensor& self, const F& f) {
  Tensor values = ops::values::call(self);
  f(values);
  return self;
}
template <class F>
Tensor& lines_out(const Tensor& self, Tensor& out, const F& f) {
  if (!is_compressed(out)) throw Error("expected a sparse compressed result of a function of one");
  if (!self.is_same(out)) {
    if (sparse_of(out).values.size(0) == 0) ops::resize_as_sparse_::call(out, self);
    copy_compressed_(out, self, false);
  }
  const Tensor from = ops::values::call(self);
  Tensor to = ops::values::call(out);
  f(from, to);
  return out;
}

}  // namespace

#define PEEL_PLAIN(name)                                                                                                     \
  Tensor name##_sparse(const Tensor& self) { return coo_with(self, [](const Tensor& v) { return ops::name::call(v); }); }  \
  Tensor name##_compressed(const Tensor& self) { return lines_with(self, [](const Tensor& v) { return ops::name::call(v); }); }
#define PEEL_IN_PLACE(name)                                                                                           \
  Tensor& name##_sparse_(Tensor& self) { return coo_in_place(self, #name, [](Tensor& v) { ops::name##_::call(v); }); }  \
  Tensor& name##_compressed_(Tensor& self) { return lines_in_place(self, [](Tensor& v) { ops::name##_::call(v); }); }
#define PEEL_OUT(name)                                                                                                                                              \
  Tensor& name##_out_sparse(const Tensor& self, Tensor& out) { return coo_out(self, out, [](const Tensor& v, Tensor& o) { ops::name##_out::call(v, o); }); }      \
  Tensor& name##_out_compressed(const Tensor& self, Tensor& out) { return lines_out(self, out, [](const Tensor& v, Tensor& o) { ops::name##_out::call(v, o); }); }
#define PEEL_ALL(name) PEEL_PLAIN(name) PEEL_IN_PLACE(name) PEEL_OUT(name)
PEEL_ALL(abs)
PEEL_ALL(asin)
PEEL_ALL(asinh)
PEEL_ALL(atan)
PEEL_ALL(atanh)
PEEL_ALL(ceil)
PEEL_ALL(deg2rad)
PEEL_ALL(erf)
PEEL_ALL(erfinv)
PEEL_ALL(expm1)
PEEL_ALL(floor)
PEEL_ALL(frac)
PEEL_ALL(log1p)
PEEL_ALL(rad2deg)
PEEL_ALL(round)
PEEL_ALL(sgn)
PEEL_ALL(sign)
PEEL_ALL(sin)
PEEL_ALL(sinh)
PEEL_ALL(sqrt)
PEEL_ALL(tan)
PEEL_ALL(tanh)
PEEL_ALL(trunc)
PEEL_PLAIN(relu)
PEEL_IN_PLACE(relu)
PEEL_PLAIN(isinf)
PEEL_PLAIN(isnan)
PEEL_PLAIN(isneginf)
PEEL_PLAIN(isposinf)
PEEL_PLAIN(signbit)
PEEL_OUT(signbit)
#undef PEEL_PLAIN
#undef PEEL_IN_PLACE
#undef PEEL_OUT
#undef PEEL_ALL

Tensor neg_compressed(const Tensor& self) { return lines_with(self, [](const Tensor& v) { return ops::neg::call(v); }); }
Tensor& neg_compressed_(Tensor& self) { return lines_in_place(self, [](Tensor& v) { ops::neg_::call(v); }); }
Tensor& neg_out_compressed(const Tensor& self, Tensor& out) { return lines_out(self, out, [](const Tensor& v, Tensor& o) { ops::neg_out::call(v, o); }); }

Tensor nan_to_num_sparse(const Tensor& self, std::optional<double> nan, std::optional<double> posinf, std::optional<double> neginf) {
  return coo_with(self, [&](const Tensor& v) { return ops::nan_to_num::call(v, nan, posinf, neginf); });
}
Tensor threshold_backward_sparse(const Tensor& grad, const Tensor& self, const Scalar& threshold) {
  if (ops::_nnz::call(grad) == 0) return ops::clone::call(grad);
  const Tensor at = ops::is_coalesced::call(self) ? ops::values::call(self) : ops::values::call(ops::coalesce::call(self));
  return coo_with(grad, [&](const Tensor& v) { return ops::threshold_backward::call(v, at, threshold); });
}
Tensor threshold_backward_compressed(const Tensor& grad, const Tensor& self, const Scalar& threshold) {
  const Tensor at = ops::values::call(self);
  return lines_with(grad, [&](const Tensor& v) { return ops::threshold_backward::call(v, at, threshold); });
}

}  // namespace peel::kernels
