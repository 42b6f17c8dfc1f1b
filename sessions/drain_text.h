// How values, key sets and paths are written in a session: as Python and PyTorch print them.
#pragma once
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace peel {

/// A float as Python's repr: `1.0`, `1e-05`, `inf`.
std::string python_double(double);
/// `(1+2j)`.
std::string python_complex(double real, double imaginary);
/// `'text'`, escaped as Python's repr; bytes that are no ASCII stay as they are.
std::string python_string(std::string_view);
/// `[2, 3]`-like lists are written by the caller; shapes without blanks: `[2,3]`.
std::string shape_text(const int64_t* sizes, size_t count);
/// torch.contiguous_format and so on, by c10::MemoryFormat.
const char* memory_format_text(int64_t);

/// Is this path the user's own code, not Python's library, not an installed package, not PyTorch?
bool users_own(const std::string& path);

/// Prints key sets as PyTorch does: functionality bits ascending, a per-backend functionality once for every
/// backend in the set (ascending), and not at all when there is none.
class KeysetPrinter {
 public:
  void add(std::string name, int functionality_bit, int backend_bit, int slot);
  std::string text(uint64_t raw) const;

 private:
  struct Functionality {
    std::string single;                     // when it is not per backend
    std::vector<std::string> of_backend;    // by backend bit
  };
  Functionality functionality_[64];
};

}  // namespace peel
