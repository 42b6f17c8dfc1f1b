// What is numbered once for a whole session, whichever process names it: strings, key sets, operators,
// kernels, thread-local states, frames, descriptions of tensors; and the table of losses.
//
// Every new number adds its row to the batch at hand. Used by the drain's thread only.
#pragma once
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "sessions/drain_text.h"
#include "sessions/op_lists.h"
#include "sessions/writer_batch.h"
#include "tracer/wire/wire.h"

namespace peel {

struct KeyRow {
  std::string name;
  int functionality_bit, backend_bit, slot;
  bool operator==(const KeyRow&) const = default;
};

/// A tensor as it looked when it was met. Names by string id, 0 = unknown.
struct Description {
  uint32_t dtype, device, layout;
  uint16_t flags;  // kDescribed of wire::TensorFlag
  uint8_t ndim;
  bool sized;      // false: `dims` is missing
  uint64_t keyset;
  const int64_t* dims;  // sizes, then strides
};
/// The flags that belong to a description; the others say something about one argument or record.
constexpr uint16_t kDescribed = wire::kUndefined | wire::kRequiresGrad | wire::kWrappedNumber | wire::kInference | wire::kConj | wire::kNeg | wire::kLeaf;

class Catalog {
 public:
  explicit Catalog(bool keep_source) : keep_source_(keep_source) {}

  Batch* batch = nullptr;  // where new rows go; exchanged at every commit

  uint32_t string(std::string_view);
  uint32_t keyset(uint64_t raw) {
    KeysetSlot& slot = recent_[(raw ^ raw >> 16 ^ raw >> 32) * 0x9E3779B97F4A7C15ull >> 56];
    if (slot.id && slot.raw == raw) return slot.id;
    slot = {raw, keyset_slowly(raw)};
    return slot.id;
  }
  /// False: the number is taken by another key, so this process counts keys differently.
  bool key(uint32_t id, const KeyRow&);
  uint32_t op(const std::string& name, const std::string& overload, const std::string& schema, bool* is_new);
  uint32_t kernel(uint32_t op, uint32_t key, const std::string& rule, uint32_t convention, const std::string& registered_at, bool fallthrough);
  uint32_t tls(uint64_t included, uint64_t excluded, bool grad, bool inference, const std::string& modes);
  uint32_t stack(uint32_t parent, const std::string& file, uint32_t line, const std::string& function);
  uint32_t meta(const Description&);
  /// Can a tensor described by `a` be the one described by `b` when nothing wrote to it in between?
  bool same_kind(uint32_t a, uint32_t b) const {
    if (a == b || !a || !b) return true;
    const MetaRow &x = meta_rows_[a - 1], &y = meta_rows_[b - 1];
    return x.dtype == y.dtype && (x.shape == y.shape || !x.shape || !y.shape);
  }

  /// Where PyTorch's lists of operators lie (the first process decides): operators that are new from now on get their entries stored.
  void use_operator_lists(const std::string& folder);
  /// A row of table meta. The first process' facts keep their names; what differs in another process gets its number.
  void fact(const std::string& key, const std::string& value, uint32_t process);
  /// Something is missing, inferred or cut. The sentence goes into the file with the count.
  void lose(std::string_view name, int64_t count, std::string_view meaning);
  void write_losses();
  int64_t lost(std::string_view name) const;

 private:
  struct KeysetSlot {
    uint64_t raw = 0;
    uint32_t id = 0;
  };
  struct Loss {
    int64_t count = 0;
    std::string meaning;
    bool changed = false;
  };
  struct Hash {
    using is_transparent = void;
    size_t operator()(std::string_view s) const { return std::hash<std::string_view>()(s); }
  };
  using Ids = std::unordered_map<std::string, uint32_t, Hash, std::equal_to<>>;

  uint32_t keyset_slowly(uint64_t raw);
  void keep_source_of(const std::string& file);

  const bool keep_source_;
  bool lists_read_ = false;
  OpLists lists_;
  Ids strings_, ops_, kernels_, tls_, sources_;
  std::unordered_map<uint64_t, uint32_t> keysets_;
  std::unordered_multimap<uint64_t, uint32_t> stacks_;
  struct StackRow {
    uint32_t parent, file, line, function;
    bool operator==(const StackRow&) const = default;
  };
  std::vector<StackRow> stack_rows_;
  std::unordered_multimap<uint64_t, uint32_t> metas_;
  struct MetaRow {
    size_t begin, count;  // in meta_words_
    uint32_t dtype, shape;
  };
  std::vector<MetaRow> meta_rows_;
  std::vector<uint64_t> meta_words_, words_;
  KeysetSlot recent_[256];
  std::map<uint32_t, KeyRow> keys_;
  KeysetPrinter printer_;
  std::map<std::string, Loss, std::less<>> losses_;
  std::map<std::string, std::pair<std::string, uint32_t>> facts_;  // value, process
};

}  // namespace peel
