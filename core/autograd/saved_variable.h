// A tensor that a node keeps for backward, with the version that it had.
#pragma once
#include "core/autograd/history.h"

namespace peel::core {

/// What a program does with tensors that nodes keep (torch.autograd.graph.saved_tensors_hooks): it packs each, and gives it back when asked.
using Unpack = std::function<Tensor()>;
using Pack = std::function<Unpack(const Tensor&)>;
/// This thread's; the last one holds.
std::vector<Pack>& saved_tensor_hooks();

/// What makes the copies of data that nodes keep and give back, if it wants to: a mode of Python's is called for them. Undefined when it doesn't.
using DataCopy = Tensor (*)(const Tensor&);
void set_data_copy(DataCopy);

class SavedVariable {
 public:
  static constexpr bool kOutput = true;
  SavedVariable() = default;
  /// `output`: it is the node's own result, of which only the data is kept, as the node can't own itself. Error for inference tensors.
  explicit SavedVariable(const Tensor&, bool output = false);
  explicit SavedVariable(const std::optional<Tensor>& t) : SavedVariable(t ? *t : Tensor()) {}
  /// Errors when it was written since, or released. `owner`: the node whose result it is.
  Tensor unpack(Node* owner = nullptr) const;
  void release();
  bool defined() const { return data_.defined() || packed_; }
  uint32_t saved_version() const { return version_; }

 private:
  // Kept by a program's hook; with what it takes to make the tensor the same again.
  struct Packed {
    Unpack unpack;
    Ref<Node> node;  // of a leaf that requires grad: its accumulator
    Ref<VersionCounter> version;
    uint32_t output = 0;
    bool leaf = false, wants = false;
  };
  void pack(const Tensor&, const Pack&, bool output);
  Tensor unpack_by_hook(Node* owner) const;
  Tensor data_;
  std::shared_ptr<const Packed> packed_;
  uint32_t version_ = 0, output_number_ = 0;
  bool detached_ = false, released_ = false;
};

/// A list of tensors, some absent.
class SavedList {
 public:
  SavedList() = default;
  explicit SavedList(std::span<const std::optional<Tensor>> list);
  explicit SavedList(std::span<const Tensor> list);
  std::vector<std::optional<Tensor>> unpack() const;
  void release();

 private:
  std::vector<std::optional<SavedVariable>> list_;
};

}  // namespace peel::core
