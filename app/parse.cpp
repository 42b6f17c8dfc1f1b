#include "app/parse.h"

#include <algorithm>
#include <memory>

#include "app/console.h"

namespace peel::app {
namespace {

class UsageFormatter : public CLI::Formatter {
 public:
  explicit UsageFormatter(std::string usage) : usage_(std::move(usage)) {}
  std::string make_usage(const CLI::App*, std::string) const override { return usage_ + "\n"; }

 private:
  std::string usage_;
};

}  // namespace

void set_usage(CLI::App& app, const std::string& usage) { app.formatter(std::make_shared<UsageFormatter>(usage)); }

std::optional<int> parse(CLI::App& app, const std::vector<std::string>& arguments) {
  std::vector<std::string> reversed(arguments.rbegin(), arguments.rend());  // as CLI11 takes them
  try {
    app.parse(reversed);
  } catch (const CLI::CallForHelp&) {
    std::fputs(app.help().c_str(), stdout);
    return kDone;
  } catch (const CLI::ParseError& e) {
    return fail(std::string(e.what()) + "; try: " + app.get_name() + " --help");
  }
  return std::nullopt;
}

Split split_at_program(const CLI::App& app, const std::vector<std::string>& arguments) {
  Split split;
  size_t at = 0;
  const auto rest = [&](size_t from) { split.program.assign(arguments.begin() + static_cast<std::ptrdiff_t>(from), arguments.end()); };
  for (; at < arguments.size(); ++at) {
    const std::string& a = arguments[at];
    if (a == "--") {
      rest(at + 1);
      return split;
    }
    if (a.size() < 2 || a[0] != '-') break;
    if (a.starts_with("-m")) {  // the module is the program: all after it is the program's
      split.program = {"-m"};
      if (a.size() > 2) split.program.push_back(a.substr(2));
      split.program.insert(split.program.end(), arguments.begin() + static_cast<std::ptrdiff_t>(at) + 1, arguments.end());
      return split;
    }
    split.options.push_back(a);
    const bool is_long = a[1] == '-';
    const bool carries_value = is_long ? a.find('=') != std::string::npos : a.size() > 2;
    const CLI::Option* option = app.get_option_no_throw(is_long ? a.substr(0, a.find('=')) : a.substr(0, 2));
    if (option && option->get_items_expected_max() > 0 && !carries_value && at + 1 < arguments.size()) split.options.push_back(arguments[++at]);
  }
  rest(at);
  return split;
}

}  // namespace peel::app
