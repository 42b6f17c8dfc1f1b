// Complex numbers: lazy conjugation and negation are bits of a tensor's key set; the fallbacks at Conjugate and Negative make them real
// before an operator that doesn't know them.
#include "core/dispatch/error.h"
#include "kernels/cpu/elementwise.h"
#include "kernels/load.h"
#include "ops_generated/kernels.h"
#include "ops_generated/ops.h"

namespace peel::kernels {
namespace {

using K = DispatchKey;

bool has(const Tensor& t, K k) { return t.keys().has(k); }
void toggle(const Tensor& t, K k) { t.impl().keys = has(t, k) ? t.impl().keys - k : t.impl().keys | k; }

// As two numbers of the parts' type in a last dimension.
Tensor parts(const Tensor& self) {
  SizeVector sizes(self.sizes().begin(), self.sizes().end()), strides;
  for (const int64_t s : self.strides()) strides.push_back(2 * s);
  sizes.push_back(2);
  strides.push_back(1);
  Tensor out(make_ref<TensorImpl>(TensorImpl::View(), self.impl(), sizes, strides, 2 * self.storage_offset()));
  out.impl().dtype = value_type_of(self.dtype());
  return out;
}

}  // namespace

Tensor conj(const Tensor& self) { return is_complex(self.dtype()) ? ops::_conj::call(self) : self; }
Tensor _conj(const Tensor& self) {
  Tensor out = ops::alias::call(self);
  toggle(out, K::Conjugate);
  return out;
}
Tensor resolve_conj(const Tensor& self) { return has(self, K::Conjugate) ? ops::clone::call(self) : self; }
Tensor resolve_neg(const Tensor& self) { return has(self, K::Negative) ? ops::clone::call(self) : self; }
bool is_conj(const Tensor& self) { return has(self, K::Conjugate); }
bool is_neg(const Tensor& self) { return has(self, K::Negative); }
Tensor _neg_view(const Tensor& self) {
  Tensor out = ops::alias::call(self);
  toggle(out, K::Negative);
  return out;
}

Tensor conj_physical(const Tensor& self) { return is_complex(self.dtype()) ? ops::_conj_physical::call(self) : self; }
Tensor _conj_physical(const Tensor& self) {
  if (has(self, K::Conjugate)) return ops::clone::call(ops::conj::call(self));
  Tensor out = ops::empty_like::call(self);
  return ops::conj_physical_out::call(self, out);
}
Tensor& conj_physical_out(const Tensor& self, Tensor& out) {
  write_into(out, self);
  conjugate_elements(out);
  return out;
}
Tensor& conj_physical_(Tensor& self) {
  if (is_complex(self.dtype())) ops::conj_physical_out::call(self, self);
  return self;
}

Tensor view_as_complex(const Tensor& self) {
  if (self.dtype() != ScalarType::Float && self.dtype() != ScalarType::Double) {
    throw Error(std::string("view_as_complex is only supported for half, float and double tensors, but got a tensor of scalar type: ") + to_string(self.dtype()));
  }
  if (self.dim() == 0) throw Error("Input tensor must have one or more dimensions");
  if (self.size(-1) != 2) throw Error("Tensor must have a last dimension of size 2");
  if (self.strides().back() != 1) throw Error("Tensor must have a last dimension with stride 1");
  SizeVector sizes(self.sizes().begin(), self.sizes().end() - 1), strides(self.strides().begin(), self.strides().end() - 1);
  for (int64_t& s : strides) {
    if (s % 2 != 0) throw Error("Tensor must have a stride divisible by 2 for all but last dimension");
    s /= 2;
  }
  if (self.storage_offset() % 2 != 0) throw Error("Tensor must have a storage_offset divisible by 2");
  Tensor out(make_ref<TensorImpl>(TensorImpl::View(), self.impl(), sizes, strides, self.storage_offset() / 2));
  out.impl().dtype = complex_of(self.dtype());
  return out;
}
Tensor view_as_real(const Tensor& self) {
  if (!is_complex(self.dtype())) throw Error("view_as_real is only supported for complex tensors");
  if (has(self, K::Conjugate)) {
    throw Error("view_as_real doesn't work on unresolved conjugated tensors.  To resolve the conjugate tensor so you can view it as real, use self.resolve_conj(); "
                "however, be warned that the resulting tensor will NOT alias the original.");
  }
  return parts(self);
}
Tensor real(const Tensor& self) {
  if (!is_complex(self.dtype())) return self;
  const Tensor both = ops::view_as_real::call(has(self, K::Conjugate) ? ops::_conj::call(self) : self);
  return ops::select_int::call(both, both.dim() - 1, 0);
}
Tensor imag(const Tensor& self) {
  if (!is_complex(self.dtype())) throw Error("imag is not implemented for tensors with non-complex dtypes.");
  const bool conjugated = has(self, K::Conjugate);
  const Tensor both = ops::view_as_real::call(conjugated ? ops::_conj::call(self) : self);
  return ops::select_int::call(conjugated ? ops::_neg_view::call(both) : both, both.dim() - 1, 1);
}

void materialise(DispatchKey key, const OperatorHandle& op, DispatchKeySet set, Stack* stack) {
  const auto& arguments = op.schema().arguments;
  const size_t first = stack->size() - arguments.size();
  std::vector<std::pair<Tensor, Tensor>> written;  // and their real copies, which come back afterwards
  const auto settle = [&](IValue& v, bool is_written) {
    if (v.tag() != IValue::Tag::kTensor) return;
    Tensor t(v.to_tensor().object());
    if (!t.defined() || !has(t, key)) return;
    const Tensor made = ops::clone::call(t);
    if (is_written) written.emplace_back(t, made);
    v = IValue(static_cast<const TensorHandle&>(made));
  };
  for (size_t i = 0; i < arguments.size(); ++i) {
    IValue& v = (*stack)[first + i];
    const bool is_written = arguments[i].alias && arguments[i].alias->write;
    if (v.tag() == IValue::Tag::kList) {
      std::vector<IValue> list = v.to_list();
      for (IValue& one : list) settle(one, is_written);
      v = IValue::list(std::move(list));
    } else {
      settle(v, is_written);
    }
  }
  op.redispatch_boxed(set & DispatchKeySet::full_after(key), stack);
  for (auto& [t, made] : written) {
    ops::copy_::call(t, made);
    for (IValue& v : *stack) {
      if (v.tag() == IValue::Tag::kTensor && v.to_tensor().is_same(made)) v = IValue(static_cast<const TensorHandle&>(t));
    }
  }
}

Tensor complex(const Tensor& real, const Tensor& imag) {
  if (real.dtype() != imag.dtype()) {
    throw Error(std::string("Expected object of scalar type ") + to_string(real.dtype()) + " but got scalar type " + to_string(imag.dtype()) + " for second argument");
  }
  if (!is_floating(real.dtype())) {
    throw Error(std::string("Expected both inputs to be Half, Float or Double tensors but got ") + to_string(real.dtype()) + " and " + to_string(imag.dtype()));
  }
  Tensor out = ops::empty_memory_format::call(SizeVector{0}, complex_of(real.dtype()), Layout::Strided, real.device());
  return ops::complex_out::call(real, imag, out);
}
Tensor& complex_out(const Tensor& real, const Tensor& imag, Tensor& out) {
  const SizeVector shape = broadcast(real.sizes(), imag.sizes());
  if (!std::ranges::equal(out.sizes(), shape)) reshape_out(out, shape);
  const auto join = [&]<class T>(T) {
    Walk<3> walk(shape);
    walk.set(0, out);
    walk.set(1, real);
    walk.set(2, imag);
    each<std::complex<T>, T, T>(walk, [](std::complex<T>& o, T x, T y) { o = {x, y}; });
  };
  if (real.dtype() == ScalarType::Float) join(float{});
  else if (real.dtype() == ScalarType::Double) join(double{});
  else no_kernel_for("complex_cpu", real.dtype());
  return out;
}

}  // namespace peel::kernels
