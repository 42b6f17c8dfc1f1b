#include "sessions/diff.h"

#include <algorithm>
#include <iterator>
#include <tuple>

#include "sessions/diff_align.h"
#include "sessions/diff_side.h"

namespace peel {
namespace {

constexpr uint16_t kMaxDepth = 200;  // deeper calls are told apart by their hash only

constexpr size_t kMaxThreadPairs = 2500;  // more threads than that are paired in their order

using Pair = std::pair<uint32_t, uint32_t>;

/// What is done to two lists in turn: a pair, or one of a side.
struct Step {
  uint32_t left = UINT32_MAX, right = UINT32_MAX;
};

/// Pairs by `exact` tokens; what lies between two pairs by `loose` ones.
std::vector<Step> steps(const std::vector<uint64_t> exact[2], const std::vector<uint64_t> loose[2]) {
  std::vector<Step> out;
  uint32_t l = 0, r = 0;
  const auto gap = [&](uint32_t l_end, uint32_t r_end) {
    std::vector<Pair> pairs;
    if (l < l_end && r < r_end) {
      const std::span<const uint64_t> a(loose[0]), b(loose[1]);
      pairs = align(a.subspan(l, l_end - l), b.subspan(r, r_end - r));
    }
    const uint32_t l0 = l, r0 = r;
    pairs.push_back({l_end - l0, r_end - r0});
    for (const auto& [i, j] : pairs) {
      while (l < l0 + i) out.push_back({l++, UINT32_MAX});
      while (r < r0 + j) out.push_back({UINT32_MAX, r++});
      if (l < l_end && r < r_end) out.push_back({l++, r++});
    }
  };
  for (const auto& [i, j] : align(exact[0], exact[1])) {
    gap(i, j);
    out.push_back({l++, r++});
  }
  gap(static_cast<uint32_t>(exact[0].size()), static_cast<uint32_t>(exact[1].size()));
  return out;
}

class Differ {
 public:
  Differ(PreparedSide& l, PreparedSide& r, const std::atomic<bool>* cancel, Diff* out) : side_{&l, &r}, cancel_(cancel), out_(*out) {}

  void run() {
    const std::vector<size_t> partners = pair_threads();
    std::vector<bool> taken(side_[1]->tops().size());
    for (size_t i = 0; i < partners.size(); ++i) {
      const bool paired = partners[i] != SIZE_MAX;
      if (paired) taken[partners[i]] = true;
      top(side_[0]->tops()[i].calls, paired ? side_[1]->tops()[partners[i]].calls : std::vector<EventId>());
    }
    for (size_t k = 0; k < taken.size(); ++k)
      if (!taken[k]) top({}, side_[1]->tops()[k].calls);
  }

 private:
  bool stopped() const { return cancel_ && cancel_->load(std::memory_order_relaxed); }
  const Session& session(int i) const { return side_[i]->session(); }

  /// What a thread's calls are, whole and as operators on lines, for telling how alike two threads are.
  std::vector<uint64_t> marks(int side, const TopCalls& thread) {
    std::vector<uint64_t> out;
    for (const EventId c : thread.calls) {
      const Event e = session(side).event(c);
      out.push_back(side_[side]->tree(c));
      out.push_back(hash_mix(side_[side]->op(e), side_[side]->line(e.stack)));
    }
    std::sort(out.begin(), out.end());
    return out;
  }

  /// The first threads belong together, of the others those with one name that did most of the same things: which of
  /// several threads began first is chance. SIZE_MAX = none.
  std::vector<size_t> pair_threads() {
    const auto &l = side_[0]->tops(), &r = side_[1]->tops();
    std::vector<size_t> partner(l.size(), SIZE_MAX);
    if (!l.empty() && !r.empty()) partner[0] = 0;
    struct Candidate { size_t alike, left, right; };
    std::vector<Candidate> all;
    if (l.size() * r.size() <= kMaxThreadPairs) {
      std::vector<std::vector<uint64_t>> theirs;
      for (const TopCalls& t : r) theirs.push_back(marks(1, t));
      for (size_t i = 1; i < l.size(); ++i) {
        const std::vector<uint64_t> own = marks(0, l[i]);
        for (size_t k = 1; k < r.size(); ++k) {
          if (l[i].thread != r[k].thread) continue;
          std::vector<uint64_t> common;
          std::set_intersection(own.begin(), own.end(), theirs[k].begin(), theirs[k].end(), std::back_inserter(common));
          all.push_back({common.size(), i, k});
        }
      }
    } else {
      for (size_t i = 1; i < std::min(l.size(), r.size()); ++i)
        if (l[i].thread == r[i].thread) all.push_back({0, i, i});
    }
    std::sort(all.begin(), all.end(), [](const Candidate& a, const Candidate& b) {
      return std::tuple(b.alike, a.left + a.right, a.left) < std::tuple(a.alike, b.left + b.right, b.left);
    });
    std::vector<bool> taken(r.size());
    for (const Candidate& c : all) {
      if (partner[c.left] != SIZE_MAX || taken[c.right]) continue;
      partner[c.left] = c.right;
      taken[c.right] = true;
    }
    return partner;
  }

  void top(const std::vector<EventId>& l, const std::vector<EventId>& r) {
    std::vector<uint64_t> exact[2], loose[2];
    for (int i = 0; i < 2; ++i)
      for (const EventId c : i ? r : l) {
        const Event e = session(i).event(c);
        loose[i].push_back(side_[i]->op(e));
        exact[i].push_back(hash_mix(loose[i].back(), side_[i]->line(e.stack)));
      }
    for (const Step& s : steps(exact, loose)) {
      if (stopped()) return;
      const size_t at = out_.rows.size();
      row(s.left == UINT32_MAX ? EventId{} : l[s.left], s.right == UINT32_MAX ? EventId{} : r[s.right], 0);
      switch (out_.rows[at].state) {
        case DiffState::kSame: ++out_.same; break;
        case DiffState::kChanged: ++out_.changed; break;
        case DiffState::kLeft: ++out_.left; break;
        case DiffState::kRight: ++out_.right; break;
      }
    }
  }

  void row(EventId l, EventId r, uint16_t depth) {
    const size_t at = out_.rows.size();
    out_.rows.push_back({.left = l, .right = r, .depth = depth});
    if (!l || !r) {
      out_.rows[at].state = l ? DiffState::kLeft : DiffState::kRight;
      return;
    }
    if (side_[0]->tree(l) == side_[1]->tree(r) && side_[0]->tree(l)) return;
    const CallTree trees[2] = {call_tree(session(0), l), call_tree(session(1), r)};
    uint16_t what = compare(trees);
    if (depth + 1 < kMaxDepth) inner(trees, static_cast<uint16_t>(depth + 1));
    else what |= diff_what::kInside;
    DiffRow& own = out_.rows[at];
    own.below = static_cast<uint32_t>(out_.rows.size() - at - 1);
    for (size_t i = at + 1; i < out_.rows.size(); ++i) own.differ += out_.rows[i].state != DiffState::kSame;
    if (own.differ) what |= diff_what::kInside;
    own.what = what;
    own.state = what ? DiffState::kChanged : DiffState::kSame;
    if (what & ~diff_what::kInside || own.differ) return;
    own.below = 0;  // the hashes differ in nothing that counts
    out_.rows.resize(at + 1);
  }

  void inner(const CallTree trees[2], uint16_t depth) {
    if (trees[0].inner.empty() && trees[1].inner.empty()) return;
    std::vector<uint64_t> exact[2], loose[2];
    for (int i = 0; i < 2; ++i)
      for (const EventId c : trees[i].inner) {
        const Event e = session(i).event(c);
        loose[i].push_back(side_[i]->op(e));
        exact[i].push_back(hash_mix(loose[i].back(), hash_mix(side_[i]->key(e.key), static_cast<uint64_t>(is_call(e.kind)))));
      }
    for (const Step& s : steps(exact, loose)) {
      if (stopped()) return;
      row(s.left == UINT32_MAX ? EventId{} : trees[0].inner[s.left], s.right == UINT32_MAX ? EventId{} : trees[1].inner[s.right], depth);
    }
  }

  /// What differs in the calls themselves, their layers included.
  uint16_t compare(const CallTree trees[2]) {
    uint16_t what = 0;
    std::vector<Event> layers[2];
    uint64_t nodes[2] = {0, 0};
    for (int i = 0; i < 2; ++i)
      for (const EventId e : trees[i].layers) {
        layers[i].push_back(session(i).event(e));
        if (const uint64_t n = side_[i]->nodes(layers[i].back())) nodes[i] = hash_mix(nodes[i], n);
      }
    const auto& [l, r] = layers;
    bool layers_differ = l.size() != r.size();
    for (size_t i = 0; i < std::min(l.size(), r.size()) && !layers_differ; ++i) {
      layers_differ = side_[0]->key(l[i].key) != side_[1]->key(r[i].key);
      if (layers_differ) break;
      if (side_[0]->keyset(l[i].keyset) != side_[1]->keyset(r[i].keyset)) what |= diff_what::kKeyset;
      if (side_[0]->kernel(l[i].kernel) != side_[1]->kernel(r[i].kernel)) what |= diff_what::kKernel;
    }
    if (layers_differ) {
      what |= diff_what::kLayers;
      if (side_[0]->keyset(l[0].keyset) != side_[1]->keyset(r[0].keyset)) what |= diff_what::kKeyset;
    }
    if (nodes[0] != nodes[1]) what |= diff_what::kNode;
    const ValueLanes a = side_[0]->values(l[0].id), b = side_[1]->values(r[0].id);
    if (a.dtype != b.dtype) what |= diff_what::kDtype;
    if (a.shape != b.shape) what |= diff_what::kShape;
    if (a.device != b.device) what |= diff_what::kDevice;
    if (a.other != b.other) what |= diff_what::kValues;
    if ((l[0].flags & kRaised) != (r[0].flags & kRaised)) what |= diff_what::kRaised;
    uint64_t taken[2] = {0, 0}, launched[2] = {0, 0};
    for (int i = 0; i < 2; ++i)
      for (const Event& e : layers[i]) {
        // On another device the same bytes are no difference of their own.
        if (side_[i]->memory_counts()) taken[i] += side_[i]->effects()->taken_sum(e.id, a.device == b.device);
        if (side_[i]->gpu_counts()) launched[i] += side_[i]->effects()->launched_sum(e.id);
      }
    if (taken[0] != taken[1]) what |= diff_what::kAllocation;
    if (launched[0] != launched[1]) what |= diff_what::kLaunched;
    return what;
  }

  PreparedSide* side_[2];
  const std::atomic<bool>* cancel_;
  Diff& out_;
};

}  // namespace

const char* diff_state_words(DiffState s) {
  switch (s) {
    case DiffState::kSame: return "same";
    case DiffState::kChanged: return "changed";
    case DiffState::kLeft: return "only left";
    case DiffState::kRight: return "only right";
  }
  return "";
}

std::vector<const char*> diff_what_words(uint16_t what) {
  static constexpr std::pair<uint16_t, const char*> kWords[] = {
      {diff_what::kLayers, "layers"}, {diff_what::kKeyset, "key set"}, {diff_what::kKernel, "kernel"}, {diff_what::kNode, "node"}, {diff_what::kDtype, "dtype"},
      {diff_what::kShape, "shape"},   {diff_what::kDevice, "device"},  {diff_what::kValues, "values"}, {diff_what::kRaised, "raised"},
      {diff_what::kAllocation, "allocation"}, {diff_what::kLaunched, "kernels launched"}, {diff_what::kInside, "inside"}};
  std::vector<const char*> out;
  for (const auto& [bit, words] : kWords)
    if (what & bit) out.push_back(words);
  return out;
}

size_t Diff::next(size_t after) const {
  for (size_t i = after + 1; i < rows.size(); ++i)
    if (is_difference(rows[i])) return i;
  return SIZE_MAX;
}

size_t Diff::previous(size_t before) const {
  for (size_t i = std::min(before, rows.size()); i-- > 0;)
    if (is_difference(rows[i])) return i;
  return SIZE_MAX;
}

Diff diff(const DiffSide& left, const DiffSide& right, const std::atomic<bool>* cancel) {
  Diff out;
  PreparedSide l(left, cancel), r(right, cancel);
  const bool two = left.session != right.session;
  const bool texts = two && l.has_sources() && r.has_sources();
  const bool kernel_lines = !two || left.session->meta("engine_version") == right.session->meta("engine_version");
  const bool memory = l.effects()->has_memory() && r.effects()->has_memory(), gpu = l.effects()->has_gpu() && r.effects()->has_gpu();
  for (PreparedSide* s : {&l, &r}) {
    s->use_effects(memory, gpu);
    s->use_line_texts(texts);
    s->use_kernel_lines(kernel_lines);
    s->hash_trees();
  }
  Differ(l, r, cancel, &out).run();
  out.totals[0] = l.totals();
  out.totals[1] = r.totals();
  out.effects[0] = l.effects();
  out.effects[1] = r.effects();
  out.stopped = cancel && cancel->load();
  return out;
}

}  // namespace peel
