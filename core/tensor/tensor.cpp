#include "core/tensor/tensor.h"

#include "core/dispatch/error.h"

namespace peel::core {
namespace {

constexpr uint8_t kCpu = 0, kMeta = 14;

void check_sizes(Sizes sizes) {
  for (const int64_t s : sizes) {
    if (s < 0) throw Error("Trying to create tensor with negative dimension " + std::to_string(s) + ": " + to_text(sizes));
  }
}

Tensor make(SizeVector sizes, SizeVector strides, size_t bytes, ScalarType t, Device d) {
  if (d.type != kCpu && d.type != kMeta) {
    throw NotImplemented("The embedded engine has no tensors on " + to_string(d) +
                         " yet; the program can be run on stock PyTorch (--engine pytorch).");
  }
  auto storage = make_ref<Storage>(bytes, d, d.type == kMeta ? no_allocator() : heap_allocator());
  const DispatchKeySet backend = d.type == kMeta ? DispatchKey::Meta : DispatchKey::CPU;
  return Tensor(make_ref<TensorImpl>(std::move(storage), backend, t, std::move(sizes), std::move(strides), 0));
}

}  // namespace

void Tensor::refuse_data() { throw Error("Cannot access data pointer of Tensor that doesn't have storage"); }

Tensor empty(Sizes sizes, ScalarType t, Device d, MemoryFormat f) {
  check_sizes(sizes);
  const bool last = f == MemoryFormat::ChannelsLast || f == MemoryFormat::ChannelsLast3d;
  const size_t bytes = storage_bytes(sizes, element_size(t));
  return make({sizes.begin(), sizes.end()}, last ? channels_last_strides(sizes) : contiguous_strides(sizes), bytes, t, d);
}

Tensor empty_strided(Sizes sizes, Sizes strides, ScalarType t, Device d) {
  check_sizes(sizes);
  if (sizes.size() != strides.size())
    throw Error("dimensionality of sizes (" + std::to_string(sizes.size()) + ") must match dimensionality of strides (" +
                std::to_string(strides.size()) + ")");
  const size_t bytes = storage_bytes(sizes, strides, 0, element_size(t));
  return make({sizes.begin(), sizes.end()}, {strides.begin(), strides.end()}, bytes, t, d);
}

Tensor view_of(const Tensor& base, Sizes sizes, Sizes strides, int64_t offset) {
  if (!base.impl().storage) throw NotImplemented("Cannot access storage of SparseTensorImpl");
  if (sizes.size() != strides.size()) throw Error("mismatch in length of strides and shape");
  for (const int64_t s : strides) {
    if (s < 0) throw Error("as_strided: Negative strides are not supported at the moment, got strides: " + to_text(strides));
  }
  check_sizes(sizes);
  if (offset < 0) throw Error("Tensor: invalid storage offset " + std::to_string(offset));
  const size_t item = element_size(base.dtype()), needed = storage_bytes(sizes, strides, offset, item);
  if (needed > base.impl().storage->bytes()) {
    throw Error("setStorage: sizes " + to_text(sizes) + ", strides " + to_text(strides) + ", storage offset " + std::to_string(offset) +
                ", and itemsize " + std::to_string(item) + " requiring a storage size of " + std::to_string(needed) +
                " are out of bounds for storage of size " + std::to_string(base.impl().storage->bytes()));
  }
  return Tensor(make_ref<TensorImpl>(TensorImpl::View(), base.impl(), SizeVector(sizes.begin(), sizes.end()),
                                     SizeVector(strides.begin(), strides.end()), offset));
}

}  // namespace peel::core
