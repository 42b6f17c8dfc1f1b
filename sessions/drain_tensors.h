// Which tensor is it? Turns the addresses that a process reports into tensors with a life.
//
// An address identifies a TensorImpl only while it lives, and its death is not reported. So:
//  * a result that is no argument of its call chain and was not returned by a hop inside its own hop is
//    newborn, also when the address is known;
//  * an argument is the tensor last known at its address, unless storage, dtype or shape changed, or its
//    version went back, with no write in between: then it is a tensor that was made unseen (counted as
//    "inferred: tensor identity"). The tensor of a Python number lives for one call;
//  * when the memory of a storage is given back, its tensors are gone; what is met at its address afterwards is another one, unless it
//    was written in between (resize_);
//  * a tensor that is met as an argument first was born in the hop that allocated its memory, where that is known;
//  * storages follow the same way: a newborn shares the storage of an argument, or of a tensor met inside
//    its hop, or has a new one.
#pragma once
#include <cstdint>
#include <unordered_map>
#include <vector>

#include "sessions/drain_ledger.h"
#include "tracer/wire/wire.h"

namespace peel {

/// An argument of an open hop.
struct ArgumentSeen {
  uint64_t impl, storage;
  uint32_t tensor, base;
};
/// Where a tensor is met: the hop, its thread, and the arguments of its whole call chain.
struct MeetingPlace {
  uint32_t event, thread;
  const std::vector<ArgumentSeen>* arguments;  // of the thread
  size_t chain_begin;                          // the chain's arguments begin here
  uint32_t made_in = 0;                        // the hop that allocated its memory, when nothing else was seen there
};

class TensorBook {
 public:
  explicit TensorBook(Ledger& ledger) : ledger_(ledger) {}

  struct Met {
    uint32_t tensor = 0, meta = 0, base = 0, storage = 0;
  };
  /// `description` null: not sent (kSameAsInner).
  Met argument(const MeetingPlace&, const wire::Tensor&, const Description*);
  Met result(const MeetingPlace&, const wire::Tensor&, const Description*);
  /// After a write the tensor may look different.
  struct Written {
    uint32_t tensor, storage;
  };
  Written written(const MeetingPlace&, uint64_t impl, uint64_t storage);
  /// The bytes of the storage at that address were given back: what is met there next is another one, unless it was resized.
  void freed(uint64_t storage, uint32_t number, int64_t ns);
  /// A tensor that a node keeps, described by `meta`. Unlike an argument it may be met for the first time as a view of a known storage.
  Met saved(const MeetingPlace&, const wire::Tensor&, uint32_t meta);
  /// The tensor in that storage which looks like `meta`: `wanted` if it does, else the newest; all zero when there is none.
  Met alike(uint64_t storage, uint32_t meta, uint32_t wanted) const;
  /// The tensor at an address as of now, made when nothing is known (0 for address 0).
  uint32_t at(uint64_t impl, uint32_t event);

 private:
  struct Storage {
    uint32_t number = 0, seen = 0, owner = 0;  // seen: the newest hop that met it
    bool freed = false;                        // its bytes were given back since it was last met
    struct Tenant { uint32_t tensor; uint64_t impl; };
    std::vector<Tenant> tensors;               // that live in it
  };
  struct Life {
    uint32_t tensor = 0, meta = 0, base = 0, version = 0;
    uint64_t storage_address = 0;
    Storage* storage = nullptr;
    uint32_t returned = 0, returned_thread = 0;  // the hop that returned it last
    bool written = false;                        // since it was last described
    bool bare = false;                           // storage not known yet
  };

  Life& start(uint64_t impl, uint32_t birth, uint32_t event, uint64_t storage_address, Storage*, uint32_t base);
  Storage* storage_of(uint64_t address, uint32_t event, bool fresh);
  bool gone(const Life&, const wire::Tensor&) const;
  bool changed(const Life&, const wire::Tensor&, uint32_t meta) const;
  Life* same(const wire::Tensor&, uint32_t meta);
  void look(Life&, const wire::Tensor&, uint32_t meta, uint32_t event);

  Ledger& ledger_;
  std::unordered_map<uint64_t, Life> lives_;
  std::unordered_map<uint64_t, Storage> storages_;
};

}  // namespace peel
