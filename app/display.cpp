#include "app/display.h"

#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <cstddef>
#include <cstdlib>
#include <cstring>

namespace peel::app {
namespace {

/// `abstract`: Linux' socket names without a file.
bool answers(const std::string& path, bool abstract) {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  if (path.size() + 1 >= sizeof address.sun_path) return false;
  std::memcpy(address.sun_path + (abstract ? 1 : 0), path.data(), path.size());
  const int fd = ::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
  const auto length = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + path.size() + 1);
  const bool ok = fd >= 0 && ::connect(fd, reinterpret_cast<const sockaddr*>(&address), length) == 0;
  if (fd >= 0) ::close(fd);
  return ok;
}

}  // namespace

bool has_display(std::string* why_not) {
  const char* wayland = std::getenv("WAYLAND_DISPLAY");
  if (wayland && *wayland) {
    const char* runtime = std::getenv("XDG_RUNTIME_DIR");
    const std::string path = wayland[0] == '/' ? wayland : std::string(runtime ? runtime : "") + "/" + wayland;
    if (answers(path, false)) return true;
  }
  const char* x = std::getenv("DISPLAY");
  if (!x || !*x) {
    if (why_not) *why_not = "there is no display (DISPLAY is not set)";
    return false;
  }
  const char* colon = std::strrchr(x, ':');
  const bool local = colon == x || (colon && std::strncmp(x, "unix:", 5) == 0);
  if (!local) return colon != nullptr;  // over the network: the window finds out
  const std::string path = "/tmp/.X11-unix/X" + std::to_string(std::atoi(colon + 1));
  if (answers(path, false) || answers(path, true)) return true;
  if (why_not) *why_not = std::string("no X server answers at DISPLAY=") + x;
  return false;
}

}  // namespace peel::app
