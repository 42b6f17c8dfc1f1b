// Sizes and strides: everything about a tensor's shape that needs no memory. Rules as measured on 2.13.0
// (tests/conformance/tensor_geometry.py); errors have PyTorch's words.
#pragma once
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace peel::core {

using Sizes = std::span<const int64_t>;
using SizeVector = std::vector<int64_t>;

enum class MemoryFormat : int8_t { Contiguous, Preserve, ChannelsLast, ChannelsLast3d };
constexpr const char* schema_name(MemoryFormat) { return "MemoryFormat"; }

/// `[2, 3]`.
std::string to_text(Sizes);
int64_t element_count(Sizes);
/// Row-major; a size of 0 counts as 1 in the strides before it.
SizeVector contiguous_strides(Sizes);
/// Channels innermost. Of 4 or 5 dimensions.
SizeVector channels_last_strides(Sizes);
/// Elements lie in the order of the format without gaps. Dimensions of size 1 may have any stride; an empty tensor is contiguous.
bool is_contiguous(Sizes sizes, Sizes strides, MemoryFormat = MemoryFormat::Contiguous);
/// Some permutation of the dimensions is contiguous.
bool is_non_overlapping_and_dense(Sizes sizes, Sizes strides);
/// Bytes that a storage must have: of a row-major tensor; of one with strides. 0 when a size is 0.
size_t storage_bytes(Sizes sizes, size_t element_size);
size_t storage_bytes(Sizes sizes, Sizes strides, int64_t offset, size_t element_size);

/// 0 <= result < dimensions for -dimensions <= d < dimensions; IndexError else. A scalar counts as one dimension.
int64_t wrap_dimension(int64_t d, int64_t dimensions);
/// `shape` with its one -1 filled in; Error when that cannot be.
SizeVector infer_size(Sizes shape, int64_t elements);
/// Strides with which a tensor of this shape sees the same elements in the same order without a copy; none when impossible.
std::optional<SizeVector> view_strides(Sizes sizes, Sizes strides, Sizes shape);
/// Shape of an element-wise result.
SizeVector broadcast(Sizes a, Sizes b);

struct Geometry {
  SizeVector sizes, strides;
};
/// `expand`: dimensions of size 1 repeat with stride 0; -1 keeps a size.
Geometry expand(Sizes sizes, Sizes strides, Sizes target);
/// What `empty_like` gives for `preserve_format`: the source's strides when it is dense, else row-major in the order of its strides.
SizeVector like_strides(Sizes sizes, Sizes strides);
/// Strides of the result of an element-wise operator: those that all operands share when they are dense, else row-major in an order
/// of dimensions that follows the operands' strides, the first operand first.
SizeVector elementwise_strides(std::span<const Geometry> operands, Sizes result);

/// Whether two elements of one tensor share memory; kTooHard when only a search could tell.
enum class Overlap : uint8_t { kNo, kYes, kTooHard };
Overlap internal_overlap(Sizes sizes, Sizes strides);
/// Whether two tensors of one storage share memory: the same elements alike, or some.
enum class SharedMemory : uint8_t { kNone, kSame, kPartial, kTooHard };
SharedMemory shared_memory(const Geometry& a, int64_t a_offset, const Geometry& b, int64_t b_offset);

}  // namespace peel::core
