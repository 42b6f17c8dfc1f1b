// The window's side of a program that can be stopped: follows where it stands, asks it, and carries out what commands and the
// Breakpoints panel want. Without a program the breakpoints serve C and Shift+C over the recorded hops.
#pragma once
#include <memory>
#include <string>

#include "sessions/live.h"
#include "views/background.h"
#include "views/context.h"
#include "views/stepping.h"

namespace peel::app {

class Application;

class Debugging {
 public:
  Debugging(Application&, std::shared_ptr<LiveControl>);
  /// Once a frame, after the program's state was asked.
  void frame();
  /// Another session: nothing of the old one is asked any more.
  void session_changed();

  bool stands() const;
  /// A step forwards from where the program stands; false: it doesn't, or the selection is elsewhere.
  bool step(views::Step);
  /// The same when the recorded hops have come to their end.
  bool step_past_end(views::Step);
  void go_on();              // C
  void go_back();            // Shift+C
  void pause();
  void run_to_here();
  void toggle_here();        // B
  void remove_all();
  LiveControl& control() { return *live_; }

 private:
  struct Told { uint64_t stop; views::Standing standing; };
  struct Changed { uint64_t stop; views::LiveView::Said said; };

  void carry_out();
  void change(const std::string& text);
  void follow();
  void say_state();
  EventId find(bool forward) const;
  void add(const std::string& text, bool once = false);

  Application& app_;
  std::shared_ptr<LiveControl> live_;
  views::Background<Told> asking_;
  views::Background<Changed> changing_;
  uint64_t seen_ = 0, looking_ = 0, ticket_ = 0;  // ids of stops; the session's look
};

}  // namespace peel::app
