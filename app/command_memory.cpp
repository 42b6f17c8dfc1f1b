// peel memory: who holds the memory at a hop, the peak, and why an allocation failed; the text twin of the Memory panel.
#include "app/commands.h"
#include "app/console.h"
#include "app/json.h"
#include "app/parse.h"
#include "app/session_argument.h"
#include "views/memory_oom_model.h"

namespace peel::app {
namespace {

const std::atomic<bool> kNever{false};

/// "cuda:0, cpu"
std::string device_list(const MemoryHistory& h) {
  std::string out;
  for (const MemoryDevice& d : h.devices) out += (out.empty() ? "" : ", ") + d.name;
  return out;
}

void print_json(const MemoryHistory& h, uint16_t device, MemoryIndex moment, const std::string& by, const views::HolderTable& holders, const views::OomReport* oom) {
  const MemoryDevice& d = h.devices[device];
  const MemoryTotals t = d.at(moment);
  JsonObject head;
  head.text("device", d.name).number("moment", moment).number("allocated", t.allocated).number("active", t.active).number("reserved", t.reserved).number("peak_allocated", d.peak.allocated);
  if (d.peak_at == kNoIndex) head.null("peak_event");
  else head.number("peak_event", h.events[d.peak_at].event.value);
  std::printf("%s\n", head.done().c_str());
  for (const views::Holder& r : holders.rows) {
    JsonObject row;
    row.text(by, r.known ? r.name : "").number("bytes", r.bytes).number("blocks", static_cast<int64_t>(r.blocks));
    r.event ? row.number("event", r.event.value) : row.null("event");
    row.text("note", r.known ? r.note : r.name);
    std::printf("%s\n", row.done().c_str());
  }
  if (!oom) return;
  JsonObject o;
  o.text("out_of_memory", views::plain(oom->sentence)).number("event", oom->event.value).number("asked", oom->asked).number("rounded", oom->rounded).number("segment", oom->segment);
  oom->device_free < 0 ? o.null("device_free") : o.number("device_free", oom->device_free);
  o.number("pending", oom->pending).number("largest_usable", oom->usable_largest);
  std::printf("%s\n", o.done().c_str());
}

void print_oom(const views::OomReport& r) {
  std::printf("\n%s\n", inked(Ink::kBold, "Out of memory").c_str());
  std::printf("%s\n", views::plain(r.sentence).c_str());
  for (const std::string& h : r.hints) std::printf("%s\n", h.c_str());
  std::vector<std::vector<std::string>> rows;
  for (const auto& f : r.facts) rows.push_back({inked(Ink::kDim, f.name), f.text, inked(Ink::kDim, f.note)});
  std::fputs(aligned(rows, {true}).c_str(), stdout);
  if (r.reasons.empty()) return;
  std::printf("why what is free was not taken:\n");
  rows.clear();
  for (const auto& f : r.reasons) rows.push_back({"  " + peel::bytes_text(f.bytes), counted(f.blocks, "block"), f.words});
  std::fputs(aligned(rows, {true, true}).c_str(), stdout);
}

}  // namespace

int memory_main(const std::vector<std::string>& arguments) {
  CLI::App app("Who holds the memory after a hop, where the peak was, and why an allocation failed.", "peel memory");
  std::string file, by = "line", device_name;
  long long number = 0;
  bool json = false;
  uint32_t max_rows = 30;
  app.add_option("FILE", file, "Session file")->required()->option_text("FILE.peel");
  app.add_option("--at", number, "The hop after which to look; without it: the failed allocation, else the end")->option_text("HOP");
  app.add_option("--by", by, "Grouped by line, module, operator, node (that saved it) or tensor")->check(CLI::IsMember({"line", "module", "operator", "node", "tensor"}))->option_text("WHAT");
  app.add_option("--device", device_name, "Device; without it: the busiest GPU, else the CPU")->option_text("NAME");
  app.add_option("--max-rows", max_rows, "Stop after so many rows; 0 = all")->option_text("N");
  app.add_flag("--json", json, "One JSON object a line");
  if (const auto ended = parse(app, arguments)) return *ended;
  const std::unique_ptr<Session> session = open_session(file);
  if (!session) return kCouldNot;
  EventId hop;
  if (number && !(hop = hop_argument(*session, number))) return kCouldNot;
  const auto loaded = load_memory(file);
  if (!loaded) return fail(loaded.error());
  const MemoryHistory& h = **loaded;
  if (h.empty() || h.devices.empty()) return fail(file + " holds no allocations: record the program again with this version of peel");
  uint16_t device = views::main_device(h);
  if (!device_name.empty()) {
    device = UINT16_MAX;
    for (size_t d = 0; d < h.devices.size(); ++d) if (h.devices[d].name == device_name) device = static_cast<uint16_t>(d);
    if (device == UINT16_MAX) return fail("there is no device " + device_name + " in " + file + "; there are: " + device_list(h));
  }
  const views::MemoryNames names(*session, h);
  const MemoryIndex failed = views::oom_near(h, device, static_cast<MemoryIndex>(h.events.size()));
  const MemoryIndex moment = hop ? views::moment_of_hop(*session, h, hop) : failed != kNoIndex ? failed : static_cast<MemoryIndex>(h.events.size());
  const auto kind = by == "module" ? views::HoldBy::kModule : by == "operator" ? views::HoldBy::kOperator : by == "node" ? views::HoldBy::kNode : by == "tensor" ? views::HoldBy::kTensor : views::HoldBy::kLine;
  views::HolderTable holders = views::group(names, views::held(replay(h, device, moment)), kind, kNever);
  const size_t all = holders.rows.size();
  if (max_rows && all > max_rows) holders.rows.resize(max_rows);
  std::optional<views::OomReport> oom;
  if (failed != kNoIndex && !hop) oom = views::explain_oom(names, failed, kNever);
  if (json) {
    print_json(h, device, moment, by, holders, oom ? &*oom : nullptr);
    return kDone;
  }
  std::printf("%s %s: %s\n", inked(Ink::kBold, h.devices[device].name).c_str(), hop ? ("after hop " + std::to_string(hop.value)).c_str() : failed != kNoIndex ? "at the failed allocation" : "at the end",
              views::plain(views::moment_sentence(names, device, moment)).c_str());
  std::vector<std::vector<std::string>> rows;
  for (const views::Holder& r : holders.rows)
    rows.push_back({peel::bytes_text(r.bytes), counted(r.blocks, "block"), r.known ? r.name : inked(Ink::kDim, r.name), inked(Ink::kDim, r.known ? r.note + (r.event ? (r.note.empty() ? "hop " : ", hop ") + std::to_string(r.event.value) : "") : "")});
  std::fputs(aligned(rows, {true, true}).c_str(), stdout);
  if (holders.rows.size() < all) std::printf("%s\n", inked(Ink::kDim, thousands(holders.rows.size()) + " of " + counted(all, "row") + " shown").c_str());
  if (oom) print_oom(*oom);
  if (h.devices.size() > 1) std::printf("%s\n", inked(Ink::kDim, "devices: " + device_list(h)).c_str());
  if (const std::string trouble = h.trouble_text(); !trouble.empty()) say("the recording does not fit together: " + trouble);
  return kDone;
}

}  // namespace peel::app
