#include "app/console.h"

#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <cwchar>

namespace peel::app {

void say(std::string_view text) {
  std::fflush(stdout);
  std::fprintf(stderr, "peel: %.*s\n", static_cast<int>(text.size()), text.data());
}

int fail(std::string_view text) {
  say(text);
  return kCouldNot;
}

std::string thousands(uint64_t n) {
  std::string digits = std::to_string(n);
  for (size_t at = digits.size(); at > 3; at -= 3) digits.insert(at - 3, ",");
  return digits;
}

std::string counted(uint64_t n, std::string_view one, std::string_view plural) {
  const std::string many = plural.empty() ? std::string(one) + "s" : std::string(plural);
  return thousands(n) + " " + (n == 1 ? std::string(one) : many);
}

namespace {
std::string with_unit(double value, const char* unit, int decimals) {
  char text[48];
  std::snprintf(text, sizeof text, "%.*f %s", decimals, value, unit);
  return text;
}
}  // namespace

std::string bytes_text(uint64_t n) {
  const auto value = static_cast<double>(n);
  if (n < 1000) return std::to_string(n) + " B";
  if (n < 1000000) return with_unit(value / 1e3, "kB", n < 10000 ? 1 : 0);
  if (n < 1000000000) return with_unit(value / 1e6, "MB", n < 100000000 ? 1 : 0);
  return with_unit(value / 1e9, "GB", 2);
}

std::string duration_text(int64_t ns) {
  const auto value = static_cast<double>(ns);
  if (ns < 1000) return std::to_string(ns) + " ns";
  if (ns < 1000000) return with_unit(value / 1e3, "us", 1);
  if (ns < 1000000000) return with_unit(value / 1e6, "ms", 1);
  return with_unit(value / 1e9, "s", 2);
}

bool is_terminal(FILE* f) { return ::isatty(::fileno(f)); }

int terminal_columns(FILE* f) {
  winsize size{};
  if (!is_terminal(f)) return 0;
  return ::ioctl(::fileno(f), TIOCGWINSZ, &size) == 0 && size.ws_col > 0 ? size.ws_col : 80;
}

std::string inked(Ink ink, std::string_view text, FILE* to) {
  const char* no_color = std::getenv("NO_COLOR");
  const char* term = std::getenv("TERM");
  const bool plain = ink == Ink::kPlain || text.empty() || !is_terminal(to) || (no_color && *no_color) ||
                     (term && std::string_view(term) == "dumb");
  if (plain) return std::string(text);
  const char* code = "";
  switch (ink) {
    case Ink::kDim: code = "2"; break;
    case Ink::kBold: code = "1"; break;
    case Ink::kGood: code = "32"; break;
    case Ink::kBad: code = "31"; break;
    case Ink::kWarn: code = "33"; break;
    case Ink::kPlain: break;
  }
  return "\033[" + std::string(code) + "m" + std::string(text) + "\033[0m";
}

size_t cells(std::string_view s) {
  size_t n = 0;
  for (size_t i = 0; i < s.size();) {
    const auto lead = static_cast<unsigned char>(s[i]);
    if (lead == 0x1b) {  // a colour: up to its 'm'
      while (i < s.size() && s[i] != 'm') ++i;
      ++i;
      continue;
    }
    const size_t length = lead < 0x80 ? 1 : lead < 0xe0 ? 2 : lead < 0xf0 ? 3 : 4;
    uint32_t code = lead & (length == 1 ? 0x7f : 0xff >> (length + 1));
    for (size_t k = 1; k < length && i + k < s.size(); ++k) code = code << 6 | (static_cast<unsigned char>(s[i + k]) & 0x3f);
    const bool wide = (code >= 0x1100 && code <= 0x115f) || (code >= 0x2e80 && code <= 0xa4cf) || (code >= 0xac00 && code <= 0xd7a3) ||
                      (code >= 0xf900 && code <= 0xfaff) || (code >= 0xfe30 && code <= 0xfe6f) || (code >= 0xff00 && code <= 0xff60) ||
                      (code >= 0x1f300 && code <= 0x1faff) || (code >= 0x20000 && code <= 0x3fffd);
    n += wide ? 2 : 1;
    i += length;
  }
  return n;
}

std::string aligned(const std::vector<std::vector<std::string>>& rows, const std::vector<bool>& right, std::string_view gap) {
  std::vector<size_t> widths;
  for (const auto& row : rows)
    for (size_t i = 0; i < row.size(); ++i) {
      if (widths.size() <= i) widths.push_back(0);
      widths[i] = std::max(widths[i], cells(row[i]));
    }
  std::string out;
  for (const auto& row : rows) {
    std::string line;
    for (size_t i = 0; i < row.size(); ++i) {
      const std::string pad(widths[i] - cells(row[i]), ' ');
      if (i) line += gap;
      line += i < right.size() && right[i] ? pad + row[i] : row[i] + pad;
    }
    out += line.substr(0, line.find_last_not_of(' ') + 1) + "\n";
  }
  return out;
}

void ProgressLine::show(const std::string& text, const std::string& stage) {
  if (is_terminal(stderr)) {
    const auto columns = static_cast<size_t>(terminal_columns(stderr));
    std::fprintf(stderr, "\r\033[K%s", text.substr(0, columns - 1).c_str());
    shown_ = true;
  } else if (stage != stage_) {
    std::fprintf(stderr, "%s\n", text.c_str());
  }
  stage_ = stage;
  std::fflush(stderr);
}

void ProgressLine::clear() {
  if (shown_) std::fprintf(stderr, "\r\033[K");
  shown_ = false;
}

}  // namespace peel::app
