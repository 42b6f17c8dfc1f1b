#include "views/query.h"

#include <algorithm>

#include "views/background.h"
#include "views/pen.h"
#include "views/query_model.h"
#include "views/sql_console.h"

namespace peel::views {
namespace {

using theme::Type;
using theme::u;

constexpr float kLine = 25;
constexpr const char* kTabs[] = {"Operators", "Keys", "Kernels", "Lines", "SQL"};
constexpr int kSql = 4;

class QueryPanel : public Panel {
 public:
  const char* title() const override { return "Query"; }
  const char* help() const override { return "Statistics per operator, key, kernel and line (a click filters Trace), and read-only SQL."; }
  void session_changed(Context&) override {
    work_.stop();
    statistics_ = {}, have_ = false, order_.clear();
    console_.forget();
  }
  bool busy() const override { return work_.busy() || console_.busy(); }
  std::string copy_text(Context&) override { return tab_ == kSql ? console_.copy_text() : have_ ? statistics_text() : ""; }
  void draw(Context&) override;

 private:
  void refresh(const Context&);
  void sort();
  float draw_tabs(const Pen&, const Area&);
  void draw_statistics(Context&, const Area&);
  void draw_stat(Context&, const Pen&, const Area&, float y, uint32_t index, Nanoseconds most);
  std::string statistics_text() const;

  Background<Statistics> work_;
  Statistics statistics_;
  bool have_ = false;
  double asked_at_ = 0;
  int tab_ = 0;
  StatColumn column_ = StatColumn::kTotal;
  bool descending_ = true;
  std::vector<uint32_t> order_;
  VirtualList list_;
  SqlConsole console_;
};

void QueryPanel::refresh(const Context& c) {
  if (auto fresh = work_.take()) statistics_ = std::move(*fresh), have_ = true, sort();
  const bool stale = !have_ || (!statistics_.final && statistics_.generation != c.session->generation());
  if (work_.busy() || !stale) return;
  const double wait = std::max(1.0, static_cast<double>(c.session->size()) * 1e-6);
  if (have_ && ImGui::GetTime() - asked_at_ < wait) return;
  asked_at_ = ImGui::GetTime();
  const Session* s = c.session;
  work_.start([s](const std::atomic<bool>& cancelled) { return make_statistics(*s, cancelled); });
}

void QueryPanel::sort() {
  if (tab_ < kStatKinds) order_ = sorted(statistics_.by[tab_], column_, descending_);
}

float QueryPanel::draw_tabs(const Pen& pen, const Area& a) {
  float x = a.x;
  for (int i = 0; i < 5; i++) {
    Hit h;
    const float w = Pen::button_width(kTabs[i], "", i == tab_);
    if (i == tab_) pen.fill(x, a.y, w - u(theme::kGap), u(theme::kButton), theme::color(theme::palette().select), u(theme::kRadius));
    x += pen.button((std::string("tab/") + kTabs[i]).c_str(), x, a.y, kTabs[i], "", &h, i == tab_);
    if (h) tab_ = i, sort(), list_.set_top(0);
  }
  return u(theme::kButton + 8);
}

std::string QueryPanel::statistics_text() const {
  std::string s = "name\tcount\tnodes\town us\ttotal us\n";
  for (uint32_t i : order_) {
    const StatRow& r = statistics_.by[tab_][i];
    s += r.name + (r.key.empty() || r.key == r.name ? "" : " @" + r.key) + "\t" + std::to_string(r.count) + "\t" + std::to_string(r.nodes) + "\t" + micros(r.own) + "\t" + micros(r.total) + "\n";
  }
  return s;
}

void QueryPanel::draw_stat(Context& c, const Pen& pen, const Area& a, float y, uint32_t index, Nanoseconds most) {
  const auto& p = theme::palette();
  const StatRow& r = statistics_.by[tab_][index];
  const float h = u(kLine) - 1, base = base_of(y, h);
  const Hit row = hit(("stat/" + std::to_string(index)).c_str(), a.x - u(6), y, a.w + u(12), h);
  const bool on = c.filter == r.filter;
  if (on) pen.fill(a.x - u(theme::kPadX), y, a.w + 2 * u(theme::kPadX), h, theme::color(p.select)), pen.fill(a.x - u(theme::kPadX), y, u(3), h, theme::color(p.focus));
  else if (row.hovered) pen.fill(a.x - u(theme::kPadX), y, a.w + 2 * u(theme::kPadX), h, theme::color(p.hover));
  const bool bars = a.w > u(520);
  const float bar_w = bars ? u(120) : 0, total = a.right() - bar_w - (bars ? u(14) : 0), own = total - u(72), nodes = own - u(68), count = nodes - u(52);
  float x = a.x;
  if (!r.key.empty()) pen.tag(x, y + h / 2, r.key, theme::Mark::kRan), x += u(theme::kTagW + 8);
  const float room = count - u(60) - x;
  float t = pen.text_cut(Type::kMono, x, base, room, p.text, r.name);
  if (!r.note.empty() && t + u(40) < room) pen.text_cut(Type::kSmall, x + t + u(10), base, room - t - u(10), p.faint, r.note);
  pen.text_right(Type::kMonoSmall, count, base, p.text, count_text(r.count));
  pen.text_right(Type::kMonoSmall, nodes, base, p.dim, r.nodes ? count_text(r.nodes) : "");
  pen.text_right(Type::kMonoSmall, own, base, p.dim, micros(r.own));
  pen.text_right(Type::kMonoSmall, total, base, p.text, micros(r.total));
  const Nanoseconds v = column_ == StatColumn::kOwn ? r.own : r.total;
  if (bars && most > 0) pen.fill(total + u(14), y + h / 2 - u(5), std::max(1.f, bar_w * static_cast<float>(static_cast<double>(v) / static_cast<double>(most))), u(10), theme::color(p.line_strong), u(2));
  pen.hline(a.x, y + h, a.w, theme::color(p.line));
  tip(row, r.name + (r.note.empty() ? "" : "\n" + r.note) + "\n" + duration(r.own) + " own, " + duration(r.total) + " in all\nClick filters Trace: " + r.filter);
  if (row) c.filter = on ? "" : r.filter, c.notice = on ? "" : "Trace is filtered by " + r.filter;
  if (row.double_clicked && r.first) c.select(r.first);
}

void QueryPanel::draw_statistics(Context& c, const Area& a) {
  const Pen pen;
  const auto& p = theme::palette();
  if (!have_) return pen.empty(a, "Counting", "One pass over the hops.");
  const auto& rows = statistics_.by[tab_];
  if (rows.empty()) return pen.empty(a, "Nothing to count", tab_ == 3 ? "No hop has a line of the program." : "No hop was recorded yet.");
  const bool bars = a.w > u(520);
  const float bar_w = bars ? u(120) : 0, total = a.right() - bar_w - (bars ? u(14) : 0), own = total - u(72), nodes = own - u(68), count = nodes - u(52);
  const float base = base_of(a.y, u(20));
  auto head = [&](StatColumn column, float right, float left, std::string_view name) {
    const bool on = column_ == column;
    const std::string s = std::string(name) + (on ? descending_ ? " ▾" : " ▴" : "");
    const float w = text_width(Type::kSmall, s);
    const float x = right >= 0 ? right - w : left;
    const Hit h = hit(("sort/" + std::string(name)).c_str(), x - u(4), a.y, w + u(8), u(20));
    pen.text(on ? Type::kSemiSmall : Type::kSmall, x, base, on || h.hovered ? p.text : p.faint, s);
    tip(h, "Sort by this");
    if (!h) return;
    descending_ = on ? !descending_ : column != StatColumn::kName;
    column_ = column;
    sort();
  };
  head(StatColumn::kName, -1, a.x, tab_ == 0 ? "operator" : tab_ == 1 ? "key" : tab_ == 2 ? "kernel" : "line");
  head(StatColumn::kCount, count, 0, tab_ == 0 ? "calls" : "hops");
  head(StatColumn::kNodes, nodes, 0, "nodes");
  head(StatColumn::kOwn, own, 0, "own µs");
  head(StatColumn::kTotal, total, 0, "total µs");
  Nanoseconds most = 0;
  for (const StatRow& r : rows) most = std::max(most, column_ == StatColumn::kOwn ? r.own : r.total);
  const float foot = u(22);
  const Area list{a.x - u(theme::kPadX), a.y + u(22), a.w + 2 * u(theme::kPadX), std::max(u(kLine), a.h - u(22) - foot)};
  list_.begin("statistics", list, static_cast<int64_t>(order_.size()), u(kLine));
  const Pen inner;
  for (int64_t r = list_.first(); r < list_.end_row(); r++) draw_stat(c, inner, a, list_.y(r), order_[static_cast<size_t>(r)], most);
  list_.end();
  Hit copy;
  pen.link("copy statistics", a.right() - text_width(Type::kSmall, "copy"), base_of(a.bottom() - u(18), u(18)), "copy", &copy);
  if (copy) ImGui::SetClipboardText(statistics_text().c_str());
  std::string words = plural(rows.size(), tab_ == 0 ? "operator" : tab_ == 1 ? "key" : tab_ == 2 ? "kernel" : "line") + " in " + plural(statistics_.hops, "hop") + ". A click filters Trace, another takes the filter away.";
  if (work_.busy()) words += " Counting again…";
  pen.text_cut(Type::kSmall, a.x, base_of(a.bottom() - u(18), u(18)), a.w - u(50), p.faint, words);
}

void QueryPanel::draw(Context& c) {
  Area a = panel_area();
  const Pen pen;
  if (!c.session) return pen.empty(a, "No session is open", "Run a program or open a recording; then it can be counted and queried.");
  const float used = draw_tabs(pen, a);
  a.y += used, a.h = std::max(u(60), a.h - used);
  if (tab_ == kSql) return console_.draw(c, a);
  refresh(c);
  draw_statistics(c, a);
}

}  // namespace

std::unique_ptr<Panel> make_query_panel() { return std::make_unique<QueryPanel>(); }

}  // namespace peel::views
