#include "tracer/launch/signals.h"

#include <atomic>
#include <cerrno>
#include <csignal>

namespace peel::launch {
namespace {

constexpr int kIgnored[] = {SIGINT, SIGQUIT, SIGPIPE};
constexpr int kPassedOn[] = {SIGTERM, SIGHUP};
std::atomic<pid_t> program_of_guard = 0;
std::atomic<bool> taken = false;
struct sigaction before[NSIG];

void pass_on(int signal) {
  const int error = errno;
  const pid_t program = program_of_guard.load();
  if (program > 0) ::kill(program, signal);
  errno = error;
}

}  // namespace

void SignalGuard::take_over() {
  if (taken.exchange(true)) return;
  holds_ = true;
  struct sigaction ignore {};
  ignore.sa_handler = SIG_IGN;
  struct sigaction pass {};
  pass.sa_handler = pass_on;
  pass.sa_flags = SA_RESTART;
  for (const int s : kIgnored) ::sigaction(s, &ignore, &before[s]);
  for (const int s : kPassedOn) {
    ::sigaction(s, nullptr, &before[s]);
    if (before[s].sa_handler != SIG_IGN) ::sigaction(s, &pass, nullptr);  // nohup stays nohup
  }
}

void SignalGuard::set_program(pid_t program) {
  if (holds_) program_of_guard = program;
}

SignalGuard::~SignalGuard() {
  if (!holds_) return;
  for (const int s : kIgnored) ::sigaction(s, &before[s], nullptr);
  for (const int s : kPassedOn) ::sigaction(s, &before[s], nullptr);
  program_of_guard = 0;
  taken = false;
}

void SignalGuard::restore_for_child() {
  if (!taken) return;
  for (const int s : kIgnored) ::sigaction(s, &before[s], nullptr);
  for (const int s : kPassedOn) ::sigaction(s, &before[s], nullptr);
}

}  // namespace peel::launch
