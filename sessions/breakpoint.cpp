#include "sessions/breakpoint.h"

#include <algorithm>
#include <charconv>

namespace peel {
namespace {

using wire::BreakTerm;
using wire::What;

struct Word {
  std::string_view name;
  What what;
};
constexpr Word kWords[] = {{"has", What::kHas}, {"grad", What::kGrad}, {"inference", What::kInference}, {"write", What::kWrite}, {"finding", What::kFinding}};

What of_filter(FilterTerm::What w) {
  switch (w) {
    case FilterTerm::What::kOp: return What::kOp;
    case FilterTerm::What::kKey: return What::kKey;
    case FilterTerm::What::kKind: return What::kKind;
    case FilterTerm::What::kLine: return What::kLine;
    case FilterTerm::What::kFile: return What::kFile;
    case FilterTerm::What::kNode: return What::kNode;
    case FilterTerm::What::kError: return What::kError;
    case FilterTerm::What::kThread: break;
  }
  return What::kThread;
}

std::vector<std::string> split(std::string_view text) {
  std::vector<std::string> out;
  while (!text.empty()) {
    const size_t comma = std::min(text.find(','), text.size());
    out.emplace_back(text.substr(0, comma));
    text.remove_prefix(std::min(comma + 1, text.size()));
  }
  return out;
}

/// Of the words that the filter language lacks: does the term hold for a recorded hop?
bool holds(const Session& s, const Event& e, const BreakTerm& t) {
  const auto any = [&](auto&& matches) { return t.patterns.empty() || std::any_of(t.patterns.begin(), t.patterns.end(), matches); };
  const auto on = [&](bool state) { return any([&](const std::string& p) { return p == (state ? "on" : "off"); }); };
  switch (t.what) {
    case What::kHas: {
      if (!e.keyset) return t.negated;
      const KeyMath math(s);
      const auto keys = math.keys(s.keyset(e.keyset).raw);
      return any([&](const std::string& p) { return std::any_of(keys.begin(), keys.end(), [&](KeyId k) { return s.key(k) && wire::glob_match(p, s.key(k)->name); }); }) != t.negated;
    }
    case What::kGrad: return on(s.tls(e.tls).grad_mode) != t.negated;
    case What::kInference: return on(s.tls(e.tls).inference_mode) != t.negated;
    case What::kWrite: return !s.writes_of(e.id).empty() != t.negated;
    default: return ((e.flags & kRaised) || e.kind == Kind::kMissingKernel) != t.negated;
  }
}

}  // namespace

Result<Breakpoint> Breakpoint::parse(std::string_view text, const Storage& storage) {
  Breakpoint out;
  const size_t begin = text.find_first_not_of(" \t"), end = text.find_last_not_of(" \t");
  if (begin == std::string_view::npos) return Error{"a breakpoint needs at least one term: op:addmm, key:AutogradCPU, line:train.py:14, error:, node:, write:"};
  out.text_ = std::string(text.substr(begin, end - begin + 1));
  std::string rest(text);  // what is left for the filter, at its places
  for (size_t at = 0; at < text.size();) {
    size_t to = at;
    for (bool quoted = false; to < text.size() && (quoted || (text[to] != ' ' && text[to] != '\t')); ++to) quoted ^= text[to] == '"';
    std::string_view token = text.substr(at, to - at);
    const bool negated = token.starts_with('-');
    token.remove_prefix(negated ? 1 : 0);
    const size_t colon = token.find(':');
    const std::string_view name = token.substr(0, std::min(colon, token.size())), value = colon == std::string_view::npos ? "" : token.substr(colon + 1);
    const auto word = std::find_if(std::begin(kWords), std::end(kWords), [&](const Word& w) { return w.name == name; });
    const bool hit = name == "hit";
    if (colon != std::string_view::npos && (hit || word != std::end(kWords))) {
      rest.replace(at, to - at, to - at, ' ');
      if (hit) {
        const auto [stop, wrong] = std::from_chars(value.data(), value.data() + value.size(), out.first_hit_);
        if (negated || wrong != std::errc() || stop != value.data() + value.size() || out.first_hit_ == 0) return Error{"`" + std::string(token) + "`: hit:10 stops from the tenth hit on"};
      } else {
        BreakTerm t{word->what, negated, split(value)};
        if ((t.what == What::kGrad || t.what == What::kInference) && (t.patterns.size() != 1 || (value != "on" && value != "off")))
          return Error{"`" + std::string(token) + "`: write " + std::string(name) + ":on or " + std::string(name) + ":off"};
        if (t.what == What::kHas && value.empty()) return Error{"`has:` needs a dispatch key behind it: has:AutogradCPU"};
        if (t.what == What::kFinding && !value.empty()) return Error{"`finding:` stands alone"};
        if (t.what == What::kWrite)
          for (std::string& p : t.patterns) {
            const std::string address = storage ? storage(p) : "";
            if (address.empty())
              return Error{"`write:" + p + "`: " + (storage ? "the hop where the program stands has no tensor of that name" : "a tensor can be named only while the program stands at a hop that has it; write: alone means any")};
            p = address;
          }
        out.more_.push_back(std::move(t));
      }
    }
    at = text.find_first_not_of(" \t", to);
    if (at == std::string_view::npos) break;
  }
  Result<Filter> filter = Filter::parse(rest);
  if (!filter) {
    std::string sentence = filter.error();
    if (sentence.find("there is no term") != std::string::npos) sentence += ", and for breakpoints has, grad, inference, write, finding and hit";
    return Error{sentence};
  }
  out.filter_ = std::move(*filter);
  if (out.filter_.empty() && out.more_.empty()) return Error{"`" + out.text_ + "` would stop at every hop: say at which ones"};
  std::vector<uint8_t> bytes;
  const wire::Break row = out.table_row(0, false);
  if (const std::string_view wrong = wire::write_breaks({&row, 1}, &bytes); !wrong.empty()) return Error{std::string(wrong)};
  return out;
}

wire::Break Breakpoint::table_row(uint8_t slot, bool once) const {
  wire::Break row{slot, static_cast<uint8_t>(once ? wire::kOnce : 0), first_hit_, {}};
  bool only_lines = more_.empty(), lines = false;
  for (const FilterTerm& t : filter_.terms()) {
    row.terms.push_back({of_filter(t.what), t.negated, t.patterns});
    lines |= t.what == FilterTerm::What::kLine && !t.negated;
    only_lines &= t.what == FilterTerm::What::kLine || t.what == FilterTerm::What::kFile || t.what == FilterTerm::What::kThread;
  }
  row.terms.insert(row.terms.end(), more_.begin(), more_.end());
  if (lines && only_lines) row.flags |= wire::kPerVisit;
  return row;
}

bool Breakpoint::needs_values() const {
  const auto terms = table_row(0, false).terms;
  return std::any_of(terms.begin(), terms.end(), [](const BreakTerm& t) { return t.what == What::kNode || t.what == What::kWrite; });
}

std::vector<EventId> Breakpoint::matches(const Session& s, EventId from, EventId to) const {
  std::vector<EventId> out = filter_.matches(s, from, to);
  if (!more_.empty()) std::erase_if(out, [&](EventId id) {
    const Event e = s.event(id);
    return !std::all_of(more_.begin(), more_.end(), [&](const BreakTerm& t) { return holds(s, e, t); });
  });
  return out;
}

}  // namespace peel
