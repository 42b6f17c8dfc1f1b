#include "sessions/diff_scope.h"

#include <algorithm>
#include <charconv>
#include <map>
#include <set>
#include <tuple>
#include <unordered_map>

#include "sessions/iterations.h"
#include "sessions/show.h"

namespace peel {
namespace {

constexpr size_t kNamesShown = 12;

/// The last hop inside the calls up to `root`.
EventId end_of(const Session& s, EventId root) { return std::max(root, s.last(root)); }

std::vector<DiffScope> iteration_scopes(const Session& s) {
  std::vector<DiffScope> out;
  const ThreadId thread = main_thread(s);
  for (const Iteration& i : iterations(s, thread)) {
    const std::string name = i.number ? "iteration:" + std::to_string(i.number) : i.name;
    out.push_back({name, thread, i.first, end_of(s, i.last)});
  }
  return out;
}

std::vector<DiffScope> span_scopes(const Session& s) {
  std::vector<DiffScope> out;
  std::map<std::string, int> times;
  for (const Span& span : s.spans()) {
    if (!span.begin || !span.end || span.end < span.begin || span.end.value > s.size()) continue;
    const std::string name = span.kind + ":" + span.name;
    const int n = ++times[name];
    out.push_back({n == 1 ? name : name + "#" + std::to_string(n), span.thread, span.begin, end_of(s, span.end)});
  }
  return out;
}

Result<EventId> hop_number(const Session& s, std::string_view text) {
  uint32_t n = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), n);
  if (error != std::errc() || end != text.data() + text.size() || n == 0 || n > s.size())
    return Error{"there is no hop " + std::string(text) + " in " + s.path() + ": it has hops 1 to " + std::to_string(s.size())};
  return EventId{n};
}

struct ModeCall {
  EventId event;
  uint32_t line, mode;  // numbers; line 0 = none, else of a line and operator
};

}  // namespace

std::string mode_of(const Session& s, EventId e) {
  const Tls& tls = s.tls(s.event(e).tls);
  std::string mode = tls.inference_mode ? "inference_mode" : tls.grad_mode ? "grad" : "no_grad";
  if (!tls.modes.empty()) mode += ", " + tls.modes;
  return mode;
}

std::vector<DiffScope> mode_scopes(const Session& s) {
  const ThreadId thread = main_thread(s);
  std::vector<ModeCall> calls;
  std::vector<std::string> modes;
  std::map<std::string, uint32_t> mode_numbers;
  // A line counts once for each operator: a call to backward() has calls of its own under no_grad.
  std::unordered_map<uint32_t, uint32_t> by_tls;
  std::unordered_map<uint64_t, uint32_t> by_place;
  std::map<std::tuple<std::string, int, uint32_t>, uint32_t> lines;
  std::vector<std::set<uint32_t>> modes_of_line(1);
  for (const EventId root : s.roots(thread)) {
    const Event e = s.event(root);
    if (!is_call(e.kind)) continue;
    const auto [mode, fresh_mode] = by_tls.try_emplace(e.tls.value, 0u);
    if (fresh_mode) {
      const std::string name = mode_of(s, root);
      const auto [it, fresh] = mode_numbers.try_emplace(name, static_cast<uint32_t>(modes.size()));
      if (fresh) modes.push_back(name);
      mode->second = it->second;
    }
    const auto [line, fresh_line] = by_place.try_emplace(uint64_t{e.stack.value} << 32 | e.op.value, 0u);
    if (fresh_line) {
      if (const StackId user = s.user_frame(e.stack)) {
        const Frame f = s.frame(user);
        const auto [it, fresh] = lines.try_emplace({std::string(f.file), f.line, e.op.value}, static_cast<uint32_t>(modes_of_line.size()));
        if (fresh) modes_of_line.emplace_back();
        line->second = it->second;
      }
    }
    calls.push_back({root, line->second, mode->second});
    modes_of_line[line->second].insert(mode->second);
  }
  std::vector<DiffScope> out;
  if (modes.size() < 2) return out;
  std::map<uint32_t, int> times;
  const auto shared = [&](const ModeCall& c) { return c.line && modes_of_line[c.line].size() > 1; };
  for (size_t i = 0; i < calls.size();) {
    if (!shared(calls[i])) {
      ++i;
      continue;
    }
    // Up to where the mode ends, or the first line comes again after others.
    size_t last = i;
    bool moved = false;
    for (size_t k = i + 1; k < calls.size() && calls[k].mode == calls[i].mode; ++k) {
      if (!shared(calls[k])) {
        moved = true;
        continue;
      }
      if (moved && calls[k].line == calls[i].line) break;
      moved = moved || calls[k].line != calls[i].line;
      last = k;
    }
    const int n = ++times[calls[i].mode];
    std::string name = "mode:" + modes[calls[i].mode];
    if (n > 1) name += "#" + std::to_string(n);
    out.push_back({name, thread, calls[i].event, end_of(s, calls[last].event)});
    i = last + 1;
  }
  return out;
}

bool mode_pair(const Session& s, DiffScope* left, DiffScope* right) {
  const std::vector<DiffScope> all = mode_scopes(s);
  const auto find = [&](std::string_view name) { return std::find_if(all.begin(), all.end(), [&](const DiffScope& d) { return d.name == name; }); };
  const auto no_grad = find("mode:no_grad"), inference = find("mode:inference_mode");
  if (no_grad != all.end() && inference != all.end()) {
    *left = *no_grad, *right = *inference;
    return true;
  }
  for (size_t i = 1; i < all.size(); ++i) {
    if (all[i].name.find('#') != std::string::npos) continue;
    *left = all[0], *right = all[i];
    return true;
  }
  return false;
}

Result<DiffScope> parse_scope(const Session& s, std::string_view text) {
  if (text.empty() || text == "all") return DiffScope{};
  if (text.find_first_not_of("0123456789-") == std::string_view::npos) {
    const size_t dash = text.find('-');
    const Result<EventId> first = hop_number(s, text.substr(0, dash));
    if (!first) return Error{first.error()};
    const ThreadId thread = s.event(*first).thread;
    if (dash == std::string_view::npos) return DiffScope{std::string(text), thread, *first, end_of(s, *first)};
    const Result<EventId> last = hop_number(s, text.substr(dash + 1));
    if (!last) return Error{last.error()};
    if (*last < *first) return Error{"span " + std::string(text) + " ends before it begins"};
    return DiffScope{std::string(text), thread, *first, *last};
  }
  // "iteration 2" is "iteration:2"; without a kind any name will do.
  std::string wanted(text);
  if (const size_t blank = wanted.find(' '); blank != std::string::npos && wanted.find(':') == std::string::npos) wanted[blank] = ':';
  std::vector<DiffScope> all = iteration_scopes(s);
  for (DiffScope& d : mode_scopes(s)) all.push_back(std::move(d));
  for (DiffScope& d : span_scopes(s)) all.push_back(std::move(d));
  for (DiffScope& d : all) {
    const size_t colon = d.name.find(':');
    if (d.name != wanted && (colon == std::string::npos || d.name.substr(colon + 1) != wanted)) continue;
    return d;
  }
  std::string names;
  for (size_t i = 0; i < all.size() && i < kNamesShown; ++i) names += (i ? ", " : "") + all[i].name;
  if (all.size() > kNamesShown) names += " and " + std::to_string(all.size() - kNamesShown) + " more";
  return Error{"there is no span " + std::string(text) + " in " + s.path() + "; a span is a range of hops as 12-40" + (names.empty() ? "" : ", or one of " + names)};
}

DiffScope scope_around(const Session& s, EventId e) {
  const Event hop = s.event(e);
  for (std::vector<DiffScope> all : {mode_scopes(s), iteration_scopes(s)})
    for (DiffScope& d : all)
      if (d.thread == hop.thread && d.first <= e && e <= d.last) return d;
  EventId top = e;
  while (const EventId up = s.parent(top)) top = up;
  return {std::to_string(top.value), hop.thread, top, end_of(s, top)};
}

std::string scope_text(const Session& s, const DiffScope& d) {
  if (d.whole()) return "all " + grouped(s.size()) + " hops";
  std::string out = d.first == d.last ? "hop " + std::to_string(d.first.value) : "hops " + std::to_string(d.first.value) + " to " + std::to_string(d.last.value);
  const std::string from = where_brief(s, s.event(d.first).stack), to = where_brief(s, s.event(d.last).stack);
  if (from.empty()) return out;
  out += ", " + from;
  if (to.empty() || to == from) return out;
  const size_t colon = from.rfind(':');
  return out + " to " + (to.compare(0, colon + 1, from, 0, colon + 1) == 0 ? to.substr(colon + 1) : to);
}

}  // namespace peel
