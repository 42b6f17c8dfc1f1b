// Answers questions about shapes and new tensors, as peel_core_replay does about dispatch: fields between tabs, lists of
// numbers between commas, "." ends an answer.
#include <functional>
#include <iostream>
#include <sstream>

#include "core/dispatch/error.h"
#include "core/tensor/promotion.h"
#include "core/tensor/tensor.h"

using namespace peel::core;

namespace {

std::vector<std::string> split(const std::string& line, char between) {
  std::vector<std::string> out;
  std::string field;
  std::istringstream in(line);
  while (std::getline(in, field, between)) out.push_back(field);
  return out;
}

SizeVector numbers(const std::string& text) {
  SizeVector out;
  for (const std::string& s : split(text, ',')) {
    if (s != "-") out.push_back(std::stoll(s));  // "-" alone: an empty list
  }
  return out;
}

struct NoGraph final : AutogradMeta {
  bool requires_grad() const override { return on; }
  void set_requires_grad(bool b) override { on = b; }
  bool on = false;
};
std::unique_ptr<AutogradMeta> no_graph() { return std::make_unique<NoGraph>(); }

// Keys and versions of new tensors, views and detached ones, in normal and inference mode, and what is refused there.
void construction() {
  const auto say = [](const char* what, const Tensor& t) {
    std::cout << what << " 0x" << std::hex << t.keys().raw() << std::dec << ' ' << t.is_inference() << ' '
              << (t.is_inference() ? -1 : static_cast<int>(t.impl().current_version())) << '\n';
  };
  const auto refused = [](const char* what, const std::function<void()>& f) {
    try {
      f();
      std::cout << what << " done\n";
    } catch (const Error& e) {
      std::cout << what << ' ' << e.what() << '\n';
    }
  };
  const SizeVector two{2}, view{2, 1}, ones{1, 1};
  const auto make = [&](ScalarType t = ScalarType::Float, uint8_t device = 0) { return empty(two, t, Device{device, -1}); };
  const Tensor normal = make();
  say("cpu", normal);
  say("long", make(ScalarType::Long));
  say("meta", make(ScalarType::Float, 14));
  {
    GradMode no_grad(false);
    say("no_grad cpu", make());
  }
  normal.impl().bump_version();
  Tensor inference, view_inside;
  {
    InferenceMode mode(true);
    inference = make();
    say("inference cpu", inference);
    say("inference meta", make(ScalarType::Float, 14));
    view_inside = view_of(normal, view, ones, 0);
    view_inside.impl().version = normal.impl().version;  // as ADInplaceOrView does
    say("inference view of normal", view_inside);
    normal.impl().bump_version();
    inference.impl().bump_version();
    refused("inference requires_grad inside", [&] { inference.impl().set_requires_grad(true, no_graph); });
    inference.impl().set_requires_grad(false, no_graph);
  }
  say("normal after", normal);
  say("its view after", view_inside);
  say("view of inference", view_of(inference, view, ones, 0));
  say("detach", Tensor(Ref<KeyedObject>(normal.impl().detached(normal.impl().version))));
  say("data", Tensor(Ref<KeyedObject>(normal.impl().detached(make_ref<VersionCounter>()))));
  say("data of inference", Tensor(Ref<KeyedObject>(inference.impl().detached(make_ref<VersionCounter>()))));
  refused("version", [&] { inference.impl().current_version(); });
  refused("write", [&] { inference.impl().bump_version(); });
  refused("requires_grad", [&] { inference.impl().set_requires_grad(true, no_graph); });
  refused("requires_grad of long", [&] { make(ScalarType::Long).impl().set_requires_grad(true, no_graph); });
  refused("requires_grad of complex", [&] { make(ScalarType::ComplexFloat).impl().set_requires_grad(true, no_graph); });
  for (int n = 0; n < 16; ++n) {
    const auto t = static_cast<ScalarType>(n);
    if (element_size(t))
      std::cout << "dtype " << n << ' ' << python_name(t) << ' ' << element_size(t) << ' ' << is_floating(t) << ' ' << is_complex(t)
                << '\n';
  }
}

void run(const std::vector<std::string>& f) {
  const std::string& what = f.at(0);
  if (what == "geometry") {
    const SizeVector sizes = numbers(f.at(1)), strides = numbers(f.at(2));
    std::cout << is_contiguous(sizes, strides) << ' ' << is_contiguous(sizes, strides, MemoryFormat::ChannelsLast) << ' '
              << is_contiguous(sizes, strides, MemoryFormat::ChannelsLast3d) << ' ' << is_non_overlapping_and_dense(sizes, strides) << ' '
              << to_text(like_strides(sizes, strides)) << '\n';
  } else if (what == "view") {
    const SizeVector sizes = numbers(f.at(1)), strides = numbers(f.at(2));
    const SizeVector shape = infer_size(numbers(f.at(3)), element_count(sizes));
    const auto out = view_strides(sizes, strides, shape);
    std::cout << (out ? to_text(shape) + " " + to_text(*out) : "view size is not compatible") << '\n';
  } else if (what == "expand") {
    const Geometry g = expand(numbers(f.at(1)), numbers(f.at(2)), numbers(f.at(3)));
    std::cout << to_text(g.sizes) << ' ' << to_text(g.strides) << '\n';
  } else if (what == "broadcast") {
    std::cout << to_text(broadcast(numbers(f.at(1)), numbers(f.at(2)))) << '\n';
  } else if (what == "as_strided") {
    const Tensor base = empty(numbers(f.at(1)), ScalarType::Float), t = view_of(base, numbers(f.at(2)), numbers(f.at(3)), std::stoll(f.at(4)));
    std::cout << to_text(t.sizes()) << ' ' << to_text(t.strides()) << ' ' << t.storage_offset() << '\n';
  } else if (what == "wrap") {
    std::cout << wrap_dimension(std::stoll(f.at(1)), std::stoll(f.at(2))) << '\n';
  } else if (what == "channels_last") {
    std::cout << to_text(empty(numbers(f.at(1)), ScalarType::Float, Device{14, -1}, MemoryFormat::ChannelsLast).strides()) << '\n';
  } else if (what == "elementwise") {  // sizes and strides of two operands
    const Geometry both[] = {{numbers(f.at(1)), numbers(f.at(2))}, {numbers(f.at(3)), numbers(f.at(4))}};
    std::cout << to_text(elementwise_strides(both, broadcast(both[0].sizes, both[1].sizes))) << '\n';
  } else if (what == "internal_overlap") {
    std::cout << static_cast<int>(internal_overlap(numbers(f.at(1)), numbers(f.at(2)))) << '\n';
  } else if (what == "write") {  // sizes; strides and offset of what is read; of what is written
    const Geometry from{numbers(f.at(1)), numbers(f.at(2))}, to{numbers(f.at(1)), numbers(f.at(4))};
    const bool inside = internal_overlap(to.sizes, to.strides) == Overlap::kYes;
    const bool partial = shared_memory(from, std::stoll(f.at(3)), to, std::stoll(f.at(5))) == SharedMemory::kPartial;
    std::cout << (inside ? "more than one element" : partial ? "some elements" : "fine") << '\n';
  } else if (what == "promote") {
    const auto a = static_cast<ScalarType>(std::stoi(f.at(1))), b = static_cast<ScalarType>(std::stoi(f.at(2)));
    std::cout << python_name(promote(a, b)) << ' ' << can_cast(a, b) << '\n';
  } else if (what == "result_type") {  // default type, then operands: t, z or n and a type
    std::vector<Operand> operands;
    for (size_t i = 2; i < f.size(); ++i) {
      operands.push_back({f[i][0] == 't'   ? Operand::Strength::kTensor
                          : f[i][0] == 'z' ? Operand::Strength::kZeroDimensional
                                           : Operand::Strength::kNumber,
                          static_cast<ScalarType>(std::stoi(f[i].substr(1)))});
    }
    std::cout << python_name(result_type(operands, static_cast<ScalarType>(std::stoi(f.at(1))))) << '\n';
  } else if (what == "construction") {
    construction();
  } else {
    throw Error("no command " + what);
  }
}

}  // namespace

int main() {
  std::ios::sync_with_stdio(false);
  for (std::string line; std::getline(std::cin, line);) {
    try {
      run(split(line, '\t'));
    } catch (const std::exception& e) {
      std::cout << "error " << e.what() << '\n';
    }
    std::cout << ".\n" << std::flush;
  }
}
