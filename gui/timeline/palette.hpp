#pragma once
// Colours of the timeline in light and dark. F blue, I teal, W green, B orange as in PyTorch's schedule visualizer;
// told apart by lightness too, so that they survive colour blindness and grey printing; idle time is hatched.

#include <QColor>
#include <array>

#include "trace/level_of_detail.hpp"

namespace stagecraft::gui {

struct Palette {
  bool dark = false;
  std::array<QRgb, slice_class_count> fill{};
  std::array<QRgb, slice_class_count> hatch{};  // second colour of idle classes; equal to fill where there is none
  std::array<QRgb, slice_class_count> text{};   // of labels on the fill
  QRgb background = 0, row = 0, row_alternate = 0, header = 0, grid = 0, ink = 0, faint_ink = 0;
  QRgb accent = 0;               // selection, cursor
  QRgb critical = 0;             // critical path
  QRgb limit = 0;                // GPU limit, peak
  std::array<QRgb, 8> memory{};  // stacked classes of memory, bottom up
};
Palette make_palette(bool dark);

}  // namespace stagecraft::gui
