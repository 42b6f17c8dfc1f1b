#include "app/window/debugging.h"

#include <algorithm>

#include "app/window/application.h"
#include "views/program_model.h"
#include "views/words.h"

namespace peel::app {

using views::LiveWish;
using views::Step;
using RunState = views::ProgramState::Run;

Debugging::Debugging(Application& a, std::shared_ptr<LiveControl> live) : app_(a), live_(live ? std::move(live) : std::make_shared<LiveControl>()) {}

bool Debugging::stands() const { return app_.context().live.stop.has_value(); }

void Debugging::session_changed() {
  asking_.stop();
  changing_.stop();
  seen_ = looking_ = 0;
  app_.context().live.stop.reset();
  app_.context().live.standing = {};
}

void Debugging::frame() {
  carry_out();
  follow();
  say_state();
}

void Debugging::carry_out() {
  views::LiveView& view = app_.context().live;
  for (const LiveWish& w : std::exchange(view.wanted, {})) {
    switch (w.kind) {
      case LiveWish::Kind::kAdd: add(w.text); break;
      case LiveWish::Kind::kRemove: live_->remove(w.id); break;
      case LiveWish::Kind::kEnable: live_->enable(w.id, true); break;
      case LiveWish::Kind::kDisable: live_->enable(w.id, false); break;
      case LiveWish::Kind::kChange: change(w.text); break;
    }
  }
  view.breakpoints = live_->breakpoints();
}

void Debugging::change(const std::string& text) {
  views::LiveView& view = app_.context().live;
  if (!view.stop) return app_.say("What happens next can be changed while the program stands.");
  changing_.start([live = live_, stop = view.stop->id, text](const std::atomic<bool>&) {
    const auto answer = live->ask(wire::Ask::kChange, text);
    Changed out{stop, {text, answer ? "the program does not say what that would do" : answer.error(), false}};
    if (answer && !answer->rows.empty() && answer->rows[0].size() > 1) out.said.answer = answer->rows[0][1], out.said.done = answer->rows[0][0] == "yes";
    return out;
  });
}

void Debugging::add(const std::string& text, bool once) {
  views::LiveView& view = app_.context().live;
  Result<Breakpoint> b = Breakpoint::parse(text, view.stop ? storage_of(view.standing.values) : Breakpoint::Storage());
  const Result<uint32_t> id = b ? live_->add(std::move(*b), once) : Result<uint32_t>(Error{b.error()});
  view.note = id ? "" : id.error();
  if (id) view.added++;
}

void Debugging::follow() {
  views::Context& c = app_.context();
  views::LiveView& view = c.live;
  view.pausing = live_->pausing();
  const std::optional<Stop> stop = live_->stop();
  if (view.stop && (!stop || stop->id != view.stop->id)) view.stop.reset(), view.standing = {}, view.said.clear();
  if (auto changed = changing_.take(); changed && view.stop && changed->stop == view.stop->id) {
    app_.say(changed->said.answer);
    view.said.push_back(std::move(changed->said));
  }
  if (auto told = asking_.take(); told && view.stop && told->stop == view.stop->id) view.standing = std::move(told->standing);
  if (!stop || stop->id == seen_ || !c.session) return;
  Session& s = *app_.session();
  if (looking_ != stop->id) {
    looking_ = stop->id;
    ticket_ = s.look_now();
    return;
  }
  if (!s.progress().ready || !s.has_looked(ticket_) || s.size() < stop->event.value) return;
  seen_ = stop->id;
  view.stop = stop;
  view.reason = stop_reason(*stop, live_->breakpoints());
  view.standing = {.asking = true};
  if (stop->event) app_.show_stop(stop->event);
  asking_.start([live = live_, session = &s, at = *stop](const std::atomic<bool>& cancelled) {
    Told told{at.id, {}};
    const auto values = live->ask(wire::Ask::kTensors);
    told.standing.values_note = values ? "" : values.error();
    told.standing.values = standing_values(*session, at, values ? values->rows : std::vector<std::vector<std::string>>{});
    if (cancelled) return told;
    const auto locals = live->ask(wire::Ask::kLocals);
    if (locals) told.standing.locals = locals->rows;
    told.standing.locals_note = !locals ? locals.error() : locals->rows.empty() ? "no Python of yours called this thread" : "";
    if (cancelled) return told;
    if (const auto threads = live->ask(wire::Ask::kThreads)) told.standing.threads = threads->rows;
    return told;
  });
}

void Debugging::say_state() {
  views::Context& c = app_.context();
  if (c.program.run != RunState::kRunning) return;
  if (c.live.stop) {
    c.program.run = RunState::kPaused;
    const std::string line = c.session ? views::line_of(*c.session, c.live.stop->event) : "";
    c.program.message = std::string("Paused ") + (c.live.stop->after ? "after the kernel of hop " : "at hop ") + views::count_text(c.live.stop->event.value) +
                        (line.empty() ? "" : ", " + line) + ": " + c.live.reason;
  } else if (c.live.pausing) {
    c.program.message = "pausing at its next hop";
  }
}

// ---- run, pause, step

namespace {
wire::Order order_of(Step s) { return s == Step::kInto ? wire::Order::kInto : s == Step::kOver ? wire::Order::kOver : wire::Order::kOut; }
bool forwards(Step s) { return s == Step::kInto || s == Step::kOver || s == Step::kOut; }
}  // namespace

bool Debugging::step(Step s) {
  const views::Context& c = app_.context();
  return c.live.stop && c.selected == c.live.stop->event && step_past_end(s);
}

bool Debugging::step_past_end(Step s) {
  const views::Context& c = app_.context();
  if (!c.live.stop || !forwards(s)) return false;
  if (s == Step::kOut && c.session && !c.session->parent(c.live.stop->event)) return false;
  return live_->step(order_of(s));
}

/// The next recorded hop that matches a breakpoint, looked for in stretches that grow.
EventId Debugging::find(bool forward) const {
  const Session* s = app_.context().session;
  const std::vector<Breakpoint> all = live_->enabled();
  const uint32_t here = app_.context().selected.value, size = s ? s->size() : 0;
  for (uint32_t from = here, width = 4096; s && (forward ? from < size : from > 1); width = std::min(width * 8, 1u << 24)) {
    const uint32_t low = forward ? from + 1 : from > width ? from - width : 1, high = forward ? std::min(size, from + width) : from - 1;
    EventId best;
    for (const Breakpoint& b : all) {
      const std::vector<EventId> found = b.matches(*s, EventId{low}, EventId{high});
      if (found.empty()) continue;
      const EventId one = forward ? found.front() : found.back();
      if (!best || (forward ? one < best : one > best)) best = one;
    }
    if (best) return best;
    from = forward ? high : low;
  }
  return {};
}

void Debugging::go_on() {
  views::Context& c = app_.context();
  const bool at_end = c.live.stop && c.selected == c.live.stop->event;
  const EventId to = at_end ? EventId() : find(true);
  if (to) return c.select(to);
  if (live_->go()) return;
  if (c.program.run == RunState::kRunning) return app_.say("The program runs; P pauses it.");
  app_.say(live_->enabled().empty() ? "There are no breakpoints; B sets one at the selected hop." : "No hop after this one matches a breakpoint.");
}

void Debugging::go_back() {
  if (const EventId to = find(false)) return app_.context().select(to);
  app_.say(live_->enabled().empty() ? "There are no breakpoints; B sets one at the selected hop." : "No hop before this one matches a breakpoint.");
}

void Debugging::pause() { live_->pause(); }

// ---- breakpoints from where the reader is

void Debugging::run_to_here() {
  const views::Context& c = app_.context();
  const views::SourcePlace place = c.session ? views::place_of(*c.session, c.selected) : views::SourcePlace();
  if (!place.line) return app_.say("No line of yours led to this hop: there is none to run to.");
  add("\"line:" + views::base_name(place.file) + ":" + std::to_string(place.line) + "\"", true);
  live_->go();
}

void Debugging::toggle_here() {
  const views::Context& c = app_.context();
  if (!c.session || !c.selected) return;
  const Event e = c.session->event(c.selected);
  std::string text;
  if (const views::Panel* p = app_.focused_panel(); p && p->title() == std::string_view("Program")) {
    const views::SourcePlace place = views::place_of(*c.session, c.selected);
    if (!place.line) return app_.say("No line of yours led to this hop.");
    const std::string file = views::base_name(place.file);
    text = "line:" + file + ":" + std::to_string(place.line);
    if (file.find(' ') != std::string::npos) text = "\"" + text + "\"";
  } else if (e.kind == Kind::kBackwardNode) {
    text = "node:" + views::hop_name(*c.session, c.selected) + " kind:backward_node";
  } else {
    const Key* key = c.session->key(e.key);
    text = "op:" + c.session->op(e.op).full + (key ? " key:" + key->name : "");
  }
  for (const LiveControl::Row& r : live_->breakpoints()) {
    if (r.text != text || r.once) continue;
    live_->remove(r.id);
    return app_.say("Breakpoint taken away: " + text);
  }
  add(text);
  app_.say(app_.context().live.note.empty() ? "Breakpoint: " + text : app_.context().live.note);
}

void Debugging::remove_all() {
  for (const LiveControl::Row& r : live_->breakpoints()) live_->remove(r.id);
}

}  // namespace peel::app
