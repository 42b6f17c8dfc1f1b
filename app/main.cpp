// peel: finds the command and hands over to it.
#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <string>
#include <vector>

#include "app/commands.h"
#include "app/console.h"

#ifndef PEEL_VERSION
#define PEEL_VERSION "0.1.0"
#endif

namespace peel::app {
namespace {

void print_help(FILE* to) {
  std::fprintf(to,
               "Peel records every hop that an operator call takes through PyTorch's dispatcher\n"
               "and lets you walk through it.\n\n"
               "Usage: peel COMMAND [OPTIONS] ...\n\n");
  for (const CommandEntry& c : kCommands) std::fprintf(to, "  %-8s  %s\n", c.name, c.summary);
  std::fprintf(to,
               "\npeel COMMAND --help tells more. Start with:\n"
               "  peel record train.py      writes train.peel\n"
               "  peel open train.peel\n");
}

const CommandEntry* find(const std::string& name) {
  for (const CommandEntry& c : kCommands)
    if (name == c.name) return &c;
  return nullptr;
}

size_t distance(const std::string& a, const std::string& b) {
  std::vector<size_t> row(b.size() + 1);
  for (size_t j = 0; j <= b.size(); ++j) row[j] = j;
  for (size_t i = 1; i <= a.size(); ++i) {
    size_t diagonal = row[0];
    row[0] = i;
    for (size_t j = 1; j <= b.size(); ++j) {
      const size_t above = row[j];
      row[j] = std::min({above + 1, row[j - 1] + 1, diagonal + (a[i - 1] == b[j - 1] ? 0 : 1)});
      diagonal = above;
    }
  }
  return row[b.size()];
}

int unknown(const std::string& name) {
  if (name.ends_with(".py")) return fail("there is no command " + name + "; did you mean: peel run " + name);
  if (name.ends_with(".peel")) return fail("there is no command " + name + "; did you mean: peel open " + name);
  const CommandEntry* nearest = nullptr;
  for (const CommandEntry& c : kCommands)
    if (!nearest || distance(name, c.name) < distance(name, nearest->name)) nearest = &c;
  return fail("there is no command " + name + (nearest && distance(name, nearest->name) <= 2 ? "; did you mean: peel " + std::string(nearest->name) : "; try: peel --help"));
}

int dispatch(std::vector<std::string> arguments) {
  if (arguments.empty()) {
    print_help(stderr);
    return kCouldNot;
  }
  std::string name = arguments[0];
  arguments.erase(arguments.begin());
  if (name == "--version" || name == "version") {
    std::printf("peel " PEEL_VERSION "\n");
    return kDone;
  }
  if (name == "help" && !arguments.empty()) {
    name = arguments[0];
    arguments = {"--help"};
  }
  if (name == "--help" || name == "-h" || name == "help") {
    print_help(stdout);
    return kDone;
  }
#ifdef PEEL_WINDOW
  if (name == "keys") return keys_main(arguments);
#endif
  const CommandEntry* command = find(name);
  return command ? command->main(arguments) : unknown(name);
}

}  // namespace
}  // namespace peel::app

int main(int argc, char** argv) {
  // A closed standard stream would otherwise be taken by the first file that is opened.
  for (int fd = 0; fd <= 2; ++fd)
    if (::fcntl(fd, F_GETFD) < 0) ::open("/dev/null", fd == 0 ? O_RDONLY : O_WRONLY);
  try {
    return peel::app::dispatch({argv + 1, argv + argc});
  } catch (const std::exception& e) {
    return peel::app::fail(std::string("something went wrong inside of peel (") + e.what() + "); please report it");
  }
}
