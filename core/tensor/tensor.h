// The handle that kernels and programs hold, and the ways to make tensors below dispatch.
#pragma once
#include "core/tensor/tensor_impl.h"

namespace peel::core {

/// An owner of a tensor; empty = undefined.
class Tensor : public TensorHandle {
 public:
  Tensor() = default;
  explicit Tensor(Ref<KeyedObject> o) : TensorHandle(std::move(o)) {}

  TensorImpl& impl() const { return static_cast<TensorImpl&>(*object_); }
  Sizes sizes() const { return impl().sizes; }
  Sizes strides() const { return impl().strides; }
  int64_t dim() const { return static_cast<int64_t>(impl().sizes.size()); }
  int64_t size(int64_t d) const { return impl().sizes[static_cast<size_t>(wrap_dimension(d, dim()))]; }
  int64_t numel() const { return element_count(sizes()); }
  int64_t storage_offset() const { return impl().offset; }
  ScalarType dtype() const { return impl().dtype; }
  Device device() const { return impl().storage ? impl().storage->device() : Device(); }
  bool is_contiguous(MemoryFormat f = MemoryFormat::Contiguous) const { return core::is_contiguous(sizes(), strides(), f); }
  bool is_inference() const { return impl().is_inference(); }
  /// The first element; null for a meta or empty tensor. Error for a sparse one.
  void* data() const {
    if (!impl().storage) refuse_data();
    auto* first = static_cast<char*>(impl().storage->data());
    return first ? first + static_cast<size_t>(impl().offset) * element_size(dtype()) : nullptr;
  }
  template <class T>
  T* data_as() const {
    return static_cast<T*>(data());
  }

 private:
  [[noreturn]] static void refuse_data();
};

/// Uninitialised. Device: cpu or meta so far.
Tensor empty(Sizes, ScalarType, Device = {}, MemoryFormat = MemoryFormat::Contiguous);
Tensor empty_strided(Sizes sizes, Sizes strides, ScalarType, Device = {});
/// Another look at the same storage; Error when it would reach outside, or for negative sizes, strides or offset.
Tensor view_of(const Tensor& base, Sizes sizes, Sizes strides, int64_t offset);

}  // namespace peel::core
