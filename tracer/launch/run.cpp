// The child process with its output relay, and the launcher's thread that serves both and the socket.
#include <fcntl.h>
#include <poll.h>
#include <pty.h>
#include <sys/eventfd.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <termios.h>

#include <cerrno>
#include <condition_variable>
#include <csignal>
#include <cstring>
#include <mutex>
#include <thread>

#include "tracer/launch/child_environment.h"
#include "tracer/launch/launch.h"
#include "tracer/launch/listener.h"
#include "tracer/launch/posix.h"
#include "tracer/launch/relay.h"
#include "tracer/launch/signals.h"
#include "tracer/launch/text_joiner.h"
#include "tracer/wire/clock.h"

extern char** environ;

namespace peel::launch {
namespace {

/// Where the program writes: `write_end` becomes its descriptor 1 and/or 2.
struct Outlet {
  Fd write_end;
  Fd read_end;
  bool terminal = false;
};

Result<Outlet> make_outlet(bool terminal, int like) {
  Outlet o;
  o.terminal = terminal;
  if (!terminal) {
    int fds[2];
    if (::pipe2(fds, O_CLOEXEC) != 0) return Error{"cannot make a pipe for the program's output: " + errno_text(errno)};
    o.read_end.reset(fds[0]);
    o.write_end.reset(fds[1]);
    return o;
  }
  termios settings{};
  winsize size{};
  const bool known = ::tcgetattr(like, &settings) == 0;
  if (::ioctl(like, TIOCGWINSZ, &size) != 0 || size.ws_col == 0) size = {30, 100, 0, 0};
  int master = -1, slave = -1;
  if (::openpty(&master, &slave, nullptr, known ? &settings : nullptr, &size) != 0)
    return Error{"cannot open a pseudo-terminal for the program's output: " + errno_text(errno)};
  o.read_end.reset(master);
  o.write_end.reset(slave);
  ::fcntl(master, F_SETFD, FD_CLOEXEC);
  ::fcntl(slave, F_SETFD, FD_CLOEXEC);
  // Newlines stay as they are: our own terminal adds the carriage returns.
  if (::tcgetattr(slave, &settings) == 0) {
    settings.c_oflag &= ~static_cast<tcflag_t>(OPOST);
    settings.c_lflag &= ~static_cast<tcflag_t>(ECHO);
    ::tcsetattr(slave, TCSANOW, &settings);
  }
  return o;
}

// `2>&1` and a terminal: one outlet for both streams keeps their order exact.
bool same_target(int a, int b) {
  struct stat x, y;
  if (::fstat(a, &x) != 0 || ::fstat(b, &y) != 0) return false;
  return x.st_dev == y.st_dev && x.st_ino == y.st_ino && !(S_ISCHR(x.st_mode) && !::isatty(a));
}

class RunImpl final : public Run {
 public:
  RunImpl(const RunOptions& options, const RunEvents& events, Listener listener)
      : options_(options), events_(events), listener_(std::move(listener)) {}
  ~RunImpl() override {
    if (child_ > 0 && !ended()) kill();
    if (launcher_.joinable()) launcher_.join();
    if (waiter_.joinable()) waiter_.join();
    if (relay_ > 0) ::waitpid(relay_, nullptr, WNOHANG);
  }

  Status begin();

  int wait() override {
    std::unique_lock lock(mutex_);
    done_.wait(lock, [this] { return finished_.load(); });
    return status_;
  }
  bool ended() const override { return finished_; }
  bool killed_by_signal() const override { return by_signal_; }
  void interrupt() override { signal_child(SIGINT); }
  void kill() override { signal_child(SIGKILL); }
  int pid() const override { return child_; }

 private:
  void signal_child(int signal) {
    std::lock_guard lock(reaped_mutex_);
    if (child_ > 0 && !reaped_) ::kill(child_, signal);
  }
  Status spawn(const Outlet* outlets, int outlet_of_stdout, int outlet_of_stderr);
  [[noreturn]] void become_program(int out, int err, int report, char** argv, char** env);
  Status fork_relay(Outlet* outlets, const int* targets, const int* streams, int count, Fd ours, Fd theirs);
  void wait_for_child();
  void serve();
  bool read_relay();
  void take(const Chunk&, const char* text);
  void finish();

  RunOptions options_;
  RunEvents events_;
  Listener listener_;
  Fd relay_socket_, child_gone_;
  pid_t child_ = -1, relay_ = -1;
  std::thread launcher_, waiter_;
  std::string inbox_;
  TextJoiner joiner_[2];
  bool delivered_ = false;
  SignalGuard signals_;

  std::mutex reaped_mutex_;
  bool reaped_ = false;
  std::mutex mutex_;
  std::condition_variable done_;
  std::atomic<bool> finished_ = false, by_signal_ = false;
  std::atomic<int> status_{0};
};

Status RunImpl::begin() {
  const bool forward = options_.forward_output;
  const bool shared = forward && same_target(1, 2);
  Outlet outlets[2];
  int targets[2] = {-1, -1};
  const int streams[2] = {1, 2};
  const int count = shared ? 1 : 2;
  for (int i = 0; i < count; ++i) {
    const int fd = i == 0 ? 1 : 2;
    // A window shows output as it comes: a terminal makes Python write line by line.
    Result<Outlet> o = make_outlet(!forward || ::isatty(fd), fd);
    if (!o) return Error{o.error()};
    outlets[i] = std::move(*o);
    if (forward) targets[i] = fd;
  }
  int pair[2];
  if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair) != 0)
    return Error{"cannot make a socket pair: " + errno_text(errno)};
  Fd ours(pair[0]), theirs(pair[1]);
  child_gone_.reset(::eventfd(0, EFD_CLOEXEC));
  if (!child_gone_) return Error{"cannot make an eventfd: " + errno_text(errno)};

  if (Status s = spawn(outlets, 0, shared ? 0 : 1); !s) return s;
  if (Status s = fork_relay(outlets, targets, streams, count, std::move(ours), std::move(theirs)); !s) {
    ::kill(child_, SIGKILL);
    ::waitpid(child_, nullptr, 0);
    child_ = -1;
    return s;
  }
  waiter_ = std::thread([this] { wait_for_child(); });
  launcher_ = std::thread([this] { serve(); });
  return {};
}

Status RunImpl::spawn(const Outlet* outlets, int out, int err) {
  std::vector<std::string> command{options_.python.path};
  command.insert(command.end(), options_.arguments.begin(), options_.arguments.end());
  std::vector<std::string> environment = child_environment(environ, options_, listener_.path());
  std::vector<char*> argv, env;
  for (std::string& a : command) argv.push_back(a.data());
  for (std::string& e : environment) env.push_back(e.data());
  argv.push_back(nullptr);
  env.push_back(nullptr);
  int report[2];
  if (::pipe2(report, O_CLOEXEC) != 0) return Error{"cannot make a pipe: " + errno_text(errno)};
  Fd report_read(report[0]), report_write(report[1]);
  signals_.take_over();
  child_ = ::fork();
  if (child_ < 0) return Error{"cannot start " + command[0] + ": " + errno_text(errno)};
  if (child_ == 0) become_program(outlets[out].write_end.get(), outlets[err].write_end.get(), report[1], argv.data(), env.data());
  report_write.reset();
  int error = 0;
  if (::read(report_read.get(), &error, sizeof error) == sizeof error) {
    ::waitpid(child_, nullptr, 0);
    child_ = -1;
    return Error{"cannot run " + command[0] + ": " + errno_text(error)};
  }
  signals_.set_program(child_);
  return {};
}

// In the child, between fork and exec: system calls only.
void RunImpl::become_program(int out, int err, int report, char** argv, char** env) {
  SignalGuard::restore_for_child();
  if (::dup2(out, 1) >= 0 && ::dup2(err, 2) >= 0) ::execve(argv[0], argv, env);
  const int error = errno;
  (void)!::write(report, &error, sizeof error);
  ::_exit(127);
}

Status RunImpl::fork_relay(Outlet* outlets, const int* targets, const int* streams, int count, Fd ours, Fd theirs) {
  RelayOptions r;
  for (int i = 0; i < count; ++i) {
    r.channel[i] = {outlets[i].read_end.get(), targets[i], streams[i], outlets[i].terminal};
    if (outlets[i].terminal && targets[i] >= 0) r.resized_by = targets[i];
  }
  r.control = theirs.get();
  r.program = child_;
  relay_ = ::fork();
  if (relay_ == 0) relay(r);
  if (relay_ < 0) return Error{"cannot start the process that passes output on: " + errno_text(errno)};
  relay_socket_ = std::move(ours);
  return {};
}

void RunImpl::wait_for_child() {
  int status = 0;
  siginfo_t info{};
  while (::waitid(P_PID, static_cast<id_t>(child_), &info, WEXITED | WNOWAIT) != 0 && errno == EINTR) {
  }
  {
    // Reaped under the lock: no signal can reach a process that got the number afterwards.
    std::lock_guard lock(reaped_mutex_);
    while (::waitpid(child_, &status, 0) < 0 && errno == EINTR) {
    }
    reaped_ = true;
    signals_.set_program(0);
  }
  status_ = exit_status(status);
  by_signal_ = WIFSIGNALED(status);
  const uint64_t one = 1;
  (void)!::write(child_gone_.get(), &one, sizeof one);
}

void RunImpl::serve() {
  bool gone = false;
  while (!gone || (relay_socket_ && !delivered_)) {
    std::vector<pollfd> fds = {{gone ? -1 : child_gone_.get(), POLLIN, 0}, {relay_socket_ ? relay_socket_.get() : -1, POLLIN, 0}};
    listener_.add_to(fds);
    if (::poll(fds.data(), fds.size(), -1) < 0 && errno != EINTR) break;
    listener_.serve(events_.on_process);
    if (fds[0].revents) {
      gone = true;
      if (relay_socket_ && ::send(relay_socket_.get(), "e", 1, MSG_NOSIGNAL) != 1 && !delivered_ && errno != EPIPE) relay_socket_.reset();
    }
    if (fds[1].revents && !read_relay()) relay_socket_.reset();
  }
  listener_.serve(events_.on_process);
  finish();
}

bool RunImpl::read_relay() {
  char block[65536];
  const ssize_t n = ::recv(relay_socket_.get(), block, sizeof block, MSG_DONTWAIT);
  if (n < 0) return errno == EINTR || errno == EAGAIN;
  if (n == 0) return false;
  inbox_.append(block, static_cast<size_t>(n));
  size_t at = 0;
  while (inbox_.size() - at >= sizeof(Chunk)) {
    Chunk c;
    std::memcpy(&c, inbox_.data() + at, sizeof c);
    const size_t text = c.kind == Chunk::kText ? c.bytes : 0;
    if (inbox_.size() - at < sizeof c + text) break;
    take(c, inbox_.data() + at + sizeof c);
    at += sizeof c + text;
  }
  inbox_.erase(0, at);
  return true;
}

void RunImpl::take(const Chunk& c, const char* text) {
  if (c.kind == Chunk::kDelivered) {
    delivered_ = true;
  } else if (c.kind == Chunk::kDropped) {
    if (events_.on_output)
      events_.on_output(c.stream, "\n[peel: " + std::to_string(c.bytes) + " bytes of output were not kept]\n", c.monotonic_ns);
  } else {
    std::string whole = joiner_[c.stream == 2].add({text, c.bytes});
    if (!whole.empty() && events_.on_output) events_.on_output(c.stream, std::move(whole), c.monotonic_ns);
  }
}

void RunImpl::finish() {
  for (int i = 0; i < 2; ++i) {
    std::string rest = joiner_[i].rest();
    if (!rest.empty() && events_.on_output) events_.on_output(i + 1, std::move(rest), wire::monotonic_ns());
  }
  relay_socket_.reset();
  std::lock_guard lock(mutex_);
  finished_ = true;
  done_.notify_all();
}

}  // namespace

Result<std::unique_ptr<Run>> Run::start(const RunOptions& options, const RunEvents& events) {
  Result<Listener> listener = Listener::open();
  if (!listener) return Error{listener.error()};
  auto run = std::make_unique<RunImpl>(options, events, std::move(*listener));
  if (Status s = run->begin(); !s) return Error{s.error()};
  return std::unique_ptr<Run>(std::move(run));
}

}  // namespace peel::launch
