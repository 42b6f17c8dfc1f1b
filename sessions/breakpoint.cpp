#include "sessions/breakpoint.h"

#include <algorithm>
#include <charconv>

#include "sessions/show.h"

namespace peel {
namespace {

using wire::BreakTerm;
using wire::What;

struct Word {
  std::string_view name;
  What what;
};
constexpr Word kWords[] = {{"has", What::kHas}, {"grad", What::kGrad}, {"inference", What::kInference}, {"write", What::kWrite}, {"finding", What::kFinding},
                            {"dtype", What::kDtype}, {"shape", What::kShape}, {"device", What::kDevice}, {"requires_grad", What::kRequiresGrad}};

constexpr std::string_view kDtypes[] = {
    "float32", "float64", "float16", "bfloat16", "int64", "int32", "int16", "int8", "uint8", "bool", "complex64", "complex128", "complex32", "uint16", "uint32", "uint64",
    "float8_e4m3fn", "float8_e4m3fnuz", "float8_e5m2", "float8_e5m2fnuz", "float8_e8m0fnu", "float4_e2m1fn_x2", "int1", "int2", "int3", "int4", "int5", "int6", "int7",
    "uint1", "uint2", "uint3", "uint4", "uint5", "uint6", "uint7", "qint8", "qint32", "quint8", "quint2x4", "quint4x2", "bits16", "bits1x8", "bits2x4", "bits4x2", "bits8"};
constexpr std::string_view kDevices[] = {"cpu", "cuda", "meta", "mps", "xpu", "hpu", "xla", "mtia", "npu", "privateuseone", "ipu", "lazy", "vulkan", "maia", "hip", "fpga", "ve", "ideep", "opencl", "opengl", "mkldnn"};

What of_filter(FilterTerm::What w) {
  switch (w) {
    case FilterTerm::What::kOp: return What::kOp;
    case FilterTerm::What::kKey: return What::kKey;
    case FilterTerm::What::kKind: return What::kKind;
    case FilterTerm::What::kLine: return What::kLine;
    case FilterTerm::What::kFile: return What::kFile;
    case FilterTerm::What::kNode: return What::kNode;
    case FilterTerm::What::kError: return What::kError;
    case FilterTerm::What::kThread: break;
  }
  return What::kThread;
}

std::vector<std::string> split(std::string_view text) {
  std::vector<std::string> out;
  while (!text.empty()) {
    const size_t comma = std::min(text.find(','), text.size());
    out.emplace_back(text.substr(0, comma));
    text.remove_prefix(std::min(comma + 1, text.size()));
  }
  return out;
}

bool good_shape(std::string_view p) {
  if (p.size() < 2 || p.front() != '[' || p.back() != ']') return false;
  p = p.substr(1, p.size() - 2);
  const auto trim = [](std::string_view s) {
    while (s.starts_with(' ')) s.remove_prefix(1);
    while (s.ends_with(' ')) s.remove_suffix(1);
    return s;
  };
  for (bool more = !trim(p).empty(); more;) {
    const size_t comma = p.find(',');
    const std::string_view size = trim(p.substr(0, comma));
    int64_t n = -1;
    const auto [end, wrong] = std::from_chars(size.data(), size.data() + size.size(), n);
    if (size != "*" && (wrong != std::errc() || end != size.data() + size.size() || n < 0)) return false;
    more = comma != p.npos;
    p.remove_prefix(more ? comma + 1 : 0);
  }
  return true;
}
bool good_device(std::string_view p) {
  const size_t colon = std::min(p.find(':'), p.size());
  const std::string_view type = p.substr(0, colon), index = p.substr(std::min(colon + 1, p.size()));
  if (colon < p.size() && (index.empty() || index.find_first_not_of("0123456789*?") != index.npos)) return false;
  return std::any_of(std::begin(kDevices), std::end(kDevices), [&](std::string_view d) { return wire::glob_match(type, d); });
}
/// `torch.float16` and `f16` are float16; false: no dtype is so named.
bool read_dtype(std::string* p) {
  if (p->starts_with("torch.")) p->erase(0, 6);
  for (const std::string_view d : kDtypes) if (dtype_brief(d) == *p) *p = d;
  return std::any_of(std::begin(kDtypes), std::end(kDtypes), [&](std::string_view d) { return wire::glob_match(*p, d); });
}

/// The patterns of a term about arguments; `value` begins at `at` of the text. "" = good.
std::string read_argument_term(std::string_view name, std::string_view value, size_t at, BreakTerm* t) {
  const auto place = [](size_t i) { return " (at character " + std::to_string(i + 1) + ")"; };
  for (size_t from = 0; from <= value.size();) {
    size_t to = from;
    for (bool inside = false; to < value.size() && (inside || value[to] != ','); ++to) inside = value[to] == '[' || (inside && value[to] != ']');
    std::string p(value.substr(from, to - from));
    if (p.empty()) return "`" + std::string(name) + ":` needs something behind it" + place(at + from - 1);
    const std::string wrong = "`" + p + "` is no ";
    if (t->what == What::kDtype && !read_dtype(&p)) return wrong + "dtype" + place(at + from) + "; write dtype:float32, dtype:f32 or dtype:float*";
    if (t->what == What::kShape && !good_shape(p)) return wrong + "shape" + place(at + from) + "; write shape:[2,3], or shape:[*,3] where * is any size";
    if (t->what == What::kDevice && !good_device(p)) return wrong + "device" + place(at + from) + "; write device:cuda or device:cuda:0";
    if (t->what == What::kRequiresGrad && value != "on" && value != "off") return wrong + "state" + place(at + from) + "; write requires_grad:on or requires_grad:off";
    t->patterns.push_back(std::move(p));
    from = to + 1;
  }
  return "";
}

std::vector<int64_t> sizes_of(std::string_view shape) {
  std::vector<int64_t> sizes;
  for (const char *at = shape.data(), *end = at + shape.size(); at < end;) {
    int64_t n = 0;
    const auto [stop, wrong] = std::from_chars(at, end, n);
    if (wrong == std::errc()) sizes.push_back(n), at = stop;
    else ++at;
  }
  return sizes;
}

/// wire::HopView::any_argument for a recorded hop.
bool any_argument(const std::vector<Value>& values, const std::function<bool(const wire::TensorArgument&)>& holds) {
  return std::any_of(values.begin(), values.end(), [&](const Value& v) {
    if (v.dtype.empty() || v.flags.find("wrapped_number") != v.flags.npos) return false;
    const std::string_view device = v.device;
    const size_t colon = device.find(':');
    int index = -1;
    if (colon != device.npos) std::from_chars(device.data() + colon + 1, device.data() + device.size(), index);
    const std::vector<int64_t> sizes = sizes_of(v.shape);
    return holds({v.dtype, device.substr(0, colon), index, sizes, !v.shape.empty(), v.flags.find("requires_grad") != v.flags.npos});
  });
}

/// Of the words that the filter language lacks, but those about arguments: does the term hold for a recorded hop?
bool holds(const Session& s, const Event& e, const BreakTerm& t) {
  const auto any = [&](auto&& matches) { return t.patterns.empty() || std::any_of(t.patterns.begin(), t.patterns.end(), matches); };
  const auto on = [&](bool state) { return any([&](const std::string& p) { return p == (state ? "on" : "off"); }); };
  switch (t.what) {
    case What::kHas: {
      if (!e.keyset) return t.negated;
      const KeyMath math(s);
      const auto keys = math.keys(s.keyset(e.keyset).raw);
      return any([&](const std::string& p) { return std::any_of(keys.begin(), keys.end(), [&](KeyId k) { return s.key(k) && wire::glob_match(p, s.key(k)->name); }); }) != t.negated;
    }
    case What::kGrad: return on(s.tls(e.tls).grad_mode) != t.negated;
    case What::kInference: return on(s.tls(e.tls).inference_mode) != t.negated;
    case What::kWrite: return !s.writes_of(e.id).empty() != t.negated;
    case What::kDtype:
    case What::kShape:
    case What::kDevice:
    case What::kRequiresGrad: return true;
    default: return ((e.flags & kRaised) || e.kind == Kind::kMissingKernel) != t.negated;
  }
}

}  // namespace

Result<Breakpoint> Breakpoint::parse(std::string_view text, const Storage& storage) {
  Breakpoint out;
  const size_t begin = text.find_first_not_of(" \t"), end = text.find_last_not_of(" \t");
  if (begin == std::string_view::npos) return Error{"a breakpoint needs at least one term: op:addmm, key:AutogradCPU, line:train.py:14, error:, node:, write:"};
  out.text_ = std::string(text.substr(begin, end - begin + 1));
  std::string rest(text);  // what is left for the filter, at its places
  for (size_t at = 0; at < text.size();) {
    size_t to = at;
    const bool shape = text.substr(at + (text[at] == '-')).starts_with("shape:");
    for (bool quoted = false, inside = false; to < text.size() && (quoted || inside || (text[to] != ' ' && text[to] != '\t')); ++to) {
      quoted ^= text[to] == '"';
      inside = shape && (text[to] == '[' || (inside && text[to] != ']'));
    }
    std::string_view token = text.substr(at, to - at);
    const bool negated = token.starts_with('-');
    token.remove_prefix(negated ? 1 : 0);
    const size_t colon = token.find(':');
    const std::string_view name = token.substr(0, std::min(colon, token.size())), value = colon == std::string_view::npos ? "" : token.substr(colon + 1);
    const auto word = std::find_if(std::begin(kWords), std::end(kWords), [&](const Word& w) { return w.name == name; });
    const bool hit = name == "hit";
    if (colon != std::string_view::npos && (hit || word != std::end(kWords))) {
      rest.replace(at, to - at, to - at, ' ');
      if (hit) {
        const auto [stop, wrong] = std::from_chars(value.data(), value.data() + value.size(), out.first_hit_);
        if (negated || wrong != std::errc() || stop != value.data() + value.size() || out.first_hit_ == 0) return Error{"`" + std::string(token) + "`: hit:10 stops from the tenth hit on"};
      } else {
        const bool argument = wire::of_argument(word->what);
        BreakTerm t{word->what, negated, argument ? std::vector<std::string>() : split(value)};
        if (argument)
          if (const std::string sentence = read_argument_term(name, value, at + negated + colon + 1, &t); !sentence.empty()) return Error{sentence};
        if ((t.what == What::kGrad || t.what == What::kInference) && (t.patterns.size() != 1 || (value != "on" && value != "off")))
          return Error{"`" + std::string(token) + "`: write " + std::string(name) + ":on or " + std::string(name) + ":off"};
        if (t.what == What::kHas && value.empty()) return Error{"`has:` needs a dispatch key behind it: has:AutogradCPU"};
        if (t.what == What::kFinding && !value.empty()) return Error{"`finding:` stands alone"};
        if (t.what == What::kWrite)
          for (std::string& p : t.patterns) {
            const std::string address = storage ? storage(p) : "";
            if (address.empty())
              return Error{"`write:" + p + "`: " + (storage ? "the hop where the program stands has no tensor of that name" : "a tensor can be named only while the program stands at a hop that has it; write: alone means any")};
            p = address;
          }
        out.more_.push_back(std::move(t));
      }
    }
    at = text.find_first_not_of(" \t", to);
    if (at == std::string_view::npos) break;
  }
  Result<Filter> filter = Filter::parse(rest);
  if (!filter) {
    std::string sentence = filter.error();
    if (sentence.find("there is no term") != std::string::npos) sentence += ", and for breakpoints has, grad, inference, write, finding, dtype, shape, device, requires_grad and hit";
    return Error{sentence};
  }
  out.filter_ = std::move(*filter);
  if (out.filter_.empty() && out.more_.empty()) return Error{"`" + out.text_ + "` would stop at every hop: say at which ones"};
  std::vector<uint8_t> bytes;
  const wire::Break row = out.table_row(0, false);
  if (const std::string_view wrong = wire::write_breaks({&row, 1}, &bytes); !wrong.empty()) return Error{std::string(wrong)};
  return out;
}

wire::Break Breakpoint::table_row(uint8_t slot, bool once) const {
  wire::Break row{slot, static_cast<uint8_t>(once ? wire::kOnce : 0), first_hit_, {}};
  bool only_lines = more_.empty(), lines = false;
  for (const FilterTerm& t : filter_.terms()) {
    row.terms.push_back({of_filter(t.what), t.negated, t.patterns});
    lines |= t.what == FilterTerm::What::kLine && !t.negated;
    only_lines &= t.what == FilterTerm::What::kLine || t.what == FilterTerm::What::kFile || t.what == FilterTerm::What::kThread;
  }
  row.terms.insert(row.terms.end(), more_.begin(), more_.end());
  if (lines && only_lines) row.flags |= wire::kPerVisit;
  return row;
}

bool Breakpoint::needs_values() const {
  const auto terms = table_row(0, false).terms;
  return std::any_of(terms.begin(), terms.end(), [](const BreakTerm& t) { return t.what == What::kNode || t.what == What::kWrite; });
}

std::vector<EventId> Breakpoint::matches(const Session& s, EventId from, EventId to) const {
  std::vector<EventId> out = filter_.matches(s, from, to);
  if (!more_.empty()) std::erase_if(out, [&](EventId id) {
    const Event e = s.event(id);
    if (!std::all_of(more_.begin(), more_.end(), [&](const BreakTerm& t) { return holds(s, e, t); })) return true;
    if (std::none_of(more_.begin(), more_.end(), [](const BreakTerm& t) { return wire::of_argument(t.what); })) return false;
    const std::vector<Value> values = s.arguments(id);
    return !wire::arguments_hold(more_, [&](const auto& test) { return any_argument(values, test); });
  });
  return out;
}

}  // namespace peel
