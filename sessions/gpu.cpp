#include "sessions/gpu.h"

#include <algorithm>

namespace peel {

std::string GpuActivity::name(const Work& w) const {
  const WorkShape& s = shape(w);
  switch (s.kind) {
    case WorkKind::kKernel: return text(s.short_name ? s.short_name : s.name);
    case WorkKind::kCopy: return std::string("copy ") + copy_kind_name(s.copy_kind);
    case WorkKind::kSet: return "set";
    case WorkKind::kGraph: break;
  }
  return "graph " + std::to_string(s.value);
}

std::string GpuActivity::full_name(const Work& w) const {
  const WorkShape& s = shape(w);
  return s.kind == WorkKind::kKernel && s.name ? text(s.name) : name(w);
}

std::vector<WorkRef> GpuActivity::works_of(const HostCall& c) const {
  const auto at = call_works_.begin() + c.first_work;
  return {at, at + c.works};
}

std::vector<WorkRef> GpuActivity::works_of(EventId first, EventId last, size_t limit) const {
  std::vector<WorkRef> out;
  auto i = std::lower_bound(by_event_.begin(), by_event_.end(), first.value, [](const ByEvent& a, uint32_t e) { return a.event < e; });
  for (; i != by_event_.end() && i->event <= last.value && out.size() < limit; ++i) out.push_back({i->stream, i->index});
  return out;
}

std::vector<uint32_t> GpuActivity::calls_of(EventId first, EventId last, size_t limit) const {
  std::vector<uint32_t> out;
  auto i = std::lower_bound(call_events_.begin(), call_events_.end(), std::pair(first.value, 0u));
  for (; i != call_events_.end() && i->first <= last.value && out.size() < limit; ++i) out.push_back(i->second);
  return out;
}

size_t GpuActivity::bytes() const {
  size_t n = calls_.capacity() * sizeof(HostCall) + waits_.capacity() * sizeof(StreamWait) + shapes_.capacity() * sizeof(WorkShape) +
             call_works_.capacity() * sizeof(WorkRef) + by_event_.capacity() * sizeof(ByEvent) + call_events_.capacity() * sizeof(call_events_[0]);
  for (const Stream& s : streams_) n += s.work.capacity() * sizeof(Work);
  return n;
}

const char* copy_kind_name(uint8_t kind) {
  static const char* const names[] = {"of an unknown kind", "Host-to-Device", "Device-to-Host", "Host-to-Array", "Array-to-Host", "Array-to-Array",
                                      "Array-to-Device", "Device-to-Array", "Device-to-Device", "Host-to-Host", "Peer-to-Peer"};
  return names[kind < std::size(names) ? kind : 0];
}
const char* memory_kind_name(uint8_t kind) {
  static const char* const names[] = {"pageable", "pinned", "device", "array", "managed", "device static", "managed static", "unknown"};
  return names[kind < std::size(names) ? kind : 7];
}
const char* sync_name(SyncKind kind) {
  static const char* const names[] = {"", "waits for an event", "makes a stream wait", "waits for a stream", "waits for the device"};
  return names[static_cast<size_t>(kind) < std::size(names) ? static_cast<size_t>(kind) : 0];
}

}  // namespace peel
