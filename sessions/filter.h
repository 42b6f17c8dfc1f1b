// The filter language of the Trace panel and of `peel show --filter`.
//
//   relu*  key:Autograd*  line:10-20  -op:detach,view  node:  kind:redispatch  "error:no kernel"
//
// Blanks separate terms, all of which must hold; a comma inside a term means or; `-` in front negates; words
// without a name are operators. Patterns are globs (`*`, `?`), case does not matter. `node:` and `error:` alone
// mean "any". Lines and files are those of the user's own innermost frame.
#pragma once
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "sessions/session.h"
#include "tracer/wire/patterns.h"

namespace peel {

struct FilterTerm {
  enum class What : uint8_t { kOp, kKey, kKind, kLine, kFile, kNode, kError, kThread } what;
  bool negated = false;
  std::vector<std::string> patterns;  // empty = any
};

class Filter {
 public:
  /// Error: one sentence with the position (from 1) of what is wrong.
  static Result<Filter> parse(std::string_view text);
  bool empty() const { return terms_.empty(); }
  const std::vector<FilterTerm>& terms() const { return terms_; }
  /// "hops of operators relu*, at key Autograd*, not made by ..."; "every hop" when empty.
  std::string explain() const;
  /// Ids that match, ascending, out of [from, to] (0 = to the last).
  std::vector<EventId> matches(const Session&, EventId from = EventId{1}, EventId to = {}) const;
  /// Does one hop match? For a few hops: matches() is much faster for many.
  bool match(const Session&, EventId) const;

 private:
  std::vector<FilterTerm> terms_;
};

using wire::operator_matches;

}  // namespace peel
