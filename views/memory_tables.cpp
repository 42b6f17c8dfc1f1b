#include "views/memory_tables.h"

#include <algorithm>
#include <cmath>

namespace peel::views {
namespace {

using theme::Type;
using theme::u;

constexpr float kLine = 23;

bool contains(std::string_view text, std::string_view part) {
  const auto lower = [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c; };
  return std::search(text.begin(), text.end(), part.begin(), part.end(), [&](char a, char b) { return lower(a) == lower(b); }) != text.end();
}

std::string percent(double share) {
  char b[16];
  snprintf(b, sizeof b, "%.0f %%", share * 100);
  return b;
}

}  // namespace

// ---- who holds it

void HolderList::draw(MemoryView& v, const HolderTable& t, std::string_view search, const Area& a, std::string_view nothing) {
  const auto& p = theme::palette();
  const Pen pen;
  if (t.rows.empty()) return pen.empty(a, "Nothing", nothing);
  if (filtered_ != t.serial || search_ != search) {
    filtered_ = t.serial, search_ = search, row_ = SIZE_MAX;
    shown_.clear();
    for (uint32_t i = 0; i < t.rows.size(); i++) if (search.empty() || contains(t.rows[i].name, search) || contains(t.rows[i].note, search)) shown_.push_back(i);
  }
  const bool bars = a.w > u(460);
  const float bar = bars ? u(110) : 0, bytes = a.right() - bar - (bars ? u(12) : 0), blocks = bytes - u(76);
  const float base = base_of(a.y, u(20));
  pen.text(Type::kSmall, a.x, base, p.faint, hold_word(t.by));
  pen.text_right(Type::kSmall, bytes, base, p.faint, "bytes");
  pen.text_right(Type::kSmall, blocks, base, p.faint, "blocks");
  const float foot = u(20);
  const Area list{a.x - u(4), a.y + u(20), a.w + u(4 + theme::kPadX), std::max(u(kLine), a.h - u(20) - foot)};
  list_.begin("holders", list, static_cast<int64_t>(shown_.size()), u(kLine));
  const Pen inner;
  const int64_t most = t.rows.empty() ? 1 : std::max_element(t.rows.begin(), t.rows.end(), [](const Holder& x, const Holder& y) { return x.bytes < y.bytes; })->bytes;
  for (int64_t r = list_.first(); r < list_.end_row(); r++) {
    const Holder& row = t.rows[shown_[static_cast<size_t>(r)]];
    const float y = list_.y(r), h = u(kLine) - 1, line = base_of(y, h);
    const Hit on = hit(("holder/" + std::to_string(r)).c_str(), a.x - u(4), y, a.w + u(8), h);
    const bool marked = row_ == static_cast<size_t>(r) || (row.biggest != kNoIndex && row.biggest == v.life);
    if (marked) inner.fill(a.x - u(4), y, a.w + u(8), h, theme::color(p.select));
    else if (on.hovered) inner.fill(a.x - u(4), y, a.w + u(8), h, theme::color(p.hover));
    const float room = blocks - u(50) - a.x;
    const float w = inner.text_cut(row.known ? Type::kMono : Type::kBody, a.x, line, room, row.known ? p.text : p.dim, row.name);
    if (!row.note.empty() && w + u(50) < room) inner.text_cut(Type::kSmall, a.x + w + u(10), line, room - w - u(10), p.faint, row.note);
    inner.text_right(Type::kMonoSmall, blocks, line, p.dim, count_text(row.blocks));
    inner.text_right(Type::kMonoSmall, bytes, line, p.text, bytes_text(row.bytes));
    if (bars) inner.fill(bytes + u(12), y + h / 2 - u(5), std::max(1.f, bar * static_cast<float>(static_cast<double>(row.bytes) / static_cast<double>(std::max<int64_t>(1, most)))), u(10), theme::color(p.line_strong), u(2));
    inner.hline(a.x, y + h, a.w, theme::color(p.line));
    if (on.hovered) tip(on, row.name + (row.note.empty() ? "" : "\n" + row.note) + "\nthe biggest: " + describe(*v.names, row.biggest) + "\nClick marks it and selects its hop.");
    if (on) row_ = static_cast<size_t>(r), v.pick = row.biggest;
  }
  list_.end();
  std::string words = plural(t.blocks, "block") + ", " + bytes_text(t.bytes);
  if (shown_.size() < t.rows.size()) words += "; " + count_text(shown_.size()) + " of " + plural(t.rows.size(), "row") + " shown";
  pen.text_cut(Type::kSmall, a.x, base_of(a.bottom() - u(18), u(18)), a.w, p.faint, words);
}

bool HolderList::run(MemoryView& v, const HolderTable& t, std::string_view id) {
  const size_t n = shown_.size(), here = row_ < n ? row_ : SIZE_MAX;
  if (!n || filtered_ != t.serial) return false;
  const auto to = id == "list.open" && here != SIZE_MAX ? static_cast<int64_t>(here) : list_.row_after(id, here == SIZE_MAX ? -1 : static_cast<int64_t>(here), n);
  if (!to) return false;
  row_ = static_cast<size_t>(*to);
  list_.reveal(*to);
  if (const Holder& row = t.rows[shown_[row_]]; row.biggest != kNoIndex) v.pick = row.biggest;
  return true;
}

std::string HolderList::text(const HolderTable& t) const {
  std::string s = std::string(hold_word(t.by)) + "\tblocks\tbytes\n";
  for (const Holder& r : t.rows) s += r.name + (r.note.empty() ? "" : " (" + r.note + ")") + "\t" + std::to_string(r.blocks) + "\t" + std::to_string(r.bytes) + "\n";
  return s;
}

// ---- pools

void draw_pools(const MemoryView& v, const std::vector<PoolRow>& rows, const Area& a) {
  const auto& p = theme::palette();
  const Pen pen;
  if (rows.empty()) return pen.empty(a, "No pools", !v.of().caching() ? "Only PyTorch's caching allocator has pools of this kind." : "No segment is known at this moment.");
  constexpr struct { const char* head; float width; } kColumns[] = {{"fragmented", 92}, {"largest", 78}, {"free", 78}, {"in use", 82}, {"reserved", 82}, {"segments", 68}};
  const float base = base_of(a.y, u(20));
  pen.text(Type::kSmall, a.x, base, p.faint, "pool");
  float x = a.right();
  for (const auto& c : kColumns) pen.text_right(Type::kSmall, x, base, p.faint, c.head), x -= u(c.width);
  float y = a.y + u(20);
  for (const PoolRow& r : rows) {
    if (y + u(kLine) > a.bottom() - u(20)) break;
    const float h = u(kLine) - 1, line = base_of(y, h);
    const std::string cells[] = {r.free ? percent(r.fragmentation()) : "", bytes_text(r.largest_free), bytes_text(r.free), bytes_text(r.allocated + r.pending), bytes_text(r.reserved), count_text(r.segments)};
    float at = a.right();
    for (size_t i = 0; i < std::size(cells); i++) pen.text_right(Type::kMonoSmall, at, line, i == 0 || i == 2 ? p.text : p.dim, cells[i]), at -= u(kColumns[i].width);
    pen.text_cut(Type::kBody, a.x, line, at + u(8) - a.x, p.text, r.name);
    const Hit on = hit(("pool/" + r.name).c_str(), a.x, y, a.w, h);
    tip(on, r.name + "\n" + plural(r.free_blocks, "free block") + ", the largest " + bytes_text(r.largest_free) + "\n" + bytes_text(r.releasable) + " in segments with nothing in them" +
                (r.pending ? "\n" + bytes_text(r.pending) + " waits for another stream" : ""));
    pen.hline(a.x, y + h, a.w, theme::color(p.line));
    y += u(kLine);
  }
  pen.text_cut(Type::kSmall, a.x, base_of(a.bottom() - u(18), u(18)), a.w, p.faint, "fragmented: the share of what is free that is not in the largest free block; 0 % is one piece");
}

std::string pools_text(const std::vector<PoolRow>& rows) {
  std::string s = "pool\tsegments\treserved\tallocated\twaiting\tfree\tlargest free\tfragmented\n";
  for (const PoolRow& r : rows)
    s += r.name + "\t" + std::to_string(r.segments) + "\t" + std::to_string(r.reserved) + "\t" + std::to_string(r.allocated) + "\t" + std::to_string(r.pending) + "\t" + std::to_string(r.free) + "\t" +
         std::to_string(r.largest_free) + "\t" + percent(r.fragmentation()) + "\n";
  return s;
}

// ---- out of memory

void OomList::draw(MemoryView& v, const OomReport& r, const Area& a) {
  const auto& p = theme::palette();
  // Facts, then why what is free was refused, then the blocks themselves: one list, rows of one height.
  struct Row {
    enum { kHead, kFact, kReason, kHint, kBlock } kind;
    size_t index;
    std::string text;
  };
  std::vector<Row> rows;
  for (const std::string& h : r.hints) {
    // Wrapped by words into lines of the list.
    std::string line;
    for (size_t at = 0; at < h.size();) {
      const size_t space = std::min(h.find(' ', at), h.size());
      const std::string word = h.substr(at, space - at);
      if (!line.empty() && text_width(Type::kBody, line + " " + word) > a.w - u(14)) rows.push_back({Row::kHint, 0, line}), line.clear();
      line += (line.empty() ? "" : " ") + word;
      at = space + 1;
    }
    if (!line.empty()) rows.push_back({Row::kHint, 0, line});
  }
  for (size_t i = 0; i < r.facts.size(); i++) rows.push_back({Row::kFact, i, ""});
  if (!r.reasons.empty()) rows.push_back({Row::kHead, 0, "Why what is free was not taken"});
  for (size_t i = 0; i < r.reasons.size(); i++) rows.push_back({Row::kReason, i, ""});
  if (!r.blocks.empty()) rows.push_back({Row::kHead, 0, r.blocks.size() < r.all_blocks ? "Blocks not in use: " + count_text(r.blocks.size()) + " of " + count_text(r.all_blocks) : "Blocks not in use"});
  for (size_t i = 0; i < r.blocks.size(); i++) rows.push_back({Row::kBlock, i, ""});
  const Area list{a.x - u(4), a.y, a.w + u(4 + theme::kPadX), a.h};
  list_.begin("oom", list, static_cast<int64_t>(rows.size()), u(kLine));
  const Pen pen;
  const float at = a.x + u(120);
  for (int64_t i = list_.first(); i < list_.end_row(); i++) {
    const Row& row = rows[static_cast<size_t>(i)];
    const float y = list_.y(i), h = u(kLine) - 1, base = base_of(y, h);
    switch (row.kind) {
      case Row::kHead: pen.text(Type::kSemiSmall, a.x, base, p.dim, row.text); break;
      case Row::kHint: pen.text_cut(Type::kBody, a.x, base, a.w, p.text, row.text); break;
      case Row::kFact: {
        const OomReport::Fact& f = r.facts[row.index];
        pen.text(Type::kSemiSmall, a.x, base, p.dim, f.name);
        const float w = pen.text_cut(Type::kMono, at, base, a.right() - at, p.text, f.text);
        pen.text_cut(Type::kSmall, at + w + u(10), base, std::max(0.f, a.right() - at - w - u(10)), p.faint, f.note);
        pen.hline(a.x, y + h, a.w, theme::color(p.line));
        break;
      }
      case Row::kReason: {
        const OomReport::Reason& f = r.reasons[row.index];
        pen.text_right(Type::kMonoSmall, at - u(12), base, p.text, bytes_text(f.bytes));
        const std::string note = plural(f.blocks, "block") + (f.blocks > 1 ? ", the largest " + bytes_text(f.largest) : "");
        const float note_w = text_width(Type::kSmall, note) + u(8);
        pen.text_cut(Type::kBody, at, base, a.right() - at - note_w, p.text, f.words);
        pen.note_right(a.right(), base, note);
        pen.hline(a.x, y + h, a.w, theme::color(p.line));
        break;
      }
      case Row::kBlock: {
        const OomReport::Block& b = r.blocks[row.index];
        const Hit on = hit(("oom block/" + std::to_string(row.index)).c_str(), a.x - u(4), y, a.w + u(8), h);
        if (on.hovered) pen.fill(a.x - u(4), y, a.w + u(8), h, theme::color(p.hover));
        pen.text_right(Type::kMonoSmall, at - u(12), base, b.block.size >= r.rounded ? p.text : p.dim, bytes_text(b.block.size));
        const float where = std::min(text_width(Type::kSmall, b.where), a.w * .4f);
        pen.text_cut(Type::kBody, at, base, a.right() - at - where - u(10), p.text, b.reason);
        pen.text_cut(Type::kSmall, a.right() - where, base, where + 1, p.faint, b.where);
        tip(on, bytes_text(b.block.size) + ", " + b.where + "\n" + b.reason + (b.block.life == kNoIndex ? "" : "\n" + describe(*v.names, b.block.life)));
        if (on && b.block.life != kNoIndex) v.pick = b.block.life;
        pen.hline(a.x, y + h, a.w, theme::color(p.line));
        break;
      }
    }
  }
  list_.end();
}

std::string oom_text(const OomReport& r) {
  std::string s = plain(r.sentence) + "\n";
  for (const std::string& h : r.hints) s += h + "\n";
  for (const auto& f : r.facts) s += std::string(f.name) + ": " + f.text + (f.note.empty() ? "" : " (" + f.note + ")") + "\n";
  for (const auto& f : r.reasons) s += bytes_text(f.bytes) + " in " + plural(f.blocks, "free block") + ": " + f.words + "\n";
  for (const auto& b : r.blocks) s += "  " + bytes_text(b.block.size) + "  " + b.where + ": " + b.reason + "\n";
  return s;
}

}  // namespace peel::views
