#include "sessions/whatif_run.h"

#include <algorithm>
#include <fstream>
#include <iterator>
#include <set>
#include <unordered_map>

#include "sessions/show.h"

namespace peel {
namespace {

using Outcome = WhatIfRow::Outcome;
constexpr size_t kMaxInside = 4;

std::string key_name(const Session& s, KeyId k) {
  const Key* key = s.key(k);
  return key ? key->name : "?";
}
std::string kernel_words(const Session& s, const Event& e) {
  if (e.kind == Kind::kMissingKernel) return "no kernel";
  const Kernel* k = s.kernel(e.kernel);
  return k ? k->rule + ", " + place_brief(k->registered_at) : "a kernel that was not recorded";
}
bool is_look_up(Kind k) { return is_call(k) || k == Kind::kMissingKernel; }

/// Nodes of backward are left out: which run follows from what was made, beyond any change.
std::vector<EventId> hops_below(const Session& s, EventId parent) {
  std::vector<EventId> out = parent ? s.children(parent) : s.roots(s.threads().empty() ? ThreadId{} : s.event(EventId{1}).thread);
  std::erase_if(out, [&](EventId e) { return s.event(e).kind == Kind::kBackwardNode; });
  return out;
}

class Comparison {
 public:
  Comparison(const Session& before, const WhatIfAnswer& predicted, const Session& after) : before_(before), after_(after) {
    for (const WhatIfRow& r : predicted.rows) rows_.emplace(r.event.value, &r);
  }
  WhatIfReality run() {
    level({}, {}, "At the top");
    return std::move(out_);
  }

 private:
  std::string name(const Session& s, EventId e) const { return s.op(s.event(e).op).brief; }

  void level(EventId a, EventId b, const std::string& where) {
    const std::vector<EventId> was = hops_below(before_, a), now = hops_below(after_, b);
    for (size_t i = 0; i < std::max(was.size(), now.size()); ++i) {
      if (i < was.size() && i < now.size() && before_.op(before_.event(was[i]).op).full == after_.op(after_.event(now[i]).op).full) {
        pair(was[i], now[i]);
        continue;
      }
      const std::string first = i < was.size() ? name(before_, was[i]) + " (hop " + std::to_string(was[i].value) + ")" : "nothing more";
      const std::string second = i < now.size() ? name(after_, now[i]) : "nothing more";
      out_.remarks.push_back(where + " the program called " + first + ", with the change " + second + ": what comes after it there is not compared.");
      return;
    }
  }

  void pair(EventId a, EventId b) {
    const Event was = before_.event(a), now = after_.event(b);
    const auto found = rows_.find(a.value);
    const WhatIfRow* p = found == rows_.end() ? nullptr : found->second;
    WhatIfReality::Row row{a, b, std::nullopt, "", key_name(after_, now.key) + ": " + kernel_words(after_, now), true, ""};
    if (p) row.predicted = *p;
    if (p && p->outcome == Outcome::kUnknown) {
      ++out_.known;
      row.inside = inside(b);
      out_.rows.push_back(std::move(row));
      return;
    }
    const std::string key = key_name(before_, p ? p->key_after : was.key), kernel = p ? p->kernel_after : kernel_words(before_, was);
    const bool made_here = kernel.starts_with("the new kernel");
    row.predicted_words = key + ": " + kernel;
    row.agrees = key == key_name(after_, now.key) && (made_here ? row.real_words.find("peel whatif") != std::string::npos : kernel == kernel_words(after_, now));
    if (is_look_up(was.kind) || p) ++out_.compared, out_.agreed += row.agrees;
    // A composite kernel does the same wherever it stands.
    const bool composite = p && p->kernel_before == p->kernel_after && p->kernel_after.starts_with("math kernel");
    const std::string where = "In hop " + std::to_string(a.value) + " (" + name(before_, a) + ")";
    if (row.agrees && (!p || composite)) level(a, b, where);
    if (!p && row.agrees) return;
    row.inside = inside(b);
    if (!composite || !row.agrees) count_known(a);
    out_.rows.push_back(std::move(row));
  }
  /// Calls below a change that were unknown.
  void count_known(EventId a) {
    for (EventId e{a.value + 1}; e <= before_.last(a); e = EventId{e.value + 1}) {
      const auto found = rows_.find(e.value);
      out_.known += found != rows_.end() && found->second->outcome == Outcome::kUnknown;
    }
  }
  std::string inside(EventId b) const {
    std::string out;
    size_t n = 0;
    for (const EventId c : hops_below(after_, b)) {
      const Event e = after_.event(c);
      if (n++ < kMaxInside) out += (out.empty() ? "" : ", ") + std::string(is_redispatch(e.kind) ? "-> " : "") + name(after_, c) + " " + key_name(after_, e.key);
    }
    return n > kMaxInside ? out + " and " + std::to_string(n - kMaxInside) + " more" : out;
  }

  const Session& before_;
  const Session& after_;
  std::unordered_map<uint32_t, const WhatIfRow*> rows_;
  WhatIfReality out_;
};

}  // namespace

Result<WhatIfScope> scope_of(const Session& s, const WhatIf& w) {
  std::set<uint32_t> threads;
  for (const Thread& t : s.threads()) if (!s.roots(t.id).empty()) threads.insert(t.id.value);
  if (threads.size() > 1 || s.processes().size() > 1) return Error{"the recording has hops of several threads or processes, which may come in another order when it runs again"};
  if (s.size() == 0) return Error{"the recording has no hops"};
  if (w.from.value <= 1 && (!w.to || w.to.value >= s.size())) return WhatIfScope{0, 0};
  EventId at = w.from ? w.from : EventId{1};
  WhatIfScope out{at.value, 0};
  const EventId end = w.to ? w.to : EventId{s.size()};
  for (;; ++out.siblings) {
    const EventId last = s.last(at);
    if (last >= end) return last == end || (!w.to && !s.parent(at)) ? (++out.siblings, Result<WhatIfScope>(out)) : Error{"the range ends within a call, at hop " + std::to_string(end.value) + ": end it at the last hop of hop " + std::to_string(at.value) + ", which is " + std::to_string(last.value)};
    const EventId next = s.next_sibling(at);
    if (!next) return Error{"the range goes beyond the hop around its first one: begin it at hop " + std::to_string(s.parent(at).value)};
    at = next;
  }
}

std::string whatif_lines(const Session& s, const WhatIf& w, const WhatIfScope& scope) {
  std::string out;
  for (const WhatIfChange& c : w.changes) {
    const size_t at = c.text.rfind('@');
    // The operator's whole name, whatever part of it was said.
    out += c.op && at != std::string::npos ? c.text.substr(0, c.text.find(' ') + 1) + s.op(c.op).full + c.text.substr(at) : c.text;
    out += '\n';
  }
  return out + "scope " + std::to_string(scope.first) + " " + std::to_string(scope.siblings) + "\n";
}

std::string why_not_run(const Session& s) {
  if (s.meta("engine") != "embedded")
    return "only what was recorded on the embedded engine can be run again with a change: record it with --engine embedded first";
  if (s.live()) return "the program is still running";
  const std::string program = s.meta("program"), recorded = s.source(program);
  if (recorded.empty()) return "the recording does not hold the program's source (a module, or --no-source), so whether it is the same now is not known";
  std::ifstream in(program, std::ios::binary);
  if (!in) return program + " is not there any more";
  const std::string now((std::istreambuf_iterator<char>(in)), {});
  return now == recorded ? "" : program + " was changed since it was recorded: record it again first";
}

WhatIfReality compare_whatif(const Session& before, const WhatIfAnswer& predicted, const Session& after) { return Comparison(before, predicted, after).run(); }

}  // namespace peel
