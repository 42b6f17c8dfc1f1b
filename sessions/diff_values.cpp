// Arguments and results of a side, reduced to hashes in one pass over their tables.
#include <unordered_map>

#include "sessions/diff_side.h"
#include "sessions/session_impl.h"
#include "sessions/sqlite_read.h"

namespace peel {
namespace {

constexpr size_t kMaxTexts = 1'000'000;

/// Text with addresses taken out: they differ in every run.
uint64_t hash_value(std::string_view text) {
  if (text.find("0x") == std::string_view::npos) return hash_text(text);
  std::string kept;
  for (size_t i = 0; i < text.size(); ++i) {
    kept += text[i];
    if (text[i] != '0' || i + 1 >= text.size() || text[i + 1] != 'x') continue;
    ++i;
    while (i + 1 < text.size() && std::isxdigit(static_cast<unsigned char>(text[i + 1]))) ++i;
  }
  return hash_text(kept);
}

uint32_t fold(uint32_t lane, uint64_t place, uint64_t h) { return static_cast<uint32_t>(hash_mix(lane, hash_mix(place, h))); }

uint64_t place_of(bool result, int64_t position, int64_t list_index) {
  return static_cast<uint64_t>(position) << 32 ^ static_cast<uint64_t>(list_index + 1) << 1 ^ uint64_t{result};
}

struct Description {
  uint64_t dtype, shape, device;
};

void add(ValueLanes* v, uint64_t place, const Description& d) {
  v->dtype = fold(v->dtype, place, d.dtype);
  v->shape = fold(v->shape, place, d.shape);
  v->device = fold(v->device, place, d.device);
}

/// Texts and descriptions by id, read when they are first met.
class Texts {
 public:
  explicit Texts(ReadConnection& db)
      : text_(db, "SELECT value FROM string WHERE id = ?"), meta_(db, "SELECT dtype, shape, device FROM tensor_meta WHERE id = ?") {}
  uint64_t text(int64_t id) {
    if (texts_.size() > kMaxTexts) texts_.clear();
    const auto [it, fresh] = texts_.try_emplace(id, 0);
    if (!fresh) return it->second;
    text_.reset();
    text_.bind(1, id);
    return it->second = text_.step() ? hash_value(text_.text(0)) : 17;
  }
  const Description& description(int64_t id) {
    const auto found = descriptions_.find(id);
    if (found != descriptions_.end()) return found->second;
    if (descriptions_.size() > kMaxTexts) descriptions_.clear();
    meta_.reset();
    meta_.bind(1, id);
    Description d{19, 19, 19};
    if (meta_.step()) {
      const int64_t dtype = meta_.integer(0), shape = meta_.integer(1), device = meta_.integer(2);
      d = {text(dtype), text(shape), text(device)};
    }
    return descriptions_[id] = d;
  }

 private:
  ReadStatement text_, meta_;
  std::unordered_map<int64_t, uint64_t> texts_;
  std::unordered_map<int64_t, Description> descriptions_;
};

}  // namespace

void PreparedSide::read_values() {
  if (tree_.empty()) return;
  if (implementation(s_)) return read_value_tables();
  for (uint32_t id = first_; id <= last_; ++id) {
    const Event e = s_.event(EventId{id});
    if (!inside(e) || is_redispatch(e.kind)) continue;
    for (const bool result : {false, true})
      for (const Value& v : result ? s_.results(e.id) : s_.arguments(e.id)) {
        const uint64_t place = place_of(result, v.position, v.list_index);
        ValueLanes& lanes = values_[index(e.id)];
        if (!v.dtype.empty()) add(&lanes, place, {hash_value(v.dtype), hash_value(v.shape), hash_value(v.device)});
        if (!v.value.empty()) lanes.other = fold(lanes.other, place, hash_value(v.value));
      }
  }
}

void PreparedSide::read_value_tables() {
  ReadConnection db;
  // A folder in which nothing may be created is read as it lies there.
  if (!db.open(s_.path(), false, cancel_) || !ReadStatement(db, "SELECT 1 FROM meta").step()) {
    ReadConnection still;
    if (!still.open(s_.path(), true, cancel_)) return;
    return read_values_from(still);
  }
  read_values_from(db);
}

void PreparedSide::read_values_from(ReadConnection& db) {
  Texts texts(db);
  for (const bool result : {false, true}) {
    ReadStatement rows(db, std::string("SELECT event, position, list_index, meta, value FROM ") + (result ? "result" : "argument") + " WHERE event BETWEEN ? AND ?");
    rows.bind(1, int64_t{first_}).bind(2, int64_t{last_});
    while (rows.step()) {
      const int64_t event = rows.integer(0);
      if (event < first_ || event > last_) continue;
      const uint64_t place = place_of(result, rows.integer(1), rows.integer(2));
      ValueLanes& lanes = values_[static_cast<size_t>(event - first_)];
      if (!rows.null(3)) add(&lanes, place, texts.description(rows.integer(3)));
      if (!rows.null(4)) lanes.other = fold(lanes.other, place, texts.text(rows.integer(4)));
    }
  }
  effects_->read_memory(db, s_, scope_, cancel_);
  // Only what was recorded is counted; a recording without any saved variable may just not tell.
  ReadStatement any(db, "SELECT 1 FROM saved LIMIT 1");
  if (!any.step()) {
    if (totals_.nodes == 0) totals_.saved = 0;
    return;
  }
  ReadStatement saved(db, "SELECT count(*) FROM saved s JOIN node n ON n.id = s.node WHERE n.event BETWEEN ? AND ? AND s.tensor IS NOT NULL");
  saved.bind(1, int64_t{first_}).bind(2, int64_t{last_});
  if (saved.step()) totals_.saved = saved.integer(0);
}

}  // namespace peel
