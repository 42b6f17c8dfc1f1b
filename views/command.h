// The one command table: every action is a row. Menus, palette, key help, the README's key table and the
// GUI tests are made from it. app/ registers the rows; panels only run them by id.
#pragma once
#include <functional>
#include <string>
#include <string_view>
#include <vector>

namespace peel::views {

/// A key chord in ImGui's numbering (ImGuiKeyChord), kept as int so that this header needs no ImGui.
using Chord = int;

struct Command {
  const char* id;      // `step.into`
  const char* title;   // "Step into"
  const char* help;    // one sentence
  const char* menu;    // "Run", "Go", ...; "" = palette only
  std::vector<Chord> keys;               // default first, then aliases
  std::function<bool()> enabled;         // null = always
  std::function<void()> run;
  std::function<bool()> checked;         // for toggles; null = not a toggle
  const char* context = "";              // "" = whole window; "list" = only while a panel with a list has the focus
  bool repeats = false;                  // holding the key repeats it
};

class CommandTable {
 public:
  void add(Command c) { commands_.push_back(std::move(c)); }
  const std::vector<Command>& all() const { return commands_; }
  const Command* find(std::string_view id) const {
    for (const Command& c : commands_) if (id == c.id) return &c;
    return nullptr;
  }
  /// Runs it if it is enabled; says whether it ran.
  bool run(std::string_view id) const {
    const Command* c = find(id);
    if (!c || (c->enabled && !c->enabled())) return false;
    c->run();
    return true;
  }
 private:
  std::vector<Command> commands_;
};

}  // namespace peel::views
