#pragma once
// A window of its own settings, closed-form figures only unless a test asks for more.

#include <QLineEdit>
#include <QSettings>
#include <QTemporaryDir>
#include <catch2/catch.hpp>
#include <memory>

#include "gui/panels/headline_card.hpp"
#include "gui/window/main_window.hpp"
#include "wait_for.hpp"

namespace stagecraft::gui {

inline const QString scenarios = STAGECRAFT_SOURCE_DIR "/scenarios/";

struct Opened {
  QTemporaryDir folder;
  std::unique_ptr<MainWindow> window;

  explicit Opened(const QString& file = {}) {
    QSettings::setDefaultFormat(QSettings::IniFormat);
    QSettings::setPath(QSettings::IniFormat, QSettings::UserScope, folder.path());
    QCoreApplication::setOrganizationName("Stagecraft tests");
    QCoreApplication::setApplicationName("window_test");
    apply_theme(*qApp, make_theme(false));
    window = std::make_unique<MainWindow>(default_library(""));
    window->evaluator().set_simulating(false);
    window->resize(1400, 860);
    window->show();
    if (!file.isEmpty()) open(file);
  }
  void open(const QString& file) {
    window->open_path(file);
    settle();
  }
  void settle() {
    REQUIRE(wait_for([&] { return window->idle(); }));
    QTest::qWait(1);
  }
  HeadlineCard* card_widget(std::size_t index) const {
    return window->headline_strip().findChildren<HeadlineCard*>()[static_cast<qsizetype>(index)];
  }
  HeadlineFigure card(std::size_t index) const { return card_widget(index)->figure(); }
  QString figure(std::size_t index) const { return card(index).value; }
  QLineEdit* editor(const char* pointer) const { return window->form().row(pointer)->findChild<QLineEdit*>(); }
  void type(const char* pointer, const QString& value) {
    window->form().go_to(pointer);
    QLineEdit* const line = editor(pointer);
    line->setFocus();
    line->selectAll();
    QTest::keyClicks(line, value);
    settle();
  }
};

}  // namespace stagecraft::gui
