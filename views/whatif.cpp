#include "views/whatif.h"

#include <algorithm>

#include "imgui.h"
#include "imgui_stdlib.h"
#include "sessions/show.h"
#include "sessions/whatif.h"
#include "views/background.h"
#include "views/pen.h"
#include "views/words.h"

namespace peel::views {
namespace {

using theme::Type;
using theme::u;

std::vector<std::string> words_of(const std::string& text) {
  std::vector<std::string> words;
  for (size_t i = 0; i < text.size();) {
    const size_t end = std::min(text.find(' ', i), text.size());
    if (end > i) words.push_back(text.substr(i, end - i));
    i = end + 1;
  }
  return words;
}

class WhatIfPanel : public Panel {
 public:
  const char* title() const override { return "What if"; }
  const char* help() const override { return "What would change if a kernel were registered or removed, a key excluded, a mode on or off; nothing is run again."; }
  void session_changed(Context&) override {
    work_.stop();
    answer_ = {}, rows_.clear(), asked_.clear(), trouble_.clear(), marked_ = -1;
  }
  bool busy() const override { return work_.busy(); }
  bool run(Context&, std::string_view id) override;
  std::string copy_text(Context&) override;
  void draw(Context&) override;

 private:
  void ask(const Context&, std::string question);
  float draw_question(Context&, const Pen&, const Area&, float y);
  float draw_offers(Context&, const Pen&, const Area&, float y);
  float draw_answer(const Pen&, const Area&, float y) const;
  void draw_row(Context&, const Pen&, const Area&, float y, size_t index);
  void take_answer();

  Background<WhatIfAnswer> work_;
  WhatIfAnswer answer_;
  std::vector<size_t> rows_;   // of answer_.rows: what is known; the rest lies beyond those
  std::string question_, asked_, trouble_;
  bool focus_ = false;
  int64_t marked_ = -1;
  VirtualList list_;
};

void WhatIfPanel::ask(const Context& c, std::string question) {
  question_ = asked_ = std::move(question);
  answer_ = {}, rows_.clear(), trouble_.clear(), marked_ = -1;
  work_.stop();
  auto parsed = parse_whatif(*c.session, words_of(asked_));
  if (!parsed) {
    trouble_ = parsed.error();
    return;
  }
  work_.start([s = c.session, w = std::move(*parsed)](const std::atomic<bool>& stop) { return what_if(*s, w, &stop); });
}

void WhatIfPanel::take_answer() {
  auto fresh = work_.take();
  if (!fresh) return;
  answer_ = std::move(*fresh);
  for (size_t i = 0; i < answer_.rows.size(); i++)
    if (answer_.rows[i].outcome != WhatIfRow::Outcome::kUnknown || !answer_.rows[i].because) rows_.push_back(i);
}

bool WhatIfPanel::run(Context& c, std::string_view id) {
  if (!c.session) return false;
  const std::string hop = " hop " + std::to_string(c.selected.value);
  if (id == "whatif.ask") return focus_ = true;
  if (id == "whatif.inference") return ask(c, "enter inference_mode" + (c.selected ? hop : "")), true;
  if (id == "whatif.exclude") {
    const Key* key = c.session->key(c.session->event(c.selected).key);
    if (!c.selected || !key || key->functionality_bit < 0) return false;
    return ask(c, "exclude " + key->name + hop), true;
  }
  const auto to = list_.row_after(id, marked_, rows_.size());
  if (!to) return false;
  marked_ = *to;
  list_.reveal(marked_);
  c.select(answer_.rows[rows_[static_cast<size_t>(marked_)]].event);
  return true;
}

std::string WhatIfPanel::copy_text(Context& c) {
  if (!c.session || asked_.empty() || work_.busy()) return "";
  std::string out = "what if: " + asked_ + "\n" + (trouble_.empty() ? whatif_sentence(answer_) : trouble_) + "\n";
  for (const size_t i : rows_) {
    const WhatIfRow& r = answer_.rows[i];
    out += "hop " + std::to_string(r.event.value) + "  " + hop_name(*c.session, r.event) + "  " + whatif_words(*c.session, r) + "\n";
  }
  for (const std::string& r : answer_.remarks) out += r + "\n";
  return out;
}

float WhatIfPanel::draw_question(Context& c, const Pen& pen, const Area& a, float y) {
  const float ask_w = Pen::button_width("Ask", "");
  ImGui::SetCursorScreenPos({a.x, y});
  ImGui::SetNextItemWidth(a.w - ask_w - u(8));
  ImGui::PushFont(theme::font(Type::kMono), theme::font_size(Type::kMono));
  if (focus_) ImGui::SetKeyboardFocusHere(), focus_ = false;
  const bool entered = ImGui::InputTextWithHint("##question", "register aten::add.Tensor@CPU", &question_, ImGuiInputTextFlags_EnterReturnsTrue);
  ImGui::PopFont();
  Hit button;
  pen.button("Ask", a.right() - ask_w, y, "Ask", "", &button, true, !question_.empty());
  if ((entered || button) && !question_.empty()) ask(c, question_);
  return y + u(32);
}

/// Changes that lie near the selected hop, one click each.
float WhatIfPanel::draw_offers(Context& c, const Pen& pen, const Area& a, float y) {
  std::vector<std::string> offers;
  const Event e = c.selected ? c.session->event(c.selected) : Event{};
  const Key* key = c.session->key(e.key);
  const std::string hop = " hop " + std::to_string(e.id.value);
  if (e.op && key && key->functionality_bit >= 0) {
    offers.push_back("exclude " + key->name + hop);
    offers.push_back((e.kind == Kind::kMissingKernel ? "register " : "remove ") + c.session->op(e.op).full + "@" + key->name);
  }
  const bool inference = e.id && c.session->tls(e.tls).inference_mode;
  offers.push_back((inference ? "leave inference_mode" : "enter inference_mode") + (e.id ? hop : std::string()));
  offers.push_back("enter autocast:cpu");
  float x = a.x;
  for (const std::string& o : offers) {
    const float w = text_width(Type::kMonoSmall, o) + u(24);
    if (x > a.x && x + w > a.right()) x = a.x, y += u(22);
    Hit chip;
    x += pen.chip(("offer/" + o).c_str(), x, y + u(10), o, &chip) + u(6);
    if (chip) ask(c, o);
  }
  return y + u(28);
}

float WhatIfPanel::draw_answer(const Pen& pen, const Area& a, float y) const {
  const auto& p = theme::palette();
  const auto say = [&](Type type, unsigned ink, const std::string& text) {
    y += static_cast<float>(pen.rich_wrapped(a.x, base_of(y, u(20)), a.w, u(20), {{type, ink, text}})) * u(20);
  };
  if (!trouble_.empty()) return say(Type::kBody, p.text, trouble_), y + u(4);
  say(Type::kSemi, p.text, whatif_sentence(answer_));
  for (const std::string& r : answer_.remarks) say(Type::kBody, p.dim, r);
  return y + u(4);
}

void WhatIfPanel::draw_row(Context& c, const Pen& pen, const Area& a, float y, size_t index) {
  const auto& p = theme::palette();
  const WhatIfRow& r = answer_.rows[rows_[index]];
  const float row = u(theme::kRow), base = base_of(y, row);
  const Hit h = hit(("changed/" + std::to_string(r.event.value)).c_str(), a.x - u(6), y, a.w + u(12), row);
  if (r.event == c.selected) pen.fill(a.x - u(theme::kPadX), y, a.w + 2 * u(theme::kPadX), row, theme::color(p.select));
  else if (h.hovered) pen.fill(a.x - u(theme::kPadX), y, a.w + 2 * u(theme::kPadX), row, theme::color(p.hover));
  const bool layer = r.outcome == WhatIfRow::Outcome::kLayer, unknown = r.outcome == WhatIfRow::Outcome::kUnknown;
  pen.text_right(Type::kMonoSmall, a.x + u(40), base, p.faint, count_text(r.event.value));
  float x = a.x + u(50);
  x += pen.text_cut(Type::kMono, x, base, std::min(u(150), a.w * .3f), layer ? p.dim : p.text, hop_name(*c.session, r.event));
  x = std::max(x + u(8), a.x + u(50) + std::min(u(150), a.w * .3f));
  const auto key = [&](KeyId k, theme::Mark mark) {
    const Key* there = c.session->key(k);
    pen.tag(x, y + row / 2, there ? there->name : "", mark);
    x += u(theme::kTagW) + u(4);
  };
  key(r.key_before, theme::Mark::kExcluded);
  x += pen.text(Type::kBody, x, base, p.faint, "→") + u(4);
  if (unknown) {
    pen.text(Type::kBody, x, base, p.faint, "unknown");
  } else {
    if (r.outcome == WhatIfRow::Outcome::kRaises) x += pen.text(Type::kBody, x, base, p.text, "raises: ");
    else key(r.key_after, theme::Mark::kRan);
    pen.text_cut(Type::kSmall, x + u(4), base, a.right() - x - u(4), p.dim, r.kernel_after + (layer ? ", further in" : ""));
  }
  if (h.hovered) {
    const std::string where = where_brief(*c.session, c.session->event(r.event).stack);
    tip(h, (where.empty() ? "" : where + "\n") + (unknown ? "The rules do not tell where it would go." : whatif_words(*c.session, r) + "\nnow: " + r.kernel_before));
  }
  if (h) marked_ = static_cast<int64_t>(index), c.select(r.event);
}

void WhatIfPanel::draw(Context& c) {
  const Area a = panel_area();
  const Pen pen;
  if (!c.session) return pen.empty(a, "No session is open", "Run a program or open a recording; then this tells what a change would do.");
  take_answer();
  float y = draw_question(c, pen, a, a.y - u(2));
  y = draw_offers(c, pen, a, y);
  if (work_.busy()) return pen.empty({a.x, y, a.w, a.bottom() - y}, "Following every call", asked_);
  if (asked_.empty()) {
    return pen.empty({a.x, y, a.w, a.bottom() - y}, "What would change?",
                     "Write a change: register, fallthrough or remove OPERATOR@KEY; include or exclude KEY; enter or leave MODE. Behind it, where: hop N, span N, from N, to N.");
  }
  y = draw_answer(pen, a, y);
  const Area list{a.x - u(theme::kPadX), y, a.w + 2 * u(theme::kPadX), std::max(u(theme::kRow), a.bottom() + u(theme::kPadY) - y)};
  list_.begin("changed", list, static_cast<int64_t>(rows_.size()), u(theme::kRow));
  const Pen inner;
  for (int64_t r = list_.first(); r < list_.end_row(); r++) draw_row(c, inner, {a.x, a.y, a.w, a.h}, list_.y(r), static_cast<size_t>(r));
  list_.end();
}

}  // namespace

std::unique_ptr<Panel> make_whatif_panel() { return std::make_unique<WhatIfPanel>(); }

}  // namespace peel::views
