#include "sessions/gpu_builder.h"

#include <algorithm>
#include <utility>

namespace peel {
namespace {

uint64_t key_of(uint32_t process, uint32_t correlation) { return uint64_t{process} << 32 | correlation; }

/// The first of a few rows that is free at `begin`; the last one takes what finds none.
uint8_t place_in_rows(Nanoseconds (&free)[GpuActivity::kMaxRows], Nanoseconds begin, Nanoseconds end) {
  uint8_t row = 0;
  while (row + 1 < GpuActivity::kMaxRows && free[row] > begin) row++;
  free[row] = std::max(free[row], end);
  return row;
}

uint32_t process_of(const GpuOwners& owners, int64_t os_pid) {
  const auto i = owners.processes.find(os_pid);
  if (i != owners.processes.end()) return i->second;
  return owners.processes.size() == 1 ? owners.processes.begin()->second : 0;  // the only one there is
}

}  // namespace

size_t GpuBuilder::ShapeHash::operator()(const WorkShape& s) const noexcept {
  uint64_t h = uint64_t(s.kind) | uint64_t{s.copy_kind} << 8 | uint64_t{s.source} << 16 | uint64_t{s.target} << 24 | uint64_t{s.name} << 32;
  for (uint64_t v : {uint64_t{s.grid[0]}, uint64_t{s.grid[1]} << 20 | s.grid[2], uint64_t{s.block[0]} << 20 | s.block[1], uint64_t{s.registers} << 32 | s.dynamic_shared,
                     s.bytes, uint64_t{s.value}}) {
    h = (h ^ v) * 0x9e3779b97f4a7c15;
    h ^= h >> 29;
  }
  return h;
}

uint32_t GpuBuilder::text(const std::string& s) {
  if (s.empty()) return 0;
  const auto [i, fresh] = texts_.emplace(s, static_cast<uint32_t>(raw_.texts_.size()));
  if (fresh) raw_.texts_.push_back(s);
  return i->second;
}

uint32_t GpuBuilder::shape(const WorkShape& s) {
  const auto [i, fresh] = shapes_.emplace(s, static_cast<uint32_t>(raw_.shapes_.size()));
  if (fresh) raw_.shapes_.push_back(s);
  return i->second;
}

void GpuBuilder::add_work(int64_t os_pid, uint32_t device, uint32_t context, uint32_t stream, Work w) {
  const auto [i, fresh] = streams_.emplace(std::tuple(os_pid, device, context, stream), static_cast<uint32_t>(raw_.streams_.size()));
  if (fresh) {
    raw_.streams_.push_back({.device = device, .context = context, .id = stream});
    stream_pids_.push_back(os_pid);
  }
  w.end = std::max(w.begin, w.end);
  raw_.streams_[i->second].work.push_back(w);
  rows_++;
}

void GpuBuilder::add_call(int64_t os_pid, int64_t os_tid, HostCall c) {
  c.end = std::max(c.begin, c.end);
  raw_.calls_.push_back(c);
  call_threads_.emplace_back(os_pid, os_tid);
  rows_++;
}

void GpuBuilder::add_sync(int64_t os_pid, uint32_t correlation, SyncKind kind, StreamWait wait, uint32_t cuda_event) {
  syncs_.push_back({os_pid, correlation, kind, wait, cuda_event});
  rows_++;
}

void GpuBuilder::add_record(int64_t os_pid, uint32_t correlation, uint32_t cuda_event, uint32_t stream) {
  records_[os_pid].push_back({correlation, cuda_event, stream});
  rows_++;
}

std::shared_ptr<const GpuActivity> GpuBuilder::build(const GpuOwners& owners, bool last) {
  auto made = std::make_shared<GpuActivity>(last ? std::move(raw_) : raw_);
  GpuActivity& g = *made;
  for (size_t i = 0; i < g.streams_.size(); i++) g.streams_[i].process = process_of(owners, stream_pids_[i]);
  for (size_t i = 0; i < g.calls_.size(); i++) {
    HostCall& c = g.calls_[i];
    c.process = process_of(owners, call_threads_[i].first);
    if (c.event.value > owners.hops) c.event = {};
    const auto thread = owners.threads.find({c.process, call_threads_[i].second});
    if (thread != owners.threads.end()) c.thread = thread->second;
    else if (c.event) c.thread = owners.thread_of(c.event);
  }
  settle(g, owners);
  place_syncs(g, owners);
  join(g);
  if (last) raw_ = {}, streams_ = {}, shapes_ = {}, texts_ = {}, call_threads_ = {}, stream_pids_ = {}, syncs_ = {}, records_ = {};
  return made;
}

void GpuBuilder::settle(GpuActivity& g, const GpuOwners& owners) {
  std::sort(g.streams_.begin(), g.streams_.end(), [](const Stream& a, const Stream& b) {
    return std::tie(a.process, a.device, a.context, a.id) < std::tie(b.process, b.device, b.context, b.id);
  });
  const auto by_begin = [](const Work& a, const Work& b) { return a.begin < b.begin; };
  for (Stream& s : g.streams_) {
    if (!std::is_sorted(s.work.begin(), s.work.end(), by_begin)) std::stable_sort(s.work.begin(), s.work.end(), by_begin);
    Nanoseconds free[GpuActivity::kMaxRows] = {};
    for (Work& w : s.work) {
      if (w.event.value > owners.hops) w.event = {};
      w.row = place_in_rows(free, w.begin, w.end);
      s.rows = std::max<uint8_t>(s.rows, static_cast<uint8_t>(w.row + 1));
    }
    g.works_ += s.work.size();
  }
  const auto order = [](const HostCall& a, const HostCall& b) {
    if (a.thread != b.thread) return a.thread < b.thread;
    return a.begin != b.begin ? a.begin < b.begin : a.end > b.end;  // the outer one first
  };
  if (!std::is_sorted(g.calls_.begin(), g.calls_.end(), order)) std::stable_sort(g.calls_.begin(), g.calls_.end(), order);
  Nanoseconds free[GpuActivity::kMaxRows] = {};
  for (size_t i = 0; i < g.calls_.size(); i++) {
    if (i && g.calls_[i].thread != g.calls_[i - 1].thread) std::fill(std::begin(free), std::end(free), 0);
    g.calls_[i].row = place_in_rows(free, g.calls_[i].begin, g.calls_[i].end);
  }
}

void GpuBuilder::place_syncs(GpuActivity& g, const GpuOwners& owners) const {
  if (syncs_.empty()) return;
  std::unordered_map<uint64_t, SyncKind> kinds;
  for (const Sync& s : syncs_) {
    const uint32_t process = process_of(owners, s.os_pid);
    kinds[key_of(process, s.correlation)] = s.kind;
    if (s.kind != SyncKind::kStreamWaitsEvent) continue;
    StreamWait w = s.wait;
    w.process = process;
    // The newest record of that event before the wait; events are used again.
    if (const auto records = records_.find(s.os_pid); records != records_.end()) {
      uint32_t newest = 0;
      for (const Record& r : records->second) {
        if (r.cuda_event == s.cuda_event && r.correlation < s.correlation && r.correlation >= newest) newest = r.correlation, w.on = r.stream;
      }
    }
    g.waits_.push_back(w);
  }
  std::sort(g.waits_.begin(), g.waits_.end(), [](const StreamWait& a, const StreamWait& b) { return a.begin < b.begin; });
  for (HostCall& c : g.calls_) {
    if (!c.correlation) continue;
    if (const auto i = kinds.find(key_of(c.process, c.correlation)); i != kinds.end()) c.sync = i->second;
  }
}

void GpuBuilder::join(GpuActivity& g) {
  std::vector<std::pair<uint64_t, uint32_t>> calls;  // the outer call of a correlation id comes first
  calls.reserve(g.calls_.size());
  for (uint32_t i = 0; i < g.calls_.size(); i++) {
    if (g.calls_[i].correlation) calls.emplace_back(key_of(g.calls_[i].process, g.calls_[i].correlation), i);
  }
  if (!std::is_sorted(calls.begin(), calls.end())) std::sort(calls.begin(), calls.end());
  for (Stream& s : g.streams_) {
    size_t hint = 0;  // correlation ids mostly go up with time
    for (Work& w : s.work) {
      if (!w.correlation) continue;
      const uint64_t key = key_of(s.process, w.correlation);
      if (hint >= calls.size() || calls[hint].first > key || (hint + 64 < calls.size() && calls[hint + 64].first < key)) {
        hint = static_cast<size_t>(std::lower_bound(calls.begin(), calls.end(), std::pair(key, 0u)) - calls.begin());
      }
      while (hint < calls.size() && calls[hint].first < key) hint++;
      if (hint == calls.size() || calls[hint].first != key) continue;
      w.call = calls[hint].second + 1;
      g.calls_[w.call - 1].works++;
    }
  }
  uint32_t total = 0;
  for (HostCall& c : g.calls_) c.first_work = total, total += std::exchange(c.works, 0);
  g.call_works_.resize(total);
  for (uint32_t s = 0; s < g.streams_.size(); s++) {
    for (uint32_t i = 0; i < g.streams_[s].work.size(); i++) {
      Work& w = g.streams_[s].work[i];
      if (w.call) {
        HostCall& c = g.calls_[w.call - 1];
        g.call_works_[c.first_work + c.works++] = {s, i};
        if (!w.event) w.event = c.event;
        else if (!c.event && !w.in_graph) c.event = w.event;
      }
      if (w.event) g.by_event_.push_back({w.event.value, s, i});
    }
  }
  std::stable_sort(g.by_event_.begin(), g.by_event_.end(), [](const auto& a, const auto& b) { return a.event < b.event; });
  for (uint32_t i = 0; i < g.calls_.size(); i++) {
    if (g.calls_[i].event) g.call_events_.emplace_back(g.calls_[i].event.value, i);
  }
  if (!std::is_sorted(g.call_events_.begin(), g.call_events_.end())) std::sort(g.call_events_.begin(), g.call_events_.end());
}

}  // namespace peel
