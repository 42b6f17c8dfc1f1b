// Short-time Fourier transforms: of windows that move along a signal, and back.
#include "core/autograd/fallback.h"
#include "core/dispatch/error.h"
#include "ops_generated/kernels.h"
#include "ops_generated/ops.h"

namespace peel::kernels {
namespace {

using Optional = std::optional<Tensor>;
enum Norm : int64_t { kNone, kByRoot, kByLength };

struct Frames {
  int64_t fft, hop, window;
};
Frames frames_of(int64_t n_fft, std::optional<int64_t> hop_length, std::optional<int64_t> win_length) { return {n_fft, hop_length.value_or(n_fft / 4), win_length.value_or(n_fft)}; }
void check_hop(const std::string& name, const Frames& f) {
  if (f.hop <= 0) throw Error(name + "expected hop_length > 0, but got hop_length=" + std::to_string(f.hop));
  if (f.window <= 0 || f.window > f.fft) throw Error(name + "expected 0 < win_length <= n_fft, but got win_length=" + std::to_string(f.window));
}
// A shorter window lies in the middle of the transformed length; none is one of ones.
Tensor centered(const Optional& window, const Frames& f, const Tensor& like) {
  if (f.window == f.fft) return window && window->defined() ? *window : Tensor();
  const int64_t left = (f.fft - f.window) / 2;
  const bool given = window && window->defined();
  Tensor out = ops::zeros::call(SizeVector{f.fft}, given ? window->dtype() : like.dtype(), Layout::Strided, like.device(), {});
  Tensor middle = ops::narrow::call(out, 0, left, f.window);
  given ? ops::copy_::call(middle, *window) : ops::fill__Scalar::call(middle, 1);
  return out;
}

std::string tensor_text(const Tensor& t) { return std::string("torch.") + to_string(t.dtype()) + "Tensor"; }
template <class T>
std::string number_text(const std::optional<T>& v) {
  return v ? std::to_string(static_cast<int64_t>(*v)) : "None";
}
// How stock begins its errors.
std::string call_text(Sizes shape, const Frames& f, const Optional& window) {
  return to_text(shape) + ", n_fft=" + std::to_string(f.fft) + ", hop_length=" + std::to_string(f.hop) + ", win_length=" + std::to_string(f.window) + ", window=" +
         (window && window->defined() ? tensor_text(*window) + "{" + to_text(window->sizes()) + "}" : "None");
}

}  // namespace

Tensor stft_center(const Tensor& self, int64_t n_fft, std::optional<int64_t> hop_length, std::optional<int64_t> win_length, const Optional& window, bool center, std::string_view pad_mode,
                   bool normalized, std::optional<bool> onesided, std::optional<bool> return_complex, std::optional<bool> align_to_window) {
  const Frames f = frames_of(n_fft, hop_length, win_length);
  const bool complex_window = window && window->defined() && is_complex(window->dtype());
  if (!return_complex && !is_complex(self.dtype()) && !complex_window) {
    throw Error("stft requires the return_complex parameter be given for real inputs, and will further require that return_complex=True in a future PyTorch release.");
  }
  const auto called = [&](Sizes shape) {
    return "stft(" + tensor_text(self) + call_text(shape, f, window) + ", normalized=" + std::to_string(normalized) + ", onesided=" + number_text(onesided) + ", return_complex=" +
           number_text(return_complex) + ", align_to_window=" + number_text(align_to_window) + ") : ";
  };
  if (self.dim() != 1 && self.dim() != 2) throw Error(called(self.sizes()) + "expected a 1D or 2D tensor");
  if (!is_floating(self.dtype()) && !is_complex(self.dtype())) throw Error(called(self.sizes()) + "expected a tensor of floating point or complex values");
  Tensor input = self.dim() == 1 ? ops::unsqueeze::call(self, 0) : self;
  if (center) {
    const int64_t pad = n_fft / 2;
    const Tensor lines = ops::view::call(input, SizeVector{1, input.size(0), input.size(1)});
    const Tensor wide = ops::pad::call(lines, SizeVector{pad, pad}, pad_mode, {});
    input = ops::view::call(wide, wide.sizes().last(2));
  }
  const int64_t length = input.size(1);
  const std::string name = called(self.sizes());
  if (n_fft <= 0 || n_fft > length) throw Error(name + "expected 0 < n_fft < " + std::to_string(length) + ", but got n_fft=" + std::to_string(f.window));
  check_hop(name, f);
  if (window && window->defined() && (window->dim() != 1 || window->size(0) != f.window)) {
    throw Error(name + "expected a 1D window tensor of size equal to win_length=" + std::to_string(f.window) + ", but got window with size " + to_text(window->sizes()));
  }
  const Tensor shape = centered(window, f, self);
  const int64_t count = 1 + (length - n_fft) / f.hop;
  Tensor parts = ops::as_strided::call(input, SizeVector{input.size(0), count, n_fft}, SizeVector{input.strides()[0], f.hop * input.strides()[1], input.strides()[1]});
  if (shape.defined()) parts = ops::mul_Tensor::call(parts, shape);
  const int64_t norm = normalized ? kByRoot : kNone, last = parts.dim() - 1;
  Tensor out = is_complex(parts.dtype()) ? ops::_fft_c2c::call(parts, SizeVector{last}, norm, true) : ops::_fft_r2c::call(parts, SizeVector{last}, norm, onesided.value_or(true));
  ops::transpose_::call(out, 1, 2);
  if (self.dim() == 1) ops::squeeze__dim::call(out, 0);
  return return_complex.value_or(true) ? out : ops::view_as_real::call(out);
}
Tensor stft(const Tensor& self, int64_t n_fft, std::optional<int64_t> hop_length, std::optional<int64_t> win_length, const Optional& window, bool normalized, std::optional<bool> onesided,
            std::optional<bool> return_complex, std::optional<bool> align_to_window) {
  return ops::stft_center::call(self, n_fft, hop_length, win_length, window, false, "constant", normalized, onesided, return_complex, align_to_window);
}

Tensor istft(const Tensor& self, int64_t n_fft, std::optional<int64_t> hop_length, std::optional<int64_t> win_length, const Optional& window, bool center, bool normalized,
             std::optional<bool> onesided, std::optional<int64_t> length, bool return_complex) {
  const Frames f = frames_of(n_fft, hop_length, win_length);
  if (!is_complex(self.dtype())) throw Error("istft requires a complex-valued input tensor matching the output from stft with return_complex=True.");
  Tensor input = ops::view_as_real::call(ops::resolve_conj::call(self));
  const bool single = input.dim() == 3;
  const int64_t count = input.size(-2), bins = input.size(-3), whole = n_fft + f.hop * (count - 1);
  const std::string name = std::string("istft(CPU") + to_string(self.dtype()) + "Type" + call_text(self.sizes(), f, window) + ", center=" + std::to_string(center) + ", normalized=" +
                           std::to_string(normalized) + ", onesided=" + number_text(onesided) + ", length=" + number_text(length) + ", return_complex=" + std::to_string(return_complex) + ") ";
  if (input.numel() == 0) throw Error(name + ": input tensor cannot be empty.");
  if (!single && input.dim() != 4) throw Error(name + ": expected a tensor with 3 or 4 dimensions, but got " + std::to_string(input.dim()));
  const bool one_sided = onesided.value_or(bins != n_fft);
  if (bins != (one_sided ? n_fft / 2 + 1 : n_fft)) {
    throw Error(name + ": expected the frequency dimension (3rd to the last) of the input tensor to match n_fft" + (one_sided ? " / 2 + 1" : "") + " when onesided=" + (one_sided ? "True" : "False") +
                ", but got " + std::to_string(bins));
  }
  check_hop(name + ": ", f);
  Tensor shape = centered(window, f, self);
  if (!shape.defined()) shape = ops::ones::call(SizeVector{n_fft}, input.dtype(), Layout::Strided, self.device(), {});
  if (single) input = ops::unsqueeze::call(input, 0);
  input = ops::view_as_complex::call(ops::transpose_int::call(input, 1, 2));
  const int64_t norm = normalized ? kByRoot : kByLength, last = input.dim() - 1;
  if (return_complex) {
    input = ops::_fft_c2c::call(input, SizeVector{last}, norm, false);
  } else {
    if (!one_sided) input = ops::slice_Tensor::call(input, -1, 0, n_fft / 2 + 1, 1);
    input = ops::_fft_c2r::call(input, SizeVector{last}, norm, n_fft);
  }
  const Tensor parts = ops::mul_Tensor::call(input, ops::view::call(shape, SizeVector{1, 1, n_fft}));
  Tensor out = ops::unfold_backward::call(parts, SizeVector{parts.size(0), whole}, 1, n_fft, f.hop);
  const Tensor squares = ops::expand::call(ops::pow_Tensor_Scalar::call(shape, 2), SizeVector{1, count, n_fft});
  Tensor sums = ops::unfold_backward::call(squares, SizeVector{1, whole}, 1, n_fft, f.hop);
  const int64_t start = center ? n_fft / 2 : 0, end = length ? start + *length : center ? whole - n_fft / 2 : whole;
  out = ops::slice_Tensor::call(out, 1, start, end, 1);
  sums = ops::slice_Tensor::call(sums, 1, start, end, 1);
  const Tensor least = ops::lt_Scalar::call(ops::min::call(ops::abs::call(sums)), 1e-11);
  const Tensor yes = ops::new_ones::call(least, Sizes(), least.dtype(), Layout::Strided, least.device(), {});
  if (ops::equal::call(least, yes)) {
    throw Error(name + "window overlap add min: 1");
  }
  out = ops::div_Tensor::call(out, sums);
  if (single) out = ops::squeeze_dim::call(out, 0);
  if (end > whole) {
    warn("The length of signal is shorter than the length parameter. Result is being padded with zeros in the tail. Please check your center and hop_length settings.");
    out = ops::constant_pad_nd::call(out, SizeVector{0, end - whole}, 0);
  }
  return out;
}

}  // namespace peel::kernels
