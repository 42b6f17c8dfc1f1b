#include "tests/unit/sessions/made_session.h"

#include <cstdlib>
#include <filesystem>

#include "sessions/format.h"
#include "sessions/schema_sql.h"
#include "tests/catch.h"

namespace peel::test {
namespace {

struct Folders {
  std::string root;
  int count = 0;
  Folders() {
    char name[] = "/tmp/peel-test-XXXXXX";
    root = ::mkdtemp(name);
  }
  ~Folders() {
    std::error_code ignored;
    std::filesystem::remove_all(root, ignored);
  }
};

/// Functionality keys in order, `*` = one per backend; rows of facts table 1.2.
std::vector<std::string> functionalities(bool layout_a) {
  std::vector<std::string> f = {"*", "FPGA", "Vulkan", "Metal", "*Quantized", "CustomRNGKeyId", "MkldnnCPU", "*Sparse", "*SparseCsr",
                                "*NestedTensor", "BackendSelect", "Fake", "Python", "FuncTorchDynamicLayerBackMode", "Functionalize",
                                "Conjugate", "Negative", "ZeroTensor", "ADInplaceOrView", "AutogradOther", "*Autograd", "AutogradNestedTensor",
                                "Tracer", "AutocastCPU", "AutocastMTIA", "AutocastMAIA", "AutocastXPU", "AutocastIPU", "AutocastHPU", "AutocastXLA",
                                "AutocastMPS", "AutocastCUDA", "AutocastPrivateUse1", "FuncTorchBatched", "BatchedNestedTensor", "FuncTorchVmapMode",
                                "Batched", "VmapMode", "FuncTorchGradWrapper", "DeferredInit", "PythonTLSSnapshot", "FuncTorchDynamicLayerFrontMode",
                                "TESTING_ONLY_GenericWrapper", "TESTING_ONLY_GenericMode", "PreDispatch", "PythonDispatcher"};
  if (layout_a) {
    std::swap(f[11], f[12]);  // Python below Fake
    f.insert(f.begin() + 15, "Named");
  }
  return f;
}

}  // namespace

std::string test_folder() {
  static Folders folders;
  const std::string path = folders.root + "/" + std::to_string(++folders.count);
  std::filesystem::create_directory(path);
  return path;
}

MadeSession::MadeSession(bool layout_a) : path_(test_folder() + "/made.peel") {
  REQUIRE(sqlite3_open(path_.c_str(), &db_) == SQLITE_OK);
  sql("PRAGMA application_id=" + std::to_string(kApplicationId) + "; PRAGMA user_version=1; PRAGMA synchronous=OFF; BEGIN;");
  sql(kSchemaSql);
  static const char* const backends[] = {"CPU", "CUDA", "HIP", "XLA", "MPS", "IPU", "XPU", "HPU", "VE", "Lazy", "MTIA", "MAIA", "PrivateUse1", "PrivateUse2", "PrivateUse3", "Meta"};
  sql("INSERT INTO dispatch_key VALUES(0,'Undefined',NULL,NULL,0)");
  const auto names = functionalities(layout_a);
  int value = 1, slot = 1, runtime = static_cast<int>(names.size()) + 2;
  for (const std::string& n : names) {
    const int bit = 15 + value;
    if (n[0] != '*') {
      sql("INSERT INTO dispatch_key VALUES(" + std::to_string(value) + ",'" + n + "'," + std::to_string(bit) + ",NULL," + std::to_string(slot++) + ")");
    } else {
      ++runtime;  // StartOf...Backends
      for (int b = 0; b < 16; ++b) {
        sql("INSERT INTO dispatch_key VALUES(" + std::to_string(runtime++) + ",'" + n.substr(1) + backends[b] + "'," + std::to_string(bit) + "," + std::to_string(b) + "," +
            std::to_string(slot++) + ")");
      }
    }
    ++value;
  }
  for (const char* alias : {"Autograd", "CompositeImplicitAutograd", "FuncTorchBatchedDecomposition", "CompositeImplicitAutogradNestedTensor",
                            "CompositeExplicitAutograd", "CompositeExplicitAutogradNonFunctional"}) {
    sql("INSERT INTO dispatch_key VALUES(" + std::to_string(runtime++) + ",'" + alias + "',NULL,NULL,NULL)");
  }
  for (int k = 0; k < 8; ++k) sql("INSERT INTO event_kind VALUES(" + std::to_string(k) + ",'" + kind_name(static_cast<Kind>(k)) + "')");
  meta("format", "1");
  meta("state", "complete");
  meta("engine", "pytorch");
  meta("engine_version", layout_a ? "2.12.0" : "2.13.0");
  sql("INSERT INTO process VALUES(1,100,NULL,'python',0,NULL); INSERT INTO thread VALUES(1,100,1,'main'),(2,101,1,'worker');");
  tls(kIncludedDefault, kExcludedDefault);
}

MadeSession::~MadeSession() { close(); }

std::string MadeSession::folder() const { return path_.substr(0, path_.rfind('/')); }

void MadeSession::sql(const std::string& statements) {
  char* error = nullptr;
  const int rc = sqlite3_exec(db_, statements.c_str(), nullptr, nullptr, &error);
  INFO(statements << ": " << (error ? error : ""));
  sqlite3_free(error);
  REQUIRE(rc == SQLITE_OK);
}

std::string MadeSession::one(const std::string& statement) {
  sqlite3_stmt* s = nullptr;
  REQUIRE(sqlite3_prepare_v2(db_, statement.c_str(), -1, &s, nullptr) == SQLITE_OK);
  std::string out;
  if (sqlite3_step(s) == SQLITE_ROW) {
    if (const unsigned char* t = sqlite3_column_text(s, 0)) out = reinterpret_cast<const char*>(t);
  }
  sqlite3_finalize(s);
  return out;
}

void MadeSession::meta(const std::string& key, const std::string& value) {
  sql("INSERT OR REPLACE INTO meta VALUES('" + key + "','" + value + "')");
}

uint32_t MadeSession::string(const std::string& text) {
  const std::string known = one("SELECT id FROM string WHERE value='" + text + "'");
  if (!known.empty()) return static_cast<uint32_t>(std::stoul(known));
  sql("INSERT INTO string(value) VALUES('" + text + "')");
  return static_cast<uint32_t>(sqlite3_last_insert_rowid(db_));
}

uint32_t MadeSession::op(const std::string& name, const std::string& overload, const std::vector<Op::Argument>& arguments) {
  sql("INSERT INTO op(name, overload, schema) VALUES('" + name + "','" + overload + "',NULL)");
  const auto id = static_cast<uint32_t>(sqlite3_last_insert_rowid(db_));
  for (size_t i = 0; i < arguments.size(); ++i) {
    sql("INSERT INTO op_argument VALUES(" + std::to_string(id) + "," + std::to_string(i) + ",'" + arguments[i].name + "'," + std::to_string(arguments[i].flags) + ")");
  }
  return id;
}

uint32_t MadeSession::tls(uint64_t included, uint64_t excluded, bool grad, bool inference, const std::string& modes) {
  sql("INSERT INTO tls(included, excluded, grad_mode, inference_mode, modes) VALUES(" + std::to_string(static_cast<int64_t>(included)) + "," +
      std::to_string(static_cast<int64_t>(excluded)) + "," + std::to_string(grad) + "," + std::to_string(inference) + ",'" + modes + "')");
  return static_cast<uint32_t>(sqlite3_last_insert_rowid(db_));
}

uint32_t MadeSession::keyset(uint64_t raw) {
  const std::string value = std::to_string(static_cast<int64_t>(raw));
  const std::string known = one("SELECT id FROM keyset WHERE raw=" + value);
  if (!known.empty()) return static_cast<uint32_t>(std::stoul(known));
  sql("INSERT INTO keyset(raw, text) VALUES(" + value + ",'')");
  return static_cast<uint32_t>(sqlite3_last_insert_rowid(db_));
}

int MadeSession::key_number(const std::string& name) {
  const std::string id = one("SELECT id FROM dispatch_key WHERE name='" + name + "'");
  REQUIRE(!id.empty());
  return std::stoi(id);
}

uint32_t MadeSession::kernel(uint32_t op, const char* key, const char* rule, const char* at, bool fallthrough) {
  sql("INSERT INTO kernel(op, key, rule, convention, registered_at, fallthrough) VALUES(" + std::to_string(op) + "," + std::to_string(key_number(key)) + ",'" + rule +
      "','both','" + at + "'," + std::to_string(fallthrough) + ")");
  return static_cast<uint32_t>(sqlite3_last_insert_rowid(db_));
}

void MadeSession::slot(uint32_t op, const char* key, uint32_t kernel, uint32_t since) {
  sql("INSERT INTO table_slot VALUES(" + std::to_string(op) + ",(SELECT slot FROM dispatch_key WHERE name='" + key + "')," + std::to_string(kernel) + "," +
      std::to_string(since) + ",0)");
}

void MadeSession::mask(uint32_t op, uint64_t mask, uint32_t since) {
  sql("INSERT INTO op_mask VALUES(" + std::to_string(op) + ",NULL," + std::to_string(static_cast<int64_t>(mask)) + "," + std::to_string(since) + ")");
}

uint32_t MadeSession::frame(const std::string& file, int line, const std::string& function, uint32_t parent) {
  sql("INSERT INTO stack(parent, file, line, function) VALUES(" + (parent ? std::to_string(parent) : "NULL") + "," + std::to_string(string(file)) + "," +
      std::to_string(line) + "," + std::to_string(string(function)) + ")");
  return static_cast<uint32_t>(sqlite3_last_insert_rowid(db_));
}

uint32_t MadeSession::hop(const HopRow& h) {
  const uint32_t id = ++hops_;
  const auto null = [](uint64_t v) { return v ? std::to_string(v) : std::string("NULL"); };
  const int64_t begin = h.begin >= 0 ? h.begin : int64_t{id} * 1000;
  const std::string end = h.end == -2 ? std::to_string(begin + 500) : h.end < 0 ? "NULL" : std::to_string(h.end);
  sql("INSERT INTO event VALUES(" + std::to_string(id) + "," + null(h.parent) + "," + std::to_string(h.thread) + "," + null(h.op) + "," +
      std::to_string(static_cast<int>(h.kind)) + "," + (h.key ? std::to_string(key_number(h.key)) : "NULL") + "," + std::to_string(keyset(h.keyset)) + "," +
      (is_call(h.kind) ? std::to_string(keyset(h.arg_keyset)) : "NULL") + "," + null(h.tls) + "," + null(h.kernel) + "," + null(h.stack) + "," + std::to_string(begin) + "," +
      end + "," + std::to_string(h.flags) + ")");
  return id;
}

uint32_t MadeSession::node(uint32_t event, const std::string& name, int64_t sequence) {
  sql("INSERT INTO node(event, name, sequence_nr, thread, topological_nr, found_event) VALUES(" + std::to_string(event) + "," + std::to_string(string(name)) + "," +
      std::to_string(sequence) + ",0,1," + std::to_string(event) + ")");
  return static_cast<uint32_t>(sqlite3_last_insert_rowid(db_));
}

void MadeSession::edge(uint32_t node, int slot, uint32_t next) {
  sql("INSERT INTO edge VALUES(" + std::to_string(node) + "," + std::to_string(slot) + "," + (next ? std::to_string(next) : "NULL") + ",0)");
}

void MadeSession::argument(uint32_t event, int position, uint32_t tensor, uint64_t keyset_raw, const std::string& value, const std::string& flags, bool result, int list_index) {
  std::string meta_id = "NULL";
  if (tensor) {
    sql("INSERT OR IGNORE INTO tensor VALUES(" + std::to_string(tensor) + ",NULL,NULL," + std::to_string(tensor) + ",NULL," + std::to_string(event) + ")");
    sql("INSERT INTO tensor_meta(dtype, shape, strides, device, layout, keyset, flags) VALUES(" + std::to_string(string("float32")) + "," + std::to_string(string("[2,3]")) +
        "," + std::to_string(string("[3,1]")) + "," + std::to_string(string("cpu")) + "," + std::to_string(string("strided")) + "," + std::to_string(keyset(keyset_raw)) + "," +
        std::to_string(string(flags)) + ")");
    meta_id = std::to_string(sqlite3_last_insert_rowid(db_));
  }
  sql(std::string("INSERT INTO ") + (result ? "result" : "argument") + " VALUES(" + std::to_string(event) + "," + std::to_string(position) + "," + std::to_string(list_index) +
      ",NULL," + (tensor ? std::to_string(tensor) : "NULL") + "," + meta_id + "," + (tensor ? "0" : "NULL") + "," + (value.empty() ? "NULL" : std::to_string(string(value))) +
      "," + std::to_string(keyset_raw != 0) + ")");
}

void MadeSession::close() {
  if (!db_) return;
  if (!sqlite3_get_autocommit(db_)) sqlite3_exec(db_, "COMMIT", nullptr, nullptr, nullptr);
  sqlite3_close(db_);
  db_ = nullptr;
}

std::unique_ptr<Session> MadeSession::open() {
  close();
  auto session = Session::open(path_, true);
  INFO((session ? "" : session.error()));
  REQUIRE(session);
  return std::move(*session);
}

}  // namespace peel::test
