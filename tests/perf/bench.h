// What the benchmarks share: clocks, rows of numbers, quick writing of made-up sessions.
#pragma once
#include <sqlite3.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <string>
#include <type_traits>
#include <vector>

#include "sessions/format.h"
#include "sessions/schema_sql.h"

namespace peel::bench {

inline double now_ms() { return std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now().time_since_epoch()).count(); }

/// Of this thread or the whole process: what other programs do on the machine at the same time does not count.
inline double cpu_ms(clockid_t clock = CLOCK_THREAD_CPUTIME_ID) {
  timespec s;
  clock_gettime(clock, &s);
  return static_cast<double>(s.tv_sec) * 1e3 + static_cast<double>(s.tv_nsec) / 1e6;
}

inline double resident_mib() {
  long pages = 0, resident = 0;
  if (std::FILE* f = std::fopen("/proc/self/statm", "r")) {
    if (std::fscanf(f, "%ld %ld", &pages, &resident) != 2) resident = 0;
    std::fclose(f);
  }
  return static_cast<double>(resident) * static_cast<double>(sysconf(_SC_PAGESIZE)) / 1048576;
}

/// Prints what `one(i)` costs, `times` times: the milliseconds that it returns, else its processor time.
template <class F>
void row(const char* what, int times, F&& one) {
  std::vector<double> all;
  double sum = 0;
  for (int i = 0; i < times; ++i) {
    const double begin = cpu_ms();
    if constexpr (std::is_same_v<decltype(one(i)), double>) {
      all.push_back(one(i));
    } else {
      one(i);
      all.push_back(cpu_ms() - begin);
    }
    sum += all.back();
  }
  std::sort(all.begin(), all.end());
  std::printf("  %-44s mean %7.2f   median %7.2f   99%% %7.2f   worst %7.2f ms\n", what, sum / times, all[all.size() / 2], all[all.size() * 99 / 100], all.back());
}

inline void run(sqlite3* db, const std::string& sql) {
  char* error = nullptr;
  if (sqlite3_exec(db, sql.c_str(), nullptr, nullptr, &error) == SQLITE_OK) return;
  std::fprintf(stderr, "%s: %s\n", sql.c_str(), error);
  std::exit(2);
}

/// A new session file with its tables, in a transaction that the caller commits.
inline sqlite3* new_session(const std::string& path) {
  std::remove(path.c_str());
  sqlite3* db = nullptr;
  if (sqlite3_open(path.c_str(), &db) != SQLITE_OK) std::exit(2);
  run(db, "PRAGMA application_id=" + std::to_string(kApplicationId) + "; PRAGMA user_version=" + std::to_string(kFormatVersion) +
              "; PRAGMA journal_mode=OFF; PRAGMA synchronous=OFF; PRAGMA cache_size=-200000; BEGIN");
  run(db, kSchemaSql);
  return db;
}

/// A prepared INSERT: numbers, texts, nullptr for NULL.
class Insert {
 public:
  Insert(sqlite3* db, const char* sql) {
    if (sqlite3_prepare_v2(db, sql, -1, &s_, nullptr) != SQLITE_OK) std::exit(2);
  }
  ~Insert() { sqlite3_finalize(s_); }
  Insert(const Insert&) = delete;
  template <class... T>
  void operator()(T... values) {
    int i = 0;
    (bind(++i, values), ...);
    if (sqlite3_step(s_) != SQLITE_DONE) std::exit(2);
    sqlite3_reset(s_);
  }

 private:
  void bind(int i, std::nullptr_t) { sqlite3_bind_null(s_, i); }
  void bind(int i, const char* v) { sqlite3_bind_text(s_, i, v, -1, SQLITE_STATIC); }
  void bind(int i, int64_t v) { sqlite3_bind_int64(s_, i, v); }
  sqlite3_stmt* s_ = nullptr;
};

}  // namespace peel::bench
