// What-if questions from words, and answers in words.
#include <algorithm>
#include <charconv>

#include "sessions/op_report.h"
#include "sessions/show.h"
#include "sessions/whatif.h"
#include "sessions/why_terms.h"

namespace peel {
namespace {

using What = WhatIfChange::What;
using Mode = WhatIfChange::Mode;

Result<KeyId> key_named(const Session& s, const std::string& name) {
  if (const Key* k = s.key_by_name(name)) return k->id;
  return Error{"there is no dispatch key " + name + " in this recording; peel query FILE \"SELECT name FROM dispatch_key\" lists them"};
}

Result<uint32_t> number(const std::string& text, uint32_t most, const char* what) {
  uint32_t n = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), n);
  if (error != std::errc() || end != text.data() + text.size() || n == 0 || n > most) return Error{"there is no " + std::string(what) + " " + text + "; the recording has " + grouped(most)};
  return n;
}

Status registration(const Session& s, const std::string& operand, WhatIfChange* c) {
  const size_t at = operand.rfind('@');
  if (at == std::string::npos) return Error{operand + " names no key: write OPERATOR@KEY, e.g. aten::add.Tensor@CPU"};
  const auto key = key_named(s, operand.substr(at + 1));
  if (!key) return Error{key.error()};
  c->key = *key;
  if (operand.substr(0, at) == "*") return s.key(*key)->alias() ? Status(Error{"a backend fallback stands at a runtime key, and " + operand.substr(at + 1) + " is an alias"}) : Status();
  const auto op = find_op(s, operand.substr(0, at));
  if (!op) return Error{op.error()};
  c->op = *op;
  return {};
}

Status mode(const Session& s, const std::string& operand, WhatIfChange* c) {
  const size_t colon = operand.find(':');
  const std::string name = operand.substr(0, colon);
  if (name == "no_grad") c->mode = Mode::kNoGrad;
  else if (name == "enable_grad") c->mode = Mode::kGrad;
  else if (name == "inference_mode") c->mode = Mode::kInference;
  else if (name == "autocast") c->mode = Mode::kAutocast;
  else return Error{"there is no mode " + name + " here; there are no_grad, enable_grad, inference_mode, autocast:DEVICE"};
  if (c->mode != Mode::kAutocast) return {};
  c->device = colon == std::string::npos ? "cpu" : operand.substr(colon + 1);
  const std::vector<const Key*> keys = s.keys();
  const bool known = std::any_of(keys.begin(), keys.end(), [&](const Key* k) { return family_of(k->name) == Family::kAutocast && autocast_device(k->name) == c->device; });
  return known ? Status() : Error{"there is no autocast for device " + c->device + "; write for instance autocast:cpu"};
}

struct Word {
  const char* word;
  What what;
};
constexpr Word kWords[] = {{"register", What::kRegister}, {"fallthrough", What::kFallthrough}, {"remove", What::kRemove}, {"include", What::kInclude},
                           {"exclude", What::kExclude},   {"enter", What::kEnter},             {"leave", What::kLeave}};

Status scope(const Session& s, const std::string& word, const std::string& operand, WhatIf* w) {
  if (word == "span") {
    const auto n = number(operand, UINT32_MAX, "span");
    if (!n) return Error{n.error()};
    for (const Span& span : s.spans()) {
      if (span.id.value != *n) continue;
      if (!span.begin) return Error{"no hop began in span " + operand};
      w->from = span.begin, w->to = span.end ? span.end : EventId{s.size()}, w->thread = span.thread;
      return {};
    }
    return Error{"there is no span " + operand + "; peel query FILE \"SELECT id, kind, name FROM span\" lists them"};
  }
  const auto n = number(operand, s.size(), "hop");
  if (!n) return Error{n.error()};
  const EventId e{*n};
  if (word == "from") w->from = e;
  else if (word == "to") w->to = e;
  else w->from = e, w->to = s.last(e), w->thread = s.event(e).thread;
  return {};
}

}  // namespace

Result<WhatIf> parse_whatif(const Session& s, const std::vector<std::string>& words) {
  WhatIf w;
  for (size_t i = 0; i < words.size(); i += 2) {
    const std::string& word = words[i];
    if (i + 1 == words.size()) return Error{"something has to follow " + word};
    const std::string& operand = words[i + 1];
    if (word == "hop" || word == "span" || word == "from" || word == "to") {
      if (const Status status = scope(s, word, operand, &w); !status) return Error{status.error()};
      continue;
    }
    const auto* found = std::find_if(std::begin(kWords), std::end(kWords), [&](const Word& k) { return word == k.word; });
    if (found == std::end(kWords)) return Error{"a change begins with register, fallthrough, remove, include, exclude, enter or leave, not with " + word};
    WhatIfChange c{found->what, {}, 0, Mode::kNone, {}, word + " " + operand};
    Status status;
    if (c.what == What::kEnter || c.what == What::kLeave) {
      status = mode(s, operand, &c);
    } else if (c.what == What::kInclude || c.what == What::kExclude) {
      const auto key = key_named(s, operand);
      if (!key) return Error{key.error()};
      if (s.key(*key)->alias()) return Error{operand + " is an alias: it is never in a set"};
      c.key = *key;
    } else {
      status = registration(s, operand, &c);
    }
    if (!status) return Error{status.error()};
    w.changes.push_back(std::move(c));
  }
  if (w.changes.empty()) return Error{"nothing to change: say for instance register aten::add.Tensor@CPU, or enter inference_mode"};
  if (w.from && w.to && w.to < w.from) return Error{"the last hop comes before the first"};
  return w;
}

std::string whatif_sentence(const WhatIfAnswer& a) {
  const auto calls = [](uint64_t n) { return grouped(n) + (n == 1 ? " call" : " calls"); };
  std::string out = a.changed == 0 ? "No call would go elsewhere first" : grouped(a.changed) + " of " + calls(a.calls) + " would go elsewhere first";
  if (a.layers) out += ", " + grouped(a.layers) + (a.layers == 1 ? " layer" : " layers") + " further in would be another kernel";
  if (a.unknown) out += ", " + calls(a.unknown) + (a.unknown == 1 ? " is" : " are") + " unknown";
  return out + ".";
}

std::string whatif_words(const Session& s, const WhatIfRow& r) {
  const auto name = [&](KeyId k) { const Key* key = s.key(k); return key ? key->name : std::string("?"); };
  switch (r.outcome) {
    case WhatIfRow::Outcome::kUnknown: return "";
    case WhatIfRow::Outcome::kRaises: return name(r.key_before) + " -> " + name(r.key_after) + ": " + r.kernel_after + ", it would raise";
    default: break;
  }
  const std::string keys = r.key_before == r.key_after ? "stays at " + name(r.key_after) : name(r.key_before) + " -> " + name(r.key_after);
  return keys + ": " + r.kernel_after;
}

}  // namespace peel
