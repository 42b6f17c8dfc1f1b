#include <algorithm>
#include <mutex>

#include "sessions/tables.h"

namespace peel {
namespace {

template <class Versions>
const Versions* version_at(const std::vector<Versions>& versions, EventId at) {
  auto it = std::upper_bound(versions.begin(), versions.end(), at,
                             [](EventId s, const Versions& v) { return s < v.since; });
  if (it != versions.begin()) return &*(it - 1);
  return versions.empty() ? nullptr : &versions.front();
}

}  // namespace

std::string Tables::meta(std::string_view key) const {
  std::shared_lock lock(mutex_);
  const auto it = meta_.find(key);
  return it == meta_.end() ? std::string() : it->second;
}

std::vector<std::pair<std::string, std::string>> Tables::all_meta() const {
  std::shared_lock lock(mutex_);
  return {meta_.begin(), meta_.end()};
}

std::vector<Slot> Tables::table(OpId op, EventId at) const {
  std::shared_lock lock(mutex_);
  const auto it = slots_.find(op.value);
  if (it == slots_.end()) return {};
  const auto* v = version_at(it->second, at);
  return v ? v->rows : std::vector<Slot>();
}

uint64_t Tables::mask(OpId op, EventId at, int backend) const {
  std::shared_lock lock(mutex_);
  const auto it = masks_.find(op.value);
  const auto* v = it == masks_.end() ? nullptr : version_at(it->second, at);
  uint64_t all = ~uint64_t{0};
  if (!v) return all;
  for (const Mask& m : v->rows) {
    if (m.backend == backend) return m.mask;
    if (m.backend == -1) all = m.mask;
  }
  return all;
}

std::vector<KernelId> Tables::kernels_of(OpId op) const {
  std::shared_lock lock(mutex_);
  const auto it = kernels_of_.find(op.value);
  return it == kernels_of_.end() ? std::vector<KernelId>() : it->second;
}

std::vector<Registration> Tables::registrations(OpId op, EventId at) const {
  std::shared_lock lock(mutex_);
  const auto it = registrations_.find(op.value);
  if (it == registrations_.end()) return {};
  const auto* v = version_at(it->second, at);
  std::vector<Registration> out = v ? v->rows : std::vector<Registration>();
  // One look at the earlier versions: since when has each been there without a gap?
  for (Registration& r : out) {
    for (auto n = static_cast<size_t>(v - it->second.data()); n-- > 0;) {
      const auto& earlier = it->second[n];
      const bool there = std::any_of(earlier.rows.begin(), earlier.rows.end(), [&](const Registration& e) { return e.key == r.key && e.kernel == r.kernel; });
      if (!there) break;
      r.since = earlier.since;
    }
    r.later = r.since != it->second.front().since;
  }
  return out;
}

std::vector<EventId> Tables::table_versions(OpId op) const {
  std::shared_lock lock(mutex_);
  std::vector<EventId> out;
  if (const auto it = slots_.find(op.value); it != slots_.end()) {
    for (const auto& v : it->second) out.push_back(v.since);
  }
  return out;
}

KeyId Tables::key_by_name(std::string_view name) const {
  std::shared_lock lock(mutex_);
  const auto it = key_names_.find(std::string(name));
  return it == key_names_.end() ? KeyId{0} : it->second;
}

std::vector<Span> Tables::spans() const {
  std::shared_lock lock(mutex_);
  return spans_;
}

void Tables::index_modes() const {
  if (modes_version_ == spans_version_) return;
  modes_version_ = spans_version_;
  modes_.clear();
  for (size_t i = 0; i < spans_.size(); ++i) {
    const Span& s = spans_[i];
    if (s.kind == "mode" && s.begin) modes_[s.thread.value].push_back({s.begin, s.end_ns == kOpen ? EventId{} : s.end, i, SIZE_MAX});
  }
  for (auto& [thread, modes] : modes_) {
    std::stable_sort(modes.begin(), modes.end(), [](const ModeSpan& a, const ModeSpan& b) { return a.begin < b.begin; });
    std::vector<size_t> open;
    for (size_t i = 0; i < modes.size(); ++i) {
      std::erase_if(open, [&](size_t o) { return modes[o].end && modes[o].end < modes[i].begin; });
      if (!open.empty()) modes[i].around = open.back();
      open.push_back(i);
    }
  }
}

std::vector<Span> Tables::modes_at(ThreadId thread, EventId at) const {
  std::scoped_lock both(modes_mutex_);
  std::shared_lock lock(mutex_);
  index_modes();
  std::vector<Span> out;
  const auto found = modes_.find(thread.value);
  if (found == modes_.end()) return out;
  const std::vector<ModeSpan>& modes = found->second;
  const auto after = std::upper_bound(modes.begin(), modes.end(), at, [](EventId e, const ModeSpan& m) { return e < m.begin; });
  for (size_t i = static_cast<size_t>(after - modes.begin()); i-- > 0; i = modes[i].around + 1) {
    if (!modes[i].end || at <= modes[i].end) out.push_back(spans_[modes[i].span]);
  }
  return out;
}

std::vector<HandChange> Tables::changes(EventId first, EventId last) const {
  std::shared_lock lock(mutex_);
  const auto from = std::lower_bound(changes_.begin(), changes_.end(), first, [](const HandChange& c, EventId e) { return c.event < e; });
  return {from, std::upper_bound(from, changes_.end(), last, [](EventId e, const HandChange& c) { return e < c.event; })};
}

std::vector<Raised> Tables::raised() const {
  std::shared_lock lock(mutex_);
  return raised_;
}

std::vector<Raised> Tables::raised_in(EventId first, EventId last) const {
  std::shared_lock lock(mutex_);
  const auto begin = std::lower_bound(raised_.begin(), raised_.end(), first,
                                      [](const Raised& r, EventId e) { return r.event < e; });
  const auto end = std::upper_bound(begin, raised_.end(), last, [](EventId e, const Raised& r) { return e < r.event; });
  return {begin, end};
}

std::vector<Output> Tables::output() const {
  std::shared_lock lock(mutex_);
  return output_;
}

std::vector<Loss> Tables::losses() const {
  std::shared_lock lock(mutex_);
  return losses_;
}

std::vector<RecordedProcess> Tables::processes() const {
  std::shared_lock lock(mutex_);
  return processes_;
}

std::vector<Bookmark> Tables::bookmarks() const {
  std::shared_lock lock(mutex_);
  std::vector<Bookmark> out;
  for (const auto& [event, text] : bookmarks_) out.push_back({EventId{event}, text});
  return out;
}

void Tables::put_bookmark(EventId event, std::string_view text, bool present) {
  std::unique_lock lock(mutex_);
  if (present) {
    bookmarks_[event.value] = std::string(text);
    unsaved_bookmarks_[event.value] = std::string(text);
  } else {
    bookmarks_.erase(event.value);
    unsaved_bookmarks_[event.value] = std::nullopt;
  }
}

std::vector<Note> Tables::notes() const {
  std::shared_lock lock(mutex_);
  std::vector<Note> out;
  for (const auto& [event, text] : notes_) out.push_back({EventId{event}, text});
  return out;
}

void Tables::put_note(EventId event, std::string_view text) {
  std::unique_lock lock(mutex_);
  if (text.empty()) {
    notes_.erase(event.value);
    unsaved_notes_[event.value] = std::nullopt;
  } else {
    notes_[event.value] = unsaved_notes_[event.value].emplace(text);
  }
}

Tables::Unsaved Tables::unsaved_notes() const {
  std::shared_lock lock(mutex_);
  return unsaved_notes_;
}

Tables::Unsaved Tables::unsaved_bookmarks() const {
  std::shared_lock lock(mutex_);
  return unsaved_bookmarks_;
}

void Tables::marks_saved() {
  std::unique_lock lock(mutex_);
  unsaved_bookmarks_.clear();
  unsaved_notes_.clear();
}

}  // namespace peel
