// What stock's operator really has in its table and masks: the stored words, which no public function shows. Private
// members are reached through explicit instantiation, so the offsets are the compiler's.
#include <ATen/core/Tensor.h>
#include <ATen/core/dispatch/Dispatcher.h>

#include <cstring>
#include <sstream>

namespace {

template <class Tag, auto Member>
struct Open {
  friend auto member(Tag) { return Member; }
};
#define OPEN(TAG, CLASS, NAME)      \
  struct TAG {                      \
    friend auto member(TAG);        \
  };                                \
  template struct Open<TAG, &CLASS::NAME>;

using c10::impl::AnnotatedKernel;
using c10::impl::OperatorEntry;
OPEN(Definition, c10::OperatorHandle, operatorDef_)
OPEN(Slots, OperatorEntry, dispatchTable_)
OPEN(Registered, OperatorEntry, kernels_)
OPEN(Extractor, OperatorEntry, dispatchKeyExtractor_)
OPEN(Mask, c10::DispatchKeyExtractor, nonFallthroughKeys_)
OPEN(MaskPerBackend, c10::DispatchKeyExtractor, nonFallthroughKeysPerBackend_)
OPEN(Needed, c10::DispatchKeyExtractor, requiresBitsetPerBackend_)
OPEN(Fallback, c10::Dispatcher, backendFallbackKernels_)
OPEN(Boxed, c10::KernelFunction, boxed_kernel_func_)
OPEN(Unboxed, c10::KernelFunction, unboxed_kernel_func_)
OPEN(SymUnboxed, c10::KernelFunction, sym_unboxed_kernel_func_)
OPEN(Functor, c10::BoxedKernel, functor_)
OPEN(Function, c10::BoxedKernel, boxed_kernel_func_)

bool same(const c10::KernelFunction& a, const c10::KernelFunction& b) {
  const auto& x = a.*member(Boxed());
  const auto& y = b.*member(Boxed());
  return (x.*member(Functor())).get() == (y.*member(Functor())).get() && x.*member(Function()) == y.*member(Function()) &&
         a.*member(Unboxed()) == b.*member(Unboxed()) && a.*member(SymUnboxed()) == b.*member(SymUnboxed());
}

}  // namespace

/// The set that an unboxed call with one tensor of these keys is looked up with (0: an undefined tensor), while the thread's sets are these.
extern "C" uint64_t effective_set(const char* name, const char* overload, uint64_t keys, uint64_t included, uint64_t excluded) {
  const auto raw = [](uint64_t bits) { return c10::DispatchKeySet(c10::DispatchKeySet::RAW, bits); };
  at::Tensor t;
  c10::Storage none(c10::Storage::use_byte_size_t(), 0, c10::DataPtr(nullptr, c10::kCPU), nullptr, false);
  if (keys) t = at::detail::make_tensor<c10::TensorImpl>(c10::TensorImpl::VIEW, std::move(none), raw(keys), caffe2::TypeMeta::Make<float>());
  const auto op = c10::Dispatcher::singleton().findOp({name, overload});
  const c10::impl::ForceDispatchKeyGuard guard(raw(included), raw(excluded));
  return (((*op).*member(Definition()))->op.*member(Extractor())).getDispatchKeySetUnboxed(t).raw_repr();
}

/// Writes lines as peel_core_replay's `stored`; returns the length that was needed, 0 for an unknown operator.
extern "C" size_t read_table(const char* name, const char* overload, char* out, size_t room) {
  const auto op = c10::Dispatcher::singleton().findOp({name, overload});
  if (!op) return 0;
  const OperatorEntry& entry = ((*op).*member(Definition()))->op;
  const auto& fallbacks = c10::Dispatcher::singleton().*member(Fallback());
  std::ostringstream text;
  const auto slot = [&](c10::DispatchKey k) {
    const int index = c10::getDispatchTableIndexForDispatchKey(k);
    const c10::KernelFunction& kernel = (entry.*member(Slots()))[index];
    if (!kernel.isValid()) return;
    text << c10::toString(k) << '=';
    if (kernel.isFallthrough()) {
      text << "fallthrough\n";
      return;
    }
    if (same(kernel, c10::KernelFunction::makeAmbiguousAutogradOther())) {
      text << "ambiguous_autogradother\n";
      return;
    }
    for (const auto& [key, list] : entry.*member(Registered())) {
      for (const AnnotatedKernel& one : list) {
        if (!same(one.kernel, kernel)) continue;
        text << one.debug << '\n';
        return;
      }
    }
    text << (same(fallbacks[index].kernel, kernel) ? fallbacks[index].debug : "a kernel that is registered nowhere") << '\n';
  };
  slot(c10::DispatchKey::Undefined);
  for (const auto k : c10::DispatchKeySet(c10::DispatchKeySet::FULL)) slot(k);
  const auto& extractor = entry.*member(Extractor());
  const auto& masks = extractor.*member(MaskPerBackend());
  text << std::hex << "mask 0x" << (extractor.*member(Mask())).raw_repr() << '\n';
  for (size_t b = 0; b < masks.size(); ++b) text << "mask " << std::dec << b << std::hex << " 0x" << masks[b].raw_repr() << '\n';
  text << "per_backend " << extractor.*member(Needed()) << '\n';
  const std::string s = text.str();
  if (room) {
    const size_t n = std::min(room - 1, s.size());
    std::memcpy(out, s.data(), n);
    out[n] = 0;
  }
  return s.size();
}
