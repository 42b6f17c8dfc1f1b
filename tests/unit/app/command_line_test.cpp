// The command line's own parts: where our options end and the program begins, texts, JSON.
#include "app/console.h"
#include "app/json.h"
#include "app/parse.h"
#include "app/record_options.h"
#include "tests/catch.h"
#include "tests/unit/launch/sandbox.h"

namespace peel::app {
namespace {

using Words = std::vector<std::string>;

Split split(const Words& arguments) {
  CLI::App app("", "peel record");
  RecordOptions options;
  options.add_to(app);
  return split_at_program(app, arguments);
}

TEST_CASE("what follows the program is never ours", "[app]") {
  Split s = split({"-o", "x.peel", "train.py", "-o", "y", "--help", "-m", "z"});
  CHECK(s.options == Words{"-o", "x.peel"});
  CHECK(s.program == Words{"train.py", "-o", "y", "--help", "-m", "z"});
  s = split({"--no-source", "train.py", "--no-source"});
  CHECK(s.options == Words{"--no-source"});
  CHECK(s.program == Words{"train.py", "--no-source"});
  s = split({"--output=x.peel", "--detail", "keys", "train.py"});
  CHECK(s.options == Words{"--output=x.peel", "--detail", "keys"});
  CHECK(s.program == Words{"train.py"});
  s = split({"-ox.peel", "train.py"});
  CHECK(s.options == Words{"-ox.peel"});
  CHECK(s.program == Words{"train.py"});
  s = split({"--", "-strange.py", "-m"});
  CHECK(s.options.empty());
  CHECK(s.program == Words{"-strange.py", "-m"});
}

TEST_CASE("-m ends our options, as in Python", "[app]") {
  Split s = split({"--detail", "keys", "-m", "pkg.train", "--detail", "x"});
  CHECK(s.options == Words{"--detail", "keys"});
  CHECK(s.program == Words{"-m", "pkg.train", "--detail", "x"});
  s = split({"-mpkg.train", "-o", "y"});
  CHECK(s.program == Words{"-m", "pkg.train", "-o", "y"});
  s = split({"-m"});
  CHECK(s.program == Words{"-m"});
}

TEST_CASE("a Python before the program runs it", "[app]") {
  const launch::Sandbox box;
  const std::string program = box.write("train.py", "");
  const auto parsed = [&](const Words& arguments, RecordOptions& o) {
    CLI::App app("", "peel record");
    o.add_to(app);
    return o.parse_all(app, arguments).value_or(-1);
  };
  RecordOptions o, module, own, option, twice, code, like;
  CHECK(parsed({"python3.12", program, "-u"}, o) == -1);
  CHECK(o.recording.python == "python3.12");
  CHECK(o.recording.arguments == Words{program, "-u"});
  CHECK(parsed({"/opt/env/bin/python", "-m", "pkg.train", "x"}, module) == -1);
  CHECK(module.recording.python == "/opt/env/bin/python");
  CHECK(module.recording.arguments == Words{"-m", "pkg.train", "x"});
  CHECK(parsed({"python3"}, own) == 2);
  CHECK(parsed({"python3", "-u", program}, option) == 2);
  CHECK(parsed({"--python", "python3", "python", program}, twice) == 2);
  CHECK(parsed({"python3", "-c", "import torch"}, code) == 2);
  const std::string named = box.write("python_notes.py", "");
  CHECK(parsed({named}, like) == -1);
  CHECK(like.recording.arguments == Words{named});
}

TEST_CASE("options are checked before anything is started", "[app]") {
  const launch::Sandbox box;
  const std::string program = box.write("train.py", "");
  const auto status = [&](Words arguments, RecordOptions* keep = nullptr) {
    CLI::App app("", "peel record");
    RecordOptions o;
    o.add_to(app);
    arguments.push_back(program);
    const auto ended = o.parse_all(app, arguments);
    if (keep) keep->recording = o.recording;
    return ended.value_or(-1);
  };
  RecordOptions o;
  CHECK(status({"-o", box.path("x.peel"), "--detail", "keys", "--on-full", "drop", "--ring-mib", "64", "--max-size", "1.5G", "--no-source"}, &o) == -1);
  CHECK(o.recording.path == box.path("x.peel"));
  CHECK(o.recording.arguments == Words{program});
  CHECK(o.recording.detail == "keys");
  CHECK(o.recording.on_full == "drop");
  CHECK(o.recording.ring_mib == 64);
  CHECK(o.recording.max_bytes == 1500000000);
  CHECK_FALSE(o.recording.keep_source);
  CHECK(status({"--max-size", "2MiB", "-o", box.path("x.peel")}, &o) == -1);
  CHECK(o.recording.max_bytes == 2 * 1024 * 1024);
  for (const Words& wrong : std::vector<Words>{{"--detail", "values"}, {"--detail", "x"}, {"--engine", "x"}, {"--on-full", "x"},
                                               {"--ring-mib", "3"}, {"--ring-mib", "2048"}, {"--ring-mib", "-1"}, {"--max-size", "many"}, {"--max-size", "0"},
                                               {"--max-size", "5X"}, {"--bogus"}, {"-o", box.path("no/folder/x.peel")}, {"-o", box.path("")}}) {
    INFO(wrong[0] + " " + wrong.back());
    CHECK(status(wrong) == kCouldNot);
  }
}

TEST_CASE("a session is named after its program", "[app]") {
  CHECK(default_session_path({"a/b/train.py", "x"}) == "train.peel");
  CHECK(default_session_path({"a/b/train"}) == "train.peel");
  CHECK(default_session_path({"a/folder/"}) == "folder.peel");
  CHECK(default_session_path({"-m", "pkg.sub.train"}) == "train.peel");
  CHECK(program_title({"a/b/train.py", "x"}) == "train.py");
  CHECK(program_title({"-m", "pkg.train"}) == "pkg.train");
}

TEST_CASE("numbers read well", "[app]") {
  CHECK(thousands(0) == "0");
  CHECK(thousands(999) == "999");
  CHECK(thousands(1000) == "1,000");
  CHECK(thousands(12345678) == "12,345,678");
  CHECK(counted(1, "hop") == "1 hop");
  CHECK(counted(0, "hop") == "0 hops");
  CHECK(counted(2, "process", "processes") == "2 processes");
  CHECK(bytes_text(512) == "512 B");
  CHECK(bytes_text(213000) == "213 kB");
  CHECK(bytes_text(3200000) == "3.2 MB");
  CHECK(duration_text(850) == "850 ns");
  CHECK(duration_text(12400) == "12.4 us");
  CHECK(duration_text(2500000000) == "2.50 s");
}

TEST_CASE("columns line up, wide characters and colours included", "[app]") {
  CHECK(cells("\033[1mab\033[0m") == 2);
  CHECK(cells("\xed\x95\x9c") == 2);    // Hangul
  CHECK(cells("\xe2\x86\x92") == 1);    // an arrow
  CHECK(aligned({{"a", "1"}, {"bbb", "22"}}) == "a    1\nbbb  22\n");
  CHECK(aligned({{"a", "1"}, {"bbb", "22"}}, {true, true}) == "  a   1\nbbb  22\n");
  CHECK(aligned({{"\xed\x95\x9c", "x"}, {"abc", "y"}}) == "\xed\x95\x9c   x\nabc  y\n");
}

TEST_CASE("JSON is escaped and always UTF-8", "[app]") {
  CHECK(json_text("a\"b\\c\n\t\x01") == "\"a\\\"b\\\\c\\n\\t\\u0001\"");
  CHECK(json_text("\xed\x95\x9c") == "\"\xed\x95\x9c\"");
  CHECK(json_text("a\xff" "b") == "\"a\xef\xbf\xbd" "b\"");
  CHECK(json_text("\xc0\x80") == "\"\xef\xbf\xbd\xef\xbf\xbd\"");          // overlong
  CHECK(json_text("\xed\xa0\x80") == "\"\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd\"");  // a surrogate
  CHECK(JsonObject().text("a", "x").number("b", -3).boolean("c", true).null("d").raw("e", "[1]").done() ==
        "{\"a\":\"x\",\"b\":-3,\"c\":true,\"d\":null,\"e\":[1]}");
}

}  // namespace
}  // namespace peel::app
