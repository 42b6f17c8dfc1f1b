// Writes each hop and node run of the embedded engine as a line, with what a recording of stock tells of it: fields between tabs
//   depth op kind key set union included excluded grad_mode inference_mode error nodes
// nodes: `Name#sequence>next,next` between semicolons. `union` is "-" where the hop was no call.
#pragma once
#include <string>
#include <vector>

#include "core/autograd/node.h"
#include "core/observer.h"

namespace peel::core {

class HopLog final : public Observer {
 public:
  HopLog() { set_observer(this); }
  ~HopLog() override { set_observer(nullptr); }
  void begin(Hop&) override;
  void end(Hop&, HopValues*) noexcept override;
  void node_made(Node&) override;
  void node_begin(Node&) override;
  void node_end(Node&) noexcept override;
  /// The lines so far; starts anew.
  std::vector<std::string> take();

 private:
  struct Frame {
    size_t line;
    std::vector<Ref<Node>> nodes;
  };
  std::vector<std::string> lines_;
  std::vector<Frame> open_;
};

}  // namespace peel::core
