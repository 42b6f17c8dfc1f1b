#include "sessions/tables.h"

#include <algorithm>
#include <climits>
#include <mutex>

#include "sessions/format.h"
#include "sessions/optional_table.h"

namespace peel {
namespace {

// More rows than this in a table that should be small: the file is not what it says.
constexpr uint64_t kMaxSmallRows = 20'000'000;

uint32_t id_of(const ReadStatement& s, int column) {
  const int64_t v = s.integer(column);
  return v > 0 && v <= kMaxId ? static_cast<uint32_t>(v) : 0;
}
int int_of(const ReadStatement& s, int column, int null) {
  if (s.null(column)) return null;
  const int64_t v = s.integer(column);
  return v >= INT_MIN && v <= INT_MAX ? static_cast<int>(v) : null;
}

template <class Versions>
void append_version(std::vector<Versions>& versions, EventId since, const auto& row) {
  auto it = std::upper_bound(versions.begin(), versions.end(), since,
                             [](EventId s, const Versions& v) { return s < v.since; });
  if (it == versions.begin() || (it - 1)->since != since) {
    it = versions.insert(it, Versions{since, {}}) + 1;
  }
  (it - 1)->rows.push_back(row);
}

}  // namespace

void Tables::fault(const std::string& sentence) {
  if (trouble_.empty()) trouble_ = sentence;
}

bool Tables::budget(const char* table, uint64_t rows) {
  if (rows < kMaxSmallRows) return true;
  fault(std::string("table ") + table + " has more rows than any recording makes; the rest is left out");
  return false;
}

bool Tables::refresh(ReadConnection& db, std::string* trouble) {
  trouble_.clear();
  bool changed = read_meta(db);
  changed |= read_keys(db);
  changed |= read_keysets(db);
  changed |= read_ops(db);
  changed |= read_kernels(db);
  changed |= read_tls(db);
  changed |= read_threads(db);
  changed |= read_processes(db);
  changed |= read_stacks(db);
  changed |= read_slots(db);
  changed |= read_masks(db);
  changed |= read_registrations(db);
  changed |= read_spans(db);
  changed |= read_errors(db);
  changed |= read_changes(db);
  changed |= read_output(db);
  changed |= read_losses(db);
  changed |= read_bookmarks(db);
  changed |= read_notes(db);
  if (const std::string failure = db.take_failure(); !failure.empty()) {
    fault("the file is damaged, some of its small tables could not be read: " + failure);
  }
  if (!trouble_.empty() && trouble->empty()) *trouble = trouble_;
  return changed;
}

const std::string* Tables::string(ReadConnection& db, uint32_t id) {
  static const std::string empty;
  if (id == 0) return &empty;
  const auto found = strings_.find(id);
  if (found != strings_.end()) return found->second.get();
  ReadStatement s(db, "SELECT value FROM string WHERE id = ?");
  if (!s.bind(1, id).step()) return &empty;
  return strings_.emplace(id, std::make_unique<std::string>(s.text(0))).first->second.get();
}

bool Tables::read_meta(ReadConnection& db) {
  std::map<std::string, std::string, std::less<>> fresh;
  ReadStatement s(db, "SELECT key, value FROM meta");
  while (s.step() && budget("meta", fresh.size())) fresh[s.text(0)] = s.text(1);
  if (s.failed()) return false;
  std::unique_lock lock(mutex_);
  if (fresh == meta_) return false;
  meta_ = std::move(fresh);
  return true;
}

bool Tables::read_keys(ReadConnection& db) {
  bool changed = false;
  ReadStatement s(db, "SELECT id, name, functionality_bit, backend_bit, slot FROM dispatch_key ORDER BY id");
  while (s.step()) {
    const int64_t id = s.integer(0);
    if (id < 0 || id > 0xffff) {
      fault("table dispatch_key has a key with the impossible number " + std::to_string(id));
      continue;
    }
    Key key{static_cast<KeyId>(id), s.text(1), int_of(s, 2, -1), int_of(s, 3, -1), int_of(s, 4, -1)};
    if (key.functionality_bit > 63 || key.backend_bit > 63 || key.functionality_bit < -1 || key.backend_bit < -1 ||
        key.slot > 0xffff) {
      fault("table dispatch_key: the bits of " + key.name + " lie outside of a 64-bit set");
      continue;
    }
    const Key* old = keys.get(static_cast<uint32_t>(id));
    if (old && old->name == key.name && old->functionality_bit == key.functionality_bit &&
        old->backend_bit == key.backend_bit && old->slot == key.slot) {
      continue;
    }
    changed = true;
    const std::string name = key.name;
    if (!keys.put(static_cast<uint32_t>(id), std::move(key))) continue;
    std::unique_lock lock(mutex_);
    key_names_[name] = static_cast<KeyId>(id);
  }
  return changed;
}

bool Tables::read_keysets(ReadConnection& db) {
  bool changed = false;
  ReadStatement s(db, "SELECT id, raw, text FROM keyset WHERE id > ? ORDER BY id");
  s.bind(1, last_keyset_);
  for (uint64_t n = 0; s.step() && budget("keyset", n); ++n) {
    const uint32_t id = id_of(s, 0);
    if (!id || !keysets.put(id, Keyset{static_cast<uint64_t>(s.integer(1)), s.text(2)})) {
      fault("table keyset has the absurd id " + s.text(0));
      break;
    }
    last_keyset_ = id;
    changed = true;
  }
  return changed;
}

bool Tables::read_ops(ReadConnection& db) {
  bool changed = false;
  ReadStatement s(db, "SELECT id, name, overload, schema FROM op WHERE id > ? ORDER BY id");
  ReadStatement arguments(db, "SELECT position, name, flags FROM op_argument WHERE op = ? ORDER BY position LIMIT 1024");
  s.bind(1, last_op_);
  for (uint64_t n = 0; s.step() && budget("op", n); ++n) {
    const uint32_t id = id_of(s, 0);
    Op op{.name = s.text(1), .overload = s.text(2), .schema = s.text(3)};
    op.full = op.overload.empty() ? op.name : op.name + "." + op.overload;
    op.brief = op.name.starts_with("aten::") ? op.name.substr(6) : op.name;
    arguments.reset();
    arguments.bind(1, id);
    while (arguments.step()) {
      const int64_t position = arguments.integer(0);
      if (position < 0 || position > 1023) continue;
      if (op.arguments.size() <= static_cast<size_t>(position)) op.arguments.resize(static_cast<size_t>(position) + 1);
      op.arguments[static_cast<size_t>(position)] = {arguments.text(1), static_cast<uint32_t>(arguments.integer(2))};
    }
    if (!id || !ops.put(id, std::move(op))) {
      fault("table op has the absurd id " + s.text(0));
      break;
    }
    last_op_ = id;
    changed = true;
  }
  return changed;
}

bool Tables::read_kernels(ReadConnection& db) {
  bool changed = false;
  ReadStatement s(db, "SELECT id, op, key, rule, convention, registered_at, fallthrough FROM kernel WHERE id > ? ORDER BY id");
  s.bind(1, last_kernel_);
  for (uint64_t n = 0; s.step() && budget("kernel", n); ++n) {
    const uint32_t id = id_of(s, 0);
    const OpId op{id_of(s, 1)};
    Kernel k{op, static_cast<KeyId>(s.integer(2)), s.text(3), s.text(4), s.text(5), s.integer(6) != 0};
    if (!id || !kernels.put(id, std::move(k))) {
      fault("table kernel has the absurd id " + s.text(0));
      break;
    }
    last_kernel_ = id;
    changed = true;
    std::unique_lock lock(mutex_);
    kernels_of_[op.value].push_back(KernelId{id});
  }
  return changed;
}

bool Tables::read_tls(ReadConnection& db) {
  bool changed = false;
  ReadStatement s(db, "SELECT id, included, excluded, grad_mode, inference_mode, modes FROM tls WHERE id > ? ORDER BY id");
  s.bind(1, last_tls_);
  for (uint64_t n = 0; s.step() && budget("tls", n); ++n) {
    const uint32_t id = id_of(s, 0);
    Tls t{static_cast<uint64_t>(s.integer(1)), static_cast<uint64_t>(s.integer(2)), s.integer(3) != 0, s.integer(4) != 0, s.text(5)};
    if (!id || !tls.put(id, std::move(t))) {
      fault("table tls has the absurd id " + s.text(0));
      break;
    }
    last_tls_ = id;
    changed = true;
  }
  return changed;
}

bool Tables::read_threads(ReadConnection& db) {
  bool changed = false;
  ReadStatement s(db, "SELECT id, os_id, process, name FROM thread ORDER BY id");
  for (uint64_t n = 0; s.step() && budget("thread", n); ++n) {
    const uint32_t id = id_of(s, 0);
    Thread t{ThreadId{id}, id_of(s, 2), s.integer(1), s.text(3)};
    const Thread* old = threads.get(id);
    if (old && old->name == t.name && old->os_id == t.os_id && old->process == t.process) continue;
    if (!id || !threads.put(id, std::move(t))) {
      fault("table thread has the absurd id " + s.text(0));
      break;
    }
    changed = true;
  }
  return changed;
}

bool Tables::read_processes(ReadConnection& db) {
  if (!has_table(db, "process", {"id", "os_id", "name"}, &trouble_)) return false;
  std::vector<RecordedProcess> fresh;
  ReadStatement s(db, "SELECT id, os_id, name FROM process ORDER BY id LIMIT 65536");
  while (s.step()) fresh.push_back({id_of(s, 0), s.integer(1), s.text(2)});
  std::unique_lock lock(mutex_);
  const bool same = std::equal(fresh.begin(), fresh.end(), processes_.begin(), processes_.end(),
                               [](const RecordedProcess& a, const RecordedProcess& b) { return a.id == b.id && a.os_id == b.os_id && a.name == b.name; });
  if (!same) processes_ = std::move(fresh);
  return !same;
}

bool Tables::read_stacks(ReadConnection& db) {
  bool changed = false;
  ReadStatement s(db, "SELECT id, parent, file, line, function FROM stack WHERE id > ? ORDER BY id");
  s.bind(1, last_stack_);
  for (uint64_t n = 0; s.step() && budget("stack", n); ++n) {
    const uint32_t id = id_of(s, 0);
    StackRow row{StackId{id_of(s, 1)}, string(db, id_of(s, 2)), string(db, id_of(s, 4)), int_of(s, 3, 0), {}};
    if (row.parent.value >= id) {  // callers come first; anything else could be a ring
      if (row.parent) fault("table stack: frame " + std::to_string(id) + " has a caller that comes after it; cut there");
      row.parent = {};
    }
    if (!row.file->empty() && !is_library_file(*row.file)) {
      row.user = StackId{id};
    } else if (const StackRow* up = stacks.get(row.parent.value)) {
      row.user = up->user;
    }
    if (!id || !stacks.put(id, row)) {
      fault("table stack has the absurd id " + s.text(0));
      break;
    }
    last_stack_ = id;
    changed = true;
  }
  return changed;
}

bool Tables::read_slots(ReadConnection& db) {
  bool changed = false;
  ReadStatement s(db, "SELECT rowid, op, slot, kernel, since_event, stale FROM table_slot WHERE rowid > ? ORDER BY rowid");
  s.bind(1, last_slot_);
  for (uint64_t n = 0; s.step() && budget("table_slot", n); ++n) {
    last_slot_ = s.integer(0);
    const EventId since{id_of(s, 4)};
    std::unique_lock lock(mutex_);
    append_version(slots_[id_of(s, 1)], since, Slot{int_of(s, 2, -1), KernelId{id_of(s, 3)}, since, s.integer(5) != 0});
    changed = true;
  }
  return changed;
}

bool Tables::read_registrations(ReadConnection& db) {
  if (!has_table(db, "registration", {"op", "key", "position", "kernel", "since_event"}, &trouble_)) return false;
  bool changed = false;
  ReadStatement s(db, "SELECT rowid, op, key, position, kernel, since_event FROM registration WHERE rowid > ? ORDER BY rowid");
  s.bind(1, last_registration_);
  for (uint64_t n = 0; s.step() && budget("registration", n); ++n) {
    last_registration_ = s.integer(0);
    const EventId since{id_of(s, 5)};
    std::unique_lock lock(mutex_);
    append_version(registrations_[id_of(s, 1)], since, Registration{static_cast<KeyId>(int_of(s, 2, 0)), int_of(s, 3, 0), KernelId{id_of(s, 4)}, since, false});
    changed = true;
  }
  return changed;
}
bool Tables::read_masks(ReadConnection& db) {
  bool changed = false;
  ReadStatement s(db, "SELECT rowid, op, backend, mask, since_event FROM op_mask WHERE rowid > ? ORDER BY rowid");
  s.bind(1, last_mask_);
  for (uint64_t n = 0; s.step() && budget("op_mask", n); ++n) {
    last_mask_ = s.integer(0);
    const EventId since{id_of(s, 4)};
    std::unique_lock lock(mutex_);
    append_version(masks_[id_of(s, 1)], since, Mask{int_of(s, 2, -1), static_cast<uint64_t>(s.integer(3)), since});
    changed = true;
  }
  return changed;
}

bool Tables::read_spans(ReadConnection& db) {
  static const char* const columns =
      "SELECT id, parent, kind, name, detail, thread, begin_event, end_event, begin_ns, end_ns, stack, object FROM span ";
  const auto row = [](const ReadStatement& s) {
    return Span{.id = SpanId{id_of(s, 0)}, .parent = SpanId{id_of(s, 1)}, .kind = s.text(2), .name = s.text(3),
                .detail = s.text(4), .thread = ThreadId{id_of(s, 5)}, .begin = EventId{id_of(s, 6)}, .end = EventId{id_of(s, 7)},
                .begin_ns = s.integer(8), .end_ns = s.null(9) ? kOpen : s.integer(9), .stack = StackId{id_of(s, 10)},
                .object = static_cast<uint64_t>(s.integer(11))};
  };
  bool changed = false;
  if (!open_spans_.empty()) {
    ReadStatement s(db, std::string(columns) + "WHERE id = ?");
    std::vector<size_t> still_open;
    for (const size_t i : open_spans_) {
      s.reset();
      if (!s.bind(1, spans_[i].id.value).step()) continue;
      Span fresh = row(s);
      if (fresh.end_ns == kOpen) {
        still_open.push_back(i);
        if (fresh.begin == spans_[i].begin) continue;  // the first hop inside is known a little later
      }
      std::unique_lock lock(mutex_);
      spans_[i] = std::move(fresh);
      ++spans_version_;
      changed = true;
    }
    open_spans_.swap(still_open);
  }
  ReadStatement s(db, std::string(columns) + "WHERE id > ? ORDER BY id");
  s.bind(1, last_span_);
  for (uint64_t n = 0; s.step() && budget("span", n); ++n) {
    Span span = row(s);
    if (!span.id) {
      fault("table span has the absurd id " + s.text(0));
      break;
    }
    last_span_ = span.id.value;
    if (span.parent.value >= span.id.value) span.parent = {};
    std::unique_lock lock(mutex_);
    if (span.end_ns == kOpen) open_spans_.push_back(spans_.size());
    spans_.push_back(std::move(span));
    ++spans_version_;
    changed = true;
  }
  return changed;
}

bool Tables::read_errors(ReadConnection& db) {
  bool changed = false;
  ReadStatement s(db, "SELECT rowid, event, type, message FROM error WHERE rowid > ? ORDER BY rowid");
  s.bind(1, last_error_);
  for (uint64_t n = 0; s.step() && budget("error", n); ++n) {
    last_error_ = s.integer(0);
    Raised r{EventId{id_of(s, 1)}, s.text(2), s.text(3)};
    std::unique_lock lock(mutex_);
    raised_.push_back(std::move(r));
    changed = true;
  }
  if (changed) {
    std::unique_lock lock(mutex_);
    std::stable_sort(raised_.begin(), raised_.end(), [](const Raised& a, const Raised& b) { return a.event < b.event; });
  }
  return changed;
}

bool Tables::read_changes(ReadConnection& db) {
  if (last_change_ == 0 && !has_table(db, "change", {"event", "text", "kind", "key", "keyset", "kernel"}, &trouble_)) return false;
  bool changed = false;
  ReadStatement s(db, "SELECT rowid, event, text, kind, key, keyset, kernel FROM change WHERE rowid > ? ORDER BY rowid");
  s.bind(1, last_change_);
  for (uint64_t n = 0; s.step() && budget("change", n); ++n) {
    last_change_ = s.integer(0);
    const int64_t kind = s.integer(3), key = s.integer(4);
    const bool moved = !s.null(3) && kind >= 0 && kind <= int64_t(Kind::kBackwardNode) && key >= 0 && key <= UINT16_MAX;
    HandChange c{EventId{id_of(s, 1)}, s.text(2), moved, moved ? static_cast<Kind>(kind) : Kind::kCall, static_cast<KeyId>(moved ? key : 0), KeysetId{id_of(s, 5)}, KernelId{id_of(s, 6)}};
    std::unique_lock lock(mutex_);
    changes_.push_back(std::move(c));
    changed = true;
  }
  if (changed) {
    std::unique_lock lock(mutex_);
    std::stable_sort(changes_.begin(), changes_.end(), [](const HandChange& a, const HandChange& b) { return a.event < b.event; });
  }
  return changed;
}

bool Tables::read_output(ReadConnection& db) {
  bool changed = false;
  ReadStatement s(db, "SELECT rowid, time_ns, stream, text, after_event FROM output WHERE rowid > ? ORDER BY rowid");
  s.bind(1, last_output_);
  for (uint64_t n = 0; s.step() && budget("output", n); ++n) {
    last_output_ = s.integer(0);
    std::unique_lock lock(mutex_);
    output_.push_back({s.integer(1), int_of(s, 2, 1), s.text(3), EventId{id_of(s, 4)}});
    changed = true;
  }
  return changed;
}

bool Tables::read_losses(ReadConnection& db) {
  std::vector<Loss> fresh;
  ReadStatement s(db, "SELECT name, count, meaning FROM loss ORDER BY name");
  while (s.step() && budget("loss", fresh.size())) fresh.push_back({s.text(0), s.integer(1), s.text(2)});
  std::unique_lock lock(mutex_);
  const bool same = std::equal(fresh.begin(), fresh.end(), losses_.begin(), losses_.end(), [](const Loss& a, const Loss& b) {
    return a.name == b.name && a.count == b.count && a.meaning == b.meaning;
  });
  if (!same) losses_ = std::move(fresh);
  return !same;
}

bool Tables::read_bookmarks(ReadConnection& db) {
  std::map<uint32_t, std::string> fresh;
  ReadStatement s(db, "SELECT event, text FROM bookmark");
  while (s.step() && budget("bookmark", fresh.size())) fresh[id_of(s, 0)] = s.text(1);
  std::unique_lock lock(mutex_);
  for (const auto& [event, text] : unsaved_bookmarks_) {
    if (text) fresh[event] = *text; else fresh.erase(event);
  }
  if (fresh == bookmarks_) return false;
  bookmarks_ = std::move(fresh);
  return true;
}

bool Tables::read_notes(ReadConnection& db) {
  std::map<uint32_t, std::string> fresh;
  ReadStatement s(db, "SELECT event, text FROM note WHERE event IS NOT NULL ORDER BY id");
  for (size_t n = 0; s.step() && budget("note", n); ++n) {
    std::string& text = fresh[id_of(s, 0)];
    text += (text.empty() ? "" : "\n") + s.text(1);
  }
  std::unique_lock lock(mutex_);
  for (const auto& [event, text] : unsaved_notes_) {
    if (text) fresh[event] = *text; else fresh.erase(event);
  }
  if (fresh == notes_) return false;
  notes_ = std::move(fresh);
  return true;
}

}  // namespace peel
