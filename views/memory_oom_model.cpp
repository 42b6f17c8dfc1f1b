#include "views/memory_oom_model.h"

#include <algorithm>
#include <map>

namespace peel::views {
namespace {

std::string refusal_words(Refusal r) {
  switch (r) {
    case Refusal::kFits: return "fits: the recording does not say why it was not taken";
    case Refusal::kOtherPool: return "belongs to another memory pool";
    case Refusal::kOtherKind: return "is in the pool of the other size class";
    case Refusal::kOtherStream: return "belongs to another stream";
    case Refusal::kTooSmall: return "too small";
    case Refusal::kNotToBeSplit: return "too big to be split (max_split_size_mb)";
    case Refusal::kTooMuchLeft: return "too much would be left over (max_non_split_rounding_mb)";
    case Refusal::kExpandable: return "is in an expandable segment, and those are off";
  }
  return "";
}

/// Streams that a pending block was handed to, as the program's record_stream calls tell; "" = none were recorded.
std::string waits_for(const MemoryNames& names, const Life& life) {
  const Session& s = names.session();
  const MemoryHistory& h = names.history();
  const uint32_t tensor = life.older ? 0 : h.tensor(h.events[life.begin].storage);
  if (!tensor) return "";
  for (const EventId e : s.uses(TensorId(tensor), 200)) {
    const Event hop = s.event(e);
    if (!hop.op || s.op(hop.op).name != "aten::record_stream") continue;
    std::string out = "record_stream";
    for (const Value& v : s.arguments(e)) if (!v.tensor && !v.value.empty()) out += "(" + v.value + ")";
    const std::string line = line_of(s, e);
    return out + (line.empty() ? "" : " at " + line);
  }
  return "";
}

}  // namespace

MemoryIndex oom_near(const MemoryHistory& h, uint16_t device, MemoryIndex moment) {
  MemoryIndex best = kNoIndex;
  for (const MemoryIndex i : h.ooms) {
    if (h.events[i].device != device) continue;
    if (i < moment) best = i;
    else return best == kNoIndex ? i : best;
  }
  return best;
}

OomReport explain_oom(const MemoryNames& names, MemoryIndex at, const std::atomic<bool>& cancelled) {
  const MemoryHistory& h = names.history();
  OomReport r;
  r.at = at;
  if (at >= h.events.size()) return r;
  const MemoryEvent& e = h.events[at];
  const AllocatorSettings& rules = h.settings;
  r.device = e.device, r.event = e.event;
  r.asked = e.size, r.rounded = rounded_size(rules, e.size), r.segment = segment_size(rules, r.rounded);
  if (const auto i = std::find(h.ooms.begin(), h.ooms.end(), at); i != h.ooms.end()) r.device_free = h.oom_free[static_cast<size_t>(i - h.ooms.begin())];
  const bool large = !is_small(r.rounded);
  const MemoryState state = replay(h, e.device, at);
  const bool expandable = rules.expandable_segments;
  const Request request{r.rounded, e.stream, e.pool};

  // ---- every block that is not in use
  std::map<Refusal, OomReport::Reason> reasons;
  int64_t free_all = 0, same_all = 0;
  for (const MemorySegment& g : state.segments) {
    bool empty = true;
    for (uint32_t k = g.first_block; k < g.first_block + g.blocks; k++) {
      const MemoryBlock& b = state.blocks[k];
      empty &= b.state == BlockState::kInactive;
      if (b.state == BlockState::kActive) continue;
      OomReport::Block o{b, b.state == BlockState::kPendingFree};
      o.where = pool_name(h, g.pool, g.large) + ", " + stream_name(h, g.stream);
      if (o.pending) {
        r.pending += b.size;
        o.reason = "freed, waits for another stream";
        if (b.life != kNoIndex) {
          const MemoryIndex freed = h.lives[b.life].freed;
          if (freed != kNoIndex && freed < h.events.size()) o.event = h.events[freed].event;
        }
      } else {
        free_all += b.size;
        o.why = refusal(rules, request, {b.size, g.stream, g.pool, g.large, g.expandable});
        OomReport::Reason& sum = reasons[o.why];
        sum.why = o.why, sum.words = refusal_words(o.why), sum.blocks++, sum.bytes += b.size, sum.largest = std::max(sum.largest, b.size);
        if (o.why == Refusal::kTooSmall) same_all += b.size, r.usable_largest = std::max(r.usable_largest, b.size);
        o.reason = refusal_words(o.why);
        if (o.why == Refusal::kTooSmall) o.reason += " by " + bytes_text(r.rounded - b.size);
        else if (b.size < r.rounded) o.reason += ", and too small by " + bytes_text(r.rounded - b.size);
      }
      r.blocks.push_back(std::move(o));
    }
    if (empty && !g.expandable) r.releasable += g.size;
  }
  r.all_blocks = r.blocks.size();
  std::stable_sort(r.blocks.begin(), r.blocks.end(), [&](const auto& a, const auto& b) {
    const bool x = a.block.size >= r.rounded, y = b.block.size >= r.rounded;
    return x != y ? x : a.block.size > b.block.size;
  });
  if (r.blocks.size() > OomReport::kMostBlocks) r.blocks.resize(OomReport::kMostBlocks);
  int looked_up = 0;
  for (OomReport::Block& b : r.blocks) {
    if (!b.pending || b.block.life == kNoIndex || ++looked_up > 20 || cancelled) continue;
    if (const std::string who = waits_for(names, h.lives[b.block.life]); !who.empty()) b.reason += ": " + who;
  }
  for (auto& [why, sum] : reasons) r.reasons.push_back(std::move(sum));
  std::sort(r.reasons.begin(), r.reasons.end(), [](const auto& a, const auto& b) { return a.bytes > b.bytes; });

  // ---- what is said
  const std::string op = names.op(e), line = names.line(e);
  say(r.sentence, bytes_text(r.asked), true);
  say(r.sentence, op.empty() ? " could not be had" : " for ");
  if (!op.empty()) r.sentence.push_back({op, true, true});
  if (!line.empty()) say(r.sentence, " at "), r.sentence.push_back({line, false, true});
  say(r.sentence, op.empty() ? ": " : " could not be had: ");
  if (free_all > 0) {
    say(r.sentence, bytes_text(free_all) + " lie free in PyTorch's segments, but ");
    if (r.usable_largest > 0) say(r.sentence, "the largest piece that this request may use is "), say(r.sentence, bytes_text(r.usable_largest), true);
    else say(r.sentence, "none of it is for this request");
  } else {
    say(r.sentence, "nothing lies free in PyTorch's segments");
  }
  if (r.device_free >= 0) say(r.sentence, ", and the device had "), say(r.sentence, bytes_text(r.device_free), true), say(r.sentence, " left for a new segment of " + bytes_text(r.segment));
  say(r.sentence, ".");

  const auto fact = [&](const char* name, std::string text, std::string note = "") { r.facts.push_back({name, std::move(text), std::move(note)}); };
  fact("asked for", bytes_text(r.asked), count_text(static_cast<uint64_t>(r.asked)) + " bytes");
  if (r.rounded != r.asked) fact("rounded to", bytes_text(r.rounded), "a block is a multiple of 512 bytes");
  fact("pool", pool_name(h, e.pool, large), large ? "more than 1 MiB" : "up to 1 MiB");
  fact("stream", stream_name(h, e.stream), "blocks of other streams are not taken");
  if (expandable) fact("new memory", "pages of an expandable segment", "as many as are missing");
  else fact("new segment", bytes_text(r.segment), r.segment == r.rounded ? "" : r.rounded < kMinLargeAlloc ? "segments of this class have one size" : "rounded up to 2 MiB");
  fact("device had left", r.device_free < 0 ? "not recorded" : bytes_text(r.device_free), "what the driver told");
  fact("in use", bytes_text(state.totals.allocated), bytes_text(state.totals.reserved) + " reserved");
  if (r.pending) fact("waiting", bytes_text(r.pending), "freed, but another stream may still use it");
  fact("could be released", bytes_text(r.releasable), "segments with nothing in them; PyTorch releases them before it gives up");
  if (!rules.text.empty()) fact("settings", rules.text, "PYTORCH_CUDA_ALLOC_CONF");

  // ---- what would have helped, by these numbers
  if (same_all >= r.rounded && !expandable)
    r.hints.push_back("The free pieces of this pool and stream add up to " + bytes_text(same_all) + ", more than was asked for: they are torn apart. expandable_segments:True lets them be one.");
  if (r.pending >= r.rounded) r.hints.push_back(bytes_text(r.pending) + " were freed already but wait for another stream: PyTorch takes them back when the work there is done.");
  if (const auto i = reasons.find(Refusal::kOtherStream); i != reasons.end() && i->second.largest >= r.rounded)
    r.hints.push_back("A free block of " + bytes_text(i->second.largest) + " belongs to another stream: memory allocated on one stream is never given to another one.");
  if (const auto i = reasons.find(Refusal::kNotToBeSplit); i != reasons.end()) r.hints.push_back("max_split_size_mb keeps " + bytes_text(i->second.bytes) + " of bigger blocks whole.");
  if (r.device_free >= 0 && r.device_free >= r.segment)
    r.hints.push_back("The device had enough left for the segment: a limit (set_per_process_memory_fraction) or another process came in between; the recording does not tell which.");
  if (r.hints.empty() && free_all < r.rounded) r.hints.push_back("There is not enough memory in all: what is in use has to become less (see who holds it at this moment).");
  return r;
}

}  // namespace peel::views
