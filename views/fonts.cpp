// Fonts of the system: Inter and JetBrains Mono when there, else what fontconfig or the known folders offer,
// then a fallback chain for Hangul, Han and Kana.
#include <array>
#include <cstdio>
#include <filesystem>

#include "imgui_freetype.h"
#include "views/theme.h"

namespace peel::views::theme {
namespace {

struct TypeStyle { int face; float size; };
enum { kUiFace, kSemiFace, kMonoFace, kBoldFace, kFaces };
constexpr TypeStyle kTypes[] = {{kUiFace, 16},   {kUiFace, 15},   {kUiFace, 14},   {kUiFace, 18},
                                {kSemiFace, 15}, {kSemiFace, 14}, {kSemiFace, 18}, {kMonoFace, 15},
                                {kMonoFace, 13}, {kBoldFace, 15}, {kBoldFace, 13}, {kBoldFace, 16}};
static_assert(std::size(kTypes) == size_t(Type::kTitle) + 1);

std::array<ImFont*, kFaces> faces{};
std::string found;

struct File { std::string path; int index = 0; };

// What fontconfig has for a family, "" when it answers with another family.
File match(const std::string& family, const std::string& style) {
  std::string command = "fc-match -f '%{file}\n%{index}\n%{family}' '" + family + ":style=" + style + "' 2>/dev/null";
  FILE* pipe = popen(command.c_str(), "r");
  if (!pipe) return {};
  std::string out;
  char b[1024];
  while (size_t n = fread(b, 1, sizeof b, pipe)) out.append(b, n);
  pclose(pipe);
  size_t one = out.find('\n'), two = out.find('\n', one + 1);
  if (one == std::string::npos || two == std::string::npos) return {};
  if (out.find(family, two) == std::string::npos) return {};
  File f{out.substr(0, one), atoi(out.c_str() + one + 1)};
  std::error_code ignored;
  // Only outlines of a plain file: a variable font's instance number (high bits) would need more than FreeType's face index.
  if (!std::filesystem::is_regular_file(f.path, ignored)) return {};
  return f;
}

struct Wish { const char *family, *style; std::initializer_list<const char*> files; };
constexpr const char* kFolders[] = {"/usr/share/fonts", "/usr/local/share/fonts", "/Library/Fonts"};

File look_up(const Wish& w) {
  std::error_code ignored;
  for (const char* file : w.files)
    for (const char* folder : kFolders) {
      std::string p = std::string(folder) + "/" + file;
      if (std::filesystem::is_regular_file(p, ignored)) return {p, 0};
    }
  return match(w.family, w.style);
}

const Wish kUiWishes[] = {{"Inter", "Regular", {"opentype/inter/Inter-Regular.otf", "truetype/inter/Inter-Regular.ttf"}},
                          {"Noto Sans", "Regular", {"truetype/noto/NotoSans-Regular.ttf"}},
                          {"Ubuntu", "Regular", {"truetype/ubuntu/Ubuntu-R.ttf"}},
                          {"Cantarell", "Regular", {}},
                          {"DejaVu Sans", "Book", {"truetype/dejavu/DejaVuSans.ttf"}},
                          {"Liberation Sans", "Regular", {"truetype/liberation2/LiberationSans-Regular.ttf"}}};
const Wish kSemiWishes[] = {{"Inter", "Semi Bold", {"opentype/inter/Inter-SemiBold.otf", "truetype/inter/Inter-SemiBold.ttf"}},
                            {"Noto Sans", "SemiBold", {"truetype/noto/NotoSans-SemiBold.ttf", "truetype/noto/NotoSans-Bold.ttf"}},
                            {"Ubuntu", "Medium", {"truetype/ubuntu/Ubuntu-M.ttf"}},
                            {"Cantarell", "Bold", {}},
                            {"DejaVu Sans", "Bold", {"truetype/dejavu/DejaVuSans-Bold.ttf"}},
                            {"Liberation Sans", "Bold", {"truetype/liberation2/LiberationSans-Bold.ttf"}}};
const Wish kMonoWishes[] = {{"JetBrains Mono", "Regular", {"truetype/jetbrains-mono/JetBrainsMono-Regular.ttf"}},
                            {"DejaVu Sans Mono", "Book", {"truetype/dejavu/DejaVuSansMono.ttf"}},
                            {"Noto Sans Mono", "Regular", {"truetype/noto/NotoSansMono-Regular.ttf"}},
                            {"Ubuntu Mono", "Regular", {"truetype/ubuntu/UbuntuMono-R.ttf"}},
                            {"Liberation Mono", "Regular", {"truetype/liberation2/LiberationMono-Regular.ttf"}}};
const Wish kBoldWishes[] = {{"JetBrains Mono", "SemiBold", {"truetype/jetbrains-mono/JetBrainsMono-SemiBold.ttf", "truetype/jetbrains-mono/JetBrainsMono-Bold.ttf"}},
                            {"DejaVu Sans Mono", "Bold", {"truetype/dejavu/DejaVuSansMono-Bold.ttf"}},
                            {"Noto Sans Mono", "Bold", {"truetype/noto/NotoSansMono-Bold.ttf"}},
                            {"Ubuntu Mono", "Bold", {"truetype/ubuntu/UbuntuMono-B.ttf"}},
                            {"Liberation Mono", "Bold", {"truetype/liberation2/LiberationMono-Bold.ttf"}}};
const Wish kCjkWishes[] = {{"Noto Sans CJK KR", "Regular", {"opentype/noto/NotoSansCJK-Regular.ttc"}},
                           {"Noto Sans CJK JP", "Regular", {}},
                           {"Source Han Sans", "Regular", {}},
                           {"NanumGothic", "Regular", {"truetype/nanum/NanumGothic.ttf"}},
                           {"WenQuanYi Zen Hei", "Regular", {"truetype/wqy/wqy-zenhei.ttc"}},
                           {"Droid Sans Fallback", "Regular", {"truetype/droid/DroidSansFallbackFull.ttf"}}};
// Symbols that Inter or JetBrains Mono may miss: arrows, set signs, diamonds.
const Wish kSymbolWishes[] = {{"DejaVu Sans", "Book", {"truetype/dejavu/DejaVuSans.ttf"}}};

template <size_t n>
File first_of(const Wish (&wishes)[n]) {
  for (const Wish& w : wishes)
    if (File f = look_up(w); !f.path.empty()) return f;
  return {};
}

}  // namespace

ImFont* font(Type t) { return faces[kTypes[size_t(t)].face]; }
float font_size(Type t) { return std::round(kTypes[size_t(t)].size * scale()); }

void load_fonts() {
  ImFontAtlas& atlas = *ImGui::GetIO().Fonts;
  ImFontConfig config, merged;
  config.FontLoaderFlags = merged.FontLoaderFlags = ImGuiFreeTypeLoaderFlags_LightHinting;
  merged.MergeMode = true;
  // Every fallback that there is: the first that has a character draws it. Han of Noto is drawn larger, as its
  // em is a smaller part of its height.
  std::vector<File> fallback;
  for (const Wish& w : kCjkWishes)
    if (File f = look_up(w); !f.path.empty()) {
      fallback.push_back(f);
      if (fallback.size() == 1 && f.path.find("CJK") != std::string::npos) break;  // has all three scripts
    }
  File symbols = first_of(kSymbolWishes);
  found.clear();
  auto load = [&](const char* what, const File& f) {
    ImFont* made = f.path.empty() ? nullptr : [&] {
      config.FontNo = unsigned(f.index & 0xffff);
      return atlas.AddFontFromFileTTF(f.path.c_str(), 16, &config);
    }();
    found += std::string(what) + ": " + (made ? f.path : "built-in face, as no system font was found") + "\n";
    if (!made) {
      ImFontConfig plain;
      plain.SizePixels = 13;
      made = atlas.AddFontDefault(&plain);
    }
    for (const File& c : fallback) {
      merged.FontNo = unsigned(c.index & 0xffff);
      atlas.AddFontFromFileTTF(c.path.c_str(), c.path.find("CJK") != std::string::npos ? 18.4f : 16.f, &merged);
    }
    merged.FontNo = 0;
    if (!symbols.path.empty() && symbols.path != f.path) atlas.AddFontFromFileTTF(symbols.path.c_str(), 16, &merged);
    return made;
  };
  faces[kUiFace] = load("text", first_of(kUiWishes));
  faces[kSemiFace] = load("text, strong", first_of(kSemiWishes));
  faces[kMonoFace] = load("code", first_of(kMonoWishes));
  faces[kBoldFace] = load("code, strong", first_of(kBoldWishes));
  for (const File& c : fallback) found += "Hangul, Han, Kana: " + c.path + "\n";
  if (fallback.empty()) found += "Hangul, Han, Kana: none found; install fonts-noto-cjk\n";
  ImGui::GetIO().FontDefault = faces[kUiFace];
}

std::string fonts_found() { return found; }

}  // namespace peel::views::theme
