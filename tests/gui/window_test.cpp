// The window as a user works in it: open, change, see, pin, compare, export, by keyboard and mouse. Runs on the
// offscreen platform; the tests tagged [window] run under Xvfb as well.
#include <QAction>
#include <QFileDialog>
#include <QImage>
#include <QMenuBar>
#include <QRegularExpression>
#include <QStatusBar>
#include <catch2/catch.hpp>
#include <map>

#include "base/file_io.hpp"
#include "gui/models/json_edit.hpp"
#include "gui/render/picture.hpp"
#include "gui/window/file_kind.hpp"
#include "gui_traces.hpp"
#include "opened.hpp"
#include "schedule/csv_text.hpp"
#include "trace/native_format.hpp"

using namespace stagecraft;
using namespace stagecraft::gui;

TEST_CASE("open a scenario, change TP, see the headline change, pin, compare, export", "[window]") {
  Opened opened(scenarios + "llama-3-8b-one-node.json");
  MainWindow& window = *opened.window;
  REQUIRE(window.evaluator().report() != nullptr);
  const QString before = opened.figure(0);
  window.pin();
  opened.settle();
  CHECK(window.pinned());

  opened.type("/parallel/tensor", "8");
  CHECK(value_at(window.document().text(), "/parallel/tensor") == "8");
  CHECK(opened.figure(0) != before);
  CHECK_FALSE(opened.card(0).change.isEmpty());
  CHECK(opened.card(0).trend == Trend::worse);  // eight ways is more communication than four

  window.show_view(ViewTab::compare);
  opened.settle();
  for (const ViewTab tab : {ViewTab::timeline, ViewTab::why, ViewTab::compare, ViewTab::topology}) {
    window.show_view(tab);
    for (const char* name : {"view.png", "view.svg"}) {
      const QString path = opened.folder.filePath(name);
      window.export_view(tab, path);
      CHECK(QFileInfo(path).size() > 1000);
    }
    const QImage picture(opened.folder.filePath("view.png"));
    CHECK(picture.width() > 400);
  }
  window.export_report(opened.folder.filePath("report.json"));
  CHECK(read_file(opened.folder.filePath("report.json").toStdString()).find("step_time_s") != std::string::npos);
}

#ifdef STAGECRAFT_HAVE_SIM
TEST_CASE("after a pause the scenario is simulated, and a change makes that stale", "[window]") {
  Opened opened;
  opened.window->evaluator().set_simulating(true);
  opened.open(scenarios + "tiny-gpt-2cores.json");
  Evaluator& evaluator = opened.window->evaluator();
  REQUIRE(wait_for([&] { return evaluator.fresh(); }));
  CHECK(evaluator.report()->kind == "predicted");
  CHECK(evaluator.trace()->trace.kind == "predicted");
  const double first = evaluator.report()->step_time_s.value;
  const FormField* const micro = opened.window->form().model().find("/batch/micro");
  opened.window->document().set_field(*micro, "4");
  CHECK_FALSE(evaluator.fresh());
  opened.window->document().set_field(*micro, "8");  // cancels what was to be simulated
  REQUIRE(wait_for([&] { return evaluator.fresh(); }));
  CHECK(evaluator.report()->run.micro_batch == 8);
  CHECK(evaluator.report()->step_time_s.value != first);
}
#endif

TEST_CASE("an impossible value is refused at its field, and a click on a fix repairs it") {
  Opened opened(scenarios + "llama-3-8b-one-node.json");
  const QString before = opened.figure(0);
  opened.type("/parallel/tensor", "3");
  CHECK(opened.window->evaluator().report() == nullptr);
  CHECK(opened.figure(0) == before);  // dimmed: the figures of the last scenario that could run
  CHECK(opened.card_widget(0)->stale());
  CHECK(opened.window->timeline_page().timeline().view().dimmed);
  REQUIRE(opened.window->timeline_page().timeline().view().sources.size() == 1);
  FieldRow* const row = opened.window->form().row("/parallel/tensor");
  QPushButton* fix = nullptr;
  for (QPushButton* const button : row->findChildren<QPushButton*>())
    if (button->property("kind") == "fix" && button->text() == "Use 4") fix = button;
  REQUIRE(fix != nullptr);
  QTest::mouseClick(fix, Qt::LeftButton);
  opened.settle();
  CHECK(value_at(opened.window->document().text(), "/parallel/tensor") == "4");
  CHECK(opened.window->evaluator().report() != nullptr);
  CHECK_FALSE(opened.card_widget(0)->stale());
  CHECK_FALSE(opened.window->timeline_page().timeline().view().dimmed);
}

TEST_CASE("the field with the focus shows what works now, and Up steps through it") {
  Opened opened(scenarios + "llama-3-8b-one-node.json");
  opened.window->activateWindow();
  opened.window->form().go_to("/parallel/tensor");
  FieldRow* const row = opened.window->form().row("/parallel/tensor");
  const auto chips = [&] {
    QStringList texts;
    for (const QPushButton* const button : row->findChildren<QPushButton*>())
      if (button->property("kind") == "chip" && button->isVisibleTo(row)) texts.append(button->text());
    return texts;
  };
  REQUIRE(wait_for([&] { return !chips().isEmpty(); }));
  CHECK(chips() == QStringList{"1", "2", "4", "8"});
  QTest::keyClick(opened.editor("/parallel/tensor"), Qt::Key_Up);
  opened.settle();
  CHECK(value_at(opened.window->document().text(), "/parallel/tensor") == "8");
}

TEST_CASE("an emptied field goes back to its default; undo and redo by key") {
  Opened opened(scenarios + "llama-3-8b-one-node.json");
  QLineEdit* const line = opened.editor("/batch/micro");
  opened.window->form().go_to("/batch/micro");
  line->selectAll();
  QTest::keyClick(line, Qt::Key_Delete);
  opened.settle();
  CHECK(value_at(opened.window->document().text(), "/batch/micro").empty());
  CHECK(line->placeholderText() == "1");
  opened.window->document().undo_stack().undo();
  opened.settle();
  CHECK(line->text() == "1");
  opened.window->document().undo_stack().redo();
  CHECK(value_at(opened.window->document().text(), "/batch/micro").empty());
}

TEST_CASE("a part of the breakdown shows its slices and its formula") {
  Opened opened(scenarios + "gpt-145b-selene.json");
  opened.window->show_view(ViewTab::why);
  QTableView* const table = opened.window->why_panel().findChild<QTableView*>();
  table->setCurrentIndex(table->model()->index(0, 0));
  const auto& highlighted = opened.window->timeline_page().timeline().view().highlighted;
  REQUIRE(highlighted.size() == slice_class_count);
  CHECK(highlighted[static_cast<std::size_t>(SliceClass::forward)]);
  CHECK_FALSE(highlighted[static_cast<std::size_t>(SliceClass::backward)]);
  const QString text = opened.window->why_panel().findChild<QTextBrowser*>()->toPlainText();
  CHECK(text.startsWith("critical_path.forward.time_s = "));
  CHECK(text.contains("Formula:"));
}

TEST_CASE("a table that gets the focus with its view chooses nothing by itself") {
  Opened opened(scenarios + "gpt-145b-selene.json");
  opened.window->show_view(ViewTab::table);
  opened.window->page(ViewTab::table)->setFocus();
  opened.window->show_view(ViewTab::why);
  QTableView* const table = opened.window->why_panel().findChild<QTableView*>();
  table->setFocus(Qt::OtherFocusReason);
  REQUIRE(table->hasFocus());
  const auto& highlighted = opened.window->timeline_page().timeline().view().highlighted;
  CHECK(std::count(highlighted.begin(), highlighted.end(), false) == 0);
  QTest::keyClick(table, Qt::Key_Down);
  CHECK(highlighted[static_cast<std::size_t>(SliceClass::backward)]);
  CHECK_FALSE(highlighted[static_cast<std::size_t>(SliceClass::forward)]);
}

TEST_CASE("an input of a formula leads to its own explanation, and back") {
  Opened opened(scenarios + "gpt-145b-selene.json");
  opened.window->show_view(ViewTab::why);
  opened.window->why_panel().explain("mfu");
  QTextBrowser* const text = opened.window->why_panel().findChild<QTextBrowser*>();
  REQUIRE(text->toPlainText().startsWith("mfu = "));
  const QRegularExpression link("<a href=\"([^\"]+)\"");
  const QString input = link.match(text->toHtml()).captured(1);
  REQUIRE_FALSE(input.isEmpty());
  Q_EMIT text->anchorClicked(QUrl(input));
  CHECK(text->toPlainText().startsWith(input + " = "));
  CHECK(link.match(text->toHtml()).captured(1) == "mfu");
  Q_EMIT text->anchorClicked(QUrl("mfu"));
  CHECK(text->toPlainText().startsWith("mfu = "));
}

TEST_CASE("dragging an operation of the schedule moves it, and the verdict follows") {
  Opened opened;
  opened.window->show_view(ViewTab::schedule);
  SchedulePanel& panel = opened.window->schedule_panel();
  panel.show_schedule("1f1b", {2, 4, 1});
  QTest::qWait(5);
  ScheduleView& view = panel.view();
  const QPoint from = view.centre_of({0, 2}), to = view.centre_of({0, 0}) - QPoint(40, 0);
  REQUIRE(panel.grid().name_of({0, 2}) == "0B0");
  QTest::mousePress(view.viewport(), Qt::LeftButton, {}, from);
  QTest::mouseMove(view.viewport(), to);
  QMouseEvent move(QEvent::MouseMove, to, view.viewport()->mapToGlobal(to), Qt::NoButton, Qt::LeftButton, {});
  QApplication::sendEvent(view.viewport(), &move);
  QTest::mouseRelease(view.viewport(), Qt::LeftButton, {}, to);
  CHECK(panel.grid().name_of({0, 0}) == "0B0");
  CHECK(has_errors(panel.grid().verdict()));
  view.select({0, 0});
  for (int i = 0; i < 2; ++i) QTest::keyClick(&view, Qt::Key_Right, Qt::ControlModifier);
  CHECK(panel.grid().name_of({0, 2}) == "0B0");
  CHECK(panel.grid().verdict().empty());
}

TEST_CASE("an operation that is dragged over another rank says why it stays, and stays") {
  Opened opened;
  opened.window->show_view(ViewTab::schedule);
  SchedulePanel& panel = opened.window->schedule_panel();
  panel.show_schedule("1f1b", {2, 4, 1});
  QTest::qWait(5);
  ScheduleView& view = panel.view();
  const std::string before = to_csv(panel.grid().schedule());
  QString said;
  QObject::connect(&view, &ScheduleView::drag_described, [&](const QString& text) { said = text; });
  const QPoint from = view.centre_of({0, 2}), to = view.centre_of({1, 0});
  QTest::mousePress(view.viewport(), Qt::LeftButton, {}, from);
  QMouseEvent move(QEvent::MouseMove, to, view.viewport()->mapToGlobal(to), Qt::NoButton, Qt::LeftButton, {});
  QApplication::sendEvent(view.viewport(), &move);
  CHECK(said.startsWith("0B0 stays on rank 0"));
  QTest::mouseRelease(view.viewport(), Qt::LeftButton, {}, to);
  CHECK(to_csv(panel.grid().schedule()) == before);
  CHECK_FALSE(panel.grid().can_undo());
}

TEST_CASE("a measured trace lays itself over the prediction") {
  Opened opened(scenarios + "tiny-gpt-2cores.json");
  const LoadedTrace* const predicted = opened.window->evaluator().trace();
  Trace measured = predicted->trace;
  measured.kind = "measured";
  const QString path = opened.folder.filePath("measured.sgt");
  write_trace(measured, path.toStdString());
  opened.open(path);
  CHECK(opened.window->measured() != nullptr);
  CHECK(opened.window->shown_view() == ViewTab::compare);
  CHECK(opened.window->timeline_page().timeline().view().sources.size() == 2);
}

TEST_CASE("files that cannot be opened are told in the window, which stays as it was") {
  Opened opened(scenarios + "tiny-gpt-2cores.json");
  const std::string text = opened.window->document().text();
  const std::pair<const char*, std::string> files[] = {{"a.sgt", "not a trace"},
                                                       {"b.sgt", std::string(100'000, '\xff')},
                                                       {"c.json", "{\"traceEvents\": [{\"ph\": "},
                                                       {"d.json", "{\"model\": "},
                                                       {"e.csv", "0F0,what"},
                                                       {"f.png", "\x89PNG"},
                                                       {"g.json", "[1, 2, [[[[[[[["},
                                                       {"h.sgt", ""},
                                                       {"i.json", "{\"traceEvents\": 5}"}};
  for (const auto& [name, content] : files) {
    CAPTURE(name);
    const QString path = opened.folder.filePath(name);
    write_file_whole(path.toStdString(), content);
    opened.window->message_bar().hide();
    opened.open(path);
    CHECK_FALSE(opened.window->message_bar().text().isEmpty());
    CHECK(opened.window->document().text() == text);
    CHECK(opened.window->measured() == nullptr);
  }
  opened.open(opened.folder.filePath("missing.json"));
  CHECK(opened.window->message_bar().text().contains("no such file"));
}

TEST_CASE("unsaved edits come back at the next start") {
  Opened opened(scenarios + "tiny-gpt-2cores.json");
  opened.window->document().set_field(*opened.window->form().model().find("/batch/micro"), "4");
  opened.window->show_view(ViewTab::why);
  opened.settle();
  opened.window->close();
  MainWindow next(default_library(""));
  next.evaluator().set_simulating(false);
  next.restore_session();
  CHECK(value_at(next.document().text(), "/batch/micro") == "4");
  CHECK(next.document().modified());
  CHECK(next.shown_view() == ViewTab::why);
  next.document().undo_stack().undo();
  CHECK(value_at(next.document().text(), "/batch/micro") == "2");
}

TEST_CASE("every command of the menus has a key of its own") {
  Opened opened;
  std::map<QString, QString> taken;
  for (const QAction* const top : opened.window->menuBar()->actions()) {
    for (const QAction* const action : top->menu()->actions()) {
      if (action->isSeparator() || action->menu() != nullptr) continue;
      CAPTURE(action->text().toStdString());
      const bool rare = action->text().contains("About");
      CHECK((rare || !action->shortcuts().isEmpty()));
      if (action->shortcutContext() != Qt::WindowShortcut) continue;
      for (const QKeySequence& key : action->shortcuts()) {
        CAPTURE(key.toString().toStdString());
        CHECK(taken.emplace(key.toString(), action->text()).second);
      }
    }
  }
}

TEST_CASE("what is shown has names for screen readers") {
  Opened opened(scenarios + "tiny-gpt-2cores.json");
  for (const HeadlineCard* const card : opened.window->headline_strip().findChildren<HeadlineCard*>())
    CHECK(card->accessibleName().contains(card->figure().value));
  for (const QLineEdit* const line : opened.window->form().findChildren<QLineEdit*>())
    if (line->parentWidget()->inherits("QComboBox") == false) CHECK_FALSE(line->accessibleName().isEmpty());
  QTableView* const table = qobject_cast<QTableView*>(opened.window->page(ViewTab::table));
  REQUIRE(table != nullptr);
  CHECK(table->model()->rowCount() > 10);
}

TEST_CASE("pictures are the same bytes every time, in both themes and at twice the scale") {
  Opened opened(scenarios + "tiny-gpt-2cores.json");
  opened.window->show_view(ViewTab::why);
  for (const bool dark : {false, true}) {
    apply_theme(*qApp, make_theme(dark));
    QTest::qWait(5);
    std::string bytes[2];
    for (std::string& one : bytes) {
      const QString path = opened.folder.filePath("why.png");
      write_widget_picture(*opened.window->page(ViewTab::why), path, 2);
      one = read_file(path.toStdString());
    }
    CHECK((bytes[0] == bytes[1]));
  }
  CHECK_THROWS_AS(write_widget_picture(*opened.window, opened.folder.filePath("x.gif")), InputError);
}

TEST_CASE("a list that is no trace is told which kinds of files open") {
  Opened opened;
  const QString path = opened.folder.filePath("list.json");
  write_file_whole(path.toStdString(), "[1, 2]");
  opened.open(path);
  for (const char* kind : {"scenario", "trace", "schedule", "sweep"}) {
    CAPTURE(kind);
    CHECK(opened.window->message_bar().text().contains(kind));
  }
}

TEST_CASE("an export is what its ending says, whatever its capitals, and another ending is refused") {
  Opened opened(scenarios + "tiny-gpt-2cores.json");
  const auto written = [&](const char* name) {
    opened.window->export_file(opened.folder.filePath(name));
    return read_file(opened.folder.filePath(name).toStdString());
  };
  CHECK(written("a.PNG").starts_with("\x89PNG"));
  CHECK(written("a.Svg").find("<svg") != std::string::npos);
  CHECK(written("a.JSON").starts_with("{"));
  CHECK(written("a.CSV").starts_with("key,value"));
  CHECK(written("a.TXT").find("tiny-gpt") != std::string::npos);
  for (const char* name : {"pic", "pic.gif", "run.v2"}) {
    CAPTURE(name);
    CHECK_THROWS_WITH(opened.window->export_file(opened.folder.filePath(name)),
                      Catch::Contains(".png") && Catch::Contains(".json"));
    CHECK_FALSE(QFile::exists(opened.folder.filePath(name)));
  }
}

TEST_CASE("a name without an ending gets that of the filter") {
  Opened opened(scenarios + "tiny-gpt-2cores.json");
  for (QAction* const action : opened.window->findChildren<QAction*>())
    if (action->shortcut() == QKeySequence("Ctrl+E")) action->trigger();
  QFileDialog* const dialog = opened.window->findChild<QFileDialog*>();
  REQUIRE(dialog != nullptr);
  CHECK(dialog->defaultSuffix() == "png");
  Q_EMIT dialog->filterSelected(dialog->nameFilters().back());
  CHECK(dialog->defaultSuffix() == "txt");
  Q_EMIT dialog->filterSelected(dialog->nameFilters().front());
  CHECK(dialog->defaultSuffix() == "png");
  dialog->close();
}

TEST_CASE("what was told of an earlier scenario goes when the figures change") {
  Opened opened(scenarios + "gpt-145b-selene.json");
  const auto told = [&] {
    const QList<QLabel*> labels = opened.window->statusBar()->findChildren<QLabel*>();
    return std::any_of(labels.begin(), labels.end(),
                       [](const QLabel* label) { return label->text().contains("111 GiB"); });
  };
  Q_EMIT opened.window->timeline_page().timeline().described("memory of rank 0: 111 GiB");
  REQUIRE(told());
  opened.type("/parallel/tensor", "4");
  CHECK_FALSE(told());
  Q_EMIT opened.window->timeline_page().timeline().described("memory of rank 0: 111 GiB");
  opened.window->document().close();
  opened.settle();
  CHECK_FALSE(told());
}

TEST_CASE("files are known by their first bytes") {
  const QTemporaryDir folder;
  const auto kind = [&](const char* name, const char* content) {
    write_file_whole(folder.filePath(name).toStdString(), content);
    return kind_of_file(folder.filePath(name));
  };
  CHECK(kind("a.json", "{\"model\": \"x\"}") == FileKind::scenario);
  CHECK(kind("b.json", "{\"traceEvents\": []}") == FileKind::trace);
  CHECK(kind("c.json", " [{\"name\": \"a\", \"ph\": \"X\"") == FileKind::trace);
  CHECK(kind("g.json", "[1, 2]") == FileKind::unknown);
  CHECK(kind("h.json", "[") == FileKind::unknown);
  CHECK(kind("d.csv", "0F0") == FileKind::schedule_csv);
  CHECK(kind("e.sgt", "") == FileKind::trace);
  CHECK(kind("f.txt", "hello") == FileKind::unknown);
  CHECK(kind_of_file(folder.path()) == FileKind::folder);
  CHECK(kind_of_file(folder.filePath("none")) == FileKind::missing);
}
