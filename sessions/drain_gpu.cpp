#include "sessions/drain_gpu.h"

#include <cxxabi.h>

#include <algorithm>
#include <cstdlib>

#include "sessions/drain_process.h"

namespace peel {
namespace {

using wire::GpuKind;

std::string demangled(const std::string& name) {
  int status = 0;
  char* text = abi::__cxa_demangle(name.c_str(), nullptr, nullptr, &status);
  std::string out = status == 0 && text ? text : name;
  std::free(text);
  return out;
}

/// `vectorized_elementwise_kernel` of `void at::native::vectorized_elementwise_kernel<4, ...>(int, ...)`.
std::string brief(const std::string& name) {
  size_t end = name.size();
  int depth = 0;
  for (size_t i = 0; i < name.size(); ++i) {
    if ((name[i] == '<' || name[i] == '(') && depth++ == 0 && i > 0) {
      if (name.compare(i, 22, "(anonymous namespace):") == 0) {  // part of the name
        i += 20;
        depth = 0;
        continue;
      }
      end = i;
      break;
    }
  }
  const std::string head = name.substr(0, end);
  const size_t begin = head.find_last_of(": ");
  return begin == std::string::npos ? head : head.substr(begin + 1);
}

/// Kinds of memory: CUPTI counts unknown 0, pageable 1, ...; Nsight Systems' tables pageable 0, ..., unknown 7.
int64_t memory_kind(uint32_t cupti) { return cupti == 0 || cupti > 7 ? 7 : cupti - 1; }

}  // namespace

void HopHistory::begin(uint32_t event, int64_t ns) {
  const uint64_t parent = open_.empty() ? 0 : open_.back() + 1;
  open_.push_back(first_ + hops_.size());
  hops_.push_back({ns, INT64_MAX, parent, event});
  if (hops_.size() > kMost) {
    hops_.erase(hops_.begin(), hops_.begin() + kMost / 2);
    first_ += kMost / 2;
  }
}

void HopHistory::end(int64_t ns) {
  if (open_.empty()) return;
  if (open_.back() >= first_) hops_[open_.back() - first_].end = ns;
  open_.pop_back();
}

uint32_t HopHistory::at(int64_t start, int64_t end) const {
  auto after = std::upper_bound(hops_.begin(), hops_.end(), start, [](int64_t t, const Hop& h) { return t < h.begin; });
  if (after == hops_.begin()) return 0;
  const Hop* hop = &*std::prev(after);
  while (hop->end < end) {
    if (hop->parent <= first_) return 0;
    hop = &hops_[hop->parent - 1 - first_];
  }
  return hop->event;
}

const GpuBook::Name& GpuBook::kernel_name(uint32_t string) {
  const auto [at, fresh] = names_.try_emplace(string);
  if (fresh) {
    const std::string& mangled = process_.text(string);
    const std::string full = demangled(mangled);
    at->second = {ledger_.catalog.string(full), ledger_.catalog.string(brief(full)), ledger_.catalog.string(mangled)};
  }
  return at->second;
}

void GpuBook::activity(const wire::GpuActivity& a) {
  const auto kind = static_cast<GpuKind>(a.head.a);
  if (kind > GpuKind::kEvent) return ledger_.damaged();
  if (a.end < a.start) return ledger_.damaged();
  if (kind == GpuKind::kRuntime || kind == GpuKind::kDriver) return call(a);
  const auto at = calls_.find(a.correlation);
  if (at == calls_.end() && a.correlation) {
    if (++waiting_count_ > kMostWaiting) finish();  // their calls are not coming
    waiting_[a.correlation].push_back(a);
  } else {
    write(a, hop_of(a, at == calls_.end() ? 0 : at->second));
  }
}

void GpuBook::memory(const wire::GpuMemory& m) {
  if (m.head.a > static_cast<uint32_t>(wire::GpuMemoryAction::kPoolTrimmed)) return ledger_.damaged();
  const auto at = calls_.find(m.correlation);
  if (at != calls_.end() || !m.correlation) return write(m, cell(at == calls_.end() ? 0 : at->second));
  if (++waiting_count_ > kMostWaiting) finish();
  waiting_memory_[m.correlation].push_back(m);
}

void GpuBook::call(const wire::GpuActivity& c) {
  const auto thread = histories_.find(c.thread);
  const uint32_t event = thread == histories_.end() ? 0 : thread->second.at(ns(c.start), ns(c.end));
  // a runtime call and the driver call that it makes share the id; both lie in the same hop
  if (calls_.insert_or_assign(c.correlation, event).second) {
    calls_order_.push_back(c.correlation);
    if (calls_order_.size() > kCallsKept) {
      calls_.erase(calls_order_.front());
      calls_order_.pop_front();
    }
  }
  const bool runtime = static_cast<GpuKind>(c.head.a) == GpuKind::kRuntime;
  ledger_.batch()[runtime ? Table::kGpuRuntime : Table::kGpuDriver].add(ns(c.start), ns(c.end), runtime ? 0 : 1, global_pid_ | c.thread, c.correlation,
                                                                        cell(process_.string(c.name)), c.result, kNullCell, cell(event));
  if (const auto waiting = waiting_memory_.find(c.correlation); waiting != waiting_memory_.end()) {
    for (const wire::GpuMemory& m : waiting->second) write(m, cell(event));
    waiting_count_ -= std::min(waiting_count_, waiting->second.size());
    waiting_memory_.erase(waiting);
  }
  const auto waiting = waiting_.find(c.correlation);
  if (waiting == waiting_.end()) return;
  for (const wire::GpuActivity& a : waiting->second) write(a, hop_of(a, event));
  waiting_count_ -= std::min(waiting_count_, waiting->second.size());
  waiting_.erase(waiting);
}

int64_t GpuBook::hop_of(const wire::GpuActivity& a, uint32_t call_event) const {
  if (a.graph_node) {
    const auto captured = nodes_.find(a.graph_node);
    if (captured != nodes_.end() && captured->second) return captured->second;
  }
  return cell(call_event);
}

void GpuBook::graph_node(const wire::GraphNode& n, uint32_t event) {
  if (n.origin) {
    const auto from = nodes_.find(n.origin);
    event = from == nodes_.end() ? 0 : from->second;
  }
  nodes_[n.id] = event;
  ledger_.batch()[Table::kGraphNode].add(static_cast<int64_t>(n.id), n.origin ? static_cast<int64_t>(n.origin) : kNullCell, cell(event));
}

void GpuBook::write(const wire::GpuActivity& a, int64_t event) {
  const int64_t start = ns(a.start), end = ns(a.end), node = a.graph_node ? static_cast<int64_t>(a.graph_node) : kNullCell;
  const int64_t bytes = static_cast<int64_t>(a.bytes);
  switch (static_cast<GpuKind>(a.head.a)) {
    case GpuKind::kKernel: {
      const Name& name = kernel_name(a.name);
      ledger_.batch()[Table::kGpuKernel].add(start, end, a.device, a.context, kNullCell, a.stream, a.correlation, global_pid_, name.demangled, name.brief, name.mangled, kNullCell,
                                             kNullCell, a.registers, a.grid[0], a.grid[1], a.grid[2], a.block[0], a.block[1], a.block[2], a.static_shared, a.dynamic_shared,
                                             a.local_per_thread, a.local_total, kNullCell, kNullCell, node, kNullCell, event);
      break;
    }
    case GpuKind::kCopy:
      ledger_.batch()[Table::kGpuCopy].add(start, end, a.device, a.context, kNullCell, a.stream, a.correlation, global_pid_, bytes, a.kind, kNullCell, memory_kind(a.from), memory_kind(a.to), kNullCell,
                                           kNullCell, kNullCell, kNullCell, kNullCell, node, kNullCell, kNullCell, event);
      break;
    case GpuKind::kSet:
      ledger_.batch()[Table::kGpuSet].add(start, end, a.device, a.context, kNullCell, a.stream, a.correlation, global_pid_, a.result, bytes, node, memory_kind(a.to), event);
      break;
    case GpuKind::kSync:
      ledger_.batch()[Table::kGpuSync].add(start, end, a.device, a.context, kNullCell, a.stream, a.correlation, global_pid_, a.kind, a.event, kNullCell, event);
      break;
    case GpuKind::kEvent:
      ledger_.batch()[Table::kGpuEvent].add(a.device, a.context, kNullCell, a.stream, a.correlation, global_pid_, a.event, event);
      break;
    case GpuKind::kRuntime:
    case GpuKind::kDriver: break;
  }
}

void GpuBook::write(const wire::GpuMemory& m, int64_t event) {
  using wire::GpuMemoryAction;
  const auto number = [](uint64_t v) { return static_cast<int64_t>(v); };
  const auto action = static_cast<GpuMemoryAction>(m.head.a);
  const bool imported = m.pool_type == 2;
  if (action == GpuMemoryAction::kAlloc || action == GpuMemoryAction::kFree) {
    ledger_.batch()[Table::kGpuMemory].add(ns(m.at), global_pid_, m.device, m.context, number(m.address), number(m.pc), number(m.bytes), memory_kind(m.memory_kind),
                                           action == GpuMemoryAction::kFree, kNullCell, m.correlation, m.stream, imported ? 0 : number(m.pool), number(m.threshold),
                                           imported ? kNullCell : number(m.pool_size), number(m.pool_used), imported ? number(m.pool) : kNullCell, imported ? number(m.pool_size) : kNullCell, event);
  } else {
    ledger_.batch()[Table::kGpuPool].add(ns(m.at), global_pid_, m.device, number(m.pool), m.head.a - 1, m.pool_type, m.correlation, number(m.bytes), number(m.threshold), number(m.pool_size),
                                         number(m.pool_used), event);
  }
}

void GpuBook::finish() {
  int64_t unlinked = 0;
  for (const auto& [correlation, activities] : waiting_) {
    for (const wire::GpuActivity& a : activities) {
      const int64_t event = hop_of(a, 0);
      if (event == kNullCell) ++unlinked;
      write(a, event);
    }
  }
  waiting_.clear();
  for (const auto& [correlation, records] : waiting_memory_) for (const wire::GpuMemory& m : records) write(m, kNullCell);  // the driver's own doing
  waiting_memory_.clear();
  waiting_count_ = 0;
  if (unlinked) ledger_.catalog.lose("unlinked GPU activity", unlinked, "Kernels and copies whose call of CUDA's API was not reported: which hop launched them is not known.");
}

}  // namespace peel
