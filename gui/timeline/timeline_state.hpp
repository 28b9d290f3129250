#pragma once
// What a timeline widget remembers beyond its view. Private to the widget's files.

#include <QElapsedTimer>

#include "gui/timeline/timeline_widget.hpp"

namespace stagecraft::gui {

enum class Drag : std::uint8_t { none, pan, area, zoom };

struct TimelineWidget::State {
  RowOptions options;
  ZoomStack places;
  QElapsedTimer last_move;  // moves in quick succession are one place
  Drag drag = Drag::none;
  QPointF pressed, panned_to;  // in the rows
  bool moved = false;          // far enough for a drag
  bool on_ruler = false;
  QPointF mouse;
  bool mouse_inside = false;
  QList<QAction*> commands;
  std::uint64_t versions = 0;
  bool setting_bars = false;
};

}  // namespace stagecraft::gui
