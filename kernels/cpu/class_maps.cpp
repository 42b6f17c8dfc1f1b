// The loss of classes at every place of a picture.
#include <algorithm>

#include "kernels/cpu/rows.h"
#include "ops_generated/kernels.h"
#include "ops_generated/ops.h"

namespace peel::kernels {
namespace {

using Optional = std::optional<Tensor>;
enum : int64_t { kNone, kMean, kSum };

struct Map {
  int64_t n, classes, places;
  std::vector<int64_t> target;
  std::vector<double> weight;
};
Map map_of(const Tensor& self, const Tensor& target, const Optional& weight) {
  if (target.dim() != 3) throw Error("only batches of spatial targets supported (3D tensors) but got targets of dimension: " + std::to_string(target.dim()));
  if (self.dim() != 4) throw Error("only batches of spatial inputs supported (4D tensors), but got input of dimension: " + std::to_string(self.dim()));
  if (self.size(0) != target.size(0) || self.size(2) != target.size(1) || self.size(3) != target.size(2)) {
    throw Error("size mismatch (got input: " + to_text(self.sizes()) + " , target: " + to_text(target.sizes()));
  }
  Map m{self.size(0), self.size(1), self.size(2) * self.size(3), {}, {}};
  m.weight.assign(static_cast<size_t>(m.classes), 1.0);
  if (weight && weight->defined()) {
    if (weight->numel() != m.classes) throw Error("weight tensor should be defined either for all or no classes");
    with_floating(weight->dtype(), "nll_loss2d_forward_out_frame", [&]<class T>(T) {
      for (size_t c = 0; c < m.weight.size(); ++c) m.weight[c] = static_cast<double>(static_cast<Math<T>>(weight->data_as<T>()[static_cast<int64_t>(c) * weight->strides()[0]]));
    });
  }
  if (target.dtype() != ScalarType::Long) throw Error(std::string("expected scalar type Long but found ") + to_string(target.dtype()));
  m.target = whole_numbers_of(target);
  return m;
}
void check_class(int64_t c, int64_t classes) {
  if (c < 0 || c >= classes) throw IndexError("Target " + std::to_string(c) + " is out of bounds.");
}

}  // namespace

std::tuple<Tensor, Tensor> nll_loss2d_forward(const Tensor& self, const Tensor& target, const Optional& weight, int64_t reduction, int64_t ignore_index) {
  Tensor out = ops::empty_memory_format::call(SizeVector{0}, self.dtype(), Layout::Strided, self.device());
  Tensor total = ops::empty_memory_format::call(SizeVector{0}, self.dtype(), Layout::Strided, self.device());
  const Map m = map_of(self, target, weight);
  reshape_out(total, Sizes());
  if (reduction == kNone) ops::resize_::call(out, target.sizes());
  else ops::resize_::call(out, Sizes());
  const Tensor in = rows_of(self, named_dims(std::nullopt, 4)).data;
  with_floating(self.dtype(), "nll_loss2d_forward_out_frame", [&]<class T>(T) {
    double sum = 0, weights = 0;
    for (int64_t i = 0; i < m.n * m.places; ++i) {
      const int64_t c = m.target[static_cast<size_t>(i)];
      if (c == ignore_index) {
        if (reduction == kNone) out.data_as<T>()[i] = T{};
        continue;
      }
      check_class(c, m.classes);
      const double w = m.weight[static_cast<size_t>(c)];
      const double v = -w * static_cast<double>(static_cast<Math<T>>(in.data_as<T>()[(i / m.places * m.classes + c) * m.places + i % m.places]));
      if (reduction == kNone) out.data_as<T>()[i] = static_cast<T>(v);
      sum += v;
      weights += w;
    }
    *total.data_as<T>() = static_cast<T>(reduction == kNone ? 0.0 : weights);
    if (reduction != kNone) *out.data_as<T>() = static_cast<T>(reduction == kMean ? sum / weights : sum);
  });
  return {out, total};
}
Tensor nll_loss2d_backward(const Tensor& grad_output, const Tensor& self, const Tensor& target, const Optional& weight, int64_t reduction, int64_t ignore_index, const Tensor& total_weight) {
  Tensor out = ops::zeros_like::call(self);
  const Map m = map_of(self, target, weight);
  ops::resize_as_::call(out, self);
  ops::zero_::call(out);
  const Tensor grad = rows_of(grad_output, named_dims(std::nullopt, grad_output.dim())).data;
  with_floating(self.dtype(), "nll_loss2d_backward_out_frame", [&]<class T>(T) {
    const double all = static_cast<double>(static_cast<Math<T>>(*total_weight.data_as<T>()));
    for (int64_t i = 0; i < m.n * m.places; ++i) {
      const int64_t c = m.target[static_cast<size_t>(i)];
      if (c == ignore_index) continue;
      check_class(c, m.classes);
      const auto g = static_cast<double>(static_cast<Math<T>>(grad.data_as<T>()[reduction == kNone ? i : 0]));
      const double v = -m.weight[static_cast<size_t>(c)] * g / (reduction == kMean ? all : 1);
      const int64_t n = i / m.places, at = i % m.places;
      out.data_as<T>()[out.strides()[0] * n + out.strides()[1] * c + out.strides()[2] * (at / self.size(3)) + out.strides()[3] * (at % self.size(3))] = static_cast<T>(v);
    }
  });
  return out;
}
Tensor nll_loss2d(const Tensor& self, const Tensor& target, const Optional& weight, int64_t reduction, int64_t ignore_index) {
  return std::get<0>(ops::nll_loss2d_forward::call(self, target, weight, reduction, ignore_index));
}

}  // namespace peel::kernels
