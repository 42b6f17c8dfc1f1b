#include "views/sql_console.h"

#include <algorithm>

#include "imgui_stdlib.h"

namespace peel::views {

using theme::Type;
using theme::u;

namespace {
constexpr uint64_t kMostRows = 10000;
constexpr int64_t kLimitMs = 10000;
constexpr size_t kHistory = 50;
}  // namespace

void SqlConsole::forget() {
  work_.stop();
  answer_.reset();
  hop_column_ = -1;
}

void SqlConsole::run(const Context& c) {
  if (text_.find_first_not_of(" \t\n;") == text_.npos) return;
  std::erase(history_, text_);
  history_.insert(history_.begin(), text_);
  if (history_.size() > kHistory) history_.pop_back();
  started_ = ImGui::GetTime();
  work_.start([path = c.session->path(), sql = text_](const std::atomic<bool>& cancelled) {
    QueryOptions o;
    o.max_rows = kMostRows, o.limit_ms = kLimitMs, o.cancel = &cancelled;
    Answer a{sql, "", {}};
    Result<QueryTable> r = query(path, sql, o);
    if (r) a.table = std::move(*r);
    else a.error = r.error();
    return a;
  });
}

void SqlConsole::draw_menus(const Area& a, float y) {
  const Pen pen;
  Hit examples, history;
  const float ew = text_width(Type::kSmall, "examples"), hw = text_width(Type::kSmall, "history");
  pen.link("examples", a.right() - ew, base_of(y, u(theme::kButton)), "examples", &examples);
  if (!history_.empty()) pen.link("history", a.right() - ew - hw - u(16), base_of(y, u(theme::kButton)), "history", &history);
  if (examples) ImGui::OpenPopup("sql examples");
  if (history) ImGui::OpenPopup("sql history");
  ImGui::PushStyleVar(ImGuiStyleVar_WindowPadding, ImVec2(u(8), u(6)));
  if (ImGui::BeginPopup("sql examples")) {
    for (const SqlExample& e : sql_examples()) if (ImGui::MenuItem(e.title)) text_ = e.sql;
    ImGui::EndPopup();
  }
  if (ImGui::BeginPopup("sql history")) {
    for (size_t i = 0; i < history_.size(); i++) {
      std::string label = history_[i].substr(0, 100);
      std::replace(label.begin(), label.end(), '\n', ' ');
      if (ImGui::MenuItem((label + "##" + std::to_string(i)).c_str())) text_ = history_[i];
    }
    ImGui::EndPopup();
  }
  ImGui::PopStyleVar();
}

void SqlConsole::draw_copy_menu() {
  ImGui::PushStyleVar(ImGuiStyleVar_WindowPadding, ImVec2(u(8), u(6)));
  if (ImGui::BeginPopup("copy result")) {
    if (ImGui::MenuItem("Copy, tab separated")) ImGui::SetClipboardText(table_text(answer_->table, CopyAs::kTabs).c_str());
    if (ImGui::MenuItem("Copy as CSV")) ImGui::SetClipboardText(table_text(answer_->table, CopyAs::kCsv).c_str());
    if (ImGui::MenuItem("Copy as Markdown")) ImGui::SetClipboardText(table_text(answer_->table, CopyAs::kMarkdown).c_str());
    if (ImGui::MenuItem("Copy the SQL")) ImGui::SetClipboardText(answer_->sql.c_str());
    ImGui::EndPopup();
  }
  ImGui::PopStyleVar();
}

void SqlConsole::draw_result(Context& c, const Area& a) {
  const QueryTable& t = answer_->table;
  const int columns = static_cast<int>(std::min<size_t>(t.columns.size(), 60));  // ImGui's tables have a bound
  if (!columns) return;
  ImGui::SetCursorScreenPos({a.x, a.y});
  ImGui::PushFont(theme::font(Type::kMonoSmall), theme::font_size(Type::kMonoSmall));
  const ImGuiTableFlags flags = ImGuiTableFlags_ScrollX | ImGuiTableFlags_ScrollY | ImGuiTableFlags_RowBg | ImGuiTableFlags_BordersInnerH |
                                ImGuiTableFlags_Resizable | ImGuiTableFlags_SizingFixedFit;
  if (ImGui::BeginTable("result", columns, flags, {a.w, a.h})) {
    ImGui::TableSetupScrollFreeze(0, 1);
    for (int i = 0; i < columns; i++) ImGui::TableSetupColumn(t.columns[static_cast<size_t>(i)].c_str());
    ImGui::TableHeadersRow();
    ImGuiListClipper clip;
    clip.Begin(static_cast<int>(t.rows.size()));
    while (clip.Step())
      for (int r = clip.DisplayStart; r < clip.DisplayEnd; r++) {
        const auto row = static_cast<size_t>(r);
        ImGui::TableNextRow();
        for (int i = 0; i < columns; i++) {
          ImGui::TableNextColumn();
          const auto col = static_cast<size_t>(i);
          const std::string& s = t.rows[row][col];
          if (t.is_null[row][col]) {
            ImGui::TextDisabled("NULL");
            continue;
          }
          if (i == hop_column_) {
            const EventId e(static_cast<uint32_t>(strtoul(s.c_str(), nullptr, 10)));
            if (ImGui::Selectable((s + "##" + std::to_string(r)).c_str(), e && e == c.selected)) c.select(e);
            continue;
          }
          const std::string one = s.substr(0, std::min<size_t>(s.find('\n'), 300));
          if (t.is_number[row][col]) ImGui::SetCursorPosX(ImGui::GetCursorPosX() + std::max(0.f, ImGui::GetColumnWidth() - ImGui::CalcTextSize(one.c_str()).x - u(8)));
          ImGui::TextUnformatted(one.c_str(), one.c_str() + one.size());
          if (one.size() < s.size() && ImGui::IsItemHovered()) ImGui::SetTooltip("%.4000s", s.c_str());
        }
      }
    ImGui::EndTable();
  }
  ImGui::PopFont();
}

void SqlConsole::draw(Context& c, const Area& a) {
  const Pen pen;
  const auto& p = theme::palette();
  if (auto answer = work_.take()) {
    answer_ = std::move(*answer);
    hop_column_ = answer_->error.empty() ? hop_column(answer_->table, answer_->sql) : -1;
  }
  float y = a.y;
  const float lines = 1 + static_cast<float>(std::count(text_.begin(), text_.end(), '\n'));
  const float editor = std::min(std::max(u(46), lines * u(17) + u(12)), a.h * .4f);
  ImGui::SetCursorScreenPos({a.x, y});
  ImGui::PushFont(theme::font(Type::kMono), theme::font_size(Type::kMono));
  bool go = ImGui::InputTextMultiline("##sql", &text_, {a.w, editor}, ImGuiInputTextFlags_CtrlEnterForNewLine | ImGuiInputTextFlags_EnterReturnsTrue | ImGuiInputTextFlags_WordWrap);
  ImGui::PopFont();
  y += editor + u(6);
  Hit run_hit, cancel;
  const bool busy = work_.busy();
  float x = a.x + pen.button("run sql", a.x, y, "Run", "Enter", &run_hit, true, !busy);
  if (busy) {
    x += pen.button("cancel sql", x, y, "Cancel", "", &cancel);
    pen.text(Type::kSmall, x + u(6), base_of(y, u(theme::kButton)), p.dim, "running, " + duration(static_cast<Nanoseconds>((ImGui::GetTime() - started_) * 1e9)) + " of at most 10 s");
  } else if (answer_ && answer_->error.empty()) {
    std::string words = table_summary(answer_->table);
    if (hop_column_ >= 0) words += "; a click on a number leads to that hop";
    if (answer_->table.columns.size() > 60) words += "; 60 of " + count_text(answer_->table.columns.size()) + " columns shown";
    const float room = a.right() - x - u(190);
    x += pen.text_cut(Type::kSmall, x + u(6), base_of(y, u(theme::kButton)), room, p.dim, words) + u(16);
    Hit copy;
    pen.link("copy result", x, base_of(y, u(theme::kButton)), "copy", &copy);
    if (copy) ImGui::OpenPopup("copy result");
  }
  if (answer_) draw_copy_menu();
  draw_menus(a, y);
  if ((go || run_hit) && !busy) run(c);
  if (cancel) work_.cancel();
  y += u(theme::kButton) + u(8);
  const Area rest{a.x, y, a.w, std::max(u(30), a.bottom() - y)};
  if (!answer_) return pen.empty(rest, "Read-only SQL over the session", "Enter runs it, Ctrl+Enter starts a new line. The examples show the tables.");
  if (!answer_->error.empty()) {
    pen.rich_wrapped(a.x, base_of(y, u(20)), a.w, u(20), {{Type::kSemi, p.text, "That did not work: "}, {Type::kBody, p.text, answer_->error}});
    return;
  }
  if (answer_->table.rows.empty()) return pen.empty(rest, "No row", "The query is fine and nothing matches it.");
  draw_result(c, rest);
}

}  // namespace peel::views
