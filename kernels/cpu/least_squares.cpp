// Least squares.
#include <algorithm>
#include <limits>

#include "kernels/cpu/dense.h"
#include "kernels/cpu/matrices.h"
#include "ops_generated/kernels.h"
#include "ops_generated/ops.h"

namespace peel::kernels {
namespace {

int number(int64_t n) { return static_cast<int>(n); }
Tensor none_of(ScalarType t) { return ops::empty_memory_format::call(SizeVector{0}, t, Layout::Strided, Device()); }

// Batches are walked over by places, which stock makes as tensors.
void places_of(int64_t count, Sizes batch) {
  const Tensor places = ops::arange::call(count);
  ops::view::call(places, batch);
}

}  // namespace

std::tuple<Tensor&, Tensor&, Tensor&, Tensor&> linalg_lstsq_out(const Tensor& self, const Tensor& b, std::optional<double> rcond, std::optional<std::string_view> driver,
                                                                Tensor& solution, Tensor& residuals, Tensor& rank, Tensor& singular_values) {
  if (self.dim() < 2) throw Error("torch.linalg.lstsq: input must have at least 2 dimensions.");
  if (b.dim() < 1) throw Error("torch.linalg.lstsq: other must have at least 1 dimension.");
  if (self.dtype() != b.dtype()) throw Error(std::string("torch.linalg.lstsq: Expected input and other to have the same dtype, but got input's dtype ") + to_string(self.dtype()) + " and other's dtype " + to_string(b.dtype()));
  need_floating(self, "torch.linalg.lstsq");
  if (driver && *driver != "gelsy") {
    throw NotImplemented("The embedded engine has no linalg.lstsq(driver='" + std::string(*driver) + "') yet; the program can be run on stock PyTorch (--engine pytorch).");
  }
  const bool vector = self.dim() - 1 == b.dim() && std::ranges::equal(b.sizes(), self.sizes().first(self.sizes().size() - 1));
  const Tensor right = vector ? ops::unsqueeze::call(b, -1) : b;
  if (self.size(-2) != right.size(-2)) {
    throw Error(vector ? "torch.linalg.lstsq: input.size(-2) should match other.size(-1)" : "torch.linalg.lstsq: input.size(-2) should match other.size(-2)");
  }
  const int64_t m = self.size(-2), n = self.size(-1), columns = right.size(-1), tall = std::max(m, n);
  const SizeVector batch = broadcast(batch_of(self), batch_of(right));
  const int64_t count = element_count(batch);
  const Tensor info = ops::zeros::call(SizeVector{std::max<int64_t>(1, count)}, ScalarType::Int, Layout::Strided, self.device());
  ops::resize_::call(solution, with_batch(batch, {columns, tall}), MemoryFormat::Contiguous);
  ops::transpose_::call(solution, -2, -1);
  ops::mT::call(solution);
  Tensor given = ops::narrow::call(solution, -2, 0, m);
  ops::copy_::call(given, right);
  ops::resize_::call(rank, batch, MemoryFormat::Contiguous);
  const SizeVector shape = with_batch(batch, {m, n});
  const Tensor a = ops::empty_strided::call(shape, column_major(shape), self.dtype(), Layout::Strided, self.device());
  Tensor part = ops::narrow::call(a, -2, 0, m);
  ops::copy_::call(part, self);
  ops::empty_memory_format::call(SizeVector{n}, ScalarType::Int, Layout::Strided, self.device());
  ops::empty_memory_format::call(SizeVector{std::max<int64_t>(1, columns + n)}, self.dtype(), Layout::Strided, self.device());
  places_of(std::max<int64_t>(1, count), batch);
  places_of(std::max<int64_t>(1, count), batch);
  const Tensor all = ops::view::call(a, SizeVector{count, m, n}), answers = ops::view::call(solution, SizeVector{count, tall, columns});
  const double limit = rcond.value_or((self.dtype() == ScalarType::Float ? std::numeric_limits<float>::epsilon() : std::numeric_limits<double>::epsilon()) * static_cast<double>(tall));
  with_real(self.dtype(), "linalg_lstsq_cpu", [&]<class T>(T) {
    for (int64_t i = 0; i < count; ++i) {
      ops::select_int::call(all, 0, i);
      ops::select_int::call(answers, 0, i);
      dense::Doubles<T> matrix(a.data_as<T>() + i * m * n, m * n), x(solution.data_as<T>() + i * tall * columns, tall * columns);
      rank.data_as<int64_t>()[i] = dense::least_squares(number(m), number(n), number(columns), matrix.data(), x.data(), number(tall), limit);
    }
  });
  const Tensor wanted = ops::narrow::call(solution, -2, 0, n);
  ops::set__source_Storage_storage_offset::call(solution, wanted.impl().storage, wanted.storage_offset(), wanted.sizes(), wanted.strides());
  if (vector) {
    solution.impl().sizes.pop_back();
    solution.impl().strides.pop_back();
  }
  ops::_linalg_check_errors::call(info, "torch.linalg.lstsq", info.numel() <= 1);
  return {solution, residuals, rank, singular_values};
}
std::tuple<Tensor, Tensor, Tensor, Tensor> linalg_lstsq(const Tensor& self, const Tensor& b, std::optional<double> rcond, std::optional<std::string_view> driver) {
  Tensor solution = none_of(self.dtype()), residuals = none_of(self.dtype()), rank = none_of(ScalarType::Long), singular_values = none_of(self.dtype());
  ops::linalg_lstsq_out::call(self, b, rcond, driver, solution, residuals, rank, singular_values);
  return {solution, residuals, rank, singular_values};
}

}  // namespace peel::kernels
