#include "views/context.h"

#include "views/memory_source.h"

namespace peel::views {

Context::Context() : memory(std::make_shared<MemorySource>()) {}

void Context::select(EventId e) {
  if (!e || !session || e.value > session->size()) return;
  selection_changes++;
  notice.clear();
  if (e == selected) return;
  selected = e;
  if (const Event hop = session->event(e); hop.node) node = hop.node;
  tensor = {};
  if (!history_.empty()) history_.resize(at_ + 1);
  history_.push_back(e);
  constexpr size_t kRemembered = 1000;
  if (history_.size() > kRemembered) history_.erase(history_.begin());
  at_ = history_.size() - 1;
}

void Context::back() {
  if (!can_go_back()) return;
  selected = history_[--at_];
  selection_changes++, tensor = {}, notice.clear();
}

void Context::forward() {
  if (!can_go_forward()) return;
  selected = history_[++at_];
  selection_changes++, tensor = {}, notice.clear();
}

void Context::forget() {
  memory->forget();
  history_.clear();
  at_ = 0;
  selected = {}, node = {}, tensor = {};
  compare = {nullptr, {}, {}, compare.changes + 1};
  filter.clear(), open_path.clear(), notice.clear();
  selection_changes++;
}

}  // namespace peel::views
