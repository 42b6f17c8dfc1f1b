// The table of breakpoints as peel hands it to a program, and the matching of hops against it.
//
// A breakpoint is a list of terms that all have to hold, as in the filter language (sessions/filter.h). Peel parses; the table
// holds, a breakpoint:  u8 slot, u8 flags, u16 terms, u32 first_hit;  a term: u8 What, u8 negated, u16 patterns;  a pattern:
// u16 length, its bytes. The reader believes none of it.
//
// Terms are known at different times: kOp, kKey, kKind once for all hops alike (remembered by shape), the rest of the first
// group when the hop begins, those of the second when its kernel has run. A breakpoint with one of the second group stops
// after the kernel, all others before.
//
// Terms about tensor arguments hold for one and the same tensor; a negated one says that there is no such tensor. They mean the
// arguments as the hop got them: where the stop comes after the kernel, they were looked at when the hop began.
#pragma once
#include <algorithm>
#include <array>
#include <cstring>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "tracer/wire/control.h"
#include "tracer/wire/patterns.h"
#include "tracer/wire/wire.h"

namespace peel::wire {

enum class What : uint8_t {
  kOp, kKey, kKind, kLine, kFile, kThread,
  kHas,        // a key that the hop's set has
  kGrad,       // "on" or "off": grad mode
  kInference,  // the same: inference mode
  kDtype,      // of a tensor argument: `float16`, a glob
  kShape,      // `[2,3]`; `*` is any size
  kDevice,     // `cuda`, `cuda:1`, a glob
  kRequiresGrad,  // "on" or "off"
  kNode,       // from here on: after the kernel. A node was made (its name), or is run
  kError,      // the hop is left by an exception
  kWrite,      // a tensor was written; pattern: the storage's address in hexadecimal, none = any
  kFinding,    // an exception, or a result that contradicts itself
};
constexpr What kFirstAfter = What::kNode, kLastWhat = What::kFinding;
constexpr bool of_argument(What w) { return w >= What::kDtype && w <= What::kRequiresGrad; }

struct BreakTerm {
  What what;
  bool negated = false;
  std::vector<std::string> patterns;  // one of them; none = any
};
enum BreakFlag : uint8_t {
  kOnce = 1,      // is spent when it stopped once
  kPerVisit = 2,  // only terms about lines: stops at the first hop of each visit of the line, not at all of them
};
struct Break {
  uint8_t slot = 0, flags = 0;
  uint32_t first_hit = 0;  // hits before this one are only counted
  std::vector<BreakTerm> terms;
  /// Whether it stops after the kernel. The node that a run is of is known when it begins.
  bool after(bool node_run = false) const {
    return std::any_of(terms.begin(), terms.end(), [&](const BreakTerm& t) { return t.what >= kFirstAfter && !(node_run && t.what == What::kNode); });
  }
};

/// A tensor among a hop's arguments.
struct TensorArgument {
  std::string_view dtype;   // as Python says it: float32
  std::string_view device;  // cuda
  int device_index = -1;    // -1 = none
  std::span<const int64_t> sizes;
  bool sized = true;        // false: its sizes are symbolic, or there are none
  bool requires_grad = false;
};

/// A hop as breakpoints see it; both engines fill one in, with what costs something behind calls.
class HopView {
 public:
  uint32_t op_id = 0;  // same operator, same number; 0 = a node's run
  uint16_t key = 0;
  HopKind kind = HopKind::kCall;
  Phase phase = Phase::kBefore;
  uint32_t depth = 0;
  bool raised = false;

  struct Place {
    std::string_view file;  // of the user's innermost line; "" = none
    int line = 0;
    uint64_t frame = 0, instruction = 0;  // identity of the call and how far in it: later in a line is larger
  };
  virtual std::string_view op() const = 0;        // `aten::add.Tensor`
  virtual std::string_view key_name() const = 0;  // "" = none
  virtual std::string_view thread_name() const = 0;
  virtual Place place() const = 0;
  virtual bool has_key(std::string_view pattern) const = 0;
  virtual bool grad_mode() const = 0;
  virtual bool inference_mode() const = 0;
  /// Before the kernel: does `holds` hold for a tensor among the arguments, those in lists too? Undefined ones and numbers that
  /// PyTorch wraps in a tensor (the 2 of x * 2) are none.
  virtual bool any_argument(const std::function<bool(const TensorArgument&)>& /*holds*/) const { return false; }
  // after the kernel
  virtual std::span<const std::string_view> nodes() const { return {}; }
  virtual std::string_view error_type() const { return {}; }
  virtual std::string_view error_message() const { return {}; }
  virtual std::span<const uint64_t> written() const { return {}; }  // addresses of storages
  virtual bool contradiction() const { return false; }

 protected:
  ~HopView() = default;
};

inline std::string_view kind_text(HopKind k) {
  constexpr std::string_view kNames[] = {"call", "redispatch", "call_boxed", "redispatch_boxed", "missing_kernel", "python_mode", "torch_function", "backward_node"};
  return static_cast<size_t>(k) < std::size(kNames) ? kNames[static_cast<size_t>(k)] : "";
}

/// Of a term about arguments, whether it is negated or not: does the tensor have it?
inline bool argument_has(const BreakTerm& t, const TensorArgument& a) {
  return std::any_of(t.patterns.begin(), t.patterns.end(), [&](const std::string& p) {
    switch (t.what) {
      case What::kDtype: return glob_match(p, a.dtype);
      case What::kShape: return a.sized && shape_matches(p, a.sizes);
      case What::kDevice: return device_matches(p, a.device, a.device_index);
      default: return p == (a.requires_grad ? "on" : "off");
    }
  });
}
/// Do all terms about arguments hold? `any`: as HopView::any_argument.
template <class Any>
bool arguments_hold(std::span<const BreakTerm> terms, Any&& any) {
  const auto asked = [](const BreakTerm& t, bool negated) { return of_argument(t.what) && t.negated == negated; };
  const bool one = std::any_of(terms.begin(), terms.end(), [&](const BreakTerm& t) { return asked(t, false); });
  if (one && !any([&](const TensorArgument& a) { return std::all_of(terms.begin(), terms.end(), [&](const BreakTerm& t) { return !asked(t, false) || argument_has(t, a); }); })) return false;
  const bool none = std::any_of(terms.begin(), terms.end(), [&](const BreakTerm& t) { return asked(t, true); });
  return !none || !any([&](const TensorArgument& a) { return std::any_of(terms.begin(), terms.end(), [&](const BreakTerm& t) { return asked(t, true) && argument_has(t, a); }); });
}

/// Of all terms but those about arguments.
inline bool term_holds(const BreakTerm& t, const HopView& h) {
  const auto any = [&](auto&& matches) { return t.patterns.empty() || std::any_of(t.patterns.begin(), t.patterns.end(), matches); };
  const auto on = [&](bool state) { return any([&](const std::string& p) { return p == (state ? "on" : "off"); }); };
  bool holds = false;
  switch (t.what) {
    case What::kOp: holds = h.op_id && any([&](const std::string& p) { return operator_matches(p, h.op()); }); break;
    case What::kKey: holds = !h.key_name().empty() && any([&](const std::string& p) { return glob_match(p, h.key_name()); }); break;
    case What::kKind: holds = any([&](const std::string& p) { return kind_matches(p, kind_text(h.kind)); }); break;
    case What::kThread: holds = any([&](const std::string& p) { return glob_match(p, h.thread_name()); }); break;
    case What::kHas: holds = any([&](const std::string& p) { return h.has_key(p); }); break;
    case What::kGrad: holds = on(h.grad_mode()); break;
    case What::kInference: holds = on(h.inference_mode()); break;
    case What::kDtype:
    case What::kShape:
    case What::kDevice:
    case What::kRequiresGrad: return true;
    case What::kError: holds = h.raised && any([&](const std::string& p) { return error_matches(p, h.error_type(), h.error_message()); }); break;
    case What::kFinding: holds = h.raised || h.contradiction(); break;
    case What::kLine:
    case What::kFile: {
      const HopView::Place at = h.place();
      holds = !at.file.empty() && any([&](const std::string& p) { return t.what == What::kLine ? line_matches(p, at.file, at.line) : file_matches(p, at.file); });
      break;
    }
    case What::kNode:
      for (const std::string_view name : h.nodes()) holds = holds || any([&](const std::string& p) { return glob_match(p, name); });
      break;
    case What::kWrite:
      for (const uint64_t storage : h.written())
        holds = holds || any([&](const std::string& p) {
          uint64_t wanted = 0;
          std::from_chars(p.data(), p.data() + p.size(), wanted, 16);
          return wanted == storage;
        });
      break;
  }
  return holds != t.negated;
}

/// "" when they fit, else why not.
inline const char* write_breaks(std::span<const Break> all, std::vector<uint8_t>* out) {
  const auto put = [&](const auto value) {
    const auto* at = reinterpret_cast<const uint8_t*>(&value);
    out->insert(out->end(), at, at + sizeof value);
  };
  out->clear();
  if (all.size() > kBreakpoints) return "there are too many breakpoints: 64 at most";
  for (const Break& b : all) {
    put(b.slot), put(b.flags), put(static_cast<uint16_t>(b.terms.size())), put(b.first_hit);
    for (const BreakTerm& t : b.terms) {
      put(t.what), put(uint8_t{t.negated}), put(static_cast<uint16_t>(t.patterns.size()));
      for (const std::string& p : t.patterns) {
        put(static_cast<uint16_t>(p.size()));
        out->insert(out->end(), p.begin(), p.end());
        if (out->size() > kBreakpointBytes || p.size() > 4096) return "the breakpoints' text is too long: 16 KiB at most";
      }
    }
  }
  return out->size() > kBreakpointBytes ? "the breakpoints' text is too long: 16 KiB at most" : "";
}
/// What makes no sense ends the reading: what was whole before it counts.
inline std::vector<Break> read_breaks(std::span<const uint8_t> in) {
  size_t at = 0;
  bool whole = true;
  const auto get = [&]<class T>(T* value) {
    if (in.size() - at < sizeof(T)) return whole = false;
    std::memcpy(value, in.data() + at, sizeof(T));
    at += sizeof(T);
    return true;
  };
  std::vector<Break> all;
  while (at < in.size() && all.size() < kBreakpoints) {
    Break b;
    uint16_t terms = 0;
    if (!get(&b.slot) || !get(&b.flags) || !get(&terms) || !get(&b.first_hit)) break;
    for (uint16_t n = 0; whole && n < terms; ++n) {
      uint8_t what = 0, negated = 0;
      uint16_t patterns = 0;
      if (!get(&what) || !get(&negated) || !get(&patterns)) break;
      if (what > static_cast<uint8_t>(kLastWhat)) whole = false;
      BreakTerm t{static_cast<What>(what), negated != 0, {}};
      for (uint16_t k = 0; whole && k < patterns; ++k) {
        uint16_t length = 0;
        if (!get(&length) || in.size() - at < length) whole = false;
        if (!whole) break;
        t.patterns.emplace_back(reinterpret_cast<const char*>(in.data() + at), length);
        at += length;
      }
      b.terms.push_back(std::move(t));
    }
    if (!whole || b.slot >= kBreakpoints) break;
    all.push_back(std::move(b));
  }
  return all;
}

/// One thread's copy of the table. Masks have a bit for each slot.
class BreakSet {
 public:
  void set(std::vector<Break> breaks) {
    breaks_ = std::move(breaks);
    all_ = after_ = after_run_ = argued_ = 0;
    for (const Break& b : breaks_) {
      all_ |= 1ull << b.slot;
      if (std::any_of(b.terms.begin(), b.terms.end(), [](const BreakTerm& t) { return of_argument(t.what); })) argued_ |= 1ull << b.slot;
      if (b.after()) after_ |= 1ull << b.slot;
      if (b.after(true)) after_run_ |= 1ull << b.slot;
    }
    shapes_.fill({});
    visits_.fill({});
    begun_.clear();
  }
  const Break* at(uint32_t slot) const {
    for (const Break& b : breaks_) if (b.slot == slot) return &b;
    return nullptr;
  }
  /// Those that the hop satisfies and whose time is this phase.
  uint64_t match(const HopView& h) {
    const uint64_t after = h.kind == HopKind::kBackwardNode ? after_run_ : after_;
    const uint64_t alike = of_shape(h);
    uint64_t left = alike & (h.phase == Phase::kAfter ? after : ~after), hit = 0;
    if (argued_ & after) {
      if (h.phase == Phase::kBefore) look_ahead(h, alike & after & argued_);
      else left &= ~argued_ | (h.depth < begun_.size() ? begun_[h.depth] : 0);
    }
    for (; left; left &= left - 1) {
      const auto slot = static_cast<uint32_t>(__builtin_ctzll(left));
      const Break& b = *at(slot);
      if (!std::all_of(b.terms.begin(), b.terms.end(), [&](const BreakTerm& t) { return t.what <= What::kKind || term_holds(t, h); })) continue;
      if (h.phase == Phase::kBefore && argued_ >> slot & 1 && !hold_arguments(b, h)) continue;
      if (b.flags & kPerVisit && !new_visit(visits_[slot], h)) continue;
      hit |= 1ull << slot;
    }
    return hit;
  }

 private:
  struct Shape { uint64_t id = 0, mask = 0; };
  struct Visit { uint64_t frame = 0, instruction = 0; uint32_t depth = 0; };

  uint64_t of_shape(const HopView& h) {
    if (!all_) return 0;
    const uint64_t id = uint64_t{h.op_id} << 24 | uint64_t{h.key} << 8 | static_cast<uint64_t>(h.kind) | 1ull << 63;
    Shape& s = shapes_[(id * 0x9e3779b97f4a7c15ull) >> 56];
    if (s.id == id) return s.mask;
    s = {id, 0};
    for (const Break& b : breaks_)
      if (std::all_of(b.terms.begin(), b.terms.end(), [&](const BreakTerm& t) { return t.what > What::kKind || term_holds(t, h); })) s.mask |= 1ull << b.slot;
    return s.mask;
  }
  static bool hold_arguments(const Break& b, const HopView& h) {
    return arguments_hold(b.terms, [&](const auto& holds) { return h.any_argument(holds); });
  }
  /// Whose arguments hold, of those that stop when the kernel has run.
  void look_ahead(const HopView& h, uint64_t slots) {
    if (h.depth >= begun_.size()) begun_.resize(h.depth + 1);
    begun_[h.depth] = 0;
    for (uint64_t left = slots; left; left &= left - 1)
      if (hold_arguments(*at(static_cast<uint32_t>(__builtin_ctzll(left))), h)) begun_[h.depth] |= left & -left;
  }
  /// Later in the same line of the same call, or deeper at the same place: the same visit.
  static bool new_visit(Visit& v, const HopView& h) {
    const HopView::Place at = h.place();
    const bool same = at.frame == v.frame && (at.instruction > v.instruction || (at.instruction == v.instruction && h.depth > v.depth));
    v.frame = at.frame, v.instruction = at.instruction;
    if (!same) v.depth = h.depth;
    return !same;
  }

  std::vector<Break> breaks_;
  uint64_t all_ = 0, after_ = 0, after_run_ = 0;
  uint64_t argued_ = 0;          // have terms about arguments
  std::vector<uint64_t> begun_;  // by depth of the open hops: look_ahead
  std::array<Shape, 256> shapes_;
  std::array<Visit, kBreakpoints> visits_;
};

}  // namespace peel::wire
