// Opening a file: everything that later code relies on is checked here or by the loader.
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <sys/stat.h>
#include <unistd.h>

#include "sessions/drain.h"
#include "sessions/format.h"
#include "sessions/session_impl.h"

namespace peel {
namespace {

struct NeededTable {
  const char* name;
  std::vector<const char*> columns;
};
const std::vector<NeededTable>& needed() {
  static const std::vector<NeededTable> tables = {
      {"meta", {"key", "value"}},
      {"string", {"id", "value"}},
      {"dispatch_key", {"id", "name", "functionality_bit", "backend_bit", "slot"}},
      {"keyset", {"id", "raw", "text"}},
      {"op", {"id", "name", "overload", "schema"}},
      {"thread", {"id", "os_id", "process", "name"}},
      {"tls", {"id", "included", "excluded", "grad_mode", "inference_mode", "modes"}},
      {"event", {"id", "parent", "thread", "op", "kind", "key", "keyset", "arg_keyset", "tls", "kernel", "stack", "begin_ns", "end_ns", "flags"}},
      {"kernel", {"id", "op", "key", "rule", "convention", "registered_at", "fallthrough"}},
      {"table_slot", {"op", "slot", "kernel", "since_event", "stale"}},
      {"op_mask", {"op", "backend", "mask", "since_event"}},
      {"op_argument", {"op", "position", "name", "flags"}},
      {"argument", {"event", "position", "list_index", "name", "tensor", "meta", "version", "value", "participates"}},
      {"result", {"event", "position", "list_index", "name", "tensor", "meta", "version", "value", "participates"}},
      {"tensor", {"id", "birth_event", "death_ns", "storage", "base", "first_event"}},
      {"tensor_meta", {"id", "dtype", "shape", "strides", "device", "layout", "keyset", "flags"}},
      {"write", {"event", "tensor", "storage", "version_before", "version_after"}},
      {"node", {"id", "event", "name", "sequence_nr", "thread", "topological_nr", "variable", "output", "found_event"}},
      {"edge", {"node", "slot", "next_node", "next_input"}},
      {"node_run", {"id", "node", "event", "graph_task", "cause"}},
      {"stack", {"id", "parent", "file", "line", "function"}},
      {"span", {"id", "kind", "name", "detail", "thread", "begin_event", "end_event", "parent", "begin_ns", "end_ns", "stack", "object"}},
      {"source", {"path", "text"}},
      {"output", {"time_ns", "stream", "text", "after_event"}},
      {"error", {"event", "type", "message"}},
      {"loss", {"name", "count", "meaning"}},
      {"bookmark", {"event", "text"}},
      {"note", {"id", "event", "text"}},
  };
  return tables;
}

int64_t file_size(const std::string& path) {
  struct stat st{};
  return stat(path.c_str(), &st) == 0 ? static_cast<int64_t>(st.st_size) : -1;
}

/// What can be said from the first bytes, before SQLite sees the file.
Status check_header(const std::string& path) {
  struct stat st{};
  if (stat(path.c_str(), &st) != 0) return Error{"cannot open " + path + ": " + std::strerror(errno)};
  if (S_ISDIR(st.st_mode)) return Error{"cannot open " + path + ": it is a folder; name a .peel file"};
  if (!S_ISREG(st.st_mode)) return Error{"cannot open " + path + ": it is no ordinary file"};
  std::FILE* f = std::fopen(path.c_str(), "rb");
  if (!f) return Error{"cannot open " + path + ": " + std::strerror(errno)};
  unsigned char header[100] = {};
  const size_t n = std::fread(header, 1, sizeof header, f);
  std::fclose(f);
  const bool log = file_size(path + "-wal") > 0;
  if (n == 0 && !log) return Error{path + " is empty: no session was written to it"};
  if (n == 0) return {};
  if (n < 16 || std::memcmp(header, "SQLite format 3", 16) != 0) return Error{path + " is not a session file: it does not begin as an SQLite file does"};
  if (n < sizeof header) return Error{path + " is cut off after " + std::to_string(n) + " bytes: nothing can be read from it"};
  const auto be32 = [&](size_t at) {
    return uint32_t{header[at]} << 24 | uint32_t{header[at + 1]} << 16 | uint32_t{header[at + 2]} << 8 | header[at + 3];
  };
  const int64_t page = header[16] == 0 && header[17] == 1 ? 65536 : header[16] << 8 | header[17];
  const int64_t whole = page * be32(28);
  // The count of pages is only kept when these two agree, and a write-ahead log may hold more pages.
  if (!log && be32(24) == be32(92) && st.st_size < whole) {
    return Error{path + " is cut off: it has " + std::to_string(st.st_size) + " of " + std::to_string(whole) +
                 " bytes; copy it again from where it came"};
  }
  return {};
}

/// Tables must be ordinary tables with ordinary columns: a view or a computed column could run anything.
Status check_tables(ReadConnection& db, const std::string& path) {
  ReadStatement table(db, "SELECT rootpage FROM sqlite_schema WHERE type = 'table' AND name = ?");
  ReadStatement column(db, "SELECT hidden FROM pragma_table_xinfo(?) WHERE name = ?");
  if (!table || !column) return Error{path + " is damaged: its list of tables cannot be read (" + db.message() + ")"};
  for (const NeededTable& t : needed()) {
    table.reset();
    if (!table.bind(1, t.name).step() || table.integer(0) <= 0) {
      if (table.failed()) return Error{path + " is damaged: its list of tables cannot be read (" + db.message() + ")"};
      return Error{path + " is not a whole session: table " + t.name + " is missing"};
    }
    for (const char* c : t.columns) {
      column.reset();
      if (!column.bind(1, t.name).bind(2, c).step()) return Error{path + " is not a whole session: table " + t.name + " has no column " + c};
      if (column.integer(0) != 0) return Error{path + " is not a session that Peel wrote: column " + t.name + "." + c + " is computed"};
    }
  }
  return {};
}

bool needs_log(int code) {
  const int primary = code & 0xff;
  return primary == 14 /* CANTOPEN */ || primary == 8 /* READONLY */ || primary == 3 /* PERM */;
}

}  // namespace

Result<std::unique_ptr<Session>> Session::open(const std::string& path, bool wait) {
  if (const Status header = check_header(path); !header) return Error{header.error()};
  OpenedFile file{.path = path};
  ReadConnection db;
  if (const Status opened = db.open(path, false, nullptr); !opened) return Error{"cannot open " + path + ": " + opened.error()};

  const auto number = [&](const char* sql, bool* ok) {
    ReadStatement s(db, sql);
    *ok = s.step();
    return *ok ? s.integer(0) : 0;
  };
  // Reads a page, unlike PRAGMA: whether the file can be read at all shows here.
  bool ok = false;
  number("SELECT count(*) FROM sqlite_schema", &ok);
  if (!ok && needs_log(db.code())) {
    // A write-ahead log needs a shared-memory file beside it, which a read-only folder does not allow.
    if (Drain::alive(path)) return Error{"cannot follow " + path + ": the folder is read-only for you, and it is being recorded; open it when the recording has ended"};
    if (const Status again = db.open(path, true, nullptr); !again) return Error{"cannot open " + path + ": " + again.error()};
    file.immutable = true;
    const int64_t log = file_size(path + "-wal");
    if (log > 0) file.trouble = "the folder is read-only, so the newest part of the recording (" + std::to_string(log) + " bytes in " + path + "-wal) is not shown";
    number("SELECT count(*) FROM sqlite_schema", &ok);
  }
  if (!ok) {
    const std::string why = db.message();
    if ((db.code() & 0xff) == 26 /* NOTADB */) return Error{path + " is not a session file: " + why};
    return Error{path + " cannot be read: " + why};
  }
  const int64_t application = number("PRAGMA application_id", &ok);
  if (!ok || application != kApplicationId) return Error{path + " is an SQLite file, but not a Peel session"};
  const int64_t version = number("PRAGMA user_version", &ok);
  if (version > kFormatVersion) {
    return Error{path + " was written by a newer Peel (format " + std::to_string(version) + "; this one reads up to " +
                 std::to_string(kFormatVersion) + "): open it with that one"};
  }
  if (version < 1) return Error{path + " has the impossible format version " + std::to_string(version)};
  if (const Status tables = check_tables(db, path); !tables) return Error{tables.error()};

  ReadStatement state(db, "SELECT value FROM meta WHERE key = 'state'");
  const std::string word = state.step() ? state.text(0) : "";
  if (state.failed()) return Error{path + " is damaged: its state cannot be read (" + db.message() + ")"};
  file.recording = (word == "running" || word == "recording" || word.empty()) && Drain::alive(path);
  auto session = std::make_unique<SessionImpl>(std::move(file), wait);
  if (wait) session->wait_until_ready();
  return std::unique_ptr<Session>(std::move(session));
}

}  // namespace peel
