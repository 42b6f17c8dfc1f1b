#include "core/tensor/storage.h"

#include <algorithm>
#include <cstring>
#include <new>

#include "core/dispatch/error.h"

namespace peel::core {
namespace {

constexpr std::align_val_t kAlignment{64};

class Heap final : public Allocator {
 public:
  void* allocate(size_t bytes) override {
    if (bytes == 0) return nullptr;
    void* memory = ::operator new(bytes, kAlignment, std::nothrow);
    if (!memory) throw Error("DefaultCPUAllocator: can't allocate memory: you tried to allocate " + std::to_string(bytes) + " bytes.");
    return memory;
  }
  void release(void* memory, size_t) noexcept override { ::operator delete(memory, kAlignment); }
};

class Nothing final : public Allocator {
 public:
  void* allocate(size_t) override { return nullptr; }
  void release(void*, size_t) noexcept override {}
};

}  // namespace

Allocator& heap_allocator() {
  static Heap& heap = *new Heap;
  return heap;
}
Allocator& no_allocator() {
  static Nothing& nothing = *new Nothing;
  return nothing;
}

Storage::Storage(size_t bytes, Device d, Allocator& a) : data_(a.allocate(bytes)), bytes_(bytes), device_(d), allocator_(a) {}
Storage::~Storage() { allocator_.release(data_, bytes_); }

void Storage::resize(size_t bytes) {
  void* memory = allocator_.allocate(bytes);
  if (memory && data_) std::memcpy(memory, data_, std::min(bytes, bytes_));
  allocator_.release(data_, bytes_);
  data_ = memory;
  bytes_ = bytes;
}

}  // namespace peel::core
