#include "core/tensor/sparse.h"

namespace peel::core {

const char* python_name(Layout l) {
  static const char* const names[] = {"strided", "sparse_coo", "sparse_csr", "_mkldnn", "sparse_csc", "sparse_bsr", "sparse_bsc"};
  return names[static_cast<int>(l)];
}
const char* to_string(Layout l) {
  static const char* const names[] = {"Strided", "Sparse", "SparseCsr", "Mkldnn", "SparseCsc", "SparseBsr", "SparseBsc"};
  return names[static_cast<int>(l)];
}

}  // namespace peel::core
