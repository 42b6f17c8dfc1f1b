// The small tables of a session in memory, appended to by the loader, read by any thread.
#pragma once
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <shared_mutex>
#include <string>
#include <unordered_map>
#include <vector>

#include "sessions/session.h"
#include "sessions/sqlite_read.h"
#include "sessions/stable.h"
#include "tracer/wire/patterns.h"

namespace peel {

/// A frame of Python with what is derived from it.
struct StackRow {
  StackId parent;
  const std::string* file;
  const std::string* function;
  int line;
  StackId user;  // innermost frame of the user's own code at or above this one
};

using wire::is_library_file;

class Tables {
 public:
  // ---- loader's thread
  /// Reads what is new. Returns true when anything changed. The first thing that is wrong with a row goes to *trouble.
  bool refresh(ReadConnection&, std::string* trouble);
  const std::string* string(ReadConnection&, uint32_t id);  // by string.id; stays valid

  // ---- any thread
  RowTable<Key> keys;
  RowTable<Keyset> keysets;
  RowTable<Op> ops;
  RowTable<Kernel> kernels;
  RowTable<Tls> tls;
  RowTable<Thread> threads;
  RowTable<StackRow> stacks;

  std::string meta(std::string_view key) const;
  std::vector<std::pair<std::string, std::string>> all_meta() const;
  std::vector<Slot> table(OpId, EventId at) const;
  uint64_t mask(OpId, EventId at, int backend) const;  // all ones when none is known
  std::vector<KernelId> kernels_of(OpId) const;
  std::vector<Registration> registrations(OpId, EventId at) const;
  std::vector<EventId> table_versions(OpId) const;
  KeyId key_by_name(std::string_view) const;
  std::vector<RecordedProcess> processes() const;
  std::vector<Span> spans() const;
  std::vector<Span> modes_at(ThreadId, EventId) const;  // spans of kind mode around the hop, innermost first
  std::vector<Raised> raised() const;
  std::vector<Raised> raised_in(EventId first, EventId last) const;
  std::vector<HandChange> changes(EventId first, EventId last) const;
  std::vector<Output> output() const;
  std::vector<Loss> losses() const;
  std::vector<Bookmark> bookmarks() const;
  /// Shown from now on; the file is not touched.
  void put_bookmark(EventId, std::string_view text, bool present);
  std::vector<Note> notes() const;
  void put_note(EventId, std::string_view text);  // "" removes it
  /// Those that are only in memory, by event; nothing = to be removed.
  using Unsaved = std::map<uint32_t, std::optional<std::string>>;
  Unsaved unsaved_bookmarks() const;
  Unsaved unsaved_notes() const;
  void marks_saved();

 private:
  template <class Row>
  struct Versions {
    EventId since;
    std::vector<Row> rows;
  };
  bool read_meta(ReadConnection&);
  bool read_keys(ReadConnection&);
  bool read_keysets(ReadConnection&);
  bool read_ops(ReadConnection&);
  bool read_kernels(ReadConnection&);
  bool read_tls(ReadConnection&);
  bool read_threads(ReadConnection&);
  bool read_processes(ReadConnection&);
  bool read_stacks(ReadConnection&);
  bool read_slots(ReadConnection&);
  bool read_masks(ReadConnection&);
  bool read_registrations(ReadConnection&);
  bool read_spans(ReadConnection&);
  bool read_errors(ReadConnection&);
  bool read_changes(ReadConnection&);
  bool read_output(ReadConnection&);
  bool read_losses(ReadConnection&);
  bool read_bookmarks(ReadConnection&);
  bool read_notes(ReadConnection&);
  void fault(const std::string& sentence);
  bool budget(const char* table, uint64_t rows);

  std::string trouble_;
  uint32_t last_keyset_ = 0, last_op_ = 0, last_kernel_ = 0, last_tls_ = 0, last_stack_ = 0, last_span_ = 0;
  int64_t last_slot_ = 0, last_mask_ = 0, last_registration_ = 0, last_error_ = 0, last_change_ = 0, last_output_ = 0;
  std::unordered_map<uint32_t, std::unique_ptr<std::string>> strings_;  // loader only
  std::vector<size_t> open_spans_;

  mutable std::shared_mutex mutex_;  // everything below
  std::map<std::string, std::string, std::less<>> meta_;
  std::unordered_map<std::string, KeyId> key_names_;
  std::unordered_map<uint32_t, std::vector<Versions<Slot>>> slots_;
  std::unordered_map<uint32_t, std::vector<Versions<Mask>>> masks_;
  std::unordered_map<uint32_t, std::vector<Versions<Registration>>> registrations_;  // 0 = backend fallbacks
  std::unordered_map<uint32_t, std::vector<KernelId>> kernels_of_;
  std::vector<RecordedProcess> processes_;
  std::vector<Span> spans_;
  uint64_t spans_version_ = 0;
  /// Modes of one thread by begin; `around`: the nearest one before that had not ended when this one began, SIZE_MAX = none.
  struct ModeSpan {
    EventId begin, end;  // end 0 = open
    size_t span, around;
  };
  mutable std::mutex modes_mutex_;  // the two below; taken before mutex_
  mutable std::unordered_map<uint32_t, std::vector<ModeSpan>> modes_;
  mutable uint64_t modes_version_ = 0;
  void index_modes() const;
  std::vector<Raised> raised_;  // by event
  std::vector<HandChange> changes_;  // by event
  std::vector<Output> output_;
  std::vector<Loss> losses_;
  std::map<uint32_t, std::string> bookmarks_, notes_;
  Unsaved unsaved_bookmarks_, unsaved_notes_;
};

}  // namespace peel
