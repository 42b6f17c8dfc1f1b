// One computation at a time on a thread of its own, asked for and collected from the frame loop: a panel asks,
// keeps drawing what it has, and takes the new value when it is there.
#pragma once
#include <atomic>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <thread>

namespace peel::views {

/// Not copyable; all calls from one thread (the frame loop). The destructor and stop() wait for the computation,
/// so that what it reads may be freed afterwards; the computation looks at its flag and ends early.
template <class T>
class Background {
 public:
  using Cancelled = const std::atomic<bool>&;
  Background() = default;
  Background(const Background&) = delete;
  Background& operator=(const Background&) = delete;
  ~Background() { stop(); }

  /// Starts it, after stopping what ran before.
  void start(std::function<T(Cancelled)> work) {
    stop();
    cancel_ = false, done_ = false, running_ = true;
    thread_ = std::thread([this, work = std::move(work)] {
      T value = work(cancel_);
      std::lock_guard lock(mutex_);
      value_.emplace(std::move(value));
      done_ = true;
    });
  }
  /// The value, once, when it is there.
  std::optional<T> take() {
    if (!running_ || !done_) return {};
    thread_.join();
    running_ = false;
    std::lock_guard lock(mutex_);
    std::optional<T> v = std::move(value_);
    value_.reset();
    return v;
  }
  bool busy() const { return running_; }
  /// Asks it to end, without waiting; take() gives what it has by then.
  void cancel() { cancel_ = true; }
  void stop() {
    if (!running_) return;
    cancel_ = true;
    thread_.join();
    running_ = false;
    value_.reset();
  }

 private:
  std::thread thread_;
  std::atomic<bool> cancel_{false}, done_{false};
  bool running_ = false;
  std::mutex mutex_;
  std::optional<T> value_;
};

}  // namespace peel::views
