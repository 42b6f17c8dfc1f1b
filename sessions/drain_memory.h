// An allocator's history as one process reports it: rows of memory_event, segment and block, and which storage lives in which block.
#pragma once
#include <cstdint>
#include <unordered_map>

#include "sessions/drain_ledger.h"
#include "sessions/drain_tensors.h"
#include "tracer/wire/wire.h"

namespace peel {

class MemoryBook {
 public:
  MemoryBook(Ledger& ledger, TensorBook& tensors) : ledger_(ledger), tensors_(tensors) {}

  /// `event`: the innermost open hop of that thread, 0 = none; device, stack: ids of the session, 0 = none.
  void record(const wire::Allocation&, uint32_t thread, uint32_t event, uint32_t stack, uint32_t device, int64_t ns);
  /// Of the snapshot that was recorded last.
  void segment(const wire::Segment&);
  void block(const wire::Block&);
  /// The hop in which the block at `address` was allocated, as long as no tensor was seen in it; 0 = none is known.
  uint32_t made_in(uint64_t address) const;
  /// A tensor was seen whose storage, of that number and with its StorageImpl at `impl`, has its bytes at `address`.
  void meet(uint64_t address, uint32_t storage, uint64_t impl);

 private:
  struct Live {
    uint32_t id, storage, event;
    uint64_t size, impl;  // impl: address of the StorageImpl that lives there
  };
  int64_t pool(const uint64_t id[2]);

  Ledger& ledger_;
  TensorBook& tensors_;
  std::unordered_map<uint64_t, Live> live_;  // by address: blocks that are allocated now
  uint32_t snapshot_ = 0, snapshot_device_ = 0;
  uint64_t segment_ = 0;
};

}  // namespace peel
