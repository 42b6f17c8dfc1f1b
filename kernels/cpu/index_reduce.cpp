// Slices put together at places along a dimension by their product, mean, largest or smallest; rows of a table held to a norm.
#include <algorithm>
#include <limits>

#include "kernels/cpu/elementwise.h"
#include "kernels/cpu/indexing.h"
#include "kernels/cpu/rows.h"
#include "ops_generated/kernels.h"
#include "ops_generated/ops.h"

namespace peel::kernels {
namespace {

enum class How : uint8_t { kProduct, kMean, kLargest, kSmallest };

How how_of(std::string_view reduce) {
  if (reduce == "prod") return How::kProduct;
  if (reduce == "mean") return How::kMean;
  if (reduce == "amax") return How::kLargest;
  if (reduce == "amin") return How::kSmallest;
  throw Error("index_reduce(): Expected reduce to be one of prod, mean, amax or amin but got " + std::string(reduce) + ".");
}

void check(const Tensor& self, int64_t d, const Tensor& index, const Tensor& source) {
  if (index.dim() > 1) {
    throw IndexError("index_reduce_(): Index is supposed to be a vector, but got dim: " + std::to_string(index.dim()) + " with type: " + to_string(index.dtype()) + " and size: " + to_text(index.sizes()));
  }
  if (index.dtype() != ScalarType::Long && index.dtype() != ScalarType::Int) {
    throw Error(std::string("index_reduce_(): Expected dtype int32/int64 for index but got: ") + to_string(index.dtype()));
  }
  if (self.dtype() != source.dtype()) {
    throw Error(std::string("index_reduce_(): self (") + to_string(self.dtype()) + ") and source (" + to_string(source.dtype()) + ") must have the same scalar type");
  }
  const auto rest = [d](const Tensor& t) {
    SizeVector sizes(t.sizes().begin(), t.sizes().end());
    if (static_cast<size_t>(d) < sizes.size()) sizes.erase(sizes.begin() + static_cast<ptrdiff_t>(d));
    return sizes;
  };
  if (self.dim() > 1 && rest(self) != rest(source)) {
    throw Error("source tensor shape must match self tensor shape, excluding the specified dimension. Got self.shape = " + to_text(self.sizes()) + " source.shape = " + to_text(source.sizes()));
  }
  const int64_t count = source.dim() ? source.size(d) : 1;
  if (index.numel() != count) {
    throw Error("index_reduce_(): Number of indices (" + std::to_string(index.numel()) + ") should be equal to source.size(dim): (" + std::to_string(count) + "), for dim: " + std::to_string(d));
  }
}

// What nothing was put together with yet.
Scalar start(How how, ScalarType t) {
  if (how == How::kProduct || how == How::kMean) return Scalar(how == How::kProduct ? 1.0 : 0.0);
  const double sign = how == How::kLargest ? -1 : 1;
  if (is_floating(t)) return Scalar(sign * std::numeric_limits<double>::infinity());
  return Scalar(how == How::kLargest ? std::numeric_limits<int64_t>::lowest() : std::numeric_limits<int64_t>::max());
}

void reduce_at(Tensor& self, int64_t dim, const Tensor& index, const Tensor& source, std::string_view reduce, bool include_self) {
  const How how = how_of(reduce);
  const int64_t d = wrap_dimension(dim, self.dim());
  check(self, d, index, source);
  if (!include_self) {
    const Tensor places = ops::to_dtype::call(index, ScalarType::Long);
    ops::index_fill__int_Scalar::call(self, d, places, start(how, self.dtype()));
  }
  if (self.numel() == 0) return;
  // A vector's counts are made first, for any way, and counted along.
  const bool vector = self.dim() <= 1;
  Tensor counts;
  const auto make_counts = [&] { counts = include_self ? ops::ones_like::call(self) : ops::zeros_like::call(self); };
  if (vector) make_counts();
  if (self.dim() > 1) {
    ops::select_int::call(self, d, 0);
    ops::select_int::call(source, d, 0);
  }
  const std::vector<int64_t> places = whole_numbers_of(index);
  with_type(self.dtype(), "index_func_cpu_", [&]<class T>(T) {
    using M = Math<T>;
    for (size_t k = 0; k < places.size(); ++k) {
      if (places[k] < 0 || places[k] >= (self.dim() ? self.size(d) : 1)) throw IndexError("index out of range in self");
      const Tensor to = slice_at(self, d, places[k]), from = slice_at(source, d, static_cast<int64_t>(k));
      if (vector) slice_at(counts, d, places[k]).data_as<T>()[0] = static_cast<T>(static_cast<M>(slice_at(counts, d, places[k]).data_as<T>()[0]) + M(1));
      Walk<2> walk(to.sizes());
      walk.set(0, to);
      walk.set(1, from);
      each<T, T>(walk, [how](T& o, T given) {
        const M a = static_cast<M>(o), b = static_cast<M>(given);
        switch (how) {
          case How::kProduct: o = static_cast<T>(a * b); break;
          case How::kMean: o = static_cast<T>(a + b); break;
          case How::kLargest: o = static_cast<T>(b != b || b > a ? b : a); break;
          case How::kSmallest: o = static_cast<T>(b != b || b < a ? b : a); break;
        }
      });
    }
  });
  if (how != How::kMean) return;
  if (!vector) {
    make_counts();
    ops::index_add_::call(counts, d, index, ops::ones_like::call(source));
  }
  ops::masked_fill__Scalar::call(counts, ops::eq_Scalar::call(counts, 0), 1);
  if (is_floating(self.dtype())) ops::div__Tensor::call(self, counts);
  else ops::div__Tensor_mode::call(self, counts, "floor");
}

}  // namespace

Tensor& index_reduce_(Tensor& self, int64_t dim, const Tensor& index, const Tensor& source, std::string_view reduce, bool include_self) {
  reduce_at(self, dim, index, source, reduce, include_self);
  return self;
}
Tensor index_reduce(const Tensor& self, int64_t dim, const Tensor& index, const Tensor& source, std::string_view reduce, bool include_self) {
  how_of(reduce);
  check(self, wrap_dimension(dim, self.dim()), index, source);
  Tensor out = like(self);
  ops::copy_::call(out, self);
  reduce_at(out, dim, index, source, reduce, include_self);
  return out;
}

Tensor& embedding_renorm_(Tensor& self, const Tensor& indices, double max_norm, double norm_type) {
  if (self.dim() != 2) throw Error("Expected 2-dimensional tensor, but got " + std::to_string(self.dim()) + "-dimensional tensor for argument #1 'self' (while checking arguments for embedding_renorm_)");
  if (indices.dtype() != ScalarType::Long && indices.dtype() != ScalarType::Int) {
    throw Error("Expected tensor for argument #2 'indices' to have one of the following scalar types: Long, Int; but got torch." + std::string(to_string(indices.dtype())) +
                "Tensor instead (while checking arguments for embedding_renorm_)");
  }
  const Tensor held = indices.is_contiguous() ? indices : ops::contiguous::call(indices);
  std::vector<int64_t> rows = whole_numbers_of(held);
  std::ranges::sort(rows);
  const auto again = std::ranges::unique(rows);
  rows.erase(again.begin(), again.end());
  for (const int64_t i : rows) {
    Tensor row = ops::select_int::call(self, 0, i);
    const double norm = ops::item::call(ops::norm_Scalar::call(row, norm_type)).value.to_double();
    if (norm > max_norm) ops::mul__Scalar::call(row, max_norm / (norm + 1e-7));
  }
  return self;
}

}  // namespace peel::kernels
