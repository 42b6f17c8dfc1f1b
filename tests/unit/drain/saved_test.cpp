// What nodes save: which tensor it is, said once, also when records come twice, late, without a tensor, or damaged.
#include "tests/unit/drain/fake_process.h"
#include "tests/unit/drain/session_sql.h"

using namespace peel;
using namespace peel::testing;

namespace {

struct Saving : Recording {
  Saving() : p(*drain), t(p.thread()), op(p.op("aten::exp", "", {"self"})), exp(p.string("ExpBackward0")), self(p.string("_saved_self")), result(p.string("_saved_result")) {}
  ~Saving() { p.exit(); }
  void end() {
    t.close();
    p.exit();
    finish();
  }
  Rows saved() { return rows("SELECT v.node, s.value, v.list_index, v.tensor, v.version, v.bytes, v.flags FROM saved v JOIN string s ON s.id = v.name ORDER BY v.rowid"); }
  FakeProcess p;
  FakeThread t;
  uint32_t op, exp, self, result;
};

}  // namespace

TEST_CASE("a saved input is the argument, a saved output the result that comes after it", "[saved]") {
  Saving r;
  r.t.begin({.op = r.op});
  r.t.tensor(0, {.impl = 0x10, .storage = 0x11, .sizes = {2, 3}, .version = 4});
  r.t.node({.name = r.exp, .node = 0x500, .sequence_nr = 7, .output = 0x20});
  r.t.saved({.name = r.self, .node = 0x500, .sequence_nr = 7, .bytes = 24, .number = 0, .version = 4}, {.impl = 0x10, .storage = 0x11, .sizes = {2, 3}, .version = 4});
  // its data: a TensorImpl of its own in the result's storage
  r.t.saved({.name = r.result, .node = 0x500, .sequence_nr = 7, .bytes = 48, .number = 1, .flags = wire::kSavedOutput}, {.impl = 0x90, .storage = 0x21, .sizes = {2, 3}});
  r.t.result(0, {.impl = 0x20, .storage = 0x21, .sizes = {2, 3}});
  r.t.end();
  r.end();
  CHECK(r.saved() == Rows{"1|_saved_self|-1|1|4|24|0", "1|_saved_result|-1|2|0|48|1"});
  CHECK(r.one("SELECT count(*) FROM tensor") == "2");
  CHECK(r.rows("SELECT node, event, node_name, name, tensor, dtype, shape, version, bytes FROM saved_tensor") ==
        Rows{"1|1|ExpBackward0|_saved_self|1|torch.float32|[2,3]|4|24", "1|1|ExpBackward0|_saved_result|2|torch.float32|[2,3]|0|48"});
}

TEST_CASE("of several tensors in the output's storage the one that looks like it is meant", "[saved]") {
  Saving r;
  r.t.begin({.op = r.op});
  r.t.tensor(0, {.impl = 0x10, .storage = 0x11, .sizes = {6}});
  r.t.node({.name = r.exp, .node = 0x500, .sequence_nr = 7});
  r.t.saved({.name = r.result, .node = 0x500, .sequence_nr = 7, .flags = wire::kSavedOutput}, {.impl = 0x90, .storage = 0x11, .sizes = {2, 3}});
  r.t.result(0, {.impl = 0x20, .storage = 0x11, .sizes = {2, 3}});
  r.t.result(1, {.impl = 0x30, .storage = 0x11, .sizes = {3, 2}});
  r.t.end();
  r.end();
  CHECK(r.saved() == Rows{"1|_saved_result|-1|2|0|0|1"});
}

TEST_CASE("what was said is not said again: by another thread, or when the node is met once more", "[saved]") {
  Saving r;
  FakeThread other = r.p.thread();
  r.t.begin({.op = r.op});
  r.t.tensor(0, {.impl = 0x10, .storage = 0x11, .sizes = {2}});
  for (int turn = 0; turn < 2; ++turn) {
    r.t.node({.name = r.exp, .node = 0x500, .sequence_nr = 7});
    for (uint32_t i = 0; i < 2; ++i) r.t.saved({.name = r.self, .node = 0x500, .sequence_nr = 7, .number = i, .list_index = i + 1}, {.impl = 0x10, .storage = 0x11, .sizes = {2}});
  }
  r.t.end();
  CHECK(r.wait_for(1));
  other.begin({.op = r.op});
  other.node({.name = r.exp, .node = 0x500, .sequence_nr = 7});
  other.saved({.name = r.self, .node = 0x500, .sequence_nr = 7, .number = 1, .list_index = 2}, {.impl = 0x10, .storage = 0x11, .sizes = {2}});
  other.end();
  // the address again, another node
  r.t.begin({.op = r.op});
  r.t.node({.name = r.exp, .node = 0x500, .sequence_nr = 9});
  r.t.saved({.name = r.self, .node = 0x500, .sequence_nr = 9}, {.impl = 0x10, .storage = 0x11, .sizes = {2}});
  r.t.end();
  other.close();
  r.end();
  CHECK(r.saved() == Rows{"1|_saved_self|0|1|0|0|0", "1|_saved_self|1|1|0|0|0", "2|_saved_self|-1|1|0|0|0"});
}

TEST_CASE("tensors that a hook packed or backward released have a row without a tensor; one that nobody met is first seen there", "[saved]") {
  Saving r;
  r.t.begin({.op = r.op});
  r.t.tensor(0, {.impl = 0x10, .storage = 0x11, .sizes = {8}});
  r.t.node({.name = r.exp, .node = 0x500, .sequence_nr = 7, .found_late = true});
  r.t.saved({.name = r.self, .node = 0x500, .sequence_nr = 7, .number = 0, .version = 2, .flags = wire::kSavedPacked}, {});
  r.t.saved({.name = r.result, .node = 0x500, .sequence_nr = 7, .number = 1, .flags = wire::kSavedReleased}, {});
  r.t.saved({.name = r.self, .node = 0x500, .sequence_nr = 7, .bytes = 32, .number = 2, .version = wire::kNoVersion}, {.impl = 0x77, .storage = 0x11, .sizes = {4}});
  r.t.end();
  r.end();
  CHECK(r.saved() == Rows{"1|_saved_self|-1|-|2|0|2", "1|_saved_result|-1|-|0|0|4", "1|_saved_self|-1|2|-|32|0"});
  CHECK(r.one("SELECT birth_event, base, first_event FROM tensor WHERE id = 2") == "-|1|1");
}

TEST_CASE("saved records that are cut or name nothing do no harm", "[saved]") {
  Saving r;
  r.t.begin({.op = r.op});
  const auto head = [](uint32_t words) { return uint64_t{static_cast<uint32_t>(wire::RecordKind::kSaved)} | uint64_t{words} << 16; };
  constexpr uint32_t kOwn = sizeof(wire::Saved) / 8, kTensor = sizeof(wire::Tensor) / 8;
  for (const uint32_t words : {1u, kOwn - 1, kOwn + 1, kOwn + kTensor - 1}) {
    std::vector<uint64_t> raw(words, 0);
    raw[0] = head(words);
    r.t.raw(raw, words);
  }
  std::vector<uint64_t> dims(kOwn + kTensor, 0);  // 200 dimensions that aren't there
  dims[0] = head(kOwn + kTensor);
  wire::Tensor big{};
  big.impl = 1, big.ndim = 200;
  std::memcpy(dims.data() + kOwn, &big, sizeof big);
  r.t.raw(dims, kOwn + kTensor);
  r.t.saved({.name = 9999, .node = 0x500, .sequence_nr = 7}, {.impl = 0x10, .storage = 0x11, .sizes = {2}});
  r.t.end();
  r.end();
  CHECK(r.lost("damaged records") == 5);
  CHECK(r.one("SELECT count(*), max(name) FROM saved") == "1|-");
}
