// Random numbers under vmap: an error, the same for all samples, or other ones for each.
#include <algorithm>

#include "core/dispatch/error.h"
#include "core/functorch/layers.h"
#include "core/functorch/rules.h"
#include "ops_generated/ops.h"

namespace peel::core::functorch {

KernelFunction vmap_mode_kernel(BatchRule rule, std::vector<size_t> dims) {
  return boxed_kernel([rule, dims = std::move(dims)](const OperatorHandle& op, DispatchKeySet, Stack* stack) {
    BatchCall call(op, stack, dims, "vmap mode", DispatchKey::FuncTorchVmapMode);
    rule(call);
  });
}

namespace rules {
namespace {

bool differs() {
  switch (layers().back().randomness) {
    case Randomness::kDifferent: return true;
    case Randomness::kSame: return false;
    case Randomness::kError: break;
  }
  throw Error("vmap: called random operation while in randomness error mode. Please either use the 'same' or 'different' randomness flags on vmap or perform the randomness "
              "operation out of vmap");
}

Tensor repeated(const Tensor& t, int64_t size) { return with_batch(t, false, size); }

}  // namespace

void random_sizes(BatchCall& c) {
  if (!differs()) return c.give(c.run(), std::nullopt);
  std::vector<int64_t> sizes{c.batch_size()};
  for (const IValue& v : c.argument(c.dims()[0]).to_list()) sizes.push_back(v.to_int());
  c.set(c.dims()[0], std::move(sizes));
  c.give(c.run(), 0);
}

void random_in_place(BatchCall& c) {
  const Batched self = c.tensor(0);
  const Tensor all = front(self);
  const bool different = differs();
  if (different && !self.dim) {
    throw Error("vmap: Cannot ask for different inplace randomness on an unbatched tensor. This will appear like same randomness. If this is necessary for your usage, please "
                "file an issue with functorch.");
  }
  if (!different && self.dim) {
    Tensor given = c.given(0);
    Tensor one = ops::empty_memory_format::call(given.sizes(), given.dtype(), Layout::Strided, given.device(), {}, {});
    c.set(0, one);
    c.run();
    ops::copy_::call(given, one, false);
  } else {
    c.set(0, all);
    if (c.count() > 1 && c.is_tensor(1)) c.set(1, front(c.tensor(1)));
    c.run();
  }
  c.give_back(0);
}

void random_like(BatchCall& c) {
  const Batched self = c.tensor(0);
  const bool different = differs();
  Tensor t = front(self);
  if (!different && self.dim) t = ops::select_int::call(t, 0, 0);
  else if (different && !self.dim) t = repeated(t, c.batch_size());
  c.set(0, t);
  c.give(c.run(), different ? std::optional<int64_t>(0) : std::nullopt);
}

void random_of(BatchCall& c) {
  const bool different = differs();
  bool any = false;
  for (size_t i = 0; i < c.count(); ++i) any |= c.is_tensor(i) && c.tensor(i).dim;
  if (!different && any) throw Error("Vmap does not currently support same randomness with a batched tensor input");
  int64_t rank = 0;
  for (size_t i = 0; i < c.count(); ++i) {
    if (c.is_tensor(i)) rank = std::max(rank, c.tensor(i).rank());
  }
  for (size_t i = 0; i < c.count(); ++i) {
    if (!c.is_tensor(i)) continue;
    const Batched b = c.tensor(i);
    Tensor t = padded(front(b), b.dim.has_value(), b.rank(), rank);
    if (different && !any) t = repeated(t, c.batch_size());
    c.set(i, t);
  }
  c.give(c.run(), different ? std::optional<int64_t>(0) : std::nullopt);
}

void random_permutation(BatchCall& c) {
  if (!differs()) return c.give(c.run(), std::nullopt);
  std::vector<Tensor> all;
  for (int64_t i = 0; i < c.batch_size(); ++i) all.push_back(Tensor(c.run()[0].to_tensor().release()));
  c.give(ops::stack::call(all, 0), 0);
}

}  // namespace rules
}  // namespace peel::core::functorch
