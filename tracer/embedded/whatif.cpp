// `peel whatif --run`: the changes that the environment names, made before the program's first line or in some of its hops.
#include "core/autocast/autocast.h"
#include "core/dispatch/dispatcher.h"
#include "core/dispatch/error.h"
#include "core/dispatch/make_kernel.h"
#include "tracer/embedded/recorder.h"

namespace peel::embedded {
namespace {

using core::DispatchKey;

/// One at most, as there is one environment. Hops are counted only while it waits for its first.
struct Plan {
  core::LocalKeys keys{};
  std::vector<std::string> modes;     // `enter no_grad`
  uint64_t first = 0, siblings = 0;   // 0, 0: all
  uint64_t hops = 0;
  size_t depth = SIZE_MAX;            // of its first hop, once that began
  std::vector<std::shared_ptr<void>> guards;
};
Plan* plan = nullptr;
std::vector<core::Registration>& registrations() {
  static auto& all = *new std::vector<core::Registration>;
  return all;
}

std::shared_ptr<void> guard_of(std::string_view mode) {
  const bool enter = mode.starts_with("enter ");
  const std::string_view name = mode.substr(mode.find(' ') + 1);
  if (name == "no_grad" || name == "enable_grad") return std::make_shared<core::GradMode>((name == "enable_grad") == enter);
  if (name == "inference_mode") return std::make_shared<core::InferenceMode>(enter);
  return std::make_shared<core::AutocastScope>(enter, core::ScalarType::BFloat16, true);
}

void begin_scope(Thread& t) {
  t.forced = plan->keys;
  for (const std::string& m : plan->modes) plan->guards.push_back(guard_of(m));
  t.looks_again = plan->first != 0;
}
void end_scope(Thread& t) {
  whatif_waits = false;
  t.forced = {};
  while (!plan->guards.empty()) plan->guards.pop_back();
}

/// What stood in the slots before: the new kernel goes on there, else to the next key.
core::KernelFunction through(const core::OperatorEntry* op) {
  std::vector<const core::Kernel*> before;
  for (int i = 0; op && i < core::kSlots; ++i) before.push_back(op->slot(i));
  return core::boxed_kernel([before](const core::OperatorHandle& h, core::DispatchKeySet set, core::Stack* stack) {
    const core::Kernel* k = before.empty() ? nullptr : before[static_cast<size_t>(set.slot())];
    if (k && k->function.valid() && !k->function.is_fallthrough()) return k->function.boxed(k->function.functor.get(), h, set, stack);
    h.redispatch_boxed(h.entry().masks().apply(set - set.highest()), stack);
  });
}

/// "" = done.
std::string change_registration(const std::string& what, const std::string& operand) {
  auto& d = core::Dispatcher::get();
  const size_t at = operand.rfind('@');
  const auto key = core::parse_dispatch_key(operand.substr(at + 1));
  if (at == std::string::npos || !key) return "what-if: " + operand + " names no operator and key";
  const std::string name = operand.substr(0, at), debug = "registered at peel whatif:1";
  if (name == "*") {
    if (what == "remove") return "what-if: a backend fallback of the engine can't be removed";
    registrations().push_back(d.register_fallback(*key, what == "fallthrough" ? core::KernelFunction::fallthrough() : through(nullptr), debug));
    return "";
  }
  const core::OperatorName op = core::OperatorName::parse(name);
  const auto handle = d.find(op);
  if (!handle) return "what-if: there is no operator " + name + " before the program runs";
  if (what == "remove") {
    const auto& all = handle->entry().registrations();
    const auto found = all.find(*key);
    if (found == all.end()) return "what-if: " + name + " has no kernel at " + core::to_string(*key);
    const_cast<core::OperatorEntry&>(handle->entry()).deregister_kernel(found->second.back());  // nothing else runs yet
    return "";
  }
  registrations().push_back(d.register_kernel(op, *key, what == "fallthrough" ? core::KernelFunction::fallthrough() : through(&handle->entry()), debug));
  return "";
}

}  // namespace

std::string take_whatif(const char* lines) {
  if (!lines || !*lines) return "";
  plan = new Plan;
  try {
    for (std::string_view left = lines; !left.empty();) {
      const size_t end = std::min(left.find('\n'), left.size());
      const std::string line(left.substr(0, end));
      left.remove_prefix(std::min(end + 1, left.size()));
      const size_t blank = line.find(' ');
      if (blank == std::string::npos) continue;
      const std::string word = line.substr(0, blank), rest = line.substr(blank + 1);
      std::string wrong;
      if (word == "register" || word == "fallthrough" || word == "remove") {
        wrong = change_registration(word, rest);
      } else if (word == "include" || word == "exclude") {
        const auto key = core::parse_dispatch_key(rest);
        if (!key) wrong = "what-if: there is no dispatch key " + rest;
        else (word == "include" ? plan->keys.included : plan->keys.excluded) = (word == "include" ? plan->keys.included : plan->keys.excluded) | core::DispatchKeySet(*key);
      } else if (word == "enter" || word == "leave") {
        if (rest.starts_with("autocast") && rest != "autocast" && rest != "autocast:cpu") wrong = "what-if: the engine has autocast:cpu only";
        plan->modes.push_back(line);
      } else if (word == "scope") {
        plan->first = strtoull(rest.c_str(), nullptr, 10);
        plan->siblings = strtoull(rest.c_str() + std::min(rest.find(' '), rest.size()), nullptr, 10);
      }
      if (!wrong.empty()) return wrong;
    }
  } catch (const core::Error& e) {
    const std::string text = e.what();
    return "what-if: " + text.substr(0, text.find('\n'));
  }
  return "";
}

void begin_whatif(Thread& t) {
  if (plan && plan->first == 0) begin_scope(t);
  whatif_waits = plan && plan->first != 0;
}

void whatif_begins(Thread& t) {
  if (plan->depth != SIZE_MAX || ++plan->hops != plan->first) return;
  plan->depth = t.frames.size();
  begin_scope(t);
}

void whatif_ends(Thread& t) {  // the frame is gone
  if (plan->depth == SIZE_MAX || t.frames.size() > plan->depth) return;
  if (t.frames.size() < plan->depth || (plan->siblings && --plan->siblings == 0)) end_scope(t);
}

}  // namespace peel::embedded
