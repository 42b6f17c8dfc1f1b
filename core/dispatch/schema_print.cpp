#include "core/dispatch/schema.h"

namespace peel::core {
namespace {

std::string joined(const std::vector<Type>& types) {
  std::string out;
  for (const Type& t : types) out += (out.empty() ? "" : ", ") + t.text();
  return out;
}

std::string joined(const std::vector<std::string>& sets) {
  std::string out;
  for (const std::string& s : sets) out += (out.empty() ? "" : "|") + s;
  return out;
}

std::string quoted(const std::string& text) {
  std::string out = "\"";
  for (const char c : text) {
    switch (c) {
      case '\\': out += "\\\\"; break;
      case '\'': out += "\\'"; break;
      case '"': out += "\\\""; break;
      case '\a': out += "\\a"; break;
      case '\b': out += "\\b"; break;
      case '\f': out += "\\f"; break;
      case '\n': out += "\\n"; break;
      case '\r': out += "\\r"; break;
      case '\t': out += "\\t"; break;
      case '\v': out += "\\v"; break;
      default:
        if (c >= ' ' && c <= '~') {
          out += c;
        } else {
          char octal[8];
          std::snprintf(octal, sizeof octal, "\\%03o", static_cast<unsigned>(static_cast<unsigned char>(c)));
          out += octal;
        }
    }
  }
  return out + "\"";
}

// A sized list whose integers are all equal is written as the one number; of SymInts it is not.
std::string default_text(const Argument& a) {
  const IValue& v = *a.default_value;
  if (v.tag() == IValue::Tag::kString) return quoted(v.to_string());
  if (v.tag() == IValue::Tag::kList && a.size && a.type.kind == Type::Kind::kList && a.type.element().is("int")) {
    const auto& list = v.to_list();
    bool equal = list.size() > 1;
    for (size_t i = 1; equal && i < list.size(); ++i) equal = list[i] == list[0];
    if (equal) return to_text(list[0]);
  }
  return to_text(v);
}

std::string listed(const std::vector<Argument>& arguments) {
  std::string out;
  for (const Argument& a : arguments) out += (out.empty() ? "" : ", ") + a.text();
  return out;
}

}  // namespace

std::string Type::text() const {
  switch (kind) {
    case Kind::kPlain:
    case Kind::kVariable: return name;
    case Kind::kList: return element().text() + "[]";
    case Kind::kOptional: return element().text() + "?";
    case Kind::kTuple: return "(" + joined(inner) + ")";
    case Kind::kGeneric: return name + "(" + joined(inner) + ")";
  }
  return {};
}

bool Type::gives_keys() const {
  const Type* t = this;
  if (t->kind == Kind::kList) t = &t->element();
  if (t->kind == Kind::kOptional) t = &t->element();
  return t->is("Tensor");
}

std::string AliasInfo::text() const {
  std::string out = "(" + joined(before) + (write ? "!" : "");
  if (after != before) out += " -> " + joined(after);
  return out + ")";
}

std::string Argument::text() const {
  const bool optional = type.kind == Type::Kind::kOptional;
  const Type& t = optional ? type.element() : type;
  std::string out;
  if (t.kind == Type::Kind::kList) {
    out = t.element().text() + (element_alias ? element_alias->text() : "") + "[" + (size ? std::to_string(*size) : "") + "]";
  } else {
    out = t.text();
  }
  if (alias) out += alias->text();
  if (optional) out += "?";
  if (!name.empty()) out += " " + name;
  if (default_value) out += "=" + default_text(*this);
  return out;
}

std::string FunctionSchema::signature_text() const {
  std::string out = "(";
  bool star = false;
  for (const Argument& a : arguments) {
    if (out.size() > 1) out += ", ";
    if (a.keyword_only && !star) {
      out += "*, ";
      star = true;
    }
    out += a.text();
  }
  if (variadic_arguments) out += out.size() > 1 ? ", ..." : "...";
  out += ") -> ";
  // One unnamed return needs no parentheses, unless it begins with one.
  const std::string what = listed(returns);
  if (variadic_returns) return out + (returns.empty() ? "..." : "(" + what + ", ...)");
  const bool bare = returns.size() == 1 && (what.empty() || what[0] != '(');
  return out + (bare ? what : "(" + what + ")");
}

std::string FunctionSchema::text() const { return name.text() + signature_text(); }

}  // namespace peel::core
