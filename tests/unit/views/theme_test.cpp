// Colours: readable on every surface, and the families told apart by colour-blind readers too.
#include "views/theme.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <string>

#include "tests/catch.h"

namespace {

using namespace peel::views::theme;
using Rgb = std::array<double, 3>;

Rgb linear(unsigned rgb) {
  Rgb out;
  for (size_t i = 0; i < 3; i++) {
    const double c = double(rgb >> (16 - 8 * i) & 255) / 255;
    out[i] = c <= .04045 ? c / 12.92 : std::pow((c + .055) / 1.055, 2.4);
  }
  return out;
}
double luminance(unsigned rgb) {
  const Rgb c = linear(rgb);
  return .2126 * c[0] + .7152 * c[1] + .0722 * c[2];
}
double contrast(unsigned a, unsigned b) {
  const double x = luminance(a), y = luminance(b);
  return (std::max(x, y) + .05) / (std::min(x, y) + .05);
}
unsigned blend(unsigned over, unsigned under, double alpha) {
  unsigned out = 0;
  for (int shift : {16, 8, 0}) out |= unsigned(std::lround((over >> shift & 255) * alpha + (under >> shift & 255) * (1 - alpha))) << shift;
  return out;
}

// Machado, Oliveira, Fernandes 2009, severity 1, on linear RGB.
constexpr double kSight[4][9] = {{1, 0, 0, 0, 1, 0, 0, 0, 1},
                                 {.152286, 1.052583, -.204868, .114503, .786281, .099216, -.003882, -.048116, 1.051998},
                                 {.367322, .860646, -.227968, .280085, .672501, .047413, -.011820, .042940, .968881},
                                 {1.255528, -.076749, -.178779, -.078411, .930809, .147602, .004733, .691367, .303900}};
Rgb oklab(Rgb c) {
  const double l = std::cbrt(.4122214708 * c[0] + .5363325363 * c[1] + .0514459929 * c[2]);
  const double m = std::cbrt(.2119034982 * c[0] + .6806995451 * c[1] + .1073969566 * c[2]);
  const double s = std::cbrt(.0883024619 * c[0] + .2817188376 * c[1] + .6299787005 * c[2]);
  return {.2104542553 * l + .7936177850 * m - .0040720468 * s, 1.9779984951 * l - 2.4285922050 * m + .4505937099 * s,
          .0259040371 * l + .7827717662 * m - .8086757660 * s};
}
double distance(unsigned a, unsigned b, const double* sight) {
  auto seen = [&](unsigned rgb) {
    const Rgb c = linear(rgb);
    Rgb out;
    for (size_t i = 0; i < 3; i++) out[i] = std::clamp(sight[3 * i] * c[0] + sight[3 * i + 1] * c[1] + sight[3 * i + 2] * c[2], 0., 1.);
    return oklab(out);
  };
  const Rgb x = seen(a), y = seen(b);
  return std::sqrt((x[0] - y[0]) * (x[0] - y[0]) + (x[1] - y[1]) * (x[1] - y[1]) + (x[2] - y[2]) * (x[2] - y[2]));
}

}  // namespace

TEST_CASE("text is readable on every surface", "[theme]") {
  for (bool dark_one : {true, false}) {
    const Palette& p = palette(dark_one);
    for (unsigned ink : {p.text, p.dim, p.faint})
      for (unsigned surface : {p.panel, p.sunken, p.raised, p.window, p.select, p.hover}) {
        INFO(std::hex << (dark_one ? "dark " : "light ") << ink << " on " << surface);
        CHECK(contrast(ink, surface) >= 4.5);
      }
  }
}

TEST_CASE("hues are readable as text, under letters and on their own tint", "[theme]") {
  for (bool dark_one : {true, false}) {
    const Palette& p = palette(dark_one);
    for (int f = 0; f < kFamilies; f++) {
      const unsigned h = dark_one ? family(Family(f)).dark : family(Family(f)).light;
      INFO((dark_one ? "dark " : "light ") << family(Family(f)).name);
      CHECK(contrast(h, p.panel) >= 4.5);
      CHECK(contrast(h, p.select) >= 4.5);
      CHECK(contrast(p.on_family, h) >= 4.5);
      CHECK(contrast(h, blend(h, p.panel, .16)) >= 4.5);
    }
  }
}

TEST_CASE("families differ for every kind of sight", "[theme]") {
  for (bool dark_one : {true, false})
    for (int s = 0; s < 4; s++)
      for (int a = 0; a < kFamilies; a++)
        for (int b = a + 1; b < kFamilies; b++) {
          auto hue = [&](int f) { return dark_one ? family(Family(f)).dark : family(Family(f)).light; };
          INFO((dark_one ? "dark, sight " : "light, sight ") << s << ": " << family(Family(a)).name << " and " << family(Family(b)).name);
          CHECK(distance(hue(a), hue(b), kSight[s]) >= .08);
        }
}

TEST_CASE("keys find their family", "[theme]") {
  CHECK(std::string(key_style("AutogradCPU").tag) == "AG");
  CHECK(key_style("AutocastCUDA").family == kAutocast);
  CHECK(key_style("PythonTLSSnapshot").family == kPython);
  CHECK(std::string(key_style("PythonTLSSnapshot").tag) == "PS");
  CHECK(key_style("FuncTorchBatchedDecomposition").family == kFunctorch);
  CHECK(std::string(key_style("CPU").tag) == "CPU");
  CHECK(std::string(key_style("VE").tag) == "BE");  // a backend without a row of its own
  CHECK(std::string(key_style("SparseCsrCPU").tag) == "SP");
}
