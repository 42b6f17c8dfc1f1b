// A breakpoint as a person writes it: a filter (filter.h) with a few words more, for a running program and for recorded hops.
//
//   op:addmm key:AutogradCPU    line:train.py:14    error:    node:Addmm*    write:    op:mm grad:off hit:10
//
//   has:KEY         the hop's key set has the key            grad:on|off   inference:on|off
//   write:          a tensor is written in place; in a program that stands also write:self or write:t4, a tensor of that hop
//   dtype:float16   shape:[2,*]   device:cuda:1   requires_grad:on|off
//                   a tensor argument is so, all of them one and the same; -dtype:float16: there is no such argument.
//                   f16 is float16, `*` any size; numbers that PyTorch wraps in a tensor (the 2 of x * 2) don't count
//   finding:        an exception, a failed look-up, or an inference tensor that requires grad
//   hit:N           stop from the Nth hit on
//
// With node:, error:, write: and finding: a program stops when the hop's kernel has run, else before. What only the whole
// recording tells (where a gradient stops, what is lost) can't be stopped at. `thread:` takes names; `main` is the main one.
#pragma once
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "sessions/filter.h"
#include "tracer/wire/breakpoints.h"

namespace peel {

class Breakpoint {
 public:
  /// The storage's address of a tensor that is named (`self`, `t4`); "" = there is none.
  using Storage = std::function<std::string(std::string_view name)>;

  /// Error: one sentence. `storage` null: no program stands.
  static Result<Breakpoint> parse(std::string_view text, const Storage& storage = nullptr);
  const std::string& text() const { return text_; }
  /// What a program's agent is handed.
  wire::Break table_row(uint8_t slot, bool once) const;
  /// Recorded hops that match, ascending; `hit:` does not count here.
  std::vector<EventId> matches(const Session&, EventId from = EventId{1}, EventId to = {}) const;
  /// Does it need more than `--detail keys` records?
  bool needs_values() const;

 private:
  std::string text_;
  Filter filter_;
  std::vector<wire::BreakTerm> more_;  // what the filter language lacks
  uint32_t first_hit_ = 0;
};

}  // namespace peel
