// Losses of classes that are to win by a margin.
#include <cmath>

#include "kernels/cpu/rows.h"
#include "ops_generated/kernels.h"
#include "ops_generated/ops.h"

namespace peel::kernels {
namespace {

using Optional = std::optional<Tensor>;
enum Reduction : int64_t { kNone, kMean, kSum };
Tensor nothing_of(const Tensor& like) { return ops::empty_memory_format::call(SizeVector{0}, like.dtype(), Layout::Strided, like.device()); }

struct Margins {
  int64_t count, classes;
  Tensor input, target, weight;
  double p, margin;
};
Margins margins(const Tensor& self, const Tensor& target, const Scalar& p, const Scalar& margin, const Optional& weight) {
  Margins m{self.dim() < 2 ? 1 : self.size(0), self.dim() == 0 ? 1 : self.size(-1), {}, {}, {}, p.value.to_double(), margin.value.to_double()};
  if (m.p != 1 && m.p != 2) throw ValueError("only p == 1 and p == 2 supported");
  if (self.dim() > 2 || m.classes == 0) throw Error("Expected non-empty vector or matrix with optional 0-dim batch size, but got: " + to_text(self.sizes()));
  if (target.dim() > 1 || target.numel() != m.count) {
    throw Error("multi_margin_loss: target tensor should be 1-D with size equal to the number of input samples (batch size). Expected target size [" + std::to_string(m.count) +
                "], but got " + to_text(target.sizes()) + ". Input has shape " + to_text(self.sizes()) + ".");
  }
  if (weight && weight->defined() && (weight->dim() > 1 || weight->numel() != m.classes)) {
    throw Error("inconsistent weight size, expected " + std::to_string(m.classes) + " but got " + to_text(weight->sizes()));
  }
  m.input = made_contiguous(self);
  m.target = made_contiguous(target);
  if (weight && weight->defined()) m.weight = made_contiguous(*weight);
  for (int64_t i = 0; i < m.count; ++i) {
    const int64_t t = m.target.data_as<int64_t>()[i];
    if (t < 0 || t >= m.classes) throw Error("target out of range");
  }
  return m;
}
// f(sample, class, target, how far the class is from losing by the margin, the target's weight), for those that are.
template <class T, class F>
void each_short(const Margins& m, F f) {
  for (int64_t i = 0; i < m.count; ++i) {
    const T* row = m.input.data_as<T>() + i * m.classes;
    const int64_t t = m.target.data_as<int64_t>()[i];
    const double weight = m.weight.defined() ? static_cast<double>(m.weight.data_as<T>()[t]) : 1.0;
    for (int64_t c = 0; c < m.classes; ++c) {
      const double z = m.margin - static_cast<double>(row[t]) + static_cast<double>(row[c]);
      if (c != t && z > 0) f(i, c, t, z, weight);
    }
  }
}
template <class F>
void with_single_or_double(ScalarType t, const char* name, F f) {
  if (t == ScalarType::Float) f(float{});
  else if (t == ScalarType::Double) f(double{});
  else no_kernel_for(name, t);
}

}  // namespace

Tensor multi_margin_loss(const Tensor& self, const Tensor& target, const Scalar& p, const Scalar& margin, const Optional& weight, int64_t reduction) {
  Tensor out = nothing_of(self);
  const Margins m = margins(self, target, p, margin, weight);
  const bool each_sample = reduction == kNone && target.dim() > 0;
  ops::resize_::call(out, each_sample ? SizeVector{m.count} : SizeVector{});
  with_single_or_double(self.dtype(), "multi_margin_loss_cpu_kernel", [&]<class T>(T) {
    std::vector<double> sums(static_cast<size_t>(m.count));
    each_short<T>(m, [&](int64_t i, int64_t, int64_t, double z, double w) { sums[static_cast<size_t>(i)] += w * (m.p == 1 ? z : z * z) / static_cast<double>(m.classes); });
    double all = 0;
    for (size_t i = 0; i < sums.size(); ++i) {
      all += sums[i];
      if (each_sample) out.data_as<T>()[i] = static_cast<T>(sums[i]);
    }
    if (!each_sample) *out.data_as<T>() = static_cast<T>(reduction == kMean ? all / static_cast<double>(m.count) : all);
  });
  return out;
}
Tensor multi_margin_loss_backward(const Tensor& grad_output, const Tensor& self, const Tensor& target, const Scalar& p, const Scalar& margin, const Optional& weight, int64_t reduction) {
  const Tensor out = nothing_of(self);
  const Margins m = margins(self, target, p, margin, weight);
  Tensor grad_input = out;
  ops::resize_as_::call(grad_input, self);
  const int64_t step = grad_output.numel() > 1 ? grad_output.strides()[0] : 0;
  with_single_or_double(self.dtype(), "multi_margin_loss_backward_cpu_kernel", [&]<class T>(T) {
    std::vector<double> grads(static_cast<size_t>(self.numel()));
    const double share = 1.0 / static_cast<double>(reduction == kMean ? m.count * m.classes : m.classes);
    each_short<T>(m, [&](int64_t i, int64_t c, int64_t t, double z, double w) {
      const double h = share * w * (m.p == 1 ? 1 : 2 * z) * static_cast<double>(grad_output.data_as<T>()[i * step]);
      grads[static_cast<size_t>(i * m.classes + c)] += h;
      grads[static_cast<size_t>(i * m.classes + t)] -= h;
    });
    for (size_t i = 0; i < grads.size(); ++i) out.data_as<T>()[i] = static_cast<T>(grads[i]);
  });
  return out;
}

namespace {

// Several classes of a sample are to win; the first -1 ends their list.
struct Lists {
  int64_t count, classes;
  Tensor input, target;
};
Lists lists(const Tensor& self, const Tensor& target) {
  Lists l{self.dim() < 2 ? 1 : self.size(0), self.dim() == 0 ? 1 : self.size(-1), {}, {}};
  if (self.dim() > 2 || l.classes == 0) throw Error("Expected non-empty vector or matrix with optional 0-dim batch size, but got: " + to_text(self.sizes()));
  const bool fits = self.dim() < 2 ? target.dim() <= 1 && target.numel() == l.classes : std::ranges::equal(target.sizes(), self.sizes());
  if (!fits) throw Error("inconsistent target size: " + to_text(target.sizes()) + " for input of size: " + to_text(self.sizes()));
  l.input = made_contiguous(self);
  l.target = made_contiguous(target);
  return l;
}
void check_range(const Tensor& t, int64_t least, int64_t most, const char* name) {
  const bool low = ops::item::call(ops::min::call(t)).value.to_double() < static_cast<double>(least);
  if (low || ops::item::call(ops::max::call(t)).value.to_double() > static_cast<double>(most)) throw Error(std::string(name) + " is out of range");
}
// f(place of a class that is to win, place of one that isn't, how far that is from losing by 1).
template <class T, class F>
void each_close(const Lists& l, const Tensor& is_target, F f) {
  const T *in = l.input.data_as<T>(), *wins = is_target.data_as<T>();
  for (int64_t i = 0; i < l.count; ++i) {
    const int64_t first = i * l.classes, *target = l.target.data_as<int64_t>() + first;
    for (int64_t k = 0; k < l.classes && target[k] >= 0; ++k) {
      for (int64_t c = 0; c < l.classes; ++c) {
        const double z = 1 - static_cast<double>(in[first + target[k]]) + static_cast<double>(in[first + c]);
        if (wins[first + c] == T{} && z > 0) f(first + target[k], first + c, z);
      }
    }
  }
}

}  // namespace

Tensor multilabel_margin_loss(const Tensor& self, const Tensor& target, int64_t reduction) {
  return std::get<0>(ops::multilabel_margin_loss_forward::call(self, target, reduction));
}
std::tuple<Tensor, Tensor> multilabel_margin_loss_forward(const Tensor& self, const Tensor& target, int64_t reduction) {
  Tensor out = nothing_of(self), is_target = nothing_of(self);
  const Lists l = lists(self, target);
  const bool each_sample = reduction == kNone && target.dim() > 1;
  ops::resize_::call(out, each_sample ? SizeVector{l.count} : SizeVector{});
  ops::resize_as_::call(is_target, target);
  ops::zero_::call(is_target);
  check_range(l.target, -1, l.classes - 1, "argument #2 'target'");
  with_single_or_double(self.dtype(), "multilabel_margin_loss_forward_out_frame", [&]<class T>(T) {
    for (int64_t i = 0; i < l.count; ++i) {
      const int64_t* row = l.target.data_as<int64_t>() + i * l.classes;
      for (int64_t k = 0; k < l.classes && row[k] >= 0; ++k) is_target.data_as<T>()[i * l.classes + row[k]] = T{1};
    }
    std::vector<double> sums(static_cast<size_t>(l.count));
    each_close<T>(l, is_target, [&](int64_t, int64_t place, double z) { sums[static_cast<size_t>(place / l.classes)] += z / static_cast<double>(l.classes); });
    double all = 0;
    for (size_t i = 0; i < sums.size(); ++i) {
      all += sums[i];
      if (each_sample) out.data_as<T>()[i] = static_cast<T>(sums[i]);
    }
    if (!each_sample) *out.data_as<T>() = static_cast<T>(reduction == kMean ? all / static_cast<double>(l.count) : all);
  });
  return {out, is_target};
}
Tensor multilabel_margin_loss_backward(const Tensor& grad_output, const Tensor& self, const Tensor& target, int64_t reduction, const Tensor& is_target) {
  Tensor out = ops::zeros_like::call(self, {}, {}, {}, {}, MemoryFormat::Contiguous);
  const Lists l = lists(self, target);
  ops::resize_as_::call(out, self);
  ops::zero_::call(out);
  check_range(l.target, -1, l.classes - 1, "argument #2 'target'");
  check_range(is_target, 0, 1, "argument #3 'is_target'");
  const int64_t step = grad_output.numel() > 1 ? grad_output.strides()[0] : 0;
  with_single_or_double(self.dtype(), "multilabel_margin_loss_backward_out_frame", [&]<class T>(T) {
    const double share = 1.0 / static_cast<double>(reduction == kMean ? l.count * l.classes : l.classes);
    std::vector<double> grads(static_cast<size_t>(self.numel()));
    each_close<T>(l, is_target, [&](int64_t wins, int64_t other, double) {
      grads[static_cast<size_t>(other)] += share;
      grads[static_cast<size_t>(wins)] -= share;
    });
    for (int64_t i = 0; i < self.numel(); ++i) out.data_as<T>()[i] = static_cast<T>(grads[static_cast<size_t>(i)] * static_cast<double>(grad_output.data_as<T>()[i / l.classes * step]));
  });
  return out;
}

Tensor soft_margin_loss(const Tensor& self, const Tensor& target, int64_t reduction) {
  Tensor out = nothing_of(self);
  return ops::soft_margin_loss_out::call(self, target, reduction, out);
}
Tensor& soft_margin_loss_out(const Tensor& self, const Tensor& target, int64_t reduction, Tensor& out) {
  ops::neg_out::call(self, out);
  ops::mul__Tensor::call(out, target);
  ops::exp_::call(out);
  ops::log1p_::call(out);
  if (reduction == kNone) return out;
  const Tensor one = reduction == kMean ? ops::mean::call(out) : ops::sum::call(out);
  ops::resize_::call(out, Sizes());
  return ops::copy_::call(out, one);
}
Tensor soft_margin_loss_backward(const Tensor& grad_output, const Tensor& self, const Tensor& target, int64_t reduction) {
  Tensor out = nothing_of(self);
  return ops::soft_margin_loss_backward_grad_input::call(grad_output, self, target, reduction, out);
}
Tensor& soft_margin_loss_backward_out(const Tensor& grad_output, const Tensor& self, const Tensor& target, int64_t reduction, Tensor& grad_input) {
  const Tensor minus = ops::neg::call(target), product = ops::mul_Tensor::call(minus, self);
  Tensor z = ops::exp::call(product);
  ops::mul_out::call(target, z, grad_input);
  ops::mul__Scalar::call(grad_input, reduction == kMean ? -1.0 / static_cast<double>(self.numel()) : -1.0);
  ops::add__Scalar::call(z, 1);
  ops::div__Tensor::call(grad_input, z);
  return ops::mul__Tensor::call(grad_input, grad_output);
}

}  // namespace peel::kernels
