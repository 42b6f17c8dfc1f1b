#include "sessions/show.h"
#include "tests/catch.h"
#include "tests/unit/sessions/made_session.h"

using namespace peel;
using namespace peel::test;

namespace {

/// A value of a JSON object by SQLite's own JSON reader: text as it is, "" for null, "invalid" when it is none.
std::string json(const std::string& object, const std::string& path) {
  sqlite3* db = nullptr;
  sqlite3_open(":memory:", &db);
  sqlite3_stmt* s = nullptr;
  sqlite3_prepare_v2(db, "SELECT CASE WHEN json_valid(?1) THEN json_extract(?1, ?2) ELSE 'invalid' END", -1, &s, nullptr);
  sqlite3_bind_text(s, 1, object.c_str(), -1, SQLITE_TRANSIENT);
  sqlite3_bind_text(s, 2, path.c_str(), -1, SQLITE_TRANSIENT);
  std::string out;
  if (sqlite3_step(s) == SQLITE_ROW && sqlite3_column_type(s, 0) != SQLITE_NULL) out = reinterpret_cast<const char*>(sqlite3_column_text(s, 0));
  sqlite3_finalize(s);
  sqlite3_close(db);
  return out;
}

}  // namespace

TEST_CASE("rows of peel show", "[sessions][show]") {
  MadeSession m;
  const uint32_t add = m.op("aten::add", "Tensor", {{"self", 2}, {"other", 2}}), mm = m.op("aten::mm");
  m.hop({.op = add, .key = "AutogradCPU", .keyset = 0x1000010001, .arg_keyset = kCpuTensor, .begin = 1000, .end = 13400});
  m.hop({.parent = 1, .op = add, .kind = Kind::kRedispatch, .key = "CPU", .keyset = 0x10001});
  m.hop({.op = mm, .key = "AutogradCPU", .keyset = 0x1000010001, .arg_keyset = kCpuTensor, .end = -1, .flags = kRaised});
  m.node(1, "AddBackward0", 0);
  m.argument(1, 0, 7, kCpuTensor);
  m.argument(1, 1, 9, kCpuTensor);
  m.sql("INSERT INTO error VALUES(3, 'RuntimeError', 'say \"no\"" "')");
  const auto s = m.open();
  std::vector<std::string> lines;
  const auto collect = [&](std::string_view l) { lines.emplace_back(l); };

  const ShowCounts all = show(*s, {}, true, collect);
  CHECK(all.shown == 3);
  CHECK(all.matched == 3);
  CHECK(all.all == 3);
  REQUIRE(lines.size() == 3);
  CHECK(json(lines[0], "$.id") == "1");
  CHECK(json(lines[0], "$.parent") == "");
  CHECK(json(lines[1], "$.parent") == "1");
  CHECK(json(lines[1], "$.depth") == "1");
  CHECK(json(lines[0], "$.thread") == "1");
  CHECK(json(lines[0], "$.kind") == "call");
  CHECK(json(lines[1], "$.kind") == "redispatch");
  CHECK(json(lines[0], "$.op") == "aten::add.Tensor");
  CHECK(json(lines[0], "$.key") == "AutogradCPU");
  CHECK(json(lines[0], "$.keys") == "[\"CPU\",\"AutogradCPU\"]");
  CHECK(json(lines[0], "$.begin_ns") == "1000");
  CHECK(json(lines[0], "$.end_ns") == "13400");
  CHECK(json(lines[0], "$.node") == "AddBackward0");
  CHECK(json(lines[0], "$.error") == "");
  CHECK(json(lines[2], "$.end_ns") == "");
  CHECK(json(lines[2], "$.error") == "RuntimeError: say \"no\"");

  lines.clear();
  show(*s, {}, false, collect);
  REQUIRE(lines.size() == 4);  // with a heading
  CHECK(lines[1].find("add.Tensor") != std::string::npos);
  CHECK(lines[1].find("f32[2,3] f32[2,3]") != std::string::npos);
  CHECK(lines[1].find("12.4 us") != std::string::npos);
  CHECK(lines[1].find("AddBackward0") != std::string::npos);
  CHECK(lines[2].find("  -> add.Tensor") != std::string::npos);
  CHECK(lines[3].find("open") != std::string::npos);
  CHECK(lines[3].find("! RuntimeError") != std::string::npos);

  const auto count = [&](const ShowOptions& o) { return show(*s, o, true, [](std::string_view) {}).shown; };
  CHECK(count({.op = "add*"}) == 2);
  CHECK(count({.op = "aten::mm"}) == 1);
  CHECK(count({.event = EventId{1}}) == 2);
  CHECK(count({.from = EventId{2}}) == 2);
  CHECK(count({.from = EventId{2}, .to = EventId{2}}) == 1);
  CHECK(count({.max_rows = 1}) == 1);
  CHECK(count({.filter = "key:Autograd* -mm"}) == 1);
  CHECK(show(*s, {.max_rows = 1}, true, [](std::string_view) {}).matched == 3);
}

TEST_CASE("short texts", "[sessions][show]") {
  CHECK(dtype_brief("float32") == "f32");
  CHECK(dtype_brief("torch.bfloat16") == "bf16");
  CHECK(dtype_brief("bool") == "bool");
  CHECK(time_brief(12400) == "12.4 us");
  CHECK(time_brief(1300000) == "1.30 ms");
  CHECK(time_brief(kOpen) == "");
  CHECK(grouped(1234567) == "1,234,567");
  CHECK(grouped(12) == "12");
  CHECK(place_brief("registered at /x/ATen/RegisterCPU_0.cpp:1297") == "RegisterCPU_0.cpp:1297");
  CHECK(json_quoted("a\"\\\n\x01") == "\"a\\\"\\\\\\n\\u0001\"");
  CHECK(json_quoted("\xff\xc3(") == "\"\xef\xbf\xbd\xef\xbf\xbd(\"");
  CHECK(json_quoted("\xed\x95\x9c") == "\"\xed\x95\x9c\"");
}
