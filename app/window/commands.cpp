// The command table: every action is a row here. Menus, palette, key help, README's key table and tests are made
// from it. Letters act while no text field has the focus.
#include <algorithm>

#include "app/window/application.h"
#include "app/window/dialogs.h"
#include "app/window/keys.h"
#include "imgui.h"

namespace peel::app {
namespace {

using views::Command;
using views::Step;

constexpr int kCtrl = ImGuiMod_Ctrl, kShift = ImGuiMod_Shift;

}  // namespace

void register_commands(Application& a) {
  views::CommandTable& t = a.commands();
  views::Context& c = a.context();
  auto open = [&a] { return a.session() != nullptr; };
  auto placed = [&a, &c] { return a.session() && c.selected; };
  auto running = [&c] { return c.program.run == views::ProgramState::Run::kRunning || c.program.run == views::ProgramState::Run::kBuildingAgent; };
  auto dialog = [&a](Dialogs::Kind k) { return [&a, k] { a.dialogs().open(k); }; };
  auto step = [&a](Step s) { return [&a, s] { a.step(s); }; };
  auto focus_field = [&a, &c](const char* field) {
    return [&a, &c, field] {
      // Timeline has a search of its own.
      const bool time = field == std::string_view("find") && a.focused_panel() && a.focused_panel()->title() == std::string_view("Timeline");
      a.focus_panel(time ? "Timeline" : "Trace");
      c.focus_field = time ? "find time" : field;
    };
  };

  // File
  t.add({"file.open", "Open…", "Opens a session file.", "File", {kCtrl | ImGuiKey_O}, nullptr, dialog(Dialogs::Kind::kOpen), nullptr});
  t.add({"file.close", "Close session", "Shows no session any more.", "File", {kCtrl | ImGuiKey_W}, open, [&a] { a.close_session(); }, nullptr});
  t.add({"file.quit", "Quit", "Closes the window; a program that still runs is ended.", "File", {kCtrl | ImGuiKey_Q}, nullptr, [&a] { a.close(); }, nullptr});

  // Edit
  t.add({"edit.copy", "Copy", "Puts what is marked in the focused panel on the clipboard.", "Edit", {kCtrl | ImGuiKey_C}, nullptr,
         [&a, &c] {
           views::Panel* p = a.focused_panel();
           const std::string text = p ? p->copy_text(c) : "";
           if (text.empty()) a.say("Nothing to copy here.");
           else a.copy(text);
         },
         nullptr});
  t.add({"edit.bookmark", "Bookmark", "Marks the selected hop, or takes the mark away; Findings lists the marks.", "Edit", {ImGuiKey_M}, placed,
         [&a] { a.toggle_bookmark(); }, nullptr});
  t.add({"edit.note", "Note…", "Writes a note at the selected hop, kept in the session; Findings and Trace show it.", "Edit", {kShift | ImGuiKey_M}, placed, dialog(Dialogs::Kind::kNote), nullptr});
  const struct { const char *id, *title, *help; CallForm form; } copies[] = {
      {"copy.text", "Copy as text", "Copies what Why says of the selected hop.", CallForm::kText},
      {"copy.markdown", "Copy as Markdown", "Copies what Why says of the selected hop, for an issue report.", CallForm::kMarkdown},
      {"copy.sql", "Copy as SQL", "Copies a query that selects the hop with its arguments and results.", CallForm::kSql},
      {"copy.python", "Copy as Python", "Copies a small program that repeats the selected call on stock PyTorch.", CallForm::kPython}};
  for (const auto& f : copies) t.add({f.id, f.title, f.help, "Edit", {}, placed, [&a, form = f.form] { a.copy_as(form); }, nullptr});

  // Go
  t.add({"step.into", "Step into", "Goes to the next hop, at any depth.", "Go", {ImGuiKey_I, ImGuiKey_F11}, placed, step(Step::kInto), nullptr, "", true});
  t.add({"step.over", "Step over", "Goes to the next hop at this depth or above.", "Go", {ImGuiKey_O, ImGuiKey_F10}, placed, step(Step::kOver), nullptr, "", true});
  t.add({"step.out", "Step out", "Goes to the end of the parent: its state after the last hop inside.", "Go", {ImGuiKey_U, kShift | ImGuiKey_F11}, placed, step(Step::kOut), nullptr, "", true});
  t.add({"step.back_into", "Step back into", "Goes to the previous hop, at any depth.", "Go", {kShift | ImGuiKey_I}, placed, step(Step::kBackInto), nullptr, "", true});
  t.add({"step.back_over", "Step back over", "Goes to the previous hop at this depth or above.", "Go", {kShift | ImGuiKey_O}, placed, step(Step::kBackOver), nullptr, "", true});
  t.add({"step.back_out", "Step back out", "Goes to the hop before the parent.", "Go", {kShift | ImGuiKey_U}, placed, step(Step::kBackOut), nullptr, "", true});
  t.add({"go.back", "Back", "Goes to the hop that was selected before.", "Go", {ImGuiKey_Backspace}, [&c] { return c.can_go_back(); }, [&c] { c.back(); }, nullptr, "", true});
  t.add({"go.forward", "Forward", "Takes a Back back.", "Go", {kShift | ImGuiKey_Backspace}, [&c] { return c.can_go_forward(); }, [&c] { c.forward(); }, nullptr, "", true});
  t.add({"go.hop", "Go to hop…", "Asks for the number of a hop and selects it.", "Go", {kCtrl | ImGuiKey_G}, open, dialog(Dialogs::Kind::kGoTo), nullptr});
  t.add({"go.find", "Find…", "Looks for a hop by the words of the filter language; Enter goes to the next one.", "Go", {kCtrl | ImGuiKey_F}, open, focus_field("find"), nullptr});
  t.add({"go.filter", "Filter…", "Shows only the hops that match; what was hidden is counted.", "Go", {kCtrl | ImGuiKey_L}, open, focus_field("filter"), nullptr});

  t.add({"tensor.show", "Its tensor", "Shows the life of the tensor that the selected hop returns or takes.", "Go", {ImGuiKey_T}, placed, [&a] { a.show_tensor(); }, nullptr});
  t.add({"tensor.birth", "Birth of its tensor", "Goes to the hop that made the tensor which Tensor shows.", "Go", {kShift | ImGuiKey_T}, placed, [&a] { a.go_to_birth(); }, nullptr});

  // Compare
  auto comparable = [&a, &c] { return a.session() && !c.compare.other && c.selected; };
  t.add({"compare.next", "Next difference", "Compare: goes to the next pair that differs.", "Go", {ImGuiKey_N, ImGuiKey_F8}, open, [&a] { a.go_difference(true); }, nullptr, "", true});
  t.add({"compare.previous", "Previous difference", "Compare: goes to the previous pair that differs.", "Go", {kShift | ImGuiKey_N, kShift | ImGuiKey_F8}, open, [&a] { a.go_difference(false); }, nullptr, "", true});
  t.add({"compare.set_a", "Set A", "Compare: the left side is the stretch around the selection: what ran under one mode, an iteration, or the call.", "Go", {}, comparable, [&a] { a.set_span(false); }, nullptr});
  t.add({"compare.set_b", "Set B", "Compare: the right side is the stretch around the selection.", "Go", {}, comparable, [&a] { a.set_span(true); }, nullptr});
  t.add({"compare.clear", "Forget A and B", "Compare: both sides follow from the session again.", "Go", {}, [&c] { return c.compare.a || c.compare.b; }, [&a] { a.clear_spans(); }, nullptr});

  // View: panels and workspaces
  for (auto& p : a.panels()) {
    views::Panel* panel = p.get();
    const char* id = a.remember_text(std::string("panel.") + panel->title());
    t.add({id, panel->title(), panel->help(), "View", {}, nullptr, [&a, panel] { a.toggle_panel(*panel); }, [panel] { return panel->open; }});
  }
  int n = 0;
  for (const Workspace& w : workspaces()) {
    const int key = ImGuiKey_1 + n++;
    const char* id = a.remember_text(std::string("workspace.") + w.name);
    const char* title = a.remember_text(std::string("Workspace ") + w.name);
    const char* help = a.remember_text(std::string("Arranges the panels for ") + w.name + ".");
    t.add({id, title, help, "View", {kCtrl | key}, [&a, &w] { return a.offered(w); }, [&a, &w] { a.use_workspace(w); }, [&a, &w] { return &a.current_workspace() == &w; }});
  }
  t.add({"view.reset", "Reset layout", "Puts every panel of this workspace back to where it was at first.", "View", {}, nullptr, [&a] { a.reset_layout(); }, nullptr});
  t.add({"view.theme", "Light theme", "Switches between the dark and the light theme.", "View", {}, nullptr, [&a, &c] { a.set_theme(!c.dark, a.settings().zoom); }, [&c] { return !c.dark; }});
  t.add({"view.larger", "Larger", "Makes everything larger.", "View", {kCtrl | ImGuiKey_Equal, kCtrl | ImGuiKey_KeypadAdd}, nullptr, [&a, &c] { a.set_theme(c.dark, std::min(3.f, a.settings().zoom + .125f)); }, nullptr, "", true});
  t.add({"view.smaller", "Smaller", "Makes everything smaller.", "View", {kCtrl | ImGuiKey_Minus, kCtrl | ImGuiKey_KeypadSubtract}, nullptr, [&a, &c] { a.set_theme(c.dark, std::max(.75f, a.settings().zoom - .125f)); }, nullptr, "", true});
  t.add({"view.normal", "Normal size", "Goes back to the display's own size.", "View", {kCtrl | ImGuiKey_0}, nullptr, [&a, &c] { a.set_theme(c.dark, 1); }, nullptr});

  // Operator and What if
  t.add({"go.operator", "Operator of the selection", "Shows the dispatch table, registrations and formula of the selected hop's operator.", "Go", {}, placed, [&a] { a.focus_panel("Operator"); }, nullptr});
  const struct { const char *id, *title, *help; } questions[] = {
      {"whatif.ask", "What if…", "Asks what a registration, a key or a mode would change; nothing is run again."},
      {"whatif.inference", "What if: inference_mode", "Lists what would change if inference_mode were on in the selected hop and what is inside."},
      {"whatif.exclude", "What if: without this key", "Lists what would change if the selected hop's key were excluded in it and what is inside."}};
  for (const auto& q : questions)
    t.add({q.id, q.title, q.help, "Go", {}, open, [&a, &c, q] {
             a.focus_panel("What if");
             if (views::Panel* p = a.panel("What if"); p && !p->run(c, q.id)) a.say("Select a call first.");
           },
           nullptr});

  // Memory
  const struct { const char *id, *title, *help; } memory[] = {
      {"memory.peak", "Memory: peak", "Goes to the moment at which most memory was allocated."},
      {"memory.failed", "Memory: failed allocation", "Goes to the allocation that failed and tells why."},
      {"memory.mark_a", "Memory: mark A", "Marks the moment as the first of two to compare."},
      {"memory.mark_b", "Memory: mark B", "Marks the moment as the second of two to compare."},
      {"memory.pools", "Memory: pools", "Shows the allocator's pools and how fragmented they are."},
      {"memory.fit", "Memory: whole recording", "Shows the allocator's whole history."}};
  for (const auto& m : memory)
    t.add({m.id, m.title, m.help, "", {}, open, [&a, &c, m] {
             a.focus_panel("Memory");
             if (views::Panel* p = a.panel("Memory")) p->run(c, m.id);
           },
           nullptr});

  // Run
  t.add({"run.again", "Run again", "Runs the program again into a new recording; edits are saved first, after a question.", "Run", {kCtrl | ImGuiKey_R}, [&c] { return c.program.can_run_again; }, [&a] { a.run_again(); }, nullptr});
  auto stands = [&a] { return a.debugging().stands(); };
  auto alive = [running, stands] { return running() || stands(); };
  auto runs = [&c] { return c.program.run == views::ProgramState::Run::kRunning; };
  t.add({"run.continue", "Continue", "The program that stands goes on to the next breakpoint; over recorded hops: goes to the next one that matches.", "Run", {ImGuiKey_C, ImGuiKey_F5}, [open, stands] { return stands() || open(); }, [&a] { a.debugging().go_on(); }, nullptr});
  t.add({"run.continue_back", "Continue backwards", "Goes to the previous recorded hop that matches a breakpoint.", "Run", {kShift | ImGuiKey_C}, placed, [&a] { a.debugging().go_back(); }, nullptr});
  t.add({"run.pause", "Pause", "The running program stops at its next hop.", "Run", {ImGuiKey_P, ImGuiKey_F6}, runs, [&a] { a.debugging().pause(); }, nullptr});
  t.add({"run.to_here", "Run to here", "The program goes on until it comes to the line of the selected hop again.", "Run", {kCtrl | ImGuiKey_Enter}, [placed, alive] { return placed() && alive(); }, [&a] { a.debugging().run_to_here(); }, nullptr});
  t.add({"run.stop", "Interrupt", "Interrupts the running program as Ctrl+C would, or stops building the agent.", "Run", {}, alive, [&a] { if (a.program()) a.program()->interrupt(); }, nullptr});
  t.add({"run.kill", "End the program", "Ends the program at once; what it recorded stays.", "Run", {}, alive, [&a] { if (a.program()) a.program()->kill(); }, nullptr});
  t.add({"run.change", "Change what happens next…", "While the program stands (embedded engine): excludes a key, runs another kernel, returns another value.", "Run", {ImGuiKey_E}, stands, [&a, &c] { a.focus_panel("Breakpoints"); c.focus_field = "change"; }, nullptr});
  t.add({"break.here", "Breakpoint here", "Sets a breakpoint on the selected hop's operator and key, or takes it away; in Program: on its line.", "Run", {ImGuiKey_B, ImGuiKey_F9}, placed, [&a] { a.debugging().toggle_here(); }, nullptr});
  t.add({"break.add", "Add breakpoint…", "Goes to the field in which breakpoints are written.", "Run", {}, nullptr, [&a, &c] { a.focus_panel("Breakpoints"); c.focus_field = "break"; }, nullptr});
  t.add({"break.clear", "Remove all breakpoints", "Takes every breakpoint away.", "Run", {}, [&c] { return !c.live.breakpoints.empty(); }, [&a] { a.debugging().remove_all(); }, nullptr});

  // Help
  t.add({"help.palette", "Commands and objects…", "Finds any command, operator or line by typing a part of its name.", "Help", {kCtrl | kShift | ImGuiKey_P, ImGuiKey_F1}, nullptr, dialog(Dialogs::Kind::kPalette), nullptr});
  t.add({"help.keys", "Keys…", "Lists every key.", "Help", {kShift | ImGuiKey_Slash}, nullptr, dialog(Dialogs::Kind::kKeys), nullptr});
  t.add({"help.guide", "Guide", "Four stops that show what a recording tells.", "Help", {}, open, [&a] { a.show_guide(!a.guide_shown()); }, [&a] { return a.guide_shown(); }});
  t.add({"help.about", "About Peel…", "Version, fonts found, licences.", "Help", {}, nullptr, dialog(Dialogs::Kind::kAbout), nullptr});

  // Lists: the panel with the focus gets these.
  auto list = [&a, &c](const char* id) {
    return [&a, &c, id] { if (views::Panel* p = a.focused_panel()) p->run(c, id); };
  };
  const struct { const char *id, *title, *help; std::vector<int> keys; bool repeats; } rows[] = {
      {"list.up", "Row up", "Marks the row above.", {ImGuiKey_UpArrow}, true},
      {"list.down", "Row down", "Marks the row below.", {ImGuiKey_DownArrow}, true},
      {"list.page_up", "Page up", "Goes up by a page.", {ImGuiKey_PageUp}, true},
      {"list.page_down", "Page down", "Goes down by a page.", {ImGuiKey_PageDown}, true},
      {"list.first", "First row", "Goes to the first row.", {ImGuiKey_Home}, false},
      {"list.last", "Last row", "Goes to the last row.", {ImGuiKey_End}, false},
      {"list.left", "Collapse", "Closes the row, or goes to its parent.", {ImGuiKey_LeftArrow}, true},
      {"list.right", "Expand", "Opens the row, or goes to the first row inside.", {ImGuiKey_RightArrow}, true},
      {"list.open", "Open or close", "Opens or closes the row, or follows it.", {ImGuiKey_Enter, ImGuiKey_KeypadEnter}, false},
  };
  for (const auto& r : rows) t.add({r.id, r.title, r.help, "", r.keys, nullptr, list(r.id), nullptr, "list", r.repeats});
  const struct { const char *id, *title, *help; std::vector<int> keys; bool repeats; } times[] = {
      {"timeline.left", "Earlier", "Timeline and Memory: moves to what was before.", {ImGuiKey_A}, true},
      {"timeline.right", "Later", "Timeline and Memory: moves to what comes after.", {ImGuiKey_D}, true},
      {"timeline.closer", "Closer", "Timeline and Memory: zooms in around the mouse, as the wheel does.", {ImGuiKey_W}, true},
      {"timeline.wider", "Wider", "Timeline and Memory: zooms out around the mouse, as the wheel does.", {ImGuiKey_S}, true},
      {"timeline.fit", "Fit", "Timeline and Memory: shows the whole recording.", {ImGuiKey_F}, false},
      {"timeline.selection", "Zoom to selection", "Timeline: shows the measured range, or else the selection, as large as fits.", {ImGuiKey_Z}, false},
      {"timeline.clear", "Clear the measured range", "Timeline: takes the measured range away.", {ImGuiKey_X, ImGuiKey_Escape}, false},
      {"timeline.measure", "Measure selection", "Timeline: measures the stretch of time that the selection takes.", {}, false},
      {"timeline.pin", "Pin lane", "Timeline: keeps the selection's lane at the top, or lets it go.", {}, false},
      {"timeline.collapse", "Collapse lane", "Timeline: shows one row of the selection's lane, or all again.", {}, false},
  };
  for (const auto& r : times) t.add({r.id, r.title, r.help, "", r.keys, nullptr, list(r.id), nullptr, "timeline", r.repeats});
}

std::string keys_markdown() {
  Application a(WindowOptions{});
  std::string out = "| key | action |\n| --- | --- |\n";
  for (const Command& c : a.commands().all()) {
    if (c.keys.empty()) continue;
    std::string keys;
    for (views::Chord k : c.keys) keys += (keys.empty() ? "`" : ", `") + chord_text(k) + "`";
    out += "| " + keys + " | " + c.title + ": " + c.help + " |\n";
  }
  return out;
}

}  // namespace peel::app
