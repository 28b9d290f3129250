// What depends on the theme and on the size of text follows both: marks, colours, fonts, switches that are on.
#include <QAction>
#include <QFontInfo>
#include <QMenuBar>
#include <QTabBar>
#include <QTabWidget>
#include <QToolButton>
#include <catch2/catch.hpp>
#include <set>

#include "opened.hpp"

using namespace stagecraft;
using namespace stagecraft::gui;

namespace {

QLabel* label_of(const QWidget& in, const QString& text) {
  for (QLabel* const label : in.findChildren<QLabel*>())
    if (label->text() == text) return label;
  return nullptr;
}

QColor ink(const QLabel& label) {
  return label.palette().color(QPalette::WindowText);
}

QAction* command(const MainWindow& window, const QString& title) {
  for (QAction* const action : window.findChildren<QAction*>())
    if (QString(action->text()).remove('&') == title) return action;
  return nullptr;
}

/// Text of one size again when a test ends.
struct PlainText {
  ~PlainText() { set_text_scale(*qApp, 1); }
};

}  // namespace

TEST_CASE("a change of the theme keeps the bold titles of values that are written in the file") {
  Opened opened(scenarios + "llama-3-8b-one-node.json");
  const QLabel* const written = label_of(*opened.window->form().row("/parallel/tensor"), "Tensor (TP)");
  const QLabel* const chosen = label_of(*opened.window->form().row("/parallel/data"), "Data (DP)");
  REQUIRE(written != nullptr);
  REQUIRE(chosen != nullptr);
  for (const bool dark : {true, false, true}) {
    apply_theme(*qApp, make_theme(dark));
    opened.settle();
    CHECK(written->font().weight() == QFont::DemiBold);
    CHECK(chosen->font().weight() == QFont::Normal);
  }
}

TEST_CASE("no word keeps a colour of the theme before") {
  Opened opened(scenarios + "llama-3-8b-one-node.json");
  MainWindow& window = *opened.window;
  opened.type("/parallel/tensor", "3");
  opened.type("/parallel/data", "7");
  window.show_view(ViewTab::schedule);
  window.sweep_page().axes().set_texts({"parallel.tensor=1..", "batch.micro=1,2"});
  window.message_bar().tell("something is wrong", true);
  opened.settle();
  const auto colours_of = [](const Theme& theme) {
    return std::set<QRgb>{theme.ink.rgb(),  theme.faint.rgb(), theme.accent.rgb(),
                          theme.good.rgb(), theme.bad.rgb(),   theme.warning.rgb()};
  };
  for (const bool dark : {true, false}) {
    apply_theme(*qApp, make_theme(dark));
    opened.settle();
    const std::set<QRgb> before = colours_of(make_theme(!dark));
    int bad = 0;
    for (const QLabel* const label : window.findChildren<QLabel*>()) {
      CAPTURE(label->text().toStdString(), dark);
      CHECK(before.count(label->palette().color(label->foregroundRole()).rgb()) == 0);
      bad += ink(*label) == make_theme(dark).bad ? 1 : 0;
    }
    CHECK(bad >= 3);  // the field, the axis, the message
  }
}

TEST_CASE("larger text is larger in every part of the window") {
  const PlainText plain;
  Opened opened(scenarios + "llama-3-8b-one-node.json");
  MainWindow& window = *opened.window;
  const auto height = [](const QWidget* widget) { return QFontInfo(widget->font()).pixelSize(); };
  std::map<QWidget*, int> before;
  for (QWidget* const widget : window.findChildren<QWidget*>()) before[widget] = height(widget);
  const int card = opened.card_widget(0)->height(),
            timeline = window.timeline_page().timeline().view().font.pixelSize();
  QAction* const larger = command(window, "Larger text");
  REQUIRE(larger != nullptr);
  for (int i = 0; i < 4; ++i) larger->trigger();
  opened.settle();
  int grown = 0;
  for (QWidget* const widget : window.findChildren<QWidget*>()) {
    const auto was = before.find(widget);
    if (was == before.end() || widget->objectName().startsWith("qt_scrollarea_")) continue;  // these hold no words
    CAPTURE(widget->metaObject()->className(), widget->objectName().toStdString(), was->second);
    CHECK(height(widget) > 1.25 * was->second);
    ++grown;
  }
  CHECK(grown > 300);
  const HeadlineCard* const now = opened.card_widget(0);
  CHECK(now->height() > 1.25 * card);
  CHECK(now->lines().remark.bottom() < now->height());
  CHECK(window.timeline_page().timeline().view().font.pixelSize() > timeline);
  QAction* const smaller = command(window, "Smaller text");
  for (int i = 0; i < 4; ++i) smaller->trigger();
  opened.settle();
  for (const auto& [widget, was] : before)
    if (window.findChildren<QWidget*>().contains(widget)) CHECK(height(widget) == was);
}

TEST_CASE("the size of text comes back at the next start, and what is no size does not harm") {
  const PlainText plain;
  Opened opened;
  command(*opened.window, "Larger text")->trigger();
  command(*opened.window, "Larger text")->trigger();
  const int size = QFontInfo(QApplication::font()).pixelSize();
  opened.window->close();
  set_text_scale(*qApp, 1);
  CHECK(QFontInfo(QApplication::font()).pixelSize() < size);
  {
    MainWindow next(default_library(""));
    next.restore_session();
    CHECK(QFontInfo(QApplication::font()).pixelSize() == size);
  }
  for (const char* const text : {"nan", "-3", "0", "large"}) {
    QSettings().setValue("window/text_scale", text);
    MainWindow next(default_library(""));
    next.restore_session();
    CHECK(QFontInfo(QApplication::font()).pixelSize() < size);
  }
  QSettings().setValue("window/text_scale", 1e9);
  MainWindow next(default_library(""));
  next.restore_session();
  CHECK(QFontInfo(QApplication::font()).pixelSize() < 60);
}

TEST_CASE("a switch shows whether it is on, in both themes") {
  Opened opened(scenarios + "tiny-gpt-2cores.json");
  QAbstractButton* critical = nullptr;
  for (QToolButton* const one : opened.window->timeline_page().findChildren<QToolButton*>())
    if (one->text() == "Critical path") critical = one;
  opened.window->show_view(ViewTab::schedule);
  QAbstractButton* table = nullptr;
  for (QPushButton* const one : opened.window->schedule_panel().findChildren<QPushButton*>())
    if (one->isCheckable()) table = one;
  for (QAbstractButton* const one : {critical, table}) {
    REQUIRE(one != nullptr);
    for (const bool dark : {false, true}) {
      apply_theme(*qApp, make_theme(dark));
      one->resize(one->sizeHint());
      const auto fill = [&](bool on) {
        one->setChecked(on);
        return one->grab().toImage().pixelColor(4, one->height() / 2);
      };
      CHECK(fill(true) == make_theme(dark).accent);
      CHECK(fill(false) == make_theme(dark).raised);
    }
  }
}

TEST_CASE("the arrows that scroll the tabs of a narrow window can be seen, in both themes") {
  const PlainText plain;
  Opened opened(scenarios + "tiny-gpt-2cores.json");
  opened.window->resize(opened.window->minimumSize());
  auto* const bar = opened.window->findChild<QTabBar*>();
  REQUIRE(bar != nullptr);
  for (const double size : {1.0, 2.0}) {
    set_text_scale(*qApp, size);
    for (const bool dark : {false, true}) {
      apply_theme(*qApp, make_theme(dark));
      opened.settle();
      int seen = 0;
      for (QToolButton* const arrow : bar->findChildren<QToolButton*>()) {
        CAPTURE(size, dark, arrow->arrowType());
        REQUIRE(arrow->isVisibleTo(bar));
        QImage picture(arrow->size() * size, QImage::Format_RGB32);
        picture.setDevicePixelRatio(size);
        arrow->render(&picture);
        std::set<QRgb> inside;  // of the frame and its corners
        for (int y = picture.height() / 4; y < picture.height() * 3 / 4; ++y)
          for (int x = 3; x < picture.width() - 3; ++x) inside.insert(picture.pixel(x, y));
        CHECK(inside.size() > 1);
        ++seen;
      }
      CHECK(seen == 2);
    }
  }
}
