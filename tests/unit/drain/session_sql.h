// A recording in a test: a file of its own, a drain, and plain SQL on the result.
#pragma once
#include <sqlite3.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <string>
#include <thread>
#include <vector>

#include "sessions/drain.h"
#include "tests/catch.h"

namespace peel::testing {

struct TempDir {
  TempDir() {
    std::string pattern = (std::filesystem::temp_directory_path() / "peel-test-XXXXXX").string();
    if (mkdtemp(pattern.data())) path = pattern;
  }
  ~TempDir() {
    std::error_code ignored;
    std::filesystem::remove_all(path, ignored);
  }
  std::string file(const std::string& name) const { return path + "/" + name; }
  std::string path;
};

/// Rows as text: columns joined by '|', NULL as "-".
inline std::vector<std::string> sql(const std::string& path, const std::string& query) {
  sqlite3* db = nullptr;
  std::vector<std::string> rows;
  if (sqlite3_open_v2(path.c_str(), &db, SQLITE_OPEN_READONLY, nullptr) != SQLITE_OK) {
    rows.push_back(std::string("error: ") + sqlite3_errmsg(db));
  } else {
    sqlite3_busy_timeout(db, 10000);
    char* error = nullptr;
    sqlite3_exec(
        db, query.c_str(),
        [](void* out, int n, char** values, char**) {
          std::string row;
          for (int i = 0; i < n; ++i) row += (i ? "|" : "") + std::string(values[i] ? values[i] : "-");
          static_cast<std::vector<std::string>*>(out)->push_back(row);
          return 0;
        },
        &rows, &error);
    if (error) rows.push_back(std::string("error: ") + error);
    sqlite3_free(error);
  }
  sqlite3_close(db);
  return rows;
}
inline std::string sql_one(const std::string& path, const std::string& query) {
  const std::vector<std::string> rows = sql(path, query);
  return rows.empty() ? "" : rows[0];
}

class Recording {
 public:
  explicit Recording(DrainOptions options = {}) {
    options.path = options.path.empty() ? dir_.file("session.peel") : options.path;
    path = options.path;
    auto made = Drain::create(options);
    REQUIRE(made);
    drain = std::move(*made);
  }
  Drain& operator*() { return *drain; }
  void finish(const std::string& state = "complete", int exit_code = 0) { REQUIRE(drain->finish(state, exit_code)); }
  std::vector<std::string> rows(const std::string& query) const { return sql(path, query); }
  std::string one(const std::string& query) const { return sql_one(path, query); }
  int64_t lost(const std::string& name) const {
    const std::string count = one("SELECT count FROM loss WHERE name='" + name + "'");
    return count.empty() ? 0 : std::stoll(count);
  }
  /// Waits until that many hops are numbered.
  bool wait_for(uint64_t hops) const {
    for (int i = 0; i < 10000 && drain->stats().hops < hops; ++i) std::this_thread::sleep_for(std::chrono::milliseconds(1));
    return drain->stats().hops >= hops;
  }

  TempDir dir_;
  std::string path;
  std::unique_ptr<Drain> drain;
};

using Rows = std::vector<std::string>;

}  // namespace peel::testing
