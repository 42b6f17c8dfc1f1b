// What opens over the panels: command palette, key help, go to hop, open, about, note, question before a run.
#pragma once
#include <string>
#include <unordered_map>
#include <vector>

#include "sessions/session.h"

namespace peel::app {

class Application;

class Dialogs {
 public:
  enum class Kind { kNone, kPalette, kKeys, kGoTo, kOpen, kAbout, kSave, kNote };
  explicit Dialogs(Application& a) : app_(a) {}
  void open(Kind k);
  Kind shown() const { return kind_; }
  void draw();
  void session_changed() { index_ = {}; }
  bool busy() const { return kind_ == Kind::kPalette && index_.left; }

 private:
  /// Operators and lines of the session with their first hop: found in slices while the palette is open.
  struct Index {
    uint32_t scanned = 0;
    bool left = true;
    struct Object { EventId first; uint32_t count = 0; };
    std::unordered_map<uint32_t, Object> operators, stacks;
    std::unordered_map<std::string, Object> lines;  // "train_step.py:17"
  };
  struct Entry { std::string id, title, help, key; EventId event; int score; bool enabled; };
  bool begin(const char* title, float width, float height);
  void end();
  void close();
  void draw_palette();
  void draw_keys();
  void draw_go_to();
  void draw_open();
  void draw_about();
  void draw_save();
  void draw_note();
  void advance_index();
  std::vector<Entry> find(const std::string& words);

  Application& app_;
  Kind kind_ = Kind::kNone;
  bool opened_ = false;
  std::string text_, shown_for_, error_;
  std::vector<Entry> entries_;
  uint32_t entries_scanned_ = 0;
  int at_ = 0;
  bool scroll_ = false;
  Index index_;
};

}  // namespace peel::app
