#include "core/dispatch/library.h"

#include "core/dispatch/error.h"

namespace peel::core {

Library::Library(Kind kind, std::string space, std::optional<DispatchKey> key, const char* file, int line, Dispatcher& d)
    : kind_(kind), space_(std::move(space)), key_(key), file_(file), line_(line), dispatcher_(&d) {
  if (kind_ == Kind::kDef) registrations_.push_back(d.register_library(space_, debug()));
}

const char* Library::block() const {
  static constexpr const char* blocks[] = {"TORCH_LIBRARY", "TORCH_LIBRARY_IMPL", "TORCH_LIBRARY_FRAGMENT"};
  return blocks[static_cast<int>(kind_)];
}

std::string Library::place() const {
  return std::string("(Error occurred while processing ") + block() + " block at " + file_ + ":" + std::to_string(line_) + ")";
}

Library& Library::def(std::string_view text) {
  if (kind_ == Kind::kImpl) {
    throw Error("def(\"" + parse_schema(text).name.text() +
                "\"): Cannot define an operator inside of a TORCH_LIBRARY_IMPL block.  All def()s should be "
                "placed in the (unique) TORCH_LIBRARY block for their namespace.  " +
                place());
  }
  FunctionSchema s = parse_schema(text);
  if (s.name.name.find("::") == std::string::npos) {
    s.name.name = space_ + "::" + s.name.name;
  } else if (s.name.space() != space_) {
    throw Error("Explicitly provided namespace (" + std::string(s.name.space()) +
                ") in schema string does not match namespace of enclosing " + block() + " block (" + space_ +
                ").  Move this definition to the (unique) TORCH_LIBRARY block corresponding to this namespace (and consider deleting "
                "the namespace from your schema string.)  " +
                place());
  }
  registrations_.push_back(dispatcher_->register_schema(std::move(s), debug()));
  return *this;
}

Library& Library::def(std::string_view text, KernelFunction f) {
  def(text);
  return impl(text.substr(0, text.find('(')), std::move(f));
}

Library& Library::impl(std::string_view text, KernelFunction f, std::optional<DispatchKey> key) {
  OperatorName name = OperatorName::parse(text);
  if (name.name.find("::") == std::string::npos) {
    name.name = space_ + "::" + name.name;
  } else if (name.space() != space_) {
    throw Error("impl(\"" + name.text() + "\", ...): Explicitly provided namespace (" + std::string(name.space()) +
                ") in operator name does not match "
                "namespace of enclosing " +
                block() + " block (" + space_ +
                ").  Move this definition to the TORCH_LIBRARY_IMPL block corresponding to "
                "this namespace (and consider deleting the namespace from your schema string.)  " +
                place());
  }
  if (key && key_ && *key != *key_) {
    throw Error("impl(\"" + std::string(text) + "\", ...): Explicitly provided dispatch key (" + to_string(*key) +
                ") is inconsistent with the dispatch key "
                "of the enclosing TORCH_LIBRARY_IMPL block (" +
                to_string(*key_) +
                ").  Please declare a separate TORCH_LIBRARY_IMPL block for this "
                "dispatch key and move your impl() there.  " +
                place());
  }
  registrations_.push_back(dispatcher_->register_kernel(name, key ? key : key_, std::move(f), debug()));
  return *this;
}

Library& Library::fallback(KernelFunction f) {
  if (!key_) throw Error("fallback(...): a backend fallback needs a dispatch key. " + place());
  if (space_ != "_") {
    throw Error("fallback(...): Fallback functions which apply to only a single namespace (you specified " + space_ +
                ") are not supported.  If you "
                "intended to apply this fallback function globally, please define a separate block:\n\n    TORCH_LIBRARY_IMPL(_, " +
                to_string(*key_) + ", m) { m.fallback(...); }\n\n" + place());
  }
  if (!is_alias(*key_)) {
    registrations_.push_back(dispatcher_->register_fallback(*key_, std::move(f), debug()));
    return *this;
  }
  for (const DispatchKey k : runtime_keys(*key_)) registrations_.push_back(dispatcher_->register_fallback(k, f, debug()));
  return *this;
}

}  // namespace peel::core
