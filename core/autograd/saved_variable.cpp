#include "core/autograd/saved_variable.h"

#include <atomic>

#include "core/dispatch/error.h"
#include "core/ops/sparse.h"

namespace peel::core {
namespace {

std::string type_name(const Tensor& t) {
  return std::string("torch.") + (t.device().type == 0 ? "" : to_string(t.device()) + ".") + to_string(t.dtype()) + "Tensor";
}

std::atomic<DataCopy> data_copy = nullptr;

Tensor with_data_of(const Tensor& t, Ref<VersionCounter> counter) {
  if (const DataCopy copy = data_copy) {
    if (const Tensor made = copy(t); made.defined()) {
      made.impl().version = std::move(counter);
      return made;
    }
  }
  return shallow_copy(t, std::move(counter));
}

}  // namespace

void set_data_copy(DataCopy copy) { data_copy = copy; }

std::string forward_name(const char* node) {
  std::string out = node;
  const size_t at = out.find("Backward");
  const std::string number = at == std::string::npos ? "" : out.substr(at + 8);
  if (number.find_first_of("0123456789") != 0) return "torch::autograd::" + out;
  return out.substr(0, at) + (number == "0" ? "" : number);
}

std::vector<Pack>& saved_tensor_hooks() {
  thread_local std::vector<Pack> hooks;
  return hooks;
}

void SavedVariable::pack(const Tensor& t, const Pack& hook, bool output) {
  auto packed = std::make_shared<Packed>();
  packed->version = t.impl().version;
  packed->leaf = !grad_node(t);
  if (packed->leaf) {
    packed->wants = requires_grad(t);
    packed->node = gradient_edge(t).node;
  } else {
    packed->output = grad_meta(t)->output;
    if (!output) packed->node = grad_node(t);
  }
  const GradMode off(false);
  packed->unpack = hook(t);
  if (t.impl().current_version() != version_) {
    throw Error("A saved tensor pack hook is modifying its input in place. Tensors provided as input to pack hook can not be modified by in-place operations as "
                "this can lead to unexpected side-effects. Please open an issue if you need to perform in-place operations on the input to a pack hook.");
  }
  packed_ = std::move(packed);
}

Tensor SavedVariable::unpack_by_hook(Node* owner) const {
  const Tensor data = packed_->unpack();
  Tensor out = with_data_of(data, packed_->version);
  const Ref<Node> node = packed_->leaf ? Ref<Node>() : packed_->node ? packed_->node : Ref<Node>(owner);
  if (node) {
    GradMeta& meta = make_grad_meta(out);
    meta.node = node;
    meta.output = packed_->output;
  } else if (packed_->wants) {
    set_requires_grad(out, true);
    make_grad_meta(out).lent_accumulator = packed_->node;
  }
  return out;
}

SavedVariable::SavedVariable(const Tensor& t, bool output) {
  if (!t.defined()) return;
  if (t.is_inference()) {
    throw Error("Inference tensors cannot be saved for backward. Please do not use Tensors created in inference mode in computation tracked by "
                "autograd. To work around this, you can make a clone to get a normal tensor and use it in autograd, or use `torch.no_grad()` instead "
                "of `torch.inference_mode()`.");
  }
  version_ = t.impl().current_version();
  if (!saved_tensor_hooks().empty() && !t.impl().wrapped_number) {
    const Pack hook = saved_tensor_hooks().back();
    pack(t, hook, output);
    return;
  }
  detached_ = output && grad_node(t);
  if (detached_) output_number_ = grad_meta(t)->output;
  data_ = detached_ ? with_data_of(t, t.impl().version) : t;
}

Tensor SavedVariable::unpack(Node* owner) const {
  if (released_) {
    throw Error("Trying to backward through the graph a second time (or directly access saved tensors after they have already been freed). Saved "
                "intermediate values of the graph are freed when you call .backward() or autograd.grad(). Specify retain_graph=True if you need to "
                "backward through the graph a second time or if you need to access saved tensors after calling backward.");
  }
  if (packed_) return unpack_by_hook(owner);
  if (!data_.defined()) return {};
  const uint32_t now = data_.impl().current_version();
  if (now != version_) {
    const Ref<Node> made_by = detached_ ? Ref<Node>(owner) : grad_node(data_);
    std::string text = "one of the variables needed for gradient computation has been modified by an inplace operation: [" + type_name(data_) + " " +
                       to_text(data_.sizes()) + "]";
    if (made_by) {
      const uint32_t number = detached_ ? output_number_ : grad_meta(data_)->output;
      text += ", which is output " + std::to_string(number) + " of " + forward_name(made_by->name()) + ",";
    }
    throw Error(text + " is at version " + std::to_string(now) + "; expected version " + std::to_string(version_) +
                " instead. Hint: enable anomaly detection to find the operation that failed to compute its gradient, with "
                "torch.autograd.set_detect_anomaly(True, check_nan=False).");
  }
  if (!detached_) return data_;
  Tensor out = with_data_of(data_, data_.impl().version);
  GradMeta& meta = make_grad_meta(out);
  meta.node = Ref<Node>(owner);
  meta.output = output_number_;
  return out;
}

void SavedVariable::release() {
  if (defined()) released_ = true;
  data_ = Tensor();
  packed_.reset();
}

SavedList::SavedList(std::span<const std::optional<Tensor>> list) {
  for (const auto& t : list) t && t->defined() ? list_.emplace_back(std::in_place, *t) : list_.emplace_back();
}
SavedList::SavedList(std::span<const Tensor> list) {
  for (const Tensor& t : list) list_.emplace_back(std::in_place, t);
}
std::vector<std::optional<Tensor>> SavedList::unpack() const {
  std::vector<std::optional<Tensor>> out;
  for (const auto& s : list_) s ? out.emplace_back(s->unpack()) : out.emplace_back();
  return out;
}
void SavedList::release() {
  for (auto& s : list_) {
    if (s) s->release();
  }
}

}  // namespace peel::core
