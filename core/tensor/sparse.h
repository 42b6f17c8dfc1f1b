// Sparse tensors: coordinates (COO) or compressed rows (CSR, CSC; blocks are not there yet) beside values, in place of a storage.
#pragma once
#include "core/tensor/tensor.h"

namespace peel::core {

struct SparseParts {
  Layout layout = Layout::Sparse;
  Tensor indices;      // COO: sparse_dim x nnz; compressed: the plain ones (columns of CSR)
  Tensor compressed;   // where each row (column of CSC) begins; undefined for COO
  Tensor values;       // nnz x the dense dimensions
  int64_t sparse_dim = 1, dense_dim = 0;
  bool coalesced = true;  // COO: sorted, each coordinate once
};

/// Of a tensor whose layout is known to be sparse.
inline SparseParts& sparse_of(const Tensor& t) { return *t.impl().sparse; }
inline Layout layout_of(const Tensor& t) { return t.impl().sparse ? t.impl().sparse->layout : Layout::Strided; }
inline bool is_coo(const Tensor& t) { return layout_of(t) == Layout::Sparse; }
inline bool is_compressed(const Tensor& t) { return t.impl().sparse && !is_coo(t); }

/// `sparse_coo`: after `torch.`
const char* python_name(Layout);
/// `Sparse`: as errors have it.
const char* to_string(Layout);

}  // namespace peel::core
