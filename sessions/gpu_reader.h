// Tables CUPTI_ACTIVITY_KIND_* into a GpuActivity. Each of them may be missing: older recordings and those without
// a GPU have none. Rows that make no sense are left out or put right, and the first is told.
#pragma once
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "sessions/columns.h"
#include "sessions/gpu_builder.h"
#include "sessions/sqlite_read.h"
#include "sessions/tables.h"

namespace peel {

/// For the loader's thread.
class GpuReader {
 public:
  /// Reads what is new; null = nothing that has to be shown. `last`: nothing comes any more.
  std::shared_ptr<const GpuActivity> refresh(ReadConnection&, Tables&, const Columns&, bool last, std::string* trouble);

 private:
  struct Source {
    int64_t last_row = 0;
    bool there = false;
  };
  struct Row;
  using Take = void (GpuReader::*)(Row&);
  void read(ReadConnection&, const char* table, const std::vector<const char*>& columns, Take take);
  bool times(Row&, Nanoseconds* begin, Nanoseconds* end);
  Work work(Row&, bool* good);
  uint32_t name(int64_t string);
  void kernel(Row&);
  void copy(Row&);
  void set(Row&);
  void graph(Row&);
  void call(Row&);
  void sync(Row&);
  void record(Row&);
  void say(const std::string& sentence);
  GpuOwners owners(const Tables&, const Columns&) const;

  GpuBuilder builder_;
  std::map<std::string, Source> sources_;
  std::map<int64_t, uint32_t> names_;
  ReadConnection* db_ = nullptr;
  Tables* tables_ = nullptr;
  std::string trouble_;
  uint64_t shown_ = 0;  // rows that are in what was handed out
  bool ended_ = false;
};

}  // namespace peel
