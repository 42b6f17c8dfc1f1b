#include <sstream>

#include "kernels/cpu/random.h"

namespace peel::kernels {

// A standard twister tells its words and its place among them as text; the place is behind the last word before the first draw, too.
GeneratorState Generator::state(uint64_t seed) const {
  GeneratorState out{.seed = seed};
  std::stringstream text;
  text << twister_;
  for (uint64_t& w : out.words) text >> w;
  uint64_t place = 0;
  text >> place;
  if (twister_ != std::mt19937(static_cast<uint32_t>(seed))) {
    out.next = place;
    out.left = static_cast<int32_t>(out.words.size() + 1 - place);
  }
  out.normal = next_normal_.value_or(0);
  out.normal_kept = next_normal_.has_value();
  return out;
}

void Generator::set_state(const GeneratorState& s) {
  std::stringstream text;
  for (const uint64_t w : s.words) text << static_cast<uint32_t>(w) << ' ';
  text << (s.left == 1 ? s.words.size() : s.next);
  text >> twister_;
  next_normal_ = s.normal_kept ? std::optional(s.normal) : std::nullopt;
}

}  // namespace peel::kernels
