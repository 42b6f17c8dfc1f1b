// peel tensor: one tensor's life.
#include "app/commands.h"
#include "app/console.h"
#include "app/json.h"
#include "app/parse.h"
#include "app/session_argument.h"
#include "views/tensor_model.h"

namespace peel::app {
namespace {

constexpr const char* kMomentNames[] = {"birth", "first seen", "use", "write", "view", "saved", "read", "folded", "end"};

void print_json(const views::TensorModel& m) {
  JsonObject head;
  head.number("tensor", m.tensor.value).text("sentence", views::plain(m.sentence)).text("description", m.brief);
  std::printf("%s\n", head.done().c_str());
  for (const views::TensorMoment& o : m.moments) {
    JsonObject row;
    row.text("moment", kMomentNames[static_cast<size_t>(o.kind)]);
    if (o.event) row.number("event", o.event.value);
    else row.null("event");
    row.text("what", views::plain(o.words)).text("note", o.note);
    if (o.tensor) row.number("other", o.tensor.value);
    std::printf("%s\n", row.done().c_str());
  }
}

void print_text(const views::TensorModel& m) {
  std::printf("%s\n%s  %s\n", views::plain(m.sentence).c_str(), m.name.c_str(), m.brief.c_str());
  std::vector<std::vector<std::string>> rows;
  for (const views::TensorMoment& o : m.moments) rows.push_back({o.event ? "  hop " + std::to_string(o.event.value) : "  ", views::plain(o.words), inked(Ink::kDim, o.note)});
  std::fputs(aligned(rows, {false, false, false}).c_str(), stdout);
}

}  // namespace

int tensor_main(const std::vector<std::string>& arguments) {
  CLI::App app("Tell the life of a tensor: its birth, uses, writes with versions, views, the autograd nodes that saved it, its end.", "peel tensor");
  std::string file, name;
  long long at = 0, of = 0;
  bool json = false;
  app.add_option("FILE", file, "Session file")->required()->option_text("FILE.peel");
  app.add_option("TENSOR", name, "Which: t37 or 37")->option_text("T");
  app.add_option("--of", of, "The tensor that this hop returns or takes")->option_text("N");
  app.add_option("--at", at, "Described as it was after this hop")->option_text("N");
  app.add_flag("--json", json, "One JSON object a moment");
  if (const auto ended = parse(app, arguments)) return *ended;
  if (name.empty() == (of == 0)) return fail("name one tensor: peel tensor " + file + " t37, or --of a hop");
  const std::unique_ptr<Session> session = open_session(file);
  if (!session) return kCouldNot;
  EventId hop;
  if (at && !(hop = hop_argument(*session, at))) return kCouldNot;
  TensorId tensor;
  if (of) {
    const EventId about = hop_argument(*session, of);
    if (!about) return kCouldNot;
    tensor = views::tensor_for(*session, about);
    if (!tensor) return fail("hop " + std::to_string(of) + " takes and returns no tensor");
  } else {
    const std::string digits = name[0] == 't' ? name.substr(1) : name;
    if (digits.empty() || digits.size() > 9 || digits.find_first_not_of("0123456789") != digits.npos) return fail(name + " is no tensor: write t37 or 37");
    tensor = TensorId(static_cast<uint32_t>(std::stoul(digits)));
  }
  const views::TensorModel m = views::make_tensor_model(*session, tensor, hop);
  if (!m.known) return fail("there is no tensor " + name + " in " + file);
  if (json) print_json(m);
  else print_text(m);
  return kDone;
}

}  // namespace peel::app
