// One traced process as the drain sees it: its memory, what its arena has defined so far, and its tensors
// and nodes. Ids in the arena are the process' own; here they become ids of the session.
#pragma once
#include <sys/types.h>

#include <cstdint>
#include <deque>
#include <string>
#include <unordered_map>
#include <vector>

#include "sessions/drain_ledger.h"
#include "sessions/drain_gpu.h"
#include "sessions/drain_memory.h"
#include "sessions/drain_nodes.h"
#include "sessions/drain_tensors.h"
#include "tracer/wire/ring.h"

namespace peel {

class Process {
 public:
  Process(Ledger&, uint32_t id, wire::Memory);
  ~Process();
  Process(const Process&) = delete;
  Process& operator=(const Process&) = delete;

  /// Reads the arena up to its head.
  void read_definitions();
  /// Why nothing of this process is recorded; "" = all is well.
  const std::string& refused() const { return refused_; }
  void refuse(const std::string& why);

  struct Op {
    uint32_t id = 0;
    std::vector<uint32_t> argument_names;  // string ids of the session
  };
  // Ids of the session; unknown ones give 0 (and are counted as lost).
  const Op* op(uint32_t id);
  uint32_t kernel(uint32_t id) { return look_up(kernels_, id); }
  uint32_t tls(uint32_t id) { return look_up(tls_, id); }
  uint32_t stack(uint32_t id) { return look_up(stacks_, id); }
  uint32_t string(uint32_t id);              // interned on first use
  const std::string& text(uint32_t id);      // "" for 0 and for unknown ones
  uint32_t dtype(uint8_t number) const { return dtypes_[number]; }
  uint32_t layout(uint8_t number) const { return layouts_[number]; }
  uint32_t device(uint8_t type, int8_t index);
  std::string dtype_text(int64_t number) const;
  std::string layout_text(int64_t number) const;
  std::string device_text(int64_t type_and_index) const;

  /// A `backward` in progress, to find out who asked for a node's run.
  struct Backward {
    uint32_t span, thread, cause;
    uint64_t graph_task;  // UINT64_MAX = not known yet
  };
  std::vector<Backward> backwards;
  uint32_t cause_of(uint64_t graph_task, uint32_t thread);

  const uint32_t id;
  wire::Memory memory;
  bool gone = false;  // its connection is closed: what its rings hold is all there is
  TensorBook tensors;
  NodeBook nodes;
  MemoryBook allocations;
  GpuBook gpu;
  std::unordered_map<uint32_t, std::string> thread_names;  // by ring
  std::vector<uint32_t> renamed;                           // rings whose name came or changed

 private:
  struct Text {
    std::string value;
    uint32_t id = 0;
    bool defined = false;
  };
  uint32_t look_up(const std::vector<uint32_t>& ids, uint32_t id) {
    if (id < ids.size() && ids[id]) return ids[id];
    if (id) ledger_.unknown_id();
    return 0;
  }
  template <class All>
  typename All::value_type* place(All&, uint32_t id);
  void define(const uint64_t* at, const wire::DefHead&);
  void define_op(const uint64_t* at, const wire::DefHead&);
  void define_table(const uint64_t* at, const wire::DefHead&);
  void define_key(const wire::DefKey&);
  void define_name(const wire::DefName&);

  Ledger& ledger_;
  wire::Consumer arena_;
  std::string refused_;
  std::vector<Text> texts_;
  std::deque<Op> ops_;  // frames point into it while more are defined
  std::vector<uint32_t> kernels_, tls_, stacks_;
  uint32_t dtypes_[256] = {}, layouts_[256] = {};
  std::string dtype_names_[256], layout_names_[256], device_names_[256];
  std::unordered_map<uint32_t, uint32_t> devices_;  // type << 8 | index: string id
};

}  // namespace peel
