// The memory behind tensors. Views share one storage.
#pragma once
#include <cstddef>

#include "core/dispatch/ivalue.h"

namespace peel::core {

/// Where memory comes from: a device's caching allocator, or the heap. Thread-safe.
class Allocator {
 public:
  virtual ~Allocator() = default;
  /// At least `bytes`, aligned to 64; null for 0. Throws Error when there is none.
  virtual void* allocate(size_t bytes) = 0;
  virtual void release(void* memory, size_t bytes) noexcept = 0;
};
Allocator& heap_allocator();
/// For meta tensors: gives no memory.
Allocator& no_allocator();

class Storage final : public RefCounted {
 public:
  Storage(size_t bytes, Device, Allocator&);
  /// Memory that someone else made. No memory event tells of it, and it can't be resized; `giver` takes it back.
  Storage(void* memory, size_t bytes, Allocator& giver);
  ~Storage() override;
  void* data() const { return data_; }
  size_t bytes() const { return bytes_; }
  Device device() const { return device_; }
  /// Keeps what fits. Other owners see the new memory.
  void resize(size_t bytes);
  mutable uint64_t recorded_as = 0;  // as TensorImpl's

 private:
  void* data_;
  size_t bytes_;
  Device device_;
  Allocator& allocator_;
  bool borrowed_ = false;
};

}  // namespace peel::core
