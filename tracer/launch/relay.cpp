#include "tracer/launch/relay.h"

#include <fcntl.h>
#include <linux/close_range.h>
#include <poll.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <new>

#include "tracer/wire/clock.h"

namespace peel::launch {
namespace {

// At most this much goes into a target at once: a pipe that polls as writable takes PIPE_BUF without blocking.
constexpr size_t kWriteAtOnce = 4096;
// How long a pseudo-terminal has to stay silent, after the program's end, until all is taken as read:
// the kernel hands text over in a work queue. Matters only when a grandchild keeps the terminal open.
constexpr int kQuietMs = 50;
constexpr size_t kQueueLimit = size_t{256} << 20;  // kept for a peel that does not read

volatile sig_atomic_t resized = 0;
void on_resize(int) { resized = 1; }

/// Bytes for peel that its socket did not take yet; grows by mremap, as malloc is not allowed here.
class Queue {
 public:
  bool empty() const { return begin_ == end_; }
  /// False: no room, nothing was added.
  bool add(const void* a, size_t a_bytes, const void* b, size_t b_bytes) {
    const size_t bytes = a_bytes + b_bytes;
    if (begin_ == end_) begin_ = end_ = 0;
    if (end_ + bytes > size_ && begin_ > 0) {
      std::memmove(data_, data_ + begin_, end_ - begin_);
      end_ -= begin_;
      begin_ = 0;
    }
    if (end_ + bytes > size_ && !grow(end_ + bytes)) return false;
    std::memcpy(data_ + end_, a, a_bytes);
    if (b_bytes) std::memcpy(data_ + end_ + a_bytes, b, b_bytes);
    end_ += bytes;
    return true;
  }
  /// False: the other side is gone.
  bool send(int socket) {
    while (begin_ < end_) {
      const ssize_t n = ::send(socket, data_ + begin_, end_ - begin_, MSG_DONTWAIT | MSG_NOSIGNAL);
      if (n < 0 && errno == EINTR) continue;
      if (n < 0) return errno == EAGAIN || errno == EWOULDBLOCK;
      begin_ += static_cast<size_t>(n);
    }
    return true;
  }

 private:
  bool grow(size_t bytes) {
    if (bytes > kQueueLimit) return false;
    const size_t size = std::max(bytes * 2, size_t{1} << 20);
    void* data = data_ ? ::mremap(data_, size_, size, MREMAP_MAYMOVE)
                       : ::mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (data == MAP_FAILED) return false;
    data_ = static_cast<char*>(data);
    size_ = size;
    return true;
  }
  char* data_ = nullptr;
  size_t size_ = 0, begin_ = 0, end_ = 0;
};

struct Channel {
  RelayChannel at;
  char text[65536];
  size_t begin = 0, end = 0;    // read, not yet written to the target
  bool counted = false;         // the program has ended and `owed` is known
  int64_t owed = 0;             // bytes that were in the pipe when the program ended
  int64_t quiet_since = 0;

  bool open() const { return at.source >= 0; }
  bool pending() const { return begin < end; }
  void close_source() {
    ::close(at.source);
    at.source = -1;
  }
};

class Relay {
 public:
  explicit Relay(const RelayOptions& o) : control_(o.control), resized_by_(o.resized_by), program_(o.program) {
    for (int i = 0; i < 2; ++i) channel_[i].at = o.channel[i];
  }
  [[noreturn]] void run() {
    for (;;) {
      if (std::none_of(channel_, channel_ + 2, [](const Channel& c) { return c.open() || c.pending(); })) finish();
      step();
      if (ended_ && !delivered_ && all_delivered()) say_delivered();
    }
  }

 private:
  void step() {
    pollfd fds[5];
    for (int i = 0; i < 2; ++i) {
      Channel& c = channel_[i];
      const bool room = c.end == 0;
      fds[i] = {c.open() && room ? c.at.source : -1, POLLIN, 0};
      // Asked even with nothing to write: a reader that went away is seen at once (POLLERR).
      fds[2 + i] = {c.at.target, static_cast<short>(c.pending() ? POLLOUT : 0), 0};
    }
    fds[4] = {control_, static_cast<short>((ended_ ? 0 : POLLIN) | (queue_.empty() ? 0 : POLLOUT)), 0};
    const bool waiting = ended_ && !delivered_;
    const int ready = ::poll(fds, 5, waiting ? kQuietMs / 5 : -1);
    if (resized) pass_size_on();
    if (ready < 0) return;
    for (int i = 0; i < 2; ++i) {
      if (fds[2 + i].revents) write_target(channel_[i], fds[2 + i].revents);
      if (fds[i].revents && channel_[i].open()) read_source(channel_[i]);
    }
    if (fds[4].revents) talk(fds[4].revents);
  }

  void read_source(Channel& c) {
    const ssize_t n = ::read(c.at.source, c.text, sizeof c.text);
    if (n < 0 && (errno == EINTR || errno == EAGAIN)) return;
    if (n <= 0) {  // 0: all writers closed the pipe; EIO: all closed the terminal
      c.close_source();
      return;
    }
    c.owed -= n;
    c.quiet_since = wire::monotonic_ns();
    tell(Chunk::kText, c.at.stream, c.text, static_cast<size_t>(n));
    if (c.at.target >= 0) {
      c.begin = 0;
      c.end = static_cast<size_t>(n);
    }
  }

  void write_target(Channel& c, short events) {
    if (c.pending() && (events & POLLOUT)) {
      const ssize_t n = ::write(c.at.target, c.text + c.begin, std::min(c.end - c.begin, kWriteAtOnce));
      if (n > 0) c.begin += static_cast<size_t>(n);
      if (n < 0 && errno != EINTR && errno != EAGAIN) lose_target(c);
    } else if (events & (POLLERR | POLLNVAL)) {
      lose_target(c);
    }
    if (c.begin == c.end) c.begin = c.end = 0;
  }

  // Nobody reads our stdout any more: the program has to find out, at its next write.
  void lose_target(Channel& c) {
    c.begin = c.end = 0;
    c.at.target = -1;
    if (c.open()) c.close_source();
  }

  void talk(short events) {
    if (events & POLLIN) {
      char byte;
      const ssize_t n = ::recv(control_, &byte, 1, MSG_DONTWAIT);
      if (n == 1) note_end();
      if (n == 0) return lose_peel();
    } else if (events & (POLLERR | POLLHUP | POLLNVAL)) {
      return lose_peel();
    }
    if (control_ >= 0 && !queue_.send(control_)) lose_peel();
  }

  void lose_peel() {
    ::close(control_);
    control_ = -1;
    ended_ = false;
  }

  void note_end() {
    ended_ = true;
    const int64_t now = wire::monotonic_ns();
    for (Channel& c : channel_) {
      if (!c.open()) continue;
      int bytes = 0;
      if (!c.at.terminal && ::ioctl(c.at.source, FIONREAD, &bytes) == 0) c.owed = bytes;
      else c.owed = 0;
      c.quiet_since = now;
    }
  }

  bool all_delivered() const {
    const int64_t now = wire::monotonic_ns();
    for (const Channel& c : channel_) {
      if (c.pending()) return false;
      if (!c.open()) continue;
      if (c.at.terminal ? now - c.quiet_since < int64_t{kQuietMs} * 1000000 : c.owed > 0) return false;
    }
    return true;
  }

  void say_delivered() {
    delivered_ = true;
    tell(Chunk::kDelivered, 0, nullptr, 0);
  }

  void tell(Chunk::Kind kind, int stream, const char* text, size_t bytes) {
    if (control_ < 0) return;
    const int64_t now = wire::monotonic_ns();
    if (dropped_ > 0) {
      const Chunk lost{Chunk::kDropped, stream, dropped_, 0, now};
      if (queue_.add(&lost, sizeof lost, nullptr, 0)) dropped_ = 0;
    }
    const Chunk chunk{kind, stream, static_cast<uint32_t>(bytes), 0, now};
    if (!queue_.add(&chunk, sizeof chunk, text, bytes)) dropped_ += static_cast<uint32_t>(bytes);
    if (!queue_.send(control_)) lose_peel();
  }

  void pass_size_on() {
    resized = 0;
    winsize size;
    if (resized_by_ < 0 || ::ioctl(resized_by_, TIOCGWINSZ, &size) != 0) return;
    bool told = false;
    for (Channel& c : channel_)
      if (c.open() && c.at.terminal) told = ::ioctl(c.at.source, TIOCSWINSZ, &size) == 0 || told;
    // The program got the signal together with us, perhaps before the size had changed.
    if (told && program_ > 0) ::kill(program_, SIGWINCH);
  }

  // Both streams are done; what peel did not read yet is still sent.
  [[noreturn]] void finish() {
    if (control_ >= 0 && !delivered_) tell(Chunk::kDelivered, 0, nullptr, 0);
    while (control_ >= 0 && !queue_.empty()) {
      pollfd fd{control_, POLLOUT, 0};
      ::poll(&fd, 1, -1);
      if ((fd.revents & (POLLERR | POLLHUP | POLLNVAL)) || !queue_.send(control_)) break;
    }
    ::_exit(0);
  }

  Channel channel_[2];
  Queue queue_;
  int control_, resized_by_;
  pid_t program_;
  uint32_t dropped_ = 0;
  bool ended_ = false;      // the program is gone
  bool delivered_ = false;  // and peel knows that all it wrote was handed on
};

// Keeps the descriptors in `keep` (-1 = none) and closes all others.
void close_others(int* keep, int count) {
  std::sort(keep, keep + count);
  unsigned from = 0;
  for (int i = 0; i < count; ++i) {
    if (keep[i] < 0) continue;
    const auto fd = static_cast<unsigned>(keep[i]);
    if (fd > from) ::syscall(SYS_close_range, from, fd - 1, 0);
    from = std::max(from, fd + 1);
  }
  ::syscall(SYS_close_range, from, ~0u, 0);
}

}  // namespace

void relay(const RelayOptions& o) {
  for (const int signal : {SIGINT, SIGQUIT, SIGTERM, SIGHUP, SIGPIPE, SIGTTOU}) ::signal(signal, SIG_IGN);
  ::prctl(PR_SET_NAME, "peel-output");
  struct sigaction action {};
  action.sa_handler = on_resize;
  ::sigaction(SIGWINCH, &action, nullptr);
  sigset_t none;
  ::sigemptyset(&none);
  ::sigprocmask(SIG_SETMASK, &none, nullptr);
  int keep[] = {o.channel[0].source, o.channel[0].target, o.channel[1].source, o.channel[1].target, o.control, o.resized_by};
  close_others(keep, 6);
  // In static storage: 128 KiB of buffers are too much for a stack of unknown size.
  alignas(Relay) static char place[sizeof(Relay)];
  (new (place) Relay(o))->run();
}

}  // namespace peel::launch
