#include "core/tensor/storage.h"

#include <algorithm>
#include <cstring>
#include <new>

#include "core/dispatch/error.h"
#include "core/observer.h"

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

namespace {

void* allocate(Allocator& a, size_t bytes, Device d) {
  void* memory = a.allocate(bytes);
  if (Observer* o = observer(); o && memory) o->allocated(memory, bytes, d);
  return memory;
}
void release(Allocator& a, void* memory, size_t bytes, Device d) {
  if (Observer* o = observer(); o && memory) o->freed(memory, d);
  a.release(memory, bytes);
}

}  // namespace

Storage::Storage(size_t bytes, Device d, Allocator& a) : data_(allocate(a, bytes, d)), bytes_(bytes), device_(d), allocator_(a) {}
Storage::Storage(void* memory, size_t bytes, Allocator& giver) : data_(memory), bytes_(bytes), device_(), allocator_(giver), borrowed_(true) {}
Storage::~Storage() {
  if (borrowed_) allocator_.release(data_, bytes_);
  else release(allocator_, data_, bytes_, device_);
}

void Storage::resize(size_t bytes) {
  if (borrowed_) throw Error("Trying to resize storage that is not resizable");
  void* memory = allocate(allocator_, bytes, device_);
  if (memory && data_) std::memcpy(memory, data_, std::min(bytes, bytes_));
  release(allocator_, data_, bytes_, device_);
  data_ = memory;
  bytes_ = bytes;
}

}  // namespace peel::core
