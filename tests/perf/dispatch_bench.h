// One measurement, written once for both sides: `Side` names stock's or the embedded engine's types. An operator of two
// tensors with a kernel at Autograd that redispatches below itself and one at CPU that returns its argument: two hops
// and nothing else. Best of many rounds, as the rest is noise.
#pragma once
#include <algorithm>
#include <chrono>

template <class Call>
double best_ns(long calls, Call call) {
  double best = 1e18;
  for (int round = 0; round < 15; ++round) {
    const auto begin = std::chrono::steady_clock::now();
    for (long i = 0; i < calls; ++i) call();
    const auto end = std::chrono::steady_clock::now();
    best = std::min(best, std::chrono::duration<double, std::nano>(end - begin).count() / static_cast<double>(calls));
  }
  return best;
}
