// Reading a good file: nesting, navigation, values, small tables.
#include "sessions/session_impl.h"
#include "tests/catch.h"
#include "tests/unit/sessions/made_session.h"

using namespace peel;
using namespace peel::test;

namespace {

/// a.add_(b) and torch.relu(a), as in facts 3.9, with a worker thread's exp in between.
void add_and_relu(MadeSession& m) {
  const uint32_t add = m.op("aten::add_", "Tensor", {{"self", 3}, {"other", 2}, {"alpha", 4}});
  const uint32_t relu = m.op("aten::relu"), clamp = m.op("aten::clamp_min"), exp = m.op("aten::exp");
  const uint32_t torch_file = m.frame("/venv/lib/python3.11/site-packages/torch/nn/modules/linear.py", 40, "forward");
  (void)torch_file;
  const uint32_t module = m.frame("/home/me/train.py", 12);
  const uint32_t inner = m.frame("/venv/lib/python3.11/site-packages/torch/nn/functional.py", 99, "relu", module);
  m.hop({.op = add, .key = "AutogradCPU", .keyset = 0x1400010001, .arg_keyset = kCpuTensor, .stack = module});                         // 1
  m.hop({.parent = 1, .op = add, .kind = Kind::kRedispatch, .key = "ADInplaceOrView", .keyset = 0x400010001, .stack = module});        // 2
  m.hop({.op = exp, .key = "AutogradCPU", .keyset = 0x1000010001, .arg_keyset = kCpuTensor, .thread = 2});                             // 3
  m.hop({.parent = 2, .op = add, .kind = Kind::kRedispatch, .key = "CPU", .keyset = 0x10001, .stack = module});                        // 4
  m.hop({.parent = 3, .op = exp, .kind = Kind::kRedispatch, .key = "CPU", .keyset = 0x10001, .thread = 2});                            // 5
  m.hop({.op = relu, .key = "AutogradCPU", .keyset = 0x1000010001, .arg_keyset = kCpuTensor, .stack = inner, .end = -1});              // 6
  m.hop({.parent = 6, .op = relu, .kind = Kind::kRedispatch, .key = "CPU", .keyset = 0x10001, .stack = inner});                        // 7
  m.hop({.parent = 7, .op = clamp, .key = "CPU", .keyset = 0x10001, .arg_keyset = kCpuTensor, .stack = inner});                        // 8
  const uint32_t add_node = m.node(1, "AddBackward0", 0), relu_node = m.node(6, "ReluBackward0", 1), other = m.node(3, "ExpBackward0", 0);
  m.edge(relu_node, 0, add_node);
  m.edge(other, 0, 0);
  m.sql("INSERT INTO \"write\" VALUES(2, 7, 70, 3, 4)");
  m.argument(1, 0, 7, kCpuTensor, "", "requires_grad");
  m.argument(1, 1, 9, kCpuTensor);
  m.argument(1, 2, 0, 0, "1");
  m.argument(2, 0, 8, 0x1400010001);
  m.argument(1, 0, 7, kCpuTensor, "", "", true);
  m.sql("INSERT OR REPLACE INTO tensor VALUES(7, NULL, 9000, 70, NULL, 1)");
  m.sql("INSERT INTO source VALUES('/home/me/train.py', 'import torch')");
  m.sql("INSERT INTO error VALUES(8, 'RuntimeError', 'no'), (6, 'RuntimeError', 'no')");
  m.sql("INSERT INTO node_run VALUES(1, 1, 8, 5, 6)");
}

}  // namespace

TEST_CASE("hops nest by thread and can be walked in every direction", "[sessions][open]") {
  MadeSession m;
  add_and_relu(m);
  const auto s = m.open();
  const auto e = [](uint32_t v) { return EventId{v}; };
  REQUIRE(s->size() == 8);
  CHECK(s->trouble() == "");
  CHECK_FALSE(s->live());
  CHECK(s->meta("state") == "complete");
  CHECK(s->depth(e(4)) == 2);
  CHECK(s->last(e(1)) == e(4));
  CHECK(s->last(e(3)) == e(5));
  CHECK(s->last(e(6)) == e(8));
  CHECK(s->last(e(8)) == e(8));
  CHECK(s->first_child(e(2)) == e(4));
  CHECK(s->first_child(e(4)) == EventId{});
  CHECK(s->next_in_thread(e(2)) == e(4));
  CHECK(s->previous_in_thread(e(4)) == e(2));
  CHECK(s->next_in_thread(e(3)) == e(5));
  CHECK(s->next_in_thread(e(5)) == EventId{});
  CHECK(s->next_sibling(e(1)) == e(6));
  CHECK(s->previous_sibling(e(6)) == e(1));
  CHECK(s->previous_sibling(e(1)) == EventId{});
  CHECK(s->previous_sibling(e(2)) == EventId{});
  CHECK(s->roots(ThreadId{1}) == std::vector<EventId>{e(1), e(6)});
  CHECK(s->roots(ThreadId{2}) == std::vector<EventId>{e(3)});
  CHECK(s->children(e(6)) == std::vector<EventId>{e(7)});
  const Event six = s->event(e(6));
  CHECK(six.end == kOpen);
  CHECK(six.kind == Kind::kCall);
  CHECK(s->key(six.key)->name == "AutogradCPU");
  CHECK(s->keyset(six.keyset).raw == 0x1000010001);
  CHECK(s->keyset(six.arg_keyset).raw == kCpuTensor);
  CHECK(s->event(e(9)).id == EventId{});
  CHECK(s->event(e(0)).id == EventId{});
  CHECK(s->event(e(0xffffffff)).id == EventId{});
  CHECK(s->op(six.op).full == "aten::relu");
  CHECK(s->op(s->event(e(1)).op).brief == "add_");
  CHECK(s->op(s->event(e(1)).op).arguments.at(1).name == "other");
}

TEST_CASE("nodes, runs and writes are found from hops and back", "[sessions][open]") {
  MadeSession m;
  add_and_relu(m);
  const auto s = m.open();
  CHECK(s->nodes() == 3);
  CHECK(s->event(EventId{1}).node == NodeId{1});
  CHECK(s->nodes_of(EventId{1}) == std::vector<NodeId>{NodeId{1}});
  CHECK(s->nodes_of(EventId{2}).empty());
  CHECK(s->nodes_inside(EventId{1}) == 1);  // the worker's node lies between its ids and does not count
  CHECK(s->nodes_inside(EventId{3}) == 1);
  CHECK(s->nodes_inside(EventId{7}) == 0);
  CHECK(s->node(NodeId{2}).name == "ReluBackward0");
  CHECK(s->node(NodeId{2}).event == EventId{6});
  CHECK(s->users(NodeId{1}) == std::vector<NodeId>{NodeId{2}});
  REQUIRE(s->edges(NodeId{2}).size() == 1);
  CHECK(s->edges(NodeId{2})[0].next == NodeId{1});
  CHECK(s->edges(NodeId{3})[0].next == NodeId{});
  CHECK(s->run_of(EventId{8})->node == NodeId{1});
  CHECK_FALSE(s->run_of(EventId{7}));
  CHECK(s->runs(NodeId{1}).at(0).cause == EventId{6});
  CHECK(s->writes_of(EventId{2}).at(0).after == 4);
  CHECK(s->writes(TensorId{7}).at(0).event == EventId{2});
  CHECK(s->writes(TensorId{9}).empty());
  CHECK(s->tensor(TensorId{7})->death == 9000);
  CHECK_FALSE(s->tensor(TensorId{77}));
  CHECK(s->uses(TensorId{7}, 10) == std::vector<EventId>{EventId{1}});
  CHECK(s->uses(TensorId{8}, 10) == std::vector<EventId>{EventId{2}});
  CHECK(s->raised_in(EventId{6}).size() == 2);
  CHECK(s->raised_in(EventId{8}).size() == 1);
  CHECK(s->raised_in(EventId{1}).empty());
}

TEST_CASE("a redispatch has the arguments of its call, with what differs", "[sessions][open]") {
  MadeSession m;
  add_and_relu(m);
  const auto s = m.open();
  const auto call = s->arguments(EventId{1}), second = s->arguments(EventId{2}), third = s->arguments(EventId{4});
  REQUIRE(call.size() == 3);
  CHECK(call[0].tensor == TensorId{7});
  CHECK(call[0].dtype == "float32");
  CHECK(call[0].flags == "requires_grad");
  CHECK(call[2].value == "1");
  CHECK_FALSE(call[2].participates);
  REQUIRE(second.size() == 3);
  CHECK(second[0].tensor == TensorId{8});
  CHECK(second[1].tensor == TensorId{9});
  REQUIRE(third.size() == 3);
  CHECK(third[0].tensor == TensorId{8});  // from the redispatch above it
  CHECK(s->results(EventId{1}).size() == 1);
  CHECK(s->results(EventId{4}).empty());
}

TEST_CASE("the user's own frame is found below libraries", "[sessions][open]") {
  MadeSession m;
  add_and_relu(m);
  const auto s = m.open();
  CHECK(s->frame(s->user_frame(s->event(EventId{7}).stack)).file == "/home/me/train.py");
  CHECK(s->frame(s->user_frame(s->event(EventId{7}).stack)).line == 12);
  CHECK(s->user_frame(s->event(EventId{3}).stack) == StackId{});
  CHECK(s->source("/home/me/train.py") == "import torch");
  CHECK(s->source("/home/me/other.py") == "");
  CHECK(is_library_file("<frozen importlib._bootstrap>"));
  CHECK(is_library_file("<string>"));
  CHECK(is_library_file("/usr/lib/python3.11/contextlib.py"));
  CHECK(is_library_file("/usr/lib/python3/dist-packages/numpy/core.py"));
  CHECK(is_library_file("/src/pytorch/torch/nn/functional.py"));
  CHECK_FALSE(is_library_file("/home/me/torch/train.py"));
  CHECK_FALSE(is_library_file("/home/me/lib/model.py"));
}

TEST_CASE("an operator's table and mask are those of the moment", "[sessions][open]") {
  MadeSession m;
  const uint32_t op = m.op("aten::tensor_split", "indices");
  const uint32_t math_kernel = m.kernel(op, "CompositeImplicitAutograd", "math kernel"), own = m.kernel(op, "CPU", "kernel"), fallback = m.kernel(op, "AutogradCPU", "backend fallback");
  m.slot(op, "CPU", math_kernel);
  m.slot(op, "AutogradCPU", math_kernel);
  m.slot(op, "CPU", own, 50);
  m.slot(op, "AutogradCPU", fallback, 50);
  m.mask(op, 0xff, 0);
  m.mask(op, 0xf0, 50);
  for (int i = 0; i < 60; ++i) m.hop({.op = op, .key = "CPU", .keyset = 0x10001});
  const auto s = m.open();
  REQUIRE(s->table(OpId{op}, EventId{49}).size() == 2);
  CHECK(s->table(OpId{op}, EventId{49})[0].kernel == KernelId{math_kernel});
  CHECK(s->table(OpId{op}, EventId{50})[0].kernel == KernelId{own});
  CHECK(s->table(OpId{op}, EventId{60})[1].kernel == KernelId{fallback});
  CHECK(s->mask(OpId{op}, EventId{1}, 0) == 0xff);
  CHECK(s->mask(OpId{op}, EventId{55}, 0) == 0xf0);
  CHECK(s->mask(OpId{op + 1}, EventId{55}, 0) == ~uint64_t{0});
  CHECK(s->kernels_of(OpId{op}).size() == 3);
}

TEST_CASE("bookmarks are stored in a finished file", "[sessions][open]") {
  MadeSession m;
  add_and_relu(m);
  {
    const auto s = m.open();
    REQUIRE(s->set_bookmark(EventId{4}, "look at this", true));
    REQUIRE(s->set_bookmark(EventId{5}, "", true));
    REQUIRE(s->set_bookmark(EventId{5}, "", false));
    CHECK_FALSE(s->set_bookmark(EventId{99}, "no such hop", true));
    CHECK(s->bookmarks().size() == 1);
  }
  const auto again = m.open();
  REQUIRE(again->bookmarks().size() == 1);
  CHECK(again->bookmarks()[0].event == EventId{4});
  CHECK(again->bookmarks()[0].text == "look at this");
}

TEST_CASE("hops over several chunks keep their places", "[sessions][open]") {
  MadeSession m;
  const uint32_t op = m.op("aten::relu");
  m.hop({.op = op, .key = "CPU", .keyset = 0x10001});
  // 150,000 hops: call, redispatch, call, redispatch, ... in two threads by turns of four.
  m.sql("WITH RECURSIVE n(i) AS (SELECT 2 UNION ALL SELECT i+1 FROM n WHERE i<150000) INSERT INTO event SELECT i, CASE WHEN i%2=0 THEN NULL ELSE i-1 END, "
        "1+(i/4)%2, 1, i%2, 49, 1, 1, 1, NULL, NULL, i*10, i*10+5, 0 FROM n");
  const auto s = m.open();
  REQUIRE(s->size() == 150000);
  uint32_t wrong = 0;
  for (uint32_t i = 2; i <= 150000; ++i) {
    const EventId id{i};
    wrong += s->depth(id) != i % 2;
    wrong += s->parent(id) != EventId{i % 2 ? i - 1 : 0};
    wrong += s->event(id).begin != int64_t{i} * 10;
    const EventId next = s->next_in_thread(id);
    const uint32_t expected = i % 4 == 3 ? i + 5 : i + 1;
    wrong += next != (expected <= 150000 ? EventId{expected} : EventId{});
    if (next) wrong += s->previous_in_thread(next) != id;
  }
  CHECK(wrong == 0);
  CHECK(s->roots(ThreadId{2}).size() == 37500);
}
