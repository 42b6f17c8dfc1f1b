// Connectionist temporal classification: the loss of a sequence of labels under all ways to stretch it over time.
#include <algorithm>
#include <cmath>
#include <limits>

#include "kernels/cpu/rows.h"
#include "ops_generated/kernels.h"
#include "ops_generated/ops.h"

namespace peel::kernels {
namespace {

constexpr double kNever = -std::numeric_limits<double>::infinity();

// log(exp(a) + exp(b) + ...).
double log_sum(std::initializer_list<double> all) {
  const double largest = std::max(all);
  if (largest == kNever) return kNever;
  double sum = 0;
  for (const double v : all) sum += std::exp(v - largest);
  return std::log(sum) + largest;
}

struct Sequences {
  int64_t times, batch, labels, longest = 0;
  std::vector<int64_t> targets, starts;  // each sample's labels begin at its start
  SizeVector input_lengths, target_lengths;
  int64_t blank, step = 1;
  int64_t target(int64_t b, int64_t i) const { return targets[static_cast<size_t>(starts[static_cast<size_t>(b)] + i * step)]; }
  /// The label at place `s` of the targets with a blank around each.
  int64_t label(int64_t b, int64_t s) const { return s % 2 == 0 ? blank : target(b, s / 2); }
  /// Whether the blank before place `s` may be left out.
  bool skips(int64_t b, int64_t s) const { return s % 2 == 1 && s > 1 && label(b, s) != label(b, s - 2); }
  int64_t time(int64_t b) const { return input_lengths[static_cast<size_t>(b)]; }
  int64_t length(int64_t b) const { return target_lengths[static_cast<size_t>(b)]; }
};
Sequences sequences(const Tensor& log_probs, const Tensor& targets, Sizes input_lengths, Sizes target_lengths, int64_t blank) {
  const std::string checked = " (while checking arguments for ctc_loss_allocate_outputs)";
  Sequences s{log_probs.size(0), log_probs.size(1), log_probs.size(2), 0, whole_numbers_of(targets), {}, {input_lengths.begin(), input_lengths.end()}, {target_lengths.begin(), target_lengths.end()}, blank};
  if (blank < 0 || blank >= s.labels) throw Error("blank must be in label range");
  if (static_cast<int64_t>(input_lengths.size()) != s.batch) throw Error("input_lengths must be of size batch_size");
  if (static_cast<int64_t>(target_lengths.size()) != s.batch) throw Error("target_lengths must be of size batch_size");
  int64_t sum = 0;
  for (int64_t b = 0; b < s.batch; ++b) {
    const int64_t n = target_lengths[static_cast<size_t>(b)];
    if (n < 0) throw Error("Expected target_lengths to have value at least 0, but got value " + std::to_string(n) + checked);
    s.starts.push_back(targets.dim() == 1 ? sum : b * targets.size(1));
    sum += n;
    s.longest = std::max(s.longest, n);
  }
  if (targets.dim() == 1 && targets.size(0) != sum) {
    throw Error("Expected tensor to have size " + std::to_string(sum) + " at dimension 0, but got size " + std::to_string(targets.size(0)) + " for argument #2 'targets'" + checked);
  }
  if (targets.dim() != 1 && targets.size(0) != s.batch) {
    throw Error("Expected tensor to have size " + std::to_string(s.batch) + " at dimension 0, but got size " + std::to_string(targets.size(0)) + " for argument #2 'targets'" + checked);
  }
  if (targets.dim() != 1 && targets.size(1) < s.longest) {
    throw Error("Expected tensor to have size at least " + std::to_string(s.longest) + " at dimension 1, but got size " + std::to_string(targets.size(1)) + " for argument #2 'targets'" + checked);
  }
  for (const int64_t n : input_lengths) {
    if (n < 0) throw Error("Expected input_lengths to have value at least 0, but got value " + std::to_string(n) + checked);
    if (n > s.times) throw Error("Expected input_lengths to have value at most " + std::to_string(s.times) + ", but got value " + std::to_string(n) + checked);
  }
  return s;
}

SizeVector lengths_of(const Tensor& t, const char* name) {
  if (is_floating(t.dtype()) || is_complex(t.dtype()) || t.dtype() == ScalarType::Bool) throw Error(std::string(name) + " must be integral");
  return whole_numbers_of(ops::to_device::call(t, Device(), ScalarType::Long));
}
Tensor reduced(Tensor loss, Sizes target_lengths, int64_t reduction) {
  if (reduction == 2) return ops::sum::call(loss);
  Tensor lengths = ops::empty_memory_format::call(SizeVector{static_cast<int64_t>(target_lengths.size())}, loss.dtype(), Layout::Strided, loss.device());
  with_floating(loss.dtype(), "ctc_loss", [&]<class T>(T) {
    for (size_t i = 0; i < target_lengths.size(); ++i) lengths.data_as<T>()[i] = static_cast<T>(static_cast<double>(target_lengths[i]));
  });
  return ops::mean::call(ops::div_Tensor::call(loss, ops::clamp_min::call(lengths, 1)));
}

}  // namespace

Tensor ctc_loss_IntList(const Tensor& log_probs, const Tensor& targets, Sizes input_lengths, Sizes target_lengths, int64_t blank, int64_t reduction, bool zero_infinity) {
  const bool single = log_probs.dim() != 3;
  const Tensor batch = single ? ops::unsqueeze::call(log_probs, 1) : log_probs;
  Tensor loss = std::get<0>(ops::_ctc_loss::call(batch, ops::to_device::call(targets, log_probs.device(), ScalarType::Long), input_lengths, target_lengths, blank, zero_infinity));
  if (zero_infinity) {
    const Tensor zero = ops::zeros::call(Sizes(), loss.dtype(), Layout::Strided, loss.device(), {});
    loss = ops::where_self::call(ops::eq_Scalar::call(loss, std::numeric_limits<double>::infinity()), zero, loss);
  }
  if (reduction != 0) return reduced(loss, target_lengths, reduction);
  return single ? ops::squeeze_dim::call(loss, 0) : loss;
}
Tensor ctc_loss_Tensor(const Tensor& log_probs, const Tensor& targets, const Tensor& input_lengths, const Tensor& target_lengths, int64_t blank, int64_t reduction, bool zero_infinity) {
  const SizeVector in = lengths_of(input_lengths, "input_lengths"), of_targets = lengths_of(target_lengths, "target_lengths");
  return ctc_loss_IntList(log_probs, targets, in, of_targets, blank, reduction, zero_infinity);
}

// The second result holds, for each time and place, the log of all ways that end there.
std::tuple<Tensor, Tensor> _ctc_loss(const Tensor& log_probs, const Tensor& targets, Sizes input_lengths, Sizes target_lengths, int64_t blank, bool) {
  const Sequences s = sequences(log_probs, targets, input_lengths, target_lengths, blank);
  const int64_t places = 2 * s.longest + 1;
  const auto made = [&](Sizes shape) { return ops::empty_memory_format::call(shape, log_probs.dtype(), Layout::Strided, log_probs.device()); };
  const Tensor alphas = made(SizeVector{s.batch, s.times, places}), losses = made(SizeVector{s.batch});
  ops::permute::call(log_probs, SizeVector{1, 0, 2});
  if (s.times > 0) {
    Tensor first = ops::narrow::call(alphas, 1, 0, 1);
    ops::fill__Scalar::call(first, kNever);
  }
  const Tensor in = rows_of(log_probs, named_dims(std::nullopt, 3)).data;
  with_floating(log_probs.dtype(), "ctc_loss_cpu", [&]<class T>(T) {
    for (int64_t b = 0; b < s.batch; ++b) {
      const int64_t length = s.length(b), time = s.time(b);
      T* alpha = alphas.data_as<T>() + b * s.times * places;
      const auto prob = [&](int64_t t, int64_t label) { return static_cast<double>(in.data_as<T>()[(t * s.batch + b) * s.labels + label]); };
      const auto at = [&](int64_t t, int64_t place) { return static_cast<double>(alpha[t * places + place]); };
      T& loss = losses.data_as<T>()[b];
      if (time == 0) {
        loss = static_cast<T>(length == 0 ? 0.0 : -kNever);
        continue;
      }
      alpha[0] = static_cast<T>(prob(0, blank));
      if (length > 0) alpha[1] = static_cast<T>(prob(0, s.target(b, 0)));
      for (int64_t t = 1; t < time; ++t) {
        for (int64_t p = 0; p < 2 * length + 1; ++p) {
          const double all = log_sum({at(t - 1, p), p > 0 ? at(t - 1, p - 1) : kNever, s.skips(b, p) ? at(t - 1, p - 2) : kNever});
          alpha[t * places + p] = static_cast<T>(all + prob(t, s.label(b, p)));
        }
      }
      loss = static_cast<T>(-log_sum({at(time - 1, 2 * length), length > 0 ? at(time - 1, 2 * length - 1) : kNever}));
    }
  });
  return {losses, alphas};
}

Tensor _ctc_loss_backward(const Tensor& grad, const Tensor& log_probs, const Tensor& targets, Sizes input_lengths, Sizes target_lengths, const Tensor& neg_log_likelihood,
                          const Tensor& log_alpha, int64_t blank, bool zero_infinity) {
  const Sequences s = sequences(log_probs, targets, input_lengths, target_lengths, blank);
  const int64_t places = log_alpha.size(2);
  const Tensor out = ops::full_like::call(log_probs, kNever, {}, {}, {}, {}, MemoryFormat::Contiguous);
  ops::empty_like::call(log_alpha, {}, {}, {}, {}, MemoryFormat::Contiguous);
  ops::permute::call(log_probs, SizeVector{1, 0, 2});
  ops::permute::call(out, SizeVector{1, 0, 2});
  const Tensor in = rows_of(log_probs, named_dims(std::nullopt, 3)).data;
  with_floating(log_probs.dtype(), "ctc_loss_backward_cpu", [&]<class T>(T) {
    for (int64_t b = 0; b < s.batch; ++b) {
      const int64_t length = s.length(b), time = s.time(b), used = 2 * length + 1;
      const double loss = static_cast<double>(neg_log_likelihood.data_as<T>()[b * neg_log_likelihood.strides()[0]]), g = static_cast<double>(grad.data_as<T>()[b * grad.strides()[0]]);
      const T* alpha = log_alpha.data_as<T>() + b * s.times * places;
      const auto place = [&](int64_t t, int64_t label) { return (t * s.batch + b) * s.labels + label; };
      const auto prob = [&](int64_t t, int64_t label) { return static_cast<double>(in.data_as<T>()[place(t, label)]); };
      const bool none = zero_infinity && loss == -kNever;
      std::vector<double> beta(static_cast<size_t>(used), kNever), ways(static_cast<size_t>(s.labels));  // beta: of all ways from a place on
      for (int64_t t = none ? -1 : time - 1; t >= 0; --t) {
        std::vector<double> now(static_cast<size_t>(used), kNever);
        for (int64_t p = 0; p < used; ++p) {
          const auto next = [&](int64_t q) { return q < used ? beta[static_cast<size_t>(q)] : kNever; };
          const bool ends = t == time - 1;
          const double all = ends ? (p >= used - 2 ? 0.0 : kNever) : log_sum({next(p), next(p + 1), p + 2 < used && s.skips(b, p + 2) ? next(p + 2) : kNever});
          now[static_cast<size_t>(p)] = all + prob(t, s.label(b, p));
        }
        beta = std::move(now);
        std::ranges::fill(ways, kNever);
        for (int64_t p = 0; p < used; ++p) {
          double& way = ways[static_cast<size_t>(s.label(b, p))];
          way = log_sum({way, static_cast<double>(alpha[t * places + p]) + beta[static_cast<size_t>(p)]});
        }
        for (int64_t label = 0; label < s.labels; ++label) {
          const double p = prob(t, label);
          out.data_as<T>()[place(t, label)] = static_cast<T>((std::exp(p) - std::exp(ways[static_cast<size_t>(label)] + loss - p)) * g);
        }
      }
      for (int64_t t = none ? 0 : time; t < s.times; ++t) std::fill_n(out.data_as<T>() + place(t, 0), s.labels, T{});
    }
  });
  return out;
}

}  // namespace peel::kernels
