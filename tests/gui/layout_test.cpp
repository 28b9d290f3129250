// Everything can be read and reached: in a small window, with large text, with a pin.
#include <QAbstractSpinBox>
#include <QAction>
#include <QComboBox>
#include <QHeaderView>
#include <QPushButton>
#include <QScrollArea>
#include <QScrollBar>
#include <QSignalSpy>
#include <catch2/catch.hpp>

#include "base/file_io.hpp"
#include "gui/panels/memory_bars.hpp"
#include "gui/panels/run_panel.hpp"
#include "gui/render/picture.hpp"
#include "gui/theme/elided_label.hpp"
#include "gui/timeline/view_geometry.hpp"
#include "opened.hpp"

using namespace stagecraft;
using namespace stagecraft::gui;

namespace {

struct PlainText {
  ~PlainText() { set_text_scale(*qApp, 1); }
};

const QSize sizes[] = {{760, 480}, {900, 600}, {1400, 860}};

/// Until the layouts that a size changes have changed those above them.
void resize(Opened& opened, QSize size) {
  opened.window->resize(size);
  opened.settle();
  QTest::qWait(50);
}

QRect in_window(const QWidget& widget) {
  return {widget.mapTo(widget.window(), QPoint(0, 0)), widget.size()};
}

/// No control is lower or narrower than it asks for, or beyond the edge of what it stands on.
void check_whole(const QWidget& page) {
  int seen = 0;
  for (QWidget* const one : page.findChildren<QWidget*>()) {
    const bool control = one->inherits("QAbstractButton") || one->inherits("QComboBox") ||
                         one->inherits("QAbstractSpinBox") || one->inherits("QLineEdit");
    if (!control || !one->isVisible()) continue;
    const QWidget* const parent = one->parentWidget();
    if (parent->inherits("QComboBox") || parent->inherits("QAbstractSpinBox") || parent->inherits("QTableView") ||
        parent->inherits("QTabBar"))
      continue;
    CAPTURE(one->metaObject()->className(), one->accessibleName().toStdString());
    if (const auto* const button = qobject_cast<QAbstractButton*>(one)) {
      CAPTURE(button->text().toStdString());
      CHECK(one->width() >= one->sizeHint().width());
    }
    CHECK(one->height() >= one->minimumSizeHint().height());
    for (const QWidget* at = one; at->parentWidget() != &page && !at->parentWidget()->inherits("QScrollArea");
         at = at->parentWidget()) {
      if (at->parentWidget()->objectName() == "qt_scrollarea_viewport") break;
      CHECK(at->parentWidget()->rect().contains(at->geometry()));
    }
    ++seen;
  }
  CHECK(seen > 3);
}

/// A scenario beside its pinned self with another tensor degree.
struct PinnedAndChanged : Opened {
  PinnedAndChanged() : Opened(scenarios + "gpt-145b-selene.json") {
    window->pin();
    settle();
    type("/parallel/tensor", "4");
  }
};

}  // namespace

TEST_CASE("the words of a card stand beside each other, and the value is whole, as narrow as a card may be") {
  apply_theme(*qApp, make_theme(false));
  HeadlineFigure figure;
  figure.title = "Exposed comm.";
  figure.value = GENERATE("6.9 %", "190,958", "1,234,567", "111.4 GiB");
  figure.change = GENERATE("", "+5.5 points", "-1,234.5 %");
  figure.remark = "128.6 TFLOP/s per GPU";
  HeadlineCard card;
  card.show_figure(figure);
  for (int width = card.minimumSizeHint().width(); width < 420; width += 7) {
    card.resize(width, card.sizeHint().height());
    card.set_change_below(!card.has_room_for_change(width));
    const CardLines lines = card.lines();
    CAPTURE(width, figure.value.toStdString(), figure.change.toStdString());
    const QRect all[] = {lines.title, lines.change, lines.value, lines.remark};
    for (const QRect& one : all) {
      CHECK((one.isEmpty() || card.rect().contains(one)));
      for (const QRect& other : all) CHECK((&one == &other || !one.intersects(other)));
    }
    const auto needs = [](const QString& text, double factor, int weight) {
      return QFontMetrics(scaled_font(factor, weight)).horizontalAdvance(text);
    };
    CHECK(needs(figure.value, lines.value_factor, QFont::DemiBold) <= lines.value.width());
    CHECK(needs(figure.title, 0.92, QFont::Normal) <= lines.title.width());
    CHECK((figure.change.isEmpty() || needs(figure.change, 0.86, QFont::DemiBold) <= lines.change.width()));
    CHECK(lines.value_factor >= 1.1);
  }
}

TEST_CASE("with a pin every headline figure has room, in the smallest window too and with larger text") {
  const PlainText plain;
  PinnedAndChanged opened;
  for (const double scale : {1.0, 1.5}) {
    set_text_scale(*qApp, scale);
    for (const QSize& size : sizes) {
      if (scale > 1 && size.width() < 1000) continue;
      resize(opened, size);
      REQUIRE(opened.window->size() == size);
      const QWidget& strip = opened.window->headline_strip();
      for (const HeadlineCard* const card : strip.findChildren<HeadlineCard*>()) {
        CAPTURE(size.width(), scale, card->figure().title.toStdString());
        CHECK_FALSE(card->figure().change.isEmpty());
        CHECK(card->width() >= card->minimumSizeHint().width());
        CHECK(card->height() >= card->minimumSizeHint().height());
        CHECK(strip.rect().contains(card->geometry()));
        for (const HeadlineCard* const other : strip.findChildren<HeadlineCard*>())
          CHECK((other == card || !other->geometry().intersects(card->geometry())));
      }
    }
  }
}

TEST_CASE("a number field has room for seven digits in the smallest form") {
  const PlainText plain;
  Opened opened(scenarios + "gpt-145b-selene.json");
  for (const double scale : {1.0, 1.4}) {
    set_text_scale(*qApp, scale);
    for (const QSize& size : sizes) {
      resize(opened, size);
      for (const FormField& field : opened.window->form().model().fields()) {
        if (field.kind != FieldKind::integer) continue;
        const FieldRow* const row = opened.window->form().row(field.pointer);
        if (!row->isVisible()) continue;
        CAPTURE(field.pointer, size.width(), scale);
        const QLineEdit* const line = row->findChild<QLineEdit*>();
        CHECK(line->width() - 18 >= QFontMetrics(line->font()).horizontalAdvance("2097152"));
        for (const QWidget* const part : row->findChildren<QWidget*>(Qt::FindDirectChildrenOnly))
          CHECK(row->rect().right() >= part->geometry().right());
        CHECK(in_window(*row).right() <= in_window(opened.window->form()).right());
      }
    }
  }
}

TEST_CASE("in a low window the controls of Schedule and Sweep are whole; what has no room is scrolled to") {
  Opened opened(scenarios + "gpt-145b-selene.json");
  for (const QSize& size : sizes) {
    resize(opened, size);
    for (const ViewTab tab : {ViewTab::schedule, ViewTab::sweep}) {
      opened.window->show_view(tab);
      opened.settle();
      QTest::qWait(50);
      CAPTURE(size.width(), static_cast<int>(tab));
      check_whole(*opened.window->page(tab));
      const auto* const area = opened.window->page(tab)->findChild<QScrollArea*>();
      REQUIRE(area != nullptr);
      CHECK(area->widget()->height() >= area->widget()->layout()->totalMinimumHeightForWidth(area->widget()->width()));
    }
  }
}

TEST_CASE("a line that is cut ends in an ellipsis and has the whole as tool tip") {
  ElidedLabel label("simulated, with contention");
  label.resize(label.sizeHint());
  CHECK(label.shown_text() == label.text());
  label.resize(90, 20);
  CHECK(label.shown_text().endsWith(QChar(0x2026)));
  CHECK(label.minimumSizeHint().width() < 60);
  Opened opened(scenarios + "gpt-145b-selene.json");
  CHECK(opened.window->page(ViewTab::compare)->findChild<ElidedLabel*>() != nullptr);
  CHECK(opened.window->page(ViewTab::timeline)->findChild<ElidedLabel*>() != nullptr);
}

TEST_CASE("in a small window names of links, parts of the step, values of memory and figures of a schedule are whole") {
  Opened opened(scenarios + "gpt-145b-selene.json");
  resize(opened, {760, 480});
  for (const ViewTab tab : {ViewTab::topology, ViewTab::why}) {
    opened.window->show_view(tab);
    opened.settle();
    const auto* const table = opened.window->page(tab)->findChild<QTableView*>();
    const QAbstractItemView* const view = table;
    CAPTURE(static_cast<int>(tab));
    CHECK(table->columnWidth(0) >= view->sizeHintForColumn(0));
    CHECK(table->columnWidth(0) >= table->horizontalHeader()->sectionSizeHint(0));
  }
  const auto* const bars = opened.window->why_panel().findChild<MemoryBars*>();
  CHECK(bars->width() <= bars->parentWidget()->width());  // nothing of them is beside the edge
  opened.window->show_view(ViewTab::schedule);
  opened.settle();
  int figures = 0;
  for (const QLabel* const label : opened.window->schedule_panel().findChildren<QLabel*>()) {
    if (!label->text().startsWith("makespan")) continue;
    CHECK(label->height() >= label->heightForWidth(label->width()));
    ++figures;
  }
  CHECK(figures == 1);
}

TEST_CASE("the titles of the links are whole with larger text, and a long line of a sweep ends in an ellipsis") {
  const PlainText plain;
  Opened opened(scenarios + "gpt-145b-selene.json");
  set_text_scale(*qApp, 1.6);
  opened.window->show_view(ViewTab::topology);
  opened.settle();
  const QHeaderView* const header =
      opened.window->page(ViewTab::topology)->findChild<QTableView*>()->horizontalHeader();
  for (int i = 0; i < header->count(); ++i) CHECK(header->sectionSize(i) >= header->sectionSizeHint(i));
  CHECK(opened.window->page(ViewTab::sweep)->findChild<ElidedLabel*>() != nullptr);
}

TEST_CASE("the titles of a table without points are whole") {
  Opened opened(scenarios + "gpt-145b-selene.json");
  opened.window->show_view(ViewTab::sweep);
  opened.settle();
  const QHeaderView* const header = opened.window->sweep_page().table().view().horizontalHeader();
  REQUIRE(header->count() > 6);
  for (int i = 0; i < header->count(); ++i) CHECK(header->sectionSize(i) >= header->sectionSizeHint(i));
}

TEST_CASE("the title of a column stands where its values do, in every table of the window") {
  Opened opened(scenarios + "gpt-145b-selene.json");
  opened.window->evaluator().set_simulating(true);  // which loads links
  opened.settle();
  opened.window->pin();
  opened.settle();
  opened.type("/parallel/tensor", "4");
  opened.window->show_view(ViewTab::compare);
  QSignalSpy compared(opened.window->page(ViewTab::compare), SIGNAL(compared()));
  REQUIRE((compared.count() > 0 || compared.wait(20'000)));
  opened.window->show_view(ViewTab::schedule);
  opened.window->timeline_page().timeline().select_area({0, 1, 0, 3});
  opened.settle();
  int seen = 0;
  for (const QTableView* const table : opened.window->findChildren<QTableView*>()) {
    const QAbstractItemModel& model = *table->model();
    CAPTURE(table->accessibleName().toStdString());
    for (int column = 0; column < std::min(model.columnCount(), 20); ++column) {
      const QVariant title = model.headerData(column, Qt::Horizontal, Qt::TextAlignmentRole);
      CAPTURE(column);
      REQUIRE(title.isValid());  // else it is centred
      for (int row = 0; row < std::min(model.rowCount(), 20); ++row) {
        const QVariant value = model.index(row, column).data(Qt::TextAlignmentRole);
        const int stands = value.isValid() ? value.toInt() : static_cast<int>(Qt::AlignLeft | Qt::AlignVCenter);
        CHECK(stands == title.toInt());
      }
    }
    seen += model.columnCount() > 0 && (model.rowCount() > 0 || table->accessibleName() == "Points") ? 1 : 0;
  }
  CHECK(seen == 9);
}

TEST_CASE("the ranks beside the table of a schedule are whole") {
  const PlainText plain;
  Opened opened(scenarios + "gpt-145b-selene.json");
  opened.window->show_view(ViewTab::schedule);
  for (const double scale : {1.0, 1.6}) {
    set_text_scale(*qApp, scale);
    opened.settle();
    const QHeaderView* const ranks = opened.window->schedule_panel().findChild<QTableView*>()->verticalHeader();
    REQUIRE(ranks->count() > 1);
    CHECK(ranks->sectionSize(0) >= ranks->sectionSizeHint(0));
  }
}

TEST_CASE("a picture of a view that scrolls in a low window is whole, and the window stays as it was") {
  Opened opened(scenarios + "gpt-145b-selene.json");
  resize(opened, {760, 480});
  for (const ViewTab tab : {ViewTab::topology, ViewTab::schedule, ViewTab::sweep}) {
    opened.window->show_view(tab);
    opened.settle();
    QTest::qWait(50);
    CAPTURE(static_cast<int>(tab));
    const QWidget& page = *opened.window->page(tab);
    const auto* const area = page.findChild<QScrollArea*>();
    QScrollBar& bar = *area->verticalScrollBar();
    REQUIRE(bar.maximum() > 20);
    bar.setValue(17);
    const QRect before = page.geometry(), shown = in_window(*area);
    const QString path = opened.folder.filePath("low.png");
    opened.window->export_view(tab, path);
    const QImage picture(path);
    CHECK(picture.width() == page.width());
    CHECK(picture.height() >= page.height() + bar.maximum() - 20);  // without the bar it is a little wider
    if (tab == ViewTab::topology) {                                 // its last line tells of nodes that are not drawn
      int words = 0;
      for (int y = picture.height() - (page.height() - area->height()) - 30; y < picture.height(); ++y)
        for (int x = picture.width() / 2; x < picture.width() - 16; ++x)
          words += qGray(picture.pixel(x, y)) < 190 && y < picture.height() - page.height() / 4 ? 1 : 0;
      CHECK(words > 50);
    }
    CHECK(page.geometry() == before);
    opened.settle();
    QTest::qWait(50);
    CHECK(in_window(*area) == shown);
    CHECK(bar.value() == 17);
  }
}

TEST_CASE("beside the panel of runs the scatter of a sweep is no strip, and the panel no half of the window") {
  Opened opened(scenarios + "gpt-145b-selene.json");
  opened.window->show_view(ViewTab::sweep);
  for (QAction* const action : opened.window->findChildren<QAction*>())
    if (action->shortcut() == QKeySequence(Qt::Key_F6)) action->trigger();
  const auto* const runs = opened.window->findChild<RunPanel*>();
  REQUIRE(runs->isVisible());
  for (const QSize& size : sizes) {
    resize(opened, size);
    CAPTURE(size.width());
    CHECK(opened.window->sweep_page().plot().height() >= 200);
    CHECK(opened.window->sweep_page().table().view().height() >= 60);
    if (size.height() > 800) CHECK(runs->height() < 0.3 * size.height());
    CHECK(runs->height() >= 110);
    check_whole(*runs);
  }
}

TEST_CASE("in the smallest window the timelines of Compare keep most of the height, not their legend") {
  const PlainText plain;
  PinnedAndChanged opened;
  opened.window->show_view(ViewTab::compare);
  const auto* const timeline = opened.window->page(ViewTab::compare)->findChild<TimelineWidget*>();
  for (const double scale : {1.0, 1.3}) {
    set_text_scale(*qApp, scale);
    for (const QSize& size : sizes) {
      resize(opened, size);
      const Layout layout = layout_of(timeline->view(), timeline->viewport()->size());
      CAPTURE(size.width(), scale);
      CHECK(layout.rows.height() >= layout.legend.height());
      CHECK(layout.rows.height() + layout.legend.height() + ruler_height == timeline->viewport()->height());
    }
  }
}

TEST_CASE("the SVG of Why slow keeps the hatching of idle time") {
  Opened opened(scenarios + "gpt-145b-selene.json");
  opened.window->show_view(ViewTab::why);
  opened.settle();
  const QString path = opened.folder.filePath("why.svg");
  opened.window->export_view(ViewTab::why, path);
  const QString text = QString::fromStdString(read_file(path.toStdString()));
  const Palette palette = make_palette(false);
  const QString hatch = QColor(palette.hatch[static_cast<std::size_t>(SliceClass::bubble_warmup)]).name();
  CHECK(text.count("stroke=\"" + hatch) >= 2);  // the bar and the swatch in the table
}
