// The launcher against shell children: what they print, how they end, who hears a signal.
#include <fcntl.h>
#include <poll.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <sstream>
#include <thread>

#include "tests/catch.h"
#include "tests/unit/launch/sandbox.h"
#include "tracer/launch/launch.h"
#include "tracer/launch/posix.h"
#include "tracer/wire/link.h"
#include "tracer/wire/wire.h"

namespace peel::launch {
namespace {

RunOptions shell(const std::string& script) {
  RunOptions o;
  o.python.path = "/bin/sh";
  o.arguments = {"-c", script};
  o.agent.library = "/nowhere/agent.so";
  o.agent.bootstrap = "/nowhere/bootstrap";
  o.forward_output = false;
  return o;
}

struct Kept {
  std::string text[3];
  std::string both;
  RunEvents events() {
    RunEvents e;
    e.on_process = [](int memory, int connection, const void*, size_t) {
      ::close(memory);
      ::close(connection);
    };
    e.on_output = [this](int stream, std::string t, int64_t) {
      text[stream] += t;
      both += t;
    };
    return e;
  }
};

int status_of(const std::string& script) {
  Kept kept;
  auto run = Run::start(shell(script), kept.events());
  REQUIRE(run);
  return (*run)->wait();
}

TEST_CASE("the exit status is the program's own", "[launch]") {
  CHECK(status_of("exit 0") == 0);
  CHECK(status_of("exit 3") == 3);
  CHECK(status_of("kill -9 $$") == 128 + SIGKILL);
  CHECK(status_of("kill -SEGV $$") == 128 + SIGSEGV);
}

TEST_CASE("killed by a signal is told apart from an ordinary status", "[launch]") {
  Kept kept;
  auto a = Run::start(shell("exit 137"), kept.events());
  REQUIRE(a);
  CHECK((*a)->wait() == 137);
  CHECK_FALSE((*a)->killed_by_signal());
  auto b = Run::start(shell("kill -9 $$"), kept.events());
  REQUIRE(b);
  CHECK((*b)->wait() == 137);
  CHECK((*b)->killed_by_signal());
}

TEST_CASE("all output is there when wait returns, each stream for itself", "[launch]") {
  for (int round = 0; round < 10; ++round) {
    Kept kept;
    auto run = Run::start(shell("i=0; while [ $i -lt 2000 ]; do echo line $i; i=$((i+1)); done; echo bad >&2"), kept.events());
    REQUIRE(run);
    CHECK((*run)->wait() == 0);
    CHECK((*run)->ended());
    CHECK(std::count(kept.text[1].begin(), kept.text[1].end(), '\n') == 2000);
    CHECK(kept.text[1].ends_with("line 1999\n"));
    CHECK(kept.text[2] == "bad\n");
  }
}

TEST_CASE("a program that cannot be started is an error, not a status", "[launch]") {
  RunOptions o = shell("");
  o.python.path = "/nowhere/python3";
  auto run = Run::start(o, Kept().events());
  REQUIRE_FALSE(run);
  CHECK(run.error() == "cannot run /nowhere/python3: No such file or directory");
}

TEST_CASE("the program finds peel by its environment, and the socket goes away with the run", "[launch]") {
  Kept kept;
  std::string socket;
  {
    RunOptions o = shell("printf '%s\\n' \"$PEEL_SOCKET\" \"$PEEL_AGENT\" \"$PEEL_DETAIL\" \"$PEEL_ON_FULL\" \"$PEEL_RING_MIB\" \"${PYTHONPATH%%:*}\"; test -S \"$PEEL_SOCKET\"");
    o.ring_mib = 4;
    o.detail = "keys";
    o.on_full = "drop";
    auto run = Run::start(o, kept.events());
    REQUIRE(run);
    CHECK((*run)->wait() == 0);
    std::istringstream lines(kept.text[1]);
    std::string rest;
    std::getline(lines, socket);
    CHECK(kept.text[1] == socket + "\n/nowhere/agent.so\nkeys\ndrop\n4\n/nowhere/bootstrap\n");
    struct stat s;
    REQUIRE(::stat(socket.substr(0, socket.rfind('/')).c_str(), &s) == 0);
    CHECK((s.st_mode & 0777) == 0700);
  }
  CHECK(::access(socket.c_str(), F_OK) != 0);
  CHECK(::access(socket.substr(0, socket.rfind('/')).c_str(), F_OK) != 0);
}

TEST_CASE("a process that says hello is handed over with its memory", "[launch]") {
  Kept kept;
  RunEvents events = kept.events();
  std::atomic<int> hellos = 0;
  wire::Hello seen{};
  std::string in_memory(5, '\0');
  events.on_process = [&](int memory, int connection, const void* hello, size_t bytes) {
    REQUIRE(bytes == sizeof seen);
    std::memcpy(&seen, hello, sizeof seen);
    CHECK(::pread(memory, in_memory.data(), 5, 0) == 5);
    ::close(memory);
    ::close(connection);
    ++hellos;
  };
  auto run = Run::start(shell("echo $PEEL_SOCKET; exec sleep 5"), events);
  REQUIRE(run);
  while (kept.text[1].empty()) std::this_thread::sleep_for(std::chrono::milliseconds(5));
  const std::string path = kept.text[1].substr(0, kept.text[1].find('\n'));

  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  std::strcpy(address.sun_path, path.c_str());
  Fd connection(::socket(AF_UNIX, SOCK_SEQPACKET, 0));
  REQUIRE(::connect(connection.get(), reinterpret_cast<sockaddr*>(&address), sizeof address) == 0);
  Fd stranger(::socket(AF_UNIX, SOCK_SEQPACKET, 0));  // connects and says nothing: nobody waits for it
  REQUIRE(::connect(stranger.get(), reinterpret_cast<sockaddr*>(&address), sizeof address) == 0);
  Fd memory(::memfd_create("test", MFD_CLOEXEC));
  REQUIRE(::write(memory.get(), "peel!", 5) == 5);
  wire::Hello hello{wire::kMagic, wire::kVersion, 42, 41, 1 << 20, "python"};
  iovec part{&hello, sizeof hello};
  alignas(cmsghdr) char space[CMSG_SPACE(sizeof(int))] = {};
  msghdr message{};
  message.msg_iov = &part;
  message.msg_iovlen = 1;
  message.msg_control = space;
  message.msg_controllen = sizeof space;
  cmsghdr* c = CMSG_FIRSTHDR(&message);
  c->cmsg_level = SOL_SOCKET;
  c->cmsg_type = SCM_RIGHTS;
  c->cmsg_len = CMSG_LEN(sizeof(int));
  const int fd = memory.get();
  std::memcpy(CMSG_DATA(c), &fd, sizeof fd);
  REQUIRE(::sendmsg(connection.get(), &message, 0) == sizeof hello);
  for (int i = 0; i < 400 && hellos == 0; ++i) std::this_thread::sleep_for(std::chrono::milliseconds(5));
  CHECK(hellos == 1);
  CHECK(seen.pid == 42);
  CHECK(in_memory == "peel!");
  (*run)->kill();
  CHECK((*run)->wait() == 128 + SIGKILL);
}

TEST_CASE("interrupt reaches the program", "[launch]") {
  Kept kept;
  auto run = Run::start(shell("trap 'echo caught; exit 7' INT; echo ready; while :; do sleep 0.05; done"), kept.events());
  REQUIRE(run);
  while (kept.text[1].find("ready") == std::string::npos) std::this_thread::sleep_for(std::chrono::milliseconds(5));
  (*run)->interrupt();
  CHECK((*run)->wait() == 7);
  CHECK(kept.text[1].find("caught") != std::string::npos);
}

TEST_CASE("a grandchild that keeps the output open does not keep peel waiting", "[launch]") {
  Kept kept;
  const auto begin = std::chrono::steady_clock::now();
  auto run = Run::start(shell("sleep 5 & echo done"), kept.events());
  REQUIRE(run);
  CHECK((*run)->wait() == 0);
  CHECK(kept.text[1] == "done\n");
  CHECK(std::chrono::steady_clock::now() - begin < std::chrono::seconds(3));
}

// The tests below look at our own stdout, so each runs in a process of its own.
struct Forked {
  std::string out, err;
  int status;
};
Forked in_child(bool one_pipe, const std::function<int()>& body) {
  int out[2], err[2];
  REQUIRE(::pipe(out) == 0);
  REQUIRE(::pipe(err) == 0);
  const pid_t child = ::fork();
  if (child == 0) {
    ::dup2(out[1], 1);
    ::dup2(one_pipe ? out[1] : err[1], 2);
    for (const int fd : {out[0], out[1], err[0], err[1]}) ::close(fd);
    ::_exit(body());
  }
  ::close(out[1]);
  ::close(err[1]);
  Forked result{read_all(out[0]), read_all(err[0]), 0};
  ::close(out[0]);
  ::close(err[0]);
  int status = 0;
  ::waitpid(child, &status, 0);
  result.status = exit_status(status);
  return result;
}

int run_forwarding(const std::string& script) {
  RunOptions o = shell(script);
  o.forward_output = true;
  RunEvents events;
  events.on_process = [](int, int, const void*, size_t) {};
  auto run = Run::start(o, events);
  return run ? (*run)->wait() : 99;
}

TEST_CASE("output is passed on unchanged, each stream to its own", "[launch]") {
  const Forked f = in_child(false, [] { return run_forwarding("printf 'a\\r\\nb\\000c\\377'; echo e >&2; exit 5"); });
  CHECK(f.out == std::string("a\r\nb\0c\xff", 7));
  CHECK(f.err == "e\n");
  CHECK(f.status == 5);
}

TEST_CASE("2>&1 keeps the order of both streams", "[launch]") {
  const Forked f = in_child(true, [] {
    return run_forwarding("i=0; while [ $i -lt 200 ]; do echo o$i; echo e$i >&2; i=$((i+1)); done");
  });
  std::string expected;
  for (int i = 0; i < 200; ++i) expected += "o" + std::to_string(i) + "\ne" + std::to_string(i) + "\n";
  CHECK(f.out == expected);
}

TEST_CASE("when our stdout closes, the program gets SIGPIPE as usual", "[launch]") {
  int out[2];
  REQUIRE(::pipe(out) == 0);
  const pid_t child = ::fork();
  if (child == 0) {
    ::dup2(out[1], 1);
    ::close(out[0]);
    ::close(out[1]);
    ::signal(SIGPIPE, SIG_DFL);
    ::_exit(run_forwarding("while :; do echo y; done"));
  }
  ::close(out[1]);
  char two[2];
  REQUIRE(::read(out[0], two, 2) == 2);
  ::close(out[0]);
  int status = 0;
  ::waitpid(child, &status, 0);
  CHECK(exit_status(status) == 128 + SIGPIPE);
}

TEST_CASE("a slow reader of our stdout gets everything", "[launch]") {
  int out[2];
  REQUIRE(::pipe(out) == 0);
  const pid_t child = ::fork();
  if (child == 0) {
    ::dup2(out[1], 1);
    ::close(out[0]);
    ::close(out[1]);
    ::_exit(run_forwarding("head -c 300000 /dev/zero; echo end"));
  }
  ::close(out[1]);
  std::this_thread::sleep_for(std::chrono::milliseconds(200));
  CHECK(read_all(out[0]).size() == 300004);
  ::close(out[0]);
  int status = 0;
  ::waitpid(child, &status, 0);
  CHECK(exit_status(status) == 0);
}

TEST_CASE("kill -9 of peel: the program goes on to its end and its output still arrives", "[launch]") {
  const Sandbox sandbox;
  const std::string marker = sandbox.path("finished");
  int out[2];
  REQUIRE(::pipe(out) == 0);
  const pid_t child = ::fork();
  if (child == 0) {
    ::dup2(out[1], 1);
    ::close(out[0]);
    ::close(out[1]);
    ::_exit(run_forwarding("echo ready; sleep 0.3; echo after; sleep 0.1; echo last; touch " + marker));
  }
  ::close(out[1]);
  char ready[6];
  REQUIRE(::read(out[0], ready, 6) == 6);
  ::kill(child, SIGKILL);
  ::waitpid(child, nullptr, 0);
  CHECK(read_all(out[0]) == "after\nlast\n");
  ::close(out[0]);
  for (int i = 0; i < 100 && !is_file(marker); ++i) std::this_thread::sleep_for(std::chrono::milliseconds(10));
  CHECK(is_file(marker));
}

TEST_CASE("SIGTERM to peel alone ends the program, and peel stays to finish", "[launch]") {
  int out[2];
  REQUIRE(::pipe(out) == 0);
  const pid_t child = ::fork();
  if (child == 0) {
    ::dup2(out[1], 1);
    ::close(out[0]);
    ::close(out[1]);
    ::_exit(run_forwarding("trap 'echo bye; exit 9' TERM; echo ready; while :; do sleep 0.05; done"));
  }
  ::close(out[1]);
  char ready[6];
  REQUIRE(::read(out[0], ready, 6) == 6);
  ::kill(child, SIGTERM);
  CHECK(read_all(out[0]) == "bye\n");
  ::close(out[0]);
  int status = 0;
  ::waitpid(child, &status, 0);
  CHECK(exit_status(status) == 9);
}

}  // namespace
}  // namespace peel::launch
