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
  CHECK(diff_reason(*a, *b, d, d.rows[1]) == "AutogradCPU skipped: excluded by inference_mode (since hop 3); node BBackward0 -> none");
  const Diff back = diff(right, left);
  CHECK(diff_reason(*b, *a, back, back.rows[1], true) == "AutogradCPU excluded by inference_mode on the left; node none -> BBackward0");
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
    return std::pair{d.rows[0].what, d.rows[0].what ? diff_reason(*base, *other, d, d.rows[0]) : ""};
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
  CHECK(diff_reason(*base, *inserted, d, d.rows[0]) == "1 difference inside");
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
  CHECK(diff_reason(*one, *other, d, d.rows.back()) == "differs far inside");
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

// ---- memory and kernels

namespace {

/// Calls on lines of their own, each with what it took and launched.
struct Effects {
  Made p;
  int64_t rows = 0, works = 0;
  uint64_t address = 0x1000;

  uint64_t take(uint32_t event, int64_t bytes, const char* device = "cpu", bool tensor = true) {
    address += 0x1000;
    p.m.sql("INSERT INTO memory_event VALUES(" + std::to_string(++rows) + "," + (event ? std::to_string(event) : "NULL") + ",1,NULL," + std::to_string(event * 1000 + 10) + ",0," +
            std::to_string(p.m.string(device)) + "," + std::to_string(address) + "," + std::to_string(bytes) + ",0,NULL," + (tensor ? "1" : "NULL") + ",NULL)");
    return address;
  }
  void give(uint64_t block, int64_t ns, int64_t bytes = 0, const char* device = "cpu") {
    p.m.sql("INSERT INTO memory_event VALUES(" + std::to_string(++rows) + ",NULL,1,NULL," + std::to_string(ns) + ",2," + std::to_string(p.m.string(device)) + "," + std::to_string(block) + "," +
            std::to_string(bytes) + ",0,NULL,1,NULL)");
  }
  void launch(uint32_t event, const char* kernel, int replay = 0, int64_t node = 0) {
    ++works;
    p.m.sql("INSERT INTO CUPTI_ACTIVITY_KIND_KERNEL(start, end, deviceId, contextId, streamId, correlationId, globalPid, demangledName, graphNodeId, event) VALUES(" + std::to_string(1000000 + works * 10) +
            "," + std::to_string(1000005 + works * 10) + ",0,1,7," + std::to_string(node ? 500 + replay : 1000 + works) + ",0," + std::to_string(p.m.string(kernel)) + "," + std::to_string(node) + "," +
            std::to_string(event) + ")");
  }
};

struct Compared {
  std::unique_ptr<Session> l, r;
  Diff d;
  Compared(Effects& left, Effects& right) : l(left.p.m.open()), r(right.p.m.open()), d(diff({l.get(), {}}, {r.get(), {}})) {
    const Diff back = diff({r.get(), {}}, {l.get(), {}});
    REQUIRE(back.rows.size() == d.rows.size());
    for (size_t i = 0; i < d.rows.size(); ++i) {
      CHECK(back.rows[i].what == d.rows[i].what);
      CHECK(back.rows[i].left == d.rows[i].right);
    }
  }
  std::string reason(size_t i) const { return diff_reason(*l, *r, d, d.rows[i]); }
};

constexpr const char* kFill = "void at::native::vectorized_elementwise_kernel<4, at::native::FillFunctor<float>, std::array<char*, 1ul> >(int, at::native::FillFunctor<float>, std::array<char*, 1ul>)";
constexpr const char* kFillDouble = "void at::native::vectorized_elementwise_kernel<4, at::native::FillFunctor<double>, std::array<char*, 1ul> >(int, at::native::FillFunctor<double>, std::array<char*, 1ul>)";

}  // namespace

TEST_CASE("memory that calls take is compared by what was asked for, not by address or layer", "[sessions][diff]") {
  Effects l, r;
  for (Effects* e : {&l, &r}) {
    const bool right = e == &r;
    if (right) e->address = 0x90000;
    const uint32_t a = e->p.call('a', 1), b = e->p.call('b', 2), c = e->p.call('c', 3), d = e->p.call('d', 4), f = e->p.call('f', 5);
    e->take(right ? a + 1 : a, 64);  // in another layer of the same call
    e->take(b, right ? 4096 + 64 : 64);
    if (right) e->take(c, 12);
    e->take(d, 100), e->take(d, right ? 50 : 100);
    if (right) e->take(d, 50);
    e->take(f, 32, right ? "cuda:0" : "cpu");
  }
  const Compared c(l, r);
  REQUIRE(c.d.rows.size() == 5);
  CHECK(c.d.rows[0].state == DiffState::kSame);
  for (int i = 1; i < 5; ++i) CHECK(c.d.rows[size_t(i)].what == diff_what::kAllocation);
  CHECK(c.reason(1) == "allocates 4.0 KiB more on cpu");
  CHECK(c.reason(2) == "allocates 12 B on cpu, left nothing");
  CHECK(c.reason(3) == "allocates 200 B on cpu in 3 blocks where left takes 2 blocks");
  CHECK(c.reason(4) == "allocates nothing on cpu, left 32 B; allocates 32 B on cuda:0, left nothing");
  CHECK(c.d.totals[0].allocated == 360);
  CHECK(c.d.totals[1].held == 64 + 4160 + 12 + 200 + 32);
  CHECK(diff_held(c.d) == "The right holds 4.0 KiB more at its end.");
  CHECK(diff_not_compared(c.d).empty());
  std::string json;
  diff_text({c.l.get(), {}}, {c.r.get(), {}}, c.d, true, [&](std::string_view line) { json += std::string(line) + "\n"; });
  CHECK(json.find("\"what\":[\"allocation\"]") != std::string::npos);
  CHECK(json.find("\"left_allocated\":{\"cpu\":{\"blocks\":2,\"bytes\":200}},\"right_allocated\":{\"cpu\":{\"blocks\":3,\"bytes\":200}},\"left_launched\":null") != std::string::npos);
}

TEST_CASE("a library's workspace is no difference, scratch memory of a kernel is", "[sessions][diff]") {
  Effects l, r;
  for (Effects* e : {&l, &r}) {
    const uint32_t a = e->p.call('a', 1), b = e->p.call('b', 2);
    e->take(a, 64, "cuda:0");
    if (e == &r) e->take(a, 32 << 20, "cuda:0", false);  // the first call of a library
    if (e == &r) e->give(e->take(b, 512, "cuda:0", false), b * 1000 + 20, 512, "cuda:0");
  }
  const Compared c(l, r);
  CHECK(c.d.rows[0].state == DiffState::kSame);
  CHECK(c.reason(1) == "allocates 512 B on cuda:0, left nothing");
  CHECK(c.d.totals[1].held - c.d.totals[0].held == 32 << 20);  // it is there all the same
}

TEST_CASE("kernels are compared by name and count, a graph's by its first replay", "[sessions][diff]") {
  Effects l, r;
  for (Effects* e : {&l, &r}) {
    const bool right = e == &r;
    const uint32_t a = e->p.call('a', 1), b = e->p.call('b', 2), c = e->p.call('c', 3), d = e->p.call('d', 4), f = e->p.call('f', 5);
    e->launch(right ? a + 1 : a, "sgemm");
    e->launch(b, right ? "void sm80_gemm<1>(float*)" : "void cublas_gemv<2>(float*)");
    e->launch(c, right ? kFillDouble : kFill);
    for (int i = 0; i < (right ? 3 : 1); ++i) e->launch(d, kFill);
    if (right) e->launch(d, "extra");
    for (int replay = 0; replay < (right ? 4 : 2); ++replay) e->launch(f, "captured", replay, 77);
  }
  const Compared c(l, r);
  REQUIRE(c.d.rows.size() == 5);
  CHECK(c.d.rows[0].state == DiffState::kSame);
  CHECK(c.d.rows[4].state == DiffState::kSame);
  CHECK(c.d.rows[1].what == diff_what::kLaunched);
  CHECK(c.reason(1) == "launches `sm80_gemm` where left launches `cublas_gemv`");
  CHECK(c.reason(2) == "launches `vectorized_elementwise_kernel<…FillFunctor<double>, array<char*, 1ul>>` where left launches `vectorized_elementwise_kernel<…FillFunctor<float>, array<char*, 1ul>>`");
  CHECK(c.reason(3) == "launches also `extra`; launches `vectorized_elementwise_kernel` 3 times where left does once");
  CHECK(c.d.totals[0].launched == 5);
  CHECK(diff_not_compared(c.d) == std::vector<std::string>{"Allocation is not compared: neither recording tells of memory."});
}

TEST_CASE("where a side tells nothing of memory or GPUs they are not compared, and a sentence says so", "[sessions][diff]") {
  Effects l, r;
  l.take(l.p.call('a', 1), 64);
  const uint32_t a = r.p.call('a', 1);
  r.launch(a, "kernel");
  const Compared c(l, r);
  CHECK(c.d.differ() == 0);
  CHECK(diff_not_compared(c.d) ==
        std::vector<std::string>{"Allocation is not compared: the right recording has no allocations.", "Kernels are not compared: the left recording has no work of a GPU."});
  std::string text;
  diff_text({c.l.get(), {}}, {c.r.get(), {}}, c.d, false, [&](std::string_view line) { text += std::string(line) + "\n"; });
  CHECK(text.ends_with("Kernels are not compared: the left recording has no work of a GPU.\n"));
  CHECK(text.find("allocated") == std::string::npos);
}

TEST_CASE("what a span holds at its end: until the thread's next call", "[sessions][diff]") {
  Effects e;
  const uint32_t a = e.p.call('a', 1), b = e.p.call('b', 2), c = e.p.call('c', 3);
  const uint64_t kept = e.take(a, 100), temporary = e.take(b, 1000);
  e.take(c, 5);
  e.give(temporary, 4999);  // after b's end, before c
  e.give(kept, c * 1000 + 700);
  const auto s = e.p.m.open();
  const Diff d = diff({s.get(), *parse_scope(*s, std::to_string(a) + "-" + std::to_string(b + 1))}, {s.get(), *parse_scope(*s, std::to_string(c))});
  CHECK(d.totals[0].allocated == 1100);
  CHECK(d.totals[0].held == 100);
  CHECK(d.totals[1].allocated == 5);
  CHECK(d.totals[1].held == 5);
}

TEST_CASE("rows of memory that make no sense are no trouble", "[sessions][diff]") {
  Effects l, r;
  const uint32_t a = l.p.call('a', 1);
  r.p.call('a', 1);
  l.take(a, 8), r.take(a, 8);
  l.p.m.sql("INSERT INTO memory_event VALUES(50,999999,1,NULL,5,0,7777,-5,8,0,NULL,1,NULL),(51,1,-3,NULL,5,0,NULL,9,-8,0,NULL,1,NULL),(52,-1,NULL,NULL,-5,2,'x','y','z',0,NULL,1,NULL),"
            "(53,1,1,NULL,9223372036854775807,77,1,1,1,0,NULL,1,NULL),(54,1,1,NULL,1,0,1,1,9223372036854775807,0,NULL,1,NULL)");
  const Compared c(l, r);
  CHECK(c.d.differ() == 0);
}

TEST_CASE("kernels' names are shortened", "[sessions][diff]") {
  CHECK(kernel_brief(kFill) == "vectorized_elementwise_kernel<4, FillFunctor<float>, array<char*, 1ul>>");
  CHECK(kernel_brief("std::enable_if<true, void>::type internal::gemvx::kernel<int, float, 6>(cublasGemvParamsEx<int, float>)") == "kernel<int, float, 6>");
  CHECK(kernel_brief("void at::native::(anonymous namespace)::f(int, void (*)(int))") == "f");
  CHECK(kernel_brief("sm80_xmma_gemm_f32f32") == "sm80_xmma_gemm_f32f32");
  CHECK(kernel_brief("copy Host-to-Device") == "copy Host-to-Device");
  for (const char* odd : {"", ">", ")", "<>", "()", "a>", "a)", "((", "a<b", " ", "::", "x->y"}) kernel_brief(odd);
}
