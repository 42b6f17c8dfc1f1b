// Sets a variable of our own environment for the time of a test.
#pragma once
#include <cstdlib>
#include <optional>
#include <string>

namespace peel::launch {

class EnvironmentGuard {
 public:
  /// null = unset
  EnvironmentGuard(const char* name, const char* value) : name_(name) {
    if (const char* old = std::getenv(name)) old_ = old;
    set(value);
  }
  EnvironmentGuard(const char* name, const std::string& value) : EnvironmentGuard(name, value.c_str()) {}
  ~EnvironmentGuard() { set(old_ ? old_->c_str() : nullptr); }
  EnvironmentGuard(const EnvironmentGuard&) = delete;
  EnvironmentGuard& operator=(const EnvironmentGuard&) = delete;

 private:
  void set(const char* value) {
    if (value) ::setenv(name_, value, 1);
    else ::unsetenv(name_);
  }
  const char* name_;
  std::optional<std::string> old_;
};

}  // namespace peel::launch
