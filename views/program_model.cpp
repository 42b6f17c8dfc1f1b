#include "views/program_model.h"

#include <algorithm>

namespace peel::views {

void LineCounts::start(const Session* s, EventId first, EventId last) {
  if (s == session_ && first == first_ && last == last_) return;
  *this = LineCounts();
  session_ = s, first_ = first, last_ = last, at_ = first ? first.value - 1 : 0;
}

bool LineCounts::advance(int hops) {
  if (!session_) return false;
  const uint32_t end = last_ ? std::min(last_.value, session_->size()) : session_->size();
  for (; hops > 0 && at_ < end; hops--) {
    const Event e = session_->event(EventId(++at_));
    if (!e.stack) continue;
    auto [i, fresh] = places_.try_emplace(e.stack.value);
    if (fresh) {
      // Every frame of the user's once, though a line may be on the stack twice (recursion).
      std::vector<std::pair<size_t, int>> found;
      int guard = 0;
      for (StackId f = session_->user_frame(e.stack); f && guard++ < 200;) {
        const Frame frame = session_->frame(f);
        auto file = std::find(files_.begin(), files_.end(), frame.file);
        if (file == files_.end()) {
          file = files_.insert(files_.end(), std::string(frame.file));
          lines_.emplace_back();
        }
        const std::pair<size_t, int> place(size_t(file - files_.begin()), frame.line);
        if (std::find(found.begin(), found.end(), place) == found.end()) found.push_back(place);
        f = frame.parent ? session_->user_frame(frame.parent) : StackId();
      }
      i->second = std::move(found);
    }
    for (const auto& [file, line] : i->second) {
      Line& l = lines_[file][line];
      if (!l.hops++) l.first = e.id;
    }
  }
  return at_ < end;
}

uint64_t LineCounts::hops(std::string_view file, int line) const {
  const auto f = std::find(files_.begin(), files_.end(), file);
  if (f == files_.end()) return 0;
  const auto& lines = lines_[size_t(f - files_.begin())];
  const auto l = lines.find(line);
  return l == lines.end() ? 0 : l->second.hops;
}

EventId LineCounts::first_hop(std::string_view file, int line) const {
  const auto f = std::find(files_.begin(), files_.end(), file);
  if (f == files_.end()) return {};
  const auto& lines = lines_[size_t(f - files_.begin())];
  const auto l = lines.find(line);
  return l == lines.end() ? EventId() : l->second.first;
}

std::vector<OutputLine> output_lines(const std::vector<Output>& all) {
  std::vector<OutputLine> out;
  bool open[3] = {};       // a line of this stream is not ended yet
  size_t last_of[3] = {};  // and it is this one
  for (const Output& o : all) {
    const int s = o.stream == 2 ? 2 : 1;
    for (size_t at = 0; at < o.text.size();) {
      const size_t end = std::min(o.text.find('\n', at), o.text.size());
      std::string part = o.text.substr(at, end - at);
      // A carriage return writes the line anew, as progress bars do.
      if (!part.empty() && part.back() == '\r') part.pop_back();
      const size_t cr = part.rfind('\r');
      if (cr != std::string::npos) part.erase(0, cr + 1);
      if (open[s]) cr != std::string::npos ? void(out[last_of[s]].text = part) : void(out[last_of[s]].text += part);
      else out.push_back({std::move(part), s, o.after}), last_of[s] = out.size() - 1;
      open[s] = end == o.text.size();
      at = end + 1;
    }
  }
  return out;
}

size_t printed_by(const std::vector<OutputLine>& lines, EventId hop) {
  return size_t(std::partition_point(lines.begin(), lines.end(), [&](const OutputLine& l) { return l.after <= hop; }) - lines.begin());
}

SourcePlace place_of(const Session& s, EventId e) {
  const StackId f = e ? s.user_frame(s.event(e).stack) : StackId();
  if (!f) return {};
  const Frame frame = s.frame(f);
  return {std::string(frame.file), frame.line};
}

std::vector<std::string> split_lines(std::string_view text) {
  std::vector<std::string> out;
  for (size_t at = 0; at < text.size();) {
    const size_t end = std::min(text.find('\n', at), text.size());
    std::string line(text.substr(at, end - at));
    if (!line.empty() && line.back() == '\r') line.pop_back();
    for (size_t tab; (tab = line.find('\t')) != std::string::npos;) line.replace(tab, 1, std::string(4 - tab % 4, ' '));
    out.push_back(std::move(line));
    at = end + 1;
  }
  return out;
}

}  // namespace peel::views
