// Forward-mode AD: dual tensors, which carry a tangent along. There is one level, as in stock; transforms of torch.func nest by wrapping tensors.
#pragma once
#include "core/autograd/history.h"

namespace peel::core {

/// Undefined for a tensor without one.
Tensor tangent_of(const Tensor&);
inline Tensor tangent_of(const std::optional<Tensor>& t) { return t ? tangent_of(*t) : Tensor(); }
inline bool has_tangent(const Tensor& t) { return t.defined() && tangent_of(t).defined(); }
inline bool has_tangent(const std::optional<Tensor>& t) { return t && has_tangent(*t); }
template <class T>
bool has_tangent(std::span<const T> list) {
  return std::ranges::any_of(list, [](const auto& t) { return has_tangent(t); });
}
/// A tangent of zeros where there is none.
Tensor tangent_or_zeros(const Tensor&);
/// The tensor without its tangent, as a new one where it has one.
Tensor primal_of(const Tensor&);
/// `in_place`: the tensor that was written has one already, which is written too.
void set_tangent(const Tensor&, const Tensor& tangent, bool in_place = false);

/// Each gives the level: 0. Errors for more than one.
int64_t enter_dual_level();
void exit_dual_level(int64_t level);

}  // namespace peel::core
