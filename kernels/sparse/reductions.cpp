// Sums and softmax of tensors of coordinates, and their backward.
#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>

#include "core/dispatch/error.h"
#include "kernels/cpu/elementwise.h"
#include "kernels/cpu/rows.h"
#include "kernels/sparse/coordinates.h"
#include "ops_generated/kernels.h"
#include "ops_generated/ops.h"

namespace peel::kernels {
namespace {

struct Summed {
  std::vector<bool> dims;  // by dimension
  SizeVector kept, dense;  // the others; of the dense dimensions, those of the values
  int64_t sparse_count = 0;
};
Summed summed(const Tensor& t, Sizes dim, int64_t sparse_dim) {
  Summed s{std::vector<bool>(static_cast<size_t>(t.dim())), {}, {}, 0};
  for (const int64_t d : dim) {
    const auto at = static_cast<size_t>(wrap_dimension(d, t.dim()));
    if (s.dims[at]) throw Error("dim " + std::to_string(at) + " appears multiple times in the list of dims");
    s.dims[at] = true;
  }
  for (int64_t d = 0; d < t.dim(); ++d) {
    if (!s.dims[static_cast<size_t>(d)]) s.kept.push_back(d);
    else if (d >= sparse_dim) s.dense.push_back(d + 1 - sparse_dim);
    else ++s.sparse_count;
  }
  return s;
}

}  // namespace

Tensor sum_coo(const Tensor& self, Type dtype) { return ops::sum::call(ops::_values::call(self), dtype); }
Tensor sum_dim_coo(const Tensor& self, std::optional<Sizes> dim, bool keepdim, Type wanted) {
  Type dtype = wanted;
  if (!dtype && !is_floating(self.dtype()) && !is_complex(self.dtype())) dtype = ScalarType::Long;
  SizeVector dims(dim ? SizeVector(dim->begin(), dim->end()) : SizeVector());
  if (dims.empty()) {
    dims.resize(static_cast<size_t>(self.dim()));
    std::iota(dims.begin(), dims.end(), int64_t{0});
  }
  Tensor out = dtype ? ops::_sparse_sum_dim_dtype::call(self, dims, *dtype) : ops::_sparse_sum_dim::call(self, dims);
  if (!keepdim) return out;
  for (int64_t& d : dims) d = wrap_dimension(d, self.dim());
  std::ranges::sort(dims);
  for (const int64_t d : dims) out = ops::unsqueeze::call(out, d);
  return out;
}
Tensor any_sparse(const Tensor& self) { return ops::any::call(ops::_values::call(self)); }

Tensor native_norm_sparse(const Tensor& self, const Scalar& p) { return ops::norm_Scalar::call(ops::_values::call(ops::coalesce::call(self)), p); }
Tensor native_norm_sparse(const Tensor& self, const std::optional<Scalar>& p, Sizes dim, bool keepdim, Type dtype) {
  if (!dim.empty()) {
    std::vector<bool> named(static_cast<size_t>(self.dim()));
    for (const int64_t d : dim) named[static_cast<size_t>(wrap_dimension(d, self.dim()))] = true;
    if (!std::ranges::all_of(named, [](bool b) { return b; })) {
      throw Error("norm_sparse currently only supports full reductions, so 'dim' must either be empty or contain all dimensions of the input");
    }
  }
  if (keepdim) throw Error("norm_sparse currently does not support keepdim=True");
  if (dtype) throw Error("norm_sparse currently does not support 'dtype' argument");
  return ops::norm_Scalar::call(ops::_values::call(ops::coalesce::call(self)), p.value_or(Scalar(2.0)));
}
Tensor norm_sparse(const Tensor& self, const std::optional<Scalar>& p, Sizes dim, bool keepdim) { return ops::native_norm_ScalarOpt_dim_dtype::call(self, p, dim, keepdim, {}); }

Tensor _sparse_sum(const Tensor& self) {
  return ops::sum::call(ops::values::call(ops::coalesce::call(self)));
}
Tensor _sparse_sum_dtype(const Tensor& self, ScalarType dtype) { return ops::sum::call(ops::values::call(ops::coalesce::call(self)), dtype); }
Tensor _sparse_sum_dim_dtype(const Tensor& self, Sizes dim, ScalarType dtype) { return ops::_sparse_sum_dim::call(ops::to_dtype::call(self, dtype), dim); }
Tensor sparse_sum_dims(const Tensor& self, Sizes dim) {
  summed(self, dim, self.dim());  // what is wrong with the dimensions comes first
  const Tensor indices = ops::_indices::call(self), values = ops::_values::call(self);
  const int64_t sparse_dim = ops::sparse_dim::call(self);
  const Summed s = summed(self, dim, sparse_dim);
  Tensor new_values = s.dense.empty() ? ops::clone::call(values, MemoryFormat::Contiguous) : ops::sum_dim_IntList::call(values, Sizes(s.dense));
  if (s.sparse_count == sparse_dim) return ops::sum_dim_IntList::call(new_values, Sizes(SizeVector{0}));
  Tensor new_indices;
  if (s.sparse_count == 0) {
    new_indices = ops::clone::call(indices, MemoryFormat::Contiguous);
  } else {
    const int64_t nnz = ops::_nnz::call(self);
    new_indices = ops::empty_memory_format::call(SizeVector{sparse_dim - s.sparse_count, nnz}, indices.dtype(), Layout::Strided, indices.device());
    for (int64_t i = 0; i < sparse_dim - s.sparse_count; ++i) {
      Tensor to = ops::select_int::call(new_indices, 0, i);
      ops::copy_::call(to, ops::select_int::call(indices, 0, s.kept[static_cast<size_t>(i)]));
    }
  }
  SizeVector sizes;
  for (const int64_t d : s.kept) sizes.push_back(self.size(d));
  const Tensor out = ops::_sparse_coo_tensor_with_dims_and_tensors::call(new_indices.size(0), new_values.dim() - 1, sizes, new_indices, new_values, self.dtype(), Layout::Sparse,
                                                                         self.device(), {}, false);
  return ops::coalesce::call(out);
}

namespace {

// Numbers of the coordinates in the kept dimensions, step by step as stock has it.
Tensor flattened_kept(const Tensor& indices, const Tensor& like, const SizeVector& dims) {
  Tensor out = ops::zeros::call(SizeVector{indices.size(1)}, indices.dtype(), Layout::Strided, indices.device());
  for (size_t i = 0; i < dims.size(); ++i) {
    ops::mul__Scalar::call(out, like.size(dims[i]));
    ops::add__Tensor::call(out, ops::select_int::call(indices, 0, dims[i]));
  }
  return out;
}

}  // namespace

Tensor sparse_sum_backward(const Tensor& grad, const Tensor& self, Sizes dim) {
  if (!is_coo(grad) && !is_coo(self)) throw Error("_sparse_sum_backward_cpu: expected grad to be sparse");
  if (is_coo(grad) && ops::_nnz::call(grad) == 0) return ops::zeros::call(self.sizes(), self.dtype(), Layout::Sparse, self.device());
  const Tensor input = ops::coalesce::call(self);
  const Tensor indices = ops::_indices::call(input), values = ops::_values::call(input);
  const int64_t sparse_dim = ops::sparse_dim::call(input), dense_dim = ops::dense_dim::call(input), nnz = ops::_nnz::call(input);
  const Summed s = summed(input, dim, sparse_dim);
  const auto expanded_values = [&](Tensor part) {
    if (s.dense.empty()) return part;
    SizeVector size(values.sizes().begin(), values.sizes().end());
    if (!part.sizes().empty()) size[0] = part.size(0);
    for (const int64_t d : s.dense) part = ops::unsqueeze::call(part, d - (s.sparse_count == sparse_dim ? 1 : 0));
    return ops::clone::call(ops::expand::call(part, s.sparse_count == sparse_dim ? SizeVector(values.sizes().begin() + 1, values.sizes().end()) : size), MemoryFormat::Contiguous);
  };
  const auto made = [&](const Tensor& new_values) {
    const bool coalesced = ops::is_coalesced::call(input);
    return ops::_sparse_coo_tensor_with_dims_and_tensors::call(sparse_dim, dense_dim, input.sizes(), ops::clone::call(indices, MemoryFormat::Contiguous), new_values, input.dtype(),
                                                               Layout::Sparse, input.device(), {}, coalesced);
  };
  if (s.sparse_count == sparse_dim) {  // the gradient is dense
    const Tensor all = expanded_values(grad);
    return made(ops::clone::call(ops::expand::call(all, values.sizes()), MemoryFormat::Contiguous));
  }
  const Tensor g = ops::coalesce::call(grad);
  const Tensor g_indices = ops::_indices::call(g), g_values = ops::_values::call(g);
  const int64_t g_sparse_dim = ops::sparse_dim::call(g);
  const int64_t g_nnz = ops::_nnz::call(g);
  const Tensor source = made_contiguous(expanded_values(g_values));
  if (s.sparse_count == 0) return made(source);
  const Tensor out = ops::zeros_like::call(values, values.dtype(), Layout::Strided, values.device(), false, MemoryFormat::Contiguous);
  SizeVector all(static_cast<size_t>(g_sparse_dim)), kept;
  std::iota(all.begin(), all.end(), int64_t{0});
  for (const int64_t d : s.kept) {
    if (d < sparse_dim) kept.push_back(d);
  }
  const Tensor g_flat = flattened_kept(g_indices, g, all), flat = flattened_kept(indices, input, kept);
  std::map<int64_t, int64_t> places;
  for (int64_t i = 0; i < g_nnz; ++i) places[g_flat.data_as<int64_t>()[i]] = i;
  const int64_t block = nnz ? out.numel() / nnz : 0;
  const auto item = static_cast<size_t>(block) * element_size(out.dtype());
  for (int64_t i = 0; i < nnz; ++i) {
    const auto found = places.find(flat.data_as<int64_t>()[i]);
    if (found == places.end()) continue;
    std::copy_n(static_cast<const char*>(source.data()) + static_cast<size_t>(found->second) * item, item, static_cast<char*>(out.data()) + static_cast<size_t>(i) * item);
  }
  return made(out);
}

namespace {

// Coordinates that differ in `dim` alone form one pool. What isn't there counts as minus infinity.
std::vector<std::vector<int64_t>> pools(const Tensor& indices, Sizes sizes, int64_t dim) {
  std::map<int64_t, std::vector<int64_t>> found;
  for (int64_t i = 0; i < indices.size(1); ++i) {
    int64_t flat = 0;
    for (int64_t d = 0; d < indices.size(0); ++d) {
      if (d != dim) flat = flat * sizes[static_cast<size_t>(d)] + indices.data_as<int64_t>()[d * indices.strides()[0] + i * indices.strides()[1]];
    }
    found[flat].push_back(i);
  }
  std::vector<std::vector<int64_t>> out;
  for (auto& [flat, members] : found) out.push_back(std::move(members));
  return out;
}

// The result, still without values: its indices are copied later.
struct Emptied {
  Tensor out, values, indices;
};
void take_indices(const Emptied& e, const Tensor& indices) {
  Tensor to = e.indices;
  ops::resize_as_::call(to, indices);
  ops::copy_::call(to, indices);
  sparse_of(e.out).coalesced = true;
}
void as_rows(const Tensor& values) {
  const int64_t n = values.size(0);
  ops::view::call(values, SizeVector{n, n ? values.numel() / n : 0});
}

Tensor softmax_coo(const Tensor& input_, int64_t dim_, bool log) {
  const Tensor input = ops::coalesce::call(input_);
  const Tensor out = empty_like_sparse(input, {}, {}, {}, {}, {});
  const int64_t dim = wrap_dimension(dim_, input_.dim()), sparse_dim = ops::sparse_dim::call(input);
  const Tensor indices = made_contiguous(ops::_indices::call(input)), values = made_contiguous(ops::_values::call(input));
  Emptied e{out, ops::_values::call(out), ops::_indices::call(out)};
  ops::resize_as_::call(e.values, values);
  take_indices(e, indices);
  if (dim >= sparse_dim) {
    const int64_t along = dim - sparse_dim + 1;
    ops::set__source_Tensor::call(e.values, log ? _log_softmax(values, along, false) : _softmax(values, along, false));
    return out;
  }
  const int64_t nnz = values.size(0), block = nnz ? values.numel() / nnz : 0;
  as_rows(values);
  as_rows(e.values);
  with_floating(values.dtype(), "softmax", [&]<class T>(T) {
    for (const auto& pool : pools(indices, input.sizes(), dim)) {
      for (int64_t k = 0; k < block; ++k) {
        const auto at = [&](int64_t i) { return static_cast<Math<T>>(values.data_as<T>()[i * block + k]); };
        Math<T> largest = at(pool[0]), sum = 0;
        for (const int64_t i : pool) largest = std::max(largest, at(i));
        for (const int64_t i : pool) sum += std::exp(at(i) - largest);
        for (const int64_t i : pool) e.values.data_as<T>()[i * block + k] = static_cast<T>(log ? at(i) - largest - std::log(sum) : std::exp(at(i) - largest) / sum);
      }
    }
  });
  return out;
}

// The place of each of `wanted`'s coordinates among those of `t`; -1 where it isn't there.
std::vector<int64_t> places_in(const Tensor& t, const Tensor& wanted, Sizes sizes) {
  const auto flat = [&](const Tensor& indices, int64_t i) {
    int64_t at = 0;
    for (int64_t d = 0; d < indices.size(0); ++d) at = at * sizes[static_cast<size_t>(d)] + indices.data_as<int64_t>()[d * indices.strides()[0] + i * indices.strides()[1]];
    return at;
  };
  std::map<int64_t, int64_t> places;
  for (int64_t i = 0; i < t.size(1); ++i) places[flat(t, i)] = i;
  std::vector<int64_t> out;
  for (int64_t i = 0; i < wanted.size(1); ++i) {
    const auto found = places.find(flat(wanted, i));
    out.push_back(found == places.end() ? -1 : found->second);
  }
  return out;
}

Tensor softmax_backward_coo(const Tensor& grad_, const Tensor& output_, int64_t dim_, bool log) {
  const int64_t dim = wrap_dimension(dim_, output_.dim());
  const Tensor grad = ops::coalesce::call(grad_), output = ops::coalesce::call(output_);
  const Tensor out = empty_like_sparse(output, {}, {}, {}, {}, {});
  const int64_t sparse_dim = ops::sparse_dim::call(output);
  ops::sparse_dim::call(grad);
  ops::sparse_dim::call(grad);
  const Tensor o_indices = made_contiguous(ops::_indices::call(output)), o_values = made_contiguous(ops::_values::call(output));
  const Tensor g_indices = made_contiguous(ops::_indices::call(grad)), g_values = made_contiguous(ops::_values::call(grad));
  Emptied e{out, ops::_values::call(out), ops::_indices::call(out)};
  ops::resize_as_::call(e.values, o_values);
  ops::zero_::call(e.values);
  take_indices(e, o_indices);
  const std::vector<int64_t> place = places_in(g_indices, o_indices, output.sizes());
  const int64_t nnz = o_values.size(0), block = nnz ? o_values.numel() / nnz : 0;
  if (dim >= sparse_dim) {
    const Tensor at_output = core::empty(o_values.sizes(), g_values.dtype());
    const size_t bytes = static_cast<size_t>(block) * element_size(g_values.dtype());
    for (int64_t i = 0; i < nnz; ++i) {
      char* to = static_cast<char*>(at_output.data()) + static_cast<size_t>(i) * bytes;
      const int64_t from = place[static_cast<size_t>(i)];
      if (from < 0) std::fill_n(to, bytes, char{});
      else std::copy_n(static_cast<const char*>(g_values.data()) + static_cast<size_t>(from) * bytes, bytes, to);
    }
    const int64_t along = dim - sparse_dim + 1;
    ops::set__source_Tensor::call(e.values, log ? _log_softmax_backward_data(at_output, o_values, along, o_values.dtype())
                                                : _softmax_backward_data(at_output, o_values, along, o_values.dtype()));
    return out;
  }
  as_rows(e.values);
  as_rows(o_values);
  as_rows(g_values);
  with_floating(o_values.dtype(), "softmax_backward", [&]<class T>(T) {
    for (const auto& pool : pools(o_indices, output.sizes(), dim)) {
      for (int64_t k = 0; k < block; ++k) {
        const auto of_grad = [&](int64_t i) {
          const int64_t at = place[static_cast<size_t>(i)];
          return at < 0 ? Math<T>(0) : static_cast<Math<T>>(g_values.data_as<T>()[at * block + k]);
        };
        const auto of_output = [&](int64_t i) { return static_cast<Math<T>>(o_values.data_as<T>()[i * block + k]); };
        Math<T> sum = 0;
        for (const int64_t i : pool) sum += log ? of_grad(i) : of_grad(i) * of_output(i);
        for (const int64_t i : pool) e.values.data_as<T>()[i * block + k] = static_cast<T>(log ? of_grad(i) - std::exp(of_output(i)) * sum : of_output(i) * (of_grad(i) - sum));
      }
    }
  });
  return out;
}

Tensor in_type(const Tensor& self, Type dtype) {
  return dtype ? ops::to_dtype_layout::call(self, *dtype, layout_of(self), self.device(), {}, false, false, {}) : self;
}

}  // namespace

Tensor _sparse_softmax_int(const Tensor& self, int64_t dim, Type dtype) { return ops::_sparse_softmax::call(in_type(self, dtype), dim, false); }
Tensor _sparse_log_softmax_int(const Tensor& self, int64_t dim, Type dtype) { return ops::_sparse_log_softmax::call(in_type(self, dtype), dim, false); }
Tensor softmax_sparse(const Tensor& self, int64_t dim, bool) { return softmax_coo(self, dim, false); }
Tensor log_softmax_sparse(const Tensor& self, int64_t dim, bool) { return softmax_coo(self, dim, true); }
Tensor softmax_backward_sparse(const Tensor& grad, const Tensor& output, int64_t dim, const Tensor&) { return softmax_backward_coo(grad, output, dim, false); }
Tensor log_softmax_backward_sparse(const Tensor& grad, const Tensor& output, int64_t dim, const Tensor&) { return softmax_backward_coo(grad, output, dim, true); }

}  // namespace peel::kernels
