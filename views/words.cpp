#include "views/words.h"

#include <cstdio>

namespace peel::views {

std::string plain(const Parts& runs) {
  std::string s;
  for (const Part& r : runs) s += r.text;
  return s;
}

std::string count_text(uint64_t n) {
  std::string s = std::to_string(n);
  for (int i = static_cast<int>(s.size()) - 3; i > 0; i -= 3) s.insert(static_cast<size_t>(i), ",");
  return s;
}

std::string plural(uint64_t n, const char* one, const char* many) {
  return count_text(n) + " " + (n == 1 ? one : many ? std::string(many) : std::string(one) + "s");
}

std::string micros(Nanoseconds t) {
  if (t < 0) return "";
  char b[32];
  const double us = static_cast<double>(t) / 1000;
  if (us >= 9.95) return count_text(static_cast<uint64_t>(us + .5));
  snprintf(b, sizeof b, "%.1f", us);
  return b;
}

std::string duration(Nanoseconds t) {
  if (t < 0) return "";
  char b[32];
  const double us = static_cast<double>(t) / 1000;
  if (us < 999.5) return micros(t) + " µs";
  if (us < 999.5e3) snprintf(b, sizeof b, us < 9995 ? "%.2f ms" : us < 99950 ? "%.1f ms" : "%.0f ms", us / 1000);
  else snprintf(b, sizeof b, us < 99.95e6 ? "%.2f s" : "%.0f s", us / 1e6);
  return b;
}

std::string ordinal(uint64_t n) {
  const uint64_t tens = n % 100, ones = n % 10;
  const char* end = tens >= 11 && tens <= 13 ? "th" : ones == 1 ? "st" : ones == 2 ? "nd" : ones == 3 ? "rd" : "th";
  return count_text(n) + end;
}

std::string base_name(std::string_view path) {
  const size_t slash = path.find_last_of("/\\");
  return std::string(slash == path.npos ? path : path.substr(slash + 1));
}

std::string kernel_place(std::string_view at) {
  // "registered at FILE:LINE [extra]", or only FILE:LINE
  constexpr std::string_view lead = "registered at ";
  if (at.starts_with(lead)) at.remove_prefix(lead.size());
  const size_t space = at.find(" [");
  if (space != at.npos) at = at.substr(0, space);
  std::string s = base_name(at);
  const size_t colon = s.rfind(':');
  const bool number = colon != s.npos && colon + 1 < s.size() && s.find_first_not_of("0123456789", colon + 1) == s.npos;
  std::string file = number ? s.substr(0, colon) : s;
  for (const char* end : {".cpp", ".cc", ".cu", ".h"})
    if (file.ends_with(end)) return file.substr(0, file.size() - std::string_view(end).size());
  return s;  // a Python file keeps its line
}

std::string line_of(const Session& s, EventId e) {
  const StackId stack = s.event(e).stack;
  const StackId user = stack ? s.user_frame(stack) : StackId();
  if (!user) return "";
  const Frame f = s.frame(user);
  return base_name(f.file) + ":" + std::to_string(f.line);
}

std::string hop_name(const Session& s, EventId e) {
  const Event hop = s.event(e);
  if (hop.kind == Kind::kBackwardNode) {
    const auto run = s.run_of(e);
    if (run && run->node) return std::string(s.node_name(run->node));
    return "a node's run";
  }
  if (!hop.op) return kind_name(hop.kind);
  return s.op(hop.op).brief;
}

std::string tensor_name(TensorId t) { return "t" + std::to_string(t.value); }

std::string dtype_brief(std::string_view d) {
  if (d.starts_with("torch.")) d.remove_prefix(6);
  static constexpr struct { std::string_view full, brief; } kNames[] = {
      {"float32", "f32"}, {"float64", "f64"}, {"float16", "f16"}, {"bfloat16", "bf16"}, {"int64", "i64"}, {"int32", "i32"},
      {"int16", "i16"}, {"int8", "i8"}, {"uint8", "u8"}, {"complex64", "c64"}, {"complex128", "c128"},
      {"Float", "f32"}, {"Double", "f64"}, {"Half", "f16"}, {"BFloat16", "bf16"}, {"Long", "i64"}, {"Int", "i32"},
      {"Short", "i16"}, {"Char", "i8"}, {"Byte", "u8"}, {"Bool", "bool"}, {"ComplexFloat", "c64"}, {"ComplexDouble", "c128"}};
  for (const auto& n : kNames) if (n.full == d) return std::string(n.brief);
  return std::string(d);
}

std::string tensor_brief(const Value& v) {
  std::string shape = v.shape;
  std::erase(shape, ' ');
  if (shape.empty() || shape[0] != '[') shape = v.shape.empty() ? "" : "[" + shape + "]";
  return dtype_brief(v.dtype) + shape;
}

}  // namespace peel::views
