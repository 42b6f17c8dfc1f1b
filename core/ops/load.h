// What the generated code registers. kernels/load.h puts it together.
#pragma once
#include <vector>

#include "core/dispatch/library.h"

namespace peel::core {

void define_operators(Library& def);
void register_backend_select(Library& impl);
void register_conjugate_fallthroughs(Library& impl);
void register_negative_fallthroughs(Library& impl);
void register_autocast(Library& impl);
void register_autograd(Library& impl);
/// Those that nested tensors have for themselves.
void register_autograd_of_nested(Library& impl);
void register_in_place_or_view(Library& impl);
/// Kernels at ADInplaceOrView that are written by hand.
void register_forward_mode_views(Library& impl);
/// vmap's rules, at FuncTorchBatched and FuncTorchVmapMode.
void register_batch_rules(Library& at_batched, Library& at_vmap_mode);
/// One library a key; defined beside the kernels.
void register_kernels(std::vector<Library>*);

}  // namespace peel::core
