// Evaluating a filter: what depends on a hop's shape or stack is decided once a shape and once a stack; nodes
// and errors set bits; then one pass over the columns.
#include <algorithm>
#include <unordered_map>

#include "sessions/filter.h"
#include "sessions/session_impl.h"

namespace peel {
namespace {

using What = FilterTerm::What;
using wire::glob_match;

template <class Matches>
bool decide(const FilterTerm& t, Matches&& matches) {
  const bool any = t.patterns.empty() || std::any_of(t.patterns.begin(), t.patterns.end(), matches);
  return any != t.negated;
}

bool shape_term(const FilterTerm& t) { return t.what == What::kOp || t.what == What::kKey || t.what == What::kKind || t.what == What::kThread; }
bool stack_term(const FilterTerm& t) { return t.what == What::kLine || t.what == What::kFile; }

bool shape_holds(const Session& s, const FilterTerm& t, OpId op, KeyId key, Kind kind, ThreadId thread) {
  return decide(t, [&](const std::string& p) {
    switch (t.what) {
      case What::kOp: return op && operator_matches(p, s.op(op).full);
      case What::kKey: {
        const Key* k = kind == Kind::kBackwardNode ? nullptr : s.key(key);
        return k && glob_match(p, k->name);
      }
      case What::kKind: return wire::kind_matches(p, kind_name(kind));
      default: {
        const Thread* th = s.thread(thread);
        return glob_match(p, std::to_string(thread.value)) || (th && glob_match(p, th->name));
      }
    }
  });
}

bool stack_holds(const Session& s, const FilterTerm& t, StackId stack) {
  const StackId user = s.user_frame(stack);
  if (!user) return t.negated;
  const Frame f = s.frame(user);
  return decide(t, [&](const std::string& p) {
    return t.what == What::kLine ? wire::line_matches(p, f.file, f.line) : wire::file_matches(p, f.file);
  });
}

bool error_holds(const FilterTerm& t, const Raised& r) {
  return t.patterns.empty() || std::any_of(t.patterns.begin(), t.patterns.end(), [&](const std::string& p) {
           return wire::error_matches(p, r.type, r.message);
         });
}

bool node_holds(const FilterTerm& t, std::string_view name) {
  return t.patterns.empty() || std::any_of(t.patterns.begin(), t.patterns.end(), [&](const std::string& p) { return glob_match(p, name); });
}

/// One bit a hop for the terms that hang on nodes or errors; empty = no such term.
std::vector<bool> event_bits(const Session& s, const std::vector<FilterTerm>& terms, uint32_t size) {
  std::vector<bool> all;
  for (const FilterTerm& t : terms) {
    if (t.what != What::kNode && t.what != What::kError) continue;
    std::vector<bool> bits(size + 1, t.negated);
    const auto set = [&](EventId e) {
      if (e && e.value <= size) bits[e.value] = !t.negated;
    };
    if (t.what == What::kError) {
      for (const Raised& r : s.raised()) {
        if (error_holds(t, r)) set(r.event);
      }
    } else if (const SessionImpl* real = implementation(s)) {
      real->graph().for_each_node([&](std::string_view name) { return node_holds(t, name); }, set);
    } else {
      for (uint32_t n = 1; n <= s.nodes(); ++n) {
        const Node node = s.node(NodeId{n});
        if (!node_holds(t, node.name)) continue;
        set(node.event);
        for (const NodeRun& r : s.runs(NodeId{n})) set(r.event);
      }
    }
    if (all.empty()) all = std::move(bits);
    else for (uint32_t i = 0; i <= size; ++i) all[i] = all[i] && bits[i];
  }
  return all;
}

}  // namespace

std::vector<EventId> Filter::matches(const Session& s, EventId from, EventId to) const {
  std::vector<EventId> out;
  const uint32_t size = s.size(), first = std::max(1u, from.value), last = to ? std::min(size, to.value) : size;
  if (first > last) return out;
  const std::vector<bool> bits = event_bits(s, terms_, size);
  enum : uint8_t { kUnknown, kNo, kYes };
  std::vector<uint8_t> stacks;
  const auto stack_ok = [&](StackId stack) {
    if (stack.value >= stacks.size()) stacks.resize(std::max<size_t>(stacks.size() * 2, stack.value + 1));
    uint8_t& known = stacks[stack.value];
    if (known == kUnknown) {
      known = kYes;
      for (const FilterTerm& t : terms_) {
        if (stack_term(t) && !stack_holds(s, t, stack)) known = kNo;
      }
    }
    return known == kYes;
  };
  const bool by_stack = std::any_of(terms_.begin(), terms_.end(), stack_term);
  const SessionImpl* real = implementation(s);
  if (!real) {
    for (uint32_t i = first; i <= last; ++i) {
      const Event e = s.event(EventId{i});
      const bool shape = std::all_of(terms_.begin(), terms_.end(), [&](const FilterTerm& t) { return !shape_term(t) || shape_holds(s, t, e.op, e.key, e.kind, e.thread); });
      if (shape && (!by_stack || stack_ok(e.stack)) && (bits.empty() || bits[i])) out.push_back(EventId{i});
    }
    return out;
  }
  const Columns& columns = real->columns();
  std::vector<uint8_t> shapes(columns.shapes());
  std::unordered_map<uint32_t, bool> op_known[8];  // by term, for the first terms: many shapes share an operator
  for (ShapeId i = 0; i < shapes.size(); ++i) {
    const Shape& shape = columns.shape_at(i);
    shapes[i] = kYes;
    for (size_t n = 0; n < terms_.size() && shapes[i] == kYes; ++n) {
      const FilterTerm& t = terms_[n];
      if (!shape_term(t)) continue;
      bool holds;
      if (t.what == What::kOp && n < std::size(op_known)) {
        const auto [it, fresh] = op_known[n].try_emplace(shape.op.value, false);
        if (fresh) it->second = shape_holds(s, t, shape.op, shape.key, shape.kind, shape.thread);
        holds = it->second;
      } else {
        holds = shape_holds(s, t, shape.op, shape.key, shape.kind, shape.thread);
      }
      if (!holds) shapes[i] = kNo;
    }
  }
  for (const Columns::Span& span : columns.spans()) {
    const uint32_t begin = std::max(first, span.first.value), end = std::min(last, span.first.value + span.count - 1);
    for (uint32_t i = begin; i <= end && i >= begin; ++i) {
      const uint32_t row = i - span.first.value;
      // Shapes that came while this ran belong to hops beyond `size`.
      if (span.shape[row] >= shapes.size() || shapes[span.shape[row]] != kYes) continue;
      if (by_stack && !stack_ok(StackId{span.stack[row]})) continue;
      if (!bits.empty() && !bits[i]) continue;
      out.push_back(EventId{i});
    }
  }
  return out;
}

bool Filter::match(const Session& s, EventId e) const { return !matches(s, e, e).empty(); }

}  // namespace peel
