#include "core/functorch/wrappers.h"

#include "core/dispatch/error.h"

namespace peel::core::functorch {
namespace {

using K = DispatchKey;

// What of a tensor's keys its wrapper has; construction adds those of autograd and autocast.
constexpr DispatchKeySet kPropagated{K::Negative, K::Conjugate, K::XLA, K::XPU, K::HPU, K::CUDA, K::CPU, K::PrivateUse1,
                                     K::SparseCPU, K::SparseCUDA, K::SparseCsrCPU, K::SparseCsrCUDA};

Tensor wrapper(const Tensor& value, K key, SizeVector sizes, SizeVector strides, std::unique_ptr<Wrapping> wraps) {
  const TensorImpl& inner = value.impl();
  auto impl = make_ref<TensorImpl>(inner.storage, (inner.keys & kPropagated) | key, inner.dtype, std::move(sizes), std::move(strides), inner.offset);
  impl->wraps = std::move(wraps);
  return Tensor(std::move(impl));
}

SizeVector without(Sizes all, int64_t dim) {
  SizeVector out(all.begin(), all.end());
  out.erase(out.begin() + dim);
  return out;
}

}  // namespace

GradWrapping* grad_wrapping(const Tensor& t) {
  return t.defined() && t.keys().has(K::FuncTorchGradWrapper) ? static_cast<GradWrapping*>(t.impl().wraps.get()) : nullptr;
}
BatchWrapping* batch_wrapping(const Tensor& t) {
  return t.defined() && t.keys().has(K::FuncTorchBatched) ? static_cast<BatchWrapping*>(t.impl().wraps.get()) : nullptr;
}

Tensor make_grad_wrapper(const Tensor& t, int64_t level, std::shared_ptr<const bool> alive, bool immutable) {
  return wrapper(t, K::FuncTorchGradWrapper, {t.sizes().begin(), t.sizes().end()}, {t.strides().begin(), t.strides().end()},
                 std::make_unique<GradWrapping>(t, level, std::move(alive), immutable));
}

Tensor make_batched(Tensor t, std::optional<int64_t> dim, int64_t level) {
  if (!dim) return t;
  SizeVector sizes = without(t.sizes(), *dim), strides = without(t.strides(), *dim);
  return wrapper(t, K::FuncTorchBatched, std::move(sizes), std::move(strides), std::make_unique<BatchWrapping>(t, *dim, level));
}

void refresh_shape(const Tensor& t) {
  TensorImpl& impl = t.impl();
  if (const GradWrapping* g = grad_wrapping(t)) {
    impl.sizes.assign(g->value.sizes().begin(), g->value.sizes().end());
    impl.strides.assign(g->value.strides().begin(), g->value.strides().end());
    impl.offset = g->value.storage_offset();
  } else if (const BatchWrapping* b = batch_wrapping(t)) {
    impl.sizes = without(b->value.sizes(), b->dim);
    impl.strides = without(b->value.strides(), b->dim);
    impl.offset = b->value.storage_offset();
  }
}

Tensor unwrap_if_dead(const Tensor& t) {
  const GradWrapping* g = grad_wrapping(t);
  return g && !*g->alive ? g->value : t;
}

void replace_tensors(std::span<IValue> values, const std::function<Tensor(const Tensor&)>& f) {
  const auto one = [&f](IValue& v) {
    const Tensor t(v.to_tensor().release());
    Tensor made = f(t);
    if (!made.is_same(t)) v = IValue(static_cast<TensorHandle&&>(made));
  };
  for (IValue& v : values) {
    if (v.tag() == IValue::Tag::kTensor) {
      one(v);
    } else if (v.tag() == IValue::Tag::kList) {
      bool any = false;
      for (const IValue& e : v.to_list()) any |= e.tag() == IValue::Tag::kTensor;
      if (!any) continue;
      std::vector<IValue> list = v.to_list();
      for (IValue& e : list) {
        if (e.tag() == IValue::Tag::kTensor) one(e);
      }
      v = IValue::list(std::move(list));
    }
  }
}

}  // namespace peel::core::functorch
