// One layer and direction of an LSTM over a whole sequence, and its gradient: stock computes these by oneDNN.
#include <algorithm>
#include <cmath>

#include "core/dispatch/error.h"
#include "kernels/cpu/rows.h"
#include "ops_generated/kernels.h"
#include "ops_generated/ops.h"

namespace peel::kernels {
namespace {

struct Shape {
  int64_t steps, batch, inputs, hidden;
};

// Gates of all steps after their functions (input, forget, fresh, output), and the states, of which the first is the one given.
struct Run {
  Shape s;
  bool backwards;
  std::vector<float> gates, h, c;
  int64_t step(int64_t t) const { return backwards ? s.steps - 1 - t : t; }
};

float sigmoid_of(float x) { return 1 / (1 + std::exp(-x)); }

Run run(const Tensor& input, const Tensor& w_in, const Tensor& w_hidden, const float* bias, const Tensor& h0, const Tensor& c0, bool backwards) {
  Run r{{input.size(0), input.size(1), input.size(2), w_hidden.size(1)}, backwards, {}, {}, {}};
  const auto [steps, batch, inputs, hidden] = r.s;
  const Tensor x = rows_of(input, {false, false, true}).data, wi = rows_of(w_in, {false, true}).data, wh = rows_of(w_hidden, {false, true}).data;
  const Tensor first_h = rows_of(h0, {false, true}).data, first_c = rows_of(c0, {false, true}).data;
  const int64_t state = batch * hidden;
  r.gates.resize(static_cast<size_t>(steps * 4 * state));
  r.h.assign(first_h.data_as<float>(), first_h.data_as<float>() + state);
  r.c.assign(first_c.data_as<float>(), first_c.data_as<float>() + state);
  r.h.resize(static_cast<size_t>((steps + 1) * state));
  r.c.resize(static_cast<size_t>((steps + 1) * state));
  for (int64_t t = 0; t < steps; ++t) {
    float* g = r.gates.data() + t * 4 * state;
    const float *before = r.h.data() + t * state, *cell = r.c.data() + t * state, *xt = x.data_as<float>() + r.step(t) * batch * inputs;
    for (int64_t b = 0; b < batch; ++b) {
      for (int64_t k = 0; k < 4 * hidden; ++k) {
        float sum = bias ? bias[k] : 0;
        for (int64_t i = 0; i < inputs; ++i) sum += xt[b * inputs + i] * wi.data_as<float>()[k * inputs + i];
        for (int64_t i = 0; i < hidden; ++i) sum += before[b * hidden + i] * wh.data_as<float>()[k * hidden + i];
        g[b * 4 * hidden + k] = k / hidden == 2 ? std::tanh(sum) : sigmoid_of(sum);
      }
      for (int64_t k = 0; k < hidden; ++k) {
        const float* gate = g + b * 4 * hidden + k;
        const float c = gate[hidden] * cell[b * hidden + k] + gate[0] * gate[2 * hidden];
        r.c[static_cast<size_t>((t + 1) * state + b * hidden + k)] = c;
        r.h[static_cast<size_t>((t + 1) * state + b * hidden + k)] = gate[3 * hidden] * std::tanh(c);
      }
    }
  }
  return r;
}

void need_lstm(int64_t mode, const Tensor& input) {
  if (mode != 2 || input.dtype() != ScalarType::Float) {
    throw NotImplemented("The embedded engine has no mkldnn_rnn_layer but of an LSTM of torch.float32 yet; the program can be run on stock PyTorch (--engine pytorch).");
  }
}

Tensor like_empty(const Tensor& t, Sizes sizes) { return ops::empty_memory_format::call(sizes, t.dtype(), Layout::Strided, t.device(), false); }

// Both biases in one, by the call that stock makes of it.
Tensor bias_of(const Tensor& input, const Tensor& w, bool has_biases, const Tensor& b1, const Tensor& b2) {
  if (has_biases) return ops::add_Tensor::call(b1, b2);
  return ops::zeros::call(SizeVector{w.size(0)}, input.dtype(), Layout::Strided, input.device(), false);
}

}  // namespace

std::tuple<Tensor, Tensor, Tensor, Tensor> mkldnn_rnn_layer(const Tensor& input, const Tensor& weight0, const Tensor& weight1, const Tensor& weight2, const Tensor& weight3,
                                                            const Tensor& hx_, const Tensor& cx_, bool reverse, Sizes, int64_t mode, int64_t hidden_size, int64_t,
                                                            bool has_biases, bool, bool, bool) {
  need_lstm(mode, input);
  const SizeVector last{input.size(1), hidden_size};
  const Tensor out = like_empty(input, SizeVector{input.size(0), input.size(1), hidden_size}), h = like_empty(input, last), c = like_empty(input, last);
  const Tensor bias = bias_of(input, weight0, has_biases, weight2, weight3);
  const Run r = run(input, weight0, weight1, bias.data_as<float>(), hx_, cx_, reverse);
  const int64_t state = r.s.batch * r.s.hidden;
  for (int64_t t = 0; t < r.s.steps; ++t) std::copy_n(r.h.data() + (t + 1) * state, state, out.data_as<float>() + r.step(t) * state);
  std::copy_n(r.h.data() + r.s.steps * state, state, h.data_as<float>());
  std::copy_n(r.c.data() + r.s.steps * state, state, c.data_as<float>());
  if (!grad_state.grad_mode) return {out, h, c, empty(SizeVector{0}, ScalarType::Byte, input.device())};
  // Backward computes the gates anew: the workspace, which stock needs, stays empty.
  return {out, h, c, ops::empty_memory_format::call(SizeVector{0}, ScalarType::Byte, Layout::Strided, input.device(), false)};
}

std::tuple<Tensor, Tensor, Tensor, Tensor, Tensor, Tensor, Tensor> mkldnn_rnn_layer_backward(
    const Tensor& input, const Tensor& weight1, const Tensor& weight2, const Tensor& weight3, const Tensor& weight4, const Tensor& hx_, const Tensor& cx_tmp, const Tensor& output,
    const Tensor& hy_, const Tensor& cy_, const std::optional<Tensor>& grad_output, const std::optional<Tensor>& grad_hy, const std::optional<Tensor>& grad_cy, bool reverse, int64_t mode,
    int64_t, int64_t, bool has_biases, bool, bool, Sizes, bool, const Tensor&) {
  need_lstm(mode, input);
  const auto gradient = [](const std::optional<Tensor>& g, const Tensor& of) {
    if (!g || !g->defined()) return ops::zeros_like::call(of, {}, {}, {}, {}, MemoryFormat::Contiguous);
    return g->is_contiguous() ? *g : ops::contiguous::call(*g);
  };
  const Tensor dy = gradient(grad_output, output), dh_last = gradient(grad_hy, hy_), dc_last = gradient(grad_cy, cy_);
  const Tensor bias = bias_of(input, weight1, has_biases, weight3, weight4);
  const Tensor dx = like_empty(input, input.sizes()), dw1 = like_empty(weight1, weight1.sizes()), dw2 = like_empty(weight2, weight2.sizes()), db = like_empty(bias, bias.sizes());
  const Tensor dh0 = like_empty(hx_, hx_.sizes()), dc0 = like_empty(cx_tmp, cx_tmp.sizes());
  const Run r = run(input, weight1, weight2, bias.data_as<float>(), hx_, cx_tmp, reverse);
  const auto [steps, batch, inputs, hidden] = r.s;
  const int64_t state = batch * hidden;
  const Tensor x = rows_of(input, {false, false, true}).data, wi = rows_of(weight1, {false, true}).data, wh = rows_of(weight2, {false, true}).data;
  for (const Tensor& t : {dx, dw1, dw2, db}) std::fill_n(t.data_as<float>(), t.numel(), 0.0f);
  std::vector<float> dh(dh_last.data_as<float>(), dh_last.data_as<float>() + state), dc(dc_last.data_as<float>(), dc_last.data_as<float>() + state), dg(static_cast<size_t>(4 * hidden));
  for (int64_t t = steps; t-- > 0;) {
    const int64_t at = r.step(t);
    for (int64_t b = 0; b < batch; ++b) {
      const float* gate = r.gates.data() + (t * batch + b) * 4 * hidden;
      const float *before = r.h.data() + t * state + b * hidden, *cell = r.c.data() + t * state + b * hidden, *after = cell + state, *xt = x.data_as<float>() + (at * batch + b) * inputs;
      float *dxt = dx.data_as<float>() + (at * batch + b) * inputs, *dh_b = dh.data() + b * hidden, *dc_b = dc.data() + b * hidden;
      for (int64_t k = 0; k < hidden; ++k) {
        const float i = gate[k], f = gate[hidden + k], g = gate[2 * hidden + k], o = gate[3 * hidden + k], squashed = std::tanh(after[k]);
        const float d = dh_b[k] + dy.data_as<float>()[(at * batch + b) * hidden + k], to_cell = dc_b[k] + d * o * (1 - squashed * squashed);
        float* q = dg.data() + k;
        q[0] = to_cell * g * i * (1 - i);
        q[hidden] = to_cell * cell[k] * f * (1 - f);
        q[2 * hidden] = to_cell * i * (1 - g * g);
        q[3 * hidden] = d * squashed * o * (1 - o);
        dc_b[k] = to_cell * f;
        dh_b[k] = 0;
      }
      for (int64_t k = 0; k < 4 * hidden; ++k) {
        const float d = dg[static_cast<size_t>(k)];
        db.data_as<float>()[k] += d;
        for (int64_t i = 0; i < inputs; ++i) {
          dw1.data_as<float>()[k * inputs + i] += d * xt[i];
          dxt[i] += d * wi.data_as<float>()[k * inputs + i];
        }
        for (int64_t i = 0; i < hidden; ++i) {
          dw2.data_as<float>()[k * hidden + i] += d * before[i];
          dh_b[i] += d * wh.data_as<float>()[k * hidden + i];
        }
      }
    }
  }
  std::copy_n(dh.data(), state, dh0.data_as<float>());
  std::copy_n(dc.data(), state, dc0.data_as<float>());
  return {dx, dw1, dw2, db, ops::clone::call(db), dh0, dc0};
}

}  // namespace peel::kernels
