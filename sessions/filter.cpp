#include "sessions/filter.h"

#include <charconv>
#include <utility>

namespace peel {
namespace {

using What = FilterTerm::What;

struct TermName {
  std::string_view name;
  What what;
  const char* words;  // in explain(), before the patterns
  bool may_be_empty;
};
constexpr TermName kTerms[] = {
    {"op", What::kOp, "of operator", false},           {"key", What::kKey, "at key", false},
    {"kind", What::kKind, "of kind", false},           {"line", What::kLine, "from line", false},
    {"file", What::kFile, "from file", false},         {"node", What::kNode, "that made or ran node", true},
    {"error", What::kError, "that raised", true},      {"thread", What::kThread, "on thread", false},
};

std::string at(size_t position) { return " (at character " + std::to_string(position + 1) + ")"; }

bool whole_number(std::string_view s) {
  unsigned n = 0;
  const auto [end, error] = std::from_chars(s.data(), s.data() + s.size(), n);
  return !s.empty() && error == std::errc() && end == s.data() + s.size();
}

/// `17`, `10-20`, `train.py:17`.
bool good_line(std::string_view s) {
  if (const size_t colon = s.rfind(':'); colon != std::string_view::npos) s.remove_prefix(colon + 1);
  const size_t dash = s.find('-');
  if (dash == std::string_view::npos) return whole_number(s);
  return whole_number(s.substr(0, dash)) && whole_number(s.substr(dash + 1));
}

}  // namespace

Result<Filter> Filter::parse(std::string_view text) {
  Filter out;
  size_t i = 0;
  while (true) {
    while (i < text.size() && (text[i] == ' ' || text[i] == '\t')) ++i;
    if (i >= text.size()) return out;
    const size_t begin = i;
    FilterTerm term{.what = What::kOp};
    // One term: up to the next blank outside of quotes.
    std::string token;
    std::vector<size_t> places;  // of each character of token in text
    std::vector<bool> quoted;
    bool in_quotes = false;
    for (; i < text.size() && (in_quotes || (text[i] != ' ' && text[i] != '\t')); ++i) {
      if (text[i] == '"') {
        in_quotes = !in_quotes;
        continue;
      }
      token += text[i];
      places.push_back(i);
      quoted.push_back(in_quotes);
    }
    if (in_quotes) return Error{"a quote is opened and not closed" + at(text.find('"', begin))};
    size_t start = 0;
    if (!token.empty() && token[0] == '-' && !quoted[0]) {
      term.negated = true;
      start = 1;
      if (token.size() == 1) return Error{"a lone `-`: write what to leave out right behind it" + at(begin)};
    }
    const TermName* name = nullptr;
    // `aten::add` is an operator, not a term named `aten`.
    const size_t colon = token.find(':', start);
    if (colon != std::string::npos && token.compare(colon, 2, "::") != 0) {
      const std::string_view word = std::string_view(token).substr(start, colon - start);
      for (const TermName& t : kTerms) {
        if (t.name == word) name = &t;
      }
      if (!name) return Error{"there is no term `" + std::string(word) + ":`" + at(places[start]) + "; there are op, key, kind, line, file, node, error and thread"};
      term.what = name->what;
      start = colon + 1;
    }
    std::string pattern;
    for (size_t k = start; k <= token.size(); ++k) {
      const bool comma = k < token.size() && token[k] == ',' && !quoted[k];
      if (k < token.size() && !comma) {
        pattern += token[k];
        continue;
      }
      if (pattern.empty()) {
        const bool any = name && name->may_be_empty && start == token.size();
        if (!any) return Error{(name ? "`" + std::string(name->name) + ":` needs something behind it" : std::string("an empty pattern")) + at(k < token.size() ? places[k] : i - 1)};
        break;
      }
      if (term.what == What::kLine && !good_line(pattern)) {
        return Error{"`" + pattern + "` is no line" + at(places[k - 1]) + "; write line:17, line:10-20 or line:train.py:17"};
      }
      term.patterns.push_back(std::exchange(pattern, {}));
    }
    out.terms_.push_back(std::move(term));
  }
}

std::string Filter::explain() const {
  if (terms_.empty()) return "every hop";
  std::string out = "hops", but;
  for (const FilterTerm& t : terms_) {
    const TermName& name = kTerms[static_cast<size_t>(t.what)];
    std::string words = name.words;
    if (t.patterns.empty()) words = t.what == What::kNode ? "that made or ran a node" : "that raised an exception";
    for (size_t i = 0; i < t.patterns.size(); ++i) words += (i == 0 ? " " : i + 1 == t.patterns.size() ? " or " : ", ") + t.patterns[i];
    std::string& to = t.negated ? but : out;
    to += (&to == &but ? (but.empty() ? "" : " and not ") : out == "hops" ? " " : ", ") + words;
  }
  return but.empty() ? out : out + (out == "hops" ? " not " : ", but not ") + but;
}

}  // namespace peel
