// Operators that Python's own code calls, found by name when first called: the list of operators grows apart from this folder.
#pragma once
#include "core/dispatch/dispatcher.h"
#include "core/python/values.h"

namespace peel::core::python {

template <class Signature>
class NamedOperator {
 public:
  explicit NamedOperator(const char* name, const char* overload = "") : name_{std::string("aten::") + name, overload} {}
  bool exists() const { return Dispatcher::get().find(name_).has_value(); }
  /// NotImplemented when the engine lacks it.
  template <class... A>
  decltype(auto) operator()(A&&... a) const {
    const auto op = Dispatcher::get().find(name_);
    if (!op || !op->has_schema()) missing(name_.text());
    return op->template typed<Signature>().call(std::forward<A>(a)...);
  }

 private:
  OperatorName name_;
};

}  // namespace peel::core::python
