// Edges of pictures: padding by what is there, parts of pictures as columns, elements between channels and planes.
#include <algorithm>
#include <array>

#include "kernels/cpu/rows.h"
#include "ops_generated/kernels.h"
#include "ops_generated/ops.h"

namespace peel::kernels {
namespace {

// Where an element of the padded dimension comes from.
int64_t source(int64_t at, int64_t before, int64_t size, bool reflect) {
  int64_t i = at - before;
  if (!reflect) return std::clamp(i, int64_t{0}, size - 1);
  if (i < 0) i = -i;
  return i >= size ? 2 * (size - 1) - i : i;
}

struct Padded {
  SizeVector shape;
  std::array<int64_t, 3> in{1, 1, 1}, out{1, 1, 1}, before{0, 0, 0};
  std::vector<bool> planes;
};
Padded padded(Sizes input, Sizes padding, bool reflect, size_t n) {
  Padded p{{input.begin(), input.end()}, {1, 1, 1}, {1, 1, 1}, {0, 0, 0}, std::vector<bool>(input.size(), false)};
  if (padding.size() != 2 * n) throw Error("padding size is expected to be " + std::to_string(2 * n) + ", but got: " + std::to_string(padding.size()));
  if (input.size() != n + 1 && input.size() != n + 2) {
    throw Error("Expected " + std::to_string(n + 1) + "D or " + std::to_string(n + 2) + "D (batch mode) tensor with possibly 0 batch size and other non-zero dimensions for input, but got: " + to_text(input));
  }
  for (size_t d = 0; d < n; ++d) {
    const size_t at = input.size() - 1 - d;
    const int64_t size = input[at], left = padding[2 * d], right = padding[2 * d + 1];
    if (reflect && (left >= size || right >= size)) {
      throw Error("Argument #" + std::to_string(n == 1 ? 4 : 4 + 2 * d) + ": Padding size should be less than the corresponding input dimension, but got: padding (" + std::to_string(left) + ", " +
                  std::to_string(right) + ") at dimension " + std::to_string(at) + " of input " + to_text(input));
    }
    p.shape[at] = size + left + right;
    if (p.shape[at] < 1) throw Error("input (" + to_text(input) + ") is too small. Calculated output size: " + to_text(p.shape));
    p.in[2 - d] = size;
    p.out[2 - d] = p.shape[at];
    p.before[2 - d] = left;
    p.planes[at] = true;
  }
  return p;
}
// f(place in the padded plane, place in the plane).
template <class F>
void each_source(const Padded& p, bool reflect, F f) {
  for (int64_t x = 0; x < p.out[0]; ++x) {
    for (int64_t y = 0; y < p.out[1]; ++y) {
      for (int64_t z = 0; z < p.out[2]; ++z) {
        const int64_t i = source(x, p.before[0], p.in[0], reflect), j = source(y, p.before[1], p.in[1], reflect), k = source(z, p.before[2], p.in[2], reflect);
        f((x * p.out[1] + y) * p.out[2] + z, (i * p.in[1] + j) * p.in[2] + k);
      }
    }
  }
}

void pad_into(const Tensor& out, const Tensor& self, const Padded& p, bool reflect) {
  const Rows in = rows_of(self, p.planes), to = rows_like(out, p.planes);
  with_any_type(self.dtype(), "pad", [&]<class T>(T) {
    for (int64_t r = 0; r < in.count; ++r) {
      each_source(p, reflect, [&](int64_t o, int64_t i) { to.data.data_as<T>()[r * to.length + o] = in.data.data_as<T>()[r * in.length + i]; });
    }
  });
  put_rows(out, p.planes, to);
}
void unpad_into(const Tensor& out, const Tensor& grad, const Padded& p, bool reflect) {
  const Tensor g = made_contiguous(grad);
  const Rows from = rows_of(g, p.planes), to = rows_like(out, p.planes);
  with_floating(grad.dtype(), "pad_backward", [&]<class T>(T) {
    for (int64_t r = 0; r < to.count; ++r) {
      each_source(p, reflect, [&](int64_t o, int64_t i) {
        T& sum = to.data.data_as<T>()[r * to.length + i];
        sum = static_cast<T>(static_cast<Math<T>>(sum) + static_cast<Math<T>>(from.data.data_as<T>()[r * from.length + o]));
      });
    }
  });
  put_rows(out, p.planes, to);
}

// How stock makes the result: as it comes, by a call, or given its shape once more.
enum class Made : uint8_t { kPlain, kByCall, kAgain };
Tensor pad_edges(const Tensor& self, Sizes padding, bool reflect, size_t n, Made made) {
  const Padded p = padded(self.sizes(), padding, reflect, n);
  Tensor out;
  if (made == Made::kByCall) {
    out = ops::empty_memory_format::call(SizeVector{0}, self.dtype(), Layout::Strided, self.device());
    if (self.dim() == static_cast<int64_t>(n) + 2) ops::resize_::call(out, p.shape, MemoryFormat::Contiguous);
    else ops::resize_::call(out, p.shape);
  } else {
    out = empty(p.shape, self.dtype(), self.device());
    if (made == Made::kAgain) ops::resize_::call(out, p.shape, MemoryFormat::Contiguous);
  }
  pad_into(out, self, p, reflect);
  return out;
}
Tensor unpad_edges(const Tensor& grad, const Tensor& self, Sizes padding, bool reflect, size_t n) {
  const Padded p = padded(self.sizes(), padding, reflect, n);
  Tensor out;
  if (n == 1) {
    out = empty(self.sizes(), grad.dtype(), grad.device());
    ops::zero_::call(out);
  } else {
    out = ops::zeros_like::call(self, {}, {}, {}, {}, MemoryFormat::Contiguous);
  }
  unpad_into(out, grad, p, reflect);
  return out;
}

}  // namespace

#define PEEL_PAD(name, reflect, n, made)                                                                                                          \
  Tensor name(const Tensor& self, Sizes padding) { return pad_edges(self, padding, reflect, n, made); }                                           \
  Tensor name##_backward(const Tensor& grad_output, const Tensor& self, Sizes padding) { return unpad_edges(grad_output, self, padding, reflect, n); }
PEEL_PAD(reflection_pad1d, true, 1, Made::kPlain)
PEEL_PAD(reflection_pad2d, true, 2, Made::kByCall)
PEEL_PAD(replication_pad1d, false, 1, Made::kPlain)
PEEL_PAD(replication_pad2d, false, 2, Made::kAgain)
PEEL_PAD(replication_pad3d, false, 3, Made::kAgain)
#undef PEEL_PAD

Tensor _pad_circular(const Tensor& self, Sizes pad) {
  const size_t n = pad.size() / 2, first = self.sizes().size() - n;
  SizeVector shape(self.sizes().begin(), self.sizes().end());
  for (size_t d = 0; d < n; ++d) {
    const int64_t size = shape[first + d], left = pad[2 * (n - 1 - d)], right = pad[2 * (n - 1 - d) + 1];
    if (left > size || right > size) throw Error("Padding value causes wrapping around more than once.");
    shape[first + d] += left + right;
    if (shape[first + d] < 0) throw Error("Negative padding value is resulting in an empty dimension");
  }
  const Tensor out = ops::new_empty::call(self, shape, self.dtype(), Layout::Strided, self.device(), {});
  Tensor to = out, from = self;
  const auto part = [](const Tensor& t, size_t d, int64_t start, int64_t end) { return ops::slice_Tensor::call(t, static_cast<int64_t>(d), start, end, 1); };
  for (size_t i = 0; i < n; ++i) {
    const size_t d = self.sizes().size() - 1 - i;
    const int64_t left = pad[2 * i], right = pad[2 * i + 1];
    to = part(to, d, std::max<int64_t>(left, 0), out.sizes()[d] - std::max<int64_t>(right, 0));
    from = part(from, d, std::max<int64_t>(-left, 0), self.sizes()[d] - std::max<int64_t>(-right, 0));
  }
  ops::copy_::call(to, from);
  for (size_t i = 0; i < n; ++i) {
    const size_t d = self.sizes().size() - 1 - i;
    const int64_t left = pad[2 * i], right = pad[2 * i + 1], whole = out.sizes()[d];
    if (left > 0) {
      Tensor edge = part(out, d, 0, left);
      ops::copy_::call(edge, part(out, d, whole - left - std::max<int64_t>(right, 0), whole - std::max<int64_t>(right, 0)));
    }
    if (right > 0) {
      Tensor edge = part(out, d, whole - right, whole);
      ops::copy_::call(edge, part(out, d, std::max<int64_t>(left, 0), std::max<int64_t>(left, 0) + right));
    }
  }
  return out;
}

namespace {

struct Unfolded {
  int64_t c, h, w, kh, kw, oh, ow;
  std::array<int64_t, 2> dilation, padding, stride;
};
Unfolded unfolded(int64_t c, int64_t h, int64_t w, Sizes kernel, Sizes dilation, Sizes padding, Sizes stride) {
  Unfolded u{c, h, w, kernel[0], kernel[1], 0, 0, {dilation[0], dilation[1]}, {padding[0], padding[1]}, {stride[0], stride[1]}};
  u.oh = (h + 2 * padding[0] - (dilation[0] * (kernel[0] - 1) + 1)) / stride[0] + 1;
  u.ow = (w + 2 * padding[1] - (dilation[1] * (kernel[1] - 1) + 1)) / stride[1] + 1;
  return u;
}
// f(place among the columns, place in the picture or -1).
template <class F>
void each_column(const Unfolded& u, F f) {
  int64_t at = 0;
  for (int64_t c = 0; c < u.c; ++c) {
    for (int64_t i = 0; i < u.kh; ++i) {
      for (int64_t j = 0; j < u.kw; ++j) {
        for (int64_t y = 0; y < u.oh; ++y) {
          for (int64_t x = 0; x < u.ow; ++x, ++at) {
            const int64_t row = y * u.stride[0] - u.padding[0] + i * u.dilation[0], column = x * u.stride[1] - u.padding[1] + j * u.dilation[1];
            f(at, row < 0 || row >= u.h || column < 0 || column >= u.w ? -1 : (c * u.h + row) * u.w + column);
          }
        }
      }
    }
  }
}
void need_four(Sizes kernel, Sizes dilation, Sizes padding, Sizes stride) {
  if (kernel.size() != 2) throw Error("It is expected kernel_size equals to 2, but got size " + std::to_string(kernel.size()));
  if (dilation.size() != 2) throw Error("It is expected dilation equals to 2, but got size " + std::to_string(dilation.size()));
  if (padding.size() != 2) throw Error("It is expected padding equals to 2, but got size " + std::to_string(padding.size()));
  if (stride.size() != 2) throw Error("It is expected stride equals to 2, but got size " + std::to_string(stride.size()));
}

}  // namespace

Tensor im2col(const Tensor& self, Sizes kernel_size, Sizes dilation, Sizes padding, Sizes stride) {
  Tensor out = ops::empty_like::call(self, {}, {}, {}, {}, MemoryFormat::Contiguous);
  need_four(kernel_size, dilation, padding, stride);
  if (self.dim() != 3 && self.dim() != 4) throw Error("Expected 3D or 4D (batch mode) tensor with possibly 0 batch size and other non-zero dimensions for input, but got: " + to_text(self.sizes()));
  const bool batched = self.dim() == 4;
  Tensor in = made_contiguous(self);
  if (!batched) in = ops::view::call(in, SizeVector{1, in.size(0), in.size(1), in.size(2)});
  const Unfolded u = unfolded(in.size(1), in.size(2), in.size(3), kernel_size, dilation, padding, stride);
  const int64_t rows = u.c * u.kh * u.kw, columns = u.oh * u.ow, n = in.size(0);
  if (u.oh < 1 || u.ow < 1) {
    throw Error("Given input with spatial size (" + std::to_string(u.h) + ", " + std::to_string(u.w) + "), kernel_size=(" + std::to_string(u.kh) + ", " + std::to_string(u.kw) + "), dilation=(" +
                std::to_string(dilation[0]) + ", " + std::to_string(dilation[1]) + "), padding=(" + std::to_string(padding[0]) + ", " + std::to_string(padding[1]) +
                "), calculated shape of the array of sliding blocks as (" + std::to_string(u.oh) + ", " + std::to_string(u.ow) + "), but its components must be at least one.");
  }
  ops::resize_::call(out, SizeVector{n, rows, columns});
  with_any_type(self.dtype(), "im2col_out_cpu", [&]<class T>(T) {
    for (int64_t i = 0; i < n; ++i) {
      const T* from = ops::select_int::call(in, 0, i).data_as<T>();
      T* to = ops::select_int::call(out, 0, i).data_as<T>();
      each_column(u, [&](int64_t at, int64_t place) { to[at] = place < 0 ? T{} : from[place]; });
    }
  });
  if (!batched) ops::resize_::call(out, SizeVector{rows, columns});
  return out;
}
Tensor col2im(const Tensor& self, Sizes output_size, Sizes kernel_size, Sizes dilation, Sizes padding, Sizes stride) {
  Tensor out = ops::empty_like::call(self, {}, {}, {}, {}, MemoryFormat::Contiguous);
  need_four(kernel_size, dilation, padding, stride);
  if (self.dim() != 2 && self.dim() != 3) throw Error("Expected 2D or 3D (batch mode) tensor for input with possibly 0 batch size and non-zero dimensions for input, but got: " + to_text(self.sizes()));
  const bool batched = self.dim() == 3;
  Tensor in = made_contiguous(self);
  if (!batched) in = ops::view::call(in, SizeVector{1, in.size(0), in.size(1)});
  const int64_t patch = kernel_size[0] * kernel_size[1], n = in.size(0);
  if (in.size(1) % patch != 0) {
    throw Error("Expected size of input's dimension 1 to be divisible by the product of kernel_size, but got input.size(1)=" + std::to_string(in.size(1)) + " and kernel_size=(" +
                std::to_string(kernel_size[0]) + ", " + std::to_string(kernel_size[1]) + ").");
  }
  const Unfolded u = unfolded(in.size(1) / patch, output_size[0], output_size[1], kernel_size, dilation, padding, stride);
  if (in.size(2) != u.oh * u.ow) {
    throw Error("Given output_size=(" + std::to_string(u.h) + ", " + std::to_string(u.w) + "), kernel_size=(" + std::to_string(u.kh) + ", " + std::to_string(u.kw) + "), dilation=(" +
                std::to_string(dilation[0]) + ", " + std::to_string(dilation[1]) + "), padding=(" + std::to_string(padding[0]) + ", " + std::to_string(padding[1]) + "), stride=(" +
                std::to_string(stride[0]) + ", " + std::to_string(stride[1]) + "), expected size of input's dimension 2 to match the calculated number of sliding blocks " + std::to_string(u.oh) +
                " * " + std::to_string(u.ow) + " = " + std::to_string(u.oh * u.ow) + ", but got input.size(2)=" + std::to_string(in.size(2)) + ".");
  }
  ops::resize_::call(out, SizeVector{n, u.c, u.h, u.w});
  with_floating(self.dtype(), "col2im_out_cpu", [&]<class T>(T) {
    for (int64_t i = 0; i < n; ++i) {
      const T* from = ops::select_int::call(in, 0, i).data_as<T>();
      T* to = ops::select_int::call(out, 0, i).data_as<T>();
      std::fill_n(to, u.c * u.h * u.w, T{});
      each_column(u, [&](int64_t at, int64_t place) {
        if (place >= 0) to[place] = static_cast<T>(static_cast<Math<T>>(to[place]) + static_cast<Math<T>>(from[at]));
      });
    }
  });
  if (!batched) ops::resize_::call(out, SizeVector{u.c, u.h, u.w});
  return out;
}

namespace {

Tensor shuffled(const Tensor& self, int64_t r, bool back) {
  const std::string name = back ? "pixel_unshuffle" : "pixel_shuffle";
  if (self.dim() < 3) throw Error(name + " expects input to have at least 3 dimensions, but got input with " + std::to_string(self.dim()) + " dimension(s)");
  const char* const word = back ? "downscale_factor" : "upscale_factor";
  if (r <= 0) throw Error(name + " expects a positive " + word + ", but got " + std::to_string(r));
  const int64_t c = self.size(-3), h = self.size(-2), w = self.size(-1);
  if (!back && c % (r * r) != 0) {
    throw Error("pixel_shuffle expects its input's 'channel' dimension to be divisible by the square of upscale_factor, but input.size(-3)=" + std::to_string(c) + " is not divisible by " + std::to_string(r * r));
  }
  if (back && h % r != 0) throw Error("pixel_unshuffle expects height to be divisible by downscale_factor, but input.size(-2)=" + std::to_string(h) + " is not divisible by " + std::to_string(r));
  if (back && w % r != 0) throw Error("pixel_unshuffle expects width to be divisible by downscale_factor, but input.size(-1)=" + std::to_string(w) + " is not divisible by " + std::to_string(r));
  SizeVector shape(self.sizes().begin(), self.sizes().end());
  const size_t at = shape.size() - 3;
  shape[at] = back ? c * r * r : c / (r * r);
  shape[at + 1] = back ? h / r : h * r;
  shape[at + 2] = back ? w / r : w * r;
  Tensor out = ops::empty_memory_format::call(SizeVector{0}, self.dtype(), Layout::Strided, self.device());
  ops::resize_::call(out, shape, MemoryFormat::Contiguous);
  if (out.numel() == 0) return out;
  const Tensor in = made_contiguous(self);
  // Of the shuffled tensor: channels, rows and columns.
  const int64_t channels = back ? c : shape[at], rows = back ? h / r : h, columns = back ? w / r : w, n = self.numel() / (c * h * w);
  with_any_type(self.dtype(), name.c_str(), [&]<class T>(T) {
    const T* from = in.data_as<T>();
    T* to = out.data_as<T>();
    for (int64_t b = 0; b < n * channels; ++b) {
      for (int64_t i = 0; i < r; ++i) {
        for (int64_t j = 0; j < r; ++j) {
          for (int64_t y = 0; y < rows; ++y) {
            for (int64_t x = 0; x < columns; ++x) {
              const int64_t deep = (((b * r + i) * r + j) * rows + y) * columns + x, wide = ((b * rows + y) * r + i) * columns * r + x * r + j;
              to[back ? deep : wide] = from[back ? wide : deep];
            }
          }
        }
      }
    }
  });
  return out;
}

}  // namespace

Tensor pixel_shuffle(const Tensor& self, int64_t upscale_factor) { return shuffled(self, upscale_factor, false); }
Tensor pixel_unshuffle(const Tensor& self, int64_t downscale_factor) { return shuffled(self, downscale_factor, true); }

Tensor channel_shuffle(const Tensor& self, int64_t groups) {
  if (self.dim() <= 2) throw Error("channel_shuffle expects input with > 2 dims, but got input with sizes" + to_text(self.sizes()));
  if (groups <= 0) throw Error("Number of groups to divide channels in must be positive. Value of groups:" + std::to_string(groups));
  if (self.size(1) % groups) {
    throw Error("Number of channels must be divisible by groups. Got " + std::to_string(self.size(1)) + " channels and " + std::to_string(groups) + " groups.");
  }
  return ops::native_channel_shuffle::call(self, groups);
}
Tensor native_channel_shuffle(const Tensor& self, int64_t groups) {
  Tensor out = ops::empty_memory_format::call(SizeVector{0}, self.dtype(), Layout::Strided, self.device());
  ops::resize_::call(out, self.sizes());
  const Tensor in = made_contiguous(self);
  const int64_t in_group = self.size(1) / groups, inner = self.numel() / std::max<int64_t>(1, self.size(0) * self.size(1));
  with_any_type(self.dtype(), "channel_shuffle", [&]<class T>(T) {
    for (int64_t i = 0; i < in.numel(); ++i) {
      const int64_t k = i % inner, c = i / inner % self.size(1), n = i / inner / self.size(1);
      out.data_as<T>()[(n * self.size(1) + c % in_group * groups + c / in_group) * inner + k] = in.data_as<T>()[i];
    }
  });
  return out;
}

namespace {

struct Bins {
  int64_t in, out;
  int64_t start(int64_t i) const { return i * in / out; }
  int64_t end(int64_t i) const { return ((i + 1) * in + out - 1) / out; }
};

}  // namespace

std::tuple<Tensor, Tensor> adaptive_max_pool2d(const Tensor& self, Sizes output_size) {
  if (self.dim() != 3 && self.dim() != 4) throw Error("adaptive_max_pool2d() expected 3D or 4D tensor, but got " + to_text(self.sizes()));
  if (output_size.size() != 2) throw Error("adaptive_max_pool2d(): internal error: output_size.size() must be 2");
  const Bins h{self.size(-2), output_size[0]}, w{self.size(-1), output_size[1]};
  SizeVector shape(self.sizes().begin(), self.sizes().end() - 2);
  shape.insert(shape.end(), {h.out, w.out});
  const Tensor out = empty(shape, self.dtype(), self.device()), places = empty(shape, ScalarType::Long, self.device());
  std::vector<bool> planes(self.sizes().size(), false);
  planes[planes.size() - 1] = planes[planes.size() - 2] = true;
  const Rows rows = rows_of(self, planes);
  with_floating(self.dtype(), "adaptive_max_pool2d", [&]<class T>(T) {
    for (int64_t r = 0; r < rows.count; ++r) {
      const T* in = rows.data.data_as<T>() + r * rows.length;
      for (int64_t y = 0; y < h.out; ++y) {
        for (int64_t x = 0; x < w.out; ++x) {
          int64_t best = h.start(y) * w.in + w.start(x);
          for (int64_t i = h.start(y); i < h.end(y); ++i) {
            for (int64_t j = w.start(x); j < w.end(x); ++j) {
              const auto v = static_cast<Math<T>>(in[i * w.in + j]);
              if (v > static_cast<Math<T>>(in[best]) || v != v) best = i * w.in + j;
            }
          }
          out.data_as<T>()[(r * h.out + y) * w.out + x] = in[best];
          places.data_as<int64_t>()[(r * h.out + y) * w.out + x] = best;
        }
      }
    }
  });
  return {out, places};
}
Tensor adaptive_max_pool2d_backward(const Tensor& grad_output, const Tensor& self, const Tensor& indices) {
  Tensor out = empty(self.sizes(), self.dtype(), self.device());
  ops::zero_::call(out);
  const Tensor grad = made_contiguous(grad_output), places = made_contiguous(indices);
  const int64_t plane = self.size(-1) * self.size(-2), pooled = grad.size(-1) * grad.size(-2);
  with_floating(self.dtype(), "adaptive_max_pool2d_backward", [&]<class T>(T) {
    for (int64_t i = 0; i < grad.numel(); ++i) {
      T& o = out.data_as<T>()[i / pooled * plane + places.data_as<int64_t>()[i]];
      o = static_cast<T>(static_cast<Math<T>>(o) + static_cast<Math<T>>(grad.data_as<T>()[i]));
    }
  });
  return out;
}
std::tuple<Tensor, Tensor> adaptive_max_pool1d(const Tensor& self, Sizes output_size) {
  const auto [out, places] = ops::adaptive_max_pool2d::call(ops::unsqueeze::call(self, -2), SizeVector{1, output_size[0]});
  const Tensor indices = ops::squeeze_dim::call(places, -2);
  return {ops::squeeze_dim::call(out, -2), indices};
}

}  // namespace peel::kernels
