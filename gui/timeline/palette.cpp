#include "gui/timeline/palette.hpp"

#include <cmath>

namespace stagecraft::gui {
namespace {

struct Paints {
  QRgb fill, hatch;
};

// In the order of SliceClass. F, I, W and B differ in lightness as well as in hue: about 50, 74, 42 and 70 of 100.
constexpr std::array<Paints, slice_class_count> light = {{
    {0xff4179c4, 0xff4179c4},                                                      // forward
    {0xfff0953f, 0xfff0953f},                                                      // backward
    {0xff62c7bd, 0xff62c7bd},                                                      // input gradient
    {0xff3d8547, 0xff3d8547},                                                      // weight gradient
    {0xffaac8ee, 0xffaac8ee},                                                      // recompute
    {0xff8b70b8, 0xff8b70b8},                                                      // optimizer
    {0xffbf4b45, 0xffbf4b45},                                                      // tensor
    {0xffd9776f, 0xffd9776f},                                                      // context
    {0xff8f2f2b, 0xff8f2f2b},                                                      // expert
    {0xffdb86b4, 0xffdb86b4},                                                      // pipeline
    {0xff9b4a78, 0xff9b4a78},                                                      // data
    {0xff7a7044, 0xff7a7044},                                                      // copies
    {0xfffaeff5, 0xffe0a5c6},                                                      // waits for a message
    {0xfff5e9f0, 0xffb47b9b},                                                      // waits for a collective
    {0xfff3f1e6, 0xffa89f74},                                                      // waits for a copy
    {0xfff1f2f4, 0xffc6c9cf},                                                      // bubbles
    {0xfff1f2f4, 0xffc6c9cf}, {0xfff1f2f4, 0xffc6c9cf}, {0xffeceded, 0xffdcdddf},  // other
}};
constexpr std::array<Paints, slice_class_count> dark = {{
    {0xff5b92dc, 0xff5b92dc}, {0xffe8954a, 0xffe8954a}, {0xff74d3c9, 0xff74d3c9}, {0xff4a9455, 0xff4a9455},
    {0xffa9c4e6, 0xffa9c4e6}, {0xff9d85c9, 0xff9d85c9}, {0xffd46a63, 0xffd46a63}, {0xffe59a93, 0xffe59a93},
    {0xffb04b46, 0xffb04b46}, {0xffdd92bc, 0xffdd92bc}, {0xffb0658f, 0xffb0658f}, {0xffa0965f, 0xffa0965f},
    {0xff35292f, 0xff7d5469}, {0xff33272d, 0xff8a5a74}, {0xff302e24, 0xff7b7450}, {0xff2a2d33, 0xff474c55},
    {0xff2a2d33, 0xff474c55}, {0xff2a2d33, 0xff474c55}, {0xff2a2c30, 0xff35383d},
}};

/// Black or white, whichever contrasts more: relative luminance as in WCAG 2, with 0.18 between the two.
QRgb ink_on(QRgb fill) {
  const QColor color(fill);
  const auto linear = [](float c) { return c <= 0.04045F ? c / 12.92F : std::pow((c + 0.055F) / 1.055F, 2.4F); };
  const float luminance = 0.2126F * linear(static_cast<float>(color.redF())) +
                          0.7152F * linear(static_cast<float>(color.greenF())) +
                          0.0722F * linear(static_cast<float>(color.blueF()));
  return luminance > 0.2F ? 0xff16181c : 0xffffffff;
}

}  // namespace

Palette make_palette(bool is_dark) {
  Palette palette;
  palette.dark = is_dark;
  for (std::size_t i = 0; i < slice_class_count; ++i) {
    palette.fill[i] = is_dark ? dark[i].fill : light[i].fill;
    palette.hatch[i] = is_dark ? dark[i].hatch : light[i].hatch;
    palette.text[i] = ink_on(palette.fill[i]);
  }
  palette.background = is_dark ? 0xff1b1d21 : 0xffffffff;
  palette.row = is_dark ? 0xff202328 : 0xfffafbfc;
  palette.row_alternate = is_dark ? 0xff25282e : 0xfff5f6f8;
  palette.header = is_dark ? 0xff24272c : 0xfff3f4f6;
  palette.grid = is_dark ? 0xff3a3e45 : 0xffe1e3e7;
  palette.ink = is_dark ? 0xffe6e8eb : 0xff22262c;
  palette.faint_ink = is_dark ? 0xff9aa0a8 : 0xff6b727c;
  palette.accent = is_dark ? 0xffffd166 : 0xff1f5fbf;
  palette.critical = is_dark ? 0xffff7a70 : 0xffc81e1e;
  palette.limit = is_dark ? 0xffff8a80 : 0xffb3261e;
  // parameters, gradients, optimizer states, activations, logits, communication, overhead, unknown
  palette.memory = is_dark ? std::array<QRgb, 8>{0xff5b7fb0, 0xff4a9455, 0xff8d7ab8, 0xffd99a55,
                                                 0xffe3c26b, 0xffc77fa5, 0xff70767f, 0xff565b63}
                           : std::array<QRgb, 8>{0xff6f93c6, 0xff74ad7c, 0xffa493cc, 0xfff2b26f,
                                                 0xfff3d581, 0xffdf9fc2, 0xffb4b9c1, 0xffd3d6db};
  return palette;
}

}  // namespace stagecraft::gui
