// What the Autograd panel draws: the graph of nodes around one node, as boxes with words and places, and the
// details of that node. Computed from a Session without ImGui, on any thread.
#pragma once
#include <atomic>
#include <map>
#include <string>
#include <vector>

#include "views/autograd_layout.h"
#include "views/words.h"

namespace peel::views {

struct GraphBox {
  enum class Kind : uint8_t {
    kNode,    // made by a hop
    kLeaf,    // AccumulateGrad: a pill
    kStop,    // an input that takes no gradient: dashed
    kFolded   // stands for more nodes than are drawn
  } kind = Kind::kNode;
  NodeId node;               // kStop: the node whose input it is; kFolded: the first node behind it
  std::string name;          // `AddmmBackward0`, `net.0.weight`, `mat1 t5`
  std::string second;        // "#7  hop 205", "AccumulateGrad", "no gradient"
  std::string third;         // "addmm  train_step.py:17"
  EventId event;             // the hop that made it
  TensorId tensor;           // of a leaf or a stop
  uint32_t order = 0;        // place in backward, 1 = first; 0 = did not run
  float w = 0, h = 0;
};
struct GraphEdge {
  uint32_t from, to;         // boxes; as the gradient flows
  bool stop = false;         // leads to a kStop or kFolded box: dashed
  int input = 0;             // input of the target node
};

struct AutogradModel {
  NodeId focus;              // what the graph was built around
  uint64_t generation = 0;   // of the session, when it was built
  bool final = false;        // the session will not grow any more
  Parts sentence;
  std::vector<GraphBox> boxes;
  std::vector<GraphEdge> edges;
  Layout layout;
  uint32_t nodes_found = 0;  // in the connected graph, as far as it was searched
  uint32_t nodes_drawn = 0;
  bool search_cut = false;   // there is more beyond
  uint32_t ran = 0;          // nodes that ran in this backward
  int64_t graph_task = -1;   // -1 = no backward ran through it
  std::map<NodeId, uint32_t> box_of;
};

struct AutogradOptions {
  uint32_t max_boxes = 260;
  uint32_t max_search = 20000;
  int64_t graph_task = -1;   // number places by this backward; -1 = the focus's first
};

/// What one node is about, for the side of the panel.
struct NodeDetails {
  struct Link {
    NodeId node;
    EventId event;
    std::string text;        // "AddmmBackward0 #7"
    std::string note;        // "input 0"
    TensorId tensor = {};
  };
  NodeId node;
  std::string name, sequence;     // "sequence number 8"
  bool leaf = false;
  EventId made_by;
  std::string made_op, made_key, made_line;
  bool found_late = false;        // made outside of any hop; made_by met it
  TensorId variable;
  std::string parameter;          // a leaf's name
  std::vector<Link> passes_to, comes_from;
  std::vector<Link> saved;        // what it keeps for backward: `_saved_self t5`, "f32[8,16], version 0, 512 B"
  std::string saved_head;         // "Saves 3 tensors, 1.5 KiB"
  uint32_t runs = 0;
  EventId run;                    // in the graph's backward
  std::string run_text;           // "Ran in backward, 6th of 10"
  std::string run_time;
  std::vector<Link> calls;        // operators called by that run
};

AutogradModel make_autograd_model(const Session&, NodeId focus, const AutogradOptions&, const std::atomic<bool>& cancelled);
NodeDetails node_details(const Session&, NodeId, const AutogradModel&);
/// Which node a hop is about: the one it made, that of its onion, the first made inside, the one whose run it
/// stands in, else the nearest one made before it (searched in the neighbourhood only). 0 = none.
NodeId node_for(const Session&, EventId);
/// The backward in which a hop stands, -1 = none.
int64_t graph_task_at(const Session&, EventId);
/// `net.0.weight` when a call around the leaf's users shows it, else `t12 f32[16,4]`.
std::string leaf_name(const Session&, const Node& leaf, const std::vector<Span>& spans);

}  // namespace peel::views
