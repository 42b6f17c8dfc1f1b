// Compilers side by side, each with its own log; stoppable.
#pragma once
#include <atomic>
#include <functional>
#include <string>
#include <vector>

#include "sessions/result.h"

namespace peel::launch {

struct Job {
  std::vector<std::string> command;
  std::string log;  // file that gets what it prints
};
struct JobsResult {
  int failed = -1;         // index of a job that failed, -1 = none
  int status = 0;          // its exit status
  bool cancelled = false;
};
/// Runs at most `at_once` jobs at a time until all are done, one fails or `cancel` is true; the others are then
/// killed with their children. `done(n)` after each. Error: one could not be started at all.
Result<JobsResult> run_jobs(const std::vector<Job>&, int at_once, const std::function<void(int)>& done, const std::atomic<bool>* cancel);

/// Compilers that this machine carries: its cores, but no more than fit into its memory.
int sensible_jobs();

}  // namespace peel::launch
