#include "sessions/drain_tensors.h"

namespace peel {
namespace {

constexpr const char* kIdentity = "inferred: tensor identity";
constexpr const char* kIdentityMeaning =
    "A tensor was met at the address of another one, with another storage, dtype, shape or an older version, and no write explains it: "
    "it is taken for a tensor that was made where the recorder cannot see.";

}  // namespace

TensorBook::Storage* TensorBook::storage_of(uint64_t address, uint32_t event, bool fresh) {
  if (!address) return nullptr;
  Storage& s = storages_[address];
  if (!s.number || fresh || s.freed) s = {++ledger_.storages, event, 0, false, {}};
  s.seen = event;
  return &s;
}

TensorBook::Life& TensorBook::start(uint64_t impl, uint32_t birth, uint32_t event, uint64_t storage_address, Storage* storage, uint32_t base) {
  Life& life = lives_[impl];
  life = Life();
  life.tensor = ++ledger_.tensors;
  life.base = base;
  life.storage_address = storage_address;
  life.storage = storage;
  life.version = wire::kNoVersion;
  if (storage && !storage->owner) storage->owner = life.tensor;
  if (storage) storage->tensors.push_back({life.tensor, impl});
  ledger_.batch()[Table::kTensor].add(life.tensor, cell(birth), kNullCell, storage ? int64_t{storage->number} : kNullCell, cell(base), event);
  return life;
}

bool TensorBook::changed(const Life& life, const wire::Tensor& t, uint32_t meta) const {
  if (life.written || life.bare) return false;
  if (life.storage_address != t.storage) return true;
  if (life.version != wire::kNoVersion && t.version != wire::kNoVersion && t.version < life.version) return true;
  return !ledger_.catalog.same_kind(life.meta, meta);
}

/// Its storage was given back, so this is another tensor at its address.
bool TensorBook::gone(const Life& life, const wire::Tensor& t) const {
  return life.storage && life.storage->freed && life.storage_address == t.storage && !life.written;
}

void TensorBook::freed(uint64_t storage, uint32_t number, int64_t ns) {
  const auto at = storages_.find(storage);
  if (at == storages_.end() || at->second.number != number) return;
  at->second.freed = true;
  for (const auto& [tensor, impl] : at->second.tensors) {
    if (int64_t* row = ledger_.pending_tensor(tensor)) {
      row[2] = ns;
    } else {
      ledger_.batch().add(Small::kTensorDeath, {int64_t{tensor}, ns});
    }
  }
  at->second.tensors.clear();
}

/// The tensor looks like this now.
void TensorBook::look(Life& life, const wire::Tensor& t, uint32_t meta, uint32_t event) {
  if (meta) life.meta = meta;
  life.version = t.version;
  life.written = false;
  if (life.storage_address != t.storage || life.bare) {
    life.storage_address = t.storage;
    life.storage = storage_of(t.storage, event, false);
    if (life.bare && life.storage) {
      if (!life.storage->owner) life.storage->owner = life.tensor;
      life.storage->tensors.push_back({life.tensor, t.impl});
      if (int64_t* row = ledger_.pending_tensor(life.tensor)) {
        row[3] = life.storage->number;
      } else {
        ledger_.batch().add(Small::kTensorFill, {int64_t{life.tensor}, int64_t{life.storage->number}});
      }
    }
    life.bare = false;
  }
  if (life.storage) life.storage->seen = event, life.storage->freed = false;
}

/// What lives at its address, unless that is another tensor.
TensorBook::Life* TensorBook::same(const wire::Tensor& t, uint32_t meta) {
  const auto at = lives_.find(t.impl);
  if (at == lives_.end() || gone(at->second, t)) return nullptr;
  if (!changed(at->second, t, meta)) return &at->second;
  ledger_.catalog.lose(kIdentity, 1, kIdentityMeaning);
  return nullptr;
}

TensorBook::Met TensorBook::saved(const MeetingPlace& place, const wire::Tensor& t, uint32_t meta) {
  Life* life = same(t, meta);
  if (!life) {
    Storage* storage = storage_of(t.storage, place.event, false);
    life = &start(t.impl, place.made_in, place.event, t.storage, storage, storage ? storage->owner : 0);
  }
  look(*life, t, meta, place.event);
  return {life->tensor, meta, life->base, life->storage ? life->storage->number : 0};
}

TensorBook::Met TensorBook::argument(const MeetingPlace& place, const wire::Tensor& t, const Description* description) {
  if (t.flags & wire::kUndefined || !t.impl) return {0, description ? ledger_.catalog.meta(*description) : 0, 0, 0};
  uint32_t meta = description ? ledger_.catalog.meta(*description) : 0;
  const auto at = lives_.find(t.impl);
  Life* life = at == lives_.end() ? nullptr : &at->second;
  if (life && t.flags & wire::kWrappedNumber) {
    // a Python number gets a tensor for one call: unless an open hop has it, it is another one
    bool open = false;
    for (const ArgumentSeen& a : *place.arguments) open |= a.impl == t.impl;
    if (!open) life = nullptr;
  }
  if (life) life = same(t, meta);
  if (life && !meta) meta = life->meta;
  if (!life) life = &start(t.impl, place.made_in, place.event, t.storage, storage_of(t.storage, place.event, t.flags & wire::kWrappedNumber), 0);
  look(*life, t, meta, place.event);
  return {life->tensor, meta, life->base, life->storage ? life->storage->number : 0};
}

TensorBook::Met TensorBook::result(const MeetingPlace& place, const wire::Tensor& t, const Description* description) {
  if (t.flags & wire::kUndefined || !t.impl) return {0, description ? ledger_.catalog.meta(*description) : 0, 0, 0};
  uint32_t meta = description ? ledger_.catalog.meta(*description) : 0;
  const auto at = lives_.find(t.impl);
  Life* life = at == lives_.end() ? nullptr : &at->second;

  if (life && gone(*life, t)) life = nullptr;
  bool known = false;
  const ArgumentSeen* lender = nullptr;  // an argument whose storage it has
  for (size_t i = place.chain_begin; i < place.arguments->size(); ++i) {
    const ArgumentSeen& a = (*place.arguments)[i];
    if (a.impl == t.impl) known = life != nullptr;
    if (!lender && t.storage && a.storage == t.storage) lender = &a;
  }
  if (!known && life && life->returned >= place.event && life->returned_thread == place.thread) {
    known = t.flags & wire::kSameAsInner || !changed(*life, t, meta);
  }
  if (!known) {
    if (t.flags & wire::kSameAsInner && !life) {
      ledger_.catalog.lose("results without description", 1, "A result was said to be the same as an inner one that is not in the recording.");
    }
    Storage* storage = nullptr;
    uint32_t base = 0;
    if (lender) {
      storage = storage_of(t.storage, place.event, false);
      base = lender->base ? lender->base : lender->tensor;
    } else if (t.storage) {
      const auto s = storages_.find(t.storage);
      const bool inside = s != storages_.end() && s->second.seen >= place.event;
      storage = storage_of(t.storage, place.event, !inside);
      if (inside) base = storage->owner;
    }
    life = &start(t.impl, place.event, place.event, t.storage, storage, base);
  } else if (!meta) {
    meta = life->meta;
  }
  look(*life, t, meta, place.event);
  life->returned = place.event;
  life->returned_thread = place.thread;
  return {life->tensor, meta, life->base, life->storage ? life->storage->number : 0};
}

TensorBook::Written TensorBook::written(const MeetingPlace& place, uint64_t impl, uint64_t storage) {
  if (!impl) return {0, 0};
  const auto at = lives_.find(impl);
  Life& life = at != lives_.end() ? at->second : start(impl, 0, place.event, storage, storage_of(storage, place.event, false), 0);
  life.written = true;
  const auto s = storages_.find(storage);
  return {life.tensor, s == storages_.end() ? (life.storage ? life.storage->number : 0) : s->second.number};
}

TensorBook::Met TensorBook::alike(uint64_t storage, uint32_t meta, uint32_t wanted) const {
  constexpr size_t kLookedAt = 64;  // the wanted one is nearly always the newest
  const auto at = storages_.find(storage);
  if (at == storages_.end() || at->second.freed) return {};
  const auto& tenants = at->second.tensors;
  Met newest;
  for (size_t i = tenants.size(), end = i > kLookedAt ? i - kLookedAt : 0; i-- > end;) {
    const auto life = lives_.find(tenants[i].impl);
    if (life == lives_.end() || life->second.tensor != tenants[i].tensor || !ledger_.catalog.same_kind(life->second.meta, meta)) continue;
    const Met met{life->second.tensor, life->second.meta, life->second.base, at->second.number};
    if (met.tensor == wanted) return met;
    if (!newest.tensor) newest = met;
  }
  return newest;
}

uint32_t TensorBook::at(uint64_t impl, uint32_t event) {
  if (!impl) return 0;
  const auto at = lives_.find(impl);
  if (at != lives_.end()) return at->second.tensor;
  Life& life = start(impl, 0, event, 0, nullptr, 0);
  life.bare = true;
  return life.tensor;
}

}  // namespace peel
