// torch.sparse_coo_tensor and its like: from lists and tensors, as torch.tensor reads them.
#include <nanobind/stl/optional.h>
#include <nanobind/stl/vector.h>

#include "core/autograd/fallback.h"
#include "core/autograd/history.h"
#include "core/dispatch/error.h"
#include "core/ops/sparse.h"
#include "core/python/tensor_methods.h"
#include "core/python/tensor_object.h"
#include "core/python/values.h"
#include "core/tensor/promotion.h"
#include "ops_generated/ops.h"

namespace peel::core::python {
namespace {

bool asked = false;  // whether a program has said if invariants are to be checked

// Said once, as long as nobody has decided.
void warn_of_unchecked() {
  if (std::exchange(asked, true)) return;
  warn("Sparse invariant checks are implicitly disabled. Memory errors (e.g. SEGFAULT) will occur when operating on a sparse tensor which violates the invariants, but checks incur "
       "performance overhead. To silence this warning, explicitly opt in or out. See `torch.sparse.check_sparse_tensor_invariants.__doc__` for guidance. ");
}

// For one call, where it says so.
class Checking {
 public:
  explicit Checking(std::optional<bool> wanted) {
    if (wanted) sparse_invariants_checked() = *wanted;
    else warn_of_unchecked();
  }
  ~Checking() { sparse_invariants_checked() = saved_; }
  Checking(const Checking&) = delete;
  Checking& operator=(const Checking&) = delete;

 private:
  bool saved_ = sparse_invariants_checked();
};

Tensor finished(Tensor t, bool requires_grad) {
  if (requires_grad) set_requires_grad(t, true);
  return t;
}

// Values first, as in stock; indices are whole numbers of 64 bits.
Tensor coo(nb::handle indices_, nb::handle values_, std::optional<SizeVector> size, std::optional<ScalarType> dtype, bool requires_grad, std::optional<bool> check, std::optional<bool> is_coalesced) {
  const Checking checking(check);
  const Tensor values = read_data(values_, dtype), indices = read_data(indices_, ScalarType::Long);
  if (!size) return finished(ops::sparse_coo_tensor_indices::call(indices, values, values.dtype(), Layout::Sparse, values.device(), false, is_coalesced), requires_grad);
  return finished(ops::sparse_coo_tensor_indices_size::call(indices, values, *size, values.dtype(), Layout::Sparse, values.device(), false, is_coalesced), requires_grad);
}

void check_compressed(const Tensor& compressed, const Tensor& plain, const Tensor& values, Sizes size, Layout layout) {
  const bool rows = layout == Layout::SparseCsr;
  const std::string c = rows ? "crow_indices" : "ccol_indices", p = rows ? "col_indices" : "row_indices";
  const int64_t nnz = plain.size(-1), lines = size[rows ? 0 : 1], others = size[rows ? 1 : 0];
  if (compressed.size(-1) != lines + 1) throw Error(c + ".shape[-1] must be equal to the number of " + (rows ? "rows" : "columns") + " + 1 as specified by `size`");
  if (values.size(0) != nnz) throw Error("number of non-zeros in plain indices and values must match");
  const auto* at = compressed.data_as<int64_t>();
  if (at[0] != 0) throw Error("`" + c + "[..., 0] == 0` is not satisfied.");
  if (at[lines] != nnz) throw Error("`" + c + "[..., -1] == nnz` is not satisfied.");
  for (int64_t i = 0; i < lines; ++i) {
    if (at[i + 1] < at[i] || at[i + 1] - at[i] > others) throw Error("`0 <= " + c + "[..., 1:] - " + c + "[..., :-1] <= " + (rows ? "ncols" : "nrows") + "` is not satisfied.");
  }
  for (int64_t i = 0; i < nnz; ++i) {
    const int64_t k = plain.data_as<int64_t>()[i];
    if (k < 0 || k >= others) throw Error("`0 <= " + p + " < " + (rows ? "ncols" : "nrows") + "` is not satisfied.");
  }
}

Tensor compressed(const LayoutName& layout, nb::handle compressed_, nb::handle plain_, nb::handle values_, std::optional<SizeVector> size, std::optional<ScalarType> dtype, bool requires_grad,
                  std::optional<bool> check) {
  const Checking checking(check);
  const Tensor values = read_data(values_, dtype), c = read_data(compressed_, ScalarType::Long), p = read_data(plain_, ScalarType::Long);
  if (!size) return finished(ops::sparse_compressed_tensor_comp_plain_value::call(c, p, values, values.dtype(), layout.layout, values.device(), false), requires_grad);
  if (sparse_invariants_checked()) check_compressed(c, p, values, *size, layout.layout);
  return finished(ops::sparse_compressed_tensor_comp_plain_value_size::call(c, p, values, *size, values.dtype(), layout.layout, values.device(), false), requires_grad);
}

}  // namespace

void bind_sparse(nb::module_& m) {
  const auto type = [](const std::optional<nb::handle>& h) { return h && !h->is_none() ? std::optional(nb::cast<DType>(*h).type) : std::nullopt; };
  m.def("_sparse_coo_tensor",
        [type](nb::handle indices, nb::handle values, std::optional<std::vector<int64_t>> size, std::optional<nb::handle> dtype, bool requires_grad, std::optional<bool> check,
               std::optional<bool> coalesced) { return coo(indices, values, size ? std::optional<SizeVector>(std::in_place, size->begin(), size->end()) : std::nullopt, type(dtype), requires_grad, check, coalesced); },
        nb::arg(), nb::arg(), nb::arg().none(), nb::arg().none(), nb::arg(), nb::arg().none(), nb::arg().none());
  m.def("_sparse_compressed_tensor",
        [type](const LayoutName& layout, nb::handle c, nb::handle p, nb::handle values, std::optional<std::vector<int64_t>> size, std::optional<nb::handle> dtype, bool requires_grad,
               std::optional<bool> check) { return compressed(layout, c, p, values, size ? std::optional<SizeVector>(std::in_place, size->begin(), size->end()) : std::nullopt, type(dtype), requires_grad, check); },
        nb::arg(), nb::arg(), nb::arg(), nb::arg(), nb::arg().none(), nb::arg().none(), nb::arg(), nb::arg().none());
  m.def("_empty_coo_tensor", [type](const std::vector<int64_t>& size, std::optional<nb::handle> dtype, bool requires_grad) {
    return finished(ops::sparse_coo_tensor_size::call(SizeVector(size.begin(), size.end()), type(dtype).value_or(default_dtype()), Layout::Sparse, Device(), false), requires_grad);
  }, nb::arg(), nb::arg().none(), nb::arg());
  m.def("_sparse_of", [](const Tensor& indices, const Tensor& values, const std::vector<int64_t>& size) {
    return ops::sparse_coo_tensor_indices_size::call(indices, values, SizeVector(size.begin(), size.end()));
  });
  m.def("_check_sparse_tensor_invariants", [] { return sparse_invariants_checked(); });
  m.def("_set_check_sparse_tensor_invariants", [](bool on) {
    sparse_invariants_checked() = on;
    asked = true;
  });
}

}  // namespace peel::core::python
