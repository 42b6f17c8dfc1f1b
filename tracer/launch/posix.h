// Small pieces of the operating system that the launcher is made of: descriptors, whole files, children.
#pragma once
#include <sys/types.h>
#include <unistd.h>

#include <string>
#include <utility>
#include <vector>

#include "sessions/result.h"

namespace peel::launch {

/// A file descriptor that is closed at the end.
class Fd {
 public:
  Fd() = default;
  explicit Fd(int fd) : fd_(fd) {}
  Fd(Fd&& other) noexcept : fd_(other.release()) {}
  Fd& operator=(Fd&& other) noexcept {
    if (this != &other) reset(other.release());
    return *this;
  }
  ~Fd() { reset(); }
  int get() const { return fd_; }
  explicit operator bool() const { return fd_ >= 0; }
  int release() { return std::exchange(fd_, -1); }
  void reset(int fd = -1) {
    if (fd_ >= 0) ::close(fd_);
    fd_ = fd;
  }

 private:
  int fd_ = -1;
};

/// The whole file; false = cannot be read.
bool read_file(const std::string& path, std::string& text);
/// Replaces the file in one step: readers see the old text or the new one.
Status write_file(const std::string& path, const std::string& text);
/// Makes a folder and those above it (new ones with mode 0700).
Status make_folders(const std::string& path);
bool is_file(const std::string& path);
bool is_executable(const std::string& path);
/// The first executable of that name on the PATH; a name with a slash is taken as a path. "" = none.
std::string find_program(const std::string& name);
std::string absolute_path(const std::string& path);
std::string environment(const char* name);  // "" when unset
/// $TMPDIR or /tmp.
std::string temporary_folder();
/// `No such file or directory`, for the errno at hand.
std::string errno_text(int error);

/// 64-bit FNV-1a over several texts, for keys of caches (not against attackers).
class Fingerprint {
 public:
  Fingerprint& add(std::string_view text);
  std::string hex() const;

 private:
  uint64_t value_ = 14695981039346656037ull;
};

/// How a child ended, as a shell would tell it: the status, or 128 + the signal.
int exit_status(int wait_status);

struct Captured {
  int status = -1;  // exit_status
  std::string out, err;
};
/// Runs a program to its end and keeps what it prints. Error: it could not be started.
/// `unset`: names that are taken out of its environment.
Result<Captured> capture(const std::vector<std::string>& command, const std::vector<std::string>& unset = {});

}  // namespace peel::launch
