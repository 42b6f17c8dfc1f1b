// A prediction (whatif.h) held against what happened: the program's recording as it was, and one of another run in which the change was made.
#pragma once
#include <optional>
#include <string>
#include <vector>

#include "sessions/whatif.h"

namespace peel {

/// How the changed run is told which hop, span or range the change holds in: from the hop that begins as number `first`, until it and its
/// next siblings, `siblings` in all, have ended. siblings 0: to the end of the program.
struct WhatIfScope { uint32_t first, siblings; };
/// Error: the range ends within a call, or the recording has several threads or processes.
Result<WhatIfScope> scope_of(const Session&, const WhatIf&);
/// The changes as the embedded engine takes them, a line each: `exclude AutogradCPU`, `register aten::add.Tensor@CPU`, `scope 12 1`.
std::string whatif_lines(const Session&, const WhatIf&, const WhatIfScope&);
/// Why the program can't be run again: not recorded on the embedded engine, or its source is another now. "" = it can.
std::string why_not_run(const Session&);

struct WhatIfReality {
  struct Row {
    EventId event, other;               // of the recording, of the changed run
    std::optional<WhatIfRow> predicted; // none: it was to go as it did
    std::string predicted_words;        // `CPU: kernel, RegisterCPU.cpp:8`; "" for unknown
    std::string real_words;
    bool agrees;                        // true for unknown
    std::string inside;                 // what it called there: `mm CPU, add Meta`
  };
  std::vector<Row> rows;                // calls that were predicted to change, that did though they weren't, and unknown ones that are known now
  uint64_t compared = 0, agreed = 0, known = 0;  // known: calls that were unknown before
  std::vector<std::string> remarks;     // where the two part, a sentence each
};
WhatIfReality compare_whatif(const Session& before, const WhatIfAnswer&, const Session& after);

}  // namespace peel
