// Cuts a stream of bytes only between UTF-8 characters.
#pragma once
#include <string>
#include <string_view>
#include <utility>

namespace peel::launch {

class TextJoiner {
 public:
  /// What is complete so far; an unfinished character at the end is kept for the next call.
  std::string add(std::string_view bytes) {
    std::string text = std::exchange(kept_, "");
    text += bytes;
    size_t tail = 0;  // bytes of the last character that are there
    while (tail < 3 && tail < text.size() && (byte(text, tail) & 0xc0) == 0x80) ++tail;
    if (tail == text.size()) return text;
    const unsigned char lead = byte(text, tail);
    const size_t length = lead >= 0xf0 ? 4 : lead >= 0xe0 ? 3 : lead >= 0xc0 ? 2 : 1;
    if (tail + 1 < length) {
      kept_ = text.substr(text.size() - tail - 1);
      text.resize(text.size() - tail - 1);
    }
    return text;
  }
  std::string rest() { return std::exchange(kept_, ""); }

 private:
  static unsigned char byte(const std::string& text, size_t from_end) {
    return static_cast<unsigned char>(text[text.size() - 1 - from_end]);
  }
  std::string kept_;
};

}  // namespace peel::launch
