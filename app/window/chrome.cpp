// The frame around the panels: menu bar with the session's facts, status bar, the first run's guide.
#include <algorithm>
#include <filesystem>

#include "app/window/application.h"
#include "app/window/dialogs.h"
#include "app/window/keys.h"
#include "imgui.h"
#include "imgui_internal.h"
#include "views/pen.h"
#include "views/words.h"

namespace peel::app {

using views::base_of;
using views::count_text;
using views::Hit;
using views::Pen;
using views::plural;
using views::text_width;
using views::theme::color;
using views::theme::Type;
using views::theme::u;

namespace {

void menu(Application& a, const char* name) {
  if (!ImGui::BeginMenu(name)) return;
  std::string_view group;
  for (const views::Command& c : a.commands().all()) {
    if (std::string_view(c.menu) != name) continue;
    const std::string_view id = c.id, now = id.substr(0, id.find('.'));
    if (!group.empty() && now != group) ImGui::Separator();
    group = now;
    const bool enabled = !c.enabled || c.enabled();
    if (ImGui::MenuItem(c.title, first_key(&c).c_str(), c.checked && c.checked(), enabled)) a.commands().run(c.id);
    if (ImGui::IsItemHovered(ImGuiHoveredFlags_DelayNormal)) ImGui::SetTooltip("%s", c.help);
  }
  ImGui::EndMenu();
}

std::string state_word(const Session& s) {
  if (!s.progress().ready) {
    const Progress p = s.progress();
    return std::string(p.stage) + (p.total ? " " + std::to_string(100 * p.done / std::max<uint64_t>(1, p.total)) + " %" : "");
  }
  if (s.live()) return "recording";
  const std::string state = s.meta("state");
  return state.empty() ? "complete" : state;
}

std::string engine_word(const Session& s) {
  std::string version = s.meta("engine_version");
  version.erase(std::min(version.find('+'), version.size()));
  return (s.meta("engine") == "pytorch" ? "stock " : s.meta("engine") + " ") + version;
}

}  // namespace

void Application::draw_menu() {
  ImGui::PushStyleVar(ImGuiStyleVar_FramePadding, ImVec2(u(8), u(7)));
  if (ImGui::BeginMainMenuBar()) {
    const Pen pen;
    const auto& p = views::theme::palette();
    const float height = ImGui::GetWindowHeight(), base = base_of(0, height), right = ImGui::GetIO().DisplaySize.x - u(12);
    const float title = pen.text(Type::kSemi, u(12), base, p.text, "Peel");
    ImGui::SetCursorPosX(u(12) + title + u(10));
    ImGui::PushFont(views::theme::font(Type::kBody), views::theme::font_size(Type::kBody));
    ImGui::PushStyleVar(ImGuiStyleVar_ItemSpacing, ImVec2(u(8), u(8)));
    ImGui::PushStyleVar(ImGuiStyleVar_WindowPadding, ImVec2(u(8), u(8)));
    ImGui::PushStyleColor(ImGuiCol_Text, views::theme::vec(p.dim));
    for (const char* m : {"File", "Edit", "Go", "View", "Run", "Help"}) menu(*this, m);
    ImGui::PopStyleColor();
    ImGui::PopStyleVar(2);
    float x = ImGui::GetCursorScreenPos().x + u(14);
    int offered_count = 0;
    for (const Workspace& w : workspaces()) offered_count += offered(w);
    if (offered_count > 1)
      for (const Workspace& w : workspaces()) {
        if (!offered(w)) continue;
        const bool on = &w == workspace_;
        const float width = text_width(on ? Type::kSemi : Type::kBody, w.name) + u(20), h = u(22), y = std::round((height - h) / 2);
        const Hit hit = views::hit((std::string("workspace ") + w.name).c_str(), x, y, width, h);
        if (on || hit.hovered) pen.fill(x, y, width, h, color(on ? (context_.dark ? p.select : p.panel) : p.hover), u(views::theme::kRadius));
        pen.text(on ? Type::kSemi : Type::kBody, x + u(10), base, on ? p.text : p.dim, w.name);
        if (hit) use_workspace(w);
        x += width + u(2);
      }
    // Facts of the session, as many as fit, the least important left out first.
    std::vector<std::string> facts;
    if (session_) {
      facts.push_back(std::filesystem::path(session_->path()).filename().string() + (other_ ? " and " + std::filesystem::path(other_->path()).filename().string() : ""));
      facts.push_back(engine_word(*session_));
      facts.push_back(state_word(*session_));
      facts.push_back(other_ ? count_text(session_->size()) + " and " + plural(other_->size(), "hop") : plural(session_->size(), "hop"));
      uint64_t lost = 0;
      for (const Loss& l : session_->losses()) if (l.count > 0 && l.name.find("inferred") == std::string::npos) lost += uint64_t(l.count);
      facts.push_back(count_text(lost) + " lost");
    }
    auto joined = [&] {
      std::string all;
      for (const std::string& f : facts) all += (all.empty() ? "" : "    ") + f;
      return all;
    };
    while (facts.size() > 2 && right - text_width(Type::kBody, joined()) < x + u(20)) facts.erase(facts.begin() + (facts.size() > 3 ? 1 : 0));
    const std::string all = views::cut_text(Type::kBody, joined(), std::max(0.f, right - x - u(10)));
    const float w = text_width(Type::kBody, all);
    pen.text(Type::kBody, right - w, base, p.dim, all);
    ImGui::PopFont();
    ImGui::EndMainMenuBar();
  }
  ImGui::PopStyleVar();
}

void Application::draw_status() {
  const auto& p = views::theme::palette();
  ImGui::PushStyleColor(ImGuiCol_WindowBg, views::theme::vec(p.window));
  if (ImGui::BeginViewportSideBar("##status", nullptr, ImGuiDir_Down, u(24), ImGuiWindowFlags_NoScrollbar | ImGuiWindowFlags_NoSavedSettings | ImGuiWindowFlags_NoNav)) {
    const Pen pen;
    const float y = ImGui::GetWindowPos().y, base = base_of(y, u(24)), width = ImGui::GetIO().DisplaySize.x;
    // Right: the keys that a newcomer needs; dropped one by one when there is no room.
    float right = width - u(12);
    std::vector<views::Run> left;
    if (!context_.notice.empty()) {
      left.push_back({Type::kBody, p.text, context_.notice});
    } else if (session_ && context_.selected) {
      const Event e = session_->event(context_.selected);
      const Tls& t = session_->tls(e.tls);
      left = {{Type::kBody, p.dim, "at hop "}, {Type::kMono, p.text, count_text(e.id.value)}, {Type::kBody, p.dim, " of " + count_text(session_->size()) + ", "},
              {Type::kMono, p.text, views::hop_name(*session_, e.id)}};
      const Thread* thread = session_->thread(e.thread);
      const bool main = thread && (thread->name == "MainThread" || thread->name == "main" || thread->name.empty());
      std::string more = "    " + (main || !thread ? std::string("main thread") : "thread " + thread->name);
      if (e.tls) {
        const Key* autocast = session_->key_by_name("AutocastCPU");
        const Key* cuda = session_->key_by_name("AutocastCUDA");
        auto on = [&](const Key* k) { return k && k->functionality_bit >= 0 && k->functionality_bit < 64 && !(t.excluded >> k->functionality_bit & 1); };
        more += t.grad_mode ? "    grad on" : "    grad off";
        if (t.inference_mode) more += "    inference mode";
        more += on(autocast) || on(cuda) ? "    autocast on" : "    autocast off";
        more += t.modes.empty() ? "    no modes" : "    " + t.modes;
      }
      left.push_back({Type::kBody, p.dim, more});
    } else if (program_ && !context_.program.message.empty()) {
      left.push_back({Type::kBody, p.dim, context_.program.title + ": " + context_.program.message});
    } else if (!session_) {
      left.push_back({Type::kBody, p.dim, "no session open"});
    } else if (const std::string trouble = session_->trouble(); !trouble.empty()) {
      left.push_back({Type::kBody, p.text, trouble});
    }
    float need = 0;
    for (const views::Run& r : left) need += text_width(r.type, r.text);
    const float limit = u(12) + need + u(20);
    for (const auto& [id, word] : {std::pair{"help.keys", "keys"}, {"help.palette", "commands"}, {"step.out", "out"}, {"step.over", "over"}, {"step.into", "into"}}) {
      const std::string key = first_key(commands_.find(id));
      const float kw = text_width(Type::kMonoSmall, key), ww = text_width(Type::kSmall, word);
      if (right - kw - ww - u(6) < limit) break;
      const Hit h = views::hit(id, right - ww - u(6) - kw, y, ww + u(6) + kw, u(24));
      if (h) commands_.run(id);
      pen.text_right(Type::kSmall, right, base, h.hovered ? p.text : p.faint, word), right -= ww + u(6);
      pen.text_right(Type::kMonoSmall, right, base, p.dim, key), right -= kw + u(14);
    }
    pen.rich(u(12), base, left);
  }
  ImGui::End();
  ImGui::PopStyleColor();
}

// A strip below the menu bar: one stop at a time, what it shows, and what to do next.
void Application::draw_guide() {
  const auto& p = views::theme::palette();
  if (session_ && session_->progress().ready && stops_.empty() && guide_generation_ != session_->generation()) {
    guide_generation_ = session_->generation();
    stops_ = views::find_stops(*session_);
    if (!stops_.empty()) context_.select(stops_[stop_ = 0].event);
  }
  const size_t all = stops_.size() + 1;  // the last one: the reader's own program
  ImGui::PushStyleColor(ImGuiCol_WindowBg, views::theme::vec(p.raised));
  if (ImGui::BeginViewportSideBar("##guide", nullptr, ImGuiDir_Up, u(56), ImGuiWindowFlags_NoScrollbar | ImGuiWindowFlags_NoSavedSettings | ImGuiWindowFlags_NoNav)) {
    const Pen pen;
    const ImVec2 at = ImGui::GetWindowPos();
    const float width = ImGui::GetWindowWidth(), y = at.y, base = base_of(y + u(4), u(24));
    float x = at.x + u(12);
    const float x0 = x;
    for (size_t i = 0; i < all; i++) {
      const bool here = i == stop_, last = i + 1 == all;
      const std::string label = std::to_string(i + 1) + "  " + (last ? "Record your own program" : stops_[i].title);
      const float w = text_width(here ? Type::kSemi : Type::kBody, label) + u(20);
      const Hit h = views::hit(("stop " + std::to_string(i + 1)).c_str(), x, y + u(4), w, u(24));
      if (here || h.hovered) pen.fill(x, y + u(5), w, u(22), color(here ? p.select : p.hover), u(views::theme::kRadius));
      pen.text(here ? Type::kSemi : Type::kBody, x + u(10), base, here ? p.text : p.dim, label);
      if (h) {
        stop_ = i;
        if (!last) context_.select(stops_[i].event);
      }
      x += w + u(4);
    }
    Hit close;
    pen.link("close guide", at.x + width - u(12) - text_width(Type::kSmall, "close"), base, "close", &close);
    std::string text;
    if (stop_ + 1 < all) text = stops_[stop_].text;
    else if (stops_.empty() && session_ && !session_->progress().ready) text = "The recording is being read.";
    else if (stops_.empty()) text = context_.program.message.empty() ? "The sample is being recorded." : context_.program.message;
    else {
      std::string version = session_ ? session_->meta("engine_version") : "";
      version.erase(std::min(version.find('+'), version.size()));
      const bool embedded = session_ && session_->meta("engine") == "embedded";
      text = "In a terminal: peel run your_program.py, with " +
             (embedded ? "PyTorch where the Python has it, else on the embedded engine as here" : "PyTorch " + version + " as found here, unmodified") +
             ". peel record writes the file without a window; Ctrl+O opens one.";
    }
    const float room = width - u(24) - (stop_ + 1 < all ? u(70) : 0);
    pen.text_cut(Type::kBody, x0, base_of(y + u(29), u(22)), room, p.dim, text);
    if (stop_ + 1 < all) {
      Hit next;
      const float w = Pen::button_width("Next", "");
      pen.button("next stop", at.x + width - u(12) - w + u(views::theme::kGap), y + u(29), "Next", "", &next);
      if (next) {
        stop_++;
        if (stop_ < stops_.size()) context_.select(stops_[stop_].event);
      }
    }
    pen.hline(at.x, y + u(56) - 1, width, color(p.line));
    if (close) guide_open_ = false;
  }
  ImGui::End();
  ImGui::PopStyleColor();
}

}  // namespace peel::app
