#pragma once
// What painting keeps between frames. Private to the painter and to the widget that owns it.

#include <QHash>
#include <QImage>

#include "gui/models/worker.hpp"
#include "gui/timeline/timeline_view.hpp"

namespace stagecraft::gui {

/// What decides the pixels of the rows.
struct RowsKey {
  std::uint64_t version = 0;
  double begin_s = 0, end_s = 0, dpr = 1;
  int scroll_y = 0;
  bool dark = false;
  QSize size;  // device pixels
};

struct PaintCache {
  RowsKey key;
  QImage rows;                    // rows without labels, device pixels
  QHash<QString, QImage> labels;  // finished words by colour and text
  Worker worker;                  // paints beside the caller's thread
};

/// Brings cache.rows up to date: nothing where the key is the same, only what came into view after a scroll or a pan
/// by whole pixels, else everything.
void update_rows(const TimelineView& view, QSize logical, double dpr, PaintCache& cache);

}  // namespace stagecraft::gui
