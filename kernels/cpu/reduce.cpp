// Sums and means over dimensions.
#include <algorithm>

#include "kernels/cpu/elementwise.h"
#include "ops_generated/kernels.h"
#include "ops_generated/ops.h"

namespace peel::kernels {
namespace {

std::vector<bool> reduced(std::optional<Sizes> dims, int64_t count) {
  std::vector<bool> out(static_cast<size_t>(count), !dims || dims->empty());
  for (const int64_t d : dims.value_or(Sizes())) {
    const auto at = static_cast<size_t>(wrap_dimension(d, count));
    if (count == 0) continue;
    if (out[at]) throw Error("dim " + std::to_string(at) + " appears multiple times in the list of dims");
    out[at] = true;
  }
  return out;
}

SizeVector shape_of_result(Sizes sizes, const std::vector<bool>& gone, bool keepdim) {
  SizeVector out;
  for (size_t d = 0; d < sizes.size(); ++d) {
    if (!gone[d]) out.push_back(sizes[d]);
    else if (keepdim) out.push_back(1);
  }
  return out;
}

// Whole numbers are counted in int64.
ScalarType type_of_sum(const Tensor& self, std::optional<ScalarType> dtype) {
  return dtype.value_or(is_floating(self.dtype()) || is_complex(self.dtype()) ? self.dtype() : ScalarType::Long);
}

// The calls are stock's: a look at the result with all dimensions, a cast, a fill, then the loop.
void sum_into(const Tensor& result, const Tensor& self, std::optional<Sizes> dims, bool keepdim) {
  const auto gone = reduced(dims, self.dim());
  SizeVector sizes, strides;
  size_t at = 0;
  for (size_t d = 0; d < gone.size(); ++d) {
    const bool here = keepdim || !gone[d];
    sizes.push_back(gone[d] ? 1 : self.sizes()[d]);
    strides.push_back(gone[d] ? 0 : result.strides()[at]);
    at += here;
  }
  Tensor out = keepdim ? result : ops::as_strided::call(result, sizes, strides);
  const Tensor in = self.dtype() == result.dtype() ? self : ops::to_dtype::call(self, result.dtype());
  if (self.numel() == 0) {
    Tensor all = result;
    ops::zero_::call(all);
    return;
  }
  ops::fill__Scalar::call(out, 0);
  with_type(in.dtype(), "sum_cpu", [&]<class T>(T) {
    using Total = std::conditional_t<std::is_floating_point_v<T>, double, int64_t>;
    std::vector<Total> total(static_cast<size_t>(result.numel()));
    Tensor place = empty(sizes, ScalarType::Long);  // where each element is added
    for (int64_t i = 0; i < place.numel(); ++i) place.data_as<int64_t>()[i] = i;
    Walk<2> walk(in.sizes());
    walk.set(0, place);
    walk.set(1, in);
    each<int64_t, T>(walk, [&total](const int64_t& i, T x) { total[static_cast<size_t>(i)] = static_cast<Total>(total[static_cast<size_t>(i)] + x); });
    Walk<2> back(sizes);
    back.set(0, out);
    back.set(1, place);
    each<T, int64_t>(back, [&total](T& o, int64_t i) { o = static_cast<T>(total[static_cast<size_t>(i)]); });
  });
}

Tensor& mean_into(Tensor& result, const Tensor& self, std::optional<Sizes> dims, bool keepdim, std::optional<ScalarType> dtype) {
  int64_t n = 1;
  const auto gone = reduced(dims, self.dim());
  for (size_t d = 0; d < gone.size(); ++d) n *= gone[d] ? self.sizes()[d] : 1;
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
  Tensor out = empty(shape_of_result(self.sizes(), reduced(dim, self.dim()), keepdim), type_of_sum(self, dtype), self.device());
  sum_into(out, self, dim, keepdim);
  return out;
}
Tensor& sum_dims_out(const Tensor& self, std::optional<Sizes> dim, bool keepdim, std::optional<ScalarType>, Tensor& out) {
  const SizeVector shape = shape_of_result(self.sizes(), reduced(dim, self.dim()), keepdim);
  if (!std::ranges::equal(out.sizes(), shape)) ops::resize_::call(out, shape);
  sum_into(out, self, dim, keepdim);
  return out;
}
Tensor mean(const Tensor& self, std::optional<ScalarType> dtype) { return ops::mean_dim::call(self, Sizes(), false, dtype); }
Tensor mean_dims(const Tensor& self, std::optional<Sizes> dim, bool keepdim, std::optional<ScalarType> dtype) {
  const ScalarType t = type_of_mean(self, dtype);
  Tensor out = empty(shape_of_result(self.sizes(), reduced(dim, self.dim()), keepdim), t, self.device());
  return mean_into(out, self, dim, keepdim, dtype);
}
Tensor& mean_dims_out(const Tensor& self, std::optional<Sizes> dim, bool keepdim, std::optional<ScalarType> dtype, Tensor& out) {
  type_of_mean(self, dtype);
  return mean_into(out, self, dim, keepdim, dtype);
}

}  // namespace peel::kernels
