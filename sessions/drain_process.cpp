#include "sessions/drain_process.h"

#include <cstring>

namespace peel {
namespace {

constexpr uint32_t kMaxGap = 1 << 20;  // ids are given in order; one far beyond the others is damage

template <class Def>
bool get(const uint64_t* at, const wire::DefHead& head, Def* out) {
  if (head.words * 8ull < sizeof(Def)) return false;
  std::memcpy(out, at, sizeof(Def));
  out->head = head;
  return true;
}

}  // namespace

Process::Process(Ledger& ledger, uint32_t process_id, wire::Memory m)
    : id(process_id), memory(m), tensors(ledger), nodes(ledger, tensors), allocations(ledger, tensors), gpu(ledger, *this), ledger_(ledger) {
  if (!arena_.open_arena(memory)) refuse("its memory cannot be mapped");
}

Process::~Process() {
  arena_.close();
  memory.close();
}

void Process::refuse(const std::string& why) {
  if (!refused_.empty()) return;
  refused_ = why;
  memory.control->recording.store(0, std::memory_order_release);
  ledger_.catalog.lose("refused processes", 1, "A process of the program was not recorded, because " + why + ".");
}

void Process::read_definitions() {
  if (!arena_.is_open()) return;
  if (!arena_.refresh()) {
    refuse("its definitions are damaged");
    return;
  }
  while (arena_.position() < arena_.end()) {
    wire::DefHead head;
    const uint64_t left = arena_.end() - arena_.position();
    if (left >= sizeof head) std::memcpy(&head, arena_.at(arena_.position()), sizeof head);
    if (left < sizeof head || head.words < sizeof head / 8 || head.words * 8ull > left) {
      refuse("its definitions are damaged");
      arena_.advance(arena_.end());
      break;
    }
    if (refused_.empty()) define(arena_.at(arena_.position()), head);
    arena_.advance(arena_.position() + head.words * 8ull);
  }
  arena_.release();
}

template <class All>
typename All::value_type* Process::place(All& all, uint32_t wanted) {
  if (wanted == 0 || wanted > all.size() + kMaxGap) {
    ledger_.damaged();
    return nullptr;
  }
  if (wanted >= all.size()) {
    if constexpr (requires { all.capacity(); })
      if (wanted >= all.capacity()) all.reserve(std::max<size_t>(wanted + 1, all.capacity() * 2));
    all.resize(wanted + 1);
  }
  return &all[wanted];
}

void Process::define(const uint64_t* at, const wire::DefHead& head) {
  using wire::DefKind;
  Catalog& catalog = ledger_.catalog;
  bool whole = true;
  switch (head.kind) {
    case DefKind::kPad:
      break;
    case DefKind::kString: {
      whole = head.words * 8ull >= sizeof(wire::DefString) + head.count;
      if (!whole) break;
      if (Text* t = place(texts_, head.id)) {
        *t = {std::string(reinterpret_cast<const char*>(at) + sizeof(wire::DefString), head.count), 0, true};
      }
      break;
    }
    case DefKind::kOp:
      define_op(at, head);
      break;
    case DefKind::kKernel: {
      wire::DefKernel d;
      whole = get(at, head, &d);
      if (!whole) break;
      uint32_t* to = place(kernels_, head.id);
      if (!to) break;
      const Op* of = d.op ? op(d.op) : nullptr;
      *to = catalog.kernel(of ? of->id : 0, d.key, text(d.rule), d.convention, text(d.registered_at), d.fallthrough != 0);
      break;
    }
    case DefKind::kTable:
      define_table(at, head);
      break;
    case DefKind::kTls: {
      wire::DefTls d;
      whole = get(at, head, &d);
      if (!whole) break;
      if (uint32_t* to = place(tls_, head.id)) *to = catalog.tls(d.included, d.excluded, d.grad_mode != 0, d.inference_mode != 0, text(d.modes));
      break;
    }
    case DefKind::kStack: {
      wire::DefStack d;
      whole = get(at, head, &d);
      if (!whole) break;
      const uint32_t parent = stack(d.parent);
      if (uint32_t* to = place(stacks_, head.id)) *to = catalog.stack(parent, text(d.file), d.line, text(d.function));
      break;
    }
    case DefKind::kKey: {
      wire::DefKey d;
      whole = get(at, head, &d);
      if (whole) define_key(d);
      break;
    }
    case DefKind::kDtype:
    case DefKind::kDevice:
    case DefKind::kLayout:
    case DefKind::kThread: {
      wire::DefName d;
      whole = get(at, head, &d);
      if (whole) define_name(d);
      break;
    }
    case DefKind::kFact: {
      wire::DefFact d;
      whole = get(at, head, &d);
      if (!whole) break;
      // a second process has its own facts; where they differ they carry its number
      const std::string& key = text(d.key);
      if (key == wire::kGpuFact) gpu.turn_on();
      if (key == wire::kListsFact) catalog.use_operator_lists(text(d.value));
      else if (!key.empty()) catalog.fact(key, text(d.value), id);
      break;
    }
    default:
      catalog.lose("unknown definitions", 1, "Definitions of a kind that this version does not know were skipped.");
  }
  if (!whole) ledger_.damaged();
}

void Process::define_op(const uint64_t* at, const wire::DefHead& head) {
  wire::DefOp d;
  if (!get(at, head, &d) || head.words * 8ull < sizeof d + head.count * sizeof(wire::DefArgument)) return ledger_.damaged();
  Op* to = place(ops_, head.id);
  if (!to) return;
  bool is_new = false;
  to->id = ledger_.catalog.op(text(d.name), text(d.overload), text(d.schema), &is_new);
  to->argument_names.clear();
  for (uint32_t i = 0; i < head.count; ++i) {
    wire::DefArgument a;
    std::memcpy(&a, reinterpret_cast<const uint8_t*>(at) + sizeof d + i * sizeof a, sizeof a);
    to->argument_names.push_back(a.name ? string(a.name) : 0);
    if (is_new) ledger_.batch().add(Small::kOpArgument, {int64_t{to->id}, int64_t{i}, text(a.name), int64_t{a.flags}});
  }
}

void Process::define_table(const uint64_t* at, const wire::DefHead& head) {
  wire::DefTable d;
  const uint64_t bytes = head.words * 8ull;
  if (!get(at, head, &d) || bytes < sizeof d + uint64_t{head.count} * sizeof(wire::DefSlot) + uint64_t{d.mask_count} * 8 + uint64_t{d.registration_count} * sizeof(wire::DefRegistration)) return ledger_.damaged();
  const Op* of = head.id ? op(head.id) : nullptr;
  if (head.id && !of) return;
  Ledger::PendingTable table{ledger_.clock.ns(d.time), d.time ? 0u : 1u, of ? of->id : 0, {}, {}, {}};
  uint64_t hash = 1;
  const auto mix = [&](uint64_t v) { hash = (hash ^ v) * 0x9E3779B97F4A7C15ull, hash ^= hash >> 31; };
  const uint8_t* from = reinterpret_cast<const uint8_t*>(at) + sizeof d;
  const auto next = [&from](auto* out) { std::memcpy(out, from, sizeof *out), from += sizeof *out; };
  for (uint32_t i = 0; i < head.count; ++i) {
    wire::DefSlot s;
    next(&s);
    table.slots.push_back({s.slot, kernel(s.kernel), s.stale});
    mix(uint64_t{s.slot} << 32 | table.slots.back().kernel);
    mix(s.stale);
  }
  for (uint32_t i = 0; i < d.mask_count; ++i) {
    uint64_t mask;
    next(&mask);
    table.masks.push_back(mask);
    mix(mask);
  }
  for (uint32_t i = 0; i < d.registration_count; ++i) {
    wire::DefRegistration r;
    next(&r);
    const uint32_t position = i && table.registrations.back().key == r.key ? table.registrations.back().position + 1 : 0;
    table.registrations.push_back({r.key, position, kernel(r.kernel)});
    mix(uint64_t{r.key} << 32 | table.registrations.back().kernel);
  }
  uint64_t& last = ledger_.table_hash[table.op];
  if (last == hash) return;  // another process' table, the same
  if (last && table.since_event) table.since_event = ledger_.hops + 1;
  last = hash;
  ledger_.tables.push_back(std::move(table));
}

void Process::define_key(const wire::DefKey& d) {
  const KeyRow row{text(d.name), d.functionality_bit, d.backend_bit, d.slot};
  if (!ledger_.catalog.key(d.head.id, row)) refuse("it numbers dispatch keys differently than the first one (another version of PyTorch)");
}

void Process::define_name(const wire::DefName& d) {
  const std::string& name = text(d.name);
  if (d.head.kind == wire::DefKind::kThread) {
    if (d.head.id >= wire::kMaxRings) return ledger_.damaged();
    thread_names[d.head.id] = name;
    renamed.push_back(d.head.id);
    return;
  }
  if (d.head.id > 255) return ledger_.damaged();
  if (d.head.kind == wire::DefKind::kDtype) {
    dtypes_[d.head.id] = string(d.name);
    dtype_names_[d.head.id] = name;
  } else if (d.head.kind == wire::DefKind::kLayout) {
    layouts_[d.head.id] = string(d.name);
    layout_names_[d.head.id] = name;
  } else {
    device_names_[d.head.id] = name;
  }
}

const Process::Op* Process::op(uint32_t wanted) {
  if (wanted && wanted < ops_.size() && ops_[wanted].id) return &ops_[wanted];
  if (wanted) ledger_.unknown_id();
  return nullptr;
}

uint32_t Process::string(uint32_t wanted) {
  if (wanted == 0) return 0;
  if (wanted >= texts_.size() || !texts_[wanted].defined) {
    ledger_.unknown_id();
    return 0;
  }
  Text& t = texts_[wanted];
  if (!t.id) t.id = ledger_.catalog.string(t.value);
  return t.id;
}

const std::string& Process::text(uint32_t wanted) {
  static const std::string kEmpty;
  if (wanted == 0) return kEmpty;
  if (wanted >= texts_.size() || !texts_[wanted].defined) {
    ledger_.unknown_id();
    return kEmpty;
  }
  return texts_[wanted].value;
}

uint32_t Process::device(uint8_t type, int8_t index) {
  uint32_t& known = devices_[uint32_t{type} << 8 | static_cast<uint8_t>(index)];
  if (!known && !device_names_[type].empty()) known = ledger_.catalog.string(device_text(type | static_cast<int64_t>(static_cast<uint8_t>(index)) << 8));
  return known;
}

std::string Process::dtype_text(int64_t number) const {
  return number >= 0 && number < 256 && !dtype_names_[number].empty() ? dtype_names_[number] : "dtype " + std::to_string(number);
}
std::string Process::layout_text(int64_t number) const {
  return number >= 0 && number < 256 && !layout_names_[number].empty() ? layout_names_[number] : "layout " + std::to_string(number);
}
/// Low byte: the type; next byte: the index, 0xff = none.
std::string Process::device_text(int64_t packed) const {
  const uint8_t type = static_cast<uint8_t>(packed), index = static_cast<uint8_t>(packed >> 8);
  std::string name = device_names_[type].empty() ? "device " + std::to_string(type) : device_names_[type];
  if (index != 0xff) name += ":" + std::to_string(index);
  return name;
}

/// The span that knows the task; else the newest open one without a task (the caller's own thread first), which
/// then gets it: PyTorch numbers the task only after the call has begun.
uint32_t Process::cause_of(uint64_t graph_task, uint32_t thread) {
  for (const Backward& b : backwards) {
    if (b.graph_task == graph_task && graph_task != UINT64_MAX) return b.cause;
  }
  Backward* best = nullptr;
  for (Backward& b : backwards) {
    if (b.graph_task == UINT64_MAX && (!best || b.thread == thread || best->thread != thread)) best = &b;
  }
  if (!best) return 0;
  best->graph_task = graph_task;
  return best->cause;
}

}  // namespace peel
