// Pictures looked at through a grid of places, and the grids that affine maps give.
#include <algorithm>
#include <cmath>

#include "kernels/cpu/rows.h"
#include "ops_generated/kernels.h"
#include "ops_generated/ops.h"

namespace peel::kernels {
namespace {

enum class Border : int64_t { kZeros, kEdge, kReflection };
struct Place {
  double at, slope;  // in elements, and by a coordinate's change
};
// A coordinate from -1 to 1 as a place along `size` elements.
Place place_of(double coordinate, int64_t size, Border border, bool align) {
  const auto n = static_cast<double>(size);
  Place p = align ? Place{(coordinate + 1) / 2 * (n - 1), (n - 1) / 2} : Place{((coordinate + 1) * n - 1) / 2, n / 2};
  if (border == Border::kReflection) {
    const double low = align ? 0 : -0.5, span = align ? n - 1 : n;
    if (span == 0) return {0, 0};
    double away = p.at - low;
    if (away < 0) {
      away = -away;
      p.slope = -p.slope;
    }
    const double rest = std::fmod(away, span);
    const bool back = static_cast<int64_t>(std::floor(away / span)) % 2 != 0;
    p.at = back ? span - rest + low : rest + low;
    if (back) p.slope = -p.slope;
  }
  if (border != Border::kZeros) {
    if (p.at <= 0) p = {0, 0};
    else if (p.at >= n - 1) p = {n - 1, 0};
  }
  return p;
}

struct Sampler {
  int64_t n, c, h, w, oh, ow;
  Border border;
  bool nearest, align;
};
Sampler sampler(const Tensor& input, const Tensor& grid, int64_t mode, int64_t padding, bool align) {
  if (mode == 2) throw NotImplemented("The embedded engine has no grid_sample(mode='bicubic') yet; the program can be run on stock PyTorch (--engine pytorch).");
  return {input.size(0), input.size(1), input.size(2), input.size(3), grid.size(1), grid.size(2), static_cast<Border>(padding), mode == 1, align};
}
// Four neighbours and their weights; one where the nearest is asked for.
struct Taps {
  int64_t row[4], column[4];
  double weight[4], by_x[4], by_y[4];
  int count;
};
template <class T>
Taps taps_of(const Sampler& s, const T* grid) {
  const Place x = place_of(static_cast<double>(grid[0]), s.w, s.border, s.align), y = place_of(static_cast<double>(grid[1]), s.h, s.border, s.align);
  Taps t{};
  if (s.nearest) {
    t.count = 1;
    t.row[0] = static_cast<int64_t>(std::nearbyint(static_cast<T>(y.at)));
    t.column[0] = static_cast<int64_t>(std::nearbyint(static_cast<T>(x.at)));
    t.weight[0] = 1;
    return t;
  }
  t.count = 4;
  const double left = std::floor(x.at), top = std::floor(y.at), fx = x.at - left, fy = y.at - top;
  for (int k = 0; k < 4; ++k) {
    const bool right = k % 2, below = k / 2;
    t.row[k] = static_cast<int64_t>(top) + below;
    t.column[k] = static_cast<int64_t>(left) + right;
    const double wx = right ? fx : 1 - fx, wy = below ? fy : 1 - fy;
    t.weight[k] = wx * wy;
    t.by_x[k] = (right ? wy : -wy) * x.slope;
    t.by_y[k] = (below ? wx : -wx) * y.slope;
  }
  return t;
}
bool inside(const Sampler& s, const Taps& t, int k) { return t.row[k] >= 0 && t.row[k] < s.h && t.column[k] >= 0 && t.column[k] < s.w; }

}  // namespace

Tensor grid_sampler_2d(const Tensor& input, const Tensor& grid, int64_t interpolation_mode, int64_t padding_mode, bool align_corners) {
  const Sampler s = sampler(input, grid, interpolation_mode, padding_mode, align_corners);
  const Tensor out = ops::empty_memory_format::call(SizeVector{s.n, s.c, s.oh, s.ow}, input.dtype(), Layout::Strided, input.device());
  const Tensor in = rows_of(input, named_dims(std::nullopt, 4)).data, places = rows_of(grid, named_dims(std::nullopt, 4)).data;
  with_floating(input.dtype(), "grid_sampler_2d_cpu", [&]<class T>(T) {
    for (int64_t b = 0; b < s.n; ++b) {
      for (int64_t o = 0; o < s.oh * s.ow; ++o) {
        const Taps t = taps_of(s, places.data_as<T>() + (b * s.oh * s.ow + o) * 2);
        for (int64_t c = 0; c < s.c; ++c) {
          const T* plane = in.data_as<T>() + (b * s.c + c) * s.h * s.w;
          double sum = 0;
          for (int k = 0; k < t.count; ++k) {
            if (inside(s, t, k)) sum += t.weight[k] * static_cast<double>(static_cast<Math<T>>(plane[t.row[k] * s.w + t.column[k]]));
          }
          out.data_as<T>()[(b * s.c + c) * s.oh * s.ow + o] = static_cast<T>(sum);
        }
      }
    }
  });
  return out;
}
std::tuple<Tensor, Tensor> grid_sampler_2d_backward(const Tensor& grad_output, const Tensor& input, const Tensor& grid, int64_t interpolation_mode, int64_t padding_mode, bool align_corners,
                                                    std::array<bool, 2> output_mask) {
  const Sampler s = sampler(input, grid, interpolation_mode, padding_mode, align_corners);
  const Tensor of_input = output_mask[0] ? ops::zeros_like::call(input, {}, {}, {}, {}, MemoryFormat::Contiguous) : Tensor();
  const Tensor of_grid = ops::empty_like::call(grid, {}, {}, {}, {}, MemoryFormat::Contiguous);
  const Tensor grad = made_contiguous(grad_output);
  const Tensor in = rows_of(input, named_dims(std::nullopt, 4)).data, places = rows_of(grid, named_dims(std::nullopt, 4)).data;
  with_floating(input.dtype(), "grid_sampler_2d_backward_cpu", [&]<class T>(T) {
    for (int64_t b = 0; b < s.n; ++b) {
      for (int64_t o = 0; o < s.oh * s.ow; ++o) {
        const int64_t at = b * s.oh * s.ow + o;
        const Taps t = taps_of(s, places.data_as<T>() + at * 2);
        double gx = 0, gy = 0;
        for (int64_t c = 0; c < s.c; ++c) {
          const auto g = static_cast<double>(static_cast<Math<T>>(grad.data_as<T>()[(b * s.c + c) * s.oh * s.ow + o]));
          for (int k = 0; k < t.count; ++k) {
            if (!inside(s, t, k)) continue;
            const int64_t place = (b * s.c + c) * s.h * s.w + t.row[k] * s.w + t.column[k];
            if (of_input.defined()) {
              T& sum = of_input.data_as<T>()[place];
              sum = static_cast<T>(static_cast<double>(static_cast<Math<T>>(sum)) + t.weight[k] * g);
            }
            const auto v = static_cast<double>(static_cast<Math<T>>(in.data_as<T>()[place]));
            gx += t.by_x[k] * v * g;
            gy += t.by_y[k] * v * g;
          }
        }
        of_grid.data_as<T>()[at * 2] = static_cast<T>(gx);
        of_grid.data_as<T>()[at * 2 + 1] = static_cast<T>(gy);
      }
    }
  });
  return {of_input, of_grid};
}
Tensor grid_sampler(const Tensor& input, const Tensor& grid, int64_t interpolation_mode, int64_t padding_mode, bool align_corners) {
  if (input.dim() != 4 && input.dim() != 5) {
    throw Error("grid_sampler(): expected 4D or 5D input and grid with same number of dimensions, but got input with sizes " + to_text(input.sizes()) + " and grid with sizes " + to_text(grid.sizes()));
  }
  if (input.dim() == 5) throw NotImplemented("The embedded engine has no grid_sample of 5 dimensions yet; the program can be run on stock PyTorch (--engine pytorch).");
  if (input.size(0) != grid.size(0)) {
    throw Error("grid_sampler(): expected grid and input to have same batch size, but got input with sizes " + to_text(input.sizes()) + " and grid with sizes " + to_text(grid.sizes()));
  }
  if (grid.size(-1) != input.dim() - 2) {
    throw Error("grid_sampler(): expected grid to have size " + std::to_string(input.dim() - 2) + " in last dimension, but got grid with sizes " + to_text(grid.sizes()));
  }
  return ops::grid_sampler_2d::call(input, grid, interpolation_mode, padding_mode, align_corners);
}

namespace {

Tensor steps_of(const Tensor& theta, int64_t n, bool align) {
  if (n <= 1) return ops::zeros::call(SizeVector{1}, theta.dtype(), Layout::Strided, theta.device());
  const Tensor range = ops::linspace::call(-1, 1, n, theta.dtype(), Layout::Strided, theta.device());
  return align ? range : ops::div_Scalar::call(ops::mul_Scalar::call(range, n - 1), n);
}
// Homogeneous places of a plane: x, y and 1.
Tensor base_grid(const Tensor& theta, int64_t n, int64_t h, int64_t w, bool align) {
  const Tensor base = ops::empty_memory_format::call(SizeVector{n, h, w, 3}, theta.dtype(), Layout::Strided, theta.device());
  Tensor x = ops::select_int::call(base, -1, 0);
  ops::copy_::call(x, steps_of(theta, w, align));
  Tensor y = ops::select_int::call(base, -1, 1);
  Tensor down = steps_of(theta, h, align);
  ops::copy_::call(y, ops::unsqueeze_::call(down, -1));
  Tensor one = ops::select_int::call(base, -1, 2);
  ops::fill__Scalar::call(one, 1);
  return base;
}

}  // namespace

Tensor affine_grid_generator(const Tensor& theta, Sizes size, bool align_corners) {
  if (size.size() != 4 && size.size() != 5) throw Error("AffineGridGenerator needs 4d (spatial) or 5d (volumetric) inputs.");
  if (size.size() == 5) throw NotImplemented("The embedded engine has no affine_grid of 5 dimensions yet; the program can be run on stock PyTorch (--engine pytorch).");
  const int64_t n = size[0], h = size[2], w = size[3];
  const Tensor base = base_grid(theta, n, h, w, align_corners);
  const Tensor flat = ops::view::call(base, SizeVector{n, h * w, 3});
  return ops::view::call(ops::bmm::call(flat, ops::transpose_int::call(theta, 1, 2)), SizeVector{n, h, w, 2});
}
Tensor affine_grid_generator_backward(const Tensor& grad, Sizes size, bool align_corners) {
  const int64_t n = size[0], h = size[2], w = size[3];
  const Tensor base = base_grid(grad, n, h, w, align_corners);
  const Tensor turned = ops::transpose_int::call(ops::view::call(base, SizeVector{n, h * w, 3}), 1, 2);
  return ops::transpose_int::call(ops::bmm::call(turned, ops::reshape::call(grad, SizeVector{n, h * w, 2})), 1, 2);
}

}  // namespace peel::kernels
