// What panels ask a session, answered from memory or by rows on demand.
#include "sessions/session_impl.h"

#include <algorithm>

namespace peel {

const char* kind_name(Kind k) {
  static const char* const names[] = {"call", "redispatch", "call_boxed", "redispatch_boxed",
                                      "missing_kernel", "python_mode", "torch_function", "backward_node"};
  const auto i = static_cast<size_t>(k);
  return i < std::size(names) ? names[i] : "unknown";
}

const SessionImpl* implementation(const Session& s) { return dynamic_cast<const SessionImpl*>(&s); }

std::string SessionImpl::meta(std::string_view key) const {
  if (key == "state" && crashed_) return "crashed";
  return tables_.meta(key);
}

std::vector<std::pair<std::string, std::string>> SessionImpl::all_meta() const {
  auto out = tables_.all_meta();
  for (auto& [key, value] : out) {
    if (key == "state" && crashed_) value = "crashed";
  }
  return out;
}

std::vector<EventId> SessionImpl::children(EventId e) const {
  std::vector<EventId> out;
  for (EventId c = first_child(e); c; c = columns_.next_sibling(c)) out.push_back(c);
  return out;
}

std::vector<EventId> SessionImpl::roots(ThreadId t) const {
  std::vector<EventId> out;
  for (EventId c = columns_.first_of_thread(t); c; c = columns_.next_sibling(c)) out.push_back(c);
  return out;
}

const Key* SessionImpl::key_by_name(std::string_view name) const {
  const Key* k = tables_.keys.get(tables_.key_by_name(name));
  return k && k->name == name ? k : nullptr;
}

std::vector<const Key*> SessionImpl::keys() const {
  std::vector<const Key*> out, aliases;
  for (uint32_t i = 0; i < tables_.keys.end(); ++i) {
    if (const Key* k = tables_.keys.get(i)) (k->alias() ? aliases : out).push_back(k);
  }
  out.insert(out.end(), aliases.begin(), aliases.end());
  return out;
}

const Keyset& SessionImpl::keyset(KeysetId id) const {
  static const Keyset none{0, ""};
  const Keyset* k = tables_.keysets.get(id.value);
  return k ? *k : none;
}

const Op& SessionImpl::op(OpId id) const {
  static const Op none{};
  const Op* o = tables_.ops.get(id.value);
  return o ? *o : none;
}

uint32_t SessionImpl::ops() const { return tables_.ops.end() ? tables_.ops.end() - 1 : 0; }

const Tls& SessionImpl::tls(TlsId id) const {
  static const Tls none{0, 0, true, false, ""};
  const Tls* t = tables_.tls.get(id.value);
  return t ? *t : none;
}

std::vector<Thread> SessionImpl::threads() const {
  std::vector<Thread> out;
  for (uint32_t i = 0; i < tables_.threads.end(); ++i) {
    if (const Thread* t = tables_.threads.get(i)) out.push_back(*t);
  }
  return out;
}

Frame SessionImpl::frame(StackId id) const {
  const StackRow* row = tables_.stacks.get(id.value);
  return row ? Frame{id, row->parent, *row->file, *row->function, row->line} : Frame{};
}

StackId SessionImpl::user_frame(StackId id) const {
  const StackRow* row = tables_.stacks.get(id.value);
  return row ? row->user : StackId{};
}

bool SessionImpl::settled(EventId e) const {
  return !live() || (columns_.valid(e) && columns_.end(e) != kOpen);
}

Node SessionImpl::node(NodeId n) const {
  const std::string* name = graph_.name_of(n);
  if (!name) return {};
  const NodeDetail d = rows_.node(n, generation(), !live());
  return {n, graph_.event_of(n), d.found, *name, d.sequence_nr, d.topological_nr, d.thread, d.variable, d.output};
}

std::string_view SessionImpl::node_name(NodeId n) const {
  const std::string* name = graph_.name_of(n);
  return name ? std::string_view(*name) : std::string_view();
}

std::vector<Edge> SessionImpl::edges(NodeId n) const { return rows_.edges(n, generation(), !live()); }
std::optional<TensorRow> SessionImpl::tensor(TensorId t) const { return rows_.tensor(t, generation(), !live()); }

std::vector<WriteRow> SessionImpl::writes(TensorId t) const {
  const auto row = tensor(t);
  return row && row->storage ? graph_.writes_to(row->storage) : std::vector<WriteRow>();
}

std::vector<EventId> SessionImpl::uses(TensorId t, size_t limit) const {
  const auto row = tensor(t);
  EventId from{1};
  if (row && row->birth) from = row->birth;
  else if (row && row->first) from = row->first;
  return rows_.uses(t, from, limit, generation(), !live());
}

std::vector<Value> SessionImpl::arguments(EventId e) const {
  if (!columns_.valid(e)) return {};
  // From the call down to the hop: each redispatch says only what differs from the one above it.
  std::vector<EventId> chain{e};
  const OpId op = columns_.shape(e).op;
  while (is_redispatch(columns_.shape(chain.back()).kind)) {
    const EventId up = columns_.parent(chain.back());
    if (!up || columns_.shape(up).op != op) break;
    chain.push_back(up);
  }
  std::vector<Value> out = rows_.values(chain.back(), false, generation(), settled(chain.back()));
  for (size_t i = chain.size() - 1; i-- > 0;) {
    for (Value& v : rows_.values(chain[i], false, generation(), settled(chain[i]))) {
      const auto same = std::find_if(out.begin(), out.end(), [&](const Value& o) {
        return o.position == v.position && o.list_index == v.list_index;
      });
      if (same != out.end()) {
        *same = std::move(v);
      } else {
        out.insert(std::upper_bound(out.begin(), out.end(), v, [](const Value& a, const Value& b) {
                     return a.position != b.position ? a.position < b.position : a.list_index < b.list_index;
                   }), std::move(v));
      }
    }
  }
  return out;
}

std::vector<Value> SessionImpl::results(EventId e) const {
  return columns_.valid(e) ? rows_.values(e, true, generation(), settled(e)) : std::vector<Value>();
}

std::vector<Raised> SessionImpl::raised_in(EventId e) const {
  if (!columns_.valid(e)) return {};
  std::vector<Raised> out = tables_.raised_in(e, columns_.last(e));
  const uint16_t track = columns_.shape(e).track;
  std::erase_if(out, [&](const Raised& r) { return !columns_.valid(r.event) || columns_.shape(r.event).track != track; });
  return out;
}

std::string SessionImpl::source(std::string_view path) const { return rows_.source(path, generation(), !live()); }

}  // namespace peel
