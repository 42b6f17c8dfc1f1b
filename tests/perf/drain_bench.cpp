// From rings to file at full speed: one producer in this process writes synthetic hops through a real ring as
// fast as it gets room, the drain makes a session of them. Prints hops/s and bytes a hop.
//   peel_drain_bench [HOPS [FILE]]
//
// The hops look like `z = x * w + b` in a training loop: operators of two hops each. `standard` adds a stack and
// values in the mix that a recorded transformer training loop has: per hop 2 arguments, 1 result, 0.5 newborn
// tensors (there 0.25), 0.06 nodes with two edges each.
#include <sys/resource.h>
#include <sys/stat.h>

#include <cstdio>
#include <cstdlib>
#include <string>
#include <thread>

#include "tests/unit/drain/fake_process.h"

namespace peel::testing {
namespace {

double cpu_seconds(int who) {
  rusage u;
  getrusage(who, &u);
  return static_cast<double>(u.ru_utime.tv_sec + u.ru_stime.tv_sec) + 1e-6 * static_cast<double>(u.ru_utime.tv_usec + u.ru_stime.tv_usec);
}

struct Program {
  FakeProcess& process;
  FakeThread thread;
  uint32_t ops[2], kernels[2][2], name, stacks[8];
  uint64_t sequence = 0;

  explicit Program(FakeProcess& p) : process(p), thread(p.thread("MainThread")) {
    ops[0] = p.op("aten::mul", "Tensor", {"self", "other"});
    ops[1] = p.op("aten::add", "Tensor", {"self", "other", "alpha"});
    for (int i = 0; i < 2; ++i) {
      kernels[i][0] = p.kernel(ops[i], key::Autograd, "autograd kernel");
      kernels[i][1] = p.kernel(ops[i], key::CPU, "kernel");
    }
    name = p.string("AddBackward0");
    uint32_t parent = p.stack(0, "program.py", 1, "<module>");
    for (uint32_t i = 0; i < 8; ++i) stacks[i] = p.stack(parent, "program.py", 10 + i, "step");
  }
  void two_hops(uint64_t i, bool standard) {
    const int which = static_cast<int>(i & 1);
    const uint64_t result = 0x10000 + (i % 64) * 0x100, storage = 0x80000 + (i % 64) * 0x100;
    const uint64_t a = which ? 0x10000 + ((i - 1) % 64) * 0x100 : 0x5000, b = which ? 0x6000 : 0x7000;
    const uint8_t flags = standard ? uint8_t{0} : uint8_t{wire::kNoValues};
    const uint32_t stack = standard ? stacks[i & 7] : 0;
    thread.begin({ops[which], wire::HopKind::kCall, key::AutogradCPU, kAutogradSet, kCpuTensor, kernels[which][0], 1, stack, flags});
    if (standard) {
      tensor(0, a, a + 0x70000, 0);
      tensor(1, b, b + 0x70000, 0);
      thread.value(2, int64_t{1});
      thread.value(3, static_cast<int64_t>(i & 15));
    }
    thread.begin({ops[which], wire::HopKind::kRedispatch, key::CPU, kCpuSet, 0, kernels[which][1], 1, stack, flags});
    if (standard) tensor(wire::kResultBit, result, storage, 0);
    thread.end();
    if (standard) {
      tensor(wire::kResultBit, result, storage, wire::kSameAsInner);
    }
    if (standard && i % 8 == 0) {
      wire::Edge edges[2] = {{0x900000 + (sequence % 512) * 0x200, sequence, 0, 0}, {0xA00000, UINT64_MAX, 0, 0}};
      ++sequence;
      wire::Node n{};
      n.head = {wire::RecordKind::kNode, static_cast<uint16_t>((sizeof n + sizeof edges) / 8), name};
      n.node = 0x900000 + (sequence % 512) * 0x200;
      n.sequence_nr = sequence;
      n.topological_nr = sequence;
      n.output = result;
      n.edges = 2;
      if (uint64_t* at = thread.producer().reserve(n.head.words)) {
        std::memcpy(at, &n, sizeof n);
        std::memcpy(at + sizeof n / 8, edges, sizeof edges);
        thread.producer().publish(n.head.words);
      }
    }
    thread.end();
  }
  void tensor(uint32_t place, uint64_t impl, uint64_t storage, uint16_t flags) {
    struct {
      wire::Tensor t;
      int64_t dims[4];
    } r{};
    const size_t words = flags & wire::kSameAsInner ? sizeof r.t / 8 : sizeof r / 8;
    r.t.head = {wire::RecordKind::kTensor, static_cast<uint16_t>(words), place};
    r.t.impl = impl;
    r.t.storage = storage;
    r.t.keyset = kCpuTensor;
    r.t.flags = static_cast<uint16_t>(flags | wire::kParticipates | wire::kRequiresGrad);
    r.t.dtype = 6;
    r.t.ndim = 2;
    r.t.device_index = -1;
    r.dims[0] = 32, r.dims[1] = 64, r.dims[2] = 64, r.dims[3] = 1;
    if (uint64_t* at = thread.producer().reserve(static_cast<uint32_t>(words))) {
      std::memcpy(at, &r, words * 8);
      thread.producer().publish(static_cast<uint32_t>(words));
    }
  }
};

int measure(const char* what, bool standard, uint64_t hops, const std::string& path) {
  auto drain = Drain::create({path});
  if (!drain) return std::fprintf(stderr, "%s\n", drain.error().c_str()), 2;
  const double cpu = cpu_seconds(RUSAGE_SELF);
  int64_t begin, produced;
  {
    FakeProcess process(**drain, wire::kDefaultRingBytes);
    Program program(process);
    begin = wire::monotonic_ns();
    for (uint64_t i = 0; i < hops / 2; ++i) program.two_hops(i, standard);
    produced = wire::monotonic_ns();
    program.thread.close();
  }
  const Status status = (*drain)->finish("complete", 0);
  if (!status) return std::fprintf(stderr, "%s\n", status.error().c_str()), 2;
  const double seconds = 1e-9 * static_cast<double>(wire::monotonic_ns() - begin);
  struct stat s;
  if (::stat(path.c_str(), &s) != 0) return 2;
  const DrainStats stats = (*drain)->stats();
  std::printf("%-8s  %8.3f M hops/s to the finished file  %6.1f bytes/hop  (%.1f M hops, program waited %.2f of %.2f s, %.2f s CPU)\n", what,
              1e-6 * static_cast<double>(hops) / seconds, static_cast<double>(s.st_size) / static_cast<double>(hops), 1e-6 * static_cast<double>(hops),
              1e-9 * static_cast<double>(stats.waits_ns), 1e-9 * static_cast<double>(produced - begin), cpu_seconds(RUSAGE_SELF) - cpu);
  return stats.hops == hops ? 0 : 1;
}

}  // namespace
}  // namespace peel::testing

int main(int argc, char** argv) {
  const uint64_t hops = argc > 1 ? std::strtoull(argv[1], nullptr, 10) / 2 * 2 : 4'000'000;
  const std::string path = argc > 2 ? argv[2] : "/tmp/peel-drain-bench-" + std::to_string(::getpid()) + ".peel";
  const int keys = peel::testing::measure("keys", false, hops, path);
  const int standard = peel::testing::measure("standard", true, hops / 2, path);
  if (argc <= 2) ::unlink(path.c_str());
  return std::max(keys, standard);
}
