#include <algorithm>

#include "core/dispatch/error.h"
#include "core/functorch/rules.h"
#include "ops_generated/ops.h"

namespace peel::core::functorch {
namespace rules {
namespace {

std::optional<size_t> argument_named(const BatchCall& c, std::string_view name) {
  const auto& all = c.op().schema().arguments;
  for (size_t i = 0; i < all.size(); ++i) {
    if (all[i].name == name) return i;
  }
  return std::nullopt;
}

}  // namespace

// A sample that is a scalar is reduced over a dimension made for it, as dim=0 and dim=-1 are allowed for scalars.
void reduction(BatchCall& c) {
  const Batched given = c.tensor(0);
  Tensor self = front(given);
  const int64_t rank = given.rank();
  const size_t at = c.dims()[0];
  const Argument& argument = c.op().schema().arguments[at];
  const Type& type = argument.type.kind == Type::Kind::kOptional ? argument.type.element() : argument.type;
  const bool list = type.kind == Type::Kind::kList;
  std::vector<int64_t> dims;
  const IValue& v = c.argument(at);
  if (v.tag() == IValue::Tag::kList) {
    for (const IValue& e : v.to_list()) dims.push_back(e.to_int());
  } else if (v.tag() == IValue::Tag::kInt) {
    dims.push_back(v.to_int());
  } else if (!list) {
    if (self.dim() > 1) self = ops::flatten_using_ints::call(self, 1, -1);
    dims.push_back(0);
  }
  if (list && dims.empty()) {
    for (int64_t d = 0; d < std::max<int64_t>(1, rank); ++d) dims.push_back(d);
  }
  const int64_t seen = std::max<int64_t>(self.dim() - 1, 1);
  const bool scalar = rank == 0 && dims.size() == 1 && (dims[0] == 0 || dims[0] == -1);
  if (scalar) self = ops::unsqueeze::call(self, -1);
  for (int64_t& d : dims) d = physical(d, seen);
  if (list) c.set(at, dims);
  else c.argument(at) = dims[0];
  c.set(0, self);
  std::vector<IValue> results = c.run();
  const auto keepdim = argument_named(c, "keepdim");
  if (scalar && (!keepdim || c.argument(*keepdim).to_bool())) {
    for (IValue& r : results) {
      if (r.tag() != IValue::Tag::kTensor) continue;
      const Tensor t = ops::squeeze_dim::call(Tensor(r.to_tensor().release()), -1);
      r = IValue(static_cast<const TensorHandle&>(t));
    }
  }
  c.give(results, 0);
}

// Of softmax and log_softmax: the gradient and the result, along one dimension.
void softmax_backward(BatchCall& c) {
  const Batched grad = c.tensor(0), output = c.tensor(1);
  const int64_t rank = std::max(grad.rank(), output.rank());
  Tensor g = with_batch(front(grad), grad.dim.has_value(), c.batch_size()), o = with_batch(front(output), output.dim.has_value(), c.batch_size());
  const bool scalar = rank == 0;
  if (scalar) {
    g = ops::unsqueeze::call(g, -1);
    o = ops::unsqueeze::call(o, -1);
  }
  if (!g.is_contiguous()) g = ops::contiguous::call(g, MemoryFormat::Contiguous);
  c.set(0, g);
  c.set(1, o);
  c.argument(2) = physical(c.argument(2).to_int(), std::max<int64_t>(rank, 1));
  std::vector<IValue> results = c.run();
  if (scalar) {
    const Tensor t = ops::squeeze_dim::call(Tensor(results[0].to_tensor().release()), -1);
    results[0] = IValue(static_cast<const TensorHandle&>(t));
  }
  c.give(results, 0);
}

}  // namespace rules

namespace {

SizeVector all_dims(const Tensor& t) {
  SizeVector out;
  for (int64_t d = 0; d < t.dim(); ++d) out.push_back(d);
  return out;
}
Tensor flat(const Tensor& t) { return ops::flatten_using_ints::call(t, 0, -1); }

Tensor sum(const Tensor& self, std::optional<ScalarType> dtype) { return ops::sum_dim_IntList::call(self, Sizes(all_dims(self)), false, dtype); }
Tensor mean(const Tensor& self, std::optional<ScalarType> dtype) { return ops::mean_dim::call(self, Sizes(all_dims(self)), false, dtype); }
Tensor count_nonzero(const Tensor& self, std::optional<int64_t> dim) {
  return ops::count_nonzero_dim_IntList::call(self, dim ? SizeVector{*dim} : all_dims(self));
}
Tensor addbmm(const Tensor& self, const Tensor& a, const Tensor& b, const Scalar& beta, const Scalar& alpha) {
  const int64_t first[] = {0};
  const Tensor product = ops::sum_dim_IntList::call(ops::bmm::call(a, b), Sizes(first), false, {});
  return ops::add_Tensor::call(ops::mul_Scalar::call(self, beta), product, alpha);
}
Tensor index_copy(const Tensor& self, int64_t dim, const Tensor& index, const Tensor& source) {
  const int64_t d = wrap_dimension(dim, self.dim());
  SizeVector shape(static_cast<size_t>(std::max<int64_t>(self.dim(), 1)), 1);
  shape[static_cast<size_t>(d)] = index.numel();
  return ops::scatter_src::call(self, d, ops::expand::call(ops::view::call(index, shape), source.sizes(), false), source);
}
Tensor prod(const Tensor& self, std::optional<ScalarType> dtype) { return ops::prod_dim_int::call(flat(self), 0, false, dtype); }
Tensor max(const Tensor& self) { return std::get<0>(ops::max_dim::call(flat(self), 0, false)); }
Tensor min(const Tensor& self) { return std::get<0>(ops::min_dim::call(flat(self), 0, false)); }
Tensor median(const Tensor& self) { return std::get<0>(ops::median_dim::call(flat(self), 0, false)); }
Tensor nanmedian(const Tensor& self) { return std::get<0>(ops::nanmedian_dim::call(flat(self), 0, false)); }
Tensor any(const Tensor& self) { return ops::any_dim::call(flat(self), 0, false); }
Tensor all(const Tensor& self) { return ops::all_dim::call(flat(self), 0, false); }
Tensor norm(const Tensor& self, const Scalar& p) { return ops::norm_ScalarOpt_dim::call(self, p, all_dims(self), false); }
Tensor dist(const Tensor& self, const Tensor& other, const Scalar& p) { return ops::norm_Scalar::call(ops::sub_Tensor::call(self, other), p); }
Tensor t(const Tensor& self) {
  return ops::transpose_int::call(self, 0, self.dim() < 2 ? 0 : 1);
}
Tensor& t_(Tensor& self) { return ops::transpose_::call(self, 0, self.dim() < 2 ? 0 : 1); }
Tensor trace(const Tensor& self) { return ops::sum::call(ops::diagonal::call(self)); }
Tensor addmm(const Tensor& self, const Tensor& a, const Tensor& b, const Scalar& beta, const Scalar& alpha) {
  const Tensor product = ops::mm::call(a, b);
  return ops::add_Tensor::call(ops::mul_Scalar::call(self, beta), product, alpha);
}
Tensor addmv(const Tensor& self, const Tensor& a, const Tensor& b, const Scalar& beta, const Scalar& alpha) {
  const Tensor product = ops::mv::call(a, b);
  return ops::add_Tensor::call(ops::mul_Scalar::call(self, beta), product, alpha);
}
Tensor baddbmm(const Tensor& self, const Tensor& a, const Tensor& b, const Scalar& beta, const Scalar& alpha) {
  const Tensor product = ops::bmm::call(a, b);
  return ops::add_Tensor::call(ops::mul_Scalar::call(self, beta), product, alpha);
}
Tensor index_select(const Tensor& self, int64_t dim, const Tensor& index) {
  const int64_t d = wrap_dimension(dim, self.dim());
  if (self.dim() == 0) return self;
  Tensor at = index.dim() == 0 ? ops::unsqueeze::call(index, 0) : index;
  SizeVector shape(static_cast<size_t>(self.dim()), 1), target(self.sizes().begin(), self.sizes().end());
  shape[static_cast<size_t>(d)] = target[static_cast<size_t>(d)] = at.numel();
  return ops::gather::call(self, d, ops::expand::call(ops::view::call(at, shape), target, false), false);
}
Tensor one_hot(const Tensor& self, int64_t classes) {
  if (classes == -1) {
    throw Error("vmap: We do not support batching operators that can output dynamic shape. Attempted to vmap over aten::one_hot. Please file an issue at "
                "https://github.com/pytorch/pytorch/issues if you need this feature.");
  }
  const Tensor numbers = ops::arange::call(classes, ScalarType::Long, Layout::Strided, self.device(), {});
  return ops::to_dtype::call(ops::eq_Tensor::call(ops::unsqueeze::call(self, -1), numbers), ScalarType::Long, false, false, {});
}
Tensor slice_scatter(const Tensor& self, const Tensor& src, int64_t dim, std::optional<int64_t> start, std::optional<int64_t> end, int64_t step) {
  const int64_t d = wrap_dimension(dim, self.dim()), size = self.size(d);
  const auto clipped = [size](int64_t v) { return std::clamp<int64_t>(v < 0 ? v + size : v, 0, size); };
  const Tensor places = ops::arange_start_step::call(clipped(start.value_or(0)), clipped(end.value_or(size)), step, ScalarType::Long, Layout::Strided, self.device(), {});
  SizeVector shape(static_cast<size_t>(self.dim()), 1);
  shape[static_cast<size_t>(d)] = places.numel();
  return ops::scatter_src::call(self, d, ops::expand::call(ops::view::call(places, shape), src.sizes(), false), src);
}
Tensor select_scatter(const Tensor& self, const Tensor& src, int64_t dim, int64_t index) {
  const int64_t d = wrap_dimension(dim, self.dim());
  const Tensor one = ops::unsqueeze::call(src, d);
  return slice_scatter(self, one, d, index, index == -1 ? std::optional<int64_t>() : index + 1, 1);
}

}  // namespace

void register_batch_decompositions(Library& m) {
  m.impl("sum", kernel_of(&sum)).impl("mean", kernel_of(&mean)).impl("prod", kernel_of(&prod)).impl("max", kernel_of(&max)).impl("min", kernel_of(&min));
  m.impl("median", kernel_of(&median)).impl("nanmedian", kernel_of(&nanmedian)).impl("any", kernel_of(&any)).impl("all", kernel_of(&all));
  m.impl("norm.Scalar", kernel_of(&norm)).impl("dist", kernel_of(&dist)).impl("count_nonzero", kernel_of(&count_nonzero));
  m.impl("addbmm", kernel_of(&addbmm)).impl("index_copy", kernel_of(&index_copy));
  m.impl("t", kernel_of(&t)).impl("t_", kernel_of(&t_)).impl("trace", kernel_of(&trace));
  m.impl("addmm", kernel_of(&addmm)).impl("addmv", kernel_of(&addmv)).impl("baddbmm", kernel_of(&baddbmm));
  m.impl("index_select", kernel_of(&index_select)).impl("one_hot", kernel_of(&one_hot));
  m.impl("slice_scatter", kernel_of(&slice_scatter)).impl("select_scatter", kernel_of(&select_scatter));
}

}  // namespace peel::core::functorch
