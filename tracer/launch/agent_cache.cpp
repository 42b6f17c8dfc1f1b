#include "tracer/launch/agent_cache.h"

#include <sys/stat.h>

#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <sstream>

#include "tracer/launch/agent_sources.h"
#include "tracer/launch/posix.h"

namespace peel::launch {
namespace {

constexpr int kOldestMajor = 2, kOldestMinor = 11;

bool usable(const std::string& folder) { return make_folders(folder) && ::access(folder.c_str(), W_OK | X_OK) == 0; }

std::string safe(const std::string& text) {
  std::string out;
  for (const char c : text) out += std::isalnum(static_cast<unsigned char>(c)) || c == '.' || c == '+' || c == '_' ? c : '_';
  return out;
}

/// 3.11 of 3.11.7: releases of one minor version share their binary interface.
std::string minor_version(const std::string& version) {
  const size_t first = version.find('.');
  return version.substr(0, first == std::string::npos ? first : version.find('.', first + 1));
}

const std::string& sources_fingerprint() {
  static const std::string value = [] {
    Fingerprint f;
    for (const SourceFile& s : agent_sources()) f.add(s.name).add(s.text);
    return f.hex();
  }();
  return value;
}

}  // namespace

Result<std::string> cache_folder() {
  std::string base = environment("XDG_CACHE_HOME");
  if (base.empty() || base[0] != '/') {
    const std::string home = environment("HOME");
    base = home.empty() ? "" : home + "/.cache";
  }
  if (!base.empty() && usable(base + "/peel")) return base + "/peel";
  // A shared folder: take only one that is ours alone, as code is loaded from it.
  const std::string own = temporary_folder() + "/peel-cache-" + std::to_string(::geteuid());
  struct stat s;
  if (usable(own) && ::lstat(own.c_str(), &s) == 0 && S_ISDIR(s.st_mode) && s.st_uid == ::geteuid() && (s.st_mode & 022) == 0) return own;
  return Error{"no folder to keep the built agent in: neither " + (base.empty() ? "$HOME/.cache" : base) + " nor " + own +
               " can be written; set XDG_CACHE_HOME to one that can"};
}

Result<Compiler> find_compiler() {
  std::vector<std::string> candidates;
  const std::string wanted = environment("CXX");
  if (!wanted.empty()) candidates.push_back(wanted);
  else candidates = {"c++", "g++", "clang++"};
  for (const std::string& candidate : candidates) {
    Compiler c;
    std::istringstream words(candidate);
    for (std::string word; words >> word;) c.command.push_back(word);
    if (c.command.empty()) continue;
    c.command[0] = find_program(c.command[0]);
    if (c.command[0].empty()) continue;
    std::vector<std::string> ask = c.command;
    ask.push_back("--version");
    const Result<Captured> run = capture(ask);
    if (!run || run->status != 0) continue;
    c.version = run->out.substr(0, run->out.find('\n'));
    return c;
  }
  if (!wanted.empty()) return Error{"CXX is " + wanted + ", which does not run: set CXX to a C++ compiler or unset it"};
  return Error{"no C++ compiler found, and the agent for this PyTorch has to be built once: install one (Debian, Ubuntu: apt-get install g++) or set CXX"};
}

std::string entry_prefix(const Python& p) {
  Fingerprint f;
  f.add(p.torch_version).add(p.torch_build).add(p.torch_path).add(p.version).add(sources_fingerprint());
  return safe(p.torch_version) + "-py" + minor_version(p.version) + "-" + f.hex().substr(0, 12);
}

std::string entry_name(const Python& p, const Compiler& c) {
  Fingerprint f;
  f.add(c.version);
  for (const std::string& word : c.command) f.add(word);
  return entry_prefix(p) + "-" + f.hex().substr(0, 6);
}

std::string unsupported(const Python& p) {
  if (p.torch_version.empty())
    return p.path + " (Python " + p.version + ") cannot import torch: activate the environment that has PyTorch, or give its Python by --python PATH";
  int major = 0, minor = 0;
  if (std::sscanf(p.torch_version.c_str(), "%d.%d", &major, &minor) != 2)
    return "the PyTorch of " + p.path + " has the version \"" + p.torch_version + "\", which cannot be read: 2.11 or later is needed";
  if (major < kOldestMajor || (major == kOldestMajor && minor < kOldestMinor))
    return "PyTorch " + p.torch_version + " (of " + p.path + ") is too old: 2.11 or later is needed";
  return "";
}

std::string cached_agent(const Python& p) {
  const Result<std::string> cache = cache_folder();
  if (!cache || !unsupported(p).empty()) return "";
  const std::string folder = *cache + "/agent/";
  if (const Result<Compiler> c = find_compiler()) {
    const std::string library = folder + entry_name(p, *c) + "/" + kLibraryName;
    return is_file(library) ? library : "";
  }
  // No compiler (any more): what an earlier one made is as good.
  std::error_code error;
  for (const auto& e : std::filesystem::directory_iterator(folder, error)) {
    const std::string library = e.path().string() + "/" + kLibraryName;
    if (e.path().filename().string().starts_with(entry_prefix(p)) && is_file(library)) return library;
  }
  return "";
}

}  // namespace peel::launch
