// What the engine throws where PyTorch throws: same type, same words where PyTorch's are stable.
#pragma once
#include <stdexcept>
#include <string>

namespace peel::core {

/// RuntimeError in Python.
struct Error : std::runtime_error {
  using std::runtime_error::runtime_error;
};
/// NotImplementedError in Python: an operator without a kernel for a key.
struct NotImplemented : Error {
  using Error::Error;
};
/// TypeError, ValueError, IndexError in Python.
struct TypeError : Error {
  using Error::Error;
};
struct ValueError : Error {
  using Error::Error;
};
struct IndexError : Error {
  using Error::Error;
};

/// torch.linalg.LinAlgError: a RuntimeError of a matrix that can't be inverted, factored and so on.
struct LinAlgError : Error {
  using Error::Error;
};

}  // namespace peel::core
