// How words match hops, the same for filters over recordings and for breakpoints in a running program.
#pragma once
#include <charconv>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

namespace peel::wire {

/// Shell patterns: `*` any run, `?` any one character; case matters not in ASCII.
inline bool glob_match(std::string_view pattern, std::string_view text) {
  const auto lower = [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c; };
  size_t p = 0, t = 0, star = std::string_view::npos, mark = 0;
  while (t < text.size()) {
    if (p < pattern.size() && pattern[p] == '*') {
      star = p++;
      mark = t;
    } else if (p < pattern.size() && (pattern[p] == '?' || lower(pattern[p]) == lower(text[t]))) {
      ++p;
      ++t;
    } else if (star != std::string_view::npos) {
      p = star + 1;
      t = ++mark;
    } else {
      return false;
    }
  }
  while (p < pattern.size() && pattern[p] == '*') ++p;
  return p == pattern.size();
}

/// `aten::add.Tensor` under `aten::add.Tensor`, `add.Tensor`, `aten::add`, `add`: does any match the glob?
inline bool operator_matches(std::string_view pattern, std::string_view full) {
  const size_t colons = full.find("::");
  const std::string_view bare = colons == std::string_view::npos ? full : full.substr(colons + 2);
  return glob_match(pattern, full) || glob_match(pattern, bare) || glob_match(pattern, bare.substr(0, bare.find('.'))) ||
         glob_match(pattern, full.substr(0, full.find('.')));
}

/// `call` finds call and call_boxed, `boxed` both boxed kinds, `missing` missing_kernel.
inline bool kind_matches(std::string_view pattern, std::string_view name) {
  if (glob_match(pattern, name)) return true;
  const size_t cut = name.find('_');
  return cut != std::string_view::npos && (glob_match(pattern, name.substr(0, cut)) || glob_match(pattern, name.substr(cut + 1)));
}

/// The file's whole path or its name.
inline bool file_matches(std::string_view pattern, std::string_view path) {
  const size_t slash = path.rfind('/');
  return glob_match(pattern, slash == std::string_view::npos ? path : path.substr(slash + 1)) || glob_match(pattern, path);
}

/// `17`, `10-20`, `train.py:17`.
inline bool line_matches(std::string_view pattern, std::string_view file, int line) {
  const auto number = [](std::string_view s) {
    int n = 0;
    std::from_chars(s.data(), s.data() + s.size(), n);
    return n;
  };
  if (const size_t colon = pattern.rfind(':'); colon != std::string_view::npos) {
    if (!file_matches(pattern.substr(0, colon), file)) return false;
    pattern.remove_prefix(colon + 1);
  }
  const size_t dash = pattern.find('-');
  const int first = number(pattern), last = dash == std::string_view::npos ? first : number(pattern.substr(dash + 1));
  return line >= 0 && line >= first && line <= last;
}

inline bool error_matches(std::string_view pattern, std::string_view type, std::string_view message) {
  return glob_match(pattern, type) || glob_match("*" + std::string(pattern) + "*", message);
}

/// `[2,3]`, `[*,3]` (any size there), `[]`; blanks don't count.
inline bool shape_matches(std::string_view pattern, std::span<const int64_t> sizes) {
  size_t i = 0, at = 0;
  while (at < pattern.size()) {
    const char c = pattern[at];
    if (c == '*' || (c >= '0' && c <= '9')) {
      int64_t wanted = -1;
      const char* end = c == '*' ? pattern.data() + at + 1 : std::from_chars(pattern.data() + at, pattern.data() + pattern.size(), wanted).ptr;
      if (i >= sizes.size() || (c != '*' && sizes[i] != wanted)) return false;
      ++i;
      at = static_cast<size_t>(end - pattern.data());
    } else {
      ++at;
    }
  }
  return i == sizes.size();
}

/// `cuda` finds cuda:0 and cuda:1, `cuda:1` one of them.
inline bool device_matches(std::string_view pattern, std::string_view type, int index) {
  return glob_match(pattern, type) || (index >= 0 && pattern.find(':') != pattern.npos && glob_match(pattern, std::string(type) + ":" + std::to_string(index)));
}

/// True for files that are nobody's program: site-packages, torch, the standard library, `<frozen ...>`.
inline bool is_library_file(std::string_view path) {
  const auto has = [path](std::string_view part) { return path.find(part) != std::string_view::npos; };
  if (path.starts_with("<")) return !path.starts_with("<ipython") && !path.starts_with("<stdin");
  // The standard library: .../lib/python3.11/contextlib.py, lib64, python3.11.zip/. A source build of PyTorch lies outside of
  // site-packages: parts that only its package has.
  for (const std::string_view part :
       {"/site-packages/", "/dist-packages/", "/lib/python3", "/lib64/python3", "/lib/python2", "/peel/agent/", "/torch/nn/", "/torch/_", "/torch/utils/",
        "/torch/optim/", "/torch/autograd/", "/torch/amp/", "/torch/functional.py", "/torch/func/", "/torch/fx/", "/torch/library.py",
        "/torch/overrides.py", "/torch/jit/", "/torch/distributed/", "/torch/cuda/"}) {
    if (has(part)) return true;
  }
  return false;
}

}  // namespace peel::wire
