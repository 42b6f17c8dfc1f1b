// A folder that is gone at the end of a test, and small helpers around it.
#pragma once
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>

namespace peel::launch {

class Sandbox {
 public:
  Sandbox() {
    std::string name = (std::filesystem::temp_directory_path() / "peel_test_XXXXXX").string();
    folder_ = ::mkdtemp(name.data());
  }
  ~Sandbox() {
    std::error_code error;
    std::filesystem::remove_all(folder_, error);
  }
  Sandbox(const Sandbox&) = delete;
  Sandbox& operator=(const Sandbox&) = delete;
  std::string path(const std::string& name) const { return folder_ + "/" + name; }
  /// Writes a file; `mode` for scripts.
  std::string write(const std::string& name, const std::string& text, int mode = 0644) const {
    const std::string file = path(name);
    std::filesystem::create_directories(std::filesystem::path(file).parent_path());
    std::ofstream(file) << text;
    std::filesystem::permissions(file, static_cast<std::filesystem::perms>(mode));
    return file;
  }

 private:
  std::string folder_;
};

inline std::string read_all(int fd) {
  std::string text;
  char block[4096];
  for (ssize_t n; (n = ::read(fd, block, sizeof block)) > 0;) text.append(block, static_cast<size_t>(n));
  return text;
}

}  // namespace peel::launch
