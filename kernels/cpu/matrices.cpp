#include "kernels/cpu/matrices.h"

#include <algorithm>

#include "ops_generated/kernels.h"
#include "ops_generated/ops.h"

namespace peel::kernels {

SizeVector column_major(Sizes shape) {
  SizeVector turned(shape.begin(), shape.end());
  std::swap(turned[turned.size() - 1], turned[turned.size() - 2]);
  SizeVector out = contiguous_strides(turned);
  std::swap(out[out.size() - 1], out[out.size() - 2]);
  return out;
}

SizeVector with_batch(Sizes batch, std::initializer_list<int64_t> rest) {
  SizeVector out(batch.begin(), batch.end());
  out.insert(out.end(), rest);
  return out;
}

Tensor cloned_by_columns(const Tensor& t) {
  Tensor out = ops::clone::call(ops::mT::call(t), MemoryFormat::Contiguous);
  ops::transpose_::call(out, -2, -1);
  return out;
}

void need_matrices(const Tensor& t, const std::string& name) {
  if (t.dim() < 2) throw Error(name + ": The input tensor A must have at least 2 dimensions.");
}
void need_square(const Tensor& t, const std::string& name) {
  need_matrices(t, name);
  if (t.size(-1) != t.size(-2)) {
    throw Error(name + ": A must be batches of square matrices, but they are " + std::to_string(t.size(-2)) + " by " + std::to_string(t.size(-1)) + " matrices");
  }
}
void need_floating(const Tensor& t, const std::string& name) {
  if (!is_floating(t.dtype()) && !is_complex(t.dtype())) throw Error(name + ": Expected a floating point or complex tensor as input. Got " + to_string(t.dtype()));
  if (t.dtype() == ScalarType::Half || t.dtype() == ScalarType::BFloat16) throw Error(name + ": Low precision dtypes not supported. Got " + to_string(t.dtype()));
}

Target::Target(Tensor& given, Sizes shape, Sizes strides) : given_(given), work_(given) {
  if (std::ranges::equal(given.sizes(), shape)) {
    if (!std::ranges::equal(given.strides(), strides)) work_ = empty_strided(shape, strides, given.dtype(), given.device());
    return;
  }
  reshape_out(given, shape);
  if (!shape.empty()) ops::as_strided_::call(given, shape, strides, {});
}
void Target::finish() {
  if (!work_.is_same(given_)) ops::copy_::call(given_, work_);
}

// What went wrong, in stock's words for each function.
void _linalg_check_errors(const Tensor& info, std::string_view api_name, bool is_matrix) {
  if (!ops::item::call(ops::any::call(info)).value.to_bool()) return;
  int64_t code = 0;
  std::string where;
  if (is_matrix) {
    code = ops::item::call(info).value.to_int();
  } else {
    const Tensor here = ops::to_dtype_layout::call(info, {}, {}, Device(), {});
    for (int64_t i = 0; i < here.numel() && code == 0; ++i) {
      code = here.data_as<int32_t>()[i];
      where = ": (Batch element " + std::to_string(i) + ")";
    }
  }
  const std::string name(api_name), at = name + where + ": ";
  const auto is = [&name](const char* word) { return name.find(word) != std::string::npos; };
  if (code < 0) {
    if (is("svd") && code == -4) throw LinAlgError(at + "The algorithm failed to converge because the input matrix contained non-finite values.");
    throw Error(at + "Argument " + std::to_string(-code) + " has illegal value. Most certainly there is a bug in the implementation calling the backend library.");
  }
  const std::string number = std::to_string(code);
  if (is("inv")) throw LinAlgError(at + "The diagonal element " + number + " is zero, the inversion could not be completed because the input matrix is singular.");
  if (is("solve")) throw LinAlgError(at + "The solver failed because the input matrix is singular.");
  if (is("cholesky")) {
    throw LinAlgError(at + "The factorization could not be completed because the input is not positive-definite (the leading minor of order " + number +
                      " is not positive-definite).");
  }
  if (is("svd")) {
    throw LinAlgError(at + "The algorithm failed to converge because the input matrix is ill-conditioned or has too many repeated singular values (error code: " + number + ").");
  }
  if (is("eig") || is("syevd")) {
    throw LinAlgError(at + "The algorithm failed to converge because the input matrix is ill-conditioned or has too many repeated eigenvalues (error code: " + number + ").");
  }
  if (is("lstsq")) {
    throw LinAlgError(at + "The least squares solution could not be computed because the input matrix does not have full rank (error code: " + number + ").");
  }
  if (is("lu_factor")) {
    throw Error(at + "U[" + number + "," + number + "] is zero and using it on lu_solve would result in a division by zero. If you still want to perform the factorization, "
                "consider calling linalg.lu(A, pivot) or linalg.lu_factor_ex(A, pivot)");
  }
  throw Error(at + "Unknown error code: " + number + ".");
}

}  // namespace peel::kernels
