// peel_make_gpu_session FILE [STEPS]: the made-up training loop on a GPU as a file, to look at.
#include <cstdio>

#include "tests/made_gpu.h"

int main(int argc, char** argv) {
  if (argc < 2) return std::fprintf(stderr, "peel_make_gpu_session FILE [STEPS]\n"), 2;
  const peel::test::MadeGpu made(argv[1], argc > 2 ? std::atoi(argv[2]) : 3);
  std::printf("%u hops, %u kernels, %u copies\n", made.hops(), made.kernels(), made.copies());
}
