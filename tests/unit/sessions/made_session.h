// Small session files for tests, written with the real schema and plain SQL. Key numbering is that of
// PyTorch 2.13 (docs: layout B of the facts, sections 1.2 to 1.4), or of 2.11 and 2.12 (layout A).
#pragma once
#include <sqlite3.h>

#include <string>
#include <vector>

#include "sessions/session.h"
#include "sessions/why.h"

namespace peel::test {

// Key sets as measured on 2.13.0 (facts 1.7, 1.8, 2.3, 3.9).
constexpr uint64_t kCpuTensor = 0x9400010001;          // CPU, ADInplaceOrView, AutogradCPU, AutocastCPU
constexpr uint64_t kCpuInferenceTensor = 0x8000010001; // CPU, AutocastCPU
constexpr uint64_t kIncludedDefault = 0x404000000;     // BackendSelect, ADInplaceOrView
constexpr uint64_t kExcludedDefault = 0x1ff8000000000; // the ten Autocast keys
constexpr uint64_t kIncludedInference = 0x4000000;
constexpr uint64_t kExcludedInference = 0x1ffb800000000;
constexpr uint64_t kExcludedBelowAdiov = 0x1ffbc00000000;
constexpr uint64_t kAddMask = 0x3fd7387bfbffffff;      // add.Tensor's non-fallthrough keys
constexpr uint64_t kAddInplaceMask = kAddMask | uint64_t{1} << 34;
constexpr uint64_t kAfterAutograd = 0x20000007ffffffff;
constexpr uint64_t kAfterAdiov = 0x20000003ffffffff;

struct HopRow {
  uint32_t parent = 0;
  uint32_t op = 0;
  Kind kind = Kind::kCall;
  const char* key = nullptr;
  uint64_t keyset = 0, arg_keyset = 0;
  uint32_t tls = 1, stack = 0, thread = 1, kernel = 0;
  int64_t begin = -1, end = -2;  // -1, -2: made up from the id
  uint32_t flags = 0;
};

class MadeSession {
 public:
  /// A file in a new folder of the test's own, open for writing until close().
  explicit MadeSession(bool layout_a = false);
  ~MadeSession();
  const std::string& path() const { return path_; }
  std::string folder() const;
  sqlite3* db() { return db_; }
  void sql(const std::string& statements);
  std::string one(const std::string& statement);  // first column of the first row
  void meta(const std::string& key, const std::string& value);
  uint32_t string(const std::string& text);
  uint32_t op(const std::string& name, const std::string& overload = "", const std::vector<Op::Argument>& arguments = {});
  uint32_t tls(uint64_t included, uint64_t excluded, bool grad = true, bool inference = false, const std::string& modes = "");
  uint32_t keyset(uint64_t raw);
  uint32_t kernel(uint32_t op, const char* key, const char* rule, const char* at = "registered at /pytorch/RegisterCPU_0.cpp:8", bool fallthrough = false);
  void slot(uint32_t op, const char* key, uint32_t kernel, uint32_t since = 0);
  void mask(uint32_t op, uint64_t mask, uint32_t since = 0);
  uint32_t frame(const std::string& file, int line, const std::string& function = "<module>", uint32_t parent = 0);
  uint32_t hop(const HopRow&);
  uint32_t node(uint32_t event, const std::string& name, int64_t sequence);
  void edge(uint32_t node, int slot, uint32_t next);
  void argument(uint32_t event, int position, uint32_t tensor, uint64_t keyset, const std::string& value = "", const std::string& flags = "", bool result = false,
                int list_index = -1);
  int key_number(const std::string& name);
  /// Ends writing and leaves one file.
  void close();
  /// close(), then opens it; fails the test when that fails.
  std::unique_ptr<Session> open();

 private:
  std::string path_;
  sqlite3* db_ = nullptr;
  uint32_t hops_ = 0;
};

/// A new empty folder for this test, removed at the end of the run.
std::string test_folder();

}  // namespace peel::test
