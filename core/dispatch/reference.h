// Reference-counted objects: what tensors, generators and boxed containers are made of.
#pragma once
#include <atomic>
#include <cstdint>
#include <utility>

#include "core/dispatch/key_sets.h"

namespace peel::core {

/// Base of everything held by Ref. Starts with no owner.
class RefCounted {
 public:
  virtual ~RefCounted() = default;
  RefCounted() = default;
  RefCounted(const RefCounted&) : RefCounted() {}
  RefCounted& operator=(const RefCounted&) { return *this; }
  uint32_t owners() const { return owners_.load(std::memory_order_acquire); }

 private:
  template <class>
  friend class Ref;
  mutable std::atomic<uint32_t> owners_{0};
};

/// An owner of a RefCounted; may be empty.
template <class T>
class Ref {
 public:
  Ref() = default;
  explicit Ref(T* p) : p_(p) { grab(); }
  Ref(const Ref& o) : p_(o.p_) { grab(); }
  Ref(Ref&& o) noexcept : p_(std::exchange(o.p_, nullptr)) {}
  template <class U>
  Ref(const Ref<U>& o) : Ref(o.get()) {}
  template <class U>
  Ref(Ref<U>&& o) : p_(o.release()) {}
  ~Ref() { drop(); }
  Ref& operator=(Ref o) noexcept {
    std::swap(p_, o.p_);
    return *this;
  }
  T* get() const { return p_; }
  T* operator->() const { return p_; }
  T& operator*() const { return *p_; }
  explicit operator bool() const { return p_ != nullptr; }
  bool operator==(const Ref& o) const { return p_ == o.p_; }
  /// Gives the ownership away, for storage that counts by hand.
  T* release() { return std::exchange(p_, nullptr); }
  /// An owner of what may be going just now; empty then. The caller sees to it that the memory is still there.
  static Ref lock(T* p) {
    uint32_t n = p ? p->owners_.load(std::memory_order_relaxed) : 0;
    while (n != 0 && !p->owners_.compare_exchange_weak(n, n + 1, std::memory_order_acquire)) {
    }
    return n ? adopt(p) : Ref();
  }
  static Ref adopt(T* p) {
    Ref r;
    r.p_ = p;
    return r;
  }

 private:
  void grab() const {
    if (p_) p_->owners_.fetch_add(1, std::memory_order_relaxed);
  }
  void drop() const {
    if (p_ && p_->owners_.fetch_sub(1, std::memory_order_acq_rel) == 1) delete p_;
  }
  T* p_ = nullptr;
};

template <class T, class... A>
Ref<T> make_ref(A&&... a) {
  return Ref<T>(new T(std::forward<A>(a)...));
}

/// What dispatch knows of a tensor or a generator: its keys. core/tensor derives the rest.
struct KeyedObject : RefCounted {
  DispatchKeySet keys;
};

/// Owner of a tensor. Empty = undefined, which has the keys of a tensor of no backend (measured; None has none). core/tensor's Tensor
/// derives from it and adds nothing to hold.
class TensorHandle {
 public:
  TensorHandle() = default;
  explicit TensorHandle(Ref<KeyedObject> object) : object_(std::move(object)) {}
  bool defined() const { return static_cast<bool>(object_); }
  DispatchKeySet keys() const { return object_ ? object_->keys : kUndefinedTensor; }
  const Ref<KeyedObject>& object() const { return object_; }
  bool is_same(const TensorHandle& o) const { return object_ == o.object_; }
  Ref<KeyedObject> release() { return std::move(object_); }

 protected:
  Ref<KeyedObject> object_;
};

/// Owner of a random number generator: it gives keys in unboxed calls only, as measured.
class GeneratorHandle {
 public:
  GeneratorHandle() = default;
  explicit GeneratorHandle(Ref<KeyedObject> object) : object_(std::move(object)) {}
  bool defined() const { return static_cast<bool>(object_); }
  DispatchKeySet keys() const { return object_ ? object_->keys : DispatchKeySet(); }
  const Ref<KeyedObject>& object() const { return object_; }

 private:
  Ref<KeyedObject> object_;
};

}  // namespace peel::core
