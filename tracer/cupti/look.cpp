// Bytes of a GPU's memory, for a thread that stands.
//
// What is read is what the tensor's memory holds when the work that the thread's current stream has by now is done: that is
// waited for, a second at most, on a stream of ours, which waits for an event there. The copy runs on it too, and no other stream
// waits for it; it goes into pageable memory, so nothing is allocated anywhere. Streams that are being captured are left alone.
// CUPTI's reports of all this are not the program's: activity.cpp asks is_our_*.
#include <c10/cuda/CUDAStream.h>
#include <cuda_runtime_api.h>
#include <dlfcn.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <deque>
#include <map>
#include <mutex>
#include <string>
#include <thread>

#include "tracer/cupti/gpu.h"
#include "tracer/wire/clock.h"

namespace peel::agent {
namespace {

// The runtime that PyTorch uses, found when it is needed: a PyTorch that hides it has everything else recorded.
#define PEEL_CUDA(X) \
  X(cudaPeekAtLastError) X(cudaGetLastError) X(cudaGetErrorString) X(cudaGetDevice) X(cudaSetDevice) X(cudaThreadExchangeStreamCaptureMode) \
  X(cudaStreamIsCapturing) X(cudaStreamQuery) X(cudaEventRecord)
struct Cuda {
#define X(name) decltype(&::name) name = nullptr;
  PEEL_CUDA(X)
#undef X
  // overloaded in C++
  cudaError_t (*wait_event)(cudaStream_t, cudaEvent_t, unsigned) = nullptr;
  cudaError_t (*create_stream)(cudaStream_t*, unsigned) = nullptr;
  cudaError_t (*create_event)(cudaEvent_t*, unsigned) = nullptr;
  cudaError_t (*copy)(void*, const void*, size_t, cudaMemcpyKind, cudaStream_t) = nullptr;
} cuda;

bool load_runtime() {
  if (cuda.copy) return true;
  Cuda c;
  const auto find = [](auto* function, const char* name) { return (*function = reinterpret_cast<std::remove_pointer_t<decltype(function)>>(dlsym(RTLD_DEFAULT, name))) != nullptr; };
#define X(name) if (!find(&c.name, #name)) return false;
  PEEL_CUDA(X)
#undef X
  if (!find(&c.wait_event, "cudaStreamWaitEvent") || !find(&c.create_stream, "cudaStreamCreateWithFlags") || !find(&c.create_event, "cudaEventCreateWithFlags") || !find(&c.copy, "cudaMemcpyAsync")) return false;
  cuda = c;
  return true;
}

constexpr auto kLongestWait = std::chrono::seconds(1);
constexpr auto kPause = std::chrono::microseconds(500);

struct Lane { cudaStream_t stream = nullptr; cudaEvent_t event = nullptr; };
struct Window { uint32_t thread; uint64_t from, to; };  // ticks

std::mutex g_mutex;  // of all below; held shortly
std::deque<Window> g_windows;
std::map<int, uint32_t> g_streams;  // by device: what CUPTI calls our stream
std::atomic<bool> g_looked{false};
constexpr size_t kMostWindows = 65536;

/// While one lives, what this thread asks of CUDA is ours.
class Looking {
 public:
  Looking() {
    std::lock_guard<std::mutex> lock(g_mutex);
    if (g_windows.size() >= kMostWindows) g_windows.pop_front();
    g_windows.push_back({static_cast<uint32_t>(syscall(SYS_gettid)), wire::ticks(), UINT64_MAX});
    g_looked = true;
  }
  ~Looking() {
    std::lock_guard<std::mutex> lock(g_mutex);
    const auto self = static_cast<uint32_t>(syscall(SYS_gettid));
    for (auto w = g_windows.rbegin(); w != g_windows.rend(); ++w)
      if (w->thread == self && w->to == UINT64_MAX) {
        w->to = wire::ticks();
        return;
      }
  }
};

/// The thread's device and capture mode as they were.
class Borrowed {
 public:
  explicit Borrowed(int device) {
    cuda.cudaThreadExchangeStreamCaptureMode(&mode_);
    good_ = cuda.cudaGetDevice(&before_) == cudaSuccess && (before_ == device || cuda.cudaSetDevice(device) == cudaSuccess);
    moved_ = good_ && before_ != device;
  }
  ~Borrowed() {
    if (moved_) cuda.cudaSetDevice(before_);
    cuda.cudaThreadExchangeStreamCaptureMode(&mode_);
    cuda.cudaGetLastError();  // there was none before: what is there is ours
  }
  bool good() const { return good_; }

 private:
  cudaStreamCaptureMode mode_ = cudaStreamCaptureModeRelaxed;
  int before_ = 0;
  bool good_ = false, moved_ = false;
};

const char* said(cudaError_t e, const char* what) {
  static thread_local std::string text;
  text = std::string("its values cannot be read: CUDA says of ") + what + ": " + cuda.cudaGetErrorString(e);
  return text.c_str();
}

cudaError_t lane_of(int device, Lane** out) {
  static std::map<int, Lane> lanes;
  Lane& l = lanes[device];
  *out = &l;
  if (!l.stream) {
    Lane fresh;
    if (const cudaError_t e = cuda.create_event(&fresh.event, cudaEventDisableTiming)) return e;
    if (const cudaError_t e = cuda.create_stream(&fresh.stream, cudaStreamNonBlocking)) return e;
    l = fresh;
  }
  if (const uint32_t id = cupti_stream(l.stream)) {  // CUPTI may have come after the last look
    std::lock_guard<std::mutex> lock(g_mutex);
    g_streams[device] = id;
  }
  return cudaSuccess;
}

}  // namespace

const char* read_gpu(int device, const void* from, void* to, size_t bytes) {
  static std::mutex one;
  std::lock_guard<std::mutex> lock(one);
  if (!load_runtime()) return "its values are on a GPU, and this PyTorch keeps CUDA's runtime to itself";
  if (const cudaError_t e = cuda.cudaPeekAtLastError()) return said(e, "the program's last call");
  const Looking looking;
  const Borrowed borrowed(device);
  if (!borrowed.good()) return "its values cannot be read: its GPU cannot be chosen";
  const cudaStream_t theirs = c10::cuda::getCurrentCUDAStream(static_cast<c10::DeviceIndex>(device)).stream();
  cudaStreamCaptureStatus capturing = cudaStreamCaptureStatusNone;
  const cudaError_t asked = cuda.cudaStreamIsCapturing(theirs, &capturing);
  if (asked == cudaErrorStreamCaptureImplicit || capturing != cudaStreamCaptureStatusNone) return "its stream is being captured into a CUDA graph: nothing has been computed yet";
  if (asked) return said(asked, "its stream");
  Lane* lane = nullptr;
  if (const cudaError_t e = lane_of(device, &lane)) return said(e, "a stream to copy on");
  if (const cudaError_t e = cuda.cudaEventRecord(lane->event, theirs)) return said(e, "its stream");
  if (const cudaError_t e = cuda.wait_event(lane->stream, lane->event, 0)) return said(e, "a stream to copy on");
  const auto until = std::chrono::steady_clock::now() + kLongestWait;
  cudaError_t done;
  while ((done = cuda.cudaStreamQuery(lane->stream)) == cudaErrorNotReady && std::chrono::steady_clock::now() < until) std::this_thread::sleep_for(kPause);
  if (done == cudaErrorNotReady) return "its stream is still busy with what was asked for before; look again later";
  if (done) return said(done, "the work before");
  const cudaError_t copied = cuda.copy(to, from, bytes, cudaMemcpyDeviceToHost, lane->stream);
  while ((done = cuda.cudaStreamQuery(lane->stream)) == cudaErrorNotReady) std::this_thread::sleep_for(kPause);
  if (copied || done) return said(copied ? copied : done, "the copy");
  return nullptr;
}

bool is_our_call(uint32_t thread, uint64_t ticks) {
  if (!g_looked.load()) return false;
  std::lock_guard<std::mutex> lock(g_mutex);
  for (auto w = g_windows.rbegin(); w != g_windows.rend(); ++w) {
    if (w->thread == thread && ticks >= w->from && ticks <= w->to) return true;
    if (w->to < ticks && w->to != UINT64_MAX) return false;  // one look at a time: older ones ended before
  }
  return false;
}

bool is_our_wait(uint32_t stream, uint64_t ticks) {
  if (!g_looked.load()) return false;
  std::lock_guard<std::mutex> lock(g_mutex);
  const bool ours = std::any_of(g_streams.begin(), g_streams.end(), [&](const auto& s) { return s.second == stream; });
  return ours && std::any_of(g_windows.begin(), g_windows.end(), [&](const Window& w) { return ticks >= w.from && ticks <= w.to; });
}

bool is_our_stream(uint32_t device, uint32_t stream) {
  if (!g_looked.load()) return false;
  std::lock_guard<std::mutex> lock(g_mutex);
  const auto at = g_streams.find(static_cast<int>(device));
  return at != g_streams.end() && at->second == stream;
}

}  // namespace peel::agent
