// What the command line prints: errors, numbers, progress, colours where a person looks.
#pragma once
#include <cstdint>
#include <cstdio>
#include <string>
#include <string_view>
#include <vector>

namespace peel::app {

constexpr int kDone = 0, kNo = 1, kCouldNot = 2;  // exit statuses (design.md, section 6)

/// `peel: TEXT` on stderr; returns kCouldNot.
int fail(std::string_view text);
/// `peel: TEXT` on stderr.
void say(std::string_view text);

/// `12,345`
std::string thousands(uint64_t);
/// `1 hop`, `12,345 hops`; `plural` empty: `one` + "s"
std::string counted(uint64_t n, std::string_view one, std::string_view plural = "");
/// `640 B`, `3.2 MB`
std::string bytes_text(uint64_t);
/// `850 ns`, `12.4 us`, `3.1 ms`, `2.50 s`
std::string duration_text(int64_t ns);

enum class Ink { kPlain, kDim, kBold, kGood, kBad, kWarn };
/// The text in that ink if `to` is a terminal that wants colour (NO_COLOR, TERM=dumb are respected).
std::string inked(Ink, std::string_view text, FILE* to = stdout);
bool is_terminal(FILE*);
/// Columns of the terminal behind `to`; 0 = not one.
int terminal_columns(FILE* to);

/// Cells that a text takes in a terminal: UTF-8 characters, colours not counted, East Asian wide ones twice.
size_t cells(std::string_view);

/// Rows with columns aligned; the last column is not padded. `right` tells which columns are numbers.
std::string aligned(const std::vector<std::vector<std::string>>& rows, const std::vector<bool>& right = {},
                    std::string_view gap = "  ");

/// One line on stderr that is written over and over on a terminal; a plain line per stage otherwise.
class ProgressLine {
 public:
  ~ProgressLine() { clear(); }
  void show(const std::string& text, const std::string& stage);
  void clear();

 private:
  std::string stage_;
  bool shown_ = false;
};

}  // namespace peel::app
