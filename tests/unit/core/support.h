// What the tests of the embedded engine share: tensors that are only keys, and a log of the kernels that ran.
#pragma once
#include "core/dispatch/error.h"
#include "core/dispatch/library.h"
#include "core/dispatch/modes.h"
#include "tests/catch.h"

namespace peel::core {
using Catch::Matchers::Contains;

using Tensor = TensorHandle;

inline Tensor tensor(DispatchKeySet keys) {
  auto object = make_ref<KeyedObject>();
  object->keys = keys;
  return Tensor(object);
}
inline constexpr DispatchKeySet kCpuTensor{DispatchKey::CPU, DispatchKey::ADInplaceOrView, DispatchKey::AutogradCPU, DispatchKey::AutocastCPU};
inline Tensor cpu_tensor() { return tensor(kCpuTensor); }

inline Library library(Dispatcher& d, const char* space, Library::Kind kind = Library::Kind::kDef, std::optional<DispatchKey> key = {},
                       int line = 1) {
  return Library(kind, space, key, "test.cpp", line, d);
}
/// The fallthroughs that stock has for keys that every call brings: without them a call ends at BackendSelect.
inline std::vector<Library> fallthroughs(Dispatcher& d) {
  std::vector<Library> out;
  for (const DispatchKey k : {DispatchKey::BackendSelect, DispatchKey::ADInplaceOrView}) {
    out.push_back(library(d, "_", Library::Kind::kImpl, k));
    out.back().fallback(KernelFunction::fallthrough());
  }
  return out;
}

}  // namespace peel::core
