#include "core/dispatch/library.h"

#include "core/dispatch/error.h"

namespace peel::core {
namespace {

using Boxed = std::function<void(const OperatorHandle&, DispatchKeySet, Stack*)>;

void run(OperatorKernel* functor, const OperatorHandle& op, DispatchKeySet set, Stack* stack) {
  static_cast<detail::Functor<Boxed>*>(functor)->function(op, set, stack);
}

}  // namespace

KernelFunction boxed_kernel(Boxed f) {
  KernelFunction k;
  k.boxed = &run;
  k.functor = Ref<OperatorKernel>(new detail::Functor<Boxed>(std::move(f)));
  return k;
}

Library::Library(Kind kind, std::string space, std::optional<DispatchKey> key, const char* file, int line, Dispatcher& d)
    : kind_(kind), space_(std::move(space)), key_(key), file_(file), line_(line), dispatcher_(&d) {
  if (kind_ == Kind::kDef) registrations_.push_back(d.register_library(space_, debug()));
}

OperatorName Library::qualified(OperatorName n, const char* what) const {
  if (n.name.find("::") == std::string::npos) {
    n.name = space_ + "::" + n.name;
  } else if (n.space() != space_ && space_ != "_") {
    throw Error(std::string(what) + ": the namespace of " + n.text() + " doesn't match the namespace of the enclosing library, " + space_ + " (" +
                debug() + ")");
  }
  return n;
}

Library& Library::def(std::string_view text) {
  if (kind_ == Kind::kImpl) throw Error("def(\"" + std::string(text) + "\"): cannot define operators in a library of kind IMPL (" + debug() + ")");
  FunctionSchema s = parse_schema(text);
  s.name = qualified(std::move(s.name), "def");
  registrations_.push_back(dispatcher_->register_schema(std::move(s), debug()));
  return *this;
}

Library& Library::def(std::string_view text, KernelFunction f) {
  def(text);
  return impl(text.substr(0, text.find('(')), std::move(f));
}

Library& Library::impl(std::string_view name, KernelFunction f, std::optional<DispatchKey> key) {
  if (key && key_ && *key != *key_) {
    throw Error("impl(\"" + std::string(name) + "\"): the key " + to_string(*key) + " is not the one of the library, " + to_string(*key_) + " (" +
                debug() + ")");
  }
  registrations_.push_back(
      dispatcher_->register_kernel(qualified(OperatorName::parse(name), "impl"), key ? key : key_, std::move(f), debug()));
  return *this;
}

Library& Library::fallback(KernelFunction f) {
  if (!key_ || space_ != "_") {
    throw Error("fallback(): a backend fallback needs a library of kind IMPL with the namespace _ and a dispatch key (" + debug() + ")");
  }
  if (is_alias(*key_)) {
    throw Error(std::string("fallback(): ") + to_string(*key_) + " is an alias key, which cannot have a backend fallback (" + debug() + ")");
  }
  registrations_.push_back(dispatcher_->register_fallback(*key_, std::move(f), debug()));
  return *this;
}

}  // namespace peel::core
