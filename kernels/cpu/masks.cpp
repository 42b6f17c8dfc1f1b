// What a mask picks, and what is put where it is set.
#include "kernels/cpu/rows.h"
#include "ops_generated/kernels.h"
#include "ops_generated/ops.h"

namespace peel::kernels {
namespace {

void need_bool(const char* op, const Tensor& mask) {
  if (mask.dtype() != ScalarType::Bool) throw Error(std::string(op) + ": expected BoolTensor for mask");
}
Tensor wide(const Tensor& t, Sizes shape) { return std::ranges::equal(t.sizes(), shape) ? t : ops::expand::call(t, shape); }
Tensor flat(const Tensor& t) { return rows_of(t, named_dims(std::nullopt, t.dim())).data; }

}  // namespace

Tensor& masked_select_out(const Tensor& self, const Tensor& mask, Tensor& out) {
  if (out.dtype() != self.dtype()) throw Error("masked_select(): self and result must have the same scalar type");
  need_bool("masked_select", mask);
  const SizeVector shape = broadcast(mask.sizes(), self.sizes());
  const bool alike = std::ranges::equal(mask.sizes(), self.sizes());
  const Tensor m = alike ? mask : ops::expand::call(mask, shape), in = alike ? self : ops::expand::call(self, shape);
  const int64_t n = ops::item::call(ops::sum::call(m)).value.to_int();
  reshape_out(out, SizeVector{n});
  if (n == 0) return out;
  // Stock's iterator looks at the result with all dimensions, without a step.
  ops::as_strided::call(out, shape, SizeVector(shape.size(), 0));
  if (!in.is_contiguous() || !m.is_contiguous()) {  // where it counts places, before it takes the elements
    Tensor counts = ops::empty_memory_format::call(shape, ScalarType::Long, Layout::Strided, self.device());
    ops::copy_::call(counts, m);
    ops::empty_memory_format::call(shape, ScalarType::Long, Layout::Strided, self.device());
  }
  const Tensor chosen = flat(m), from = flat(in);
  with_any_type(self.dtype(), "masked_select", [&]<class T>(T) {
    T* o = out.data_as<T>();
    for (int64_t i = 0; i < m.numel(); ++i) {
      if (chosen.data_as<bool>()[i]) *o++ = from.data_as<T>()[i];
    }
  });
  return out;
}
Tensor masked_select(const Tensor& self, const Tensor& mask) {
  Tensor out = ops::empty_memory_format::call(SizeVector{0}, self.dtype(), Layout::Strided, self.device());
  return masked_select_out(self, mask, out);
}
Tensor masked_select_backward(const Tensor& grad, const Tensor& input, const Tensor& mask) {
  const SizeVector shape = broadcast(input.sizes(), mask.sizes());
  Tensor out = ops::zeros_like::call(ops::expand::call(input, shape), {}, {}, {}, {}, MemoryFormat::Preserve);
  return ops::masked_scatter_::call(out, mask, grad);
}

Tensor& masked_scatter_(Tensor& self, const Tensor& mask, const Tensor& source) {
  if (self.dtype() != source.dtype()) {
    throw Error(std::string("masked_scatter_: expected self and source to have same dtypes but got ") + to_string(self.dtype()) + " and " + to_string(source.dtype()));
  }
  const Tensor m = wide(mask, self.sizes());
  if (m.dtype() != ScalarType::Bool) throw Error("masked_scatter_ only supports boolean masks, but got mask with dtype " + std::string(to_string(m.dtype())));
  const Tensor from = source.is_contiguous() ? source : ops::contiguous::call(source);
  with_type(self.dtype(), "masked_scatter", [&]<class T>(T) {
    Walk<2> walk(self.sizes());
    walk.set(0, self);
    walk.set(1, m);
    int64_t used = 0;
    each<T, bool>(walk, [&](T& o, bool set) {
      if (!set) return;
      if (used == from.numel()) throw Error("Number of elements of source < number of ones in mask");
      o = from.data_as<T>()[used++];
    });
  });
  return self;
}
Tensor masked_scatter(const Tensor& self, const Tensor& mask, const Tensor& source) {
  const SizeVector shape = broadcast(mask.sizes(), self.sizes());
  const Tensor m = wide(mask, shape);
  Tensor out = ops::clone::call(wide(self, shape), MemoryFormat::Contiguous);
  return ops::masked_scatter_::call(out, m, source);
}
Tensor masked_scatter_backward(const Tensor& grad_output, const Tensor& mask, Sizes sizes) {
  const int64_t n = element_count(sizes);
  Tensor picked = ops::masked_select::call(grad_output, mask);
  if (n > picked.numel()) {
    const Tensor none = ops::zeros::call(SizeVector{n - picked.numel()}, grad_output.dtype(), Layout::Strided, grad_output.device());
    const Tensor parts[] = {picked, none};
    picked = ops::cat::call(parts, 0);
  }
  return ops::view::call(picked, sizes);
}

}  // namespace peel::kernels
