// The environment of a traced program, and text cut between characters.
#include "tests/catch.h"
#include "tracer/launch/child_environment.h"
#include "tracer/launch/text_joiner.h"

namespace peel::launch {
namespace {

RunOptions options() {
  RunOptions o;
  o.agent.library = "/cache/agent.so";
  o.agent.bootstrap = "/cache/bootstrap";
  return o;
}

std::string value(const std::vector<std::string>& environment, const std::string& name) {
  std::string found = "(unset)";
  int count = 0;
  for (const std::string& e : environment)
    if (e.starts_with(name + "=")) {
      found = e.substr(name.size() + 1);
      ++count;
    }
  CHECK(count <= 1);
  return found;
}

TEST_CASE("the bootstrap folder comes first, the user's own PYTHONPATH stays", "[launch]") {
  const char* base[] = {"HOME=/home/ada", "PYTHONPATH=/a:/b", nullptr};
  const auto e = child_environment(base, options(), "/tmp/s");
  CHECK(value(e, "PYTHONPATH") == "/cache/bootstrap:/a:/b");
  CHECK(value(e, "HOME") == "/home/ada");
  CHECK(value(e, "PEEL_SOCKET") == "/tmp/s");
  CHECK(value(e, "PEEL_AGENT") == "/cache/agent.so");
  CHECK(value(e, "PEEL_DETAIL") == "standard");
  CHECK(value(e, "PEEL_ON_FULL") == "wait");
  CHECK(value(e, "PEEL_RING_MIB") == "(unset)");
}

TEST_CASE("without a PYTHONPATH there is no empty part, which would mean the current folder", "[launch]") {
  const char* base[] = {"HOME=/home/ada", nullptr};
  CHECK(value(child_environment(base, options(), "/tmp/s"), "PYTHONPATH") == "/cache/bootstrap");
  const char* empty[] = {"PYTHONPATH=", nullptr};
  CHECK(value(child_environment(empty, options(), "/tmp/s"), "PYTHONPATH") == "/cache/bootstrap");
}

TEST_CASE("an empty part of the user's PYTHONPATH keeps its meaning", "[launch]") {
  const char* base[] = {"PYTHONPATH=/a:", nullptr};
  CHECK(value(child_environment(base, options(), "/tmp/s"), "PYTHONPATH") == "/cache/bootstrap:/a:");
}

TEST_CASE("a peel inside of a peel replaces the outer one's variables", "[launch]") {
  const char* base[] = {"PYTHONPATH=/outer/bootstrap:/a", "PEEL_BOOTSTRAP=/outer/bootstrap", "PEEL_SOCKET=/outer", "PEEL_RING_MIB=64", "PEEL_SOCKETS=mine", nullptr};
  const auto e = child_environment(base, options(), "/tmp/s");
  CHECK(value(e, "PYTHONPATH") == "/cache/bootstrap:/a");
  CHECK(value(e, "PEEL_SOCKET") == "/tmp/s");
  CHECK(value(e, "PEEL_RING_MIB") == "(unset)");
  CHECK(value(e, "PEEL_SOCKETS") == "mine");
}

TEST_CASE("text is cut between characters only", "[launch]") {
  const std::string text = "a\xc3\xa9\xe2\x86\x92\xf0\x9f\x8d\x8az";  // 1, 2, 3 and 4 bytes
  for (size_t cut = 0; cut <= text.size(); ++cut) {
    TextJoiner joiner;
    const std::string first = joiner.add(text.substr(0, cut)), second = joiner.add(text.substr(cut));
    CHECK(first + second == text);
    if (!second.empty()) CHECK((static_cast<unsigned char>(second[0]) & 0xc0) != 0x80);
    CHECK(joiner.rest().empty());
  }
}

TEST_CASE("bytes that are no UTF-8 go through", "[launch]") {
  TextJoiner joiner;
  std::string out;
  for (const char* part : {"\xff\xfe", "\x80\x80\x80\x80", "ok", "\xe2\x86"}) out += joiner.add(part);
  CHECK(out == "\xff\xfe\x80\x80\x80\x80ok");
  CHECK(joiner.rest() == "\xe2\x86");
}

}  // namespace
}  // namespace peel::launch
