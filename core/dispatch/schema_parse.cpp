// Recursive descent over one line of text. What it accepts and refuses is what PyTorch 2.13's parser does (tests/conformance).
#include <cctype>
#include <charconv>
#include <cstdlib>

#include "core/dispatch/error.h"
#include "core/dispatch/schema.h"

namespace peel::core {
namespace {

constexpr std::string_view kPlainTypes[] = {"Tensor", "Generator", "ScalarType", "Layout", "MemoryFormat", "Storage", "QScheme", "Quantizer",
                                            "ConstQuantizerPtr", "Device", "DeviceIndex", "Stream", "Scalar", "str", "float", "complex",
                                            "int", "SymInt", "SymBool", "bool", "None", "NoneType", "Capsule", "Any", "AnyClassType", "AnyEnumType"};
struct Constant {
  std::string_view name;
  int64_t value;
};
// Words that stand for numbers: memory formats and layouts, reductions, dtypes, as PyTorch numbers them.
constexpr Constant kConstants[] = {{"contiguous_format", 0}, {"preserve_format", 1}, {"channels_last", 2}, {"strided", 0}, {"sparse", 1}, {"Mean", 1},
                                   {"byte", 0}, {"char", 1}, {"short", 2}, {"int", 3}, {"long", 4}, {"half", 5}, {"float", 6}, {"double", 7},
                                   {"complex_half", 8}, {"complex_float", 9}, {"complex_double", 10}, {"bool", 11}, {"bfloat16", 15}};

class Parser {
 public:
  explicit Parser(std::string_view text) : text_(text) { next(); }

  FunctionSchema schema() {
    FunctionSchema s;
    s.name = operator_name();
    if (kind_ == Token::kEnd) throw Error("Tried to parse a function schema but only the operator name was given");
    if (!is("(")) fail_expected("eof");
    next();
    bool keyword_only = false;
    if (!accept(")")) {
      do {
        if (s.variadic_arguments) fail("... must be the last element of the argument list");
        if (accept("*")) {
          keyword_only = true;
        } else if (accept("...")) {
          s.variadic_arguments = true;
        } else {
          s.arguments.push_back(argument(false, keyword_only));
        }
      } while (accept(","));
      expect(")");
    }
    expect("->");
    if (accept("...")) {
      s.variadic_returns = true;
    } else if (is("(")) {
      returns(&s);
    } else {
      s.returns.push_back(argument(true, false));
    }
    if (kind_ != Token::kEnd) fail_expected("eof");
    check_defaults(s);
    return s;
  }

  OperatorName operator_name() {
    OperatorName n{identifier(), {}};
    if (accept(":")) {
      expect(":");
      n.name += "::" + identifier();
    }
    if (accept(".")) {
      n.overload = identifier();
      if (n.overload == "default" || n.overload.starts_with("__")) {
        throw Error(n.overload + " is not a legal overload name for aten operators");
      }
    }
    return n;
  }
  void only_a_name() const {
    if (is("(")) throw Error("Tried to parse an operator name but function schema was given");
    if (kind_ != Token::kEnd) fail_expected("eof");
  }

 private:
  enum class Token : uint8_t { kWord, kNumber, kString, kMark, kEnd };

  // Lists may lack one after others that have one.
  static void check_defaults(const FunctionSchema& s) {
    bool seen = false;
    for (const Argument& a : s.arguments) {
      if (a.default_value) {
        seen = true;
      } else if (seen && !a.keyword_only && a.type.kind != Type::Kind::kList) {
        throw Error("Non-default positional argument follows default argument. Parameter " + a.name + " in " + s.text());
      }
    }
  }

  void next() {
    while (at_ < text_.size() && (std::isspace(static_cast<unsigned char>(text_[at_])) || text_[at_] == '#')) {
      if (text_[at_] == '#') {
        while (at_ < text_.size() && text_[at_] != '\n') ++at_;
      } else {
        ++at_;
      }
    }
    begin_ = at_;
    if (at_ == text_.size()) {
      kind_ = Token::kEnd;
      token_ = {};
      return;
    }
    const auto c = static_cast<unsigned char>(text_[at_]);
    if (std::isalpha(c) || c == '_') {
      while (at_ < text_.size() && (std::isalnum(static_cast<unsigned char>(text_[at_])) || text_[at_] == '_')) ++at_;
      kind_ = Token::kWord;
    } else if (std::isdigit(c)) {
      number();
    } else if (c == '"' || c == '\'') {
      ++at_;
      while (at_ < text_.size() && text_[at_] != static_cast<char>(c)) at_ += text_[at_] == '\\' ? 2 : 1;
      if (at_ >= text_.size()) fail("unterminated string");
      ++at_;
      kind_ = Token::kString;
    } else {
      static constexpr std::string_view longer[] = {"...", "->"};
      size_t length = 1;
      for (const auto mark : longer) {
        if (text_.substr(at_, mark.size()) == mark) length = mark.size();
      }
      at_ += length;
      kind_ = Token::kMark;
    }
    token_ = text_.substr(begin_, at_ - begin_);
  }

  void number() {
    char* end = nullptr;
    const std::string rest(text_.substr(at_, 64));
    std::strtod(rest.c_str(), &end);
    at_ += static_cast<size_t>(end - rest.c_str());
    if (at_ < text_.size() && text_[at_] == 'j') ++at_;
    kind_ = Token::kNumber;
  }

  [[noreturn]] void fail(const std::string& what) const {
    throw Error("\n" + what + ":\n" + std::string(text_) + "\n" + std::string(begin_, ' ') + std::string(token_.empty() ? 1 : token_.size(), '~') +
                " <--- HERE\n");
  }
  [[noreturn]] void fail_expected(const std::string& what) const {
    static constexpr const char* kinds[] = {"ident", "number", "string literal", "", "eof"};
    const std::string found = kind_ == Token::kMark ? (token_ == "->" ? "arrow" : std::string(token_)) : kinds[static_cast<int>(kind_)];
    std::string out = "expected " + what + " but found '" + found + "' here:\n" + std::string(text_) + "\n";
    if (kind_ != Token::kEnd) out += std::string(begin_, ' ') + std::string(token_.size(), '~') + " <--- HERE\n";
    throw Error(out);
  }
  bool is(std::string_view mark) const { return kind_ == Token::kMark && token_ == mark; }
  bool is_word(std::string_view word) const { return kind_ == Token::kWord && token_ == word; }
  bool accept(std::string_view mark) {
    if (!is(mark)) return false;
    next();
    return true;
  }
  void expect(std::string_view mark) {
    if (!accept(mark)) fail_expected(mark == "->" ? "arrow" : std::string(mark));
  }
  std::string identifier() {
    if (kind_ != Token::kWord) fail_expected("ident");
    std::string out(token_);
    next();
    return out;
  }

  void returns(FunctionSchema* s) {
    expect("(");
    if (accept(")")) return;
    do {
      if (s->variadic_returns) fail("... must be the last element of the return list");
      if (accept("...")) {
        s->variadic_returns = true;
      } else {
        s->returns.push_back(argument(true, false));
      }
    } while (accept(","));
    expect(")");
  }

  struct Typed {
    Type type;
    std::optional<AliasInfo> alias, element;
    std::optional<int> size;
  };

  Argument argument(bool is_return, bool keyword_only) {
    Typed t = typed();
    Argument a{{}, std::move(t.type), t.size, {}, std::move(t.alias), std::move(t.element), keyword_only};
    if (is_return) {
      if (kind_ == Token::kWord) a.name = identifier();
      return a;
    }
    a.name = identifier();
    if (accept("=")) a.default_value = default_value(a.type, a.size);
    return a;
  }

  std::optional<AliasInfo> alias() {
    if (!is("(")) return std::nullopt;
    next();
    AliasInfo a;
    a.before = alias_sets();
    a.write = accept("!");
    a.after = accept("->") ? alias_sets() : a.before;
    expect(")");
    return a;
  }
  std::vector<std::string> alias_sets() {
    std::vector<std::string> out;
    do {
      if (accept("*")) {
        out.emplace_back("*");
      } else {
        out.push_back(identifier());
      }
    } while (accept("|"));
    return out;
  }

  Typed typed() {
    Typed t;
    if (accept("(")) {
      t.type.kind = Type::Kind::kTuple;
      do t.type.inner.push_back(typed().type);
      while (accept(","));
      expect(")");
    } else {
      const size_t begin = begin_;
      const std::string_view token = token_;
      std::string name = identifier();
      if (name == "Dict" || name == "Future" || name == "RRef" || name == "Await") {
        t.type = {Type::Kind::kGeneric, name, {}};
        expect("(");
        do t.type.inner.push_back(typed().type);
        while (accept(","));
        expect(")");
        if (t.type.inner.size() != (name == "Dict" ? 2u : 1u)) fail("wrong number of types in " + name);
      } else if (name == "__torch__") {
        while (accept(".")) name += "." + identifier();
        t.type.name = name;
      } else if (std::islower(static_cast<unsigned char>(name[0])) && name[0] == 't') {
        t.type = {Type::Kind::kVariable, name, {}};
      } else {
        bool known = false;
        for (const auto plain : kPlainTypes) known = known || plain == name;
        if (!known) {
          begin_ = begin;
          token_ = token;
          fail("unknown type specifier. Common valid schema types include Tensor, SymInt, int, float, bool, Scalar; for a full list, please see "
               "https://github.com/pytorch/pytorch/blob/main/aten/src/ATen/native/README.md#func ");
        }
        t.type.name = name == "DeviceIndex" || name == "ConstQuantizerPtr" ? "int" : name == "None" ? "NoneType" : name;
      }
      t.alias = alias();
    }
    suffixes(&t);
    return t;
  }

  void suffixes(Typed* t) {
    while (true) {
      if (is("[")) {
        next();
        t->size.reset();
        t->type = {Type::Kind::kList, {}, {std::move(t->type)}};
        if (!accept("]")) {
          if (kind_ != Token::kNumber) fail_expected("number");
          t->size = std::atoi(std::string(token_).c_str());
          next();
          expect("]");
          t->element = std::move(t->alias);
          t->alias = alias();
          if (accept("?")) t->type = {Type::Kind::kOptional, {}, {std::move(t->type)}};
          return;
        }
        t->element = std::move(t->alias);
        t->alias = alias();
      } else if (accept("?")) {
        if (t->type.kind != Type::Kind::kOptional) t->type = {Type::Kind::kOptional, {}, {std::move(t->type)}};
      } else {
        return;
      }
    }
  }

  IValue default_value(const Type& type, std::optional<int> size) {
    if (is_word("None")) {
      next();
      return {};
    }
    if (type.is("Device") && kind_ == Token::kString) {
      Device d;
      const std::string text = string();
      if (!parse_device(text, &d)) throw Error("Invalid device string: '" + text + "'");
      return d;
    }
    if (type.kind != Type::Kind::kList) return constant(type);
    const Type& element = type.element();
    if (size && !is("[")) {  // `int[2] x=1`: the one value, as often as the size says
      return IValue::list(std::vector<IValue>(static_cast<size_t>(*size), constant(element)));
    }
    if (!element.is("int") && !element.is("SymInt") && !element.is("float") && !element.is("complex") && !element.is("bool") &&
        !element.is("Tensor")) {
      fail("lists are only supported for float, int and complex types");
    }
    expect("[");
    std::vector<IValue> values;
    if (!accept("]")) {
      do values.push_back(constant(element));
      while (accept(","));
      expect("]");
    }
    return IValue::list(std::move(values));
  }

  IValue constant(const Type& type) {
    if (kind_ == Token::kString) return string();
    if (kind_ == Token::kWord) {
      const std::string_view word = token_;
      if (word == "True" || word == "False") {
        next();
        return word == "True";
      }
      for (const Constant& c : kConstants) {
        if (c.name != word) continue;
        next();
        return c.value;
      }
      next();
      fail("invalid numeric default value");
    }
    const bool negative = accept("-");
    if (kind_ != Token::kNumber) fail_expected("number");
    const std::string text = (negative ? "-" : "") + std::string(token_);
    next();
    if (text.back() == 'j') return std::complex<double>(0, std::strtod(text.c_str(), nullptr));
    const bool whole = text.find_first_of(".eE") == std::string::npos && !type.is("float") && !type.is("complex");
    return whole || type.is("int") || type.is("SymInt") ? IValue(int64_t{std::strtoll(text.c_str(), nullptr, 0)})
                                                        : IValue(std::strtod(text.c_str(), nullptr));
  }

  std::string string() {
    std::string out;
    for (size_t i = 1; i + 1 < token_.size(); ++i) {
      if (token_[i] != '\\') {
        out += token_[i];
        continue;
      }
      const char c = token_[++i];
      static constexpr std::string_view from = "abfnrtv", to = "\a\b\f\n\r\t\v";
      if (const size_t at = from.find(c); at != std::string_view::npos) {
        out += to[at];
      } else if (c >= '0' && c <= '7') {
        int value = 0;
        for (int n = 0; n < 3 && i + 1 < token_.size() && token_[i] >= '0' && token_[i] <= '7'; ++n) value = value * 8 + (token_[i++] - '0');
        --i;
        out += static_cast<char>(value);
      } else {
        out += c;
      }
    }
    next();
    return out;
  }

  std::string_view text_, token_;
  size_t at_ = 0, begin_ = 0;
  Token kind_ = Token::kEnd;
};

}  // namespace

FunctionSchema parse_schema(std::string_view text) { return Parser(text).schema(); }

OperatorName OperatorName::parse(std::string_view text) {
  Parser p(text);
  OperatorName n = p.operator_name();
  p.only_a_name();
  return n;
}

}  // namespace peel::core
