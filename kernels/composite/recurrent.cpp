// Recurrent layers as their calls: gates are linear maps, steps follow each other. An LSTM of float32 goes to one call a layer and direction, as stock's
// does by oneDNN.
#include <algorithm>

#include "core/dispatch/error.h"
#include "ops_generated/kernels.h"
#include "ops_generated/ops.h"

namespace peel::kernels {
namespace {

using Optional = std::optional<Tensor>;

struct Weights {
  Tensor input, hidden;
  Optional input_bias, hidden_bias;
  Tensor of_input(const Tensor& x) const { return ops::linear::call(x, input, or_undefined(input_bias)); }
  Tensor of_hidden(const Tensor& h) const { return ops::linear::call(h, hidden, or_undefined(hidden_bias)); }
  // Where there is no bias stock passes an undefined tensor, which brings keys of its own.
  static Optional or_undefined(const Optional& t) { return t ? t : Optional(Tensor()); }
};
struct State {
  Tensor h, c;  // c: of an LSTM only
};
/// One step. `x` went through the input's weights already when `mapped`.
using Cell = State (*)(const Tensor& x, const State&, const Weights&, bool mapped);

template <Tensor (*f)(const Tensor&)>
State simple_step(const Tensor& x, const State& s, const Weights& w, bool mapped) {
  Tensor sum = w.of_hidden(s.h);
  return {f(ops::add__Tensor::call(sum, mapped ? x : w.of_input(x))), {}};
}

State lstm_step(const Tensor& x, const State& s, const Weights& w, bool mapped) {
  Tensor sum = w.of_hidden(s.h);
  std::vector<Tensor> gates = ops::unsafe_chunk::call(ops::add__Tensor::call(sum, mapped ? x : w.of_input(x)), 4, 1);
  ops::sigmoid_::call(gates[0]);
  ops::sigmoid_::call(gates[1]);
  ops::tanh_::call(gates[2]);
  ops::sigmoid_::call(gates[3]);
  Tensor c = ops::mul_Tensor::call(gates[1], s.c);
  ops::add__Tensor::call(c, ops::mul_Tensor::call(gates[0], gates[2]));
  return {ops::mul_Tensor::call(gates[3], ops::tanh::call(c)), c};
}

State gru_step(const Tensor& x, const State& s, const Weights& w, bool mapped) {
  const std::vector<Tensor> of_x = ops::unsafe_chunk::call(mapped ? x : w.of_input(x), 3, 1);
  std::vector<Tensor> of_h = ops::unsafe_chunk::call(w.of_hidden(s.h), 3, 1);
  const Tensor reset = ops::sigmoid_::call(ops::add__Tensor::call(of_h[0], of_x[0]));
  const Tensor update = ops::sigmoid_::call(ops::add__Tensor::call(of_h[1], of_x[1]));
  Tensor fresh = ops::add_Tensor::call(of_x[2], ops::mul__Tensor::call(of_h[2], reset));
  ops::tanh_::call(fresh);
  Tensor h = ops::sub_Tensor::call(s.h, fresh);
  ops::mul__Tensor::call(h, update);
  return {ops::add__Tensor::call(h, fresh), {}};
}

std::vector<Weights> weights_of(std::span<const Tensor> all, bool has_biases) {
  const size_t each = has_biases ? 4 : 2;
  if (all.size() % each != 0) throw Error("got an incorrect number of RNN parameters");
  std::vector<Weights> out;
  for (size_t i = 0; i < all.size(); i += each) {
    out.push_back({all[i], all[i + 1], has_biases ? Optional(all[i + 2]) : Optional(), has_biases ? Optional(all[i + 3]) : Optional()});
  }
  return out;
}

struct Options {
  bool has_biases;
  int64_t layers;
  double dropout;
  bool train, bidirectional;
};

// Outputs of all steps as one tensor; the last state replaces the first.
Tensor direction(Cell cell, const Tensor& input, State* s, const Weights& w, bool backwards) {
  const bool mapped = !input.keys().has(DispatchKey::Meta);  // all steps at once, as stock does for the CPU
  std::vector<Tensor> steps = ops::unbind_int::call(mapped ? w.of_input(input) : input, 0), outputs;
  if (backwards) std::ranges::reverse(steps);
  for (const Tensor& x : steps) {
    *s = cell(x, *s, w, mapped);
    outputs.push_back(s->h);
  }
  if (outputs.empty()) throw Error("Expected sequence length to be larger than 0 in RNN");
  if (backwards) std::ranges::reverse(outputs);
  return ops::stack::call(outputs, 0);
}

State part_of(const State& s, int64_t from, int64_t to) {
  const auto part = [&](const Tensor& t) { return t.defined() ? ops::narrow::call(t, 0, from, to - from) : t; };
  Tensor c = part(s.c);
  return {part(s.h), c};
}
State together(const std::vector<State>& parts) {
  std::vector<Tensor> h, c;
  for (const State& s : parts) h.push_back(s.h), c.push_back(s.c);
  const Tensor all = c[0].defined() ? ops::cat::call(c, 0) : Tensor();
  return {ops::cat::call(h, 0), all};
}

// Packed sequences, longest first: at each step as many go on as its batch size says; the states of those that ended are kept.
Tensor packed_direction(Cell cell, const Tensor& input, std::span<const int64_t> sizes, State* s, const Weights& w, bool backwards) {
  const Tensor mapped = w.of_input(input);
  std::vector<Tensor> outputs;
  if (backwards) {
    int64_t end = input.size(0), last = sizes.back();
    State now = part_of(*s, 0, last);
    for (size_t i = sizes.size(); i-- > 0; end -= last) {
      if (sizes[i] > last) now = together({now, part_of(*s, last, sizes[i])});
      last = sizes[i];
      now = cell(ops::narrow::call(mapped, 0, end - last, last), now, w, true);
      outputs.push_back(now.h);
    }
    std::ranges::reverse(outputs);
    *s = now;
    return ops::cat::call(outputs, 0);
  }
  std::vector<State> ended;
  State now = *s;
  int64_t begin = 0, last = sizes[0];
  for (const int64_t size : sizes) {
    const Tensor x = ops::narrow::call(mapped, 0, begin, size);
    begin += size;
    if (size < last) {
      ended.push_back(part_of(now, size, last));
      now = part_of(now, 0, size);
    }
    last = size;
    now = cell(x, now, w, true);
    outputs.push_back(now.h);
  }
  ended.push_back(now);
  std::ranges::reverse(ended);
  const Tensor out = ops::cat::call(outputs, 0);
  *s = together(ended);
  return out;
}

// `sizes`: of a packed input, how many sequences there are at each step; else empty.
Tensor layers(Cell cell, Tensor input, std::vector<State>* states, const std::vector<Weights>& weights, const Options& o, std::span<const int64_t> sizes = {}) {
  const size_t directions = o.bidirectional ? 2 : 1;
  if (weights.size() != static_cast<size_t>(o.layers) * directions || states->size() != weights.size()) {
    throw Error("got an incorrect number of RNN parameters");
  }
  for (size_t layer = 0; layer < static_cast<size_t>(o.layers); ++layer) {
    std::vector<Tensor> outputs;
    for (size_t d = 0; d < directions; ++d) {
      State* s = &(*states)[layer * directions + d];
      const Weights& w = weights[layer * directions + d];
      outputs.push_back(sizes.empty() ? direction(cell, input, s, w, d == 1) : packed_direction(cell, input, sizes, s, w, d == 1));
    }
    input = directions == 1 ? outputs[0] : ops::cat::call(outputs, sizes.empty() ? outputs[0].dim() - 1 : -1);
    if (o.dropout != 0 && o.train && layer + 1 < static_cast<size_t>(o.layers)) input = ops::dropout::call(input, o.dropout, true);
  }
  return input;
}

std::tuple<Tensor, Tensor> simple(Cell cell, const Tensor& input, const Tensor& hx, std::span<const Tensor> params, bool has_biases, int64_t num_layers, double dropout,
                                  bool train, bool bidirectional, bool batch_first) {
  ops::cudnn_is_acceptable::call(input);
  const Tensor in = batch_first ? ops::transpose_int::call(input, 0, 1) : input;
  std::vector<State> states;
  for (Tensor& h : ops::unbind_int::call(hx, 0)) states.push_back({std::move(h), {}});
  Tensor out = layers(cell, in, &states, weights_of(params, has_biases), {has_biases, num_layers, dropout, train, bidirectional});
  std::vector<Tensor> last;
  for (const State& s : states) last.push_back(s.h);
  const Tensor h = ops::stack::call(last, 0);
  if (batch_first) ops::transpose_::call(out, 0, 1);
  return {out, h};
}

std::span<const int64_t> sizes_of(const Tensor& batch_sizes) {
  return {batch_sizes.data_as<int64_t>(), static_cast<size_t>(batch_sizes.numel())};
}
std::tuple<Tensor, Tensor> simple_packed(Cell cell, const Tensor& data, const Tensor& batch_sizes, const Tensor& hx, std::span<const Tensor> params, const Options& o) {
  ops::cudnn_is_acceptable::call(data);
  std::vector<State> states;
  for (Tensor& h : ops::unbind_int::call(hx, 0)) states.push_back({std::move(h), {}});
  const Tensor out = layers(cell, data, &states, weights_of(params, o.has_biases), o, sizes_of(batch_sizes));
  std::vector<Tensor> last;
  for (const State& s : states) last.push_back(s.h);
  return {out, ops::stack::call(last, 0)};
}

Tensor rows_together(const Tensor& t) { return t.is_contiguous() ? t : ops::contiguous::call(t); }

std::tuple<Tensor, Tensor, Tensor> lstm_by_layers(const Tensor& input, std::span<const Tensor> hx, std::span<const Tensor> params, const Options& o, bool batch_first) {
  constexpr int64_t kLstm = 2;  // as stock numbers the kinds
  Tensor in = rows_together(batch_first ? ops::transpose_int::call(input, 0, 1) : input);
  const Tensor h0 = rows_together(hx[0]), c0 = rows_together(hx[1]);
  const std::vector<Weights> weights = weights_of(params, o.has_biases);
  const size_t directions = o.bidirectional ? 2 : 1;
  if (weights.size() != static_cast<size_t>(o.layers) * directions) throw Error("got an incorrect number of RNN parameters");
  std::vector<Tensor> hy, cy;
  for (size_t layer = 0; layer < static_cast<size_t>(o.layers); ++layer) {
    std::vector<Tensor> outputs;
    for (size_t d = 0; d < directions; ++d) {
      const auto index = static_cast<int64_t>(layer * directions + d);
      const Weights& w = weights[static_cast<size_t>(index)];
      const Tensor h = ops::select_int::call(h0, 0, index), c = ops::select_int::call(c0, 0, index);
      const auto none = [&w](const Tensor& like) { return ops::zeros::call(like.sizes(), w.input.dtype(), Layout::Strided, w.input.device(), false); };
      const Tensor b1 = w.input_bias ? *w.input_bias : none(w.input), b2 = w.hidden_bias ? *w.hidden_bias : none(w.hidden);
      auto [out, h_last, c_last, workspace] = ops::mkldnn_rnn_layer::call(in, w.input, w.hidden, b1, b2, h, c, d == 1, Sizes(), kLstm, h.size(-1), o.layers, o.has_biases,
                                                                          o.bidirectional, batch_first, o.train);
      outputs.push_back(out);
      hy.push_back(h_last);
      cy.push_back(c_last);
    }
    in = directions == 1 ? outputs[0] : ops::cat::call(outputs, -1);
    if (o.dropout != 0 && o.train && layer + 1 < static_cast<size_t>(o.layers)) in = ops::dropout::call(in, o.dropout, true);
  }
  const Tensor h = ops::stack::call(hy, 0), c = ops::stack::call(cy, 0);
  return {batch_first ? ops::transpose_int::call(in, 0, 1) : in, h, c};
}

Tensor tanh_of(const Tensor& t) { return ops::tanh::call(t); }
Tensor relu_of(const Tensor& t) { return ops::relu::call(t); }

}  // namespace

bool cudnn_is_acceptable(const Tensor&) { return false; }

std::vector<Tensor> unsafe_split(const Tensor& self, int64_t split_size, int64_t dim) {
  if (split_size <= 0) throw Error("split expects split_size be non-negative, but got split_size=" + std::to_string(split_size));
  const int64_t n = self.size(dim);
  std::vector<Tensor> out;
  for (int64_t at = 0; at < n || out.empty(); at += split_size) out.push_back(ops::narrow::call(self, dim, at, std::min(split_size, n - at)));
  return out;
}
std::vector<Tensor> unsafe_chunk(const Tensor& self, int64_t chunks, int64_t dim) {
  if (self.dim() == 0) throw Error("chunk expects at least a 1-dimensional tensor");
  if (chunks <= 0) throw Error("chunk expects `chunks` to be greater than 0, got: " + std::to_string(chunks));
  const int64_t n = self.size(dim);
  return ops::unsafe_split_Tensor::call(self, std::max<int64_t>((n + chunks - 1) / chunks, 1), dim);
}

std::tuple<Tensor, Tensor, Tensor> lstm_data(const Tensor& data, const Tensor& batch_sizes, std::span<const Tensor> hx, std::span<const Tensor> params, bool has_biases,
                                             int64_t num_layers, double dropout, bool train, bool bidirectional) {
  if (hx.size() != 2) throw Error("lstm expects two hidden states");
  ops::cudnn_is_acceptable::call(data);
  std::vector<Tensor> h = ops::unbind_int::call(hx[0], 0), c = ops::unbind_int::call(hx[1], 0);
  std::vector<State> states;
  for (size_t i = 0; i < h.size(); ++i) states.push_back({h[i], c[i]});
  const Options o{has_biases, num_layers, dropout, train, bidirectional};
  const Tensor out = layers(&lstm_step, data, &states, weights_of(params, has_biases), o, sizes_of(batch_sizes));
  for (size_t i = 0; i < h.size(); ++i) std::tie(h[i], c[i]) = std::pair(states[i].h, states[i].c);
  const Tensor cy = ops::stack::call(c, 0), hy = ops::stack::call(h, 0);
  return {out, hy, cy};
}
std::tuple<Tensor, Tensor> gru_data(const Tensor& data, const Tensor& batch_sizes, const Tensor& hx, std::span<const Tensor> params, bool has_biases, int64_t num_layers,
                                    double dropout, bool train, bool bidirectional) {
  return simple_packed(&gru_step, data, batch_sizes, hx, params, {has_biases, num_layers, dropout, train, bidirectional});
}
std::tuple<Tensor, Tensor> rnn_tanh_data(const Tensor& data, const Tensor& batch_sizes, const Tensor& hx, std::span<const Tensor> params, bool has_biases, int64_t num_layers,
                                         double dropout, bool train, bool bidirectional) {
  return simple_packed(&simple_step<&tanh_of>, data, batch_sizes, hx, params, {has_biases, num_layers, dropout, train, bidirectional});
}
std::tuple<Tensor, Tensor> rnn_relu_data(const Tensor& data, const Tensor& batch_sizes, const Tensor& hx, std::span<const Tensor> params, bool has_biases, int64_t num_layers,
                                         double dropout, bool train, bool bidirectional) {
  return simple_packed(&simple_step<&relu_of>, data, batch_sizes, hx, params, {has_biases, num_layers, dropout, train, bidirectional});
}

std::tuple<Tensor, Tensor, Tensor> lstm_input(const Tensor& input, std::span<const Tensor> hx, std::span<const Tensor> params, bool has_biases, int64_t num_layers,
                                              double dropout, bool train, bool bidirectional, bool batch_first) {
  if (hx.size() != 2) throw Error("lstm expects two hidden states");
  ops::cudnn_is_acceptable::call(input);
  const Options o{has_biases, num_layers, dropout, train, bidirectional};
  if (!input.keys().has(DispatchKey::Meta) && input.dtype() == ScalarType::Float && input.numel() != 0 && hx[0].size(2) == hx[1].size(2)) return lstm_by_layers(input, hx, params, o, batch_first);
  const Tensor in = batch_first ? ops::transpose_int::call(input, 0, 1) : input;
  std::vector<Tensor> h = ops::unbind_int::call(hx[0], 0), c = ops::unbind_int::call(hx[1], 0);
  std::vector<State> states;
  for (size_t i = 0; i < h.size(); ++i) states.push_back({h[i], c[i]});
  Tensor out = layers(&lstm_step, in, &states, weights_of(params, has_biases), o);
  for (size_t i = 0; i < h.size(); ++i) std::tie(h[i], c[i]) = std::pair(states[i].h, states[i].c);
  const Tensor cy = ops::stack::call(c, 0), hy = ops::stack::call(h, 0);
  if (batch_first) out = ops::transpose_int::call(out, 0, 1);
  return {out, hy, cy};
}
std::tuple<Tensor, Tensor> gru_input(const Tensor& input, const Tensor& hx, std::span<const Tensor> params, bool has_biases, int64_t num_layers, double dropout, bool train,
                                     bool bidirectional, bool batch_first) {
  return simple(&gru_step, input, hx, params, has_biases, num_layers, dropout, train, bidirectional, batch_first);
}
std::tuple<Tensor, Tensor> rnn_tanh_input(const Tensor& input, const Tensor& hx, std::span<const Tensor> params, bool has_biases, int64_t num_layers, double dropout,
                                          bool train, bool bidirectional, bool batch_first) {
  return simple(&simple_step<&tanh_of>, input, hx, params, has_biases, num_layers, dropout, train, bidirectional, batch_first);
}
std::tuple<Tensor, Tensor> rnn_relu_input(const Tensor& input, const Tensor& hx, std::span<const Tensor> params, bool has_biases, int64_t num_layers, double dropout,
                                          bool train, bool bidirectional, bool batch_first) {
  return simple(&simple_step<&relu_of>, input, hx, params, has_biases, num_layers, dropout, train, bidirectional, batch_first);
}

std::tuple<Tensor, Tensor> lstm_cell(const Tensor& input, std::span<const Tensor> hx, const Tensor& w_ih, const Tensor& w_hh, const Optional& b_ih, const Optional& b_hh) {
  if (hx.size() != 2) throw Error("lstm_cell expects two hidden states");
  State s = lstm_step(input, {hx[0], hx[1]}, {w_ih, w_hh, b_ih, b_hh}, false);
  return {s.h, s.c};
}
Tensor gru_cell(const Tensor& input, const Tensor& hx, const Tensor& w_ih, const Tensor& w_hh, const Optional& b_ih, const Optional& b_hh) {
  return gru_step(input, {hx, {}}, {w_ih, w_hh, b_ih, b_hh}, false).h;
}
Tensor rnn_tanh_cell(const Tensor& input, const Tensor& hx, const Tensor& w_ih, const Tensor& w_hh, const Optional& b_ih, const Optional& b_hh) {
  return simple_step<&tanh_of>(input, {hx, {}}, {w_ih, w_hh, b_ih, b_hh}, false).h;
}
Tensor rnn_relu_cell(const Tensor& input, const Tensor& hx, const Tensor& w_ih, const Tensor& w_hh, const Optional& b_ih, const Optional& b_hh) {
  return simple_step<&relu_of>(input, {hx, {}}, {w_ih, w_hh, b_ih, b_hh}, false).h;
}

}  // namespace peel::kernels
