#include "sessions/drain_text.h"

#include <sys/stat.h>

#include <charconv>
#include <cmath>
#include <cstdio>
#include <cstdlib>

namespace peel {
namespace {

/// Python's 'r' format: shortest digits that read back the same; exponent when < -4 or >= 16.
std::string shortest(double v) {
  if (std::isnan(v)) return "nan";
  if (std::isinf(v)) return v < 0 ? "-inf" : "inf";
  char buffer[40];
  const auto end = std::to_chars(buffer, buffer + sizeof buffer, v, std::chars_format::scientific).ptr;
  const std::string_view all(buffer, static_cast<size_t>(end - buffer));
  const size_t e = all.find('e');
  const int exponent = std::atoi(std::string(all.substr(e + 1)).c_str());
  if (exponent >= -4 && exponent < 16) {
    char fixed[64];
    const auto stop = std::to_chars(fixed, fixed + sizeof fixed, v, std::chars_format::fixed).ptr;
    return std::string(fixed, stop);
  }
  return std::string(all);
}

}  // namespace

std::string python_double(double v) {
  std::string s = shortest(v);
  if (s.find_first_of(".en") == std::string::npos) s += ".0";  // 'n': nan, inf
  return s;
}

std::string python_complex(double real, double imaginary) {
  std::string i = shortest(imaginary) + "j";
  if (real == 0 && !std::signbit(real)) return i;
  return "(" + shortest(real) + (i[0] == '-' ? "" : "+") + i + ")";
}

std::string python_string(std::string_view text) {
  const char quote = text.find('\'') != text.npos && text.find('"') == text.npos ? '"' : '\'';
  std::string out(1, quote);
  for (const char c : text) {
    if (c == quote || c == '\\') {
      out += '\\';
      out += c;
    } else if (c == '\n') {
      out += "\\n";
    } else if (c == '\t') {
      out += "\\t";
    } else if (c == '\r') {
      out += "\\r";
    } else if (static_cast<unsigned char>(c) < 0x20 || c == 0x7f) {
      char hex[8];
      std::snprintf(hex, sizeof hex, "\\x%02x", static_cast<unsigned char>(c));
      out += hex;
    } else {
      out += c;
    }
  }
  return out + quote;
}

std::string shape_text(const int64_t* sizes, size_t count) {
  std::string out = "[";
  for (size_t i = 0; i < count; ++i) {
    if (i) out += ',';
    char digits[24];
    out.append(digits, std::to_chars(digits, digits + sizeof digits, sizes[i]).ptr);
  }
  return out + ']';
}

const char* memory_format_text(int64_t format) {
  switch (format) {
    case 0: return "torch.contiguous_format";
    case 1: return "torch.preserve_format";
    case 2: return "torch.channels_last";
    case 3: return "torch.channels_last_3d";
    default: return "torch.memory_format";
  }
}

bool users_own(const std::string& path) {
  if (path.empty() || path[0] == '<') return false;
  if (path.find("/site-packages/") != path.npos || path.find("/dist-packages/") != path.npos) return false;
  // the standard library: .../lib/python3.11/...
  for (size_t at = path.find("/python"); at != path.npos; at = path.find("/python", at + 1)) {
    const size_t digit = at + 7;
    const bool versioned = digit < path.size() && path[digit] >= '0' && path[digit] <= '9' && path.find('/', digit) != path.npos;
    const size_t before = path.rfind('/', at ? at - 1 : 0);
    const std::string_view folder = before == path.npos ? std::string_view() : std::string_view(path).substr(before, at - before);
    if (versioned && (folder == "/lib" || folder == "/lib64")) return false;
  }
  // PyTorch in a source tree
  for (size_t at = path.find("/torch/"); at != path.npos; at = path.find("/torch/", at + 1)) {
    struct stat s;
    if (::stat((path.substr(0, at) + "/torch/version.py").c_str(), &s) == 0) return false;
  }
  return true;
}

void KeysetPrinter::add(std::string name, int functionality_bit, int backend_bit, int slot) {
  if (functionality_bit < 0 || functionality_bit > 63 || slot < 0) return;  // Undefined and aliases
  Functionality& f = functionality_[functionality_bit];
  if (backend_bit < 0) {
    f.single = std::move(name);
  } else if (backend_bit < 64) {
    if (f.of_backend.size() <= static_cast<size_t>(backend_bit)) f.of_backend.resize(static_cast<size_t>(backend_bit) + 1);
    f.of_backend[static_cast<size_t>(backend_bit)] = std::move(name);
  }
}

std::string KeysetPrinter::text(uint64_t raw) const {
  std::string out = "DispatchKeySet(";
  const size_t begin = out.size();
  const auto add = [&](const std::string& name) {
    if (name.empty()) return;
    if (out.size() > begin) out += ", ";
    out += name;
  };
  for (int bit = 0; bit < 64; ++bit) {
    if (!(raw >> bit & 1)) continue;
    const Functionality& f = functionality_[bit];
    if (f.of_backend.empty()) add(f.single);
    for (size_t b = 0; b < f.of_backend.size(); ++b) {
      if (raw >> b & 1) add(f.of_backend[b]);
    }
  }
  return out + ")";
}

}  // namespace peel
