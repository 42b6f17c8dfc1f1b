// Run, pause, step, breakpoints, and questions to a thread that stands: what lies in the control block for them.
//
// Attention. Every hop tests one word, `attention`. While it is 0 nothing else is looked at.
//
// Stopping. A thread that has a reason to stop takes `focus` (one stop at a time in a process), sets kHold, fills in its Stand
// and waits for its bell. The other threads go on until their next hop begins; there they stand *along*, and go on when the
// focus does. Threads that only compute, wait, or run Python are not stopped. A thread that has a reason of its own while
// another one has the focus takes the focus after it.
//
// Orders. Peel stores `order` and rings `bell`. An order names the stop that it is meant for; others are ignored.
//
// Questions. One at a time in a process: peel fills in `question`, stores `asked` and rings the bell of the thread with the
// focus; the thread fills in `answer` and stores `answered`. Peel waits only as long as it likes: as long as
// answered != asked it asks nothing new. A question of a stop that is over is answered with nothing.
//
// Neither side ever waits for the other without end: a thread that stands looks several times a second whether peel is still
// there and still records, and goes on when not; Ctrl-C lets it go on too. All numbers that come from the other side are
// checked before use. Nothing here is locked, so a side that dies leaves nothing locked.
#pragma once
#include <linux/futex.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <climits>
#include <cstdint>
#include <cstring>
#include <ctime>
#include <string>
#include <string_view>
#include <vector>

namespace peel::wire {

constexpr uint32_t kBreakpoints = 64;             // at most; each has a slot, its bit in masks
constexpr uint32_t kBreakpointBytes = 16 * 1024;  // their table (breakpoints.h)
constexpr uint32_t kQuestionBytes = 1024;
constexpr uint32_t kAnswerBytes = 64 * 1024;

enum Attention : uint32_t {
  kWatch = 1,     // breakpoints are set (peel)
  kPause = 2,     // the thread whose hop begins next is to stop (peel; the thread that does clears it)
  kStepping = 4,  // a thread steps (program)
  kHold = 8,      // a thread has the focus (program)
};
enum class Order : uint32_t { kNone, kGo, kInto, kOver, kOut };
enum class Reason : uint32_t { kNone, kBreakpoint, kPause, kStep, kAlong };
/// kBefore: the hop's kernel has not run. kAfter: it has, or it raised; the hop's end is not published yet.
enum class Phase : uint32_t { kBefore, kAfter };

/// Where the thread of one ring stands. The thread writes it, but for `order`.
struct alignas(64) Stand {
  std::atomic<uint32_t> stop;   // number of the stop; 0 = it runs. Stored after the rest
  std::atomic<uint32_t> bell;   // futex
  std::atomic<uint32_t> order;  // Order | stop << 8; peel writes it
  Reason reason;
  Phase phase;
  uint32_t depth;               // of the hop; 0 = outermost
  uint64_t breakpoints;         // those that were hit
  uint64_t head;                // of its ring: the hop's records lie before it
};

enum class Ask : uint32_t {
  kTensors,    // kBefore: of the arguments, kAfter: of the results. Row: position, index in a list or -1, storage's address in
               // hexadecimal, elements looked at, minimum, maximum, mean of the finite, NaN, infinite, first values; or the
               // first three and a sentence why its values cannot be read
  kLocals,     // row: name, type, text; a row of one field says which call the next ones are of
  kThreads,    // row: the operating system's id, name, "file:line function"
  kState,      // row: name, text: included, excluded (raw, hexadecimal), grad_mode, inference_mode, modes
  kChange,     // `text` says what to change; row: "yes" or "no", and what will happen or why it can't
};
struct Question {
  Ask ask;
  uint32_t ring;   // of the thread with the focus
  uint32_t stop;
  uint32_t bytes;  // of text
  char text[kQuestionBytes];
};
struct Answer {
  uint32_t bytes;
  uint32_t cut;    // 1 = there was more
  char text[kAnswerBytes];  // rows (AnswerRows)
};

struct Live {
  alignas(64) std::atomic<uint32_t> attention;
  alignas(64) std::atomic<uint32_t> focus;   // ring + 1 of the thread that has it; 0 = nobody
  std::atomic<uint32_t> stops;               // counts stops of this process
  std::atomic<uint32_t> released;            // futex of threads that stand along; counts releases
  // the step that is asked for: which thread, what, and the depth it ends at (program)
  std::atomic<uint32_t> step_ring;
  std::atomic<Order> step;
  std::atomic<uint32_t> step_depth;
  alignas(64) std::atomic<uint32_t> asked;
  std::atomic<uint32_t> answered;            // futex
  std::atomic<uint32_t> edition;             // of the table; odd while it is written
  std::atomic<uint32_t> table_bytes;
  std::atomic<uint64_t> spent;               // slots of breakpoints that stop once and did
  std::atomic<uint64_t> hits[kBreakpoints];  // by slot; peel sets it to 0, and `spent`, when it gives the slot away
  std::atomic<uint64_t> table[kBreakpointBytes / 8];
  Question question;
  Answer answer;
  // behind it: Stand for each ring
};

/// Peel's side. At most kBreakpointBytes.
inline void write_table(Live& live, const std::vector<uint8_t>& bytes) {
  live.edition.fetch_or(1);
  for (size_t i = 0; i < bytes.size(); i += 8) {
    uint64_t word = 0;
    std::memcpy(&word, bytes.data() + i, std::min<size_t>(8, bytes.size() - i));
    live.table[i / 8].store(word, std::memory_order_release);  // not before the edition is odd
  }
  live.table_bytes.store(static_cast<uint32_t>(bytes.size()), std::memory_order_release);
  live.edition.fetch_add(1);
}
/// The program's side. False: it is being written.
inline bool read_table(const Live& live, std::vector<uint8_t>* bytes, uint32_t* edition) {
  *edition = live.edition.load(std::memory_order_acquire);
  if (*edition & 1) return false;
  bytes->resize(std::min(live.table_bytes.load(std::memory_order_acquire), kBreakpointBytes));
  for (size_t i = 0; i < bytes->size(); i += 8) {
    const uint64_t word = live.table[i / 8].load(std::memory_order_acquire);  // the edition is looked at after it
    std::memcpy(bytes->data() + i, &word, std::min<size_t>(8, bytes->size() - i));
  }
  return live.edition.load(std::memory_order_relaxed) == *edition;
}

// ---- futexes in memory that two processes share
inline void futex_wait(const std::atomic<uint32_t>& word, uint32_t while_it_is, long milliseconds) {
  const timespec t{milliseconds / 1000, milliseconds % 1000 * 1000000};
  syscall(SYS_futex, &word, FUTEX_WAIT, while_it_is, &t, nullptr, 0);
}
inline void futex_wake(const std::atomic<uint32_t>& word) { syscall(SYS_futex, &word, FUTEX_WAKE, INT_MAX, nullptr, nullptr, 0); }
inline void ring_bell(std::atomic<uint32_t>& word) {
  word.fetch_add(1, std::memory_order_acq_rel);
  futex_wake(word);
}

constexpr uint32_t order_word(Order o, uint32_t stop) { return static_cast<uint32_t>(o) | stop << 8; }
constexpr Order order_of(uint32_t word, uint32_t stop) { return word >> 8 == (stop & 0xffffff) ? static_cast<Order>(word & 0xff) : Order::kNone; }

/// Rows of fields as text: fields end with a tab, rows with a newline; both and the backslash are escaped.
class AnswerRows {
 public:
  explicit AnswerRows(Answer& to) : to_(to) { to_.bytes = to_.cut = 0; }
  /// False: no room; the whole row is left out, and `cut` set.
  bool row(std::initializer_list<std::string_view> fields) {
    std::string text;
    for (const std::string_view f : fields) {
      for (const char c : f) {
        if (c == '\t') text += "\\t";
        else if (c == '\n') text += "\\n";
        else if (c == '\\') text += "\\\\";
        else text += c;
      }
      text += '\t';
    }
    text += '\n';
    if (to_.cut || text.size() > kAnswerBytes - to_.bytes) return to_.cut = 1, false;
    text.copy(to_.text + to_.bytes, text.size());
    to_.bytes += static_cast<uint32_t>(text.size());
    return true;
  }

 private:
  Answer& to_;
};
inline std::vector<std::vector<std::string>> read_rows(std::string_view text) {
  std::vector<std::vector<std::string>> rows(1);
  std::string field;
  for (size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '\t') rows.back().push_back(std::move(field)), field.clear();
    else if (text[i] == '\n') rows.emplace_back();
    else if (text[i] != '\\' || i + 1 == text.size()) field += text[i];
    else ++i, field += text[i] == 't' ? '\t' : text[i] == 'n' ? '\n' : text[i];
  }
  rows.pop_back();
  return rows;
}

}  // namespace peel::wire
