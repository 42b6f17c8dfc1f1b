// Einstein's sums: operands get the same dimensions in one order (the output's, then the summed ones), then pairs are multiplied from left
// to right, each by bmm where something is summed, else by mul.
#include <algorithm>
#include <map>

#include "core/dispatch/error.h"
#include "kernels/composite/pair.h"
#include "ops_generated/kernels.h"
#include "ops_generated/ops.h"

namespace peel::kernels {
namespace {

constexpr char kEllipsis = '.';

struct Equation {
  std::vector<std::string> operands;  // labels; "..." is one '.'
  std::optional<std::string> output;
};

std::string labels(std::string_view text, bool output, size_t operand) {
  std::string out;
  for (size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (c == ' ') continue;
    if (c == '.') {
      if (out.find(kEllipsis) != std::string::npos || text.substr(i, 3) != "...") {
        throw Error(output ? "einsum(): found '.' for output but an ellipsis (...) was already found"
                           : "einsum(): found '.' for operand " + std::to_string(operand) + " that is not part of any ellipsis");
      }
      i += 2;
      out += kEllipsis;
    } else if (std::isalpha(static_cast<unsigned char>(c))) {
      out += c;
    } else {
      throw Error(std::string("einsum(): invalid subscript given at index ") + std::to_string(i) + " in the equation string, subscripts must be in [a-zA-Z]");
    }
  }
  return out;
}

Equation parse(std::string_view text, size_t count) {
  Equation e;
  const size_t arrow = text.find("->");
  std::string_view left = text.substr(0, arrow);
  for (size_t start = 0; start <= left.size();) {
    const size_t comma = std::min(left.find(',', start), left.size());
    e.operands.push_back(labels(left.substr(start, comma - start), false, e.operands.size()));
    start = comma + 1;
  }
  if (e.operands.size() > count) throw Error("einsum(): more subscripts in the equation than operands"); // as many subscripts as operands
  if (e.operands.size() < count) throw Error("einsum(): fewer subscripts in the equation than operands");
  if (arrow != std::string_view::npos) e.output = labels(text.substr(arrow + 2), true, 0);
  return e;
}

}  // namespace

Tensor pair(const Tensor& a, const Tensor& b, const SizeVector& summed) {
  SizeVector both, only_a, only_b;
  int64_t both_size = 1, a_size = 1, b_size = 1, sum_size = 1;
  Tensor left = a, right = b;
  for (int64_t d = 0; d < a.dim(); ++d) {
    const bool in_a = left.size(d) != 1, in_b = right.size(d) != 1;
    if (std::ranges::find(summed, d) != summed.end()) {
      if (in_a && in_b) sum_size *= left.size(d);
      else if (in_a) left = ops::sum_dim_IntList::call(left, SizeVector{d}, true);
      else if (in_b) right = ops::sum_dim_IntList::call(right, SizeVector{d}, true);
    } else if (in_a && in_b) {
      both.push_back(d);
      both_size *= left.size(d);
    } else if (in_a) {
      only_a.push_back(d);
      a_size *= left.size(d);
    } else {
      only_b.push_back(d);
      b_size *= right.size(d);
    }
  }
  const auto joined = [](std::initializer_list<const SizeVector*> parts) {
    SizeVector out;
    for (const SizeVector* p : parts) out.insert(out.end(), p->begin(), p->end());
    return out;
  };
  SizeVector shape;
  for (const int64_t d : both) shape.push_back(left.size(d));
  for (const int64_t d : only_a) shape.push_back(left.size(d));
  shape.insert(shape.end(), summed.size(), 1);
  for (const int64_t d : only_b) shape.push_back(right.size(d));
  const SizeVector order = joined({&both, &only_a, &summed, &only_b});
  SizeVector back(order.size());
  for (size_t i = 0; i < order.size(); ++i) back[static_cast<size_t>(order[i])] = static_cast<int64_t>(i);
  left = ops::reshape::call(ops::permute::call(left, order), SizeVector{both_size, a_size, sum_size});
  right = ops::reshape::call(ops::permute::call(right, joined({&both, &summed, &only_b, &only_a})), SizeVector{both_size, sum_size, b_size});
  return ops::permute::call(ops::view::call(ops::bmm::call(left, right), shape), back);
}

Tensor einsum(std::string_view equation, std::span<const Tensor> tensors, std::optional<Sizes>) {
  if (tensors.empty()) throw Error("einsum(): must provide at least one operand");
  const Equation e = parse(equation, tensors.size());
  std::map<char, int> uses;
  int64_t ellipsis = 0;
  for (size_t i = 0; i < tensors.size(); ++i) {
    const std::string& l = e.operands[i];
    const bool dots = l.find(kEllipsis) != std::string::npos;
    const auto named = static_cast<int64_t>(l.size()) - dots;
    if (dots ? named > tensors[i].dim() : named != tensors[i].dim()) {
      throw Error("einsum(): the number of subscripts in the equation (" + std::to_string(named) + ") " +
                  (dots ? "is more than the number of dimensions (" : "does not match the number of dimensions (") + std::to_string(tensors[i].dim()) +
                  ") for operand " + std::to_string(i) + (dots ? "" : " and no ellipsis was given"));
    }
    if (dots) ellipsis = std::max(ellipsis, tensors[i].dim() - named);
    for (const char c : l) ++uses[c];
  }
  std::string output;
  if (e.output) output = *e.output;
  else {  // the ellipsis, then what appears once, upper case first
    output = std::string(1, kEllipsis);
    for (const auto& [c, n] : uses) {
      if (c != kEllipsis && n == 1) output += c;
    }
  }
  std::map<char, int64_t> place;
  int64_t dims = 0, dots_at = 0;
  for (const char c : output) {
    if (c == kEllipsis) {
      dots_at = dims;
      dims += ellipsis;
      place[c] = dots_at;
      continue;
    }
    if (place.contains(c)) throw Error(std::string("einsum(): output subscript ") + c + " appears more than once in the output");
    if (!uses.contains(c)) throw Error(std::string("einsum(): output subscript ") + c + " does not appear in the equation for any input operand");
    place[c] = dims++;
  }
  const int64_t out_dims = dims;
  if (!place.contains(kEllipsis)) {  // summed as well
    dots_at = dims;
    dims += ellipsis;
  }
  for (const auto& [c, n] : uses) {
    if (c != kEllipsis && !place.contains(c)) place[c] = dims++;
  }
  std::vector<Tensor> operands;
  for (size_t i = 0; i < tensors.size(); ++i) {
    SizeVector order(static_cast<size_t>(dims), -1);
    std::map<char, int64_t> seen;
    Tensor t = tensors[i];
    const std::string& l = e.operands[i];
    int64_t at = 0;
    for (const char c : l) {
      if (c == kEllipsis) {
        const int64_t missing = ellipsis - (tensors[i].dim() - static_cast<int64_t>(l.size()) + 1);
        for (int64_t k = 0; k < missing; ++k) t = ops::unsqueeze::call(t, at);
        for (int64_t k = 0; k < ellipsis; ++k) order[static_cast<size_t>(dots_at + k)] = at++;
      } else if (const auto found = seen.find(c); found != seen.end()) {
        if (t.size(found->second) != t.size(at)) {
          throw Error(std::string("einsum(): subscript ") + c + " is repeated for operand " + std::to_string(i) + " but the sizes don't match, " +
                      std::to_string(t.size(at)) + " != " + std::to_string(t.size(found->second)));
        }
        t = ops::movedim_int::call(ops::diagonal::call(t, 0, found->second, at), -1, found->second);
      } else {
        seen[c] = at;
        order[static_cast<size_t>(place[c])] = at++;
      }
    }
    for (int64_t& o : order) {
      if (o != -1) continue;
      t = ops::unsqueeze::call(t, -1);
      o = at++;
    }
    operands.push_back(ops::permute::call(t, order));
  }
  std::vector<int> counts(static_cast<size_t>(dims));
  for (const Tensor& t : operands) {
    for (size_t d = 0; d < counts.size(); ++d) counts[d] += t.sizes()[d] != 1;
  }
  Tensor result = operands[0];
  for (size_t i = 1; i < operands.size(); ++i) {
    Tensor other = operands[i];
    SizeVector summed, of_result, of_other;
    for (int64_t d = out_dims; d < dims; ++d) {
      int& count = counts[static_cast<size_t>(d)];
      if (result.size(d) != 1 && other.size(d) != 1) {
        if (--count != 1) continue;
        summed.push_back(d);
        count = 0;
      } else if (count == 1 && (result.size(d) != 1 || other.size(d) != 1)) {
        (result.size(d) != 1 ? of_result : of_other).push_back(d);
        count = 0;
      }
    }
    if (!of_result.empty()) result = ops::sum_dim_IntList::call(result, Sizes(of_result), true);
    if (!of_other.empty()) other = ops::sum_dim_IntList::call(other, Sizes(of_other), true);
    result = summed.empty() ? ops::mul_Tensor::call(result, other) : pair(result, other, summed);
  }
  if (dims == out_dims) return result;
  if (operands.size() > 1) return ops::view::call(result, SizeVector(result.sizes().begin(), result.sizes().begin() + out_dims));
  SizeVector rest;
  for (int64_t d = out_dims; d < dims; ++d) rest.push_back(d);
  return ops::sum_dim_IntList::call(result, Sizes(rest), false);
}

}  // namespace peel::kernels
