// PyTorch's precedence rules (core/dispatch/rules.h) in the numbering of one recording: which keys an alias stands for, which slots a
// registration reaches, and what a slot holds, given registrations. Measured on 2.13.0; the memberships are those of core/dispatch/key_sets.
#pragma once
#include <map>
#include <vector>

#include "core/dispatch/rules.h"
#include "sessions/session.h"

namespace peel {

/// A kernel of the recording, one that was never there, or the one that raises for AutogradOther.
struct KernelRef {
  enum class Kind : uint8_t { kNone, kRecorded, kPlanned, kAmbiguous } kind = Kind::kNone;
  KernelId recorded;
  KeyId planned_at = 0;      // where the planned one is registered
  bool fallthrough = false;
  explicit operator bool() const { return kind != Kind::kNone; }
  bool operator==(const KernelRef&) const = default;
};

/// Registrations of one operator by key, the one in force first; and the backend fallbacks by key.
using KernelsByKey = std::map<KeyId, std::vector<KernelRef>>;

class KeyFamilies {
 public:
  explicit KeyFamilies(const Session&);
  bool includes(core::Alias, KeyId runtime) const;
  core::Alias alias_of(KeyId) const;                   // kNone: a runtime key
  KeyId key_of(core::Alias) const;                     // 0 = this recording has none
  /// The slots that a registration at the key recomputes, as keys; 0 = Undefined's.
  std::vector<KeyId> reached_by(KeyId) const;
  KeyId autograd_of(KeyId backend) const;              // AutogradCPU for CPU, SparseCPU; AutogradOther for keys without a backend's own
  bool is_behind(KeyId autograd, KeyId backend) const; // a kernel at `backend` counts as one behind `autograd`
  /// What the slot of a runtime key (0: Undefined) holds.
  core::Entry<KernelRef> decide(const KernelsByKey& registrations, const KernelsByKey& fallbacks, KeyId) const;

 private:
  struct Parts {
    KeyId id = 0;
    std::string functionality, backend;  // "Sparse", "CPU"; dense keys have the functionality ""
    bool loose_backend = false;          // FPGA, Vulkan, ...: a backend that is a functionality of its own
  };
  struct Slot;
  const Parts* parts(KeyId) const;
  bool is_backend(const Parts&) const;
  static bool is_autograd(const Parts&);
  KeyId named(std::string_view) const;

  std::map<KeyId, Parts> parts_;
  std::map<KeyId, core::Alias> aliases_;
};

/// What is registered as of that hop: OpId 0 the backend fallbacks. From what the recording says, else (older recordings) from what its
/// kernels and tables show; `*known` = false then, as removals cannot be seen.
KernelsByKey kernels_by_key(const Session&, OpId, EventId, bool* known = nullptr);

}  // namespace peel
