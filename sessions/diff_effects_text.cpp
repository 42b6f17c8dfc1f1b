// Memory taken and kernels launched, in words.
#include <algorithm>
#include <set>

#include "sessions/diff_effects.h"
#include "sessions/memory.h"
#include "sessions/show.h"

namespace peel {
namespace {

constexpr size_t kNameWidth = 64, kNamesSaid = 2, kNamesListed = 6;

/// Where the bracket that closes at `end` (index of it) was opened; npos = nowhere.
size_t opened(std::string_view s, size_t end) {
  const char close = s[end], open = close == ')' ? '(' : '<';
  int depth = 0;
  for (size_t i = end + 1; i-- > 0;) {
    if (s[i] == close && !(close == '>' && i && s[i - 1] == '-')) ++depth;
    if (s[i] == open && --depth == 0) return i;
  }
  return std::string_view::npos;
}

void take_out(std::string* s, std::string_view what) {
  for (size_t at = 0; (at = s->find(what, at)) != s->npos;) s->erase(at, what.size());
}

std::string cut(std::string text) {
  if (text.size() > kNameWidth) text = text.substr(0, kNameWidth - 1) + "…";
  return text;
}
std::string base_of_brief(const std::string& brief) { return brief.substr(0, brief.find('<')); }

/// The template arguments of `a` from the first one that `b` has otherwise.
std::string apart(const std::string& a, const std::string& b) {
  size_t same = 0;
  while (same < std::min(a.size(), b.size()) && a[same] == b[same]) ++same;
  const std::string base = base_of_brief(a);
  size_t from = base.size() + 1;
  int depth = 0;
  for (size_t i = from; i < same; ++i) {
    depth += a[i] == '<' ? 1 : a[i] == '>' ? -1 : 0;
    if (depth == 0 && a[i] == ',') from = i + 2;
  }
  return from >= a.size() || from == base.size() + 1 ? cut(a) : base + "<…" + cut(a.substr(from));
}

std::string times(const std::string& name, uint64_t n) { return "`" + name + "`" + (n == 1 ? "" : n == 2 ? " twice" : " " + grouped(n) + " times"); }

/// Names, each told apart from those in `others` that are called the same but for their template arguments.
std::string list(const Launched& names, const Launched& others, size_t most = kNamesSaid) {
  std::string out;
  size_t said = 0;
  for (const auto& [full, n] : names) {
    if (said == most && names.size() > most + 1) return out + " and " + std::to_string(names.size() - most) + " more";
    const std::string brief = kernel_brief(full), base = base_of_brief(brief);
    std::string told = cut(base);
    for (const Launched* group : {&others, &names})
      for (const auto& [other, _] : *group)
        if (const std::string b = kernel_brief(other); other != full && base_of_brief(b) == base && told == cut(base)) told = apart(brief, b);
    out += (said++ ? ", " : "") + times(told, n);
  }
  return out;
}

}  // namespace

std::string kernel_brief(std::string_view name) {
  const auto trim = [&] { while (name.ends_with(' ')) name.remove_suffix(1); };
  trim();
  if (!name.ends_with(')')) return std::string(name);  // no C++ function, or its name is all there is
  if (const size_t at = opened(name, name.size() - 1); at != name.npos && at > 0) name = name.substr(0, at), trim();
  std::string_view arguments;
  if (name.ends_with('>')) {
    const size_t at = opened(name, name.size() - 1);
    if (at != name.npos && at > 0) arguments = name.substr(at), name = name.substr(0, at);
  }
  // Without its return type and namespaces: what follows the last blank or `::` outside of brackets.
  size_t from = 0;
  int depth = 0;
  for (size_t i = 0; i < name.size(); ++i) {
    depth += name[i] == '<' || name[i] == '(' ? 1 : name[i] == '>' || name[i] == ')' ? -1 : 0;
    if (depth == 0 && (name[i] == ' ' || name[i] == ':')) from = i + 1;
  }
  std::string args(arguments);
  for (const char* what : {"(anonymous namespace)::", "at::native::", "at::", "c10::", "std::", "detail::", "internal::"}) take_out(&args, what);
  std::string plain;  // without parameters of functions inside
  depth = 0;
  for (const char c : args) {
    if (c == '(') ++depth;
    if (depth == 0) plain += c;
    if (c == ')' && depth) --depth;
  }
  for (const char* what : {"::operator const", "::operator", " const", "{lambda", "}"}) take_out(&plain, what);
  while (plain.find(" >") != plain.npos) plain.erase(plain.find(" >"), 1);
  return std::string(name.substr(from)) + plain;
}

std::vector<std::string> taken_words(const Taken& left, const Taken& right) {
  std::vector<std::string> out;
  std::set<std::string> devices;
  for (const Taken* side : {&left, &right}) for (const auto& [device, _] : *side) devices.insert(device);
  for (const std::string& device : devices) {
    const auto l = left.find(device), r = right.find(device);
    const TakenBytes a = l == left.end() ? TakenBytes{} : l->second, b = r == right.end() ? TakenBytes{} : r->second;
    if (a == b) continue;
    const auto blocks = [](uint64_t n) { return grouped(n) + (n == 1 ? " block" : " blocks"); };
    if (a.bytes == b.bytes) out.push_back("allocates " + bytes_text(b.bytes) + " on " + device + " in " + blocks(b.blocks) + " where left takes " + blocks(a.blocks));
    else if (!a.blocks) out.push_back("allocates " + bytes_text(b.bytes) + " on " + device + ", left nothing");
    else if (!b.blocks) out.push_back("allocates nothing on " + device + ", left " + bytes_text(a.bytes));
    else out.push_back("allocates " + bytes_text(std::abs(b.bytes - a.bytes)) + (b.bytes > a.bytes ? " more on " : " less on ") + device);
  }
  return out;
}

std::vector<std::string> launched_words(const Launched& left, const Launched& right) {
  std::vector<std::string> out;
  Launched gone, come;
  for (const auto& [name, n] : left)
    if (!right.contains(name)) gone[name] = n;
  for (const auto& [name, n] : right) {
    const auto l = left.find(name);
    if (l == left.end()) come[name] = n;
    else if (l->second != n) out.push_back("launches " + times(cut(base_of_brief(kernel_brief(name))), n) + " where left does " + (l->second == 1 ? "once" : l->second == 2 ? "twice" : grouped(l->second) + " times"));
  }
  if (!come.empty() && !gone.empty()) out.insert(out.begin(), "launches " + list(come, gone) + " where left launches " + list(gone, come));
  else if (!come.empty()) out.insert(out.begin(), (left.empty() ? "launches " : "launches also ") + list(come, {}) + (left.empty() ? ", left nothing" : ""));
  else if (!gone.empty()) out.insert(out.begin(), right.empty() ? "launches nothing, left " + list(gone, {}) : "does not launch " + list(gone, {}));
  return out;
}

std::string taken_text(const Taken& taken) {
  std::string out;
  for (const auto& [device, t] : taken)
    out += (out.empty() ? "" : ", ") + bytes_text(t.bytes) + " on " + device + (t.blocks == 1 ? "" : " (" + grouped(t.blocks) + " blocks)");
  return out.empty() ? "nothing" : out;
}

std::string launched_text(const Launched& launched) { return launched.empty() ? "nothing" : list(launched, {}, kNamesListed); }

}  // namespace peel
