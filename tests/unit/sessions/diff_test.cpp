#include "sessions/diff.h"

#include <algorithm>
#include <random>

#include "tests/catch.h"
#include "tests/unit/sessions/made_session.h"

using namespace peel;
using namespace peel::test;

namespace {

constexpr uint64_t kAutograd = 0x1000010001, kView = 0x400010001, kCpu = 0x10001;

/// A program as letters: each is a call of that operator on a line of its own. Upper case: with a node.
/// A digit behind it: the line. `!`: the call before it skips autograd.
struct Made {
  MadeSession m;
  uint32_t inference = 0;

  uint32_t op_of(char c) {
    const auto i = static_cast<size_t>(std::tolower(c) - 'a');
    if (ops_.size() <= i) ops_.resize(i + 1);
    if (!ops_[i]) ops_[i] = m.op(std::string("aten::") + static_cast<char>(std::tolower(c)));
    return ops_[i];
  }
  /// A call through AutogradCPU to CPU; `tls` 2: straight to CPU.
  uint32_t call(char c, int line, bool skip = false, uint32_t parent = 0) {
    const uint32_t stack = m.frame("/home/me/train.py", line), op = op_of(c);
    if (skip && !inference) inference = m.tls(kIncludedInference, kExcludedInference, false, true);
    const uint32_t id = skip ? m.hop({.parent = parent, .op = op, .key = "CPU", .keyset = kCpu, .arg_keyset = kCpuTensor, .tls = inference, .stack = stack})
                             : m.hop({.parent = parent, .op = op, .key = "AutogradCPU", .keyset = kAutograd, .arg_keyset = kCpuTensor, .stack = stack});
    if (!skip) m.hop({.parent = id, .op = op, .kind = Kind::kRedispatch, .key = "CPU", .keyset = kCpu, .stack = stack});
    if (std::isupper(c)) m.node(id, std::string(1, c) + "Backward0", 1);
    return id;
  }
  std::unique_ptr<Session> program(const std::string& text) {
    int line = 0;
    for (size_t i = 0; i < text.size(); ++i) {
      line = i + 1 < text.size() && std::isdigit(text[i + 1]) ? text[i + 1] - '0' : 10 + std::tolower(text[i]);
      const bool digit = i + 1 < text.size() && std::isdigit(text[i + 1]);
      const size_t after = i + (digit ? 2 : 1);
      const bool skip = after < text.size() && text[after] == '!';
      call(text[i], line, skip);
      i = after - 1 + skip;
    }
    return m.open();
  }

 private:
  std::vector<uint32_t> ops_;
};

std::string text_of(const Session& l, const Session& r, const Diff& d) {
  std::string out;
  for (const DiffRow& row : d.rows) {
    if (row.depth) continue;
    const char* sign[] = {"=", "~", "-", "+"};
    const Session& s = row.left ? l : r;
    out += sign[static_cast<size_t>(row.state)] + s.op(s.event(row.left ? row.left : row.right).op).brief;
  }
  return out;
}

std::string compared(const std::string& left, const std::string& right) {
  Made l, r;
  const auto a = l.program(left), b = r.program(right);
  const Diff d = diff({a.get(), {}}, {b.get(), {}}), back = diff({b.get(), {}}, {a.get(), {}});
  // diff(b, a) is diff(a, b) mirrored.
  const auto facts = [](const Diff& of, bool mirror) {
    std::vector<std::tuple<uint32_t, uint32_t, int, uint16_t>> out;
    for (const DiffRow& row : of.rows) {
      auto state = row.state;
      if (mirror && state == DiffState::kLeft) state = DiffState::kRight;
      else if (mirror && state == DiffState::kRight) state = DiffState::kLeft;
      const uint32_t x = row.left.value, y = row.right.value;
      out.emplace_back(mirror ? y : x, mirror ? x : y, static_cast<int>(state), row.what);
    }
    std::sort(out.begin(), out.end());
    return out;
  };
  CHECK(facts(d, false) == facts(back, true));
  return text_of(*a, *b, d);
}

}  // namespace

TEST_CASE("calls are paired by operator, line and neighbourhood", "[sessions][diff]") {
  CHECK(compared("abcd", "abcd") == "=a=b=c=d");
  CHECK(compared("abcd", "abxcd") == "=a=b+x=c=d");
  CHECK(compared("abcd", "acd") == "=a-b=c=d");
  CHECK(compared("abcd", "abxd") == "=a=b-c+x=d");
  CHECK(compared("abcdef", "acdebf") == "=a-b=c=d=e+b=f");
  CHECK(compared("", "ab") == "+a+b");
  CHECK(compared("", "") == "");
  // Repeated lines: one round less, and a call of its own in the third.
  CHECK(compared("abcabcabcabc", "abcabcabxc") == "=a=b=c=a=b=c=a=b+x=c-a-b-c");
  // The same operator on another line is paired in a second look.
  CHECK(compared("a1b2c3", "a1b7c3") == "=a=b=c");
  CHECK(compared("a1a2a3", "a1a3") == "=a-a=a");
}

TEST_CASE("what changed is told: layers, nodes, values, what is inside", "[sessions][diff]") {
  CHECK(compared("abc", "ab!c") == "=a~b=c");
  CHECK(compared("aBc", "abc") == "=a~b=c");
  Made l, r;
  const auto a = l.program("aBc"), b = r.program("ab!c");
  const DiffSide left{a.get(), {}}, right{b.get(), {}};
  const Diff d = diff(left, right);
  REQUIRE(d.rows.size() == 3);
  CHECK(d.differ() == 1);
  CHECK(d.first() == 1);
  CHECK(d.next(1) == SIZE_MAX);
  CHECK(d.previous(3) == 1);
  CHECK(d.rows[1].what == (diff_what::kLayers | diff_what::kKeyset | diff_what::kNode));
  const auto causes = layer_causes(*a, *b, d.rows[1]);
  REQUIRE(causes.size() == 1);
  CHECK(causes[0].key == "AutogradCPU");
  CHECK(causes[0].ran_left);
  CHECK(causes[0].verdict == Verdict::kExcluded);
  CHECK(causes[0].words == "excluded by inference_mode");
  CHECK(causes[0].since == "since hop 3");
  CHECK(diff_reason(*a, *b, d.rows[1]) == "AutogradCPU skipped: excluded by inference_mode (since hop 3); node BBackward0 -> none");
  const Diff back = diff(right, left);
  CHECK(diff_reason(*b, *a, back.rows[1], true) == "AutogradCPU excluded by inference_mode on the left; node none -> BBackward0");
  CHECK(diff_headline(left, right, d) == "1 of 3 calls differs: inference_mode excludes AutogradCPU; grad runs it and makes nodes.");
}

TEST_CASE("values, dtypes, shapes and devices", "[sessions][diff]") {
  const auto made = [](const char* number, const char* dtype, const char* shape, const char* device) {
    Made p;
    const uint32_t id = p.call('a', 1);
    p.m.argument(id, 0, 1, kCpuTensor);
    p.m.argument(id, 1, 0, 0, number);
    p.m.argument(id, 2, 0, 0, "<Generator at 0x7f001234" + std::string(number) + ">");
    p.m.argument(id, 0, 2, kCpuTensor, "", "", true);
    p.m.sql("UPDATE tensor_meta SET dtype=" + std::to_string(p.m.string(dtype)) + ", shape=" + std::to_string(p.m.string(shape)) + ", device=" + std::to_string(p.m.string(device)) +
            " WHERE id=2");
    return p.m.open();
  };
  const auto base = made("1", "float32", "[2,3]", "cpu");
  const auto against = [&](const char* number, const char* dtype, const char* shape, const char* device) {
    const auto other = made(number, dtype, shape, device);
    const Diff d = diff({base.get(), {}}, {other.get(), {}});
    return std::pair{d.rows[0].what, d.rows[0].what ? diff_reason(*base, *other, d.rows[0]) : ""};
  };
  CHECK(against("1", "float32", "[2,3]", "cpu") == std::pair<uint16_t, std::string>{0, ""});
  CHECK(against("2", "float32", "[2,3]", "cpu").first == diff_what::kValues);
  CHECK(against("1", "float16", "[2,3]", "cpu") == std::pair<uint16_t, std::string>{diff_what::kDtype, "result f32[2,3] -> f16[2,3]"});
  CHECK(against("1", "float32", "[2,4]", "cpu") == std::pair<uint16_t, std::string>{diff_what::kShape, "result f32[2,3] -> f32[2,4]"});
  CHECK(against("1", "float32", "[2,3]", "cuda:0") == std::pair<uint16_t, std::string>{diff_what::kDevice, "result f32[2,3] cpu -> f32[2,3] cuda:0"});
}

TEST_CASE("inside aligned calls: by operator and key; time is no difference", "[sessions][diff]") {
  const auto made = [](bool more, bool other_key, int64_t end) {
    Made p;
    const uint32_t outer = p.m.hop({.op = p.op_of('z'), .key = "AutogradCPU", .keyset = kAutograd, .arg_keyset = kCpuTensor, .end = end});
    p.call('a', 1, false, outer);
    if (more) p.call('x', 1, true, outer);
    p.call('b', 1, other_key, outer);
    return p.m.open();
  };
  const auto base = made(false, false, 90000), slow = made(false, false, 900000), inserted = made(true, false, 90000), changed = made(false, true, 90000);
  CHECK(diff({base.get(), {}}, {slow.get(), {}}).differ() == 0);
  const Diff d = diff({base.get(), {}}, {inserted.get(), {}});
  REQUIRE(d.rows.size() == 4);
  CHECK(d.rows[0].what == diff_what::kInside);
  CHECK(d.rows[0].below == 3);
  CHECK(d.rows[0].differ == 1);
  CHECK(d.rows[2].state == DiffState::kRight);
  CHECK(d.rows[2].depth == 1);
  CHECK(d.first() == 2);  // the outer row differs only inside
  CHECK(diff_reason(*base, *inserted, d.rows[0]) == "1 difference inside");
  const Diff c = diff({base.get(), {}}, {changed.get(), {}});
  REQUIRE(c.rows.size() == 3);
  CHECK(c.rows[2].state == DiffState::kChanged);
  CHECK((c.rows[2].what & diff_what::kLayers));
}

TEST_CASE("spans of one session, and lines that ran under several modes", "[sessions][diff]") {
  Made p;
  const uint32_t no_grad = p.m.tls(kIncludedDefault, kExcludedDefault, false);
  p.call('s', 1);  // set-up
  const uint32_t from = p.call('a', 5);
  p.call('b', 6);
  p.call('c', 30);  // another line
  for (const char c : {'a', 'b'}) {
    const uint32_t op = p.op_of(c), stack = p.m.frame("/home/me/train.py", c == 'a' ? 5 : 6);
    const uint32_t id = p.m.hop({.op = op, .key = "AutogradCPU", .keyset = kAutograd, .arg_keyset = kCpuTensor, .tls = no_grad, .stack = stack});
    p.m.hop({.parent = id, .op = op, .kind = Kind::kRedispatch, .key = "CPU", .keyset = kCpu, .tls = no_grad, .stack = stack});
  }
  p.call('a', 5, true);
  p.call('b', 6, true);
  const auto s = p.m.open();
  std::vector<std::string> names;
  for (const DiffScope& d : mode_scopes(*s)) names.push_back(d.name);
  CHECK(names == std::vector<std::string>{"mode:grad", "mode:no_grad", "mode:inference_mode"});
  DiffSide left{s.get(), {}}, right{s.get(), {}};
  REQUIRE(mode_pair(*s, &left.scope, &right.scope));
  CHECK(left.scope.name == "mode:no_grad");
  CHECK(scope_text(*s, left.scope) == "hops 9 to 12, train.py:5 to 6");
  CHECK(scope_around(*s, EventId{from}).name == "mode:grad");
  const Diff d = diff(left, right);
  CHECK(d.changed == 2);
  CHECK(d.totals[0].hops == 4);
  CHECK(d.totals[1].hops == 2);
  CHECK(diff_headline(left, right, d) == "2 of 2 calls differ: inference_mode excludes AutogradCPU; no_grad runs it and makes no node.");
  std::string text;
  diff_text(left, right, d, false, [&](std::string_view line) { text += std::string(line) + "\n"; });
  CHECK(text.find("changed    b     AG CPU      ->  CPU          same\n2 of 2 calls differ, first: a (train.py:5); hops 4 | 2; nodes 0 | 0") != std::string::npos);
  const auto parsed = parse_scope(*s, "3-6");
  REQUIRE(parsed);
  CHECK((*parsed).last == EventId{6});
  CHECK_FALSE(parse_scope(*s, "6-3"));
  CHECK_FALSE(parse_scope(*s, "99"));
  CHECK(parse_scope(*s, "no such").error().find("mode:no_grad") != std::string::npos);
  const Diff same = diff({s.get(), *parsed}, {s.get(), *parsed});
  CHECK(same.differ() == 0);
}

TEST_CASE("a session does not differ from itself, and differences mirror", "[sessions][diff]") {
  std::mt19937 random(5);
  for (int round = 0; round < 12; ++round) {
    std::string text[2];
    for (std::string& t : text)
      for (size_t i = random() % 14; i-- > 0;) {
        t += static_cast<char>((random() % 3 ? 'a' : 'A') + random() % 4);
        if (random() % 4 == 0) t += '!';
      }
    Made one, two;
    const auto a = one.program(text[0]), b = two.program(text[0]);
    CHECK(diff({a.get(), {}}, {a.get(), {}}).differ() == 0);
    CHECK(diff({a.get(), {}}, {b.get(), {}}).differ() == 0);
    compared(text[0], text[1]);
  }
}

TEST_CASE("nesting without end neither overflows nor hides a difference", "[sessions][diff]") {
  const auto made = [](const char* last) {
    MadeSession m;
    const uint32_t a = m.op("aten::a"), b = m.op("aten::b");
    uint32_t parent = 0;
    for (int i = 0; i < 3000; ++i) parent = m.hop({.parent = parent, .op = i % 2 ? a : b, .key = "CPU", .keyset = kCpu});
    m.hop({.parent = parent, .op = a, .key = last, .keyset = kCpu});
    return m.open();
  };
  const auto one = made("CPU"), other = made("CUDA");
  CHECK(diff({one.get(), {}}, {one.get(), {}}).differ() == 0);
  const Diff d = diff({one.get(), {}}, {other.get(), {}});
  CHECK(d.differ() == 1);
  CHECK(d.rows.size() <= 200);
  CHECK(diff_reason(*one, *other, d.rows.back()) == "differs far inside");
  CHECK(d.first() == d.rows.size() - 1);  // one stops there all the same
}

TEST_CASE("threads are paired by what they did, not by which began first", "[sessions][diff]") {
  const auto made = [](bool swapped) {
    Made p;
    p.m.sql("INSERT INTO thread VALUES(3,102,1,'worker')");
    p.call('m', 1);
    for (int i = 0; i < 6; ++i) {
      const bool second = (i < 3) == swapped;
      p.m.hop({.op = p.op_of(second ? 'b' : 'a'), .key = "CPU", .keyset = kCpu, .stack = p.m.frame("/home/me/train.py", second ? 6 : 5), .thread = i < 3 ? 2u : 3u});
    }
    return p.m.open();
  };
  const auto one = made(false), other = made(true);
  const Diff d = diff({one.get(), {}}, {other.get(), {}});
  CHECK(d.differ() == 0);
  CHECK(d.same == 7);
}
