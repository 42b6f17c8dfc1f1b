#include "tracer/launch/listener.h"

#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <filesystem>

#include "tracer/wire/link.h"

namespace peel::launch {
namespace {

constexpr const char* kPrefix = "peel-";
constexpr const char* kName = "/s";
constexpr size_t kLongestPath = sizeof(sockaddr_un::sun_path) - 1;

sockaddr_un address_of(const std::string& path) {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  std::memcpy(address.sun_path, path.c_str(), std::min(path.size(), kLongestPath));
  return address;
}

}  // namespace

Result<Listener> Listener::open() {
  Listener l;
  std::string folder = temporary_folder() + "/" + kPrefix + "XXXXXX";
  if (folder.size() + std::strlen(kName) > kLongestPath) folder = std::string("/tmp/") + kPrefix + "XXXXXX";
  remove_dead_sockets(folder.substr(0, folder.rfind('/')));
  if (!::mkdtemp(folder.data()))
    return Error{"cannot make a folder in " + folder.substr(0, folder.rfind('/')) + ": " + errno_text(errno) +
                 "; set TMPDIR to a folder that can be written"};
  l.folder_ = folder;
  l.path_ = folder + kName;
  l.socket_.reset(::socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  const sockaddr_un address = address_of(l.path_);
  if (!l.socket_ || ::bind(l.socket_.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0 ||
      ::listen(l.socket_.get(), 128) != 0)
    return Error{"cannot listen at " + l.path_ + ": " + errno_text(errno)};
  return l;
}

Listener::Listener(Listener&& other) noexcept
    : folder_(std::exchange(other.folder_, "")),
      path_(std::move(other.path_)),
      socket_(std::move(other.socket_)),
      silent_(std::move(other.silent_)) {}

Listener::~Listener() {
  if (folder_.empty()) return;
  ::unlink(path_.c_str());
  ::rmdir(folder_.c_str());
}

void Listener::add_to(std::vector<pollfd>& fds) const {
  fds.push_back({socket_.get(), POLLIN, 0});
  for (const Fd& c : silent_) fds.push_back({c.get(), POLLIN, 0});
}

void Listener::serve(const OnProcess& on_process) {
  for (;;) {
    Fd connection(::accept4(socket_.get(), nullptr, nullptr, SOCK_CLOEXEC));
    if (!connection) {
      if (errno == EINTR || errno == ECONNABORTED) continue;
      break;
    }
    silent_.push_back(std::move(connection));
  }
  for (size_t i = 0; i < silent_.size();) {
    if (receive(silent_[i].get(), on_process)) {
      silent_[i].release();  // handed over, or closed by receive
      silent_.erase(silent_.begin() + static_cast<std::ptrdiff_t>(i));
    } else {
      ++i;
    }
  }
}

// True: the connection is done with here.
bool Listener::receive(int connection, const OnProcess& on_process) {
  wire::Hello hello{};
  iovec part{&hello, sizeof hello};
  alignas(cmsghdr) char space[CMSG_SPACE(sizeof(int))];
  msghdr message{};
  message.msg_iov = &part;
  message.msg_iovlen = 1;
  message.msg_control = space;
  message.msg_controllen = sizeof space;
  const ssize_t n = ::recvmsg(connection, &message, MSG_DONTWAIT | MSG_CMSG_CLOEXEC);
  if (n < 0 && (errno == EAGAIN || errno == EWOULDBLOCK || errno == EINTR)) return false;
  int memory = -1;
  if (n > 0) {
    for (cmsghdr* c = CMSG_FIRSTHDR(&message); c; c = CMSG_NXTHDR(&message, c))
      if (c->cmsg_level == SOL_SOCKET && c->cmsg_type == SCM_RIGHTS && c->cmsg_len == CMSG_LEN(sizeof(int)))
        std::memcpy(&memory, CMSG_DATA(c), sizeof memory);
  }
  if (n <= 0 || memory < 0) {
    ::close(connection);
    return true;
  }
  on_process(memory, connection, &hello, static_cast<size_t>(n));
  return true;
}

void remove_dead_sockets(const std::string& temporary) {
  std::error_code error;
  for (const auto& entry : std::filesystem::directory_iterator(temporary, error)) {
    const std::string folder = entry.path().string(), path = folder + kName;
    struct stat s;
    if (!entry.path().filename().string().starts_with(kPrefix) || ::lstat(path.c_str(), &s) != 0) continue;
    // A minute old: one that is just being made is not yet listening either.
    if (!S_ISSOCK(s.st_mode) || s.st_uid != ::geteuid() || ::time(nullptr) - s.st_mtime < 60 || path.size() > kLongestPath) continue;
    Fd probe(::socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
    const sockaddr_un address = address_of(path);
    if (::connect(probe.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0 || errno != ECONNREFUSED) continue;
    ::unlink(path.c_str());
    ::rmdir(folder.c_str());
  }
}

}  // namespace peel::launch
