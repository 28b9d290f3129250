// Keys and mouse of the timeline, as a user would use them.
#include "gui/timeline/timeline_widget.hpp"

#include <QSignalSpy>
#include <QTest>
#include <catch2/catch.hpp>

#include "gui/models/trace_area.hpp"
#include "gui/timeline/legend.hpp"
#include "gui/timeline/paint_overlays.hpp"
#include "gui/timeline/view_geometry.hpp"
#include "gui_traces.hpp"

using namespace stagecraft;
using namespace stagecraft::gui;

namespace {

struct Bench {
  explicit Bench(int ranks = 4, int micro_batches = 8) : loaded(pipeline_trace(ranks, micro_batches)) {
    widget.setFont(test_font());
    widget.resize(1000, 600);
    widget.set_traces({{loaded.get(), 0}});
    widget.show();
    widget.setFocus();
    REQUIRE(QTest::qWaitForWindowExposed(&widget));
  }

  const TimelineView& view() const { return widget.view(); }
  QRectF rows() const { return layout_of(view(), widget.viewport()->size()).rows; }
  QPoint point_of(double time_s, std::size_t row) const {
    const Row& at = view().rows[row];
    return (rows().topLeft() + QPointF(view().axis.x_of(time_s), at.y + at.height / 2.0 - view().scroll_y)).toPoint();
  }
  std::size_t row_named(const std::string& label) const {
    for (std::size_t i = 0; i < view().rows.size(); ++i) {
      if (view().rows[i].label == label) return i;
    }
    FAIL("no row " << label);
    return 0;
  }
  void key(Qt::Key key, Qt::KeyboardModifiers modifiers = Qt::NoModifier) { QTest::keyClick(&widget, key, modifiers); }
  void wheel(QPoint at, int turn, Qt::KeyboardModifiers modifiers) {
    QWheelEvent event(at, widget.viewport()->mapToGlobal(at), {}, {0, turn}, Qt::NoButton, modifiers, Qt::NoScrollPhase,
                      false);
    QApplication::sendEvent(widget.viewport(), &event);
  }
  void drag(QPoint from, QPoint to, Qt::MouseButton button, Qt::KeyboardModifiers modifiers = Qt::NoModifier) {
    QTest::mousePress(widget.viewport(), button, modifiers, from);
    const auto move = [&](QPoint at) {
      QMouseEvent event(QEvent::MouseMove, at, widget.viewport()->mapToGlobal(at), Qt::NoButton, button, modifiers);
      QApplication::sendEvent(widget.viewport(), &event);
    };
    move((from + to) / 2);
    move(to);
    QTest::mouseRelease(widget.viewport(), button, modifiers, to);
  }
  std::string selected() const {
    if (!view().selected) return "";
    const SliceRef at = *view().selected;
    const std::uint32_t span = loaded->lanes[at.lane].slices.span(at.slice);
    return span == no_span ? "idle" : short_name(loaded->trace, loaded->trace.spans[span]);
  }

  std::unique_ptr<const LoadedTrace> loaded;
  TimelineWidget widget;
};

double length_of(const TimelineView& view) {
  return view.axis.end_s - view.axis.begin_s;
}

}  // namespace

TEST_CASE("W and S zoom, A, D and the arrows pan") {
  Bench bench;
  const double whole = length_of(bench.view());
  bench.key(Qt::Key_W);
  CHECK(length_of(bench.view()) == Approx(0.7 * whole));
  const double begin = bench.view().axis.begin_s;
  bench.key(Qt::Key_D);
  CHECK(bench.view().axis.begin_s > begin);
  bench.key(Qt::Key_A);
  CHECK(bench.view().axis.begin_s == Approx(begin));
  bench.key(Qt::Key_Right);
  bench.key(Qt::Key_Left);
  CHECK(bench.view().axis.begin_s == Approx(begin));
  bench.key(Qt::Key_S);
  CHECK(length_of(bench.view()) == Approx(whole).epsilon(0.01));
  bench.key(Qt::Key_W);
  bench.key(Qt::Key_Home);
  CHECK(length_of(bench.view()) == Approx(whole));
}

TEST_CASE("Ctrl and the wheel zoom to the time under the cursor") {
  Bench bench;
  const QPoint at = bench.point_of(0.01, 0);
  const double before = bench.view().axis.time_at(at.x() - bench.rows().left());
  const double whole = length_of(bench.view());
  bench.wheel(at, 240, Qt::ControlModifier);
  CHECK(length_of(bench.view()) == Approx(whole / 2));
  CHECK(bench.view().axis.time_at(at.x() - bench.rows().left()) == Approx(before));
}

TEST_CASE("a click selects a slice, a drag moves the time, Escape lets go") {
  Bench bench;
  QSignalSpy spy(&bench.widget, &TimelineWidget::span_selected);
  QTest::mouseClick(bench.widget.viewport(), Qt::LeftButton, Qt::NoModifier,
                    bench.point_of(0.5e-3, bench.row_named("rank 0")));
  CHECK(bench.selected() == "0F0");
  REQUIRE(spy.count() == 1);
  bench.key(Qt::Key_Escape);
  CHECK(bench.selected().empty());
  bench.key(Qt::Key_W);
  const double begin = bench.view().axis.begin_s;
  const QPoint from = bench.point_of(bench.view().axis.time_at(400), 0);
  bench.drag(from, from - QPoint(100, 0), Qt::LeftButton);
  CHECK(bench.view().axis.begin_s == Approx(begin + 100 * bench.view().axis.seconds_per_pixel()));
}

TEST_CASE("Shift and a drag select an area whose sums are those of its slices") {
  Bench bench;
  QSignalSpy spy(&bench.widget, &TimelineWidget::area_changed);
  const std::size_t row = bench.row_named("rank 0");
  bench.drag(bench.point_of(0, row) - QPoint(0, 0), bench.point_of(4e-3, row), Qt::LeftButton, Qt::ShiftModifier);
  REQUIRE(bench.view().area);
  CHECK(spy.count() >= 1);
  const Area area = *bench.view().area;
  CHECK(area.first_row == row);
  CHECK(area.last_row == row);
  CHECK(area.end_s - area.begin_s == Approx(4e-3).epsilon(0.02));
  const AreaSums sums = sum_area(*bench.loaded, lanes_of_rows(bench.view(), 0, area.first_row, area.last_row), 0, 4e-3);
  // Four forwards of 1 ms each, an eighth of which waits for the tensor group.
  CHECK(sums.sum[static_cast<std::size_t>(SliceClass::forward)] == 3'500'000);
  CHECK(sums.sum[static_cast<std::size_t>(SliceClass::tensor)] == 500'000);
  bench.key(Qt::Key_F);
  CHECK(bench.view().axis.begin_s < area.begin_s);
  CHECK(length_of(bench.view()) == Approx(1.1 * (area.end_s - area.begin_s)));
}

TEST_CASE("a drag with the middle button zooms to the range, Backspace goes back") {
  Bench bench;
  const double whole = length_of(bench.view());
  bench.drag(bench.point_of(2e-3, 0), bench.point_of(6e-3, 0), Qt::MiddleButton);
  CHECK(length_of(bench.view()) == Approx(4e-3).epsilon(0.02));
  CHECK_FALSE(bench.view().area);
  bench.key(Qt::Key_Backspace);
  CHECK(length_of(bench.view()) == Approx(whole));
  bench.key(Qt::Key_Right, Qt::AltModifier);
  CHECK(length_of(bench.view()) == Approx(4e-3).epsilon(0.02));
}

TEST_CASE("dot and comma step along the row, brackets along the arrows") {
  Bench bench;
  QTest::mouseClick(bench.widget.viewport(), Qt::LeftButton, Qt::NoModifier,
                    bench.point_of(0.5e-3, bench.row_named("rank 0")));
  bench.key(Qt::Key_Period);
  CHECK(bench.selected() == "0F1");
  bench.key(Qt::Key_Comma);
  CHECK(bench.selected() == "0F0");
  bench.key(Qt::Key_BracketRight);
  CHECK(bench.selected() == "0SEND_F0");
  bench.key(Qt::Key_BracketRight);
  CHECK(bench.selected() == "1F0");
  bench.key(Qt::Key_BracketLeft);
  bench.key(Qt::Key_BracketLeft);
  CHECK(bench.selected() == "0F0");
}

TEST_CASE("F fits the selected slice") {
  Bench bench;
  QTest::mouseClick(bench.widget.viewport(), Qt::LeftButton, Qt::NoModifier,
                    bench.point_of(0.5e-3, bench.row_named("rank 0")));
  bench.key(Qt::Key_F);
  CHECK(bench.view().axis.begin_s == Approx(-0.05e-3));
  CHECK(bench.view().axis.end_s == Approx(1.05e-3));
}

TEST_CASE("arrows lead across ranks even where the messages are folded away") {
  Bench bench(16, 4);  // more ranks than are opened at first
  QTest::mouseClick(bench.widget.viewport(), Qt::LeftButton, Qt::NoModifier,
                    bench.point_of(0.5e-3, bench.row_named("rank 0")));
  REQUIRE(bench.view().selected);
  const std::vector<Arrow> arrows = arrows_of(bench.view(), *bench.view().selected);
  REQUIRE(arrows.size() == 1);
  CHECK(short_name(bench.loaded->trace, bench.loaded->trace.spans[arrows[0].to]) == "1F0");
}

TEST_CASE("a click on a label folds its row, and going back unfolds it") {
  Bench bench;
  const std::size_t before = bench.view().rows.size();
  const Row& row = bench.view().rows[bench.row_named("rank 1")];
  const QPoint label(30, static_cast<int>(bench.rows().top()) + row.y + row.height / 2);
  QTest::mouseClick(bench.widget.viewport(), Qt::LeftButton, Qt::NoModifier, label);
  CHECK(bench.view().rows.size() < before);
  bench.key(Qt::Key_Backspace);
  CHECK(bench.view().rows.size() == before);
}

TEST_CASE("a filter shows the rows that match and is a place to go back from") {
  Bench bench;
  const std::size_t all = bench.view().rows.size();
  bench.widget.set_filter("rank 2 compute");
  CHECK(bench.view().rows.empty());
  bench.widget.set_filter("rank 2 pipeline");
  CHECK(bench.view().rows.size() == 1);
  bench.key(Qt::Key_Backspace);
  bench.key(Qt::Key_Backspace);
  CHECK(bench.view().rows.size() == all);
}

TEST_CASE("find goes through the operations in the order of time") {
  Bench bench;
  CHECK(bench.widget.find("B7"));
  CHECK(bench.selected() == "3B7");
  CHECK(bench.widget.find("B7"));
  CHECK(bench.selected() == "3SEND_B7");
  CHECK(bench.widget.find("B7", false));
  CHECK(bench.selected() == "3B7");
  CHECK_FALSE(bench.widget.find("no such operation"));
  CHECK(bench.selected() == "3B7");
}

TEST_CASE("every command has a key of its own and a text") {
  Bench bench;
  QSet<QString> keys;
  for (const QAction* action : bench.widget.commands()) {
    CHECK_FALSE(action->text().isEmpty());
    REQUIRE_FALSE(action->shortcuts().isEmpty());
    for (const QKeySequence& key : action->shortcuts()) {
      INFO(key.toString().toStdString());
      CHECK_FALSE(keys.contains(key.toString()));
      keys.insert(key.toString());
    }
  }
  QSignalSpy search(&bench.widget, &TimelineWidget::search_requested),
      help(&bench.widget, &TimelineWidget::keys_requested);
  QTest::keyClick(&bench.widget, '/');
  QTest::keyClick(&bench.widget, '?');
  CHECK(search.count() == 1);
  CHECK(help.count() == 1);
}

TEST_CASE("what was drawn before a pan or a scroll is drawn the same after it") {
  Bench bench;
  bench.key(Qt::Key_W);
  bench.key(Qt::Key_W);
  bench.widget.grab();
  bench.key(Qt::Key_D);  // moved by whole pixels
  bench.key(Qt::Key_Down);
  const QImage moved = bench.widget.grab().toImage();
  bench.widget.set_palette(bench.view().palette);  // all of it again
  const QImage fresh = bench.widget.grab().toImage();
  int different = 0;
  for (int y = 0; y < fresh.height(); ++y) {
    for (int x = 0; x < fresh.width(); ++x) different += moved.pixel(x, y) != fresh.pixel(x, y);
  }
  // Column bounds are rounded to nanoseconds, so single edges may differ by a shade.
  CHECK(different <= fresh.width() * fresh.height() / 1000);
}

TEST_CASE("traces come and go, and an empty one is no trouble") {
  Bench bench;
  bench.widget.set_traces({});
  CHECK(bench.view().rows.empty());
  for (const int key :
       {Qt::Key_W, Qt::Key_F, Qt::Key_Period, Qt::Key_BracketRight, Qt::Key_R, Qt::Key_Space, Qt::Key_C}) {
    bench.key(static_cast<Qt::Key>(key));
  }
  bench.widget.grab();
  const auto empty = make_loaded_trace(Trace{}, "empty");
  bench.widget.set_traces({{empty.get(), 0}});
  bench.widget.grab();
  bench.widget.set_traces({{bench.loaded.get(), 0}, {bench.loaded.get(), 1e-3}});
  bench.widget.grab();
  CHECK(bench.view().rows.size() > 8);
  bench.widget.set_traces({});
}

TEST_CASE("a legend gives way to rows, counts what it leaves out, and has all of it as tool tip") {
  Bench bench;
  const TimelineView& view = bench.view();
  const auto at = [&](int width, int height) { return layout_of(view, {width, height}); };
  const int whole = legend_height(view, 300), rows = total_height(view.rows);
  REQUIRE(whole > legend_height(view, 2000));
  CHECK(at(300, ruler_height + rows + whole).legend.height() == whole);
  CHECK(at(300, ruler_height + 4 * whole).legend.height() == whole);
  for (int height = 60; height < ruler_height + rows + whole; ++height) {
    const Layout layout = at(300, height);
    CAPTURE(height);
    CHECK(layout.rows.height() >= std::min<double>(rows, (height - ruler_height) / 2.0));
    CHECK(layout.legend.height() <= whole);
  }
  CHECK(at(300, 60).legend.height() == 0);
  CHECK(at(300, 120).legend.height() > 0);
  const auto picture_of = [&](double height) {
    QImage picture(300, static_cast<int>(height), QImage::Format_RGB32);
    QPainter painter(&picture);
    paint_legend(painter, QRectF(0, 0, 300, height), view);
    painter.end();
    return picture;
  };
  const QImage all = picture_of(whole), one = picture_of(legend_height(view, 2000));
  CHECK(one.copy(0, 0, 60, one.height() - 4) == all.copy(0, 0, 60, one.height() - 4));
  CHECK(one != all.copy(0, 0, 300, one.height()));  // "... 5 more"
  const std::vector<LegendEntry> entries = legend_of(view);
  REQUIRE(entries.size() > 4);
  for (const LegendEntry& entry : entries) CHECK(legend_text(view).contains(entry.text));
}
