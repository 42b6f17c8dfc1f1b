// PyTorch's own lists of operators (native_functions.yaml, derivatives.yaml), which its wheel ships: the entries of one operator as they
// are written. The files are cut at their entries by lines; no YAML is understood.
#pragma once
#include <string>
#include <string_view>
#include <unordered_map>

#include "sessions/session.h"

namespace peel {

class OpLists {
 public:
  OpLists() = default;
  /// Reads both below `folder` (torchgen/packaged); what is missing or larger than 8 MiB is left out.
  explicit OpLists(const std::string& folder);
  OpLists(std::string_view native_functions, std::string_view derivatives);
  /// `aten::add`, `Tensor`. An in-place operator without a formula of its own has that of its twin, as PyTorch's generator does it.
  OpSource find(std::string_view name, std::string_view overload) const;

 private:
  using Entries = std::unordered_map<std::string, std::string>;
  Entries functions_, formulas_;
};

}  // namespace peel
