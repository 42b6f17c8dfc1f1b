#include "app/json.h"

#include <cstdio>

namespace peel::app {
namespace {

/// Bytes of the UTF-8 character at the front; 0 = not one.
size_t utf8_length(std::string_view s) {
  const auto byte = [&](size_t i) { return static_cast<unsigned char>(s[i]); };
  const unsigned char lead = byte(0);
  const size_t length = lead < 0x80 ? 1 : lead < 0xc2 ? 0 : lead < 0xe0 ? 2 : lead < 0xf0 ? 3 : lead < 0xf5 ? 4 : 0;
  if (length == 0 || length > s.size()) return 0;
  for (size_t i = 1; i < length; ++i)
    if ((byte(i) & 0xc0) != 0x80) return 0;
  if ((lead == 0xe0 && byte(1) < 0xa0) || (lead == 0xed && byte(1) > 0x9f) || (lead == 0xf0 && byte(1) < 0x90) ||
      (lead == 0xf4 && byte(1) > 0x8f))
    return 0;
  return length;
}

}  // namespace

std::string json_text(std::string_view s) {
  std::string out = "\"";
  while (!s.empty()) {
    const char c = s[0];
    const size_t length = utf8_length(s);
    if (c == '"' || c == '\\') {
      out += '\\';
      out += c;
    } else if (c == '\n') {
      out += "\\n";
    } else if (c == '\t') {
      out += "\\t";
    } else if (c == '\r') {
      out += "\\r";
    } else if (length == 1 && static_cast<unsigned char>(c) < 0x20) {
      char code[8];
      std::snprintf(code, sizeof code, "\\u%04x", c);
      out += code;
    } else if (length == 0) {
      out += "\xef\xbf\xbd";
    } else {
      out += s.substr(0, length);
    }
    s.remove_prefix(length == 0 ? 1 : length);
  }
  return out + "\"";
}

}  // namespace peel::app
