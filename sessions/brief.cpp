// Short texts for values, times and places.
#include <cstdio>

#include "sessions/show.h"

namespace peel {

std::string dtype_brief(std::string_view dtype) {
  if (dtype.starts_with("torch.")) dtype.remove_prefix(6);
  static constexpr std::pair<std::string_view, std::string_view> names[] = {
      {"float32", "f32"}, {"float64", "f64"}, {"float16", "f16"}, {"bfloat16", "bf16"}, {"complex64", "c64"},
      {"complex128", "c128"}, {"complex32", "c32"}, {"int8", "i8"}, {"int16", "i16"}, {"int32", "i32"}, {"int64", "i64"},
      {"uint8", "u8"}, {"uint16", "u16"}, {"uint32", "u32"}, {"uint64", "u64"}};
  for (const auto& [name, brief] : names) {
    if (dtype == name) return std::string(brief);
  }
  return std::string(dtype);
}

std::string value_brief(const Value& v) {
  if (v.dtype.empty() && !v.tensor) return v.value;
  std::string shape;
  for (const char c : v.shape) {
    if (c != ' ') shape += c;
  }
  if (!shape.empty() && shape.front() == '(') shape.front() = '[', shape.back() = ']';
  if (!v.shape.empty() && shape.front() != '[') shape = "[" + shape + "]";
  return v.dtype.empty() ? "undefined" : dtype_brief(v.dtype) + shape;
}

std::string values_brief(const std::vector<Value>& values) {
  std::string out;
  for (size_t i = 0; i < values.size();) {
    if (!out.empty()) out += ' ';
    if (values[i].list_index < 0) {
      out += value_brief(values[i++]);
      continue;
    }
    const int position = values[i].position;
    out += '[';
    int count = 0;
    for (; i < values.size() && values[i].position == position; ++i, ++count) {
      if (count < 3) out += (count ? " " : "") + value_brief(values[i]);
    }
    if (count > 3) out += " +" + std::to_string(count - 3);
    out += ']';
  }
  return out;
}

std::string time_brief(Nanoseconds t) {
  if (t < 0) return {};
  char text[32];
  const double us = static_cast<double>(t) / 1e3;
  if (us < 1000) std::snprintf(text, sizeof text, "%.1f us", us);
  else if (us < 1e6) std::snprintf(text, sizeof text, "%.2f ms", us / 1e3);
  else std::snprintf(text, sizeof text, "%.2f s", us / 1e6);
  return text;
}

std::string where_brief(const Session& s, StackId stack) {
  const StackId user = s.user_frame(stack);
  if (!user) return {};
  const Frame f = s.frame(user);
  const size_t slash = f.file.rfind('/');
  return std::string(slash == std::string_view::npos ? f.file : f.file.substr(slash + 1)) + ":" + std::to_string(f.line);
}

std::string grouped(uint64_t n) {
  std::string out = std::to_string(n);
  for (size_t i = out.size(); i > 3;) out.insert(i -= 3, ",");
  return out;
}

std::string place_brief(std::string_view registered_at) {
  if (registered_at.starts_with("registered at ")) registered_at.remove_prefix(14);
  const size_t slash = registered_at.rfind('/');
  return std::string(slash == std::string_view::npos ? registered_at : registered_at.substr(slash + 1));
}

std::string json_quoted(std::string_view text) {
  std::string out = "\"";
  for (size_t i = 0; i < text.size(); ++i) {
    const auto c = static_cast<unsigned char>(text[i]);
    if (c == '"' || c == '\\') {
      out += '\\';
      out += text[i];
    } else if (c == '\n') {
      out += "\\n";
    } else if (c < 0x20) {
      char escaped[8];
      std::snprintf(escaped, sizeof escaped, "\\u%04x", c);
      out += escaped;
    } else if (c < 0x80) {
      out += text[i];
    } else {
      // One whole UTF-8 sequence, or the replacement character.
      const size_t length = c >= 0xf0 && c < 0xf5 ? 4 : c >= 0xe0 ? (c < 0xf0 ? 3 : 0) : c >= 0xc2 ? 2 : 0;
      bool good = length != 0 && i + length <= text.size();
      for (size_t k = 1; good && k < length; ++k) good = (static_cast<unsigned char>(text[i + k]) & 0xc0) == 0x80;
      if (good && length == 3) {
        const auto second = static_cast<unsigned char>(text[i + 1]);
        good = !(c == 0xe0 && second < 0xa0) && !(c == 0xed && second >= 0xa0);
      } else if (good && length == 4) {
        const auto second = static_cast<unsigned char>(text[i + 1]);
        good = !(c == 0xf0 && second < 0x90) && !(c == 0xf4 && second >= 0x90);
      }
      if (good) {
        out.append(text.substr(i, length));
        i += length - 1;
      } else {
        out += "\xef\xbf\xbd";
      }
    }
  }
  return out + "\"";
}

}  // namespace peel
