// Compressed rows or columns of blocks: made, and to dense.
#include "core/dispatch/error.h"
#include "kernels/cpu/elementwise.h"
#include "kernels/sparse/coordinates.h"
#include "ops_generated/kernels.h"
#include "ops_generated/ops.h"

namespace peel::kernels {
namespace {

void check_blocks(const Tensor& self, Sizes block, const char* name) {
  if (self.dim() != 2) throw NotImplemented("The embedded engine has no batches of compressed tensors yet; the program can be run on stock PyTorch (--engine pytorch).");
  if (block.size() != 2 || block[0] <= 0 || block[1] <= 0) throw Error(std::string(name) + ": blocksize needs to be a tuple of two positive integers");
  for (int64_t d = 0; d < 2; ++d) {
    if (self.size(d) % block[static_cast<size_t>(d)] == 0) continue;
    throw Error("dense_to_sparse_" + std::string(name) + ": tensor sparse size (" + std::to_string(self.size(0)) + "," + std::to_string(self.size(1)) + ") must be divisible by given blocksize (" +
                std::to_string(block[0]) + "," + std::to_string(block[1]) + ")");
  }
}

Tensor tiled(const Tensor& t, Sizes block) {
  const SizeVector shape{t.size(0) / block[0], block[0], t.size(1) / block[1], block[1]};
  return ops::transpose_int::call(ops::reshape::call(t, shape), 1, 2);
}

Tensor blocks_from_dense(const Tensor& self, Sizes block, bool rows) {
  check_blocks(self, block, rows ? "bsr" : "bsc");
  const Tensor filled = ops::ne_Scalar::call(self, 0);
  const Tensor tiles = tiled(self, block), filled_tiles = tiled(filled, block);
  const Tensor mask = ops::ne_Scalar::call(ops::sum_dim_IntList::call(filled_tiles, Sizes(SizeVector{2, 3})), 0);
  const Tensor found = ops::nonzero::call(rows ? mask : ops::transpose_int::call(mask, 1, 0));
  const Tensor plain = ops::select_int::call(found, 1, 1), lines = ops::select_int::call(found, 1, 0);
  const Tensor compressed = ops::_convert_indices_from_coo_to_csr::call(lines, mask.size(rows ? 0 : 1), false);
  const auto in_order = [rows](const Tensor& t) { return rows ? t : ops::transpose_int::call(t, 0, 1); };
  const Tensor at_mask = ops::flatten_using_ints::call(in_order(mask));
  const Tensor places = ops::view::call(ops::nonzero::call(at_mask), SizeVector{-1});
  const Tensor values = ops::index_select::call(ops::flatten_using_ints::call(in_order(tiles), 0, 1), 0, places);
  return ops::_sparse_compressed_tensor_unsafe::call(compressed, plain, values, self.sizes(), values.dtype(), rows ? Layout::SparseBsr : Layout::SparseBsc, values.device());
}

}  // namespace

Tensor to_sparse_bsr(const Tensor& self, Sizes blocksize, std::optional<int64_t> dense_dim) {
  return layout_of(self) == Layout::SparseBsr ? self : ops::_to_sparse_bsr::call(self, blocksize, dense_dim);
}
Tensor to_sparse_bsc(const Tensor& self, Sizes blocksize, std::optional<int64_t> dense_dim) {
  return layout_of(self) == Layout::SparseBsc ? self : ops::_to_sparse_bsc::call(self, blocksize, dense_dim);
}
Tensor dense_to_bsr(const Tensor& self, Sizes blocksize, std::optional<int64_t>) { return blocks_from_dense(self, blocksize, true); }
Tensor dense_to_bsc(const Tensor& self, Sizes blocksize, std::optional<int64_t>) { return blocks_from_dense(self, blocksize, false); }
Tensor coo_to_bsr(const Tensor& self, Sizes blocksize, std::optional<int64_t> dense_dim) { return ops::to_sparse_bsr::call(ops::to_sparse_csr::call(self, dense_dim), blocksize, dense_dim); }
Tensor coo_to_bsc(const Tensor& self, Sizes blocksize, std::optional<int64_t> dense_dim) { return ops::to_sparse_bsc::call(ops::to_sparse_csc::call(self, dense_dim), blocksize, dense_dim); }
Tensor compressed_to_bsr(const Tensor& self, Sizes blocksize, std::optional<int64_t>) { return blocks_from_dense(ops::to_dense::call(self), blocksize, true); }
Tensor compressed_to_bsc(const Tensor& self, Sizes blocksize, std::optional<int64_t>) { return blocks_from_dense(ops::to_dense::call(self), blocksize, false); }

Tensor to_blocks(const Tensor& self, Layout layout, std::optional<Sizes> blocksize, std::optional<int64_t> dense_dim) {
  if (!blocksize) throw Error("to_sparse: conversion to " + std::string(to_string(layout)) + " requires blocksize specified");
  return layout == Layout::SparseBsr ? ops::to_sparse_bsr::call(self, *blocksize, dense_dim) : ops::to_sparse_bsc::call(self, *blocksize, dense_dim);
}

}  // namespace peel::kernels
