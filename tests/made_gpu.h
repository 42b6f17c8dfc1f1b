// A session file as a training loop on a GPU would leave it, made up: two threads, two streams, launches, copies,
// gaps of every kind. Every time in it is invented; what is joined to what is as CUPTI does it.
#pragma once
#include <sqlite3.h>
#include <unistd.h>

#include <cstdlib>
#include <string>
#include <vector>

#include "sessions/format.h"
#include "sessions/schema_sql.h"

namespace peel::test {

class MadeGpu {
 public:
  static constexpr int64_t kPid = 4242, kMain = 4242, kBackward = 4260;

  MadeGpu(const std::string& path, int steps) {
    ::unlink(path.c_str());
    if (sqlite3_open(path.c_str(), &db_) != SQLITE_OK) std::abort();
    sql("PRAGMA application_id=" + std::to_string(kApplicationId) + "; PRAGMA user_version=1; PRAGMA journal_mode=OFF; PRAGMA synchronous=OFF; BEGIN");
    sql(kSchemaSql);
    sql("INSERT INTO meta VALUES('format','1'),('state','complete'),('engine','pytorch'),('engine_version','made up'),('program','/home/me/train_cuda.py');"
        "INSERT INTO dispatch_key VALUES(0,'Undefined',NULL,NULL,0),(19,'ADInplaceOrView',34,NULL,94),(50,'CUDA',16,1,2),(135,'AutogradCUDA',36,1,97);"
        "INSERT INTO keyset VALUES(1,85899411458,'DispatchKeySet(CUDA, ADInplaceOrView, AutogradCUDA)'),(2,17179934722,'DispatchKeySet(CUDA, ADInplaceOrView)'),(3,65538,'DispatchKeySet(CUDA)');"
        "INSERT INTO tls VALUES(1,17246978048,562657895645184,1,0,NULL); INSERT INTO process VALUES(1,4242,NULL,'python',0,NULL);"
        "INSERT INTO thread VALUES(1,4242,1,'python'),(2,4260,1,'pt_autograd_0'); INSERT INTO source VALUES('/home/me/train_cuda.py','import torch\n')");
    for (int step = 0; step < steps; step++) one_step(step);
    sql("INSERT OR REPLACE INTO meta VALUES('hops','" + std::to_string(hops_) + "'); COMMIT");
    sqlite3_close(db_);
  }
  uint32_t hops() const { return hops_; }
  uint32_t kernels() const { return kernels_; }
  uint32_t copies() const { return copies_; }

 private:
  struct Open { uint32_t id; };
  static std::string num(int64_t v) { return std::to_string(v); }
  void sql(const std::string& s) {
    char* error = nullptr;
    if (sqlite3_exec(db_, s.c_str(), nullptr, nullptr, &error) == SQLITE_OK) return;
    std::fprintf(stderr, "%s: %s\n", s.c_str(), error);
    std::abort();
  }
  uint32_t string(const std::string& text) {
    for (size_t i = 0; i < strings_.size(); i++) if (strings_[i] == text) return static_cast<uint32_t>(i + 1);
    strings_.push_back(text);
    sql("INSERT INTO string VALUES(" + num(int64_t(strings_.size())) + ",'" + text + "')");
    return static_cast<uint32_t>(strings_.size());
  }
  uint32_t op(const std::string& name) {
    for (size_t i = 0; i < ops_.size(); i++) if (ops_[i] == name) return static_cast<uint32_t>(i + 1);
    ops_.push_back(name);
    const std::string id = num(int64_t(ops_.size()));
    sql("INSERT INTO op VALUES(" + id + ",'aten::" + name + "','',NULL); INSERT INTO kernel VALUES(" + id + "," + id + ",135,'" +
        (name == "linear" ? "math kernel" : "autograd kernel") + "','both','registered at VariableType.cpp:1',0)");
    return static_cast<uint32_t>(ops_.size());
  }
  uint32_t line(int number) {
    const uint32_t file = string("/home/me/train_cuda.py"), function = string("<module>");
    sql("INSERT OR IGNORE INTO stack VALUES(" + num(number) + ",NULL," + num(file) + "," + num(number) + "," + num(function) + ")");
    return static_cast<uint32_t>(number);
  }

  uint32_t begin(int64_t t, uint32_t parent, int kind, const std::string& name, int key, int thread, int at_line) {
    const uint32_t id = ++hops_;
    const std::string o = kind == 7 ? "NULL" : num(op(name));
    sql("INSERT INTO event VALUES(" + num(id) + "," + (parent ? num(parent) : "NULL") + "," + num(thread) + "," + o + "," + num(kind) + "," + (kind == 7 ? "NULL" : num(key)) + "," +
        (key == 135 ? "1" : key == 19 ? "2" : "3") + "," + (kind ? "NULL" : "1") + ",1," + (key == 135 && kind != 7 ? o : "NULL") + "," + num(line(at_line)) + "," + num(t) + ",NULL,0)");
    return id;
  }
  void end(uint32_t id, int64_t t) { sql("UPDATE event SET end_ns=" + num(t) + " WHERE id=" + num(id)); }
  uint32_t node(uint32_t event, const std::string& name) {
    const uint32_t id = ++nodes_;
    sql("INSERT INTO node VALUES(" + num(id) + "," + num(event) + "," + num(string(name)) + "," + num(id) + ",1,1,NULL,NULL,NULL)");
    return id;
  }
  int64_t call(int64_t t, int64_t length, uint32_t event, const std::string& name, int64_t tid) {
    sql("INSERT INTO CUPTI_ACTIVITY_KIND_RUNTIME VALUES(" + num(t) + "," + num(t + length) + ",0," + num(kPid << 24 | tid) + "," + num(++correlation_) + "," + num(string(name)) + ",0,NULL," + num(event) + ")");
    return correlation_;
  }
  /// Work on stream 7 that begins when it may; returns its end.
  int64_t kernel(int64_t launched, int64_t length, uint32_t event, const std::string& name, int grid, int block, int64_t tid) {
    const int64_t correlation = call(launched, 4200, event, "cudaLaunchKernel", tid), start = std::max(launched + 7000, gpu_free_ + 1100);
    kernels_++;
    const uint32_t full = string("void at::native::" + name + "<float, 4>(float*, float const*, int)"), brief = string(name);
    sql("INSERT INTO CUPTI_ACTIVITY_KIND_KERNEL VALUES(" + num(start) + "," + num(start + length) + ",0,1,NULL,7," + num(correlation) + "," + num(kPid << 24) + "," + num(full) + "," + num(brief) +
        ",NULL,1,0,40," + num(grid) + ",1,1," + num(block) + ",1,1,0,16384,0,0," + num(kernels_) + ",NULL,NULL,NULL,NULL)");
    return gpu_free_ = start + length;
  }

  // A call at AutogradCUDA with the kernel below it, as one line of Python makes it.
  uint32_t simple(int64_t& t, uint32_t parent, const std::string& name, const std::string& kernel_name, int64_t gpu, int at_line, const std::string& node_name, bool in_place = false) {
    const uint32_t a = begin(t, parent, 0, name, 135, 1, at_line);
    uint32_t inner = a;
    t += 4000;
    if (in_place) inner = begin(t, a, 1, name, 19, 1, at_line), t += 3000;
    const uint32_t c = begin(t, inner, 1, name, 50, 1, at_line);
    if (!kernel_name.empty()) kernel(t + 8000, gpu, c, kernel_name, 24, 256, kMain);
    t += 15000;
    end(c, t);
    if (in_place) end(inner, t += 1000);
    end(a, t += 2500);
    if (!node_name.empty()) made_.push_back({node(a, node_name), node_name});
    t += 3000;
    return a;
  }
  void linear(int64_t& t, int at_line, const std::string& module) {
    const int64_t from = t;
    const uint32_t first = hops_ + 1, l = begin(t, 0, 0, "linear", 135, 1, at_line);
    t += 3000;
    simple(t, l, "t", "", 0, at_line, "TBackward0");
    simple(t, l, "addmm", "sgemm_128x64", 28000, at_line, "AddmmBackward0");
    end(l, t);
    span("module", module, "Linear", 1, first, hops_, from - 1500, t + 1500);
    t += 4000;
  }
  void span(const std::string& kind, const std::string& name, const std::string& detail, int thread, uint32_t first, uint32_t last, int64_t from, int64_t to) {
    sql("INSERT INTO span VALUES(NULL,'" + kind + "','" + name + "','" + detail + "'," + num(thread) + "," + (first && first <= last ? num(first) + "," + num(last) : "NULL,NULL") + ",NULL," + num(from) + "," +
        num(to) + ",NULL,1)");
  }

  void one_step(int step) {
    made_.clear();
    // The next batch is copied on another stream; the compute stream is told to wait for it.
    int64_t t = now_ + 6000;
    const uint32_t to = begin(t, 0, 0, "_to_copy", 135, 1, 20), copy = begin(t + 3000, to, 1, "_to_copy", 50, 1, 20);
    const int64_t c = call(t + 6000, 3000, copy, "cudaMemcpyAsync", kMain), start = std::max(t + 10000, copy_free_);
    copy_free_ = start + 60000;
    copies_++;
    sql("INSERT INTO CUPTI_ACTIVITY_KIND_MEMCPY VALUES(" + num(start) + "," + num(copy_free_) + ",0,1,NULL,20," + num(c) + "," + num(kPid << 24) + ",786432,1,NULL,1,2,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL)");
    const int64_t record = call(t + 10000, 900, copy, "cudaEventRecord", kMain);
    sql("INSERT INTO CUPTI_ACTIVITY_KIND_CUDA_EVENT VALUES(0,1,NULL,20," + num(record) + "," + num(kPid << 24) + ",3," + num(copy) + ")");
    const int64_t wait = call(t + 11200, 900, copy, "cudaStreamWaitEvent", kMain);
    sql("INSERT INTO CUPTI_ACTIVITY_KIND_SYNCHRONIZATION VALUES(" + num(t + 11200) + "," + num(t + 12100) + ",0,1,NULL,7," + num(wait) + "," + num(kPid << 24) + ",2,3,NULL," + num(copy) + ")");
    end(copy, t + 13000), end(to, t + 15000);
    t += 20000;
    gpu_free_ = std::max(gpu_free_, copy_free_);
    const uint32_t first = hops_ + 1;
    const int64_t forward = t;
    t += 4000;
    linear(t, 17, "net.0");
    const int64_t relu_from = t;
    const uint32_t relu = hops_ + 1;
    simple(t, 0, "relu_", "vectorized_elementwise_kernel", 11000, 17, "ReluBackward0", true);
    span("module", "net.1", "ReLU", 1, relu, hops_, relu_from - 1000, t - 1500);
    linear(t, 17, "net.2");
    span("module", "net", "Sequential", 1, first, hops_, forward, t);
    t += 3000;
    simple(t, 0, "mse_loss", "reduce_kernel", 9000, 18, "MseLossBackward0");
    // Backward runs on the device's thread, the main thread waits.
    const int64_t backward = t;
    int64_t b = t + 12000;
    for (size_t i = made_.size(); i-- > 0;) {
      const auto [id, name] = made_[i];
      const uint32_t run = begin(b, 0, 7, "", 0, 2, 19);
      sql("INSERT INTO node_run VALUES(NULL," + num(id) + "," + num(run) + "," + num(step + 1) + "," + num(run - 1) + ")");
      b += 3000;
      if (name != "TBackward0") {
        for (int k = 0; k < (name == "AddmmBackward0" ? 2 : 1); k++) {
          const std::string inner = name == "AddmmBackward0" ? "mm" : name == "ReluBackward0" ? "threshold_backward" : "mse_loss_backward";
          const uint32_t a = begin(b, run, 0, inner, 135, 2, 19), cu = begin(b + 3000, a, 1, inner, 50, 2, 19);
          kernel(b + 8000, inner == "mm" ? 26000 : 10000, cu, inner == "mm" ? "sgemm_128x64" : inner + "_kernel", 24, 256, kBackward);
          end(cu, b + 15000), end(a, b + 17000);
          b += 19000;
        }
      }
      end(run, b);
      b += 4000;
    }
    t = b + 6000;
    span("backward", "backward", "", 1, 0, 0, backward, t);
    t += 5000;
    const int64_t opt = t;
    const uint32_t opt_first = hops_ + 1;
    simple(t, 0, "_foreach_add_", "multi_tensor_apply_kernel", 16000, 21, "", true);
    span("optimizer", "SGD.step", "", 1, opt_first, hops_, opt - 2000, t);
    // loss.item(): the program waits for the GPU.
    const uint32_t item = begin(t, 0, 0, "item", 135, 1, 22), local = begin(t + 3000, item, 0, "_local_scalar_dense", 50, 1, 22);
    const int64_t d2h = call(t + 6000, 3000, local, "cudaMemcpyAsync", kMain), at = std::max(t + 12000, gpu_free_ + 1200);
    copies_++;
    sql("INSERT INTO CUPTI_ACTIVITY_KIND_MEMCPY VALUES(" + num(at) + "," + num(at + 1800) + ",0,1,NULL,7," + num(d2h) + "," + num(kPid << 24) + ",4,2,NULL,2,0,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL)");
    gpu_free_ = at + 1800;
    const int64_t sync = call(t + 10000, gpu_free_ + 6000 - t - 10000, local, "cudaStreamSynchronize", kMain);
    sql("INSERT INTO CUPTI_ACTIVITY_KIND_SYNCHRONIZATION VALUES(" + num(t + 10000) + "," + num(gpu_free_ + 6000) + ",0,1,NULL,7," + num(sync) + "," + num(kPid << 24) + ",3,NULL,NULL," + num(local) + ")");
    t = gpu_free_ + 9000;
    end(local, t), end(item, t + 2000);
    now_ = t + 9000;
  }

  sqlite3* db_ = nullptr;
  std::vector<std::string> strings_, ops_;
  std::vector<std::pair<uint32_t, std::string>> made_;
  uint32_t hops_ = 0, nodes_ = 0, kernels_ = 0, copies_ = 0;
  int64_t now_ = 0, gpu_free_ = 0, copy_free_ = 0, correlation_ = 100;
};

}  // namespace peel::test
