#include "sessions/drain_catalog.h"

#include <sys/stat.h>

#include <cstdio>
#include <cstring>
#include <fstream>
#include <iterator>

namespace peel {
namespace {

constexpr size_t kMaxSource = 1 << 20;

uint64_t mix(uint64_t hash, uint64_t word) {
  hash = (hash ^ word) * 0x9E3779B97F4A7C15ull;
  return hash ^ hash >> 29;
}
Cell text_or_null(const std::string& s) {
  if (s.empty()) return Cell();
  return Cell(s);
}
Cell bit_or_null(int bit) {
  if (bit < 0) return Cell();
  return Cell(static_cast<int64_t>(bit));
}

}  // namespace

uint32_t Catalog::string(std::string_view text) {
  const auto found = strings_.find(text);
  if (found != strings_.end()) return found->second;
  const uint32_t id = static_cast<uint32_t>(strings_.size()) + 1;
  strings_.emplace(text, id);
  batch->add(Small::kString, {int64_t{id}, std::string(text)});
  return id;
}

uint32_t Catalog::keyset_slowly(uint64_t raw) {
  const auto [at, is_new] = keysets_.emplace(raw, static_cast<uint32_t>(keysets_.size()) + 1);
  if (is_new) batch->add(Small::kKeyset, {int64_t{at->second}, static_cast<int64_t>(raw), printer_.text(raw)});
  return at->second;
}

bool Catalog::key(uint32_t id, const KeyRow& row) {
  const auto [at, is_new] = keys_.emplace(id, row);
  if (!is_new) return at->second == row;
  printer_.add(row.name, row.functionality_bit, row.backend_bit, row.slot);
  batch->add(Small::kKey, {int64_t{id}, row.name, bit_or_null(row.functionality_bit), bit_or_null(row.backend_bit), bit_or_null(row.slot)});
  return true;
}

uint32_t Catalog::op(const std::string& name, const std::string& overload, const std::string& schema, bool* is_new) {
  const auto [at, fresh] = ops_.emplace(name + '\0' + overload, static_cast<uint32_t>(ops_.size()) + 1);
  if (fresh) {
    batch->add(Small::kOp, {int64_t{at->second}, name, overload, text_or_null(schema)});
    const OpSource source = lists_.find(name, overload);
    if (!source.native_function.empty() || !source.derivative.empty()) batch->add(Small::kOpSource, {int64_t{at->second}, text_or_null(source.native_function), text_or_null(source.derivative)});
  }
  *is_new = fresh;
  return at->second;
}

uint32_t Catalog::kernel(uint32_t op, uint32_t key, const std::string& rule, uint32_t convention, const std::string& registered_at, bool fallthrough) {
  const bool boxed = convention & wire::kBoxed, unboxed = convention & wire::kUnboxed;
  const std::string words = boxed && unboxed ? "both" : boxed ? "boxed" : unboxed ? "unboxed" : "";
  std::string identity = std::to_string(op) + ' ' + std::to_string(key) + ' ' + std::to_string(fallthrough) + ' ' + words + '\0';
  identity += rule;
  identity += '\0';
  identity += registered_at;
  const auto [at, is_new] = kernels_.emplace(std::move(identity), static_cast<uint32_t>(kernels_.size()) + 1);
  if (is_new) {
    batch->add(Small::kKernel, {int64_t{at->second}, op ? Cell(int64_t{op}) : Cell(), int64_t{key}, text_or_null(rule), text_or_null(words),
                                text_or_null(registered_at), int64_t{fallthrough}});
  }
  return at->second;
}

uint32_t Catalog::tls(uint64_t included, uint64_t excluded, bool grad, bool inference, const std::string& modes) {
  std::string identity = std::to_string(included) + ' ' + std::to_string(excluded) + (grad ? 'g' : '-') + (inference ? 'i' : '-') + modes;
  const auto [at, is_new] = tls_.emplace(std::move(identity), static_cast<uint32_t>(tls_.size()) + 1);
  if (is_new) {
    batch->add(Small::kTls, {int64_t{at->second}, static_cast<int64_t>(included), static_cast<int64_t>(excluded), int64_t{grad}, int64_t{inference},
                             text_or_null(modes)});
  }
  return at->second;
}

uint32_t Catalog::stack(uint32_t parent, const std::string& file, uint32_t line, const std::string& function) {
  const StackRow row{parent, string(file), line, string(function)};
  const uint64_t hash = mix(mix(uint64_t{row.parent} << 32 | row.file, row.line), row.function);
  for (auto [at, end] = stacks_.equal_range(hash); at != end; ++at) {
    if (stack_rows_[at->second - 1] == row) return at->second;
  }
  stack_rows_.push_back(row);
  const uint32_t id = static_cast<uint32_t>(stack_rows_.size());
  stacks_.emplace(hash, id);
  (*batch)[Table::kStack].add(id, cell(row.parent), row.file, row.line, row.function);
  keep_source_of(file);
  return id;
}

uint32_t Catalog::meta(const Description& d) {
  words_.clear();
  words_.push_back(uint64_t{d.dtype} << 32 | d.layout);
  words_.push_back(uint64_t{d.device} << 32 | uint64_t{d.flags} << 16 | uint64_t{d.ndim} << 1 | d.sized);
  words_.push_back(d.keyset);
  if (d.sized) words_.insert(words_.end(), d.dims, d.dims + 2 * size_t{d.ndim});
  uint64_t hash = 0;
  for (const uint64_t w : words_) hash = mix(hash, w);
  for (auto [at, end] = metas_.equal_range(hash); at != end; ++at) {
    const MetaRow& m = meta_rows_[at->second - 1];
    if (m.count == words_.size() && std::memcmp(meta_words_.data() + m.begin, words_.data(), m.count * 8) == 0) return at->second;
  }
  static constexpr std::pair<uint16_t, const char*> kWords[] = {
      {wire::kRequiresGrad, "requires_grad"}, {wire::kLeaf, "leaf"}, {wire::kInference, "inference"}, {wire::kWrappedNumber, "wrapped_number"},
      {wire::kConj, "conj"},                  {wire::kNeg, "neg"},   {wire::kUndefined, "undefined"},
  };
  std::string flags;
  for (const auto& [bit, word] : kWords) {
    if (!(d.flags & bit)) continue;
    if (!flags.empty()) flags += ' ';
    flags += word;
  }
  const uint32_t shape = d.sized ? string(shape_text(d.dims, d.ndim)) : 0;
  const uint32_t strides = d.sized ? string(shape_text(d.dims + d.ndim, d.ndim)) : 0;
  meta_rows_.push_back({meta_words_.size(), words_.size(), d.dtype, shape});
  meta_words_.insert(meta_words_.end(), words_.begin(), words_.end());
  const uint32_t id = static_cast<uint32_t>(meta_rows_.size());
  metas_.emplace(hash, id);
  (*batch)[Table::kTensorMeta].add(id, cell(d.dtype), cell(shape), cell(strides), cell(d.device), cell(d.layout), keyset(d.keyset),
                                   flags.empty() ? kNullCell : string(flags));
  return id;
}

void Catalog::keep_source_of(const std::string& file) {
  if (!keep_source_ || !sources_.emplace(file, 0).second || !users_own(file)) return;
  struct stat s;
  if (::stat(file.c_str(), &s) != 0 || !S_ISREG(s.st_mode)) return;
  if (static_cast<size_t>(s.st_size) > kMaxSource) {
    lose("source files left out", 1, "A source file of the program is larger than 1 MiB and was not stored.");
    return;
  }
  std::ifstream in(file, std::ios::binary);
  std::string text((std::istreambuf_iterator<char>(in)), {});
  if (in.bad() || text.size() > kMaxSource) return;
  batch->add(Small::kSource, {file, std::move(text)});
}

void Catalog::use_operator_lists(const std::string& folder) {
  if (lists_read_) return;
  lists_read_ = true;
  lists_ = OpLists(folder);
}

void Catalog::fact(const std::string& key, const std::string& value, uint32_t process) {
  for (const char* own : {"format", "state", "started_unix_ns", "exit_code", "hops"}) {
    if (key == own) return;  // the drain's own rows
  }
  const auto [at, is_new] = facts_.emplace(key, std::pair{value, process});
  if (!is_new && at->second.first == value) return;
  if (!is_new && at->second.second == process) at->second.first = value;
  const bool others = at->second.second != process;
  batch->add(Small::kMeta, {others ? key + " (process " + std::to_string(process) + ")" : key, value});
}

void Catalog::lose(std::string_view name, int64_t count, std::string_view meaning) {
  auto at = losses_.find(name);
  if (at == losses_.end()) at = losses_.emplace(std::string(name), Loss{0, std::string(meaning), true}).first;
  if (__builtin_add_overflow(at->second.count, count, &at->second.count)) at->second.count = INT64_MAX;
  at->second.changed = true;
}

void Catalog::write_losses() {
  for (auto& [name, loss] : losses_) {
    if (!loss.changed) continue;
    loss.changed = false;
    batch->add(Small::kLoss, {name, loss.count, loss.meaning});
  }
}

int64_t Catalog::lost(std::string_view name) const {
  const auto at = losses_.find(name);
  return at == losses_.end() ? 0 : at->second.count;
}

}  // namespace peel
