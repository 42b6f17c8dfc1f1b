// The schema language: structures, printing, errors. All of stock's schemas are in tests/conformance/dispatch_schemas.py.
#include "tests/unit/core/support.h"

using namespace peel::core;

TEST_CASE("a schema parses into its parts", "[core][schema]") {
  const FunctionSchema s = parse_schema(
      "aten::conv.out(Tensor(a) self, Tensor? bias=None, SymInt[2] stride=1, *, ScalarType? dtype=None, Tensor(b!)[] out) -> (Tensor(a), int n)");
  CHECK(s.name == OperatorName{"aten::conv", "out"});
  CHECK(s.name.space() == "aten");
  REQUIRE(s.arguments.size() == 5);
  CHECK(s.arguments[0].alias->before == std::vector<std::string>{"a"});
  CHECK_FALSE(s.arguments[0].alias->write);
  CHECK(s.arguments[1].type.kind == Type::Kind::kOptional);
  CHECK(s.arguments[1].default_value->is_none());
  CHECK(s.arguments[2].size == 2);
  CHECK(s.arguments[2].default_value->to_list() == std::vector<IValue>{1, 1});
  CHECK_FALSE(s.arguments[2].keyword_only);
  CHECK(s.arguments[3].keyword_only);
  CHECK(s.arguments[4].element_alias->write);
  CHECK_FALSE(s.arguments[4].alias);
  CHECK(s.returns[1].name == "n");
  // Tensor, Tensor?, Tensor[] give keys; a list within a list does not.
  CHECK(s.arguments[0].type.gives_keys());
  CHECK(s.arguments[1].type.gives_keys());
  CHECK(s.arguments[4].type.gives_keys());
  CHECK_FALSE(s.arguments[3].type.gives_keys());
  CHECK(parse_schema("a::b(Tensor?[] x) -> ()").arguments[0].type.gives_keys());
  CHECK_FALSE(parse_schema("a::b(Tensor[][] x) -> ()").arguments[0].type.gives_keys());
}

TEST_CASE("printing what was parsed is a fixed point", "[core][schema]") {
  for (const char* text : {"aten::add.Tensor(Tensor self, Tensor other, *, Scalar alpha=1) -> Tensor", "a::b() -> ()", "a::b(...) -> ...",
                           "a::b(Tensor(a! -> *) x, Dict(str, Tensor[]) d, (int, Tensor)[]? t) -> Tensor(a!)[]",
                           "a::b(str s=\"a\\\"b\\n\", float f=1.0000000000000001e-05, int[2] i=3, bool[2] b=[True, False], Device d=cuda:1) -> ()"}) {
    const std::string printed =
        text == std::string_view(
                    "a::b(str s=\"a\\\"b\\n\", float f=1.0000000000000001e-05, int[2] i=3, bool[2] b=[True, False], Device d=cuda:1) -> ()")
            ? parse_schema("a::b(str s='a\"b\\n', float f=1e-5, int[2] i=3, bool[2] b=[True, False], Device d='cuda:1') -> ()").text()
            : parse_schema(text).text();
    CHECK(printed == text);
  }
}

TEST_CASE("a wrong schema is refused at its place, whatever is cut off", "[core][schema]") {
  CHECK_THROWS_WITH(parse_schema("a::b(Foo x) -> ()"), Contains("unknown type specifier") && Contains("     ~~~ <--- HERE"));
  CHECK_THROWS_WITH(parse_schema("a::b"), "Tried to parse a function schema but only the operator name was given");
  CHECK_THROWS_WITH(parse_schema("a::b(int x=1, int y) -> ()"), Contains("Non-default positional argument follows default argument. Parameter y"));
  const std::string whole = "aten::f.o(Tensor(a!)[] x, Dict(str, int[2]) d, *, str s='q\\n', float[] f=[1.5, -2]) -> (Tensor(a!), int)";
  CHECK_NOTHROW(parse_schema(whole));
  for (size_t n = 0; n < whole.size(); ++n) CHECK_THROWS_AS(parse_schema(whole.substr(0, n)), Error);
  CHECK_THROWS_AS(OperatorName::parse("a::b(int x)"), Error);
}

TEST_CASE("values print as defaults do and know their types", "[core][ivalue]") {
  CHECK(to_text(IValue(1.0)) == "1.");
  CHECK(to_text(IValue(0.1)) == "0.10000000000000001");
  CHECK(to_text(IValue(1e20)) == "1e+20");
  CHECK(to_text(IValue(std::complex<double>(0, -1))) == "0.-1.j");
  CHECK(to_text(IValue::list({1, true, {}, "x"})) == "[1, True, None, x]");
  CHECK(to_text(IValue(Device{1, 0})) == "cuda:0");
  CHECK(IValue(3).to_double() == 3.0);
  CHECK_THROWS_WITH(IValue("x").to_int(), "Expected Int but got String");
  CHECK_THROWS_AS(IValue(1).to_tensor(), Error);
  CHECK_FALSE(IValue().to_tensor().defined());
  Device d;
  CHECK(parse_device("cuda:3", &d));
  CHECK(d == Device{1, 3});
  for (const char* wrong : {"", "cud", "cuda:", "cuda:x", "cuda:-1", "cuda:1x"}) CHECK_FALSE(parse_device(wrong, &d));
}

TEST_CASE("values share and free what they hold", "[core][ivalue]") {
  const Tensor t = cpu_tensor();
  CHECK(t.object()->owners() == 1);
  {
    IValue a(t), b = a;
    IValue list = IValue::list({a, b, IValue()});
    CHECK(t.object()->owners() == 5);
    CHECK(list.keys() == kCpuTensor);
    IValue moved = std::move(a);
    CHECK(a.is_none());
    b = b;
    b = IValue(1);
    CHECK(t.object()->owners() == 4);
  }
  CHECK(t.object()->owners() == 1);
}
