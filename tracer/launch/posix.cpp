#include "tracer/launch/posix.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>

extern char** environ;

namespace peel::launch {

bool read_file(const std::string& path, std::string& text) {
  Fd file(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  if (!file) return false;
  text.clear();
  char block[65536];
  for (;;) {
    const ssize_t n = ::read(file.get(), block, sizeof block);
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) return false;
    if (n == 0) return true;
    text.append(block, static_cast<size_t>(n));
  }
}

Status write_file(const std::string& path, const std::string& text) {
  const std::string temporary = path + ".new" + std::to_string(::getpid());
  Fd file(::open(temporary.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600));
  if (!file) return Error{"cannot write " + temporary + ": " + errno_text(errno)};
  size_t done = 0;
  while (done < text.size()) {
    const ssize_t n = ::write(file.get(), text.data() + done, text.size() - done);
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) {
      const int error = errno;
      ::unlink(temporary.c_str());
      return Error{"cannot write " + path + ": " + errno_text(error)};
    }
    done += static_cast<size_t>(n);
  }
  if (::rename(temporary.c_str(), path.c_str()) != 0)
    return Error{"cannot write " + path + ": " + errno_text(errno)};
  return {};
}

Status make_folders(const std::string& path) {
  for (size_t at = 1; at != std::string::npos;) {
    at = path.find('/', at);
    const std::string part = path.substr(0, at);
    if (at != std::string::npos) ++at;
    if (::mkdir(part.c_str(), 0700) == 0 || errno == EEXIST) continue;
    const int error = errno;
    if (std::filesystem::is_directory(part)) continue;  // EROFS or EACCES on a folder that is there
    return Error{"cannot make the folder " + part + ": " + errno_text(error)};
  }
  std::error_code error;
  if (!std::filesystem::is_directory(path, error)) return Error{path + " is not a folder"};
  return {};
}

bool is_file(const std::string& path) {
  struct stat s;
  return ::stat(path.c_str(), &s) == 0 && S_ISREG(s.st_mode);
}

bool is_executable(const std::string& path) { return is_file(path) && ::access(path.c_str(), X_OK) == 0; }

std::string find_program(const std::string& name) {
  if (name.empty()) return "";
  if (name.find('/') != std::string::npos) return is_executable(name) ? absolute_path(name) : "";
  const std::string path = environment("PATH");
  size_t begin = 0;
  while (begin <= path.size()) {
    const size_t end = std::min(path.find(':', begin), path.size());
    const std::string folder = end == begin ? "." : path.substr(begin, end - begin);
    if (is_executable(folder + "/" + name)) return absolute_path(folder + "/" + name);
    begin = end + 1;
  }
  return "";
}

std::string absolute_path(const std::string& path) {
  std::error_code error;
  const auto absolute = std::filesystem::absolute(path, error);
  return error ? path : absolute.lexically_normal().string();
}

std::string environment(const char* name) {
  const char* value = std::getenv(name);
  return value ? value : "";
}

std::string temporary_folder() {
  const std::string folder = environment("TMPDIR");
  return folder.empty() ? "/tmp" : folder;
}

std::string errno_text(int error) { return std::strerror(error); }

Fingerprint& Fingerprint::add(std::string_view text) {
  for (const char c : text) value_ = (value_ ^ static_cast<unsigned char>(c)) * 1099511628211ull;
  value_ = (value_ ^ 0xff) * 1099511628211ull;  // "ab","c" and "a","bc" differ
  return *this;
}

std::string Fingerprint::hex() const {
  char text[17];
  std::snprintf(text, sizeof text, "%016llx", static_cast<unsigned long long>(value_));
  return text;
}

int exit_status(int wait_status) {
  if (WIFSIGNALED(wait_status)) return 128 + WTERMSIG(wait_status);
  return WEXITSTATUS(wait_status);
}

namespace {

bool named(const char* entry, const std::vector<std::string>& names) {
  for (const std::string& name : names)
    if (std::strncmp(entry, name.c_str(), name.size()) == 0 && entry[name.size()] == '=') return true;
  return false;
}

}  // namespace

Result<Captured> capture(const std::vector<std::string>& command, const std::vector<std::string>& unset) {
  std::vector<char*> argv, env;
  for (const std::string& a : command) argv.push_back(const_cast<char*>(a.c_str()));
  argv.push_back(nullptr);
  for (char** e = environ; *e; ++e)
    if (!named(*e, unset)) env.push_back(*e);
  env.push_back(nullptr);

  int out[2], err[2], started[2];
  if (::pipe2(out, O_CLOEXEC) != 0) return Error{"cannot make a pipe: " + errno_text(errno)};
  Fd out_read(out[0]), out_write(out[1]);
  if (::pipe2(err, O_CLOEXEC) != 0) return Error{"cannot make a pipe: " + errno_text(errno)};
  Fd err_read(err[0]), err_write(err[1]);
  if (::pipe2(started, O_CLOEXEC) != 0) return Error{"cannot make a pipe: " + errno_text(errno)};
  Fd started_read(started[0]), started_write(started[1]);

  const pid_t child = ::fork();
  if (child < 0) return Error{"cannot start " + command[0] + ": " + errno_text(errno)};
  if (child == 0) {
    const int null = ::open("/dev/null", O_RDONLY);
    ::dup2(null, 0);
    ::dup2(out[1], 1);
    ::dup2(err[1], 2);
    ::signal(SIGPIPE, SIG_DFL);
    ::execve(argv[0], argv.data(), env.data());
    const int error = errno;
    (void)!::write(started[1], &error, sizeof error);
    ::_exit(127);
  }
  out_write.reset();
  err_write.reset();
  started_write.reset();

  Captured result;
  pollfd fds[2] = {{out_read.get(), POLLIN, 0}, {err_read.get(), POLLIN, 0}};
  std::string* texts[2] = {&result.out, &result.err};
  char block[16384];
  while (fds[0].fd >= 0 || fds[1].fd >= 0) {
    if (::poll(fds, 2, -1) < 0 && errno != EINTR) break;
    for (int i = 0; i < 2; ++i) {
      if (fds[i].fd < 0 || fds[i].revents == 0) continue;
      const ssize_t n = ::read(fds[i].fd, block, sizeof block);
      if (n > 0) texts[i]->append(block, static_cast<size_t>(n));
      else if (n == 0 || errno != EINTR) fds[i].fd = -1;
    }
  }
  int status = 0;
  while (::waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  int error = 0;
  if (::read(started_read.get(), &error, sizeof error) == sizeof error)
    return Error{"cannot run " + command[0] + ": " + errno_text(error)};
  result.status = exit_status(status);
  return result;
}

}  // namespace peel::launch
