// What the Program panel shows, as data: a file's lines with the hops that each led to, and the program's output
// split at the selected hop.
#pragma once
#include <map>
#include <string>
#include <unordered_map>
#include <vector>

#include "sessions/session.h"

namespace peel::views {

/// Hops per line of the user's files, counted in slices over a range of hops. A line that called a function of
/// the user's counts the hops of that function too.
class LineCounts {
 public:
  /// Counts [first, last]; last 0: to the end, as it grows. Starting the same range again keeps what is counted.
  void start(const Session*, EventId first, EventId last);
  /// True: more is left.
  bool advance(int hops);
  uint64_t hops(std::string_view file, int line) const;
  EventId first_hop(std::string_view file, int line) const;
  /// The user's files that were seen, in order of appearance.
  const std::vector<std::string>& files() const { return files_; }

 private:
  struct Line { uint64_t hops = 0; EventId first; };
  const Session* session_ = nullptr;
  EventId first_, last_;
  uint32_t at_ = 0;
  std::unordered_map<uint32_t, std::vector<std::pair<size_t, int>>> places_;  // of a stack: file index, line
  std::vector<std::string> files_;
  std::vector<std::unordered_map<int, Line>> lines_;
};

/// What the program printed, as lines; a line belongs after the hop that its beginning came after.
struct OutputLine {
  std::string text;
  int stream = 1;
  EventId after;
};
std::vector<OutputLine> output_lines(const std::vector<Output>&);
/// How many of the lines were printed when the hop had ended.
size_t printed_by(const std::vector<OutputLine>&, EventId hop);

/// The line of the user's that a hop belongs to; line 0 = none is recorded.
struct SourcePlace { std::string file; int line = 0; };
SourcePlace place_of(const Session&, EventId);

std::vector<std::string> split_lines(std::string_view text);

}  // namespace peel::views
