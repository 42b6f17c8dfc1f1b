// Registering operators and kernels, in the style of TORCH_LIBRARY:
//   PEEL_LIBRARY(mine, m) { m.def("twice(Tensor x) -> Tensor"); }
//   PEEL_LIBRARY_IMPL(mine, CPU, m) { m.impl("twice", kernel<&twice_cpu>()); }
// What a Library registered goes when the Library goes.
#pragma once
#include "core/dispatch/dispatcher.h"
#include "core/dispatch/make_kernel.h"

namespace peel::core {

class Library {
 public:
  enum class Kind : uint8_t { kDef, kImpl, kFragment };
  /// `space` "_" in an Impl library: for fallbacks.
  Library(Kind, std::string space, std::optional<DispatchKey>, const char* file, int line, Dispatcher& = Dispatcher::get());

  /// A schema; the library's namespace is put in front when it has none.
  Library& def(std::string_view schema);
  /// A schema and its kernel for CompositeImplicitAutograd.
  Library& def(std::string_view schema, KernelFunction);
  Library& impl(std::string_view name, KernelFunction, std::optional<DispatchKey> = {});
  /// For the library's key; for an alias, at each of its runtime keys.
  Library& fallback(KernelFunction);
  /// Undoes everything now.
  void reset() { registrations_.clear(); }

 private:
  std::string debug() const { return "registered at " + file_ + ":" + std::to_string(line_); }
  const char* block() const;  // as PyTorch's errors call it
  std::string place() const;
  Kind kind_;
  std::string space_;
  std::optional<DispatchKey> key_;
  std::string file_;
  int line_;
  Dispatcher* dispatcher_;
  std::vector<Registration> registrations_;
};

namespace detail {
/// Runs a block when the program starts.
struct LibraryBlock {
  LibraryBlock(Library::Kind kind, const char* space, std::optional<DispatchKey> key, void (*block)(Library&), const char* file, int line)
      : library(kind, space, key, file, line) {
    block(library);
  }
  Library library;
};
}  // namespace detail

#define PEEL_LIBRARY(space, m)                                                                                                        \
  static void peel_library_##space(::peel::core::Library&);                                                                         \
  static const ::peel::core::detail::LibraryBlock peel_library_block_##space(::peel::core::Library::Kind::kDef, #space, std::nullopt,     \
                                                                             &peel_library_##space, __FILE__, __LINE__);            \
  static void peel_library_##space(::peel::core::Library& m)
#define PEEL_LIBRARY_IMPL(space, key, m)                                                                                              \
  static void peel_library_##space##_##key(::peel::core::Library&);                                                                 \
  static const ::peel::core::detail::LibraryBlock peel_library_block_##space##_##key(                                                 \
      ::peel::core::Library::Kind::kImpl, #space, ::peel::core::DispatchKey::key, &peel_library_##space##_##key, __FILE__, __LINE__); \
  static void peel_library_##space##_##key(::peel::core::Library& m)

}  // namespace peel::core
