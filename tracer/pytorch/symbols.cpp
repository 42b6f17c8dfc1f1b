// Where at::_ops::<op>::call and ::redispatch lie: a hop whose return address is in one of them was entered
// by it. Read once from the dynamic symbol table of libtorch_cpu (74,000 symbols, some 10 ms).
#include <elf.h>
#include <link.h>

#include <cstring>
#include <unordered_map>

#include "tracer/pytorch/agent.h"

namespace peel::agent {
namespace {

struct Sites { Range call{}, redispatch{}; };
std::unordered_map<std::string_view, Sites>& sites() {
  static auto* m = new std::unordered_map<std::string_view, Sites>();
  return *m;
}

size_t symbol_count(const uint32_t* hash) {  // of a DT_GNU_HASH table
  const uint32_t buckets = hash[0], first = hash[1], bloom = hash[2];
  const uint32_t* bucket = reinterpret_cast<const uint32_t*>(reinterpret_cast<const uint64_t*>(hash + 4) + bloom);
  const uint32_t* chain = bucket + buckets;
  uint32_t last = 0;
  for (uint32_t i = 0; i < buckets; i++) last = std::max(last, bucket[i]);
  if (last < first) return first;
  while (!(chain[last - first] & 1)) ++last;
  return last + 1;
}

int visit(dl_phdr_info* info, size_t, void*) {
  if (!info->dlpi_name || !strstr(info->dlpi_name, "libtorch_cpu")) return 0;
  const ElfW(Sym)* symbols = nullptr;
  const char* strings = nullptr;
  const uint32_t* gnu = nullptr;
  for (int i = 0; i < info->dlpi_phnum; i++) {
    if (info->dlpi_phdr[i].p_type != PT_DYNAMIC) continue;
    for (auto* d = reinterpret_cast<const ElfW(Dyn)*>(info->dlpi_addr + info->dlpi_phdr[i].p_vaddr); d->d_tag != DT_NULL; d++) {
      if (d->d_tag == DT_SYMTAB) symbols = reinterpret_cast<const ElfW(Sym)*>(d->d_un.d_ptr);
      if (d->d_tag == DT_STRTAB) strings = reinterpret_cast<const char*>(d->d_un.d_ptr);
      if (d->d_tag == DT_GNU_HASH) gnu = reinterpret_cast<const uint32_t*>(d->d_un.d_ptr);
    }
  }
  if (!symbols || !strings || !gnu) return 1;
  constexpr std::string_view kPrefix = "_ZN2at4_ops", kCall = "4callE", kRedispatch = "10redispatchE";
  for (size_t i = 0, n = symbol_count(gnu); i < n; i++) {
    const ElfW(Sym)& s = symbols[i];
    const char* name = strings + s.st_name;
    if (s.st_shndx == SHN_UNDEF || strncmp(name, kPrefix.data(), kPrefix.size()) != 0) continue;
    char* rest = nullptr;
    const unsigned long length = strtoul(name + kPrefix.size(), &rest, 10);
    if (length == 0 || strlen(rest) <= length) continue;
    const std::string_view tail(rest + length);
    Sites& at = sites()[std::string_view(rest, length)];
    const Range range{info->dlpi_addr + s.st_value, static_cast<uint32_t>(s.st_size)};
    if (tail.substr(0, kCall.size()) == kCall) at.call = range;
    else if (tail.substr(0, kRedispatch.size()) == kRedispatch) at.redispatch = range;
  }
  return 1;
}

}  // namespace

void find_call_sites() {
  if (sites().empty()) dl_iterate_phdr(&visit, nullptr);
}

bool is_mapped(uintptr_t address) {
  struct Search { uintptr_t address; bool found; } search{address, false};
  dl_iterate_phdr([](dl_phdr_info* info, size_t, void* p) {
    auto* s = static_cast<Search*>(p);
    for (int i = 0; i < info->dlpi_phnum; i++) {
      const auto& h = info->dlpi_phdr[i];
      const uintptr_t begin = info->dlpi_addr + h.p_vaddr;
      if (h.p_type == PT_LOAD && s->address >= begin && s->address + 16 <= begin + h.p_memsz) s->found = true;
    }
    return s->found ? 1 : 0;
  }, &search);
  return search.found;
}

Range call_site(std::string_view structure, bool redispatch) {
  auto it = sites().find(structure);
  if (it == sites().end()) return {};
  return redispatch ? it->second.redispatch : it->second.call;
}

}  // namespace peel::agent
