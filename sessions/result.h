// The result of anything that can fail for reasons outside of the program: a file, SQL, a process.
#pragma once
#include <cassert>
#include <string>
#include <utility>
#include <variant>

namespace peel {

/// One sentence for the user: what, which file or row, and what to do.
struct Error {
  std::string text;
};

/// A value or an Error.
template <class T>
class Result {
 public:
  Result(T value) : v_(std::move(value)) {}
  Result(Error e) : v_(std::move(e)) {}
  explicit operator bool() const { return v_.index() == 0; }
  T& operator*() { return std::get<0>(v_); }
  const T& operator*() const { return std::get<0>(v_); }
  T* operator->() { return &std::get<0>(v_); }
  const T* operator->() const { return &std::get<0>(v_); }
  const std::string& error() const { return std::get<1>(v_).text; }

 private:
  std::variant<T, Error> v_;
};

/// Success, or an Error.
class Status {
 public:
  Status() = default;
  Status(Error e) : error_(std::move(e.text)), ok_(false) {}
  explicit operator bool() const { return ok_; }
  const std::string& error() const { return error_; }

 private:
  std::string error_;
  bool ok_ = true;
};

}  // namespace peel
