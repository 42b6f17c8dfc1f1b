// Ctrl-C while threads stand: Python only notes it and would act when the hop returns, so threads that stand have to hear of it.
#pragma once
#include <signal.h>

#include <atomic>
#include <cstdint>
#include <mutex>
#include <new>

namespace peel::wire {

/// One a process. The program's own handler, whatever it is, runs as before; a program that ignores Ctrl-C or dies of it has none.
class Interrupts {
 public:
  /// So many came while someone watched.
  static uint32_t count() { return count_.load(); }
  /// Each thread that stands watches, and ends it.
  static void watch(bool on) {
    std::lock_guard<std::mutex> lock(mutex_);
    struct sigaction now;
    if (on && standing_++ == 0) {
      if (sigaction(SIGINT, nullptr, &now) != 0 || is_ours(now)) return;
      if (!(now.sa_flags & SA_SIGINFO) && (now.sa_handler == SIG_DFL || now.sa_handler == SIG_IGN)) return;
      before_ = now;
      now.sa_flags |= SA_SIGINFO;
      now.sa_sigaction = &on_interrupt;
      sigaction(SIGINT, &now, nullptr);
    } else if (!on && --standing_ == 0) {
      // another thread of the program may have set a handler meanwhile
      if (sigaction(SIGINT, nullptr, &now) == 0 && is_ours(now)) sigaction(SIGINT, &before_, nullptr);
    }
  }
  /// In a forked child: none of its threads stands.
  static void forget() {
    new (&mutex_) std::mutex();
    standing_ = 0;
  }

 private:
  static void on_interrupt(int signal, siginfo_t* info, void* context) {
    count_.fetch_add(1);
    if (before_.sa_flags & SA_SIGINFO) return before_.sa_sigaction(signal, info, context);
    if (before_.sa_handler != SIG_DFL && before_.sa_handler != SIG_IGN) before_.sa_handler(signal);
  }
  static bool is_ours(const struct sigaction& a) { return a.sa_flags & SA_SIGINFO && a.sa_sigaction == &on_interrupt; }

  static inline std::mutex mutex_;
  static inline int standing_ = 0;
  static inline struct sigaction before_;
  static inline std::atomic<uint32_t> count_{0};
};

}  // namespace peel::wire
