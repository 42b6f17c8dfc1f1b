// What is told of a tensor's values while its thread stands: read from memory, element by element.
#pragma once
#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstdint>
#include <limits>
#include <string>
#include <type_traits>
#include <vector>

#include "tracer/wire/control.h"

namespace peel::wire {

constexpr int64_t kMostElements = 1 << 22;  // looked at; a second at most
constexpr int64_t kShownElements = 6;

struct Seen {
  int64_t count = 0, nan = 0, infinite = 0;
  double least = std::numeric_limits<double>::infinity(), most = -least, sum = 0;
  std::string first;

  void show(const std::string& text) { if (count <= kShownElements) first += (first.empty() ? "" : ", ") + text; }
};

inline std::string number_text(double x) {
  char text[32];
  const auto end = std::to_chars(text, text + sizeof text, x, std::chars_format::general, 6);
  return std::string(text, end.ptr);
}

template <class T>
void see(Seen& s, T x) {
  s.count++;
  if constexpr (requires { x.imag(); }) {  // complex: no order; only what is finite is counted
    const double re = static_cast<double>(x.real()), im = static_cast<double>(x.imag());
    if (std::isnan(re) || std::isnan(im)) s.nan++;
    else if (std::isinf(re) || std::isinf(im)) s.infinite++;
    s.show(number_text(re) + (im < 0 || std::signbit(im) ? "" : "+") + number_text(im) + "j");
  } else {
    const double d = static_cast<double>(x);
    if (std::isnan(d)) s.nan++;
    else {
      s.least = std::min(s.least, d), s.most = std::max(s.most, d);
      if (std::isinf(d)) s.infinite++;
      else s.sum += d;
    }
    if constexpr (std::is_same_v<T, bool>) s.show(x ? "True" : "False");
    else if constexpr (std::is_integral_v<T>) s.show(std::to_string(x));
    else s.show(number_text(d));
  }
}

/// Offsets of the elements from the first one, in order, the last dimension fastest, up to kMostElements, until `visit` is false.
template <class Visit>
void each_offset(const int64_t* sizes, const int64_t* strides, size_t dims, Visit&& visit) {
  int64_t left = 1;
  for (size_t d = 0; d < dims; d++) left = sizes[d] > 0 && left > kMostElements / sizes[d] ? kMostElements : left * sizes[d];
  std::vector<int64_t> at(dims);
  int64_t offset = 0;
  for (; left > 0 && visit(offset); left--) {
    for (size_t d = dims; d-- > 0;) {
      offset += strides[d];
      if (++at[d] < sizes[d]) break;
      offset -= at[d] * strides[d];
      at[d] = 0;
    }
  }
}

/// What can be read of a tensor: `elements` of them from the one at offset `first` on, which is at `data`.
struct Readable {
  const void* data;
  int64_t first = 0, elements = INT64_MAX;
};

/// Of T, those that can be read before the first that can't. Strides in elements.
template <class T>
void see_all(Seen& s, const Readable& m, const int64_t* sizes, const int64_t* strides, size_t dims, bool negative, bool conjugate) {
  const T* data = static_cast<const T*>(m.data);
  each_offset(sizes, strides, dims, [&](int64_t offset) {
    if (m.elements != INT64_MAX && (offset < m.first || offset - m.first >= m.elements)) return false;
    T x = data[offset - m.first];
    if constexpr (!std::is_same_v<T, bool>) if (negative) x = static_cast<T>(-x);
    if constexpr (requires { x.imag(); }) if (conjugate) x = T(x.real(), -x.imag());
    see(s, x);
    return true;
  });
}

/// Sizes and strides are believed only as far as they stay in the storage. All sizes are above 0.
inline bool stays_inside(const int64_t* sizes, const int64_t* strides, size_t dims, int64_t offset, size_t element, size_t storage_bytes) {
  __int128 low = offset, high = low;
  for (size_t d = 0; d < dims; d++) {
    const __int128 reach = static_cast<__int128>(sizes[d] - 1) * strides[d];
    (reach < 0 ? low : high) += reach;
  }
  return low >= 0 && (high + 1) * static_cast<__int128>(element) <= static_cast<__int128>(storage_bytes);
}

/// A row of Ask::kTensors. `why_not`: its values could not be read; "" = they are in `s`, of `elements`.
inline void tell(AnswerRows& rows, size_t position, int64_t list_index, uintptr_t storage, const Seen& s, const std::string& why_not, int64_t elements) {
  char address[20];
  *std::to_chars(address, address + sizeof address - 1, storage, 16).ptr = 0;
  const std::string where = std::to_string(position), in_list = std::to_string(list_index);
  if (!why_not.empty()) return (void)rows.row({where, in_list, address, why_not});
  const auto n = [](int64_t x) { return std::to_string(x); };
  const bool ordered = s.least <= s.most;
  const int64_t finite = s.count - s.nan - s.infinite;
  rows.row({where, in_list, address, n(s.count), ordered ? number_text(s.least) : "", ordered ? number_text(s.most) : "",
            ordered && finite ? number_text(s.sum / static_cast<double>(finite)) : "", n(s.nan), n(s.infinite), s.first + (elements > kShownElements ? ", ..." : "")});
}

}  // namespace peel::wire
