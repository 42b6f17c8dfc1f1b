// The socket at which traced processes introduce themselves (tracer/wire/link.h).
#pragma once
#include <poll.h>

#include <functional>
#include <string>
#include <vector>

#include "sessions/result.h"
#include "tracer/launch/posix.h"

namespace peel::launch {

/// A listening socket in a folder of its own that nobody else can enter; both are removed at the end.
/// Used by one thread, which polls for it.
class Listener {
 public:
  using OnProcess = std::function<void(int memory_fd, int connection_fd, const void* hello, size_t bytes)>;

  static Result<Listener> open();
  Listener(Listener&&) noexcept;
  Listener& operator=(Listener&&) = delete;
  ~Listener();

  const std::string& path() const { return path_; }
  /// What to poll for now.
  void add_to(std::vector<pollfd>& fds) const;
  /// Accepts and reads whatever is there, without waiting. `on_process` owns both descriptors.
  void serve(const OnProcess& on_process);

 private:
  Listener() = default;
  bool receive(int connection, const OnProcess& on_process);

  std::string folder_, path_;
  Fd socket_;
  std::vector<Fd> silent_;  // connected, no Hello yet
};

/// Removes folders that a killed peel left in `temporary`: nobody listens there any more.
void remove_dead_sockets(const std::string& temporary);

}  // namespace peel::launch
