#include "core/tensor/tensor_impl.h"

#include "core/dispatch/error.h"
#include "core/tensor/nested.h"
#include "core/tensor/sparse.h"

namespace peel::core {
namespace {

DispatchKeySet keys_at_construction(DispatchKeySet backend) {
  const BackendComponent b = backend.highest_backend();
  const DispatchKeySet keys = (backend | autocast_keys_of(b)) - kPython;
  return grad_state.inference_mode ? keys - kAutogradAndADInplaceOrView : keys | autograd_keys_of(b);
}

}  // namespace

TensorImpl::TensorImpl(Ref<Storage> s, DispatchKeySet backend_keys, ScalarType t, SizeVector sizes_, SizeVector strides_, int64_t offset_)
    : storage(std::move(s)), sizes(std::move(sizes_)), strides(std::move(strides_)), offset(offset_), dtype(t) {
  keys = keys_at_construction(backend_keys);
  if (!is_inference()) version = make_ref<VersionCounter>();
}

TensorImpl::TensorImpl(std::unique_ptr<SparseParts> parts, DispatchKeySet backend_keys, ScalarType t, SizeVector sizes_)
    : sizes(std::move(sizes_)), strides(contiguous_strides(sizes)), dtype(t), sparse(std::move(parts)) {
  keys = keys_at_construction(backend_keys);
  if (!is_inference()) version = make_ref<VersionCounter>();
}

TensorImpl::TensorImpl(std::unique_ptr<NestedParts> parts, Ref<Storage> s, DispatchKeySet backend_keys, ScalarType t, size_t dimensions)
    : storage(std::move(s)), sizes(dimensions), strides(dimensions), dtype(t), nested(std::move(parts)) {
  keys = keys_at_construction(backend_keys);
  if (is_inference()) return;
  keys = keys | DispatchKey::AutogradNestedTensor;
  version = make_ref<VersionCounter>();
}

TensorImpl::~TensorImpl() = default;

TensorImpl::TensorImpl(View, const TensorImpl& base, SizeVector sizes_, SizeVector strides_, int64_t offset_)
    : storage(base.storage), sizes(std::move(sizes_)), strides(std::move(strides_)), offset(offset_), dtype(base.dtype),
      sparse(base.sparse ? std::make_unique<SparseParts>(*base.sparse) : nullptr), nested(base.nested ? std::make_unique<NestedParts>(*base.nested) : nullptr) {
  keys = base.keys - kPython;
  if (!is_inference()) version = make_ref<VersionCounter>();
}

uint32_t TensorImpl::current_version() const {
  if (is_inference()) throw Error("Inference tensors do not track version counter.");
  return version->version.load();
}

void TensorImpl::bump_version() {
  if (!is_inference()) {
    version->version.fetch_add(1);
  } else if (!grad_state.inference_mode) {
    throw Error("Inplace update to inference tensor outside InferenceMode is not allowed.You can make a clone to get a normal tensor before doing "
                "inplace update.See https://github.com/pytorch/rfcs/pull/17 for more details.");
  }
}

void TensorImpl::set_requires_grad(bool on, std::unique_ptr<AutogradMeta> (*make)()) {
  if (on && is_inference() && !grad_state.inference_mode) {
    throw Error("Setting requires_grad=True on inference tensor outside InferenceMode is not allowed.");
  }
  if (on && !is_differentiable(dtype)) throw Error("only Tensors of floating point dtype can require gradients");
  if (!on && !autograd) return;
  if (!autograd) autograd = make();
  autograd->set_requires_grad(on);
}

Ref<TensorImpl> TensorImpl::detached(Ref<VersionCounter> counter) const {
  Ref<TensorImpl> out = make_ref<TensorImpl>(View(), *this, sizes, strides, offset);
  if (!is_inference()) out->version = std::move(counter);
  out->wrapped_number = wrapped_number;
  if (wraps) out->wraps = wraps->copy();
  return out;
}

}  // namespace peel::core
