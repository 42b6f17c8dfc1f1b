#include "sessions/filter.h"
#include "tests/catch.h"
#include "tests/unit/sessions/made_session.h"

using namespace peel;
using namespace peel::test;
using wire::glob_match;

namespace {

std::vector<uint32_t> ids(const Session& s, const std::string& text) {
  const auto f = Filter::parse(text);
  INFO(text << ": " << (f ? "" : f.error()));
  REQUIRE(f);
  std::vector<uint32_t> out;
  for (const EventId e : (*f).matches(s)) out.push_back(e.value);
  return out;
}
using Ids = std::vector<uint32_t>;

}  // namespace

TEST_CASE("globs", "[sessions][filter]") {
  CHECK(glob_match("a*b?c", "aXXbYc"));
  CHECK(glob_match("*", ""));
  CHECK(glob_match("autograd*", "AutogradCPU"));
  CHECK_FALSE(glob_match("a?", "a"));
  CHECK_FALSE(glob_match("", "a"));
  CHECK(glob_match("*a*a*a*a*a*b", std::string(2000, 'a') + "b"));
  CHECK_FALSE(glob_match("*a*a*a*a*a*b", std::string(5000, 'a')));
  CHECK(operator_matches("add", "aten::add.Tensor"));
  CHECK(operator_matches("add.Tensor", "aten::add.Tensor"));
  CHECK(operator_matches("aten::add", "aten::add.Tensor"));
  CHECK(operator_matches("aten::*", "aten::add.Tensor"));
  CHECK_FALSE(operator_matches("add", "aten::add_.Tensor"));
}

TEST_CASE("terms select hops", "[sessions][filter]") {
  MadeSession m;
  const uint32_t add = m.op("aten::add", "Tensor"), detach = m.op("aten::detach"), mm = m.op("aten::mm");
  const uint32_t line12 = m.frame("/home/me/train.py", 12), line30 = m.frame("/home/me/net.py", 30, "forward", line12);
  m.hop({.op = add, .key = "AutogradCPU", .keyset = 0x1000010001, .stack = line12});                                                        // 1
  m.hop({.parent = 1, .op = add, .kind = Kind::kRedispatch, .key = "CPU", .keyset = 0x10001, .stack = line12});                             // 2
  m.hop({.op = detach, .key = "AutogradCPU", .keyset = 0x1400010001, .stack = line30});                                                     // 3
  m.hop({.op = mm, .kind = Kind::kCallBoxed, .key = "AutocastCPU", .keyset = 0x8000010001, .stack = line30, .thread = 2, .flags = kRaised}); // 4
  m.hop({.kind = Kind::kBackwardNode});                                                                                                     // 5
  m.node(1, "AddBackward0", 0);
  m.sql("INSERT INTO node_run VALUES(1, 1, 5, 1, NULL)");
  m.sql("INSERT INTO error VALUES(4, 'RuntimeError', 'shapes do not fit')");
  const auto s = m.open();
  CHECK(ids(*s, "") == Ids{1, 2, 3, 4, 5});
  CHECK(ids(*s, "add") == Ids{1, 2});
  CHECK(ids(*s, "op:add,mm") == Ids{1, 2, 4});
  CHECK(ids(*s, "aten::add.Tensor key:Autograd*") == Ids{1});
  CHECK(ids(*s, "key:Autograd* -op:detach") == Ids{1});
  CHECK(ids(*s, "kind:redispatch") == Ids{2});
  CHECK(ids(*s, "kind:call") == Ids{1, 3, 4});
  CHECK(ids(*s, "kind:boxed") == Ids{4});
  CHECK(ids(*s, "kind:backward*") == Ids{5});
  CHECK(ids(*s, "line:12") == Ids{1, 2});
  CHECK(ids(*s, "line:10-30") == Ids{1, 2, 3, 4});
  CHECK(ids(*s, "line:net.py:30") == Ids{3, 4});
  CHECK(ids(*s, "file:net.py") == Ids{3, 4});
  CHECK(ids(*s, "file:/home/me/*") == Ids{1, 2, 3, 4});
  CHECK(ids(*s, "-file:net.py") == Ids{1, 2, 5});
  CHECK(ids(*s, "node:") == Ids{1, 5});
  CHECK(ids(*s, "node:Add*") == Ids{1, 5});
  CHECK(ids(*s, "-node:") == Ids{2, 3, 4});
  CHECK(ids(*s, "error:") == Ids{4});
  CHECK(ids(*s, "error:RuntimeError") == Ids{4});
  CHECK(ids(*s, "\"error:do not\"") == Ids{4});
  CHECK(ids(*s, "error:KeyError") == Ids{});
  CHECK(ids(*s, "thread:2") == Ids{4});
  CHECK(ids(*s, "thread:main key:CPU") == Ids{2});
  CHECK(ids(*s, "-detach -mm") == Ids{1, 2, 5});
  const auto f = Filter::parse("add");
  CHECK((*f).match(*s, EventId{1}));
  CHECK_FALSE((*f).match(*s, EventId{3}));
  CHECK((*f).matches(*s, EventId{2}, EventId{2}) == std::vector<EventId>{EventId{2}});
}

TEST_CASE("what can't be understood is said with its place", "[sessions][filter]") {
  const auto error = [](const std::string& text) {
    const auto f = Filter::parse(text);
    return f ? std::string("parsed") : f.error();
  };
  CHECK(error("foo:bar").find("there is no term `foo:` (at character 1)") == 0);
  CHECK(error("add  oops:1").find("(at character 6)") != std::string::npos);
  CHECK(error("op:").find("`op:` needs something behind it") == 0);
  CHECK(error("key:CPU,,CUDA").find("`key:` needs") == 0);
  CHECK(error("-").find("a lone `-`") == 0);
  CHECK(error("line:abc").find("`abc` is no line") == 0);
  CHECK(error("line:1-").find("is no line") != std::string::npos);
  CHECK(error("\"open").find("a quote is opened") == 0);
  CHECK(error("aten::add") == "parsed");
  CHECK(error("   ") == "parsed");
}

TEST_CASE("a filter says what it matches", "[sessions][filter]") {
  const auto say = [](const std::string& text) { return (*Filter::parse(text)).explain(); };
  CHECK(say("") == "every hop");
  CHECK(say("key:Autograd* -op:detach") == "hops at key Autograd*, but not of operator detach");
  CHECK(say("add,mul line:17") == "hops of operator add or mul, from line 17");
  CHECK(say("node:") == "hops that made or ran a node");
}
