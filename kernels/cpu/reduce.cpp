// Sums and means over dimensions.
#include <algorithm>

#include "kernels/cpu/rows.h"
#include "ops_generated/kernels.h"
#include "ops_generated/ops.h"

namespace peel::kernels {
namespace {

// Whole numbers are counted in int64.
ScalarType type_of_sum(const Tensor& self, std::optional<ScalarType> dtype) {
  return dtype.value_or(is_floating(self.dtype()) || is_complex(self.dtype()) ? self.dtype() : ScalarType::Long);
}

// The calls are stock's: a look at the result with all dimensions, a cast, a fill, then the loop.
void sum_into(const Tensor& result, const Tensor& self, std::optional<Sizes> dims, bool keepdim) {
  const auto gone = named_dims(dims, self.dim());
  Tensor out = with_all_dims(result, self.sizes(), gone, keepdim);
  const Tensor in = self.dtype() == result.dtype() ? self : ops::to_dtype::call(self, result.dtype());
  if (self.numel() == 0) {
    Tensor all = result;
    ops::zero_::call(all);
    return;
  }
  ops::fill__Scalar::call(out, 0);
  const Rows rows = rows_of(in, gone);
  const Tensor flat = empty(SizeVector{rows.count}, in.dtype());
  with_any_type(in.dtype(), "sum_cpu", [&]<class T>(T) {
    using Total = std::conditional_t<kIsComplex<T>, std::complex<double>, std::conditional_t<kIsFloating<T>, double, int64_t>>;
    const T* data = rows.data.data_as<T>();
    for (int64_t r = 0; r < rows.count; ++r) {
      Total total{};
      for (int64_t k = 0; k < rows.length; ++k) total += static_cast<Total>(data[r * rows.length + k]);
      flat.data_as<T>()[r] = static_cast<T>(total);
    }
  });
  put_reduced(out, gone, flat);
}

Tensor& mean_into(Tensor& result, const Tensor& self, std::optional<Sizes> dims, bool keepdim, std::optional<ScalarType> dtype) {
  int64_t n = 1;
  const auto gone = named_dims(dims, self.dim());
  for (size_t d = 0; d < gone.size(); ++d) n *= gone[d] ? self.sizes()[d] : 1;
  if (result.dtype() == ScalarType::BFloat16 || result.dtype() == ScalarType::Half) {  // summed and divided in float32
    Tensor wide = ops::to_dtype::call(result, ScalarType::Float);
    ops::sum_IntList_out::call(self, dims, keepdim, ScalarType::Float, wide);
    ops::div__Scalar::call(wide, n);
    return ops::copy_::call(result, wide);
  }
  ops::sum_IntList_out::call(self, dims, keepdim, dtype, result);
  ops::div__Scalar::call(result, n);
  return result;
}

ScalarType type_of_mean(const Tensor& self, std::optional<ScalarType> dtype) {
  const ScalarType t = dtype.value_or(self.dtype());
  if (!is_floating(t) && !is_complex(t)) {
    throw Error(std::string("mean(): could not infer output dtype. ") + (dtype ? "Optional" : "Input") +
                " dtype must be either a floating point or complex dtype. Got: " + to_string(t));
  }
  return t;
}

}  // namespace

Tensor sum(const Tensor& self, std::optional<ScalarType> dtype) { return ops::sum_dim_IntList::call(self, Sizes(), false, dtype); }
Tensor sum_dims(const Tensor& self, std::optional<Sizes> dim, bool keepdim, std::optional<ScalarType> dtype) {
  Tensor out = empty(reduced_shape(self.sizes(), named_dims(dim, self.dim()), keepdim), type_of_sum(self, dtype), self.device());
  sum_into(out, self, dim, keepdim);
  return out;
}
Tensor& sum_dims_out(const Tensor& self, std::optional<Sizes> dim, bool keepdim, std::optional<ScalarType>, Tensor& out) {
  const SizeVector shape = reduced_shape(self.sizes(), named_dims(dim, self.dim()), keepdim);
  if (!std::ranges::equal(out.sizes(), shape)) reshape_out(out, shape);
  sum_into(out, self, dim, keepdim);
  return out;
}
Tensor mean(const Tensor& self, std::optional<ScalarType> dtype) { return ops::mean_dim::call(self, Sizes(), false, dtype); }
Tensor mean_dims(const Tensor& self, std::optional<Sizes> dim, bool keepdim, std::optional<ScalarType> dtype) {
  const ScalarType t = type_of_mean(self, dtype);
  Tensor out = empty(reduced_shape(self.sizes(), named_dims(dim, self.dim()), keepdim), t, self.device());
  return mean_into(out, self, dim, keepdim, dtype);
}
Tensor& mean_dims_out(const Tensor& self, std::optional<Sizes> dim, bool keepdim, std::optional<ScalarType> dtype, Tensor& out) {
  type_of_mean(self, dtype);
  return mean_into(out, self, dim, keepdim, dtype);
}

}  // namespace peel::kernels
