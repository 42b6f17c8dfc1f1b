#include "sessions/drain.h"

#include <poll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <unistd.h>

#include <atomic>
#include <cstring>
#include <deque>
#include <mutex>
#include <thread>

#include "sessions/drain_ledger.h"
#include "sessions/drain_merge.h"
#include "sessions/drain_process.h"
#include "sessions/format.h"
#include "sessions/live.h"
#include "sessions/writer.h"
#include "tracer/wire/ring.h"

namespace peel {
namespace {

constexpr int64_t kCommitNs = 250'000'000;
// While rings have room, records lie there for a while: a program that runs for a moment is not slowed by a
// drain that works beside it on the same caches and cores.
constexpr int64_t kLingerNs = 20'000'000;
constexpr double kLingerFullness = 0.4;
constexpr int kExitMs = 20;  // between closing its descriptors and its end, a process that ends needs less

/// A descriptor that becomes readable when the process ends; -1 when there is none, or the connection is another process'.
int life_of(int connection, int pid) {
  ucred peer{};
  socklen_t size = sizeof peer;
  if (::getsockopt(connection, SOL_SOCKET, SO_PEERCRED, &peer, &size) != 0 || peer.pid != pid) return -1;
  return static_cast<int>(::syscall(SYS_pidfd_open, pid, 0));
}
constexpr int64_t kCalibrateNs = 20'000'000;

/// A session that is being recorded is marked by a socket in the abstract namespace, named by the file's
/// device and inode: it leaves nothing on disk, disappears with the process, and touches no lock of SQLite's.
bool mark_address(const std::string& path, sockaddr_un* address, socklen_t* size) {
  struct stat s;
  if (::stat(path.c_str(), &s) != 0) return false;
  *address = sockaddr_un{};
  address->sun_family = AF_UNIX;
  const int n = std::snprintf(address->sun_path + 1, sizeof address->sun_path - 1, "peel-drain-%llx-%llx", static_cast<unsigned long long>(s.st_dev),
                              static_cast<unsigned long long>(s.st_ino));
  *size = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + 1 + static_cast<size_t>(n));
  return true;
}

int64_t unix_ns() {
  timespec s;
  clock_gettime(CLOCK_REALTIME, &s);
  return static_cast<int64_t>(s.tv_sec) * 1'000'000'000 + s.tv_nsec;
}

class RingDrain final : public Drain {
 public:
  explicit RingDrain(const DrainOptions& options) : options_(options), ledger_(options.keep_source), merge_(ledger_) {}
  ~RingDrain() override;

  Status start();
  void set_meta(const std::string& key, const std::string& value) override;
  Status attach(int memory_fd, int connection_fd, const void* hello, size_t hello_bytes) override;
  void output(int stream, std::string text, int64_t monotonic_ns) override;
  DrainStats stats() const override;
  std::string trouble() const override;
  Status finish(const std::string& state, int exit_code) override;

 private:
  struct Attached {
    wire::Memory memory;
    int connection;
    wire::Hello hello;
    int64_t ns;
  };
  struct Live {
    std::unique_ptr<Process> process;
    int connection;  // closed when the process ends, or closes all of its descriptors, as daemons do
    int life;        // a pidfd, which tells the two apart; -1 = none
  };
  struct Printed {
    int stream;
    std::string text;
    int64_t ns;
  };

  void run();
  void wait();
  void take_over();
  void calibrate();
  void round();
  void place_stops();
  void write_outputs(bool all);
  void bury();
  void commit();
  void commit_if_due();
  void stop_recording();
  void publish_stats();

  const DrainOptions options_;
  Ledger ledger_;
  std::unique_ptr<Writer> writer_;
  std::unique_ptr<Batch> batch_;
  std::vector<Live> live_;
  Merge merge_;  // after live_: it looks into the processes while it is taken apart
  std::deque<Printed> outputs_;
  std::unordered_map<int64_t, uint32_t> by_pid_;
  int64_t started_ns_ = 0, last_commit_ns_ = 0, last_round_ns_ = 0;
  bool calibrated_ = false, cut_ = false;
  bool stopped_ = false;  // a thread stands, and the file does not show where yet
  uint32_t lost_before_ = 0;
  int wake_ = -1, mark_ = -1;

  mutable std::mutex mutex_;  // what other threads hand in
  std::vector<Attached> attached_;
  std::vector<std::pair<std::string, std::string>> metas_;
  std::vector<Printed> printed_;
  DrainStats stats_{};
  bool stop_ = false, finished_ = false;
  std::atomic<bool> refusing_{false};
  std::thread thread_;
};

RingDrain::~RingDrain() {
  if (thread_.joinable()) finish("crashed", 0);
  for (const int fd : {wake_, mark_}) {
    if (fd >= 0) ::close(fd);
  }
}

Status RingDrain::start() {
  if (Drain::alive(options_.path)) return Error{"another peel is recording into " + options_.path + "; name another file with -o"};
  auto writer = Writer::create(options_.path);
  if (!writer) return Error{writer.error()};
  writer_ = std::move(*writer);
  sockaddr_un address;
  socklen_t size;
  if (mark_address(options_.path, &address, &size)) {
    mark_ = ::socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    if (mark_ >= 0) ::bind(mark_, reinterpret_cast<sockaddr*>(&address), size);
  }
  wake_ = ::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
  if (wake_ < 0) return Error{std::string("cannot make an eventfd: ") + std::strerror(errno)};
  started_ns_ = last_commit_ns_ = wire::monotonic_ns();
  ledger_.clock.ticks0 = wire::ticks();
  // a bound on the size is looked at between transactions, so they are made a small part of it
  if (options_.max_bytes) ledger_.commit_hops = static_cast<uint32_t>(std::clamp<uint64_t>(options_.max_bytes / 8192, 256, Ledger::kCommitHops));
  batch_ = writer_->take();
  ledger_.commit(batch_.get());
  for (const auto& [key, value] : {std::pair<std::string, std::string>{"format", std::to_string(kFormatVersion)}, {"state", "running"}, {"started_unix_ns", std::to_string(unix_ns())}}) {
    batch_->add(Small::kMeta, {key, value});
  }
  commit();
  thread_ = std::thread([this] { run(); });
  return Status();
}

void RingDrain::set_meta(const std::string& key, const std::string& value) {
  std::lock_guard lock(mutex_);
  metas_.emplace_back(key, value);
}

void RingDrain::output(int stream, std::string text, int64_t monotonic_ns) {
  std::lock_guard lock(mutex_);
  printed_.push_back({stream, std::move(text), monotonic_ns - started_ns_});
}

Status RingDrain::attach(int memory_fd, int connection_fd, const void* hello, size_t hello_bytes) {
  Attached a{{}, connection_fd, {}, wire::monotonic_ns() - started_ns_};
  const char* wrong = nullptr;
  if (hello_bytes != sizeof a.hello) {
    wrong = "its greeting has the wrong size";
  } else {
    std::memcpy(&a.hello, hello, sizeof a.hello);
    if (a.hello.magic != wire::kMagic) wrong = "its greeting does not begin as it should";
    if (!wrong && a.hello.version != wire::kVersion) wrong = "its agent was built for another version of peel";
  }
  if (!wrong && refusing_.load(std::memory_order_acquire)) wrong = "recording has stopped";
  if (!wrong) wrong = wire::open_memory(memory_fd, &a.memory);
  if (!wrong && options_.live) options_.live->attach(a.memory.control);  // breakpoints are there before its first hop
  const uint8_t answer = wrong ? 0 : 1;
  const ssize_t sent = ::send(connection_fd, &answer, 1, MSG_NOSIGNAL | MSG_DONTWAIT);
  (void)sent;  // a process that is gone already is noticed by its end-of-file
  if (wrong) {
    ::close(memory_fd);
    ::close(connection_fd);
    std::lock_guard lock(mutex_);
    ++lost_before_;
    return Error{std::string("a process of the program is not recorded: ") + wrong};
  }
  {
    std::lock_guard lock(mutex_);
    attached_.push_back(a);
  }
  const uint64_t one = 1;
  if (::write(wake_, &one, sizeof one) < 0) return Status();  // it looks by itself soon
  return Status();
}

DrainStats RingDrain::stats() const {
  std::lock_guard lock(mutex_);
  DrainStats s = stats_;
  s.bytes = writer_->bytes();
  return s;
}

std::string RingDrain::trouble() const { return writer_->trouble(); }

void RingDrain::run() {
  ::pthread_setname_np(::pthread_self(), "peel drain");
  for (;;) {
    wait();
    {
      std::lock_guard lock(mutex_);
      if (stop_) break;
    }
    take_over();
    round();
    place_stops();
    bury();
    write_outputs(false);
    commit_if_due();
    if (writer_->failed() || cut_) stop_recording();
    publish_stats();
  }
  // The end: nothing more is accepted; what threads were writing gets a moment to be published.
  take_over();
  stop_recording();
  const int64_t deadline = wire::monotonic_ns() + 200'000'000;
  const auto anyone_busy = [&] {
    for (const Live& l : live_) {
      for (uint32_t i = 0; i < std::min(l.process->memory.control->rings.load(), wire::kMaxRings); ++i) {
        if (l.process->memory.control->ring[i].busy.load()) return true;
      }
    }
    return false;
  };
  while (anyone_busy() && wire::monotonic_ns() < deadline) ::usleep(1000);
  for (Live& l : live_) l.process->gone = true;
  bury();
  write_outputs(true);
  publish_stats();
}

/// Sleeps until there is likely something to do: rings have no bell, so they are looked at every few
/// milliseconds, without a pause when they fill up.
void RingDrain::wait() {
  std::vector<pollfd> fds{{wake_, POLLIN, 0}};
  for (const Live& l : live_) fds.push_back({l.connection >= 0 ? l.connection : l.life, POLLIN, 0});
  const int timeout = stopped_ || merge_.fullness() >= kLingerFullness ? 0 : live_.empty() ? 20 : merge_.fullness() > 0 ? 1 : 5;
  if (::poll(fds.data(), fds.size(), timeout) <= 0) return;
  uint64_t count;
  if (fds[0].revents && ::read(wake_, &count, sizeof count) < 0) return;
  for (size_t i = 1; i < fds.size(); ++i) {
    if (!fds[i].revents) continue;
    Live& l = live_[i - 1];
    if (l.connection >= 0) {
      char ignored[64];
      const ssize_t got = ::recv(l.connection, ignored, sizeof ignored, MSG_DONTWAIT);
      if (got > 0 || (got < 0 && (errno == EAGAIN || errno == EINTR))) continue;
      pollfd alive{l.life, POLLIN, 0};
      if (l.life >= 0 && ::poll(&alive, 1, kExitMs) == 0) {
        ::close(l.connection);
        l.connection = -1;
        continue;
      }
    }
    l.process->gone = true;
  }
}

void RingDrain::take_over() {
  std::vector<Attached> attached;
  std::vector<std::pair<std::string, std::string>> metas;
  uint32_t lost = 0;
  {
    std::lock_guard lock(mutex_);
    attached.swap(attached_);
    metas.swap(metas_);
    for (Printed& p : printed_) outputs_.push_back(std::move(p));
    printed_.clear();
    std::swap(lost, lost_before_);
  }
  for (auto& [key, value] : metas) ledger_.catalog.fact(key, value, 0);
  if (lost) ledger_.catalog.lose("refused processes", lost, "Processes of the program that could not be recorded.");
  for (Attached& a : attached) {
    calibrate();
    const uint32_t id = ++ledger_.processes;
    const auto parent = by_pid_.find(a.hello.parent_pid);
    const std::string name(a.hello.process_name, ::strnlen(a.hello.process_name, sizeof a.hello.process_name));
    ledger_.batch().add(Small::kProcess, {int64_t{id}, int64_t{a.hello.pid}, parent == by_pid_.end() ? Cell() : Cell(int64_t{parent->second}), name, a.ns, Cell()});
    by_pid_[a.hello.pid] = id;
    live_.push_back({std::make_unique<Process>(ledger_, id, a.memory), a.connection, life_of(a.connection, a.hello.pid)});
    live_.back().process->gpu.set_os_id(a.hello.pid);
    merge_.add(live_.back().process.get());
  }
}

/// Measures the tick once, over the time since the session began (mostly seconds: Python starts, torch is
/// imported), before the first time is converted.
void RingDrain::calibrate() {
  if (calibrated_) return;
  calibrated_ = true;
  const int64_t waited = wire::monotonic_ns() - started_ns_;
  if (waited < kCalibrateNs) ::usleep(static_cast<useconds_t>((kCalibrateNs - waited) / 1000 + 1));
  // the middle of two readings of the clock around one of the counter, the tightest of several
  int64_t best = INT64_MAX, at_ns = 0;
  uint64_t at_ticks = 0;
  for (int i = 0; i < 16; ++i) {
    const int64_t before = wire::monotonic_ns();
    const uint64_t ticks = wire::ticks();
    const int64_t after = wire::monotonic_ns();
    if (after - before >= best) continue;
    best = after - before;
    at_ns = before + best / 2;
    at_ticks = ticks;
  }
  const uint64_t ticks = std::max<uint64_t>(at_ticks - ledger_.clock.ticks0, 1);
  ledger_.clock.factor = static_cast<uint64_t>((static_cast<unsigned __int128>(at_ns - started_ns_) << 32) / ticks);
}

/// One look at everything, and all that can be merged after it.
void RingDrain::round() {
  if (live_.empty()) return;
  merge_.look();
  for (Live& l : live_) l.process->read_definitions();
  const int64_t now = wire::monotonic_ns();
  const bool gone = std::any_of(live_.begin(), live_.end(), [](const Live& l) { return l.process->gone; });
  if (!gone && !stopped_ && merge_.fullness() < kLingerFullness && now - last_round_ns_ < kLingerNs) return;
  last_round_ns_ = now;
  while (!cut_ && merge_.advance()) commit_if_due();
  merge_.settle();
  ledger_.write_tables(ledger_.clock.ns(merge_.complete_until()));
}

/// While a thread stands, all that it published before is in the file at once, and the hop that it stands at is known.
void RingDrain::place_stops() {
  if (!options_.live) return;
  stopped_ = false;
  for (const Live& l : live_) {
    const auto stop = options_.live->unplaced(l.process->memory.control);
    if (!stop) continue;
    const auto at = merge_.open_hop(l.process.get(), stop->ring, stop->head);
    if (at) {
      commit();
      writer_->settle();
      options_.live->place(l.process->memory.control, *stop, l.process->id, ThreadId{at->first}, EventId{at->second});
    }
    stopped_ |= !at;
  }
}

/// Ends processes that are gone, once all they published is merged.
void RingDrain::bury() {
  for (size_t i = 0; i < live_.size();) {
    Process& p = *live_[i].process;
    if (!p.gone) {
      ++i;
      continue;
    }
    // published less than a margin ago, it may still have to wait for other rings
    const int64_t deadline = wire::monotonic_ns() + 2 * Merge::kStuckNs;
    for (round(); !cut_ && !merge_.drained(&p) && wire::monotonic_ns() < deadline; round()) {
      commit_if_due();
      ::usleep(200);
    }
    merge_.remove(&p);
    if (options_.live) options_.live->detach(p.memory.control);
    p.gpu.finish();
    ledger_.batch().add(Small::kProcessEnd, {int64_t{p.id}, wire::monotonic_ns() - started_ns_});
    if (live_[i].connection >= 0) ::close(live_[i].connection);
    if (live_[i].life >= 0) ::close(live_[i].life);
    live_.erase(live_.begin() + static_cast<ptrdiff_t>(i));
  }
}

void RingDrain::write_outputs(bool all) {
  const int64_t complete = merge_.complete_until() && calibrated_ ? ledger_.clock.ns(merge_.complete_until()) : INT64_MAX;
  while (!outputs_.empty() && (all || live_.empty() || outputs_.front().ns < complete)) {
    Printed& p = outputs_.front();
    const uint32_t after = ledger_.history.first_at_or_after(p.ns, ledger_.hops) - 1;
    ledger_.batch().add(Small::kOutput, {p.ns, int64_t{p.stream}, std::move(p.text), after ? Cell(int64_t{after}) : Cell()});
    outputs_.pop_front();
  }
}

void RingDrain::commit_if_due() {
  if (!ledger_.full() && wire::monotonic_ns() - last_commit_ns_ < kCommitNs) return;
  commit();
  if (cut_) return;
  if (options_.max_bytes && writer_->bytes() >= options_.max_bytes) {
    cut_ = true;
    ledger_.catalog.lose("size bound", 1, "Recording stopped when the file had reached the size that was asked for.");
  } else if (ledger_.hops > kMaxId - (16u << 20)) {
    cut_ = true;
    ledger_.catalog.lose("too many hops", 1, "Recording stopped when the hops could no longer be numbered.");
  }
}

void RingDrain::commit() {
  last_commit_ns_ = wire::monotonic_ns();
  ledger_.catalog.write_losses();
  if (batch_->empty()) return;
  writer_->submit(std::move(batch_));
  batch_ = writer_->take();
  ledger_.commit(batch_.get());
}

void RingDrain::stop_recording() {
  refusing_.store(true, std::memory_order_release);
  for (Live& l : live_) l.process->memory.control->recording.store(0, std::memory_order_release);
}

void RingDrain::publish_stats() {
  std::lock_guard lock(mutex_);
  stats_ = {ledger_.hops, ledger_.nodes, ledger_.waits_ns, static_cast<uint64_t>(ledger_.catalog.lost("dropped")), 0, ledger_.processes,
            static_cast<uint32_t>(live_.size())};
}

Status RingDrain::finish(const std::string& state, int exit_code) {
  {
    std::lock_guard lock(mutex_);
    if (finished_) return Status();
    finished_ = stop_ = true;
  }
  const uint64_t one = 1;
  if (::write(wake_, &one, sizeof one) < 0) return Error{"cannot wake the drain"};
  thread_.join();
  const bool cut = cut_ || writer_->failed();
  commit();
  batch_->add(Small::kMeta, {std::string("hops"), std::to_string(ledger_.hops)});
  batch_->add(Small::kMeta, {std::string("exit_code"), std::to_string(exit_code)});
  batch_->add(Small::kMeta, {std::string("state"), cut ? std::string("truncated") : state});
  const Status status = writer_->finish(std::move(batch_));
  ::close(mark_);
  mark_ = -1;
  return status;
}

}  // namespace

Result<std::unique_ptr<Drain>> Drain::create(const DrainOptions& options) {
  auto drain = std::make_unique<RingDrain>(options);
  Status status = drain->start();
  if (!status) return Error{status.error()};
  return std::unique_ptr<Drain>(std::move(drain));
}

bool Drain::alive(const std::string& path) {
  sockaddr_un address;
  socklen_t size;
  if (!mark_address(path, &address, &size)) return false;
  const int fd = ::socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
  if (fd < 0) return false;
  const bool there = ::connect(fd, reinterpret_cast<sockaddr*>(&address), size) == 0;
  ::close(fd);
  return there;
}

}  // namespace peel
