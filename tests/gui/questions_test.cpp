// Twenty questions in the window (tests/questions): each answer is three actions or fewer away from the opened session.
// The sessions and the ways come from tests/questions/questions.py, which records them on stock PyTorch (PEEL_QUESTIONS).
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <set>

#include "tests/catch.h"
#include "tests/gui/gui.h"

using namespace peel;
using namespace peel::test;

namespace {

struct Way {
  std::vector<std::string> actions;
  std::string panel, says;
};

Way read(const std::filesystem::path& file) {
  Way way;
  std::ifstream in(file);
  for (std::string line; std::getline(in, line);) {
    if (line.starts_with("panel ")) way.panel = line.substr(6);
    else if (line.starts_with("says ")) way.says = line.substr(5);
    else way.actions.push_back(line);
  }
  return way;
}

void act(Gui& g, ImGuiTestContext* ctx, const std::string& action) {
  const std::string what = action.substr(0, action.find(' ')), with = action.substr(action.find(' ') + 1);
  if (what == "finding") ctx->WindowFocus("//Findings"), ctx->ItemClick(("//Findings/**/finding\\/" + with).c_str());
  else if (what == "go") ctx->KeyPress(ImGuiMod_Ctrl | ImGuiKey_G), ctx->Yield(2), ctx->KeyCharsAppendEnter(with.c_str());
  else if (what == "show") ctx->WindowFocus(("//" + with).c_str());
  else if (what == "key") ctx->KeyPress(ImGuiMod_Ctrl | static_cast<ImGuiKey>(ImGuiKey_0 + std::stoi(with.substr(5))));
  else if (what == "click") ctx->ItemClick(("//" + with.substr(0, with.find('/')) + "###" + with.substr(0, with.find('/')) + "@" + with.substr(0, with.find('/')) + "/**" + with.substr(with.find('/'))).c_str());
  else IM_ERRORF("no such action: %s", action.c_str());
  ctx->Yield(5);
  g.settle(ctx);
}

}  // namespace

TEST_CASE("each of twenty questions is answered in three actions or fewer", "[gui][questions]") {
  const char* folder = std::getenv("PEEL_QUESTIONS");
  if (!folder) {
    WARN("skipped: PEEL_QUESTIONS names no folder of recorded questions; tests/questions/questions.py sets it");
    return;
  }
  std::set<std::filesystem::path> files;
  for (const auto& f : std::filesystem::directory_iterator(folder)) if (f.path().extension() == ".way") files.insert(f.path());
  REQUIRE(!files.empty());
  for (const auto& file : files) {
    INFO(file);
    const Way way = read(file);
    CHECK(way.actions.size() <= 3);
    auto session = Session::open((file.parent_path() / file.stem()).string() + ".peel", true);
    REQUIRE(session);
    Gui g(std::move(*session));
    g.run([&](ImGuiTestContext* ctx) {
      g.settle(ctx);
      for (const std::string& a : way.actions) act(g, ctx, a);
      views::Panel* panel = g.app().panel(way.panel);
      IM_CHECK(panel != nullptr);
      const std::string text = panel->copy_text(g.context());
      if (text.find(way.says) == text.npos) IM_ERRORF("%s doesn't say '%s', but: %s", way.panel.c_str(), way.says.c_str(), text.c_str());
    });
  }
}
