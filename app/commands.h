// The commands of the command line. Each has a file of its own: command_<name>.cpp.
#pragma once
#include <string>
#include <vector>

namespace peel::app {

/// `arguments`: what stands after the command's name. Returns the exit status (console.h).
using CommandMain = int (*)(const std::vector<std::string>& arguments);

int run_main(const std::vector<std::string>&);
int record_main(const std::vector<std::string>&);
int open_main(const std::vector<std::string>&);
int show_main(const std::vector<std::string>&);
int why_main(const std::vector<std::string>&);
int findings_main(const std::vector<std::string>&);
int whatif_main(const std::vector<std::string>&);
int op_main(const std::vector<std::string>&);
int tensor_main(const std::vector<std::string>&);
int memory_main(const std::vector<std::string>&);
int diff_main(const std::vector<std::string>&);
int query_main(const std::vector<std::string>&);
int note_main(const std::vector<std::string>&);
int info_main(const std::vector<std::string>&);
int doctor_main(const std::vector<std::string>&);
#ifdef PEEL_WINDOW
int keys_main(const std::vector<std::string>&);  // the README's key table; not listed
#endif

struct CommandEntry {
  const char* name;
  const char* summary;
  CommandMain main;
};
constexpr CommandEntry kCommands[] = {
    {"run", "run a program and walk through it in the window", run_main},
    {"record", "run a program and write its session file, without a window", record_main},
    {"open", "open a session file in the window", open_main},
    {"show", "list the hops of a session file", show_main},
    {"why", "explain how a hop came about", why_main},
    {"findings", "list what deserves attention: exceptions and their origins, hidden copies, lost gradients", findings_main},
    {"op", "describe an operator: dispatch table, registrations, formula", op_main},
    {"whatif", "say what a registration, a key or a mode would change", whatif_main},
    {"tensor", "tell the life of a tensor: birth, writes, what saved it", tensor_main},
    {"memory", "say who holds the memory, and why an allocation failed", memory_main},
    {"diff", "compare two session files, or two spans of one", diff_main},
    {"query", "ask a session file in SQL", query_main},
    {"note", "list the notes of a session file, or write one", note_main},
    {"info", "describe a session file: program, PyTorch, counts, what is missing", info_main},
    {"doctor", "check what is needed to record and to show a window", doctor_main},
};

}  // namespace peel::app
