#include "tracer/embedded/change.h"

#include <algorithm>
#include <charconv>

#include "core/dispatch/dispatcher.h"
#include "core/dispatch/error.h"
#include "core/dispatch/make_kernel.h"

namespace peel::embedded {
namespace {

using core::DispatchKey;
using core::DispatchKeySet;
using core::IValue;
using Tag = core::IValue::Tag;

std::string_view trimmed(std::string_view s) {
  const size_t begin = s.find_first_not_of(" \t");
  return begin == std::string_view::npos ? "" : s.substr(begin, s.find_last_not_of(" \t") - begin + 1);
}
/// The first word; the rest stays.
std::string_view word(std::string_view* text) {
  *text = trimmed(*text);
  const size_t end = std::min(text->find_first_of(" \t"), text->size());
  const std::string_view w = text->substr(0, end);
  *text = trimmed(text->substr(end));
  return w;
}

std::string first_line(const char* text) {
  const std::string_view all = text;
  return std::string(all.substr(0, all.find('\n')));
}

/// "kernel at …/add.cpp:41".
std::string brief(const core::Kernel& k) {
  std::string_view at = k.debug;
  if (at.starts_with("registered at ")) at.remove_prefix(14);
  const size_t slash = at.rfind('/');
  return "kernel " + std::string(at.empty() ? "" : "at ") + (slash == std::string_view::npos ? "" : "…") + std::string(slash == std::string_view::npos ? at : at.substr(slash));
}

/// Thrown where something can't be done: the sentence.
struct Refused { std::string sentence; };

DispatchKey key_named(std::string_view name) {
  if (name.empty()) throw Refused{"which key? For instance: exclude AutogradCPU"};
  const auto key = core::parse_dispatch_key(name);
  if (!key || *key == DispatchKey::Undefined) throw Refused{"there is no dispatch key " + std::string(name)};
  return *key;
}
DispatchKey runtime_key(std::string_view name) {
  const DispatchKey k = key_named(name);
  if (core::is_alias(k)) throw Refused{std::string(name) + " is an alias: it is never in a set"};
  return k;
}

core::Tensor tensor_of(const IValue& v) { return core::Tensor(v.to_tensor().release()); }

/// A new tensor full of `number`, shaped as `like`.
IValue filled(const core::Tensor& like, const IValue& number) {
  const core::BelowADInplaceOrView below;
  core::Tensor t = core::empty_strided(like.sizes(), like.strides(), like.dtype(), like.device());
  core::Stack stack{t, number};
  core::Dispatcher::get().find_schema_or_throw("aten::fill_", "Scalar").call_boxed(&stack);
  return t;
}

/// What the operator would return, without memory: asked of its kernels for meta tensors.
core::Stack shapes_of_results(const core::OperatorEntry& op, core::Stack values) {
  core::Device device{};
  const auto as_meta = [&](IValue& v) {
    if (v.tag() != Tag::kTensor) return;
    const core::Tensor t = tensor_of(v);
    if (!t.defined()) return;
    device = t.device();
    v = core::empty_strided(t.sizes(), t.strides(), t.dtype(), core::Device{14, -1});
  };
  for (IValue& v : values) {
    as_meta(v);
    if (v.tag() != Tag::kList) continue;
    std::vector<IValue> list = v.to_list();
    for (IValue& one : list) as_meta(one);
    v = IValue::list(std::move(list));
  }
  try {
    const core::BelowADInplaceOrView below;
    core::OperatorHandle(&op).call_boxed(&values);
  } catch (const std::exception&) {
    throw Refused{"what " + op.name().text() + " returns is not known before it ran: say like which argument (zeros like self), or change it after the kernel"};
  }
  for (IValue& v : values)  // as they would be made
    if (v.tag() == Tag::kTensor && tensor_of(v).defined()) {
      const core::Tensor t = tensor_of(v);
      v = core::empty_strided(t.sizes(), t.strides(), t.dtype(), device);
    }
  return values;
}

std::optional<IValue> number(std::string_view text) {
  if (text == "True" || text == "False") return IValue(text == "True");
  int64_t i = 0;
  double d = 0;
  const char* end = text.data() + text.size();
  if (const auto [at, wrong] = std::from_chars(text.data(), end, i); wrong == std::errc() && at == end) return IValue(i);
  if (const auto [at, wrong] = std::from_chars(text.data(), end, d); wrong == std::errc() && at == end) return IValue(d);
  return std::nullopt;
}

/// Reads the values of `return`.
class Values {
 public:
  Values(const core::OperatorEntry& op, const core::Stack& arguments, const core::Stack* results) : op_(op), schema_(*op.schema()), arguments_(arguments), results_(results) {}

  core::Stack read(std::string_view text) {
    const size_t wanted = schema_.returns.size();
    if (wanted == 0) throw Refused{op_.name().text() + " returns nothing"};
    core::Stack out;
    for (size_t comma = 0; comma != std::string_view::npos;) {
      comma = text.find(',');
      const std::string_view one = trimmed(text.substr(0, comma));
      if (out.size() < wanted) out.push_back(value(one, out.size()));
      else throw Refused{op_.name().text() + " returns " + std::to_string(wanted) + (wanted == 1 ? " value" : " values") + ": more were given"};
      if (comma != std::string_view::npos) text.remove_prefix(comma + 1);
    }
    if (out.size() < wanted) throw Refused{op_.name().text() + " returns " + std::to_string(wanted) + " values: give each, with commas between" + (results_ ? "; _ leaves one as it is" : "")};
    return out;
  }

 private:
  IValue value(std::string_view text, size_t at) {
    const core::Argument& wanted = schema_.returns[at];
    if (text.empty()) throw Refused{"return what? An argument (self), zeros, ones, full 2.5, a number or None"};
    if (wanted.alias && wanted.alias->write) return written(text, wanted);
    if (text == "_" && results_) return results_->at(at);
    const bool optional = wanted.type.kind == core::Type::Kind::kOptional;
    const core::Type& type = optional ? wanted.type.element() : wanted.type;
    if (text == "None") {
      if (!optional) throw Refused{"a result of type " + wanted.type.text() + " can't be None"};
      return {};
    }
    if (const auto n = number(text)) return of_type(*n, type);
    std::string_view rest = text;
    const std::string_view w = word(&rest);
    if (w == "zeros" || w == "ones" || w == "full") return fill(w, rest, type, at);
    const IValue given = argument(text);
    if (type.is("Tensor") != (given.tag() == Tag::kTensor) || (type.kind == core::Type::Kind::kList) != (given.tag() == Tag::kList))
      throw Refused{std::string(text) + " is no " + type.text() + ", which " + op_.name().text() + " returns"};
    return type.is("Tensor") || type.kind == core::Type::Kind::kList ? given : of_type(given, type);
  }
  /// In-place and out= operators return a tensor that they were given: all that can be changed is that nothing is written.
  IValue written(std::string_view text, const core::Argument& wanted) {
    if (results_) throw Refused{op_.name().text() + " returns the tensor that it was given to write: no other can be returned"};
    for (size_t i = 0; i < schema_.arguments.size(); ++i) {
      const core::Argument& a = schema_.arguments[i];
      if (!a.alias || a.alias->before != wanted.alias->before) continue;
      if (text == a.name || text == "#" + std::to_string(i)) return arguments_.at(i);
      throw Refused{op_.name().text() + " returns the tensor that it was given to write: return " + a.name + " leaves it unwritten, no other can be returned"};
    }
    throw Refused{op_.name().text() + " returns the tensor that it was given to write: no other can be returned"};
  }
  IValue fill(std::string_view how, std::string_view rest, const core::Type& type, size_t at) {
    if (!type.is("Tensor")) throw Refused{op_.name().text() + " returns a " + type.text() + " there, no tensor"};
    IValue with(int64_t{how == "ones"});
    if (how == "full") {
      const std::string_view n = word(&rest);
      const auto given = number(n);
      if (!given) throw Refused{"full wants a number: full 2.5"};
      with = *given;
    }
    const std::string_view like = word(&rest);
    if (!like.empty() && (like != "like" || rest.empty())) throw Refused{"`" + std::string(like) + "`: write zeros, or zeros like self"};
    if (!like.empty()) {
      const IValue given = argument(rest);
      if (given.tag() != Tag::kTensor || !tensor_of(given).defined()) throw Refused{std::string(rest) + " is no tensor"};
      return filled(tensor_of(given), with);
    }
    if (!shapes_) shapes_ = results_ ? *results_ : shapes_of_results(op_, arguments_);
    const IValue& model = shapes_->at(at);
    if (model.tag() != Tag::kTensor || !tensor_of(model).defined()) throw Refused{"that result is no tensor: say like which argument"};
    return filled(tensor_of(model), with);
  }
  IValue argument(std::string_view name) {
    for (size_t i = 0; i < schema_.arguments.size() && i < arguments_.size(); ++i)
      if (name == schema_.arguments[i].name || name == "#" + std::to_string(i)) return arguments_[i];
    std::string names;
    for (const core::Argument& a : schema_.arguments) names += (names.empty() ? "" : ", ") + a.name;
    throw Refused{std::string(name) + " is no value: give an argument (" + names + "), zeros, ones, full 2.5, a number or None"};
  }
  IValue of_type(const IValue& n, const core::Type& type) {
    const bool whole = n.tag() == Tag::kInt, real = n.tag() == Tag::kDouble, truth = n.tag() == Tag::kBool;
    if (type.is("bool") && truth) return n;
    if ((type.is("int") || type.is("SymInt")) && whole) return n;
    if (type.is("float") && (whole || real)) return IValue(n.to_double());
    if ((type.is("Scalar") || type.is("number")) && (whole || real || truth)) return n;
    if (type.is("Tensor")) throw Refused{op_.name().text() + " returns a tensor there: full " + core::to_text(n) + " makes one"};
    throw Refused{core::to_text(n) + " is no " + type.text() + ", which " + op_.name().text() + " returns"};
  }

  const core::OperatorEntry& op_;
  const core::FunctionSchema& schema_;
  const core::Stack& arguments_;
  const core::Stack* results_;
  std::optional<core::Stack> shapes_;
};

}  // namespace

Change::Answer Change::apply(std::string_view text) {
  text = trimmed(text);
  std::string_view rest = text;
  const std::string_view w = word(&rest);
  try {
    if (w == "undo") {
      if (said_.empty()) return {false, "nothing was changed at this stop"};
      undo();
      return {true, "it goes on as it would have"};
    }
    Answer done{false, ""};
    if (w == "thread") {
      done = change_thread(rest);
    } else if (w != "exclude" && w != "include" && w != "kernel" && w != "fallthrough" && w != "return") {
      return {false, "there is no change `" + std::string(w) + "`: exclude KEY, include KEY, fallthrough, kernel KEY, return VALUE, thread exclude KEY, thread include KEY, thread clear, undo"};
    } else if (!hop_) {
      return {false, "here a node of the graph runs, which is no call: only the thread's sets can be changed (thread exclude KEY)"};
    } else if (phase_ == wire::Phase::kAfter && w != "return") {
      return {false, "the kernel has run already: only its result can be changed (return VALUE)"};
    } else if (phase_ == wire::Phase::kAfter && !results_) {
      return {false, "it raised: there is no result to be changed"};
    } else if (w == "exclude") {
      done = exclude(rest);
    } else if (w == "include") {
      done = include(rest);
    } else if (w == "kernel") {
      done = run_kernel(rest);
    } else if (w == "return") {
      done = give_back(rest);
    } else {
      done = move(hop_->op->masks().apply(set_ - set_.highest()));
    }
    if (done.done) said_ += (said_.empty() ? "" : "; ") + std::string(text);
    return done;
  } catch (const Refused& r) {
    return {false, r.sentence};
  } catch (const core::Error& e) {
    return {false, first_line(e.what())};
  }
}

Change::Answer Change::move(DispatchKeySet set) {
  const core::Kernel* k = hop_->op->require(set, hop_->op->kernel(set));
  const DispatchKey before = set_.highest(), after = set.highest();
  const bool stays = before == after && !of_key_ && !returns_;
  set_ = set;
  kernel_ = k;
  of_key_.reset();
  returns_.reset();
  if (stays) return {true, std::string("stays at ") + core::to_string(after) + "; what its kernel hands on is " + core::to_string(set)};
  return {true, std::string("goes to ") + core::to_string(after) + ": " + brief(*k) + " instead of " + core::to_string(hop_->key())};
}

Change::Answer Change::exclude(std::string_view name) {
  const DispatchKey key = runtime_key(name);
  if (!set_.has(key)) return {false, std::string(name) + " is not in the set of this hop, " + core::to_string(set_)};
  return move(hop_->op->masks().apply(set_ - key));
}

Change::Answer Change::include(std::string_view name) {
  const DispatchKey key = runtime_key(name);
  if (set_.has(key)) return {false, std::string(name) + " is in the set of this hop already"};
  const DispatchKeySet set = hop_->op->masks().apply(set_ | DispatchKeySet(key));
  if (!set.has(key)) return {false, std::string(name) + " falls through for " + hop_->op->name().text() + ": nothing would change"};
  return move(set);
}

Change::Answer Change::run_kernel(std::string_view name) {
  const DispatchKey key = key_named(name);
  const core::Kernel* k = nullptr;
  if (core::is_alias(key)) {
    const auto& all = hop_->op->registrations();
    const auto found = all.find(key);
    if (found == all.end() || found->second.empty()) return {false, hop_->op->name().text() + " has no kernel registered at " + std::string(name)};
    k = found->second.back();
  } else {
    k = hop_->op->require(DispatchKeySet(key), hop_->op->slot(core::slot_of(key)));
  }
  if (k->function.is_fallthrough()) return {false, std::string(name) + " falls through for " + hop_->op->name().text() + ": there is no kernel to run"};
  kernel_ = k;
  of_key_ = key;
  returns_.reset();
  return {true, std::string("runs the ") + brief(*k) + " of " + core::to_string(key) + " instead of " + core::to_string(hop_->key())};
}

Change::Answer Change::give_back(std::string_view values) {
  if (!hop_->op->schema()) return {false, hop_->op->name().text() + " has no schema: what it returns is not known"};
  core::Stack arguments, results;
  hop_->values->push(&arguments);
  if (results_) results_->push(&results);
  returns_ = Values(*hop_->op, arguments, results_ ? &results : nullptr).read(values);
  return {true, results_ ? "returns " + std::string(values) + " instead of its result" : "no kernel runs: it returns " + std::string(values)};
}

Change::Answer Change::change_thread(std::string_view text) {
  const std::string_view w = word(&text);
  core::LocalKeys keys = t_.forced;
  std::string sentence;
  if (w == "clear") {
    if (keys == core::LocalKeys{}) return {false, "nothing was changed in this thread's sets"};
    keys = {};
    sentence = "this thread's calls are looked up as the program has it again";
  } else if (w == "exclude" || w == "include") {
    const DispatchKey key = runtime_key(text);
    core::DispatchKeySet& to = w == "exclude" ? keys.excluded : keys.included;
    if (to.has(key)) return {false, std::string(text) + " is " + std::string(w) + "d already"};
    to = to | DispatchKeySet(key);
    sentence = "from its next call on " + std::string(text) + " is " + std::string(w) + "d in this thread, until `thread clear`";
  } else {
    return {false, "thread exclude KEY, thread include KEY, or thread clear"};
  }
  if (!forced_) forced_ = t_.forced;
  t_.forced = keys;
  return {true, sentence};
}

void Change::undo() {
  if (hop_) set_ = hop_->set, kernel_ = hop_->kernel;
  of_key_.reset();
  returns_.reset();
  if (forced_) t_.forced = *std::exchange(forced_, std::nullopt);
  said_.clear();
}

void Change::carry_out() {
  if (said_.empty()) return;
  Frame& f = t_.frames.back();
  wire::Changed c{};
  c.head = {wire::RecordKind::kChanged, 0, intern(said_)};
  c.kind = c.kind_before = f.kind;
  if (hop_ && phase_ == wire::Phase::kBefore) {
    const bool lacked = !hop_->kernel->function.valid();
    c.keyset_before = hop_->set.raw();
    c.kernel_before = lacked ? 0 : kernel_id(*hop_->op, *hop_->kernel);
    c.key_before = static_cast<uint16_t>(hop_->key());
    if (returns_) {
      f.stand_in = std::make_unique<core::Kernel>();
      f.stand_in->debug = said_;
      f.stand_in->function = core::boxed_kernel([results = *returns_](const core::OperatorHandle& op, DispatchKeySet, core::Stack* stack) {
        core::drop(stack, op.schema().arguments.size());
        stack->insert(stack->end(), results.begin(), results.end());
      });
      kernel_ = f.stand_in.get();
    }
    hop_->set = set_;
    hop_->kernel = kernel_;
    c.keyset = set_.raw();
    c.kernel = returns_ ? define_stand_in(f.op_id, set_.highest(), said_) : kernel_id(*hop_->op, *kernel_);
    c.key = static_cast<uint16_t>(of_key_.value_or(set_.highest()));
    if (lacked) c.kind = f.kind = static_cast<wire::HopKind>(hop_->kind);
    c.what = wire::kChangedPath;
  }
  const bool results = results_ && returns_ && results_->replace(*returns_);
  if (results) c.what = wire::kChangedResults;
  put_plain(t_, c);
  const core::FunctionSchema* schema = hop_ ? hop_->op->schema() : nullptr;
  for (uint32_t i = 0; results && detail() == Detail::kStandard && i < schema->returns.size() && i < returns_->size(); ++i)
    put_argument(t_, wire::place(i), (*returns_)[i], schema->returns[i].type, true);
}

}  // namespace peel::embedded
