// The debugger of the command line: says where the program stands, and takes commands from a terminal or a file.
#pragma once
#include <deque>
#include <memory>
#include <string>
#include <vector>

#include "app/record_options.h"
#include "sessions/session.h"
#include "views/stepping.h"

namespace peel::app {

class LivePrompt {
 public:
  /// `script` empty: a terminal is asked where there is one; without one the stop is told and the program goes on.
  LivePrompt(Recording&, std::deque<std::string> script, bool scripted);
  ~LivePrompt();
  /// Until the program has ended.
  void run();

 private:
  bool next_line(const Stop&, std::string*);
  bool obey(const Stop&, const std::string& line);  // true: the program goes on
  void step(const Stop&, views::Step, bool* goes_on);
  bool wait_for(EventId);
  void tell_stop(const Stop&);
  void tell_hop(EventId, bool standing);
  void tell_tensors(const Stop&);
  void tell_rows(wire::Ask);
  void tell_table(EventId);
  void change(std::string_view what);
  void tell_state(EventId);
  void tell_breakpoints();
  void add(const Stop&, const std::string& text);

  Recording& recording_;
  std::deque<std::string> script_;
  bool scripted_;
  int terminal_ = -1;
  std::unique_ptr<Session> session_;
  views::Stepper stepper_;
  EventId shown_;
  uint64_t told_ = 0;   // id of the last stop
  uint64_t pass_ = 0;   // so many breakpoints are passed before the next one is told
};

/// Until the program's end, when it has breakpoints; at once, when it has none.
void drive_in_terminal(const RecordOptions&, Recording&);

}  // namespace peel::app
