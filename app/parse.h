// One way to parse the options of all commands.
#pragma once
#include <CLI/CLI.hpp>
#include <optional>
#include <string>
#include <vector>

namespace peel::app {

/// Parses; a status when the command ends here (--help: 0, wrong use: 2 with one line on stderr).
std::optional<int> parse(CLI::App&, const std::vector<std::string>& arguments);

/// Replaces the generated usage line of --help.
void set_usage(CLI::App&, const std::string& usage);

/// Cuts the arguments at the program: `options` is for `app`, `program` is the program with its own arguments,
/// never to be parsed by us. `-m MODULE` comes back as {"-m", "MODULE", ...}, as Python takes it.
struct Split {
  std::vector<std::string> options, program;
};
Split split_at_program(const CLI::App& app, const std::vector<std::string>& arguments);

}  // namespace peel::app
