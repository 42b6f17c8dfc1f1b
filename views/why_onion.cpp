#include "views/why_onion.h"

#include <algorithm>

namespace peel::views {

using theme::Type;
using theme::u;

theme::Mark mark_of(Look l) {
  switch (l) {
    case Look::kRan: return theme::Mark::kRan;
    case Look::kComposite: return theme::Mark::kComposite;
    case Look::kFellThrough: return theme::Mark::kFell;
    case Look::kExcluded: return theme::Mark::kExcluded;
    case Look::kMasked:
    case Look::kBelow: return theme::Mark::kMasked;
    case Look::kMissing: return theme::Mark::kMasked;
    case Look::kNotInSet: return theme::Mark::kAbsent;
  }
  return theme::Mark::kAbsent;
}

namespace {

constexpr float kHead = 25, kFact = 20, kSkip = 21, kEnd = 6;
constexpr size_t kMaxChips = 12;

/// One thing on the second lines of a box.
struct Fact {
  enum class Kind : uint8_t { kNode, kInside, kWrite, kChip, kMore, kRaised, kOpen } kind;
  std::string text;
  float x = 0, w = 0;  // x from the left edge of the text column
  int row = 0;
  const WhyChip* chip = nullptr;
};

struct Box {
  const WhyLayer* layer;
  float x, y, w, h;
  float text_x, text_w;        // where the words stand
  std::vector<Fact> facts;
  int fact_rows = 0;
  enum class Entry : uint8_t { kHead, kFacts, kOwnRow } entry = Entry::kHead;
};

float fact_width(const Fact& f) {
  switch (f.kind) {
    case Fact::Kind::kNode: return u(14) + text_width(Type::kMono, f.text) + text_width(Type::kBody, "  made");
    case Fact::Kind::kInside: return u(14) + text_width(Type::kBody, f.text);
    case Fact::Kind::kChip: return text_width(Type::kMonoSmall, f.text) + u(22);
    case Fact::Kind::kRaised: return text_width(Type::kSemi, f.text);
    default: return text_width(Type::kBody, f.text);
  }
}

std::vector<Fact> facts_of(const WhyLayer& l, const WhyModel& m) {
  std::vector<Fact> facts;
  if (!l.nodes.empty()) facts.push_back({Fact::Kind::kNode, l.node_text});
  if (l.nodes_inside) facts.push_back({Fact::Kind::kInside, plural(l.nodes_inside, "node") + " made inside"});
  if (!l.writes.empty()) facts.push_back({Fact::Kind::kWrite, l.writes});
  if (l.raised) facts.push_back({Fact::Kind::kRaised, m.error.empty() || !l.current ? "raised" : "raised " + m.error.substr(0, m.error.find(':'))});
  if (l.open) facts.push_back({Fact::Kind::kOpen, m.live ? "not back yet" : "never returned"});
  uint32_t left_out = 0;
  for (size_t i = 0; i < l.chips.size(); i++) {
    const WhyChip& c = l.chips[i];
    if (i < kMaxChips) facts.push_back({Fact::Kind::kChip, c.count > 1 ? c.op + " x " + count_text(c.count) : c.op, 0, 0, 0, &c});
    else left_out += c.count;
  }
  if (left_out) facts.push_back({Fact::Kind::kMore, "and " + plural(left_out, "more call")});
  return facts;
}

/// Places facts left to right, wrapping; the entry words take the right end of the first row when they fit.
void flow(Box& b, float right) {
  const float room = right - b.text_x, gap = u(10);
  float x = 0;
  int row = 0;
  for (Fact& f : b.facts) {
    f.w = std::min(fact_width(f), room);
    if (x > 0 && x + f.w > room) row++, x = 0;
    f.x = x, f.row = row, x += f.w + gap;
  }
  b.fact_rows = b.facts.empty() ? 0 : row + 1;
  const float entry = text_width(Type::kSmall, b.layer->entry);
  const float times = u(100), name = text_width(Type::kBold, b.layer->key), gloss = text_width(Type::kSmall, b.layer->gloss);
  float first = 0;
  for (const Fact& f : b.facts) if (f.row == 0) first = std::max(first, f.x + f.w);
  if (b.facts.empty() && name + gloss + entry + u(30) <= room - times) b.entry = Box::Entry::kHead;
  else if (!b.facts.empty() && first + gap + entry <= room) b.entry = Box::Entry::kFacts;
  else b.entry = Box::Entry::kOwnRow, b.fact_rows++;
}

/// Where each layer stands. A box holds all layers after it.
std::vector<Box> lay_out(const WhyModel& m, const Area& a, float y, float right) {
  std::vector<Box> boxes;
  size_t depth = 0;
  for (const WhyLayer& l : m.layers) depth += l.ran();
  // deep onions (functorch) share what there is
  const float steps = static_cast<float>(std::max<size_t>(depth, 1));
  const float in = std::min(u(12), a.w * .3f / steps), out = std::min(u(6), u(20) / steps);
  float x = a.x, w = a.w;
  bool inside = false;
  for (const WhyLayer& l : m.layers) {
    Box b{&l, x, y, w, u(kSkip), x + u(18 + theme::kTagW), 0};
    b.text_w = right - b.text_x;
    if (l.ran()) {
      if (inside) b.y = y += u(2);
      b.facts = facts_of(l, m);
      flow(b, right);
      y += u(kHead) + static_cast<float>(b.fact_rows) * u(kFact);
      x += in, w -= in + out, inside = true;
    } else {
      y += u(kSkip);
    }
    boxes.push_back(std::move(b));
  }
  // close from the innermost outwards
  float bottom = y;
  bool innermost = true;
  for (size_t i = boxes.size(); i-- > 0;) {
    Box& b = boxes[i];
    if (!b.layer->ran()) continue;
    const bool bare = innermost && i + 1 == boxes.size() && !b.fact_rows;
    bottom += innermost ? (bare ? u(2) : u(kEnd) - u(1)) : u(kEnd);
    b.h = bottom - b.y;
    innermost = false;
  }
  return boxes;
}

EventId draw_facts(const Pen& pen, const Box& b, float y, float right) {
  const auto& p = theme::palette();
  EventId go;
  for (const Fact& f : b.facts) {
    const float x = b.text_x + f.x, fy = y + static_cast<float>(f.row) * u(kFact), base = base_of(fy, u(kFact)), cy = fy + u(kFact) / 2;
    switch (f.kind) {
      case Fact::Kind::kNode: {
        pen.diamond(x + u(4), cy, u(4.5f), theme::color(theme::hue(theme::kAutograd)), true);
        const float t = pen.text_cut(Type::kMono, x + u(14), base, f.w - u(14), p.text, f.text);
        if (t + u(14) < f.w) pen.text(Type::kBody, x + u(14) + t, base, p.dim, "  made");
        break;
      }
      case Fact::Kind::kInside:
        pen.diamond(x + u(4), cy, u(4.5f), theme::color(theme::hue(theme::kAutograd)), false);
        pen.text_cut(Type::kBody, x + u(14), base, f.w - u(14), p.dim, f.text);
        break;
      case Fact::Kind::kWrite: {
        const size_t space = f.text.find(' ');
        const float t = pen.text(Type::kMono, x, base, p.text, std::string_view(f.text).substr(0, space));
        if (space != f.text.npos) pen.text_cut(Type::kBody, x + t, base, right - x - t, p.dim, std::string_view(f.text).substr(space));
        break;
      }
      case Fact::Kind::kRaised: pen.text_cut(Type::kSemi, x, base, f.w, p.text, f.text); break;
      case Fact::Kind::kChip: {
        Hit h;
        pen.chip(("chip/" + std::to_string(f.chip->first.value)).c_str(), x, cy, f.text, &h);
        tip(h, "calls " + f.chip->op + ": hop " + count_text(f.chip->first.value) + (f.chip->count > 1 ? ", " + count_text(f.chip->count) + " calls in a row" : "") +
                   ". Click for its own onion.");
        if (h) go = f.chip->first;
        break;
      }
      default: pen.text_cut(Type::kBody, x, base, f.w, p.dim, f.text);
    }
  }
  return go;
}

EventId draw_box(const Pen& pen, const Box& b, float right) {
  const auto& p = theme::palette();
  const WhyLayer& l = *b.layer;
  const bool missing = l.look == Look::kMissing;
  const unsigned hue = l.node_run ? theme::hue(theme::kAutograd) : theme::hue_of(l.key);
  const float radius = u(theme::kRadius), one = std::max(1.f, u(1));
  pen.fill(b.x, b.y, b.w, b.h, theme::color(p.panel), radius);
  // a look-up that found nothing is no layer: neutral and dashed; composites are hollow with a double line, as they do
  // nothing themselves
  if (missing) pen.dash_frame(b.x, b.y, b.w, b.h, theme::color(p.focus), u(4), u(3));
  else {
    const float tint = l.look == Look::kComposite ? .03f : theme::dark() ? .09f : .07f;
    pen.fill(b.x, b.y, b.w, b.h, theme::color(hue, tint), radius);
    if (l.look == Look::kComposite) pen.frame(b.x + u(2), b.y + u(2), b.w - u(4), b.h - u(4), theme::color(hue, .35f), radius);
    pen.frame(b.x, b.y, b.w, b.h, theme::color(hue, l.current ? .9f : .55f), radius);
  }
  const float head = u(kHead) + static_cast<float>(b.fact_rows) * u(kFact);
  ImGui::SetNextItemAllowOverlap();
  const Hit h = hit(("layer/" + std::to_string(l.event.value)).c_str(), b.x, b.y, b.w, head);
  EventId go = h ? l.event : EventId();
  if (h.hovered) pen.fill(b.x + one, b.y + one, b.w - 2 * one, head - one, theme::color(p.hover, .55f), radius);
  tip(h, l.hover);
  if (l.current) pen.fill(b.x, b.y + u(4), u(3), u(kHead) - u(6), theme::color(p.focus));

  const float base = base_of(b.y + u(1), u(kHead));
  if (l.node_run) pen.diamond(b.x + u(10 + theme::kTagW / 2), b.y + u(kHead) / 2 + u(1), u(5), theme::color(hue), true);
  else pen.tag(b.x + u(10), b.y + u(kHead) / 2 + u(1), l.key, mark_of(l.look));
  const float total_w = text_width(Type::kMono, l.total), own_right = right - std::max(u(48), total_w + u(14));
  pen.text_right(Type::kMono, own_right, base, p.dim, l.own);
  pen.text_right(Type::kMono, right, base, p.text, l.total);
  float room = own_right - text_width(Type::kMono, l.own) - u(10) - b.text_x;
  const float entry = text_width(Type::kSmall, l.entry);
  if (b.entry == Box::Entry::kHead) {
    pen.text(Type::kSmall, right - u(100) - entry, base, p.dim, l.entry);
    room = right - u(110) - entry - b.text_x;
  }
  float t = pen.text_cut(Type::kBold, b.text_x, base, room, p.text, l.key);
  if (missing) t += pen.text(Type::kSemi, b.text_x + t + u(10), base, p.text, "no kernel here") + u(10);
  const std::string gloss = l.look == Look::kComposite ? "composite: only calls other operators" : l.gloss;
  pen.text_cut(Type::kSmall, b.text_x + t + u(10), base, room - t - u(10), p.dim, gloss);
  const float fy = b.y + u(kHead);
  if (const EventId chip = draw_facts(pen, b, fy, right)) go = chip;
  if (b.entry == Box::Entry::kFacts) pen.text(Type::kSmall, right - entry, base_of(fy, u(kFact)), p.dim, l.entry);
  if (b.entry == Box::Entry::kOwnRow) {
    const float ry = fy + static_cast<float>(b.fact_rows - 1) * u(kFact);
    pen.text_cut(Type::kSmall, std::max(b.text_x, right - entry), base_of(ry, u(kFact)), right - b.text_x, p.dim, l.entry);
  }
  return go;
}

void draw_line(const Pen& pen, const Box& b, size_t index, float right) {
  const auto& p = theme::palette();
  const WhyLayer& l = *b.layer;
  const Hit h = hit(("skipped/" + std::to_string(index) + "/" + l.key).c_str(), b.x + u(6), b.y, right - b.x - u(6), u(kSkip));
  if (h.hovered) pen.fill(b.x + u(4), b.y, right - b.x - u(4), u(kSkip), theme::color(p.hover, .55f), u(theme::kRadius));
  tip(h, l.hover);
  const float base = base_of(b.y, u(kSkip));
  pen.tag(b.x + u(10), b.y + u(kSkip) / 2, l.key, mark_of(l.look));
  const float t = pen.text_cut(Type::kMono, b.text_x, base, b.text_w * .6f, p.dim, l.key);
  pen.text_cut(Type::kBody, b.text_x + t + u(10), base, right - b.text_x - t - u(10), p.dim, l.reason);
}

}  // namespace

EventId draw_onion(const Pen& pen, const WhyModel& m, const Area& a, float* y) {
  if (m.layers.empty()) return {};
  const float right = a.right() - u(24);
  const float base = base_of(*y, u(20));
  bool ran = false;
  for (const WhyLayer& l : m.layers) ran |= l.ran();
  pen.section(a.x, *y, a.w, ran ? "Layers, outermost first" : "Layers");
  if (ran) {
    const float total = text_width(Type::kSmall, "total µs");
    pen.note_right(right, base, "total µs");
    pen.note_right(right - std::max(u(48), total + u(14)) , base, "own");
  }
  *y += u(21);
  const auto boxes = lay_out(m, a, *y, right);
  EventId go;
  for (const Box& b : boxes) {
    if (b.layer->ran()) {
      if (const EventId e = draw_box(pen, b, right)) go = e;
    } else {
      draw_line(pen, b, static_cast<size_t>(&b - boxes.data()), right);
    }
    *y = std::max(*y, b.y + b.h);
  }
  *y += u(2);
  return go;
}

}  // namespace peel::views
