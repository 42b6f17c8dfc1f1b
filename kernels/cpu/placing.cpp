// Elements taken from and put at flat places; values that meet at one place and are reduced there.
#include <algorithm>
#include <limits>

#include "kernels/cpu/rows.h"
#include "ops_generated/kernels.h"
#include "ops_generated/ops.h"

namespace peel::kernels {
namespace {

Tensor flat(const Tensor& t) { return rows_of(t, named_dims(std::nullopt, t.dim())).data; }

// Where the i-th element of a tensor lies, in elements from its first.
int64_t offset_of(const Tensor& t, int64_t i) {
  int64_t out = 0;
  for (size_t d = t.sizes().size(); d-- > 0;) {
    out += i % t.sizes()[d] * t.strides()[d];
    i /= t.sizes()[d];
  }
  return out;
}
int64_t wrapped_place(int64_t i, int64_t n) {
  if (i < -n || i >= n) throw IndexError("out of range: tried to access index " + std::to_string(i) + " on a tensor of " + std::to_string(n) + " elements.");
  return i < 0 ? i + n : i;
}
void need_long(const char* op, const Tensor& index) {
  if (index.dtype() != ScalarType::Long) throw Error(std::string(op) + "(): Expected a long tensor for index, but got " + to_string(index.dtype()));
}
void take_into(const Tensor& out, const Tensor& self, const Tensor& index) {
  need_long("take", index);
  if (self.numel() == 0 && index.numel() != 0) throw IndexError("take(): tried to take from an empty tensor");
  const Tensor places = flat(index), made = empty(index.sizes(), self.dtype());
  with_any_type(self.dtype(), "take_cpu", [&]<class T>(T) {
    for (int64_t i = 0; i < index.numel(); ++i) {
      made.data_as<T>()[i] = self.data_as<T>()[offset_of(self, wrapped_place(places.data_as<int64_t>()[i], self.numel()))];
    }
  });
  copy_elements(out, made);
}

}  // namespace

Tensor take(const Tensor& self, const Tensor& index) {
  const Tensor out = ops::empty_memory_format::call(index.sizes(), self.dtype(), Layout::Strided, self.device());
  take_into(out, self, index);
  return out;
}
Tensor& take_out(const Tensor& self, const Tensor& index, Tensor& out) {
  if (!std::ranges::equal(out.sizes(), index.sizes())) reshape_out(out, index.sizes());
  take_into(out, self, index);
  return out;
}
Tensor& put_(Tensor& self, const Tensor& index, const Tensor& source, bool accumulate) {
  need_long("put_", index);
  if (self.dtype() != source.dtype()) {
    throw Error(std::string("put_(): self and source expected to have the same dtype, but got self.dtype = ") + to_string(self.dtype()) + " and source.dtype = " + to_string(source.dtype()));
  }
  if (index.numel() != source.numel()) {
    throw IndexError("put_(): Expected source and index to have the same number of elements, but got source.numel() = " + std::to_string(source.numel()) + ", index.numel() = " +
                     std::to_string(index.numel()));
  }
  if (index.numel() == 0) return self;
  const Tensor places = flat(ops::reshape::call(index, source.sizes())), values = flat(source);
  with_any_type(self.dtype(), "take_put_cpu", [&]<class T>(T) {
    for (int64_t i = 0; i < index.numel(); ++i) {
      T& o = self.data_as<T>()[offset_of(self, wrapped_place(places.data_as<int64_t>()[i], self.numel()))];
      const T x = values.data_as<T>()[i];
      if constexpr (kIsComplex<T>) o = accumulate ? o + x : x;
      else o = accumulate ? static_cast<T>(static_cast<Math<T>>(o) + static_cast<Math<T>>(x)) : x;
    }
  });
  return self;
}
Tensor put(const Tensor& self, const Tensor& index, const Tensor& source, bool accumulate) {
  Tensor out = ops::clone::call(self, MemoryFormat::Preserve);
  return ops::put_::call(out, index, source, accumulate);
}

Tensor& index_fill_(Tensor& self, int64_t dim, const Tensor& index, const Tensor& value) {
  if (value.dim() != 0) throw Error("index_fill_ only supports a 0-dimensional value tensor, but got tensor with " + std::to_string(value.dim()) + " dimension(s).");
  return ops::index_fill__int_Scalar::call(self, dim, index, ops::item::call(value));
}
Tensor index_fill(const Tensor& self, int64_t dim, const Tensor& index, const Tensor& value) {
  Tensor out = ops::clone::call(self, MemoryFormat::Preserve);
  return ops::index_fill__int_Tensor::call(out, dim, index, value);
}

Tensor repeat_interleave(const Tensor& repeats, std::optional<int64_t> output_size) {
  if (repeats.dim() != 1) throw Error("repeat_interleave only accept 1D vector as repeat");
  if (repeats.dtype() != ScalarType::Long && repeats.dtype() != ScalarType::Int) throw Error("repeats has to be Long or Int tensor");
  if (repeats.numel() == 0) return ops::empty_like::call(repeats);
  const Tensor sums = ops::cumsum::call(repeats, 0);
  const int64_t total = output_size ? *output_size : ops::item::call(ops::select_int::call(sums, 0, -1)).value.to_int();
  if (!ops::item::call(ops::all::call(ops::ge_Scalar::call(repeats, 0))).value.to_bool()) throw Error("repeats can not be negative");
  const Tensor out = ops::empty_memory_format::call(SizeVector{total}, repeats.dtype(), Layout::Strided, repeats.device());
  const std::vector<int64_t> counts = whole_numbers_of(repeats);
  int64_t at = 0;
  for (size_t i = 0; i < counts.size(); ++i) {
    for (int64_t k = 0; k < counts[i] && at < total; ++k, ++at) {
      if (out.dtype() == ScalarType::Long) out.data_as<int64_t>()[at] = static_cast<int64_t>(i);
      else out.data_as<int32_t>()[at] = static_cast<int32_t>(i);
    }
  }
  return out;
}

namespace {

enum class How : uint8_t { kSum, kProduct, kMean, kLargest, kSmallest };
How how(std::string_view word, bool old_words) {
  if (old_words && word == "add") return How::kSum;
  if (old_words && word == "multiply") return How::kProduct;
  if (!old_words) {
    if (word == "sum") return How::kSum;
    if (word == "prod") return How::kProduct;
    if (word == "mean") return How::kMean;
    if (word == "amax") return How::kLargest;
    if (word == "amin") return How::kSmallest;
    throw Error("reduce argument must be either sum, prod, mean, amax or amin, got " + std::string(word));
  }
  throw Error("reduce argument must be either add or multiply.");
}

void check_places(const Tensor& self, int64_t d, const Tensor& index, const Tensor& src) {
  if (index.dtype() != ScalarType::Long && index.dtype() != ScalarType::Int) throw Error("scatter(): Expected dtype int32/int64 for index");
  if (self.dtype() != src.dtype()) throw Error("scatter(): Expected self.dtype to be equal to src.dtype");
  if (index.dim() != self.dim() && index.numel() > 0 && std::max<int64_t>(index.dim(), 1) != std::max<int64_t>(self.dim(), 1)) {
    throw Error("Index tensor must have the same number of dimensions as self tensor");
  }
  for (int64_t k = 0; k < index.dim(); ++k) {
    if (index.size(k) > src.size(k) || (k != d && index.size(k) > self.size(k))) {
      throw Error("Expected index " + to_text(index.sizes()) + " to be no larger than self " + to_text(self.sizes()) + " apart from dimension " + std::to_string(d) +
                  " and to be no larger size than src " + to_text(src.sizes()));
    }
  }
}

void reduce_into(const Tensor& self, int64_t d, const Tensor& index, const Tensor& src, How reduce) {
  const Tensor places = ops::to_dtype::call(index, ScalarType::Long);
  const int64_t size = self.dim() ? self.size(d) : 1, n = index.numel();
  with_type(self.dtype(), "scatter_reduce_", [&]<class T>(T) {
    using M = Math<T>;
    for (int64_t i = 0; i < n; ++i) {
      int64_t rest = i, to = 0, from = 0, at = 0;
      for (size_t k = index.sizes().size(); k-- > 0;) {
        const int64_t here = rest % index.sizes()[k];
        rest /= index.sizes()[k];
        at += here * places.strides()[k];
        from += here * src.strides()[k];
        if (static_cast<int64_t>(k) != d) to += here * self.strides()[k];
      }
      const int64_t along = places.data_as<int64_t>()[at];
      if (along < 0 || along >= size) {
        throw Error("index " + std::to_string(along) + " is out of bounds for dimension " + std::to_string(d) + " with size " + std::to_string(size));
      }
      T& o = self.data_as<T>()[to + (self.dim() ? along * self.strides()[static_cast<size_t>(d)] : 0)];
      const M a = static_cast<M>(o), b = static_cast<M>(src.data_as<T>()[from]);
      switch (reduce) {
        case How::kProduct: o = static_cast<T>(a * b); break;
        case How::kLargest: o = static_cast<T>(b != b ? b : a != a ? a : std::max(a, b)); break;
        case How::kSmallest: o = static_cast<T>(b != b ? b : a != a ? a : std::min(a, b)); break;
        default: o = static_cast<T>(a + b);
      }
    }
  });
}

// What a place that doesn't count itself begins with.
Scalar start_of(How reduce, ScalarType t) {
  const bool floating = is_floating(t);
  switch (reduce) {
    case How::kProduct: return floating ? Scalar(1.0) : Scalar(int64_t{1});
    case How::kLargest:
      return floating ? Scalar(-std::numeric_limits<double>::infinity())
                      : Scalar(t == ScalarType::Int ? int64_t{std::numeric_limits<int32_t>::lowest()} : std::numeric_limits<int64_t>::lowest());
    case How::kSmallest:
      return floating ? Scalar(std::numeric_limits<double>::infinity()) : Scalar(t == ScalarType::Int ? int64_t{std::numeric_limits<int32_t>::max()} : std::numeric_limits<int64_t>::max());
    default: return floating ? Scalar(0.0) : Scalar(int64_t{0});
  }
}

void scatter_reduce_into(Tensor& out, int64_t dim, const Tensor& index, const Tensor& src, std::string_view word, bool include_self) {
  const int64_t d = wrap_dimension(dim, out.dim());
  const How reduce = how(word, false);
  check_places(out, d, index, src);
  if (index.numel() == 0) return;
  if (!include_self) ops::scatter__value::call(out, dim, index, start_of(reduce, out.dtype()));
  reduce_into(out, d, index, src, reduce);
  if (reduce != How::kMean) return;
  const Tensor one = ops::ones_like::call(src);
  Tensor count = include_self ? ops::ones_like::call(out) : ops::zeros_like::call(out);
  ops::scatter_add_::call(count, dim, index, one);
  ops::masked_fill__Scalar::call(count, ops::eq_Scalar::call(count, 0), 1);
  if (is_floating(out.dtype())) ops::div__Tensor::call(out, count);
  else ops::div__Tensor_mode::call(out, count, "floor");
}

}  // namespace

Tensor scatter_reduce(const Tensor& self, int64_t dim, const Tensor& index, const Tensor& src, std::string_view reduce, bool include_self) {
  Tensor out = empty_strided(self.sizes(), like_strides(self.sizes(), self.strides()), self.dtype(), self.device());
  ops::copy_::call(out, self);
  ops::copy_::call(out, self);
  scatter_reduce_into(out, dim, index, src, reduce, include_self);
  return out;
}
Tensor& scatter_reduce_(Tensor& self, int64_t dim, const Tensor& index, const Tensor& src, std::string_view reduce, bool include_self) {
  scatter_reduce_into(self, dim, index, src, reduce, include_self);
  return self;
}
Tensor& scatter_(Tensor& self, int64_t dim, const Tensor& index, const Tensor& src, std::string_view reduce) {
  const int64_t d = wrap_dimension(dim, self.dim());
  const How by = how(reduce, true);
  check_places(self, d, index, src);
  if (index.numel() > 0) reduce_into(self, d, index, src, by);
  return self;
}
Tensor& scatter_(Tensor& self, int64_t dim, const Tensor& index, const Scalar& value, std::string_view reduce) {
  const int64_t d = wrap_dimension(dim, self.dim());
  const How by = how(reduce, true);
  const Tensor one = empty(index.sizes(), self.dtype());
  with_type(self.dtype(), "scatter_fill_", [&]<class T>(T) { std::fill_n(one.data_as<T>(), one.numel(), as<T>(value)); });
  check_places(self, d, index, one);
  if (index.numel() > 0) reduce_into(self, d, index, one, by);
  return self;
}

}  // namespace peel::kernels
