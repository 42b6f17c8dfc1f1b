#include "sessions/diff_side.h"

#include <algorithm>

#include "sessions/iterations.h"
#include "sessions/show.h"

namespace peel {
namespace {

constexpr int kMaxLayers = 64;

/// A cached hash: 0 means "not computed", so no hash is 0.
uint64_t& slot_of(std::vector<uint64_t>& cache, uint32_t id) {
  if (id >= cache.size()) cache.resize(size_t{id} + 64);
  return cache[id];
}
uint64_t some(uint64_t h) { return h ? h : 1; }

}  // namespace

CallTree call_tree(const Session& s, EventId call) {
  CallTree tree;
  const Event head = s.event(call);
  const bool chained = head.op && head.kind != Kind::kBackwardNode;
  for (EventId at = call; at;) {
    tree.layers.push_back(at);
    EventId next, nested;
    const size_t from = tree.inner.size();
    for (EventId c = s.first_child(at); c; c = s.next_sibling(c)) {
      tree.inner.push_back(c);
      if (!chained || next || tree.layers.size() >= kMaxLayers) continue;
      const Event child = s.event(c);
      if (child.op != head.op || child.kind == Kind::kBackwardNode || child.kind == Kind::kTorchFunction) continue;
      if (is_redispatch(child.kind)) next = c;
      else if (!nested) nested = c;
    }
    if (!next) next = nested;
    if (next) tree.inner.erase(std::find(tree.inner.begin() + static_cast<std::ptrdiff_t>(from), tree.inner.end(), next));
    at = next;
  }
  std::sort(tree.inner.begin(), tree.inner.end());
  return tree;
}

PreparedSide::PreparedSide(const DiffSide& side, const std::atomic<bool>* cancel)
    : s_(*side.session), scope_(side.scope), cancel_(cancel), math_(*side.session), last_(side.session->size()) {
  if (!scope_.whole()) first_ = std::max(1u, scope_.first.value), last_ = std::min(last_, scope_.last.value);
  const size_t n = last_ >= first_ ? last_ - first_ + 1 : 0;
  tree_.assign(n, 0);
  values_.assign(n, {});
  find_tops();
  read_values();
  effects_->read_gpu(s_, scope_);
  if (effects_->has_memory()) totals_.allocated = effects_->allocated(), totals_.held = effects_->held();
  if (effects_->has_gpu()) totals_.launched = static_cast<int64_t>(effects_->launched());
}

void PreparedSide::find_tops() {
  std::vector<ThreadId> threads;
  const ThreadId main = main_thread(s_);
  std::unordered_map<uint32_t, size_t> number;
  const auto list_of = [&](ThreadId t) -> TopCalls& {
    const auto [it, fresh] = number.try_emplace(t.value, tops_.size());
    if (fresh) {
      const Thread* row = s_.thread(t);
      tops_.push_back({t == main ? "main" : row ? row->name : "", {}});
    }
    return tops_[it->second];
  };
  list_of(scope_.whole() ? main : scope_.thread);
  for (uint32_t id = first_; id <= last_ && id != 0; ++id) {
    const Event e = s_.event(EventId{id});
    if (!inside(e)) continue;
    ++totals_.hops;
    if (e.node) totals_.nodes += s_.nodes_of(e.id).size();
    if (e.parent && e.parent.value >= first_) continue;
    list_of(e.thread).calls.push_back(e.id);
    ++totals_.calls;
    if (e.end != kOpen) totals_.time += e.end - e.begin;
    if (stopped()) return;
  }
}

uint64_t PreparedSide::op(const Event& e) {
  if (e.kind == Kind::kBackwardNode) {
    const auto run = s_.run_of(e.id);
    return hash_mix(2, run ? hash_text(s_.node_name(run->node)) : 0);
  }
  uint64_t& h = slot_of(ops_, e.op.value);
  if (!h) h = some(hash_text(s_.op(e.op).full));
  return h;
}

uint64_t PreparedSide::key(KeyId k) {
  uint64_t& h = slot_of(keys_, k);
  if (!h) {
    const Key* row = s_.key(k);
    h = some(row ? hash_text(row->name) : 3);
  }
  return h;
}

uint64_t PreparedSide::keyset(KeysetId k) {
  uint64_t& h = slot_of(keysets_, k.value);
  if (!h) {
    uint64_t sum = 7;
    for (const KeyId i : math_.keys(s_.keyset(k).raw)) sum = hash_mix(sum, key(i));
    h = some(sum);
  }
  return h;
}

uint64_t PreparedSide::kernel(KernelId k) {
  uint64_t& h = slot_of(kernels_, k.value);
  if (!h) {
    const Kernel* row = s_.kernel(k);
    std::string place = row ? place_brief(row->registered_at) : "";
    if (!kernel_lines_) place.resize(std::min(place.size(), place.rfind(':')));
    h = some(row ? hash_mix(hash_text(row->rule), hash_text(place)) : 5);
  }
  return h;
}

const std::vector<std::string>& PreparedSide::source_lines(std::string_view file) {
  const auto [it, fresh] = sources_.try_emplace(std::string(file));
  if (!fresh) return it->second;
  const std::string text = s_.source(file);
  for (size_t at = 0; at < text.size();) {
    const size_t end = std::min(text.find('\n', at), text.size());
    const size_t begin = std::min(text.find_first_not_of(" \t", at), end), last = text.find_last_not_of(" \t\r", end ? end - 1 : 0);
    it->second.push_back(begin < end && last != std::string::npos && last >= begin ? text.substr(begin, last - begin + 1) : "");
    at = end + 1;
  }
  return it->second;
}

bool PreparedSide::has_sources() {
  std::unordered_map<uint32_t, bool> seen;
  for (const TopCalls& t : tops_)
    for (const EventId e : t.calls) {
      const StackId user = s_.user_frame(s_.event(e).stack);
      if (!user || !seen.try_emplace(user.value, true).second) continue;
      if (source_lines(s_.frame(user).file).empty()) return false;
    }
  return true;
}

uint64_t PreparedSide::line(StackId stack) {
  const auto [it, fresh] = lines_.try_emplace(stack.value, 0);
  if (!fresh) return it->second;
  const StackId user = s_.user_frame(stack);
  if (!user) return it->second = 11;
  const Frame f = s_.frame(user);
  const size_t slash = f.file.rfind('/');
  uint64_t h = hash_mix(hash_text(slash == std::string_view::npos ? f.file : f.file.substr(slash + 1)), hash_text(f.function));
  const std::vector<std::string>* lines = line_texts_ ? &source_lines(f.file) : nullptr;
  const auto n = static_cast<size_t>(std::max(1, f.line)) - 1;
  h = lines && n < lines->size() ? hash_mix(h, hash_text((*lines)[n])) : hash_mix(h, static_cast<uint64_t>(f.line));
  return it->second = h;
}

uint64_t PreparedSide::nodes(const Event& e) {
  if (!e.node) return 0;
  uint64_t h = 13;
  for (const NodeId n : s_.nodes_of(e.id)) h = hash_mix(h, hash_text(s_.node_name(n)));
  return h;
}

uint64_t PreparedSide::own(const Event& e) {
  uint64_t h = hash_mix(op(e), key(e.key));
  h = hash_mix(h, keyset(e.keyset));
  h = hash_mix(h, kernel(e.kernel));
  h = hash_mix(h, (is_redispatch(e.kind) ? 1u : is_call(e.kind) ? 2u : 3u + static_cast<uint32_t>(e.kind)) | (e.flags & kRaised ? 64u : 0u));
  if (e.node) h = hash_mix(h, nodes(e));
  if (memory_counts_)
    if (const uint64_t taken = effects_->taken_sum(e.id, true)) h = hash_mix(h, taken);
  if (gpu_counts_)
    if (const uint64_t launched = effects_->launched_sum(e.id)) h = hash_mix(h, ~launched);
  if (is_redispatch(e.kind)) return h;
  const ValueLanes v = values(e.id);
  return hash_mix(h, hash_mix(uint64_t{v.dtype} << 32 | v.shape, uint64_t{v.device} << 32 | v.other));
}

// Children have larger ids than their parents: backwards, every subtree is complete when its root comes.
void PreparedSide::hash_trees() {
  for (uint32_t id = last_; id >= first_ && id != 0; --id) {
    const Event e = s_.event(EventId{id});
    if (!inside(e)) continue;
    const uint64_t h = hash_mix(own(e), tree_[index(e.id)]);
    tree_[index(e.id)] = h;
    if (e.parent && e.parent.value >= first_) tree_[index(e.parent)] = hash_mix(tree_[index(e.parent)], h);
    if ((id & 0xffff) == 0 && stopped()) return;
  }
}

}  // namespace peel
