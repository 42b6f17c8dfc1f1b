// What a tensor is: keys, shape, a place in a storage, a version counter, and what autograd hangs on it.
#pragma once
#include <memory>

#include "core/dispatch/modes.h"
#include "core/tensor/geometry.h"
#include "core/tensor/scalar_type.h"
#include "core/tensor/storage.h"

namespace peel::core {

/// Counts in-place writes. Shared by a tensor, its views and what was detached from it.
struct VersionCounter : RefCounted {
  std::atomic<uint32_t> version{0};
};

/// How elements are kept. Numbered as in PyTorch.
enum class Layout : int8_t { Strided, Sparse, SparseCsr, Mkldnn, SparseCsc, SparseBsr, SparseBsc };

/// What a sparse tensor holds in place of a storage (core/tensor/sparse.h).
struct SparseParts;
/// How a nested tensor divides its storage (core/tensor/nested.h).
struct NestedParts;

/// core/autograd's part: gradient, history, hooks. Made on demand.
struct AutogradMeta {
  virtual ~AutogradMeta() = default;
  virtual bool requires_grad() const = 0;
  virtual void set_requires_grad(bool) = 0;
};

/// core/functorch's part: the tensor stands for another one while a transform runs. Shape and storage are then taken from that one.
struct Wrapping {
  virtual ~Wrapping() = default;
  virtual std::unique_ptr<Wrapping> copy() const = 0;
};

struct TensorImpl final : KeyedObject {
  ~TensorImpl() override;
  /// A new tensor: to the backend's keys come its autocast key and, outside inference mode, its autograd keys.
  /// requires_grad has no part in it.
  TensorImpl(Ref<Storage>, DispatchKeySet backend_keys, ScalarType, SizeVector sizes, SizeVector strides, int64_t offset);
  /// A view, as its kernel makes it: the base's keys; a version counter of its own, which the layer ADInplaceOrView replaces by the base's.
  struct View {};
  /// A sparse tensor. Its strides are those that a dense tensor of its shape has, and mean nothing.
  TensorImpl(std::unique_ptr<SparseParts>, DispatchKeySet backend_keys, ScalarType, SizeVector sizes);
  /// A nested tensor: its sizes are zeros.
  TensorImpl(std::unique_ptr<NestedParts>, Ref<Storage>, DispatchKeySet backend_keys, ScalarType, size_t dimensions);
  TensorImpl(View, const TensorImpl& base, SizeVector sizes, SizeVector strides, int64_t offset);

  /// A tensor that was made in inference mode, or a view of one: no autograd keys, no version counter.
  bool is_inference() const { return !keys.has_any(kAutogradAndADInplaceOrView); }
  /// Error for an inference tensor.
  uint32_t current_version() const;
  /// After an in-place write. Error for an inference tensor outside inference mode, when the write has been done: as measured.
  void bump_version();
  bool requires_grad() const { return autograd && autograd->requires_grad(); }
  /// Error where PyTorch has one. `make` gives the autograd part when there is none yet.
  void set_requires_grad(bool, std::unique_ptr<AutogradMeta> (*make)());
  /// detach() (this tensor's counter) and .data (a new one): same storage and shape, no autograd part.
  Ref<TensorImpl> detached(Ref<VersionCounter>) const;

  Ref<Storage> storage;  // null for a sparse tensor
  SizeVector sizes, strides;
  int64_t offset = 0;  // in elements
  ScalarType dtype;
  bool wrapped_number = false;  // a Python number that became a tensor: weak in type promotion
  Ref<VersionCounter> version;
  std::unique_ptr<AutogradMeta> autograd;
  std::unique_ptr<Wrapping> wraps;
  mutable uint64_t recorded_as = 0;  // a recorder's, which tells apart what has lived at one address; 0 = none looked
  std::unique_ptr<SparseParts> sparse;  // null for any other tensor
  std::unique_ptr<NestedParts> nested;  // null for any other tensor
};

}  // namespace peel::core
