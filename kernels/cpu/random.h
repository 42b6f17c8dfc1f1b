// Random numbers equal to stock's for the same seed: a 32-bit Mersenne twister, and the ways in which it is drawn from.
#pragma once
#include <array>
#include <cstdint>
#include <optional>
#include <random>

#include "core/dispatch/reference.h"

namespace peel::kernels {

/// What a generator is at, in the memory that stock's gives and takes.
struct GeneratorState {
  uint64_t seed = 0;
  int32_t left = 1, seeded = 1;
  uint64_t next = 0;
  std::array<uint64_t, 624> words{};
  double unused_x = 0, normal = 0, unused_rho = 0;
  int32_t normal_kept = 0, unused = 0;
  uint64_t unused_float = 0;
};
static_assert(sizeof(GeneratorState) == 5056);

class Generator {
 public:
  explicit Generator(uint64_t seed) { this->seed(seed); }
  void seed(uint64_t s) {
    twister_.seed(static_cast<uint32_t>(s));
    next_normal_.reset();
  }
  uint32_t next32() { return static_cast<uint32_t>(twister_()); }
  uint64_t next64() {
    const uint64_t high = next32();
    return high << 32 | next32();
  }
  double uniform53() { return static_cast<double>(next64() & ((uint64_t{1} << 53) - 1)) / 9007199254740992.0; }
  float uniform24() { return static_cast<float>(next32() & ((1u << 24) - 1)) / 16777216.0f; }
  /// Pairs: the second of each is kept for the next call.
  double normal();
  GeneratorState state(uint64_t seed) const;
  void set_state(const GeneratorState&);

 private:
  std::mt19937 twister_;
  std::optional<double> next_normal_;
};
/// Of the process; seeded with 67280421310721 at first. Not for several threads at once.
Generator& default_generator();
void manual_seed(uint64_t);
/// torch.Generator(): one of its own, or the process's.
struct GeneratorObject final : core::KeyedObject {
  explicit GeneratorObject(std::optional<uint64_t> seed) {
    keys = core::DispatchKey::CPU;
    if (seed) own.emplace(*seed);
  }
  Generator& get() { return own ? *own : default_generator(); }
  std::optional<Generator> own;
};
/// The one that a call names, else the process's.
Generator& chosen(const std::optional<core::GeneratorHandle>&);

}  // namespace peel::kernels
