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

bool is_library_file(std::string_view path) {
  const auto has = [path](std::string_view part) { return path.find(part) != std::string_view::npos; };
  if (path.starts_with("<")) return !path.starts_with("<ipython") && !path.starts_with("<stdin");
  if (has("/site-packages/") || has("/dist-packages/")) return true;
  // The standard library: .../lib/python3.11/contextlib.py, lib64, python3.11.zip/.
  for (const std::string_view lib : {"/lib/python3", "/lib64/python3", "/lib/python2"}) {
    if (has(lib)) return true;
  }
  if (has("/peel/agent/")) return true;
  // A source build of PyTorch lies outside of site-packages: parts that only its package has.
  for (const std::string_view part : {"/torch/nn/", "/torch/_", "/torch/utils/", "/torch/optim/", "/torch/autograd/", "/torch/amp/",
                                      "/torch/functional.py", "/torch/func/", "/torch/fx/", "/torch/library.py",
                                      "/torch/overrides.py", "/torch/jit/", "/torch/distributed/", "/torch/cuda/"}) {
    if (has(part)) return true;
  }
  return false;
}

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

KeyId Tables::key_by_name(std::string_view name) const {
  std::shared_lock lock(mutex_);
  const auto it = key_names_.find(std::string(name));
  return it == key_names_.end() ? KeyId{0} : it->second;
}

std::vector<Span> Tables::spans() const {
  std::shared_lock lock(mutex_);
  return spans_;
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
