// Laws of the command table.
#include <map>
#include <set>
#include <string>

#include "app/window/keys.h"
#include "tests/catch.h"
#include "tests/gui/gui.h"

using namespace peel;

TEST_CASE("no key is used twice in one context, and every row has help", "[commands]") {
  app::Application a(app::WindowOptions{});
  std::map<std::pair<std::string, views::Chord>, std::string> used;
  std::set<std::string> ids;
  for (const views::Command& c : a.commands().all()) {
    INFO(c.id);
    CHECK(ids.insert(c.id).second);
    CHECK(std::string(c.title).size() > 1);
    CHECK(std::string(c.help).size() > 8);
    CHECK(std::string(c.help).back() == '.');
    CHECK(c.run);
    for (views::Chord k : c.keys) {
      INFO(app::chord_text(k));
      // A window-wide key and one of a list's would both act while a list has the focus.
      CHECK(used.emplace(std::pair(std::string(), k), c.id).second);
    }
  }
}

TEST_CASE("no key is Alt+F or Ctrl+F alone", "[commands]") {
  app::Application a(app::WindowOptions{});
  for (const views::Command& c : a.commands().all())
    for (views::Chord k : c.keys) {
      const ImGuiKey key = ImGuiKey(k & ~ImGuiMod_Mask_);
      const bool function = key >= ImGuiKey_F1 && key <= ImGuiKey_F24;
      INFO(c.id);
      CHECK_FALSE((function && (k & (ImGuiMod_Alt | ImGuiMod_Ctrl)) && c.keys.size() == 1));
    }
}

TEST_CASE("chords have readable names", "[commands]") {
  CHECK(app::chord_text(ImGuiMod_Ctrl | ImGuiMod_Shift | ImGuiKey_P) == "Ctrl+Shift+P");
  CHECK(app::chord_text(ImGuiMod_Shift | ImGuiKey_Slash) == "?");
  CHECK(app::chord_text(ImGuiMod_Ctrl | ImGuiKey_Equal) == "Ctrl+=");
  CHECK(app::chord_text(ImGuiKey_F11) == "F11");
}

TEST_CASE("a text field keeps letters and editing keys", "[commands]") {
  CHECK_FALSE(app::passes_text_field(ImGuiKey_I));
  CHECK_FALSE(app::passes_text_field(ImGuiMod_Shift | ImGuiKey_I));
  CHECK_FALSE(app::passes_text_field(ImGuiMod_Ctrl | ImGuiKey_C));
  CHECK_FALSE(app::passes_text_field(ImGuiKey_Backspace));
  CHECK(app::passes_text_field(ImGuiMod_Ctrl | ImGuiKey_R));
  CHECK(app::passes_text_field(ImGuiKey_F1));
}
