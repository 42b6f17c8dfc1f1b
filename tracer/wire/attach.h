// How a traced process offers its memory to peel: steps 2 and 3 of link.h, for both agents.
#pragma once
#include <poll.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <string>

#include "tracer/wire/ring.h"

namespace peel::wire {

/// Whether the other end of the connection has been closed.
inline bool is_gone(int socket) {
  pollfd p{socket, POLLIN, 0};
  return poll(&p, 1, 0) > 0 && (p.revents & (POLLHUP | POLLERR)) != 0;
}

/// Makes the memory that the environment asks for and connects. False with *why_not: nothing is left open.
inline bool offer_memory(const char* process_name, Memory* memory, int* socket_out, std::string* why_not) {
  const char* path = getenv(kSocketEnv);
  uint64_t ring_bytes = kDefaultRingBytes;
  if (const char* mib = getenv(kRingEnv)) {
    const uint64_t bytes = strtoull(mib, nullptr, 10) << 20;
    if (valid_ring_bytes(bytes)) ring_bytes = bytes;
  }
  if (!path || !*path) return *why_not = "no socket is named", false;
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  if (strlen(path) >= sizeof address.sun_path) return *why_not = "the socket's path is too long", false;
  strcpy(address.sun_path, path);
  if (!create_memory(ring_bytes, memory)) return *why_not = "shared memory cannot be made", false;
  const int s = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);
  const auto fail = [&](std::string why) {
    if (s >= 0) close(s);
    memory->close();
    *why_not = std::move(why);
    return false;
  };
  if (s < 0 || connect(s, reinterpret_cast<sockaddr*>(&address), sizeof address) != 0) return fail(std::string("peel does not answer: ") + strerror(errno));
  Hello hello{};
  hello.magic = kMagic;
  hello.version = kVersion;
  hello.pid = getpid();
  hello.parent_pid = getppid();
  hello.ring_bytes = ring_bytes;
  strncpy(hello.process_name, process_name, sizeof hello.process_name - 1);
  iovec data{&hello, sizeof hello};
  alignas(cmsghdr) char room[CMSG_SPACE(sizeof(int))] = {};
  msghdr message{};
  message.msg_iov = &data;
  message.msg_iovlen = 1;
  message.msg_control = room;
  message.msg_controllen = sizeof room;
  cmsghdr* c = CMSG_FIRSTHDR(&message);
  c->cmsg_level = SOL_SOCKET;
  c->cmsg_type = SCM_RIGHTS;
  c->cmsg_len = CMSG_LEN(sizeof(int));
  memcpy(CMSG_DATA(c), &memory->fd, sizeof(int));
  unsigned char answer = 0;
  if (sendmsg(s, &message, MSG_NOSIGNAL) < 0 || recv(s, &answer, 1, 0) != 1 || answer != 1) return fail("peel refused this process");
  *socket_out = s;
  return true;
}

}  // namespace peel::wire
