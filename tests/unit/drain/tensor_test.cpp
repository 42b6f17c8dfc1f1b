// Births, views, addresses that are used again, writes; values as text.
#include <limits>

#include "tests/unit/drain/fake_process.h"
#include "tests/unit/drain/session_sql.h"

using namespace peel;
using namespace peel::testing;
using wire::HopKind;

namespace {

struct Program : Recording {
  Program() : p(*drain), t(p.thread()), op(p.op("aten::add", "Tensor", {"self", "other", "alpha"})), view(p.op("aten::view", "", {"self", "size"})) {}
  ~Program() { p.exit(); }
  void end() {
    t.close();
    p.exit();
    finish();
  }
  FakeTensor at(uint64_t n, std::vector<int64_t> sizes = {2, 3}, uint32_t version = 0) { return {.impl = 0x1000 * n, .storage = 0x1000 * n + 0x800, .sizes = std::move(sizes), .version = version}; }
  FakeTensor same(FakeTensor x) {
    x.flags |= wire::kSameAsInner;
    return x;
  }
  FakeProcess p;
  FakeThread t;
  uint32_t op, view;
};

}  // namespace

TEST_CASE("a result is born in the innermost hop that returned it") {
  Program r;
  r.t.begin({.op = r.op, .key = key::AutogradCPU});
  r.t.tensor(0, r.at(1));
  r.t.tensor(1, r.at(2));
  r.t.begin({.op = r.op, .kind = HopKind::kRedispatch});
  r.t.result(0, r.at(3));
  r.t.end();
  r.t.result(0, r.same(r.at(3)));
  r.t.end();
  r.t.begin({.op = r.op});
  r.t.tensor(0, r.at(3));
  r.t.end();
  r.end();
  CHECK(r.rows("SELECT id, birth_event, first_event, storage, base FROM tensor") == Rows{"1|-|1|1|-", "2|-|1|2|-", "3|2|2|3|-"});
  CHECK(r.rows("SELECT event, position, tensor, meta FROM argument") == Rows{"1|0|1|1", "1|1|2|1", "3|0|3|1"});
  CHECK(r.rows("SELECT event, position, tensor, meta FROM result") == Rows{"1|0|3|1", "2|0|3|1"});
  CHECK(r.one("SELECT name, dtype, shape, strides, device, keyset, version FROM call_argument WHERE event=3") ==
        "self|torch.float32|[2,3]|[3,1]|cpu|DispatchKeySet(CPU, ADInplaceOrView, AutogradCPU, AutocastCPU)|0");
  CHECK(r.rows("SELECT * FROM loss").empty());
}

TEST_CASE("an address that is used again is another tensor") {
  Program r;
  for (int i = 0; i < 3; ++i) {
    r.t.begin({.op = r.op});
    r.t.tensor(0, r.at(1));
    r.t.result(0, r.at(9));
    r.t.end();
  }
  r.end();
  CHECK(r.rows("SELECT id, birth_event, storage FROM tensor") == Rows{"1|-|1", "2|1|2", "3|2|3", "4|3|4"});
}

TEST_CASE("an argument that comes back is no birth, also through a redispatch that repeats nothing") {
  Program r;
  r.t.begin({.op = r.op});
  r.t.tensor(0, r.at(1));
  r.t.begin({.op = r.op, .kind = HopKind::kRedispatch});
  r.t.result(0, r.at(1, {2, 3}, 1));
  r.t.end();
  r.t.result(0, r.same(r.at(1, {2, 3}, 1)));
  r.t.end();
  r.end();
  CHECK(r.rows("SELECT id, birth_event FROM tensor") == Rows{"1|-"});
  CHECK(r.rows("SELECT event, tensor, version FROM result") == Rows{"1|1|1", "2|1|1"});
}

TEST_CASE("a tensor that only an outer hop's sibling returned is no result of a hop inside") {
  Program r;
  r.t.begin({.op = r.op});
  r.t.begin({.op = r.view});  // 2: makes a temporary that is freed
  r.t.result(0, r.at(5));
  r.t.end();
  r.t.begin({.op = r.view});  // 3: gets the same address
  r.t.result(0, r.at(5));
  r.t.end();
  r.t.result(0, r.same(r.at(5)));
  r.t.end();
  r.end();
  CHECK(r.rows("SELECT id, birth_event FROM tensor") == Rows{"1|2", "2|3"});
  CHECK(r.one("SELECT tensor FROM result WHERE event=1") == "2");
}

TEST_CASE("views share storage and point at their base") {
  Program r;
  FakeTensor v = r.at(7, {6});
  v.storage = r.at(1).storage;
  FakeTensor w = r.at(8, {3, 2});
  w.storage = v.storage;
  r.t.begin({.op = r.view});
  r.t.tensor(0, r.at(1));
  r.t.result(0, v);
  r.t.end();
  r.t.begin({.op = r.view});  // a view of the view
  r.t.tensor(0, v);
  r.t.result(0, w);
  r.t.end();
  r.end();
  CHECK(r.rows("SELECT id, birth_event, storage, base FROM tensor") == Rows{"1|-|1|-", "2|1|1|1", "3|2|1|1"});
}

TEST_CASE("a freed storage whose address comes back is another storage") {
  Program r;
  FakeTensor b = r.at(3);
  b.storage = r.at(2).storage;
  r.t.begin({.op = r.op});
  r.t.result(0, r.at(2));
  r.t.end();
  r.t.begin({.op = r.op});
  r.t.tensor(0, r.at(1));
  r.t.result(0, b);
  r.t.end();
  r.end();
  CHECK(r.rows("SELECT id, storage, base FROM tensor") == Rows{"1|1|-", "2|2|-", "3|3|-"});
}

TEST_CASE("an argument that cannot be the tensor last known there is a new one, and counted") {
  Program r;
  const auto use = [&](FakeTensor x) {
    r.t.begin({.op = r.op});
    r.t.tensor(0, std::move(x));
    r.t.end();
  };
  use(r.at(1));
  use(r.at(1));                       // the same
  use(r.at(1, {5}));                  // another shape
  FakeTensor other = r.at(1, {5});
  other.dtype = 7;
  use(other);                         // another dtype
  other.storage += 0x100;
  use(other);                         // another storage
  other.version = 4;
  use(other);                         // the same, written to unseen
  other.version = 2;
  use(other);                         // versions do not go back
  r.end();
  CHECK(r.rows("SELECT tensor FROM argument") == Rows{"1", "1", "2", "3", "4", "4", "5"});
  CHECK(r.one("SELECT count(*) FROM tensor WHERE birth_event IS NULL") == "5");
  CHECK(r.lost("inferred: tensor identity") == 4);
  CHECK(r.one("SELECT length(meaning) > 20 FROM loss") == "1");
}

TEST_CASE("a Python number has another tensor in every call, the same one in the calls inside") {
  Program r;
  FakeTensor number = r.at(3, {});
  number.flags = wire::kWrappedNumber;
  for (int i = 0; i < 2; ++i) {
    r.t.begin({.op = r.op});
    r.t.tensor(0, number);
    r.t.begin({.op = r.view});
    r.t.tensor(0, number);
    r.t.end();
    r.t.end();
  }
  r.end();
  CHECK(r.rows("SELECT event, tensor FROM argument") == Rows{"1|1", "2|1", "3|2", "4|2"});
  CHECK(r.rows("SELECT id, storage FROM tensor") == Rows{"1|1", "2|2"});
  CHECK(r.rows("SELECT * FROM loss").empty());
}

TEST_CASE("a write explains another shape") {
  Program r;
  r.t.begin({.op = r.op});
  r.t.tensor(0, r.at(1));
  r.t.write(0, r.at(1).impl, r.at(1).storage, 0, 1);
  r.t.end();
  r.t.begin({.op = r.op});
  r.t.tensor(0, r.at(1, {6, 6}, 1));
  r.t.end();
  r.end();
  CHECK(r.rows("SELECT id FROM tensor") == Rows{"1"});
  CHECK(r.rows("SELECT * FROM loss").empty());
}

TEST_CASE("writes: one a chain, at the innermost hop in whose frame the version changed") {
  Program r;
  const FakeTensor x = r.at(1);
  const auto hop = [&](HopKind kind) { r.t.begin({.op = r.op, .kind = kind}); };
  hop(HopKind::kCall);            // 1
  r.t.tensor(0, x);
  hop(HopKind::kRedispatch);      // 2: bumps
  hop(HopKind::kRedispatch);      // 3: does the work
  r.t.write(0, x.impl, x.storage, 0, 0);
  r.t.end();
  r.t.write(0, x.impl, x.storage, 0, 1);
  r.t.end();
  r.t.write(0, x.impl, x.storage, 0, 1);
  r.t.end();
  hop(HopKind::kCall);            // 4: nothing bumps
  r.t.tensor(0, x);
  hop(HopKind::kRedispatch);      // 5
  r.t.write(0, x.impl, x.storage, 1, 1);
  r.t.end();
  r.t.write(0, x.impl, x.storage, 1, 1);
  r.t.end();
  hop(HopKind::kCall);            // 6: an inference tensor has no version
  r.t.tensor(0, x);
  r.t.write(0, x.impl, x.storage, wire::kNoVersion, wire::kNoVersion);
  r.t.end();
  r.t.begin({.op = r.view});      // 7: a composite around an in-place operator: a chain of its own each
  r.t.tensor(0, x);
  hop(HopKind::kCall);            // 8
  r.t.write(0, x.impl, x.storage, 1, 2);
  r.t.end();
  r.t.write(0, x.impl, x.storage, 1, 2);
  r.t.end();
  r.end();
  CHECK(r.rows("SELECT event, tensor, storage, version_before, version_after FROM \"write\"") ==
        Rows{"2|1|1|0|1", "5|1|1|1|1", "6|1|1|-|-", "8|1|1|1|2", "7|1|1|1|2"});
}

TEST_CASE("undefined tensors, lists, flags, and sizes that are not known") {
  Program r;
  r.t.begin({.op = r.op});
  r.t.tensor(wire::place(0, 1), r.at(1));
  r.t.tensor(wire::place(0, 2), {.impl = 0x77, .flags = wire::kUndefined});
  FakeTensor leaf = r.at(2);
  leaf.flags = wire::kRequiresGrad | wire::kLeaf | wire::kParticipates;
  r.t.tensor(1, leaf);
  FakeTensor number = r.at(3, {});
  number.flags = wire::kWrappedNumber;
  r.t.tensor(2, number);
  FakeTensor symbolic = r.at(4);
  symbolic.flags = wire::kNoSizes | wire::kInference;
  symbolic.version = wire::kNoVersion;
  r.t.tensor(3, symbolic);
  r.t.end();
  r.end();
  CHECK(r.rows("SELECT position, list_index, (SELECT value FROM string WHERE id = name), tensor, participates, (SELECT value FROM string WHERE id = shape), "
               "(SELECT value FROM string WHERE id = flags), version FROM argument JOIN tensor_meta ON tensor_meta.id = meta") ==
        Rows{"0|0|self|1|1|[2,3]|-|0", "0|1|self|-|0|-|undefined|0", "1|-1|other|2|1|[2,3]|requires_grad leaf|0", "2|-1|alpha|3|0|[]|wrapped_number|0",
             "3|-1|-|4|0|-|inference|-"});
}

TEST_CASE("values are written as Python writes them") {
  Program r;
  using wire::ValueType;
  const auto real = [](double v) {
    int64_t bits;
    std::memcpy(&bits, &v, 8);
    return bits;
  };
  uint32_t place = 0;
  const auto put = [&](ValueType type, std::vector<int64_t> words, uint32_t count = 1, bool cut = false) { r.t.value(place++, type, words.data(), words.size() * 8, count, cut); };
  r.t.begin({.op = r.op});
  put(ValueType::kNone, {}, 0);
  put(ValueType::kBool, {1});
  put(ValueType::kInt, {-7});
  for (const double v : {1.0, 0.1, 1e16, 1e15, 1e-5, 0.0001, -2.5, 1e300, 123456789012345680.0}) put(ValueType::kDouble, {real(v)});
  put(ValueType::kDouble, {real(std::numeric_limits<double>::infinity())});
  put(ValueType::kDouble, {real(std::numeric_limits<double>::quiet_NaN())});
  put(ValueType::kComplex, {real(1), real(-2)});
  r.t.value(place++, ValueType::kString, "it's \"\n", 8, 7);
  put(ValueType::kIntList, {1, 2}, 2);
  put(ValueType::kIntList, {}, 0);
  put(ValueType::kDoubleList, {real(1), real(2.5)}, 2, true);
  put(ValueType::kBoolList, {1, 0}, 2);
  put(ValueType::kDtype, {6});
  put(ValueType::kLayout, {0});
  put(ValueType::kDevice, {0xff00});
  put(ValueType::kDevice, {0x0101});
  put(ValueType::kMemoryFormat, {2});
  r.t.value(place++, ValueType::kOther, "Generator", 9, 9);
  r.t.end();
  r.end();
  CHECK(r.rows("SELECT value FROM call_argument") ==
        Rows{"None", "True", "-7", "1.0", "0.1", "1e+16", "1000000000000000.0", "1e-05", "0.0001", "-2.5", "1e+300", "1.2345678901234568e+17", "inf", "nan", "(1-2j)",
             "'it\\'s \"\\n'", "[1, 2]", "[]", "[1.0, 2.5, …]", "[True, False]", "torch.float32", "torch.strided", "cpu", "cuda:1", "torch.channels_last", "Generator"});
  CHECK(r.lost("truncated values") == 1);
}

TEST_CASE("operators that are defined while a hop is open leave it its own") {
  Program r;
  r.t.begin({.op = r.op});
  REQUIRE(r.wait_for(1));
  for (int i = 0; i < 5000; ++i) r.p.op("made::op" + std::to_string(i), "");
  r.t.begin({.op = r.p.op("made::last", "")});  // what follows is read after all of them
  REQUIRE(r.wait_for(2));
  r.t.end();
  r.t.result(0, r.at(1));
  r.t.tensor(1, r.at(2));
  r.t.end();
  r.end();
  CHECK(r.rows("SELECT event, name FROM call_argument") == Rows{"1|other"});
  CHECK(r.rows("SELECT * FROM loss").empty());
}
