// Thread-local dispatch state: the included and excluded sets, with guards. Values and effects as measured on PyTorch 2.13.0.
#pragma once
#include "core/dispatch/key_sets.h"

namespace peel::core {

/// What a thread adds to and takes from every call's set.
struct LocalKeys {
  DispatchKeySet included, excluded;
  bool operator==(const LocalKeys&) const = default;
};

namespace detail {
/// Stored apart from the defaults, so that a thread starts with zeros and no initialisation.
struct RawLocalKeys {
  uint64_t included, excluded;
};
// A few bytes, so that the engine's library may keep them where no call is needed to find them.
[[gnu::tls_model("initial-exec")]] inline thread_local constinit RawLocalKeys raw_local_keys{};
}  // namespace detail

inline LocalKeys local_keys() {
  const auto& raw = detail::raw_local_keys;
  return {DispatchKeySet::from_raw(raw.included ^ kDefaultIncluded.raw()), DispatchKeySet::from_raw(raw.excluded ^ kDefaultExcluded.raw())};
}
inline void set_local_keys(LocalKeys k) {
  detail::raw_local_keys = {k.included.raw() ^ kDefaultIncluded.raw(), k.excluded.raw() ^ kDefaultExcluded.raw()};
}
/// Without a guard: lost when a guard around it ends, as guards restore whole sets.
void set_key_included(DispatchKey, bool);
void set_key_excluded(DispatchKey, bool);

/// Restores both sets, whatever happened between.
class PreserveKeys {
 public:
  PreserveKeys() : saved_(local_keys()) {}
  ~PreserveKeys() { set_local_keys(saved_); }
  PreserveKeys(const PreserveKeys&) = delete;
  PreserveKeys& operator=(const PreserveKeys&) = delete;

 private:
  LocalKeys saved_;
};

/// Adds to the included set; restores that whole set.
class IncludeKeys {
 public:
  explicit IncludeKeys(DispatchKeySet s) : saved_(local_keys().included) { set_local_keys({saved_ | s, local_keys().excluded}); }
  ~IncludeKeys() { set_local_keys({saved_, local_keys().excluded}); }
  IncludeKeys(const IncludeKeys&) = delete;
  IncludeKeys& operator=(const IncludeKeys&) = delete;

 private:
  DispatchKeySet saved_;
};

/// Adds to the excluded set; restores that whole set.
class ExcludeKeys {
 public:
  explicit ExcludeKeys(DispatchKeySet s) : saved_(local_keys().excluded) { set_local_keys({local_keys().included, saved_ | s}); }
  ~ExcludeKeys() { set_local_keys({local_keys().included, saved_}); }
  ExcludeKeys(const ExcludeKeys&) = delete;
  ExcludeKeys& operator=(const ExcludeKeys&) = delete;

 private:
  DispatchKeySet saved_;
};

/// Replaces both sets.
class ForceKeys : PreserveKeys {
 public:
  explicit ForceKeys(LocalKeys k) { set_local_keys(k); }
};

/// What kernels at Autograd run the rest of a call under: of an operator that makes new tensors, or of a view or in-place one.
struct BelowADInplaceOrView : ExcludeKeys {
  BelowADInplaceOrView() : ExcludeKeys(kAutogradAndADInplaceOrView) {}
};
struct BelowAutograd : ExcludeKeys {
  BelowAutograd() : ExcludeKeys(kAutograd) {}
};

}  // namespace peel::core
