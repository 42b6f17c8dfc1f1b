// Four lines under no_grad and again under inference_mode: a view, one that is the same, an element-wise operator, and
// a composite one with a call inside.
#pragma once
#include <memory>

#include "tests/unit/views/fake_session.h"

namespace peel::test {

inline std::unique_ptr<FakeSession> modes_session() {
  auto s = std::make_unique<FakeSession>();
  const uint64_t cpu = bit::kCpu | bit::kDense, view = cpu | bit::kADInplaceOrView, autograd = view | bit::kAutograd;
  s->at(s->hop({}, s->op("aten::randn"), Kind::kCall, key::kCpu, cpu)).stack = s->frame("p.py", 1);
  const TlsId modes[2] = {s->tls(bit::kIncluded, bit::kExcluded, false, false), s->tls(bit::kBackendSelect, bit::kExcluded | bit::kAutogradSet, false, true)};
  StackId lines[4];
  for (int i = 0; i < 4; ++i) lines[i] = s->frame("p.py", 5 + i, "body");
  const OpId linear = s->op("aten::linear");
  const KernelId composite = s->kernel(linear, key::kCpu, "math kernel");
  for (int mode = 0; mode < 2; ++mode) {
    const bool inference = mode == 1;
    const auto call = [&](const char* name, int line, EventId parent, bool through_view) {
      const OpId o = s->op(name);
      EventId at = parent;
      bool head = true;
      const auto layer = [&](KeyId k, uint64_t set) {
        const EventId e = s->hop(at, o, head ? Kind::kCall : Kind::kRedispatch, k, set, head ? bit::kTensor : 0);
        s->at(e).tls = modes[mode], s->at(e).stack = lines[line];
        at = e, head = false;
      };
      if (!inference) layer(key::kAutogradCpu, autograd);
      if (through_view) layer(key::kADInplaceOrView, view);
      layer(key::kCpu, cpu);
    };
    call("aten::view", 0, {}, true);
    const EventId ones = s->hop({}, s->op("aten::ones"), Kind::kCall, key::kCpu, cpu);
    s->at(ones).tls = modes[mode], s->at(ones).stack = lines[1];
    call("aten::exp", 2, {}, false);
    const EventId outer = s->hop({}, linear, Kind::kCall, inference ? key::kCpu : key::kAutogradCpu, inference ? cpu : autograd, bit::kTensor);
    s->at(outer).tls = modes[mode], s->at(outer).stack = lines[3], s->at(outer).kernel = composite;
    call("aten::mm", 3, outer, false);
  }
  return s;
}

}  // namespace peel::test
