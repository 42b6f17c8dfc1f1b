#include "sessions/drain_track.h"

#include <cstring>

namespace peel {
namespace {

template <class Record>
bool get(const uint64_t* at, wire::Head head, Record* out) {
  if (head.words * 8u < sizeof(Record)) return false;
  std::memcpy(out, at, sizeof(Record));
  out->head = head;
  return true;
}

constexpr const char* kSpanKinds[] = {"", "module", "backward", "mark", "optimizer", "compile", "mode", "function"};

int64_t version_cell(uint32_t version) { return version == wire::kNoVersion ? kNullCell : int64_t{version}; }
int64_t position_of(uint32_t place) { return place & 0xff; }
int64_t list_index_of(uint32_t place) { return static_cast<int64_t>(place >> 8 & 0x3fffff) - 1; }

}  // namespace

void Track::consume(const uint64_t* at, wire::Head head) {
  using wire::RecordKind;
  bool whole = true;
  const auto take = [&](auto record, void (Track::*what)(const decltype(record)&)) {
    whole = get(at, head, &record);
    if (whole) (this->*what)(record);
  };
  switch (head.kind) {
    case RecordKind::kPad: break;
    case RecordKind::kBegin: take(wire::Begin(), &Track::begin); break;
    case RecordKind::kEnd: take(wire::End(), &Track::end); break;
    case RecordKind::kTensor: tensor(at, head); break;
    case RecordKind::kValue: value(at, head); break;
    case RecordKind::kWrite: take(wire::Write(), &Track::write); break;
    case RecordKind::kError: take(wire::Error(), &Track::error); break;
    case RecordKind::kChanged: take(wire::Changed(), &Track::changed); break;
    case RecordKind::kNode: node(at, head); break;
    case RecordKind::kSaved: saved(at, head); break;
    case RecordKind::kNodeRun: take(wire::NodeRun(), &Track::node_run); break;
    case RecordKind::kSpanBegin: take(wire::SpanBegin(), &Track::span_begin); break;
    case RecordKind::kSpanEnd: take(wire::SpanEnd(), &Track::span_end); break;
    case RecordKind::kMemory: take(wire::Allocation(), &Track::memory); break;
    case RecordKind::kSegment: {
      wire::Segment s;
      if ((whole = get(at, head, &s))) process_.allocations.segment(s);
      break;
    }
    case RecordKind::kBlock: {
      wire::Block b;
      if ((whole = get(at, head, &b))) process_.allocations.block(b);
      break;
    }
    case RecordKind::kGpu: {
      wire::GpuActivity a;
      if ((whole = get(at, head, &a))) process_.gpu.activity(a);
      break;
    }
    case RecordKind::kGpuMemory: {
      wire::GpuMemory m;
      if ((whole = get(at, head, &m))) process_.gpu.memory(m);
      break;
    }
    case RecordKind::kGraphNode: {
      wire::GraphNode n;
      if ((whole = get(at, head, &n))) process_.gpu.graph_node(n, innermost());
      break;
    }
    case RecordKind::kTick: break;
    case RecordKind::kWaited: {
      wire::Waited w;
      whole = get(at, head, &w);
      if (!whole) break;
      const int64_t ns = ledger_.clock.ns(ledger_.clock.ticks0 + std::min(w.ticks, uint64_t{1} << 62));
      ledger_.waits_ns += static_cast<uint64_t>(ns);
      ledger_.catalog.lose("waited ns", ns, "So many nanoseconds the program waited because its ring was full: times around such places are longer than without recording.");
      break;
    }
    case RecordKind::kLost: {
      wire::Lost l;
      whole = get(at, head, &l);
      if (!whole) break;
      const std::string& reason = process_.text(head.a);
      ledger_.catalog.lose(reason.empty() ? "dropped" : reason, static_cast<int64_t>(std::min(l.count, uint64_t{1} << 62)), "Reported by the recorder in the program.");
      break;
    }
    default: ledger_.catalog.lose("unknown records", 1, "Records of a kind that this version does not know were skipped.");
  }
  if (!whole) ledger_.damaged();
}

/// Times of one thread do not go back; should the counter jitter, they stand still.
int64_t Track::time(uint64_t ticks) {
  last_ns_ = std::max(last_ns_, ledger_.clock.ns(std::min(ticks, ledger_.latest_ticks)));
  return last_ns_;
}

void Track::begin(const wire::Begin& b) {
  const uint32_t id = ++ledger_.hops;
  // ids are begin order, so begins do not go back from one id to the next either
  const int64_t ns = ledger_.newest_begin_ns = std::max(ledger_.newest_begin_ns, time(b.time));
  ledger_.history.add(id, ns);
  uint32_t kind = static_cast<uint32_t>(b.kind);
  if (kind > static_cast<uint32_t>(wire::HopKind::kBackwardNode)) {
    ledger_.catalog.lose("unknown hop kinds", 1, "Hops of a kind that this version does not know are shown as calls.");
    kind = 0;
  }
  const wire::HopKind k = static_cast<wire::HopKind>(kind);
  const bool call = k == wire::HopKind::kCall || k == wire::HopKind::kCallBoxed;
  const bool redispatch = k == wire::HopKind::kRedispatch || k == wire::HopKind::kRedispatchBoxed;
  const bool of_dispatcher = call || redispatch || k == wire::HopKind::kMissingKernel;
  const Process::Op* op = process_.op(b.head.a);
  const uint32_t op_id = op ? op->id : 0;
  if (b.flags & wire::kInferredKind) {
    ledger_.catalog.lose("inferred: hop kind", 1, "Whether these hops are calls or redispatches was inferred from their key sets.");
  }
  ledger_.batch()[Table::kEvent].add(
      id, cell(innermost()), thread_, cell(op_id), kind, of_dispatcher || b.key ? int64_t{b.key} : kNullCell,
      call || redispatch || b.keyset ? int64_t{ledger_.catalog.keyset(b.keyset)} : kNullCell,
      call ? int64_t{ledger_.catalog.keyset(b.arg_keyset)} : kNullCell, cell(process_.tls(b.tls)), cell(process_.kernel(b.kernel)),
      cell(process_.stack(b.stack)), ns, kNullCell, b.flags);
  for (size_t i = spans_.size(); i > started_spans_; --i) {
    spans_[i - 1].begin_event = id;
    set_span(spans_[i - 1], 0, kNullCell);
  }
  started_spans_ = spans_.size();
  Frame f{id, b.flags, op, op_id, false, arguments_.size(), arguments_.size(), writes_.size(), outputs_.size(), saved_.size()};
  if (redispatch && !frames_.empty() && frames_.back().op_id == op_id) {
    f.redispatch = true;
    f.chain_arguments = frames_.back().chain_arguments;
  }
  if (process_.gpu.on()) {
    keep_history();
    history_->begin(id, ns);
  }
  frames_.push_back(f);
  last_hop_ = id;
}

void Track::end(const wire::End& e) {
  const int64_t ns = time(e.time);
  if (frames_.empty()) {
    ledger_.catalog.lose("ends without a begin", 1, "The end of a hop came whose begin is not in the recording.");
    return;
  }
  Frame& f = frames_.back();
  f.flags |= e.head.a;
  if (int64_t* row = ledger_.pending_hop(f.event)) {
    row[12] = ns;
    row[13] = f.flags;
  } else {
    ledger_.batch().ends.push_back({f.event, f.flags, ns});
  }
  if (history_) history_->end(ns);
  pop(f);
  frames_.pop_back();
}

/// A redispatch leaves its writes to its caller's frame: the chain decides at its head.
void Track::pop(Frame& f) {
  for (size_t i = f.outputs; i < outputs_.size(); ++i) process_.nodes.set_output(outputs_[i].node, process_.tensors.at(outputs_[i].impl, f.event));
  for (size_t i = f.saved; i < saved_.size(); ++i) finish_saved(saved_[i], f.event);
  outputs_.resize(f.outputs);
  saved_.resize(f.saved);
  if (!f.redispatch) {
    for (size_t i = f.writes; i < writes_.size(); ++i) {
      const PendingWrite& w = writes_[i];
      ledger_.batch()[Table::kWrite].add(w.event, cell(w.tensor), cell(w.storage), version_cell(w.before), version_cell(w.after));
    }
    writes_.resize(f.writes);
  }
  arguments_.resize(f.arguments);
}

void Track::close() {
  for (const PendingWrite& w : writes_) {
    ledger_.batch()[Table::kWrite].add(w.event, cell(w.tensor), cell(w.storage), version_cell(w.before), version_cell(w.after));
  }
  writes_.clear();
  for (const OpenSpan& s : spans_) {
    if (s.backward) std::erase_if(process_.backwards, [&](const Process::Backward& b) { return b.span == s.span; });
  }
  frames_.clear();
  spans_.clear();
}

uint32_t Track::argument_name(uint32_t a) const {
  const Process::Op* op = frames_.back().op;
  const size_t position = a & 0xff;
  return op && position < op->argument_names.size() ? op->argument_names[position] : 0;
}

Description Track::describe(const wire::Tensor& t, const uint64_t* sizes) {
  if (t.flags & wire::kUndefined) return {0, 0, 0, wire::kUndefined, 0, false, t.keyset, nullptr};
  return {process_.dtype(t.dtype), process_.device(t.device_type, t.device_index), process_.layout(t.layout), static_cast<uint16_t>(t.flags & kDescribed),
          t.ndim, !(t.flags & wire::kNoSizes), t.keyset, reinterpret_cast<const int64_t*>(sizes)};
}

MeetingPlace Track::place_of(const wire::Tensor& t) {
  const uint32_t made_in = process_.allocations.made_in(t.data);
  if (frames_.empty()) return {last_hop_, thread_, &arguments_, arguments_.size(), made_in};
  return {frames_.back().event, thread_, &arguments_, frames_.back().chain_arguments, made_in};
}

void Track::tensor(const uint64_t* at, wire::Head head) {
  wire::Tensor t;
  if (!get(at, head, &t)) return ledger_.damaged();
  const bool sized = !(t.flags & (wire::kSameAsInner | wire::kNoSizes));
  if (sized && head.words * 8u < sizeof t + 16u * t.ndim) return ledger_.damaged();
  if (frames_.empty()) {
    ledger_.catalog.lose("values outside of a hop", 1, "Values came while no hop was open.");
    return;
  }
  const Frame& f = frames_.back();
  Description d;
  const bool described = !(t.flags & wire::kSameAsInner);
  if (described) d = describe(t, at + sizeof t / 8);
  const MeetingPlace place = place_of(t);
  const bool is_result = head.a & wire::kResultBit;
  const TensorBook::Met met = is_result ? process_.tensors.result(place, t, described ? &d : nullptr) : process_.tensors.argument(place, t, described ? &d : nullptr);
  if (t.data && met.storage) process_.allocations.meet(t.data, met.storage, t.storage);
  if (!is_result && met.tensor) arguments_.push_back({t.impl, t.storage, met.tensor, met.base});
  ledger_.batch()[is_result ? Table::kResult : Table::kArgument].add(
      f.event, position_of(head.a), list_index_of(head.a), is_result ? kNullCell : cell(argument_name(head.a)), cell(met.tensor), cell(met.meta),
      version_cell(t.version), kNullCell, (t.flags & wire::kParticipates) != 0);
}

void Track::value(const uint64_t* at, wire::Head head) {
  wire::Value v;
  if (!get(at, head, &v)) return ledger_.damaged();
  if (frames_.empty()) {
    ledger_.catalog.lose("values outside of a hop", 1, "Values came while no hop was open.");
    return;
  }
  const bool is_result = head.a & wire::kResultBit;
  if (const char* wrong = value_text(v, at + sizeof v / 8, head.words - static_cast<uint32_t>(sizeof v / 8))) {
    ledger_.damaged();
    (void)wrong;
    return;
  }
  if (v.truncated) ledger_.catalog.lose("truncated values", 1, "Long lists and texts among the arguments were cut.");
  ledger_.batch()[is_result ? Table::kResult : Table::kArgument].add(frames_.back().event, position_of(head.a), list_index_of(head.a),
                                                                     is_result ? kNullCell : cell(argument_name(head.a)), kNullCell, kNullCell, kNullCell,
                                                                     ledger_.catalog.string(value_), 0);
}

/// Fills value_; non-null: the payload does not fit the type.
const char* Track::value_text(const wire::Value& v, const uint64_t* payload, uint32_t words) {
  using wire::ValueType;
  const auto integer = [&](uint32_t i) { return static_cast<int64_t>(payload[i]); };
  const auto real = [&](uint32_t i) {
    double d;
    std::memcpy(&d, payload + i, 8);
    return d;
  };
  const auto list = [&](auto&& element) -> const char* {
    if (v.count > words) return "list";
    value_ = "[";
    for (uint32_t i = 0; i < v.count; ++i) {
      if (i) value_ += ", ";
      value_ += element(i);
    }
    if (v.truncated) value_ += v.count ? ", …" : "…";
    value_ += ']';
    return nullptr;
  };
  const auto boolean = [&](uint32_t i) { return payload[i] ? "True" : "False"; };
  const bool bytes_fit = v.count <= words * 8ull;
  const std::string_view bytes(reinterpret_cast<const char*>(payload), bytes_fit ? v.count : 0);
  if (v.type != ValueType::kNone && v.type != ValueType::kString && v.type != ValueType::kOther && v.type < ValueType::kIntList && words < 1) return "empty";
  switch (v.type) {
    case ValueType::kNone: value_ = "None"; return nullptr;
    case ValueType::kBool: value_ = boolean(0); return nullptr;
    case ValueType::kInt: value_ = std::to_string(integer(0)); return nullptr;
    case ValueType::kDouble: value_ = python_double(real(0)); return nullptr;
    case ValueType::kComplex:
      if (words < 2) return "complex";
      value_ = python_complex(real(0), real(1));
      return nullptr;
    case ValueType::kString:
      if (!bytes_fit) return "text";
      value_ = python_string(bytes);
      if (v.truncated) value_ += "…";
      return nullptr;
    case ValueType::kIntList: return list([&](uint32_t i) { return std::to_string(integer(i)); });
    case ValueType::kDoubleList: return list([&](uint32_t i) { return python_double(real(i)); });
    case ValueType::kBoolList: return list(boolean);
    case ValueType::kDtype:
    case ValueType::kLayout:
    case ValueType::kDevice:
    case ValueType::kMemoryFormat:
      if (words < 1) return "name";
      if (v.type == ValueType::kDtype) value_ = process_.dtype_text(integer(0));
      if (v.type == ValueType::kLayout) value_ = process_.layout_text(integer(0));
      if (v.type == ValueType::kDevice) value_ = process_.device_text(integer(0));
      if (v.type == ValueType::kMemoryFormat) value_ = memory_format_text(integer(0));
      return nullptr;
    case ValueType::kOther:
      if (!bytes_fit) return "text";
      value_ = bytes.empty() ? "…" : std::string(bytes);
      return nullptr;
  }
  return "type";
}

/// The write of a chain is the one of its innermost hop in whose frame the version changed; when no hop changed
/// it, the innermost one.
void Track::write(const wire::Write& w) {
  if (frames_.empty()) return ledger_.damaged();
  const Frame& f = frames_.back();
  const MeetingPlace place{f.event, thread_, &arguments_, f.chain_arguments};
  const TensorBook::Written it = process_.tensors.written(place, w.impl, w.storage);
  for (size_t i = f.writes; i < writes_.size(); ++i) {
    PendingWrite& earlier = writes_[i];
    if (earlier.impl != w.impl) continue;
    if (!earlier.changed() && w.before != w.after) earlier = {w.impl, f.event, it.tensor, it.storage, w.before, w.after};
    return;
  }
  writes_.push_back({w.impl, f.event, it.tensor, it.storage, w.before, w.after});
}

void Track::error(const wire::Error& e) {
  ledger_.batch().add(Small::kError, {frames_.empty() ? Cell() : Cell(int64_t{frames_.back().event}), process_.text(e.head.a), process_.text(e.message)});
}

/// The hop's row says from now on what really ran; what it would have been goes to table change.
void Track::changed(const wire::Changed& c) {
  if (frames_.empty() || c.kind > wire::HopKind::kBackwardNode || c.kind_before > wire::HopKind::kBackwardNode) return ledger_.damaged();
  Frame& f = frames_.back();
  Batch& batch = ledger_.batch();
  const auto id_or_null = [](uint32_t v) { return v ? Cell(int64_t{v}) : Cell(); };
  const bool path = c.what & wire::kChangedPath;
  std::vector<Cell> row{int64_t{f.event}, process_.text(c.head.a), Cell(), Cell(), Cell(), Cell()};
  if (path) {
    row = {int64_t{f.event}, process_.text(c.head.a), int64_t(c.kind_before), int64_t{c.key_before}, int64_t{ledger_.catalog.keyset(c.keyset_before)}, id_or_null(process_.kernel(c.kernel_before))};
  }
  batch.add(Small::kChange, std::move(row));
  f.flags |= wire::kChangedByHand;
  const int64_t keyset = path ? int64_t{ledger_.catalog.keyset(c.keyset)} : 0;
  if (int64_t* hop = ledger_.pending_hop(f.event)) {
    hop[13] = f.flags;
    if (path) hop[4] = static_cast<int64_t>(c.kind), hop[5] = c.key, hop[6] = keyset, hop[9] = cell(process_.kernel(c.kernel));
  } else if (path) {
    batch.add(Small::kEventChange, {int64_t{f.event}, int64_t(c.kind), int64_t{c.key}, keyset, id_or_null(process_.kernel(c.kernel)), int64_t{f.flags}});
  } else {
    batch.ends.push_back({f.event, f.flags, kNullCell});
  }
  if (c.what & wire::kChangedResults) {
    batch[Table::kResult].drop(f.event);
    batch.dropped_results.push_back(f.event);
  }
}

void Track::node(const uint64_t* at, wire::Head head) {
  wire::Node n;
  if (!get(at, head, &n) || head.words * 8ull < sizeof n + uint64_t{n.edges} * sizeof(wire::Edge)) return ledger_.damaged();
  std::vector<wire::Edge> edges(n.edges);
  if (n.edges) std::memcpy(edges.data(), at + sizeof n / 8, n.edges * sizeof(wire::Edge));
  const uint32_t id = process_.nodes.report(n, edges.data(), process_.string(head.a), innermost());
  if (!id || !n.output) return;
  if (frames_.empty()) {
    process_.nodes.set_output(id, process_.tensors.at(n.output, last_hop_));
  } else {
    outputs_.push_back({id, n.output});  // the result itself may come after its node
  }
}

void Track::saved(const uint64_t* at, wire::Head head) {
  PendingSaved s{};
  if (!get(at, head, &s.record)) return ledger_.damaged();
  const size_t own = sizeof s.record / 8, words = head.words - own;
  const bool known = words > 0;
  if (known) {
    if (words * 8 < sizeof s.tensor) return ledger_.damaged();
    std::memcpy(&s.tensor, at + own, sizeof s.tensor);
    if (!(s.tensor.flags & wire::kNoSizes) && words * 8 < sizeof s.tensor + 16u * s.tensor.ndim) return ledger_.damaged();
  }
  s.node = process_.nodes.saving(s.record, innermost());
  if (!s.node) return;
  if (!known) return finish_saved(s, 0);
  const Description d = describe(s.tensor, at + own + sizeof s.tensor / 8);
  s.meta = ledger_.catalog.meta(d);
  if (s.record.flags & wire::kSavedOutput && !frames_.empty()) {
    saved_.push_back(s);
  } else {
    finish_saved(s, innermost());
  }
}

void Track::finish_saved(const PendingSaved& s, uint32_t event) {
  TensorBook::Met met;
  if (s.tensor.impl && s.record.flags & wire::kSavedOutput) {
    // Parts of one tensor look alike: the one through which the node was found is it.
    uint32_t wanted = 0;
    for (const PendingOutput& o : outputs_) if (o.node == s.node) wanted = process_.tensors.at(o.impl, event);
    met = process_.tensors.alike(s.tensor.storage, s.meta, wanted);
  }
  if (s.tensor.impl && !met.tensor) {
    MeetingPlace place = place_of(s.tensor);
    if (event) place.event = event;
    met = process_.tensors.saved(place, s.tensor, s.meta);
    if (s.tensor.data && met.storage) process_.allocations.meet(s.tensor.data, met.storage, s.tensor.storage);
  }
  ledger_.batch()[Table::kSaved].add(s.node, cell(process_.string(s.record.head.a)), int64_t{s.record.list_index} - 1, cell(met.tensor), cell(met.meta),
                                     version_cell(s.record.version), int64_t(s.record.bytes), s.record.flags);
}

void Track::node_run(const wire::NodeRun& r) {
  const uint32_t event = innermost();
  const uint32_t node = process_.nodes.at(r.node, r.sequence_nr, event);
  ledger_.batch()[Table::kNodeRun].add(++ledger_.runs, cell(node), cell(event), r.graph_task == UINT64_MAX ? kNullCell : static_cast<int64_t>(r.graph_task),
                                       cell(process_.cause_of(r.graph_task, thread_)));
}

void Track::keep_history() {
  if (history_) return;
  history_ = process_.gpu.history(os_id_);
  for (const Frame& f : frames_) history_->begin(f.event, INT64_MIN);
}

void Track::memory(const wire::Allocation& m) {
  const int64_t ns = time(m.time);
  process_.allocations.record(m, thread_, innermost(), process_.stack(m.stack), process_.device(static_cast<uint8_t>(m.head.a >> 8), static_cast<int8_t>(m.head.a >> 16)), ns);
}

void Track::span_begin(const wire::SpanBegin& s) {
  const int64_t ns = time(s.time);
  const uint32_t kind = static_cast<uint32_t>(s.kind);
  const uint32_t id = ++ledger_.spans;
  // A mode may end before what was begun in it: it is nobody's parent.
  const auto outer = std::find_if(spans_.rbegin(), spans_.rend(), [](const OpenSpan& o) { return o.mode == 0; });
  const uint32_t parent = outer == spans_.rend() ? 0 : outer->span;
  const auto id_or_null = [](uint32_t v) { return v ? Cell(int64_t{v}) : Cell(); };
  const std::string &name = process_.text(s.head.a), &detail = process_.text(s.detail);
  ledger_.batch().add(Small::kSpan, {int64_t{id}, std::string(kind < std::size(kSpanKinds) ? kSpanKinds[kind] : "other"), name, detail.empty() ? Cell() : Cell(detail),
                                     int64_t{thread_}, Cell(), Cell(), id_or_null(parent), ns, Cell(), id_or_null(process_.stack(s.stack)),
                                     s.object ? Cell(static_cast<int64_t>(s.object)) : Cell()});
  const bool backward = s.kind == wire::SpanKind::kBackward;
  spans_.push_back({id, 0, last_hop_, ledger_.batch_number, ledger_.batch().small.size() - 1, backward,
                    s.kind == wire::SpanKind::kMode ? static_cast<uint32_t>(s.object) : 0});
  if (backward) process_.backwards.push_back({id, thread_, last_hop_, s.object ? s.object : UINT64_MAX});
}

void Track::span_end(const wire::SpanEnd& s) {
  const int64_t ns = time(s.time);
  size_t i = spans_.size();
  while (i > 0 && spans_[i - 1].mode != s.head.a) --i;
  if (i == 0) {
    // A thread may leave a mode that a fork, or the beginning of the recording, found it in.
    if (s.head.a == 0) ledger_.catalog.lose("ends without a begin", 1, "The end of a hop came whose begin is not in the recording.");
    return;
  }
  OpenSpan& span = spans_[--i];
  set_span(span, span.begin_event ? last_hop_ : 0, ns);
  if (span.backward) std::erase_if(process_.backwards, [&](const Process::Backward& b) { return b.span == span.span; });
  spans_.erase(spans_.begin() + static_cast<std::ptrdiff_t>(i));
  if (i < started_spans_) --started_spans_;
}

/// What became known of a span: in its row while that is not committed, else by an update.
void Track::set_span(OpenSpan& span, uint32_t end_event, int64_t end_ns) {
  const auto sql = [](int64_t v) { return v == kNullCell ? Cell() : Cell(v); };
  if (span.batch == ledger_.batch_number) {
    std::vector<Cell>& cells = ledger_.batch().small[span.row].cells;
    cells[5] = sql(cell(span.begin_event));
    cells[6] = sql(cell(end_event));
    cells[9] = sql(end_ns);
  } else {
    ledger_.batch().add(Small::kSpanEnd, {int64_t{span.span}, sql(cell(span.begin_event)), sql(cell(end_event)), sql(end_ns)});
  }
}

}  // namespace peel
