#include "core/tensor/geometry.h"

#include <algorithm>
#include <numeric>

#include "core/dispatch/error.h"

namespace peel::core {
namespace {

// Dimensions from the innermost out.
std::span<const int> channels_last_order(size_t dimensions) {
  static constexpr int two[] = {1, 3, 2, 0}, three[] = {1, 4, 3, 2, 0};
  if (dimensions == 4) return two;
  if (dimensions == 5) return three;
  return {};
}

bool contiguous_in(Sizes sizes, Sizes strides, std::span<const int> order) {
  int64_t expected = 1;
  for (const int d : order) {
    if (sizes[d] == 1) continue;
    if (strides[d] != expected) return false;
    expected *= sizes[d];
  }
  return true;
}

// Row-major strides over the dimensions ordered by the operands' strides, each operand asked in turn. Dimensions that some operand
// repeats (stride 0) cannot be compared by it: they stay where they are, which is why this is an insertion and no sort.
SizeVector ordered_strides(Sizes sizes, const std::vector<SizeVector>& operands, bool clamp) {
  std::vector<size_t> order(sizes.size());
  std::iota(order.rbegin(), order.rend(), size_t{0});
  const auto compare = [&](size_t a, size_t b) {  // -1: a is inside of b, 1: outside, 0: cannot tell
    for (const SizeVector& strides : operands) {
      if (strides[a] == 0 || strides[b] == 0) continue;
      if (strides[a] != strides[b]) return strides[a] < strides[b] ? -1 : 1;
      if (sizes[a] > sizes[b]) return 1;
    }
    return 0;
  };
  for (size_t i = 1; i < order.size(); ++i) {
    size_t moving = i;
    for (size_t j = i; j-- > 0;) {
      const int way = compare(order[j], order[moving]);
      if (way < 0) break;
      if (way == 0) continue;
      std::swap(order[j], order[moving]);
      moving = j;
    }
  }
  SizeVector out(sizes.size());
  const bool row_major = std::is_sorted(order.rbegin(), order.rend());
  int64_t stride = 1;
  for (const size_t d : order) {
    out[d] = stride;
    stride *= clamp || row_major ? std::max<int64_t>(sizes[d], 1) : sizes[d];
  }
  return out;
}

}  // namespace

std::string to_text(Sizes s) {
  std::string out = "[";
  for (const int64_t v : s) out += (out.size() > 1 ? ", " : "") + std::to_string(v);
  return out + "]";
}

int64_t element_count(Sizes s) {
  int64_t n = 1;
  for (const int64_t v : s) {
    if (__builtin_mul_overflow(n, v, &n)) throw Error("numel: integer multiplication overflow");
  }
  return n;
}

SizeVector contiguous_strides(Sizes sizes) {
  SizeVector out(sizes.size());
  int64_t stride = 1;
  for (size_t d = sizes.size(); d-- > 0;) {
    out[d] = stride;
    // May wrap: the size of the storage is checked apart.
    stride = static_cast<int64_t>(static_cast<uint64_t>(stride) * static_cast<uint64_t>(std::max<int64_t>(sizes[d], 1)));
  }
  return out;
}

SizeVector channels_last_strides(Sizes sizes) {
  const auto order = channels_last_order(sizes.size());
  if (order.empty()) throw Error("required rank " + std::string(sizes.size() < 5 ? "4" : "5") + " tensor to use channels_last format");
  SizeVector out(sizes.size());
  int64_t stride = 1;
  for (const int d : order) {
    out[static_cast<size_t>(d)] = stride;
    stride *= sizes[static_cast<size_t>(d)];  // a size of 0 makes the rest 0, unlike row-major strides
  }
  return out;
}

bool is_contiguous(Sizes sizes, Sizes strides, MemoryFormat format) {
  if (format == MemoryFormat::ChannelsLast || format == MemoryFormat::ChannelsLast3d) {
    const size_t dimensions = format == MemoryFormat::ChannelsLast ? 4 : 5;
    return sizes.size() == dimensions && contiguous_in(sizes, strides, channels_last_order(dimensions));
  }
  if (element_count(sizes) == 0) return true;
  int64_t expected = 1;
  for (size_t d = sizes.size(); d-- > 0;) {
    if (sizes[d] == 1) continue;
    if (strides[d] != expected) return false;
    expected *= sizes[d];
  }
  return true;
}

bool is_non_overlapping_and_dense(Sizes sizes, Sizes strides) {
  if (is_contiguous(sizes, strides)) return true;
  std::vector<int> order;
  for (size_t d = 0; d < sizes.size(); ++d) {
    if (sizes[d] != 1) order.push_back(static_cast<int>(d));
  }
  std::stable_sort(order.begin(), order.end(), [&](int a, int b) { return strides[a] < strides[b]; });
  return contiguous_in(sizes, strides, order);
}

size_t storage_bytes(Sizes sizes, size_t element_size) {
  if (std::find(sizes.begin(), sizes.end(), 0) != sizes.end()) return 0;
  auto bytes = static_cast<int64_t>(element_size);
  for (const int64_t s : sizes) {
    if (__builtin_mul_overflow(bytes, s, &bytes)) throw Error("Storage size calculation overflowed with sizes=" + to_text(sizes));
  }
  return static_cast<size_t>(bytes);
}

size_t storage_bytes(Sizes sizes, Sizes strides, int64_t offset, size_t element_size) {
  int64_t end = 0;
  bool overflow = __builtin_add_overflow(offset, 1, &end);
  for (size_t d = 0; d < sizes.size(); ++d) {
    if (sizes[d] == 0) return 0;
    int64_t step = 0;
    overflow = overflow || __builtin_mul_overflow(sizes[d] - 1, strides[d], &step) || __builtin_add_overflow(end, step, &end);
  }
  if (overflow || __builtin_mul_overflow(end, static_cast<int64_t>(element_size), &end)) {
    throw Error("Storage size calculation overflowed with sizes=" + to_text(sizes) + " and strides=" + to_text(strides));
  }
  return static_cast<size_t>(end);
}

int64_t wrap_dimension(int64_t d, int64_t dimensions) {
  const int64_t n = std::max<int64_t>(dimensions, 1);
  if (d < -n || d >= n) {
    throw IndexError("Dimension out of range (expected to be in range of [" + std::to_string(-n) + ", " + std::to_string(n - 1) + "], but got " +
                     std::to_string(d) + ")");
  }
  return d < 0 ? d + n : d;
}

SizeVector infer_size(Sizes shape, int64_t elements) {
  SizeVector out(shape.begin(), shape.end());
  std::optional<size_t> open;
  int64_t known = 1;
  for (size_t d = 0; d < out.size(); ++d) {
    if (out[d] == -1) {
      if (open) throw Error("only one dimension can be inferred");
      open = d;
    } else if (out[d] < 0) {
      throw Error("invalid shape dimension " + std::to_string(out[d]) + " at index " + std::to_string(d) + " of shape " + to_text(shape));
    } else if (__builtin_mul_overflow(known, out[d], &known)) {
      throw Error("numel: integer multiplication overflow");
    }
  }
  if (open && known != 0 && elements % known == 0) {
    out[*open] = elements / known;
    return out;
  }
  if (known != elements) throw Error("shape '" + to_text(shape) + "' is invalid for input of size " + std::to_string(elements));
  if (open) {  // both are 0
    throw Error("cannot reshape tensor of 0 elements into shape " + to_text(shape) +
                " because the unspecified dimension size -1 can be any value and is ambiguous");
  }
  return out;
}

// Both shapes are walked from the innermost dimension; a stretch of old dimensions that are contiguous among each other must
// be filled by whole new ones.
std::optional<SizeVector> view_strides(Sizes sizes, Sizes strides, Sizes shape) {
  if (sizes.empty()) return SizeVector(shape.size(), 1);
  if (element_count(sizes) == 0) {
    if (std::equal(sizes.begin(), sizes.end(), shape.begin(), shape.end())) return SizeVector(strides.begin(), strides.end());
    return contiguous_strides(shape);
  }
  SizeVector out(shape.size());
  auto to = static_cast<ptrdiff_t>(shape.size()) - 1;
  int64_t base = strides.back(), old_elements = 1, new_elements = 1;
  for (auto d = static_cast<ptrdiff_t>(sizes.size()) - 1; d >= 0; --d) {
    old_elements *= sizes[static_cast<size_t>(d)];
    const bool ends = d == 0 || (sizes[static_cast<size_t>(d) - 1] != 1 && strides[static_cast<size_t>(d) - 1] != old_elements * base);
    if (!ends) continue;
    while (to >= 0 && (new_elements < old_elements || shape[static_cast<size_t>(to)] == 1)) {
      out[static_cast<size_t>(to)] = new_elements * base;
      new_elements *= shape[static_cast<size_t>(to)];
      --to;
    }
    if (new_elements != old_elements) return std::nullopt;
    if (d > 0) {
      base = strides[static_cast<size_t>(d) - 1];
      old_elements = new_elements = 1;
    }
  }
  if (to != -1) return std::nullopt;
  return out;
}

SizeVector broadcast(Sizes a, Sizes b) {
  SizeVector out(std::max(a.size(), b.size()));
  for (size_t i = 0; i < out.size(); ++i) {
    const size_t d = out.size() - 1 - i;
    const int64_t x = i < a.size() ? a[a.size() - 1 - i] : 1, y = i < b.size() ? b[b.size() - 1 - i] : 1;
    if (x != y && x != 1 && y != 1) {
      throw Error("The size of tensor a (" + std::to_string(x) + ") must match the size of tensor b (" + std::to_string(y) +
                  ") at non-singleton dimension " + std::to_string(d));
    }
    out[d] = x == 1 ? y : x;
  }
  return out;
}

Geometry expand(Sizes sizes, Sizes strides, Sizes target) {
  if (target.size() < sizes.size()) {
    throw Error("the number of sizes provided (" + std::to_string(target.size()) +
                ") must be greater or equal to the number of dimensions in the tensor (" + std::to_string(sizes.size()) + ")");
  }
  Geometry out{SizeVector(target.size()), SizeVector(target.size())};
  for (size_t i = 0; i < target.size(); ++i) {
    const size_t d = target.size() - 1 - i;
    const bool there = i < sizes.size();
    const size_t from = there ? sizes.size() - 1 - i : 0;
    const int64_t size = there ? sizes[from] : 1;
    // A dimension that is not there goes on where the one inside of it ends; all those of a scalar stay in place.
    int64_t stride = there ? strides[from] : (d + 1 < target.size() ? out.sizes[d + 1] * out.strides[d + 1] : 0);
    int64_t wanted = target[d];
    if (wanted == -1) {
      if (!there) throw Error("The expanded size of the tensor (-1) isn't allowed in a leading, non-existing dimension " + std::to_string(d));
      wanted = size;
    }
    if (size != wanted) {
      if (size != 1) {
        throw Error("The expanded size of the tensor (" + std::to_string(wanted) + ") must match the existing size (" +
                    std::to_string(size) + ") at non-singleton dimension " + std::to_string(d) + ".  Target sizes: " + to_text(target) +
                    ".  Tensor sizes: " + to_text(sizes));
      }
      stride = 0;
    }
    out.sizes[d] = wanted;
    out.strides[d] = stride;
  }
  return out;
}

SizeVector like_strides(Sizes sizes, Sizes strides) {
  if (is_non_overlapping_and_dense(sizes, strides)) return SizeVector(strides.begin(), strides.end());
  return ordered_strides(sizes, {SizeVector(strides.begin(), strides.end())}, true);
}

SizeVector elementwise_strides(std::span<const Geometry> operands, Sizes result) {
  const auto all = [&](auto holds) { return std::all_of(operands.begin(), operands.end(), holds); };
  if (all([&](const Geometry& g) { return std::equal(g.sizes.begin(), g.sizes.end(), result.begin(), result.end()); })) {
    if (all([](const Geometry& g) { return is_contiguous(g.sizes, g.strides); })) return contiguous_strides(result);
    if (all([](const Geometry& g) { return is_contiguous(g.sizes, g.strides, MemoryFormat::ChannelsLast); })) return channels_last_strides(result);
    if (all([&](const Geometry& g) { return g.strides == operands[0].strides && is_non_overlapping_and_dense(g.sizes, g.strides); })) {
      return operands[0].strides;
    }
  }
  std::vector<SizeVector> strides;
  for (const Geometry& g : operands) {
    SizeVector full(result.size());
    const size_t missing = result.size() - g.sizes.size();
    for (size_t d = 0; d < g.sizes.size(); ++d) full[missing + d] = g.sizes[d] == 1 && result[missing + d] != 1 ? 0 : g.strides[d];
    strides.push_back(std::move(full));
  }
  return ordered_strides(result, strides, false);
}

Overlap internal_overlap(Sizes sizes, Sizes strides) {
  if (is_non_overlapping_and_dense(sizes, strides)) return Overlap::kNo;
  for (size_t d = 0; d < sizes.size(); ++d) {
    if (strides[d] == 0 && sizes[d] > 1) return Overlap::kYes;
  }
  return Overlap::kTooHard;
}

SharedMemory shared_memory(const Geometry& a, int64_t a_offset, const Geometry& b, int64_t b_offset) {
  const int64_t a_elements = element_count(a.sizes), b_elements = element_count(b.sizes);
  if (a_elements == 0 || b_elements == 0) return SharedMemory::kNone;
  if (!is_non_overlapping_and_dense(a.sizes, a.strides) || !is_non_overlapping_and_dense(b.sizes, b.strides)) return SharedMemory::kTooHard;
  const int64_t a_end = a_offset + a_elements, b_end = b_offset + b_elements;
  if (a_offset == b_offset && a_end == b_end) return a.strides == b.strides ? SharedMemory::kSame : SharedMemory::kPartial;
  return a_offset < b_end && b_offset < a_end ? SharedMemory::kPartial : SharedMemory::kNone;
}

}  // namespace peel::core
