// One tensor's life, as moments in order: how it came, who used it, who wrote its storage, what views there are, which
// nodes saved it and read it again in backward.
#pragma once
#include <string>
#include <vector>

#include "views/words.h"

namespace peel::views {

struct TensorMoment {
  enum class Kind : uint8_t { kBirth, kFirstSeen, kUse, kWrite, kView, kSaved, kRead, kFolded, kEnd } kind;
  EventId event;            // 0 = leads nowhere
  Parts words;              // "born in addmm"
  std::string note;         // "as mat1", "train.py:17"
  TensorId tensor;          // another tensor that this is about (a view, the base)
  NodeId node;              // that saved it
  bool current = false;     // the selected hop, or one inside of it
  bool later = false;       // after the selected hop: drawn fainter
};

struct TensorModel {
  TensorId tensor;
  std::string name;         // `t37`
  std::string brief;        // "f32 [8,16], cpu, version 1, requires grad" as of the selection
  Parts sentence;           // "t37 was born in addmm with grad mode on; relu_ wrote it once."
  TensorId base;
  std::vector<TensorId> others;     // tensors that share its storage, as far as writes and bases show
  std::vector<TensorMoment> moments;
  uint64_t uses_folded = 0;
  EventId birth;            // or the first hop that met it
  bool known = false;       // the session has a row for it
};

/// The tensor that a hop is about: its first result, else its first tensor argument (both of the call itself).
TensorId tensor_for(const Session&, EventId);
/// `at`: the selected hop.
TensorModel make_tensor_model(const Session&, TensorId, EventId at);

}  // namespace peel::views
