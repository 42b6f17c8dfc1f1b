// The onion of a hop: one operator re-entering itself, by redispatch or by a nested call of the same operator.
#pragma once
#include <vector>

#include "sessions/why_terms.h"

namespace peel {

/// The hops of the onion, outermost first, and where in it the hop asked about stands.
struct Chain {
  std::vector<EventId> hops;
  size_t at = 0;
};
Chain chain_of(const Session&, EventId);

/// The call whose formula the redispatch at `chain.hops[index]` goes back to (itself for a call); 0 = unknown.
EventId call_above(const Session&, const Chain&, size_t index);

/// Does its kernel only call other operators (composite)?
bool is_composite(const Kernel*);

OnionLayer layer_of(const Session&, const Chain&, size_t index);

/// Layers that ran, interleaved by priority with those that did not.
std::vector<OnionLayer> make_onion(const Session&, const KeyMath&, const Chain&, const std::vector<WhyKey>& passed_over);

/// What a key came to at `chain.hops[index]`: the first failing term in the order of the formula.
WhyKey verdict_of(const Session&, const KeyMath&, const Chain&, size_t index, KeyId);

/// Keys that could have mattered, highest priority first.
std::vector<KeyId> involved_keys(const Session&, const KeyMath&, const Chain&);

/// One or two sentences: what ran, why that, and what it did.
std::string sentence_of(const Session&, const KeyMath&, const Chain&, const std::vector<WhyKey>&);

}  // namespace peel
