// Operator schemas: PyTorch's schema language (`aten::add.Tensor(Tensor self, Tensor other, *, Scalar alpha=1) -> Tensor`)
// parsed into structures and printed back exactly as PyTorch 2.13 prints it.
#pragma once
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/dispatch/ivalue.h"

namespace peel::core {

/// `aten::add` and `Tensor`; an empty overload is written without a dot.
struct OperatorName {
  std::string name, overload;
  bool operator==(const OperatorName&) const = default;
  std::string text() const { return overload.empty() ? name : name + "." + overload; }
  std::string_view space() const { return std::string_view(name).substr(0, name.find("::")); }
  static OperatorName parse(std::string_view text);
};

/// A type of the schema language.
struct Type {
  /// Plain covers every type that is only a name (`Tensor`, `int`, `SymInt`, `Scalar`, `Device`, a class); Generic a name with
  /// types in parentheses (`Dict`, `Future`); Variable a lower-case name that stands for any type (`t`).
  enum class Kind : uint8_t { kPlain, kVariable, kList, kOptional, kTuple, kGeneric } kind = Kind::kPlain;
  std::string name;         // for kPlain, kVariable, kGeneric
  std::vector<Type> inner;  // element, members or parameters
  bool operator==(const Type&) const = default;
  bool is(std::string_view plain) const { return kind == Kind::kPlain && name == plain; }
  const Type& element() const { return inner.at(0); }
  std::string text() const;
  /// Tensor, Tensor?, Tensor[], Tensor?[]: what gives keys to a boxed call.
  bool gives_keys() const;
};

/// `(a! -> *)`: which memory a value shares, and whether it is written.
struct AliasInfo {
  std::vector<std::string> before, after;  // after = before unless an arrow says otherwise; `*` is the wildcard
  bool write = false;
  bool operator==(const AliasInfo&) const = default;
  std::string text() const;
};

struct Argument {
  std::string name;
  Type type;
  std::optional<int> size;                  // the 2 of `int[2]`
  std::optional<IValue> default_value;
  std::optional<AliasInfo> alias;           // of the value, or of a list itself
  std::optional<AliasInfo> element_alias;   // of a list's elements: `Tensor(a!)[]`
  bool keyword_only = false;
  bool operator==(const Argument&) const = default;
  std::string text() const;
};

struct FunctionSchema {
  OperatorName name;
  std::vector<Argument> arguments, returns;
  bool variadic_arguments = false, variadic_returns = false;
  bool operator==(const FunctionSchema&) const = default;
  /// With the name in front; signature_text without.
  std::string text() const;
  std::string signature_text() const;
};

/// Throws Error with the place where it went wrong, as PyTorch words it.
FunctionSchema parse_schema(std::string_view);

}  // namespace peel::core
