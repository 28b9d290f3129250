// Words over memory curves, and hatches: within their rows at any size.
#include <QBuffer>
#include <QRegularExpression>
#include <QSvgGenerator>
#include <catch2/catch.hpp>

#include "gui/timeline/legend.hpp"
#include "gui/timeline/memory_notes.hpp"
#include "gui/timeline/paint_timeline.hpp"
#include "gui_traces.hpp"

using namespace stagecraft;
using namespace stagecraft::gui;

TEST_CASE(
    "notes of a memory curve stay in their row, say so where they are cut, and do not overlap, however little or much "
    "memory there is") {
  const double share = GENERATE(1e-6, 0.01, 0.3, 0.8, 0.97, 1.0, 1.5, 40.0);  // of the limit
  const double peak_at = GENERATE(0.0, 0.5, 0.999);                           // of the step
  Trace trace = pipeline(2, 4);
  std::erase_if(trace.counters, [](const CounterSeries& series) { return series.name.starts_with("memory/"); });
  constexpr double limit = 80e9;
  const double end = trace.end_s;
  trace.counters.push_back({"memory/activations", "B", 0, {0, peak_at * end, end}, {0, share * limit, 0}});
  trace.counters.push_back({"memory/activations", "B", 1, {0, peak_at * end, end}, {0, share * limit, 0}});
  const auto loaded = make_loaded_trace(std::move(trace), "notes", limit);
  for (const int width : {200, 400, 1600}) {
    TimelineView view = whole_view({{loaded.get(), 0}}, QSize(width, 500), false, test_font());
    const Layout layout = layout_of(view, QSize(width, 500));
    for (Row& row : view.rows) {
      if (row.kind != RowKind::memory) continue;
      for (const int height : {3, 12, 17, 24, 40, 64}) {
        row.height = height;
        const QRectF room(layout.rows.left(), layout.rows.top() + row.y, layout.rows.width(), height);
        const std::vector<MemoryNote> notes = memory_notes(view, layout, row);
        CAPTURE(share, peak_at, width, height, row.label);
        for (const MemoryNote& note : notes) {
          CHECK(note.box.top() >= room.top() - 1e-9);
          CHECK(note.box.bottom() <= room.bottom() + 1e-9);
          CHECK(note.box.left() >= room.left());
          CHECK(note.box.right() <= room.right());
        }
        if (notes.size() == 2) CHECK_FALSE(notes[0].box.intersects(notes[1].box));
        if (height == 64 && width == 1600) REQUIRE(notes.size() == 2);
        if (height == 64 && width == 1600) CHECK_FALSE(notes[1].text.contains(QChar(0x2026)));
        if (height == 64 && width == 200 && notes.size() == 2) CHECK(notes[1].text.endsWith(QChar(0x2026)));
      }
    }
  }
}

TEST_CASE("the lines of a hatch lie within it without a clip, which SVG files do not have") {
  for (const QRectF rect :
       {QRectF(10, 10, 11, 11), QRectF(3.5, 7.25, 400, 20), QRectF(50, 2, 2, 64), QRectF(9, 9, 0, 5)}) {
    QBuffer bytes;
    bytes.open(QIODevice::WriteOnly);
    QSvgGenerator svg;
    svg.setOutputDevice(&bytes);
    svg.setSize(QSize(500, 100));
    svg.setViewBox(QRect(0, 0, 500, 100));
    QPainter painter(&svg);
    fill_hatched(painter, rect, 0xffffffff, 0xff000000);
    painter.end();
    int lines = 0;
    QRegularExpressionMatchIterator all =
        QRegularExpression("points=\"([-0-9.e]+),([-0-9.e]+) ([-0-9.e]+),([-0-9.e]+)").globalMatch(bytes.data());
    while (all.hasNext()) {
      const QRegularExpressionMatch line = all.next();
      ++lines;
      for (const int i : {1, 3}) {
        CHECK(line.captured(i).toDouble() >= rect.left() - 1e-3);
        CHECK(line.captured(i).toDouble() <= rect.right() + 1e-3);
        CHECK(line.captured(i + 1).toDouble() >= rect.top() - 1e-3);
        CHECK(line.captured(i + 1).toDouble() <= rect.bottom() + 1e-3);
      }
    }
    if (rect.width() > 5) CHECK(lines >= 2);
  }
}
