#include "views/memory_map.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <tuple>

namespace peel::views {
namespace {

using theme::Type;
using theme::u;

constexpr float kRow = 22, kBar = 15, kName = 62;

/// In use: solid. Waiting: hatched. Free: empty.
void draw_block(const Pen& pen, float x, float y, float w, float h, BlockState state, bool marked, bool hovered) {
  const auto& p = theme::palette();
  if (state == BlockState::kActive || marked) return pen.fill(x, y, w, h, theme::color(marked ? p.focus : hovered ? p.faint : p.line_strong));
  if (state != BlockState::kPendingFree) {
    if (hovered) pen.fill(x, y, w, h, theme::color(p.hover));
    return;
  }
  pen.fill(x, y, w, h, theme::color(p.line_strong, hovered ? .6f : .25f));
  const float gap = u(4);
  for (float k = gap; k < w + h; k += gap) {
    const float x0 = std::max(0.f, k - h), x1 = std::min(w, k);
    if (x1 > x0) pen.dl->AddLine({x + x0, y + std::min(h, k)}, {x + x1, y + std::max(0.f, k - w)}, theme::color(p.faint), 1);
  }
}

}  // namespace

void MemoryMap::arrange(const MemoryView& v, const MemoryState& s) {
  if (arranged_ == s.moment && arranged_device_ == s.device) return;
  arranged_ = s.moment, arranged_device_ = s.device;
  rows_.clear();
  std::map<std::tuple<bool, uint16_t, uint16_t>, std::vector<uint32_t>> groups;  // small, pool, stream
  int64_t widest[2] = {1, 1};
  for (uint32_t i = 0; i < s.segments.size(); i++) {
    const MemorySegment& g = s.segments[i];
    groups[{!g.large, g.pool, g.stream}].push_back(i);
    widest[!g.large] = std::max(widest[!g.large], g.size);
  }
  for (auto& [key, segments] : groups) {
    std::stable_sort(segments.begin(), segments.end(), [&](uint32_t a, uint32_t b) { return s.segments[a].size > s.segments[b].size; });
    const auto& [small, pool, stream] = key;
    int64_t bytes = 0;
    for (uint32_t i : segments) bytes += s.segments[i].size;
    rows_.push_back({kNoIndex, pool_name(*v.history, pool, !small) + ", " + stream_name(*v.history, stream),
                     plural(segments.size(), "segment") + ", " + bytes_text(bytes) + "; full width " + bytes_text(widest[small]), 1});
    for (uint32_t i : segments) rows_.push_back({i, bytes_text(s.segments[i].size), "", widest[small]});
  }
}

void MemoryMap::draw_segment(MemoryView& v, const MemoryState& s, const Pen& pen, const Area& a, float y, const Row& row) {
  const auto& p = theme::palette();
  const MemorySegment& g = s.segments[row.segment];
  const float left = a.x + u(kName), room = std::max(u(20), a.right() - left), w = std::max(u(3), room * static_cast<float>(static_cast<double>(g.size) / static_cast<double>(row.scale)));
  const float bar_y = std::round(y + (u(kRow) - u(kBar)) / 2), bar_h = u(kBar);
  pen.text_right(Type::kMonoSmall, left - u(8), base_of(y, u(kRow)), p.dim, row.text);
  const Hit h = hit(("segment/" + std::to_string(row.segment)).c_str(), left, y, w, u(kRow));
  const float mouse = ImGui::GetIO().MousePos.x;
  const auto x_of = [&](uint64_t address) { return left + w * static_cast<float>(static_cast<double>(address - g.address) / static_cast<double>(g.size)); };
  pen.fill(left, bar_y, w, bar_h, theme::color(p.sunken));
  const MemoryBlock* under = nullptr;
  float run_x = left, run_end = left;  // blocks in use that are too narrow to be seen apart are one
  const auto flush = [&] {
    if (run_end > run_x) pen.fill(run_x, bar_y, run_end - run_x, bar_h, theme::color(p.line_strong, .8f));
  };
  for (uint32_t i = g.first_block; i < g.first_block + g.blocks; i++) {
    const MemoryBlock& b = s.blocks[i];
    const float x0 = x_of(b.address), x1 = x_of(b.address + static_cast<uint64_t>(b.size));
    const bool over = h.hovered && mouse >= x0 && mouse < x1, marked = b.life != kNoIndex && b.life == v.life;
    if (over) under = &b;
    if (x1 - x0 < 1.5f && !marked) {
      if (b.state == BlockState::kInactive) continue;
      if (x0 > run_end + .5f) flush(), run_x = x0;
      run_end = std::max(run_end, std::max(x1, run_x + 1));
      continue;
    }
    flush(), run_x = run_end = x1;
    draw_block(pen, x0, bar_y, std::max(1.f, x1 - x0 - (x1 - x0 > 4 ? 1 : 0)), bar_h, b.state, marked, over);
  }
  flush();
  if (g.older) pen.dash_frame(left, bar_y, w, bar_h, theme::color(p.line_strong), 2, 2);
  else pen.frame(left, bar_y, w, bar_h, theme::color(p.line_strong));
  if (under) {
    std::string text;
    if (under->state == BlockState::kInactive) text = bytes_text(under->size) + " free";
    else if (under->life != kNoIndex) text = (under->state == BlockState::kPendingFree ? std::string("freed, waits for another stream\n") : "") + describe(*v.names, under->life) + "\nClick selects its hop.";
    char where[64];
    snprintf(where, sizeof where, "\n0x%llx, %llu into the segment", static_cast<unsigned long long>(under->address), static_cast<unsigned long long>(under->address - g.address));
    text += where;
    if (g.expandable) text += "\nexpandable segment";
    if (g.older) text += "\nthe segment is older than the recording";
    tip(h, text);
    if (h && under->life != kNoIndex) v.pick = under->life;
  }
}

void MemoryMap::draw(MemoryView& v, const MemoryState& s, const Area& a) {
  const auto& p = theme::palette();
  const Pen pen;
  if (v.of().cuda_pools) return pen.empty(a, "CUDA's own memory pools", "CUDA gave out these blocks itself (cudaMallocAsync) and doesn't tell where in its pools they lie.");
  if (v.of().cpu) return pen.empty(a, "Heap memory", "It comes from the system's allocator: there are no segments to show. Choose a GPU above, if there is one.");
  if (s.segments.empty()) return pen.empty(a, "No segment", s.blocks.empty() ? "The allocator held nothing at this moment." : "The recording has no snapshot of what was there when it began.");
  arrange(v, s);
  pen.text(Type::kSemiSmall, a.x, base_of(a.y, u(20)), p.dim, "Segments");
  // What the fillings mean.
  float x = a.right();
  const struct { const char* word; BlockState state; } legend[] = {{"free", BlockState::kInactive}, {"waiting", BlockState::kPendingFree}, {"in use", BlockState::kActive}};
  for (const auto& l : legend) {
    x -= text_width(Type::kSmall, l.word);
    pen.text(Type::kSmall, x, base_of(a.y, u(20)), p.faint, l.word);
    x -= u(18);
    pen.fill(x, a.y + u(5), u(13), u(11), theme::color(p.sunken));
    draw_block(pen, x, a.y + u(5), u(13), u(11), l.state, false, false);
    pen.frame(x, a.y + u(5), u(13), u(11), theme::color(p.line_strong));
    x -= u(12);
  }
  if (v.life != shown_) {
    shown_ = v.life;
    for (size_t r = 0; r < rows_.size() && shown_ != kNoIndex; r++) {
      if (rows_[r].segment == kNoIndex) continue;
      const MemorySegment& g = s.segments[rows_[r].segment];
      const Life& life = v.history->lives[shown_];
      if (life.device == v.device && life.address >= g.address && life.address - g.address < static_cast<uint64_t>(g.size)) list_.reveal(static_cast<int64_t>(r));
    }
  }
  const Area list{a.x, a.y + u(22), a.w + u(theme::kPadX), std::max(u(kRow), a.h - u(22))};
  list_.begin("segments", list, static_cast<int64_t>(rows_.size()), u(kRow));
  const Pen inner;
  for (int64_t r = list_.first(); r < list_.end_row(); r++) {
    const Row& row = rows_[static_cast<size_t>(r)];
    const float y = list_.y(r);
    if (row.segment != kNoIndex) {
      draw_segment(v, s, inner, a, y, row);
      continue;
    }
    const float w = inner.text_cut(Type::kSmall, a.x, base_of(y, u(kRow)), a.w, p.text, row.text);
    inner.text_cut(Type::kSmall, a.x + w + u(10), base_of(y, u(kRow)), std::max(0.f, a.w - w - u(10)), p.faint, row.note);
  }
  list_.end();
}

}  // namespace peel::views
