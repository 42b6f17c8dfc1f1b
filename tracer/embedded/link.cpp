// Threads and processes: a ring for each thread, and what happens at fork.
#include <Python.h>
#include <pthread.h>

#include "tracer/embedded/recorder.h"
#include "tracer/wire/attach.h"
#include "tracer/wire/interrupts.h"

namespace peel::embedded {
namespace {

constexpr uint64_t kPopulate = 1u << 20;  // of each new ring, so that the first hops don't fault page by page

wire::Memory memory;
wire::ArenaWriter definitions;
int peel_socket = -1;
uint32_t epoch = 1, threads = 0;
Detail wanted = Detail::kStandard;
wire::OnFull on_full = wire::OnFull::kWait;
std::string process;

bool gone(void*) { return wire::is_gone(peel_socket); }

// Ends with its thread.
struct Owner {
  Thread* thread = nullptr;
  bool ended = false;
  void let_go() {
    if (!thread) return;
    thread->process_epoch == epoch ? thread->ring.close() : thread->ring.forget();
    delete std::exchange(thread, nullptr);
  }
  ~Owner() {
    let_go();
    ended = true;
  }
};
thread_local Owner owner;

Thread* open_thread() {
  const uint32_t index = wire::claim_ring(memory.control);
  if (index == wire::kMaxRings) return nullptr;
  auto t = std::make_unique<Thread>();
  const auto os_id = static_cast<uint64_t>(gettid());
  if (!t->ring.open(memory, index, os_id, on_full, &gone, nullptr, kPopulate)) {
    memory.control->ring[index].state.store(wire::kFree);
    return nullptr;
  }
  t->process_epoch = epoch;
  t->control = memory.control;
  t->ring_index = index;
  t->number = threads++;
  char name[16] = "";
  pthread_getname_np(pthread_self(), name, sizeof name);
  wire::DefName d{};
  d.name = intern(os_id == static_cast<uint64_t>(getpid()) ? "main" : name);
  d.head.kind = wire::DefKind::kThread;
  d.head.id = index;
  definitions.define(d);
  return owner.thread = t.release();
}

bool share(std::string* why_not) {
  if (!wire::offer_memory(process.c_str(), &memory, &peel_socket, why_not)) return false;
  if (definitions.open(memory, &gone)) return true;
  close(std::exchange(peel_socket, -1));
  memory.close();
  return *why_not = "shared memory cannot be mapped", false;
}

// The child is a process of its own: new memory, ids from 1 again.
void after_fork_child() {
  const bool on = is_recording();
  core::set_observer(nullptr);
  wire::Interrupts::forget();
  ++epoch;
  threads = 0;
  owner.let_go();
  definitions.forget();
  memory.forget();
  if (peel_socket >= 0) close(std::exchange(peel_socket, -1));
  std::string why_not;
  if (!on || !share(&why_not)) return;
  define_keys();
  start_recording();
}

}  // namespace

Thread* this_thread() {
  if (owner.thread) return owner.thread;
  return owner.ended || !memory.control ? nullptr : open_thread();
}

bool connect_to_peel(const char* name, std::string* why_not) {
  process = name;
  if (const char* d = getenv(wire::kDetailEnv); d && !strcmp(d, "keys")) wanted = Detail::kKeys;
  if (const char* f = getenv(wire::kOnFullEnv); f && !strcmp(f, "drop")) on_full = wire::OnFull::kDrop;
  if (!share(why_not)) return false;
  pthread_atfork(nullptr, nullptr, &after_fork_child);
  Py_AtExit([] {
    core::set_observer(nullptr);
    if (memory.control) memory.control->exiting.store(1);
  });
  return true;
}

void start_recording() {
  memory.control->installed.store(1);
  core::set_observer(&recorder());
}
void stop_recording() { core::set_observer(nullptr); }
bool peel_is_gone() { return peel_socket < 0 || gone(nullptr); }
bool is_recording() { return core::observer() == &recorder(); }
Detail detail() { return wanted; }
wire::ArenaWriter& arena() { return definitions; }
uint32_t process_epoch() { return epoch; }

}  // namespace peel::embedded
