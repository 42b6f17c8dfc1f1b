#include "core/autocast/autocast.h"

#include <mutex>
#include <unordered_map>

#include "core/autograd/history.h"
#include "core/dispatch/error.h"
#include "ops_generated/ops.h"

namespace peel::core {
namespace {

// By the weight that was cast; it is kept alive, as its address is the key.
struct Cache {
  std::mutex mutex;
  std::unordered_map<const TensorImpl*, std::pair<Tensor, Tensor>> casts;
};
Cache& cache() {
  static Cache& c = *new Cache;
  return c;
}

bool eligible(const Tensor& t) { return t.defined() && t.device().type == 0 && is_floating(t.dtype()) && t.dtype() != ScalarType::Double; }
bool is_weight(const Tensor& t) {
  const GradMeta* meta = grad_meta(t);
  return t.dtype() == ScalarType::Float && meta && meta->wants && !meta->node && !meta->base.defined();
}

}  // namespace

AutocastState& autocast_state() {
  static thread_local AutocastState state;
  return state;
}
bool autocast_enabled() { return !local_keys().excluded.has(DispatchKey::AutocastCPU); }
void set_autocast_enabled(bool on) { set_key_excluded(DispatchKey::AutocastCPU, !on); }
void clear_autocast_cache() {
  const std::lock_guard lock(cache().mutex);
  cache().casts.clear();
}

AutocastScope::AutocastScope(bool enabled, ScalarType t, bool keep) : enabled_(autocast_enabled()), saved_(autocast_state()) {
  set_autocast_enabled(enabled);
  AutocastState& s = autocast_state();
  s.dtype = t;
  s.cache = keep;
  ++s.nesting;
}
AutocastScope::~AutocastScope() {
  if (--autocast_state().nesting == 0) clear_autocast_cache();
  set_autocast_enabled(enabled_);
  autocast_state().dtype = saved_.dtype;
  autocast_state().cache = saved_.cache;
}

Tensor autocast::cast(ScalarType type, const Tensor& t) {
  if (!eligible(t) || t.dtype() == type) return t;
  const AutocastState& s = autocast_state();
  if (type != s.dtype || !s.cache || grad_state.inference_mode || !is_weight(t)) return ops::to_dtype::call(t, type);
  {
    const std::lock_guard lock(cache().mutex);
    const auto found = cache().casts.find(&t.impl());
    if (found != cache().casts.end()) return found->second.second;
  }
  const GradMode on(true);
  Tensor made = ops::to_dtype::call(t, type);
  const std::lock_guard lock(cache().mutex);
  return cache().casts.try_emplace(&t.impl(), t, made).first->second.second;
}
std::optional<Tensor> autocast::cast(ScalarType type, const std::optional<Tensor>& t) { return t && t->defined() ? std::optional(cast(type, *t)) : t; }
std::vector<Tensor> autocast::cast(ScalarType type, std::span<const Tensor> list) {
  std::vector<Tensor> out;
  for (const Tensor& t : list) out.push_back(cast(type, t));
  return out;
}
ScalarType autocast::widest(std::span<const Tensor> list) {
  ScalarType out = lower();
  for (const Tensor& t : list) {
    if (t.defined() && t.dtype() == ScalarType::Double) throw Error("promote type is double in at::autocast::prioritize");
    if (eligible(t) && t.dtype() == ScalarType::Float) out = ScalarType::Float;
  }
  return out;
}

}  // namespace peel::core
