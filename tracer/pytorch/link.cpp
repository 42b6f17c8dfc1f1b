// Memory, threads and processes: the connection to peel, a ring for each thread, and what happens at fork.
#include <Python.h>
#include <pthread.h>
#include <unistd.h>

#include <cstdlib>
#include <cstring>

#include "tracer/pytorch/agent.h"
#include "tracer/wire/attach.h"

namespace peel::agent {

__thread Thread* tl_thread __attribute__((tls_model("initial-exec"))) = nullptr;
uint32_t g_process_epoch = 1;

namespace {

constexpr uint64_t kPopulate = 1u << 20;  // of each new ring, so that the first hops don't fault page by page

wire::Memory g_memory;
wire::ArenaWriter g_arena;
int g_socket = -1;
uint32_t g_wanted = kOff;  // the detail asked for
wire::OnFull g_on_full = wire::OnFull::kWait;
pthread_key_t g_key;
char g_name[64];
// Set once a thread's own data is being destroyed: later hops of the dying thread are not recorded.
__thread bool tl_dying = false;

bool gone(void*) { return peel_is_gone(); }

void thread_ends(void* p) {
  auto* t = static_cast<Thread*>(p);
  tl_dying = true;
  tl_thread = nullptr;
  t->process_epoch == g_process_epoch ? t->ring.close() : t->ring.forget();
  delete t;
}

bool share_memory(std::string* why_not) {
  if (!wire::offer_memory(g_name, &g_memory, &g_socket, why_not)) return false;
  if (!g_arena.open(g_memory, &gone)) return *why_not = "shared memory cannot be mapped", false;
  return true;
}

// ---- fork: the child starts afresh as a process of its own
uint32_t g_before_fork = kOff;
void before_fork() { definitions_mutex().lock(); }
void after_fork_parent() { definitions_mutex().unlock(); }
void after_fork_child() {
  definitions_mutex().unlock();
  const uint32_t detail = g_detail.exchange(kOff);
  ++g_process_epoch;
  forget_standing();
  if (Thread* t = tl_thread) {
    static const std::atomic<uint32_t> nobody{0};
    t->ring.forget();
    t->attention = &nobody;
    pthread_setspecific(g_key, nullptr);
    tl_thread = nullptr;  // the old Thread is left alone: its frames belong to hops that the parent finishes
  }
  g_arena.forget();
  g_memory.forget();
  if (g_socket >= 0) close(g_socket);
  g_socket = -1;
  std::string why_not;
  if (detail == kOff || !share_memory(&why_not)) return;
  g_epoch.fetch_add(1);
  define_keys();
  g_memory.control->installed.store(1);
  g_detail.store(detail);
}

}  // namespace

bool peel_is_gone() { return wire::is_gone(g_socket); }
bool finalizing() {
#if PY_VERSION_HEX >= 0x030d0000
  return Py_IsFinalizing();
#else
  return _Py_IsFinalizing();
#endif
}

std::mutex& definitions_mutex() {
  static auto* m = new std::mutex();
  return *m;
}
wire::ArenaWriter& arena() { return g_arena; }
bool wire_recording() { return g_memory.control && g_memory.control->recording.load(std::memory_order_relaxed) != 0 && !peel_is_gone(); }
void stop_recording() { g_detail.store(kOff); }

bool connect_to_peel(const char* name, std::string* why_not) {
  strncpy(g_name, name, sizeof g_name - 1);
  const char* detail = getenv(wire::kDetailEnv);
  g_wanted = detail && !strcmp(detail, "keys") ? kKeys : kStandard;
  const char* full = getenv(wire::kOnFullEnv);
  if (full && !strcmp(full, "drop")) g_on_full = wire::OnFull::kDrop;
  if (pthread_key_create(&g_key, &thread_ends) != 0) return *why_not = "no thread key is left", false;
  if (!share_memory(why_not)) return false;
  pthread_atfork(&before_fork, &after_fork_parent, &after_fork_child);
  Py_AtExit([] { if (g_memory.control) g_memory.control->exiting.store(1); });
  return true;
}

void start_recording() {
  if (!g_memory.control) return;
  g_memory.control->installed.store(1);
  g_detail.store(g_wanted);
}

Thread* open_thread() {
  if (tl_dying || !g_memory.control) return nullptr;
  const uint32_t index = wire::claim_ring(g_memory.control);
  if (index == wire::kMaxRings) return nullptr;
  auto* t = new Thread();
  const auto os_id = static_cast<uint64_t>(gettid());
  if (!t->ring.open(g_memory, index, os_id, g_on_full, &gone, nullptr, kPopulate)) {
    g_memory.control->ring[index].state.store(wire::kFree);
    delete t;
    return nullptr;
  }
  t->process_epoch = g_process_epoch;
  t->control = g_memory.control;
  t->attention = &g_memory.control->live.attention;
  t->ring_index = index;
  t->keysets = &c10::impl::raw_local_dispatch_key_set;
  t->autograd = &c10::AutogradState::get_tls_state();
  char name[16] = "";
  pthread_getname_np(pthread_self(), name, sizeof name);
  const uint32_t text = intern(os_id == static_cast<uint64_t>(getpid()) ? "main" : name);
  {
    std::lock_guard<std::mutex> lock(definitions_mutex());
    wire::DefName d{};
    d.head.kind = wire::DefKind::kThread;
    d.head.id = index;
    d.name = text;
    g_arena.define(d);
  }
  pthread_setspecific(g_key, t);
  return tl_thread = t;
}

void lost(Thread* t, const char* reason, uint64_t count) {
  const uint32_t text = intern(reason);
  constexpr uint32_t kWords = sizeof(wire::Lost) / 8;
  if (uint64_t* at = t->ring.reserve(kWords)) {
    *reinterpret_cast<wire::Lost*>(at) = {{wire::RecordKind::kLost, kWords, text}, count};
    t->ring.publish(kWords);
  }
}

}  // namespace peel::agent
