#include "core/dispatch/operator_handle.h"

#include "core/dispatch/error.h"

namespace peel::core {
namespace {

class StackValues final : public HopValues {
 public:
  StackValues(Stack& s, size_t first) : stack_(s), first_(first) {}
  void push(Stack* s) const override { s->insert(s->end(), stack_.begin() + static_cast<ptrdiff_t>(std::min(first_, stack_.size())), stack_.end()); }
  bool replace(const Stack& s) override {
    stack_.resize(std::min(first_, stack_.size()));
    stack_.insert(stack_.end(), s.begin(), s.end());
    return true;
  }

 private:
  Stack& stack_;
  size_t first_;
};

void observed_boxed(Observer& observer, HopKind kind, const OperatorEntry& op, DispatchKeySet keys, DispatchKeySet set, Stack* stack) {
  const FunctionSchema* schema = op.schema();
  const size_t below = schema && schema->arguments.size() <= stack->size() ? stack->size() - schema->arguments.size() : 0;
  StackValues values(*stack, below);
  const Kernel* found = op.kernel(set);
  if (kind == HopKind::kCallBoxed) found = op.settle(keys, &set, found);
  Hop hop{&op, kind, keys, set, found, &values};
  observer.begin(hop);
  try {
    const Kernel* k = op.require(hop.set, hop.kernel);
    k->function.boxed(k->function.functor.get(), OperatorHandle(&op), hop.set, stack);
  } catch (...) {
    observer.end(hop, nullptr);
    throw;
  }
  observer.end(hop, &values);  // results lie where the arguments did
}

}  // namespace

const FunctionSchema& OperatorHandle::schema() const {
  if (const FunctionSchema* s = entry_->schema()) return *s;
  throw Error("Tried to access the schema for " + name().text() + " which doesn't have a schema registered yet");
}

void OperatorHandle::check_signature(const std::type_info& wanted) const {
  const std::type_info* known = entry_->signature();
  if (!known || *known == wanted) return;
  const RegisteredSchema* registered = entry_->registered_schema();
  throw Error("\nTried to access or call an operator with a wrong signature.\n  operator: " +
              (registered ? registered->schema.text() : name().text()) + "\n    " +
              (registered ? registered->debug : "unknown debug info") + "\n  correct signature:  " + known->name() +
              "\n  accessed/called as: " + wanted.name() +
              "\nThis likely happened in a call to OperatorHandle::typed<Return (Args...)>(). " +
              "Please make sure that the function signature matches the signature in the operator registration call.");
}

void OperatorHandle::call_boxed(Stack* stack) const {
  const DispatchKeySet keys = entry_->keys_of(*stack);
  DispatchKeySet set = entry_->effective(keys);
  if (Observer* o = observer()) [[unlikely]] return observed_boxed(*o, HopKind::kCallBoxed, *entry_, keys, set, stack);
  const Kernel* k = entry_->kernel(set);
  if (!k->function.functor) [[unlikely]] {  // missing and fallthrough kernels have none
    k = entry_->settle(keys, &set, k);
    entry_->require(set, k);
  }
  k->function.boxed(k->function.functor.get(), *this, set, stack);
}

void OperatorHandle::redispatch_boxed(DispatchKeySet set, Stack* stack) const {
  if (Observer* o = observer()) [[unlikely]] return observed_boxed(*o, HopKind::kRedispatchBoxed, *entry_, {}, set, stack);
  const Kernel* k = entry_->kernel(set);
  if (!k->function.functor) [[unlikely]] entry_->require(set, k);
  k->function.boxed(k->function.functor.get(), *this, set, stack);
}

}  // namespace peel::core
