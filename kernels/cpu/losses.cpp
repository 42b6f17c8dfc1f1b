// Losses that are classes' or differences' (mean squared error: loss.cpp).
#include <array>
#include <bit>
#include <cmath>

#include "kernels/cpu/rows.h"
#include "kernels/sparse/coordinates.h"
#include "ops_generated/kernels.h"
#include "ops_generated/ops.h"

namespace peel::kernels {
namespace {

using Optional = std::optional<Tensor>;
enum Reduction : int64_t { kNone, kMean, kSum };
bool given(const Optional& t) { return t && t->defined(); }

Tensor reduced(const Tensor& loss, int64_t reduction) {
  if (reduction == kMean) return ops::mean::call(loss);
  return reduction == kSum ? ops::sum::call(loss) : loss;
}
double norm(int64_t reduction, const Tensor& self) { return reduction == kMean ? 1.0 / static_cast<double>(self.numel()) : 1.0; }

}  // namespace

Tensor cross_entropy_loss(const Tensor& self, const Tensor& target, const Optional& weight, int64_t reduction, int64_t ignore_index, double label_smoothing) {
  const int64_t class_dim = self.dim() == 1 ? 0 : 1, classes = self.dim() ? self.size(class_dim) : 0;
  if (label_smoothing < 0 || label_smoothing > 1) throw Error("label_smoothing must be between 0.0 and 1.0. Got: " + std::to_string(label_smoothing));
  const bool probabilities = std::ranges::equal(self.sizes(), target.sizes());
  if (probabilities && !is_floating(target.dtype())) throw Error(std::string("Expected floating point type for target with class probabilities, got ") + to_string(target.dtype()));
  if (probabilities && ignore_index >= 0) throw Error("ignore_index is not supported for floating point target");
  const Tensor input = ops::log_softmax_int::call(self, class_dim, self.dtype());
  if (probabilities) {
    Tensor wanted = target;
    if (label_smoothing > 0) wanted = ops::add_Scalar::call(ops::mul_Scalar::call(target, 1 - label_smoothing), label_smoothing / static_cast<double>(classes));
    Tensor product = ops::mul_Tensor::call(input, wanted);
    if (given(weight)) {
      SizeVector shape(self.sizes().size(), 1);
      shape[static_cast<size_t>(class_dim)] = classes;
      product = ops::mul_Tensor::call(product, ops::view::call(*weight, shape));
    }
    if (reduction == kNone) return ops::neg::call(ops::sum_dim_IntList::call(product, Sizes(&class_dim, 1), false));
    const Tensor total = ops::neg::call(ops::sum::call(product));
    return reduction == kSum ? total : ops::div_Scalar::call(total, static_cast<double>(self.numel()) / static_cast<double>(classes));
  }
  // With smoothing stock passes an undefined weight on, which brings keys of its own.
  const Tensor loss = ops::nll_loss_nd::call(input, target, label_smoothing > 0 && !given(weight) ? Optional(Tensor()) : weight, reduction, ignore_index);
  if (label_smoothing == 0) return loss;
  if (given(weight)) throw NotImplemented("The embedded engine has no label smoothing with weights yet; the program can be run on stock PyTorch (--engine pytorch).");
  Tensor smooth = ops::neg::call(ops::sum_dim_IntList::call(input, Sizes(&class_dim, 1), false));
  const Tensor ignored = ops::eq_Scalar::call(target, ignore_index);
  ops::masked_fill__Scalar::call(smooth, ignored, 0.0);
  Tensor rest;
  if (reduction == kMean) {
    const Tensor used = ops::sum::call(ops::bitwise_not::call(ignored));
    rest = ops::div_Tensor::call(ops::sum::call(smooth), used);
  } else {
    rest = reduction == kSum ? ops::sum::call(smooth) : smooth;
  }
  const Tensor small = ops::mul_Scalar::call(rest, label_smoothing / static_cast<double>(classes));
  return ops::add_Tensor::call(ops::mul_Scalar::call(loss, 1 - label_smoothing), small);
}

Tensor nll_loss_nd(const Tensor& self, const Tensor& target, const Optional& weight, int64_t reduction, int64_t ignore_index) {
  if (self.dim() < 1) throw ValueError("Expected 1 or more dimensions (got " + std::to_string(self.dim()) + ")");
  if (self.dim() != 1 && self.size(0) != target.size(0)) {
    throw ValueError("Expected input batch_size (" + std::to_string(self.size(0)) + ") to match target batch_size (" + std::to_string(target.size(0)) + ").");
  }
  if (self.dim() == 4) return ops::nll_loss2d::call(self, target, weight, reduction, ignore_index);
  if (self.dim() > 2) {  // other places are seen as one row of a picture
    const int64_t n = self.size(0), c = self.size(1);
    SizeVector shape{n};
    shape.insert(shape.end(), self.sizes().begin() + 2, self.sizes().end());
    if (!std::ranges::equal(target.sizes().subspan(1), self.sizes().subspan(2))) throw Error("Expected target size " + to_text(shape) + ", got " + to_text(target.sizes()));
    const Tensor plain = made_contiguous(self), plain_target = made_contiguous(target);
    const Tensor in = ops::view::call(plain, SizeVector{n, c, 1, -1}), wanted = ops::view::call(plain_target, SizeVector{n, 1, -1});
    const Tensor loss = ops::nll_loss2d::call(in, wanted, weight, reduction, ignore_index);
    return reduction == kMean || reduction == kSum ? loss : ops::view::call(loss, shape);
  }
  return ops::nll_loss::call(self, target, weight, reduction, ignore_index);
}
Tensor nll_loss(const Tensor& self, const Tensor& target, const Optional& weight, int64_t reduction, int64_t ignore_index) {
  return std::get<0>(ops::nll_loss_forward::call(self, target, weight, reduction, ignore_index));
}

namespace {

struct Classes {
  int64_t rows, count;
  std::vector<int64_t> target;
  std::vector<double> weight;
};
Classes classes(const Tensor& self, const Tensor& target, const Optional& weight, int64_t ignore_index) {
  if (self.dim() < 1 || self.dim() > 2) throw Error("input tensor should be 1D or 2D");
  if (target.dim() > 1) throw Error("0D or 1D target tensor expected, multi-target not supported");
  Classes c{self.dim() == 1 ? 1 : self.size(0), self.size(-1), {}, {}};
  if (!(self.dim() == 1 && target.dim() == 0) && c.rows != target.size(0)) {
    throw Error("size mismatch (got input: " + to_text(self.sizes()) + ", target: " + to_text(target.sizes()) + ")");
  }
  if (given(weight) && (weight->dim() != 1 || weight->numel() != c.count)) {
    throw Error("weight tensor should be defined either for all " + std::to_string(c.count) + " classes or no classes but got weight tensor of shape: " + to_text(weight->sizes()));
  }
  if (target.dtype() == ScalarType::Byte) throw NotImplemented("The embedded engine has no nll_loss for a target of uint8 yet; the program can be run on stock PyTorch (--engine pytorch).");
  if (target.dtype() != ScalarType::Long) throw Error(std::string("expected target dtype to be Long or Byte, but got ") + to_string(target.dtype()));
  for (int64_t i = 0; i < target.numel(); ++i) c.target.push_back(target.data_as<int64_t>()[target.dim() ? i * target.strides()[0] : 0]);
  for (const int64_t t : c.target) {
    if (t != ignore_index && (t < 0 || t >= c.count)) throw IndexError("Target " + std::to_string(t) + " is out of bounds.");
  }
  c.weight.assign(static_cast<size_t>(c.count), 1);
  if (given(weight)) {
    with_floating(weight->dtype(), "nll_loss", [&]<class T>(T) {
      for (int64_t i = 0; i < c.count; ++i) c.weight[static_cast<size_t>(i)] = static_cast<double>(static_cast<Math<T>>(weight->data_as<T>()[i * weight->strides()[0]]));
    });
  }
  return c;
}

// A sum over rows as stock rounds it: in the tensor's own type, of 16 rows or more at the lowest of eight levels.
template <class T>
class LeveledSum {
 public:
  explicit LeveledSum(int64_t rows) : power_(std::max<int64_t>(4, std::bit_width(static_cast<uint64_t>(std::max<int64_t>(rows, 1) - 1)) / kLevels)) {}
  void add(int64_t row, T value) {
    put(levels_[0], value);
    for (size_t j = 0; j + 1 < kLevels; ++j) {
      if (row >> (static_cast<int64_t>(j) * power_) & ((int64_t{1} << power_) - 1)) return;
      put(levels_[j + 1], levels_[j]);
      levels_[j] = T(0);
    }
  }
  T total() const {
    T sum(0);
    for (const T level : levels_) put(sum, level);
    return sum;
  }

 private:
  static constexpr size_t kLevels = 8;
  static void put(T& to, T value) { to = static_cast<T>(static_cast<Math<T>>(to) + static_cast<Math<T>>(value)); }
  int64_t power_;
  std::array<T, kLevels> levels_{};
};

}  // namespace

std::tuple<Tensor, Tensor> nll_loss_forward(const Tensor& self, const Tensor& target, const Optional& weight, int64_t reduction, int64_t ignore_index) {
  const Classes c = classes(self, target, weight, ignore_index);
  const bool each_row = reduction == kNone && self.dim() == 2;
  const Tensor out = empty(each_row ? SizeVector{c.rows} : SizeVector(), self.dtype(), self.device()), total = empty({}, self.dtype(), self.device());
  const Rows rows = rows_of(self, self.dim() == 2 ? std::vector<bool>{false, true} : std::vector<bool>{true});
  with_floating(self.dtype(), "nll_loss_out_frame", [&]<class T>(T) {
    LeveledSum<T> sum(c.rows), weights(c.rows);
    int64_t ignored = 0;
    for (int64_t r = 0; r < c.rows; ++r) {
      const int64_t t = c.target[static_cast<size_t>(r)];
      const bool left_out = t == ignore_index;
      const T w = static_cast<T>(left_out ? 0 : c.weight[static_cast<size_t>(t)]);
      const T loss = left_out ? T(0) : static_cast<T>(-static_cast<Math<T>>(static_cast<T>(static_cast<Math<T>>(rows.data.data_as<T>()[r * c.count + t]) * static_cast<Math<T>>(w))));
      if (each_row) out.data_as<T>()[r] = loss;
      ignored += left_out;
      if (left_out) continue;
      sum.add(r, loss);
      weights.add(r, w);
    }
    const T weight_sum = given(weight) ? weights.total() : static_cast<T>(static_cast<Math<T>>(c.rows - ignored));
    *total.data_as<T>() = each_row ? T(0) : weight_sum;
    if (each_row) return;
    const T all = sum.total();
    *out.data_as<T>() = reduction == kMean ? static_cast<T>(static_cast<Math<T>>(all) / static_cast<Math<T>>(weight_sum)) : all;
  });
  return {out, total};
}
Tensor nll_loss_backward(const Tensor& grad_output, const Tensor& self, const Tensor& target, const Optional& weight, int64_t reduction, int64_t ignore_index,
                         const Tensor& total_weight) {
  const Classes c = classes(self, target, weight, ignore_index);
  Tensor out = empty(self.sizes(), self.dtype(), self.device());
  ops::zero_::call(out);
  with_floating(self.dtype(), "nll_loss_backward_out_frame", [&]<class T>(T) {
    const double total = static_cast<double>(static_cast<Math<T>>(*total_weight.data_as<T>()));
    for (int64_t r = 0; r < c.rows; ++r) {
      const int64_t t = c.target[static_cast<size_t>(r)];
      if (t == ignore_index) continue;
      const T g = grad_output.data_as<T>()[grad_output.dim() ? r * grad_output.strides()[0] : 0];
      const double each = -c.weight[static_cast<size_t>(t)] * static_cast<double>(static_cast<Math<T>>(g));
      out.data_as<T>()[r * c.count + t] = static_cast<T>(reduction == kMean ? each / total : each);
    }
  });
  return out;
}

Tensor l1_loss(const Tensor& self, const Tensor& target, int64_t reduction) { return reduced(ops::abs::call(ops::sub_Tensor::call(self, target)), reduction); }

namespace {

constexpr auto kSmoothL1 = [](double beta) {
  return [beta](auto a, auto b) {
    using X = decltype(a);
    const X away = std::abs(a - b), width = static_cast<X>(beta);
    return away < width ? X(0.5) * away * away / width : away - X(0.5) * width;
  };
};
constexpr auto kHuber = [](double delta) {
  return [delta](auto a, auto b) {
    using X = decltype(a);
    const X away = std::abs(a - b), width = static_cast<X>(delta);
    return away <= width ? X(0.5) * away * away : width * (away - X(0.5) * width);
  };
};
// slope(difference) * grad * factor into a tensor.
template <class F>
Tensor& difference_backward(const char* name, const Tensor& grad_output, const Tensor& self, const Tensor& target, Tensor& out, F slope) {
  Elementwise e({self, target, grad_output}, out);
  with_floating(e.type(), name, [&]<class T>(T) {
    using M = Math<T>;
    auto walk = e.template walk<4>();
    each<T, T, T, T>(walk, [slope](T& o, T a, T b, T g) { o = static_cast<T>(slope(static_cast<M>(a) - static_cast<M>(b)) * static_cast<M>(g)); });
  });
  e.finish();
  return out;
}

}  // namespace

Tensor smooth_l1_loss(const Tensor& self, const Tensor& target, int64_t reduction, double beta) {
  if (beta <= 0) throw Error("smooth_l1_loss does not support negative values for beta.");
  if (reduction == kNone) return map_floating("smooth_l1_cpu", {self, target}, kSmoothL1(beta), {}, {Want::kPromoted});
  Tensor out = empty({}, self.dtype(), self.device());
  ops::resize_::call(out, Sizes());
  const Tensor all = map_floating("smooth_l1_cpu", {self, target}, kSmoothL1(beta), {}, {Want::kPromoted, {}, true});
  if (reduction == kMean) ops::mean_out::call(all, Sizes(), false, {}, out);
  else ops::sum_IntList_out::call(all, Sizes(), false, {}, out);
  return out;
}
Tensor smooth_l1_loss_backward(const Tensor& grad_output, const Tensor& self, const Tensor& target, int64_t reduction, double beta) {
  Tensor out = ops::zeros_like::call(self, {}, {}, {}, {}, MemoryFormat::Contiguous);
  return ops::smooth_l1_loss_backward_grad_input::call(grad_output, self, target, reduction, beta, out);
}
Tensor& smooth_l1_loss_backward_out(const Tensor& grad_output, const Tensor& self, const Tensor& target, int64_t reduction, double beta, Tensor& grad_input) {
  return difference_backward("smooth_l1_backward_cpu_out", grad_output, self, target, grad_input, [beta, n = norm(reduction, self)](auto x) {
    using X = decltype(x);
    const X f = static_cast<X>(n), width = static_cast<X>(beta);
    return x <= -width ? -f : x >= width ? f : f * x / width;
  });
}
Tensor huber_loss(const Tensor& self, const Tensor& target, int64_t reduction, double delta) {
  if (delta <= 0) throw Error("huber_loss does not support non-positive values for delta.");
  const Tensor loss = ops::empty_like::call(self);
  map_floating("huber", {self, target}, kHuber(delta), loss, {Want::kPromoted});
  return reduced(loss, reduction);
}
Tensor huber_loss_backward(const Tensor& grad_output, const Tensor& self, const Tensor& target, int64_t reduction, double delta) {
  Tensor out = ops::zeros_like::call(self, {}, {}, {}, {}, MemoryFormat::Contiguous);
  return ops::huber_loss_backward_out::call(grad_output, self, target, reduction, delta, out);
}
Tensor& huber_loss_backward_out(const Tensor& grad_output, const Tensor& self, const Tensor& target, int64_t reduction, double delta, Tensor& grad_input) {
  return difference_backward("huber_backward_cpu_out", grad_output, self, target, grad_input, [delta, n = norm(reduction, self)](auto x) {
    using X = decltype(x);
    const X f = static_cast<X>(n), width = static_cast<X>(delta);
    return x <= -width ? -f * width : x >= width ? f * width : f * x;
  });
}

Tensor binary_cross_entropy(const Tensor& self, const Tensor& target, const Optional& weight, int64_t reduction) {
  if (!std::ranges::equal(self.sizes(), target.sizes())) {
    throw ValueError("Using a target size (" + to_text(target.sizes()) + ") that is different to the input size (" + to_text(self.sizes()) + ") is deprecated. Please ensure they have the same size.");
  }
  Tensor loss = ops::empty_like::call(self);
  const Tensor out = ops::squeeze::call(loss), t = ops::squeeze::call(target), x = ops::squeeze::call(self);
  map_floating("binary_cross_entropy", {x, t}, [](auto p, auto y) {
    using X = decltype(p);
    if (!(p >= X(0) && p <= X(1))) throw Error("all elements of input should be between 0 and 1");
    return (y - X(1)) * std::max(std::log1p(-p), X(-100)) - y * std::max(std::log(p), X(-100));
  }, out, {Want::kPromoted});
  if (given(weight)) ops::mul__Tensor::call(loss, *weight);
  if (reduction == kNone) return loss;
  const Tensor value = reduced(loss, reduction);
  ops::resize_as_::call(loss, value);
  return ops::copy_::call(loss, value);
}
Tensor& resize_as_(Tensor& self, const Tensor& the_template, std::optional<MemoryFormat>) {
  return is_coo(self) ? resize_as_coo_(self, the_template) : ops::resize_::call(self, the_template.sizes());
}
Tensor binary_cross_entropy_backward(const Tensor& grad_output, const Tensor& self, const Tensor& target, const Optional& weight, int64_t reduction) {
  Tensor out = ops::empty_like::call(self);
  Tensor flat = ops::squeeze::call(out);
  const Tensor g = ops::squeeze::call(grad_output), x = ops::squeeze::call(self), t = ops::squeeze::call(target);
  Elementwise e({g, x, t}, flat);
  with_floating(e.type(), "binary_cross_entropy_backward", [&]<class T>(T) {
    using M = Math<T>;
    auto walk = e.walk<4>();
    each<T, T, T, T>(walk, [](T& o, T a, T b, T c) {
      const M p = static_cast<M>(b), y = static_cast<M>(c);
      o = static_cast<T>(static_cast<M>(a) * (p - y) / std::max((M(1) - p) * p, static_cast<M>(1e-12)));
    });
  });
  e.finish();
  if (given(weight)) ops::mul__Tensor::call(out, *weight);
  if (reduction == kMean) ops::div__Scalar::call(out, self.numel());
  return out;
}
Tensor binary_cross_entropy_with_logits(const Tensor& self, const Tensor& target, const Optional& weight, const Optional& pos_weight, int64_t reduction) {
  Tensor likely = ops::log_sigmoid::call(self);
  if (given(pos_weight)) {
    Tensor scale = ops::mul_Tensor::call(ops::sub_Scalar::call(*pos_weight, 1), target);
    ops::add__Scalar::call(scale, 1);
    ops::mul__Tensor::call(likely, scale);
  }
  Tensor loss = ops::empty_like::call(target);
  ops::fill__Scalar::call(loss, 1);
  ops::sub__Tensor::call(loss, target);
  ops::mul__Tensor::call(loss, self);
  ops::sub__Tensor::call(loss, likely);
  if (given(weight)) ops::mul__Tensor::call(loss, *weight);
  return reduced(loss, reduction);
}
Tensor kl_div(const Tensor& self, const Tensor& target, int64_t reduction, bool log_target) {
  if (log_target) {
    const Tensor away = ops::sub_Tensor::call(target, self);
    return reduced(ops::mul_Tensor::call(ops::exp::call(target), away), reduction);
  }
  const Tensor product = ops::mul_Tensor::call(target, self);
  return reduced(ops::sub_Tensor::call(ops::xlogy_Tensor::call(target, target), product), reduction);
}

}  // namespace peel::kernels
