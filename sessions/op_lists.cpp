#include "sessions/op_lists.h"

#include <sys/stat.h>

#include <fstream>
#include <iterator>

namespace peel {
namespace {

constexpr off_t kMaxFile = 8 << 20;
constexpr size_t kMaxEntry = 16 << 10;

std::string read_file(const std::string& path) {
  struct stat s;
  if (::stat(path.c_str(), &s) != 0 || !S_ISREG(s.st_mode) || s.st_size > kMaxFile) return {};
  std::ifstream in(path, std::ios::binary);
  return std::string((std::istreambuf_iterator<char>(in)), {});
}

std::string_view line_at(std::string_view text, size_t at) { return text.substr(at, text.find('\n', at) - at); }

/// Without the comments and empty lines behind it: they belong to what follows.
std::string_view without_tail(std::string_view entry) {
  while (true) {
    while (!entry.empty() && (entry.back() == '\n' || entry.back() == ' ' || entry.back() == '\r')) entry.remove_suffix(1);
    const size_t last = entry.rfind('\n');
    if (last == std::string_view::npos || !line_at(entry, last + 1).starts_with('#')) return entry.substr(0, kMaxEntry);
    entry.remove_suffix(entry.size() - last);
  }
}

/// Calls `take(names, entry)` for each entry that begins with `mark` in the first column.
template <class Take>
void each_entry(std::string_view text, std::string_view mark, Take&& take) {
  size_t at = text.starts_with(mark) ? 0 : text.find("\n" + std::string(mark));
  while (at != std::string_view::npos) {
    if (text[at] == '\n') ++at;
    const size_t next = text.find("\n- ", at);
    const std::string_view entry = without_tail(text.substr(at, next - at));
    const std::string_view head = line_at(entry, 0).substr(mark.size());
    take(head.substr(0, head.find('(')), entry);
    at = next == std::string_view::npos ? next : text.find("\n" + std::string(mark), next);
  }
}

}  // namespace

OpLists::OpLists(const std::string& folder)
    : OpLists(read_file(folder + "/ATen/native/native_functions.yaml"), read_file(folder + "/autograd/derivatives.yaml")) {}

OpLists::OpLists(std::string_view native_functions, std::string_view derivatives) {
  each_entry(native_functions, "- func: ", [this](std::string_view name, std::string_view entry) {
    functions_.insert_or_assign(std::string(name), entry);
    constexpr std::string_view kAlso = "\n  autogen: ";
    const size_t also = entry.find(kAlso);
    if (also == std::string_view::npos) return;
    std::string_view names = line_at(entry, also + kAlso.size());
    while (!names.empty()) {
      const size_t comma = names.find(", ");
      functions_.try_emplace(std::string(names.substr(0, comma)), entry);
      names = comma == std::string_view::npos ? std::string_view() : names.substr(comma + 2);
    }
  });
  each_entry(derivatives, "- name: ", [this](std::string_view name, std::string_view entry) { formulas_.try_emplace(std::string(name), entry); });
}

OpSource OpLists::find(std::string_view name, std::string_view overload) const {
  constexpr std::string_view kOurs = "aten::";
  if (!name.starts_with(kOurs)) return {};
  name.remove_prefix(kOurs.size());
  const auto look = [overload](const Entries& all, std::string_view base) {
    std::string key(base);
    if (!overload.empty()) key.append(".").append(overload);
    const auto found = all.find(key);
    return found == all.end() ? std::string() : found->second;
  };
  OpSource out{look(functions_, name), look(formulas_, name)};
  if (out.derivative.empty() && name.ends_with('_') && !name.ends_with("__")) out.derivative = look(formulas_, name.substr(0, name.size() - 1));
  return out;
}

}  // namespace peel
