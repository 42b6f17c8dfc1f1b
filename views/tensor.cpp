#include "views/tensor.h"

#include <algorithm>

#include "views/background.h"
#include "views/pen.h"
#include "views/tensor_model.h"

namespace peel::views {
namespace {

using theme::Type;
using theme::u;

class TensorPanel : public Panel {
 public:
  const char* title() const override { return "Tensor"; }
  const char* help() const override { return "One tensor's life: birth, the mode then, uses, writes with version numbers, views, the nodes that saved it."; }
  void session_changed(Context&) override {
    work_.stop();
    model_ = {}, asked_ = {}, at_ = {};
  }
  bool busy() const override { return work_.busy(); }
  bool run(Context&, std::string_view id) override;
  std::string copy_text(Context&) override;
  void draw(Context&) override;

 private:
  void refresh(Context&, TensorId);
  float draw_head(Context&, const Pen&, const Area&, float y);
  void draw_moment(Context&, const Pen&, const Area&, float y, size_t index);

  Background<TensorModel> work_;   // who used it is a search through the file
  TensorModel model_;
  TensorId asked_;
  EventId at_;
  uint64_t generation_ = 0;
  double asked_when_ = 0;
  VirtualList list_;
};

void TensorPanel::refresh(Context& c, TensorId t) {
  if (auto fresh = work_.take()) {
    model_ = std::move(*fresh);
    for (size_t i = 0; i < model_.moments.size(); i++)
      if (model_.moments[i].current) {
        list_.reveal(static_cast<int64_t>(i));
        break;
      }
  }
  const uint64_t generation = c.session->generation();
  const bool other = asked_ != t || at_ != c.selected;
  // uses are searched for in the background: they come with a new generation
  const bool grown = generation != generation_ && ImGui::GetTime() - asked_when_ > (c.session->live() ? 1 : .1);
  if (!other && (!grown || work_.busy())) return;
  asked_ = t, at_ = c.selected, generation_ = generation, asked_when_ = ImGui::GetTime();
  work_.start([s = c.session, t, at = c.selected](const std::atomic<bool>&) { return make_tensor_model(*s, t, at); });
}

bool TensorPanel::run(Context& c, std::string_view id) {
  const bool up = id == "list.up", down = id == "list.down";
  if ((!up && !down) || model_.moments.empty()) return false;
  // the moment of the selection, or the last one before it
  int64_t here = -1;
  for (size_t i = 0; i < model_.moments.size(); i++) if (model_.moments[i].event && model_.moments[i].event <= c.selected) here = static_cast<int64_t>(i);
  const TensorId keep = model_.tensor;
  for (int64_t i = here + (up ? -1 : 1); i >= 0 && i < static_cast<int64_t>(model_.moments.size()); i += up ? -1 : 1) {
    const EventId e = model_.moments[static_cast<size_t>(i)].event;
    if (!e || e == c.selected) continue;
    c.select(e);
    c.tensor = keep;
    break;
  }
  return true;
}

std::string TensorPanel::copy_text(Context&) {
  if (!model_.known) return "";
  std::string s = plain(model_.sentence) + "\n" + model_.name + "  " + model_.brief + "\n";
  for (const TensorMoment& m : model_.moments)
    s += (m.event ? "hop " + std::to_string(m.event.value) + "  " : "") + plain(m.words) + (m.note.empty() ? "" : "  (" + m.note + ")") + "\n";
  return s;
}

float TensorPanel::draw_head(Context& c, const Pen& pen, const Area& a, float y) {
  const auto& p = theme::palette();
  float x = a.x + pen.text(Type::kBold, a.x, base_of(y, u(20)), p.text, model_.name);
  pen.text_cut(Type::kSmall, x + u(10), base_of(y, u(20)), a.right() - x - u(10), p.dim, model_.brief);
  const Hit h = hit("brief", a.x, y, a.w, u(20));
  tip(h, plain(model_.sentence) + "\n" + model_.brief + "\nClick to copy.");
  if (h) ImGui::SetClipboardText(copy_text(c).c_str());
  y += u(21);
  if (a.h > u(150)) {
    std::vector<Run> runs;
    for (const Part& part : model_.sentence) runs.push_back({part.strong ? Type::kSemi : Type::kBody, p.text, part.text});
    y += static_cast<float>(pen.rich_wrapped(a.x, base_of(y, u(20)), a.w, u(20), runs)) * u(20);
  }
  if (!model_.others.empty() && a.h > u(110)) {
    x = a.x + pen.text(Type::kSmall, a.x, base_of(y, u(22)), p.faint, "shares its storage with") + u(8);
    for (TensorId o : model_.others) {
      const std::string name = tensor_name(o);
      if (x + text_width(Type::kMonoSmall, name) + u(24) > a.right()) {
        pen.text_cut(Type::kSmall, x, base_of(y, u(22)), a.right() - x, p.faint, "…");
        break;
      }
      Hit chip;
      x += pen.chip(("tensor/" + name).c_str(), x, y + u(11), name, &chip) + u(4);
      if (chip) c.tensor = o;
    }
    y += u(22);
  }
  return y + u(2);
}

void TensorPanel::draw_moment(Context& c, const Pen& pen, const Area& a, float y, size_t index) {
  const auto& p = theme::palette();
  const TensorMoment& m = model_.moments[index];
  const float row = u(theme::kRow), cy = std::round(y + row / 2), base = base_of(y, row);
  const bool write = m.kind == TensorMoment::Kind::kWrite, last = index + 1 == model_.moments.size();
  Hit h;
  if (m.event) h = hit(("moment/" + std::to_string(index)).c_str(), a.x - u(6), y, a.w + u(12), row);
  if (m.current) pen.fill(a.x - u(theme::kPadX), y, a.w + 2 * u(theme::kPadX), row, theme::color(p.select));
  else if (h.hovered) pen.fill(a.x - u(theme::kPadX), y, a.w + 2 * u(theme::kPadX), row, theme::color(p.hover));
  // the thread of its life
  const ImU32 thread = theme::color(p.line_strong);
  if (index) pen.fill(a.x + u(4), y, std::max(1.f, u(1)), row / 2, thread);
  if (!last) pen.fill(a.x + u(4), cy, std::max(1.f, u(1)), row / 2 + 1, thread);
  if (m.kind == TensorMoment::Kind::kEnd) pen.dl->AddCircle({a.x + u(4.5f), cy}, u(3.5f), theme::color(p.faint), 0, 1.2f);
  else pen.dot(a.x + u(4.5f), cy, write ? u(4.5f) : u(3.5f), theme::color(write || m.kind == TensorMoment::Kind::kBirth ? p.focus : p.faint));
  const unsigned ink = m.later ? p.faint : p.dim, name = m.later ? p.dim : p.text;
  float x = a.x + u(16);
  if (m.event) {
    const std::string number = std::to_string(m.event.value);
    pen.text(Type::kMonoSmall, x, base, ink, number);
    x += std::max(u(32), text_width(Type::kMonoSmall, number) + u(10));
  }
  for (const Part& part : m.words) x += pen.text_cut(part.code ? Type::kMono : Type::kBody, x, base, a.right() - x, part.code ? name : ink, part.text);
  const float note_w = text_width(Type::kSmall, m.note);
  if (!m.note.empty() && x + u(12) + note_w <= a.right()) pen.note_right(a.right(), base, m.note);
  if (h.hovered) {
    std::string words = plain(m.words) + (m.note.empty() ? "" : "\n" + m.note);
    if (m.tensor) words += "\nRight click: show " + tensor_name(m.tensor) + ".";
    tip(h, words);
  }
  if (h) {
    const TensorId keep = model_.tensor;
    c.select(m.event);
    c.tensor = keep;  // this tensor's life stays in sight
  }
  if (h.right_clicked && m.tensor) c.tensor = m.tensor;
}

void TensorPanel::draw(Context& c) {
  const Area a = panel_area();
  const Pen pen;
  if (!c.session) return pen.empty(a, "No session is open", "Run a program or open a recording; then this shows the life of a tensor.");
  const TensorId t = c.tensor ? c.tensor : tensor_for(*c.session, c.selected);
  if (!t) {
    if (!c.selected) return pen.empty(a, "No tensor", "Select a call in Trace: its result is shown here.");
    if (c.session->event(c.selected).flags & kNoValues) return pen.empty(a, "Arguments were not recorded", "Record with --detail standard to see tensors.");
    return pen.empty(a, "This hop has no tensor", "Select a call that takes or returns one.");
  }
  refresh(c, t);
  if (model_.tensor != t) return pen.empty(a, tensor_name(t), "Looking for its uses.");
  if (!model_.known) return pen.empty(a, model_.name, "The recording says nothing more about this tensor.");
  const float top = draw_head(c, pen, a, a.y - u(2));
  const Area list{a.x - u(theme::kPadX), top, a.w + 2 * u(theme::kPadX), std::max(u(theme::kRow), a.bottom() + u(theme::kPadY) - top)};
  list_.begin("moments", list, static_cast<int64_t>(model_.moments.size()), u(theme::kRow));
  const Pen inner;
  for (int64_t r = list_.first(); r < list_.end_row(); r++) draw_moment(c, inner, {a.x, a.y, a.w, a.h}, list_.y(r), static_cast<size_t>(r));
  list_.end();
}

}  // namespace

std::unique_ptr<Panel> make_tensor_panel() { return std::make_unique<TensorPanel>(); }

}  // namespace peel::views
