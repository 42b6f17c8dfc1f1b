// While the program runs, the keyboard's signals are the program's: peel ignores them and stays to finish
// the file. Requests to end (SIGTERM, SIGHUP) that reach peel alone are passed on to the program.
#pragma once
#include <sys/types.h>

namespace peel::launch {

/// One at a time has the signals; others do nothing.
class SignalGuard {
 public:
  SignalGuard() = default;
  SignalGuard(const SignalGuard&) = delete;
  SignalGuard& operator=(const SignalGuard&) = delete;
  ~SignalGuard();
  /// Before the program is started: nothing that arrives meanwhile is lost on us.
  void take_over();
  /// Whom to pass requests on to; 0 = nobody (any more).
  void set_program(pid_t program);
  /// In a forked child: dispositions as peel itself got them. System calls only.
  static void restore_for_child();

 private:
  bool holds_ = false;
};

}  // namespace peel::launch
