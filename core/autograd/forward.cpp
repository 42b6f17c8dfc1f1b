#include "core/autograd/forward.h"

#include <algorithm>
#include <atomic>
#include <mutex>

#include "core/autograd/manual.h"
#include "core/dispatch/error.h"
#include "core/dispatch/library.h"
#include "core/ops/load.h"
#include "ops_generated/ops.h"

namespace peel::core {
namespace {

// Tangents that end with the dual level that is open. Of all threads, as in stock.
struct DualLevel {
  std::mutex mutex;
  std::atomic<bool> open{false};
  std::vector<std::weak_ptr<Tangent>> tangents;
};
DualLevel& dual_level() {
  static DualLevel& level = *new DualLevel;
  return level;
}

void remember(const std::shared_ptr<Tangent>& t) {
  DualLevel& level = dual_level();
  const std::lock_guard lock(level.mutex);
  if (!level.open) throw Error("Trying to access a forward AD level with an invalid index. This index was either not created or is already deleted.");
  std::erase_if(level.tangents, [](const auto& one) { return one.expired(); });
  level.tangents.push_back(t);
}

}  // namespace

bool in_dual_level() { return dual_level().open.load(std::memory_order_relaxed); }

void no_forward_derivative(const char* op) {
  throw NotImplemented("The embedded engine has no forward-mode derivative of aten::" + std::string(op) +
                       " yet; the program can be run on stock PyTorch (--engine pytorch).");
}

void set_tangent(const std::vector<Tensor>& all, const std::vector<Tensor>& tangents) {
  for (size_t i = 0; i < all.size() && i < tangents.size(); ++i) set_tangent(all[i], tangents[i]);
}

Tensor tangent_of(const Tensor& t) {
  if (!grad_state.forward_grad_mode) return {};
  const GradMeta* meta = t.defined() ? grad_meta(t) : nullptr;
  return meta && meta->tangent ? meta->tangent->value : Tensor();
}

Tensor tangent_or_zeros(const Tensor& t) {
  Tensor tangent = tangent_of(t);
  if (tangent.defined() || !t.defined()) return tangent;
  return ops::_efficientzerotensor::call(t.sizes(), t.dtype(), Layout::Strided, t.device(), {});
}

Tensor primal_of(const Tensor& t) { return has_tangent(t) ? ops::_fw_primal::call(t, 0) : t; }

void set_tangent(const Tensor& t, const Tensor& tangent, bool in_place) {
  if (!t.defined() || !tangent.defined()) return;
  GradMeta& meta = make_grad_meta(t);
  if (meta.tangent && meta.tangent->value.defined()) {
    if (!in_place) throw Error("Setting a forward grad that has already been set on the same level is not supported");
    if (!meta.tangent->value.is_same(tangent)) ops::copy_::call(meta.tangent->value, tangent);
    return;
  }
  Tensor kept = tangent;
  if (!ops::is_same_size::call(tangent, t)) {
    throw Error("Trying to set a forward gradient that has a different size than that of the original Tensor, this is not supported. Tensor is of size " +
                to_text(t.sizes()) + " while the given forward gradient is of size " + to_text(tangent.sizes()) + ".");
  }
  if (!ops::_has_same_storage_numel::call(t, tangent) || !std::ranges::equal(t.strides(), tangent.strides())) {
    if (is_non_overlapping_and_dense(t.sizes(), t.strides()) && !std::ranges::equal(t.strides(), tangent.strides())) {
      kept = ops::new_empty_strided::call(tangent, t.sizes(), t.strides());
      ops::copy_::call(kept, tangent);
    }
  }
  meta.tangent = std::make_shared<Tangent>(kept);
  remember(meta.tangent);
}

int64_t enter_dual_level() {
  DualLevel& level = dual_level();
  const std::lock_guard lock(level.mutex);
  if (level.open) throw Error("Nested forward mode AD is not supported at the moment");
  level.open = true;
  return 0;
}

void exit_dual_level(int64_t) {
  std::vector<std::weak_ptr<Tangent>> gone;
  {
    DualLevel& level = dual_level();
    const std::lock_guard lock(level.mutex);
    if (!level.open) throw Error("Trying to exit a forward AD level that was not the last one that was created. This is not supported.");
    level.open = false;
    gone.swap(level.tangents);
  }
  for (const auto& one : gone) {
    if (const auto t = one.lock()) t->value = Tensor();
  }
}

namespace manual {

Tensor _make_dual(DispatchKeySet keys, const Tensor& primal, const Tensor& tangent, int64_t level) {
  if (tangent_of(primal).defined()) {
    throw Error("Making a dual Tensor based on a Tensor that already has a forward gradient at the same level " + std::to_string(level) + " is not supported.");
  }
  Tensor result = [&] {
    const BelowAutograd below;
    return ops::_make_dual::redispatch(keys & kAfterAutograd, primal, tangent, level);
  }();
  set_tangent(result, tangent);
  return result;
}

Tensor _fw_primal(DispatchKeySet keys, const Tensor& self, int64_t level) {
  const BelowAutograd below;
  return ops::_fw_primal::redispatch(keys & kAfterAutograd, self, level);
}

std::tuple<Tensor, Tensor> _unpack_dual(DispatchKeySet, const Tensor& dual, int64_t level) {
  return {ops::_fw_primal::call(dual, level), tangent_of(dual)};
}

}  // namespace manual

namespace {

// Views for backward, but not for tangents.
Tensor make_dual_view(DispatchKeySet, const Tensor& primal, const Tensor&, int64_t) {
  Tensor out = [&] {
    const BelowADInplaceOrView below;
    return ops::alias::call(primal);
  }();
  return as_view(primal, std::move(out), ViewKind::kDifferentiable);
}
Tensor fw_primal_view(DispatchKeySet keys, const Tensor& self, int64_t level) { return make_dual_view(keys, self, Tensor(), level); }

}  // namespace

void register_forward_mode_views(Library& m) {
  m.impl("_make_dual", kernel_of(&make_dual_view));
  m.impl("_fw_primal", kernel_of(&fw_primal_view));
}

}  // namespace peel::core
