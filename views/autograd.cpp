#include "views/autograd.h"

#include <algorithm>

#include "views/autograd_model.h"
#include "views/background.h"
#include "views/pen.h"

namespace peel::views {
namespace {

using theme::Type;
using theme::u;

constexpr float kDrawer = 292, kDrawerFrom = 760;  // the side with details needs this much width
constexpr float kSmallest = .25f, kLargest = 2;

class AutogradPanel : public Panel {
 public:
  const char* title() const override { return "Autograd"; }
  const char* help() const override { return "The graph of autograd nodes around the selection: which hop made each, and its run in backward."; }
  void session_changed(Context&) override { reset(); }
  bool busy() const override { return work_.busy(); }
  bool run(Context&, std::string_view id) override;
  std::string copy_text(Context&) override;
  void draw(Context&) override;

 private:
  struct Canvas {
    Area area;
    float ox, oy, z;  // screen = o + z * graph
    float x(float gx) const { return ox + gx * z; }
    float y(float gy) const { return oy + gy * z; }
  };
  void reset();
  void follow(Context&);
  void ask(const Context&, NodeId focus, int64_t task);
  void draw_graph(Context&, const Area&);
  void draw_edges(const Pen&, const Canvas&) const;
  void draw_box(Context&, const Pen&, const Canvas&, uint32_t index);
  void draw_details(Context&, const Area&);
  void draw_foot(const Pen&, const Area&) const;
  void fit(const Area&);
  void bring_into_sight(const Area&, NodeId);
  void choose(Context&, const GraphBox&);
  std::string hover_of(const GraphBox&) const;

  Background<AutogradModel> work_;
  AutogradModel model_;
  NodeDetails details_;
  uint64_t seen_selection_ = UINT64_MAX, details_generation_ = 0;
  double asked_at_ = 0;
  NodeId asked_;
  int64_t task_ = -1;
  float zoom_ = 1, pan_x_ = 0, pan_y_ = 0, seen_w_ = 0, seen_h_ = 0;
  bool place_ = false, reveal_ = false, fit_now_ = false;
  bool moved_ = false;           // by the reader: then a new size keeps what is seen
};

void AutogradPanel::reset() {
  work_.stop();
  model_ = {}, details_ = {}, asked_ = {}, task_ = -1, seen_selection_ = UINT64_MAX;
}

void AutogradPanel::ask(const Context& c, NodeId focus, int64_t task) {
  asked_ = focus, asked_at_ = ImGui::GetTime();
  AutogradOptions o;
  o.graph_task = task;
  const Session* s = c.session;
  work_.start([s, focus, o](const std::atomic<bool>& cancelled) { return make_autograd_model(*s, focus, o, cancelled); });
}

/// Keeps node and selection together, and the graph around the node.
void AutogradPanel::follow(Context& c) {
  if (seen_selection_ != c.selection_changes) {
    seen_selection_ = c.selection_changes;
    if (const NodeId n = node_for(*c.session, c.selected)) {
      if (c.node != n) reveal_ = true;
      c.node = n;
    }
    const int64_t task = graph_task_at(*c.session, c.selected);
    if (task >= 0 && task != model_.graph_task && c.node) ask(c, c.node, task);
  }
  if (auto fresh = work_.take()) {
    const bool other = !fresh->box_of.contains(model_.focus) || model_.boxes.empty();
    model_ = std::move(*fresh);
    details_ = {};
    if (other) place_ = true;
    else reveal_ = true;
  }
  if (!c.node && c.session->nodes()) c.node = NodeId(1);
  if (!c.node) return;
  const bool absent = !model_.box_of.contains(c.node);
  const bool stale = !model_.final && model_.generation != c.session->generation();
  if (!work_.busy() && ((absent && asked_ != c.node) || (stale && ImGui::GetTime() - asked_at_ > .5)))
    ask(c, c.node, -1);
  if (details_.node != c.node || details_generation_ != model_.generation) {
    details_ = node_details(*c.session, c.node, model_);
    details_generation_ = model_.generation;
  }
}

void AutogradPanel::fit(const Area& a) {
  const float s = theme::scale(), w = std::max(1.f, model_.layout.w * s), h = std::max(1.f, model_.layout.h * s);
  zoom_ = std::clamp(std::min(a.w / w, a.h / h), kSmallest, 1.f);
  pan_x_ = (a.w - w * zoom_) / 2, pan_y_ = (a.h - h * zoom_) / 2;
}

void AutogradPanel::bring_into_sight(const Area& a, NodeId n) {
  const auto i = model_.box_of.find(n);
  if (i == model_.box_of.end()) return;
  const GraphBox& b = model_.boxes[i->second];
  const float z = zoom_ * theme::scale(), margin = u(12);
  const Point p = model_.layout.at[i->second];
  const float x = pan_x_ + p.x * z, y = pan_y_ + p.y * z, w = b.w * z, h = b.h * z;
  if (x < margin) pan_x_ += margin - x;
  else if (x + w > a.w - margin) pan_x_ -= x + w - (a.w - margin);
  if (y < margin) pan_y_ += margin - y;
  else if (y + h > a.h - margin) pan_y_ -= y + h - (a.h - margin);
}

void AutogradPanel::choose(Context& c, const GraphBox& b) {
  if (b.kind == GraphBox::Kind::kStop) {
    if (b.tensor) c.tensor = b.tensor;
    return;
  }
  const NodeId n = b.node;
  const TensorId leaf = b.kind == GraphBox::Kind::kLeaf ? b.tensor : TensorId();
  if (b.event) {
    c.select(b.event);
    seen_selection_ = c.selection_changes;  // the node clicked stays the node, whatever else its hop made
  }
  c.node = n;
  if (leaf) c.tensor = leaf;
}

/// Left follows the gradient, right goes against it, up and down stay in the column.
bool AutogradPanel::run(Context& c, std::string_view id) {
  const auto at = model_.box_of.find(c.node);
  if (at == model_.box_of.end()) return false;
  const uint32_t here = at->second;
  const bool left = id == "list.left", right = id == "list.right", up = id == "list.up", down = id == "list.down";
  if (!left && !right && !up && !down) return false;
  uint32_t best = UINT32_MAX;
  float nearest = 0;
  auto consider = [&](uint32_t i) {
    const GraphBox& b = model_.boxes[i];
    if (b.kind != GraphBox::Kind::kNode && b.kind != GraphBox::Kind::kLeaf) return;
    const float dy = model_.layout.at[i].y + b.h / 2 - model_.layout.at[here].y - model_.boxes[here].h / 2;
    if ((up && dy >= 0) || (down && dy <= 0)) return;
    if (best == UINT32_MAX || std::abs(dy) < nearest) best = i, nearest = std::abs(dy);
  };
  if (left || right) {
    for (const GraphEdge& e : model_.edges) {
      if (left && e.from == here) consider(e.to);
      if (right && e.to == here) consider(e.from);
    }
  } else {
    for (uint32_t i = 0; i < model_.boxes.size(); i++)
      if (i != here && model_.layout.column[i] == model_.layout.column[here]) consider(i);
  }
  if (best == UINT32_MAX) return true;
  choose(c, model_.boxes[best]);
  reveal_ = true;
  return true;
}

std::string AutogradPanel::copy_text(Context&) {
  std::string s = plain(model_.sentence) + "\n";
  for (const GraphBox& b : model_.boxes) {
    if (b.kind != GraphBox::Kind::kNode && b.kind != GraphBox::Kind::kLeaf) continue;
    s += (b.order ? std::to_string(b.order) + "  " : "-  ") + b.name + "  " + b.second + (b.third.empty() ? "" : "  " + b.third) + "\n";
  }
  return model_.boxes.empty() ? "" : s;
}

std::string AutogradPanel::hover_of(const GraphBox& b) const {
  switch (b.kind) {
    case GraphBox::Kind::kStop:
      return b.name + (b.tensor ? " (" + tensor_name(b.tensor) + ")" : "") + " does not require a gradient: nothing flows there." +
             (b.tensor ? "\nClick to see this tensor." : "");
    case GraphBox::Kind::kFolded: return "Folded to keep the picture readable. Click to move there.";
    default: break;
  }
  std::string s = b.name + "\n" + b.second + (b.third.empty() ? "" : "\n" + b.third);
  if (b.order) s += "\nran " + ordinal(b.order) + " of " + count_text(model_.ran) + " in backward";
  else if (model_.graph_task >= 0) s += "\ndid not run in this backward";
  return s;
}

void AutogradPanel::draw_edges(const Pen& pen, const Canvas& v) const {
  const auto& p = theme::palette();
  const auto sel = details_.node ? model_.box_of.find(details_.node) : model_.box_of.end();
  const uint32_t chosen = sel == model_.box_of.end() ? UINT32_MAX : sel->second;
  for (int pass = 0; pass < 2; pass++)  // edges of the selected node above the others
    for (size_t i = 0; i < model_.edges.size(); i++) {
      const GraphEdge& e = model_.edges[i];
      const bool hot = !e.stop && (e.from == chosen || e.to == chosen);
      if (hot != (pass == 1)) continue;
      const GraphBox &f = model_.boxes[e.from], &t = model_.boxes[e.to];
      const Point fp = model_.layout.at[e.from], tp = model_.layout.at[e.to];
      std::vector<ImVec2> at{{v.x(fp.x), v.y(fp.y + f.h / 2)}};
      for (const Point& b : model_.layout.bends[i]) at.push_back({v.x(b.x), v.y(b.y)});
      at.push_back({v.x(tp.x + t.w), v.y(tp.y + t.h / 2)});
      const ImU32 ink = theme::color(hot ? p.focus : p.line_strong);
      const float thick = (hot ? 2.f : 1.4f) * theme::scale() * std::clamp(zoom_, .6f, 1.2f), tip = u(7) * std::min(zoom_, 1.f);
      for (size_t k = 0; k + 1 < at.size(); k++) {
        const ImVec2 a = at[k], b{at[k + 1].x + (k + 2 == at.size() && !e.stop ? tip * .7f : 0), at[k + 1].y};
        if (e.stop) pen.dash(a.x, a.y, b.x, b.y, ink, u(3), u(3));
        else if (k % 2) pen.dl->AddLine(a, b, ink, thick);  // through a column
        else {
          const float m = std::max(u(10) * zoom_, (a.x - b.x) / 2);
          pen.dl->AddBezierCubic(a, {a.x - m, a.y}, {b.x + m, b.y}, b, ink, thick);
        }
      }
      if (!e.stop) {
        const ImVec2 b = at.back();
        pen.dl->AddTriangleFilled(b, {b.x + tip, b.y - tip * .57f}, {b.x + tip, b.y + tip * .57f}, ink);
      }
    }
}

/// Text at the graph's zoom, cut to w pixels.
void zoomed(const Pen& pen, Type t, float zoom, float x, float y, float w, unsigned rgb, std::string_view s) {
  ImFont* f = theme::font(t);
  const float size = std::round(theme::font_size(t) * zoom);
  if (size < 6 || s.empty()) return;
  const char *begin = s.data(), *end = begin + s.size(), *rest = end;
  std::string cut;
  if (f->CalcTextSizeA(size, FLT_MAX, 0, begin, end).x > w) {
    const float dots = f->CalcTextSizeA(size, FLT_MAX, 0, "…").x;
    f->CalcTextSizeA(size, std::max(0.f, w - dots), 0, begin, end, &rest);
    cut.assign(begin, rest), cut += "…";
    begin = cut.data(), end = begin + cut.size();
  }
  pen.dl->AddText(f, size, {std::round(x), std::round(y)}, theme::color(rgb), begin, end);
}

void AutogradPanel::draw_box(Context& c, const Pen& pen, const Canvas& v, uint32_t index) {
  const auto& p = theme::palette();
  const GraphBox& b = model_.boxes[index];
  const Point at = model_.layout.at[index];
  const float x = std::round(v.x(at.x)), y = std::round(v.y(at.y)), w = std::round(b.w * v.z), h = std::round(b.h * v.z), z = v.z;
  if (x > v.area.right() || x + w < v.area.x || y > v.area.bottom() || y + h < v.area.y) return;
  const bool node = b.kind == GraphBox::Kind::kNode, leaf = b.kind == GraphBox::Kind::kLeaf;
  const bool selected = (node || leaf) && b.node == c.node;
  // keep the hit inside of the canvas, else boxes would answer under the details
  const float hx = std::max(x, v.area.x), hy = std::max(y, v.area.y);
  const char* what = leaf ? "leaf/" : node ? "node/" : b.kind == GraphBox::Kind::kStop ? "stop/" : "folded/";
  const Hit at_box = hit((what + std::to_string(node || leaf ? b.node.value : index)).c_str(), hx, hy, std::min(x + w, v.area.right()) - hx,
                         std::min(y + h, v.area.bottom()) - hy);
  if (at_box) choose(c, b);
  if (at_box.hovered) ImGui::SetMouseCursor(ImGuiMouseCursor_Hand);
  tip(at_box, hover_of(b));
  const float zf = zoom_, row = 20 * z;
  if (!node && !leaf) {
    pen.fill(x, y, w, h, theme::color(at_box.hovered ? p.hover : p.panel));
    pen.dash_frame(x, y, w, h, theme::color(p.line_strong), u(3), u(3));
    const float ty = y + (h - theme::font_size(Type::kBody) * zf) / 2;
    const float used = std::min(w * .5f, theme::font(Type::kMono)->CalcTextSizeA(theme::font_size(Type::kMono) * zf, FLT_MAX, 0, b.name.c_str()).x + 8 * z);
    const float nx = b.kind == GraphBox::Kind::kFolded ? w : used;
    zoomed(pen, b.kind == GraphBox::Kind::kFolded ? Type::kBody : Type::kMono, zf, x + 10 * z, ty, b.kind == GraphBox::Kind::kFolded ? nx - 16 * z : nx, p.dim, b.name);
    if (b.kind == GraphBox::Kind::kStop) zoomed(pen, Type::kBody, zf, x + 10 * z + used, ty, w - used - 14 * z, p.faint, b.second);
    return;
  }
  const float radius = leaf ? h / 2 : u(theme::kRadius);
  pen.fill(x, y, w, h, theme::color(selected ? p.select : at_box.hovered ? p.hover : p.raised), radius);
  pen.frame(x, y, w, h, theme::color(selected ? p.focus : p.line_strong, selected ? 1 : .7f), radius);
  const float tx = x + (leaf ? 18 : 22) * z, circle = b.order ? 20 * z : 0;
  if (node) pen.diamond(x + 12 * z, y + 13 * z, 4.5f * z, theme::color(theme::hue(theme::kAutograd)), true);
  auto line = [&](Type t, float lx, float top, float room, unsigned rgb, const std::string& s) {
    zoomed(pen, t, zf, lx, top + (row - std::round(theme::font_size(t) * zf)) / 2, room, rgb, s);
  };
  line(leaf ? Type::kMono : Type::kBold, tx, y + 3 * z, x + w - tx - (leaf ? circle + 8 * z : 6 * z), p.text, b.name);
  if (zoom_ >= .45f) {
    line(Type::kSmall, leaf ? tx : x + 10 * z, y + 22 * z, w - circle - 24 * z, selected ? p.dim : p.faint, b.second);
    if (node) line(Type::kSmall, x + 10 * z, y + 42 * z, w - circle - 18 * z, p.dim, b.third);
  }
  if (!b.order) return;
  const float ox = x + w - (leaf ? 18 : 15) * z, oy = y + (leaf ? h / 2 : 40 * z);
  pen.dot(ox, oy, 9 * z, theme::color(selected ? p.focus : p.line));
  const std::string n = std::to_string(b.order);
  const Type t = n.size() > 2 ? Type::kSmall : Type::kSemiSmall;
  const float size = std::round(theme::font_size(t) * zf * (n.size() > 2 ? .75f : 1));
  const ImVec2 tw = theme::font(t)->CalcTextSizeA(size, FLT_MAX, 0, n.c_str());
  if (size >= 6) pen.dl->AddText(theme::font(t), size, {std::round(ox - tw.x / 2), std::round(oy - tw.y / 2)}, theme::color(selected ? p.panel : p.text), n.c_str());
}

void AutogradPanel::draw_graph(Context& c, const Area& a) {
  const Pen pen;
  if (a.w != seen_w_ || a.h != seen_h_) {  // the panel changed its size: keep the middle, and the node in sight
    if (seen_w_ > 0 && !moved_) place_ = true;
    else if (seen_w_ > 0) pan_x_ += (a.w - seen_w_) / 2, pan_y_ += (a.h - seen_h_) / 2, reveal_ = true;
    seen_w_ = a.w, seen_h_ = a.h;
  }
  if (place_ || fit_now_) {
    const bool whole = fit_now_;
    fit(a);
    if (!whole && zoom_ < .65f) {  // too small to read: show the neighbourhood instead
      zoom_ = .9f;
      const auto i = model_.box_of.find(c.node);
      if (i != model_.box_of.end()) {
        const Point p = model_.layout.at[i->second];
        const float z = zoom_ * theme::scale();
        const GraphBox& b = model_.boxes[i->second];
        // the node in the middle, but no empty ground where the graph ends
        auto put = [&](float room, float all, float middle) {
          const float margin = u(12);
          if (all + 2 * margin <= room) return (room - all) / 2;
          return std::clamp(room / 2 - middle, room - all - margin, margin);
        };
        pan_x_ = put(a.w, model_.layout.w * z, (p.x + b.w / 2) * z), pan_y_ = put(a.h, model_.layout.h * z, (p.y + b.h / 2) * z);
      }
    }
    place_ = fit_now_ = moved_ = false;
  }
  if (reveal_) bring_into_sight(a, c.node), reveal_ = false;
  ImGui::PushClipRect({a.x, a.y}, {a.right(), a.bottom()}, true);
  // the ground takes drag and wheel; boxes lie above it
  ImGui::SetNextItemAllowOverlap();
  const Hit ground = hit("ground", a);
  const ImGuiIO& io = ImGui::GetIO();
  if (ground.held && ImGui::IsMouseDragging(ImGuiMouseButton_Left, 3)) pan_x_ += io.MouseDelta.x, pan_y_ += io.MouseDelta.y, moved_ = true;
  const bool over = ImGui::IsWindowHovered(ImGuiHoveredFlags_AllowWhenBlockedByActiveItem) && a.x <= io.MousePos.x && io.MousePos.x < a.right() &&
                    a.y <= io.MousePos.y && io.MousePos.y < a.bottom();
  if (over && io.MouseWheel != 0) {
    const float before = zoom_;
    moved_ = true;
    zoom_ = std::clamp(zoom_ * (io.MouseWheel > 0 ? 1.1f : 1 / 1.1f), kSmallest, kLargest);
    const float mx = io.MousePos.x - a.x, my = io.MousePos.y - a.y;
    pan_x_ = mx - (mx - pan_x_) * zoom_ / before, pan_y_ = my - (my - pan_y_) * zoom_ / before;
  }
  if ((over || ImGui::IsWindowFocused()) && !io.WantTextInput && io.KeyMods == 0 && ImGui::IsKeyPressed(ImGuiKey_F, false)) fit_now_ = true;
  const Canvas v{a, a.x + pan_x_, a.y + pan_y_, zoom_ * theme::scale()};
  draw_edges(pen, v);
  for (uint32_t i = 0; i < model_.boxes.size(); i++) draw_box(c, pen, v, i);
  ImGui::PopClipRect();
}

void AutogradPanel::draw_details(Context& c, const Area& a) {
  const Pen pen;
  const auto& p = theme::palette();
  const NodeDetails& d = details_;
  pen.vline(a.x, a.y, a.h, theme::color(p.line));
  const float x = a.x + u(16), w = a.w - u(16);
  float y = a.y;
  ImGui::PushClipRect({a.x, a.y}, {a.right(), a.bottom()}, true);
  pen.diamond(x + u(5), y + u(10), u(5), theme::color(theme::hue(theme::kAutograd)), !d.leaf);
  const float note_w = text_width(Type::kSmall, d.sequence);
  pen.text_cut(Type::kTitle, x + u(18), base_of(y, u(20)), w - note_w - u(26), p.text, d.leaf && !d.parameter.empty() ? d.parameter : d.name);
  pen.note_right(x + w, base_of(y, u(20)), d.leaf ? "AccumulateGrad" : d.sequence);
  y += u(22);
  auto head = [&](std::string_view s) {
    y += u(8);
    pen.text_cut(Type::kSemiSmall, x, base_of(y, u(20)), w, p.dim, s);
    y += u(21);
  };
  // a row that leads somewhere: mono words, a note, where to
  auto row = [&](const std::string& id, const std::string& text, const std::string& note, const std::string& key, EventId to, NodeId node) {
    const bool leads = to || node;
    Hit h;
    if (leads) h = hit(("detail/" + id).c_str(), x - u(4), y, w + u(4), u(20));
    if (h.hovered) pen.fill(x - u(6), y, w + u(10), u(20), theme::color(p.hover), u(theme::kRadius));
    const std::string where = to ? "hop " + count_text(to.value) : "";
    const float where_w = text_width(Type::kMonoSmall, where) + u(8);
    float t = pen.text_cut(Type::kMono, x, base_of(y, u(20)), w - where_w, p.text, text);
    if (!note.empty()) t += u(8) + pen.text_cut(Type::kBody, x + t + u(8), base_of(y, u(20)), w - where_w - t - u(8), p.dim, note);
    if (!key.empty() && t + u(20 + theme::kTagW) < w - where_w) pen.tag(x + t + u(10), y + u(10), key, theme::Mark::kRan);
    pen.text_right(Type::kMonoSmall, x + w, base_of(y, u(20)), p.dim, where);
    y += u(21);
    if (!h) return;
    if (to) c.select(to), seen_selection_ = node ? c.selection_changes : seen_selection_;
    if (node) c.node = node, reveal_ = true;
  };
  if (d.made_by) {
    head(d.found_late ? "First seen by" : "Made by");
    row("made by", d.made_op, d.made_line, d.made_key, d.made_by, {});
  }
  if (d.leaf && d.variable) {
    head("Gradient goes to");
    Hit h = hit("detail/variable", x - u(4), y, w + u(4), u(20));
    if (h.hovered) pen.fill(x - u(6), y, w + u(10), u(20), theme::color(p.hover), u(theme::kRadius));
    pen.rich(x, base_of(y, u(20)), {{Type::kMono, p.text, tensor_name(d.variable)}, {Type::kBody, p.dim, "  its .grad"}});
    if (h) c.tensor = d.variable;
    y += u(21);
  }
  if (!d.saved.empty()) head(d.saved_head);
  for (size_t i = 0; i < d.saved.size(); i++) {
    const auto& v = d.saved[i];
    const Hit h = v.tensor ? hit(("detail/saved/" + std::to_string(i)).c_str(), x - u(4), y, w + u(4), u(20)) : Hit();
    if (h.hovered) pen.fill(x - u(6), y, w + u(10), u(20), theme::color(p.hover), u(theme::kRadius));
    const float t = pen.text_cut(Type::kMono, x, base_of(y, u(20)), w, p.text, v.text);
    if (t + u(24) < w) pen.text_cut(Type::kSmall, x + t + u(8), base_of(y, u(20)), w - t - u(8), v.event ? p.text : p.dim, v.note);
    tip(h, v.text + "  " + v.note + (v.event ? "\nWritten since it was saved, by hop " + count_text(v.event.value) + ", so backward refuses it. Right click: go there." : "") + "\nClick: this tensor's life.");
    if (h) c.tensor = v.tensor, c.commands->run("tensor.show");
    if (h.right_clicked && v.event) c.select(v.event), seen_selection_ = c.selection_changes;
    y += u(21);
  }
  if (!d.passes_to.empty()) head("Passes the gradient to");
  for (size_t i = 0; i < d.passes_to.size(); i++) row("to/" + std::to_string(i), d.passes_to[i].text, d.passes_to[i].note, "", {}, d.passes_to[i].node);
  if (!d.comes_from.empty()) head("Gets it from");
  for (size_t i = 0; i < d.comes_from.size(); i++) row("from/" + std::to_string(i), d.comes_from[i].text, "", "", {}, d.comes_from[i].node);
  if (d.run) {
    head(d.run_text);
    row("run", d.name, d.run_time, "", d.run, d.node);
    for (size_t i = 0; i < d.calls.size(); i++) row("call/" + std::to_string(i), d.calls[i].text, "", "", d.calls[i].event, {});
  } else {
    head("Did not run in backward");
  }
  ImGui::PopClipRect();
}

void AutogradPanel::draw_foot(const Pen& pen, const Area& a) const {
  std::string s = "Arrows run the way the gradient flows.";
  if (model_.ran) s += " Number: place in backward, 1 to " + count_text(model_.ran) + ".";
  if (model_.nodes_drawn < model_.nodes_found || model_.search_cut)
    s = count_text(model_.nodes_drawn) + " of " + (model_.search_cut ? "more than " : "") + count_text(model_.nodes_found) + " nodes drawn, the nearest ones. " + s;
  pen.text_cut(Type::kSmall, a.x, base_of(a.bottom() - u(18), u(20)), a.w - u(40), theme::palette().faint, s);
}

void AutogradPanel::draw(Context& c) {
  const Area a = panel_area();
  const Pen pen;
  if (!c.session) return pen.empty(a, "No session is open", "Run a program or open a recording; its autograd graph is drawn here.");
  if (!c.session->nodes()) {
    if (!c.session->progress().ready) return pen.empty(a, "Reading", "No autograd node was met yet.");
    return pen.empty(a, "No autograd node was made", "Nodes are made when an operator runs with grad mode on and an input requires a gradient.");
  }
  follow(c);
  if (model_.boxes.empty()) return pen.empty(a, "Following the graph", "One moment.");
  const auto& p = theme::palette();
  // ---- sentence
  std::vector<Run> runs;
  const bool small = a.h < u(240);
  for (const Part& part : model_.sentence)
    runs.push_back({part.strong ? (small ? Type::kSemi : Type::kSemiLead) : small ? Type::kBody : Type::kLead, part.faint ? p.dim : p.text, part.text});
  float y = a.y;
  const float line = small ? u(19) : u(22);
  Hit f;
  pen.link("fit", a.right() - text_width(Type::kSmall, "fit"), base_of(y, line), "fit", &f);
  tip(f, "Fit the whole graph (F). Drag to move, wheel to zoom.");
  if (f) fit_now_ = true;
  y += static_cast<float>(pen.rich_wrapped(a.x, base_of(y, line), a.w - u(40), line, runs)) * line + u(4);
  if (work_.busy()) pen.note_right(a.right() - u(40), base_of(a.bottom() - u(18), u(20)), "reading…");
  // ---- graph, details, foot
  const bool drawer = a.w >= u(kDrawerFrom) && a.h >= u(260);
  const float foot = u(22), graph_w = drawer ? a.w - u(kDrawer) - u(16) : a.w;
  draw_graph(c, {a.x, y, graph_w, std::max(u(40), a.bottom() - foot - y)});
  if (drawer) draw_details(c, {a.right() - u(kDrawer), y, u(kDrawer), a.bottom() - y});
  draw_foot(pen, {a.x, a.y, graph_w, a.h});
}

}  // namespace

std::unique_ptr<Panel> make_autograd_panel() { return std::make_unique<AutogradPanel>(); }

}  // namespace peel::views
