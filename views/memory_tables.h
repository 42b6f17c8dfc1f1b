// The memory panel's tables: who holds it (also between two moments), the pools, why an allocation failed.
#pragma once
#include "views/memory_map.h"
#include "views/memory_oom_model.h"

namespace peel::views {

/// Holders with bars; a click marks the biggest allocation of a row.
class HolderList {
 public:
  void draw(MemoryView&, const HolderTable&, std::string_view search, const Area&, std::string_view nothing);
  bool run(MemoryView&, const HolderTable&, std::string_view id);
  std::string text(const HolderTable&) const;

 private:
  std::vector<uint32_t> shown_;   // rows that the search lets through
  uint64_t filtered_ = 0;         // serial of the table that they are of
  std::string search_;
  size_t row_ = SIZE_MAX;
  VirtualList list_;
};

void draw_pools(const MemoryView&, const std::vector<PoolRow>&, const Area&);
std::string pools_text(const std::vector<PoolRow>&);

class OomList {
 public:
  void draw(MemoryView&, const OomReport&, const Area&);

 private:
  VirtualList list_;
};
std::string oom_text(const OomReport&);

}  // namespace peel::views
