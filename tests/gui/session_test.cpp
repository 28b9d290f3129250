// Edits are never lost without a question: closing, quitting, starting anew, windows beside each other.
#include <QAction>
#include <QMenuBar>
#include <catch2/catch.hpp>

#include "base/file_io.hpp"
#include "base/input_error.hpp"
#include "gui/models/hand_made_text.hpp"
#include "gui/models/json_edit.hpp"
#include "opened.hpp"
#include "schedule/csv_text.hpp"

using namespace stagecraft;
using namespace stagecraft::gui;

namespace {

struct Session : Opened {
  QString file = folder.filePath("mine.json");

  Session() {
    write_file_whole(file.toStdString(), read_file((scenarios + "tiny-gpt-2cores.json").toStdString()));
    open(file);
  }
  void edit(const char* micro) {
    window->document().set_field(*window->form().model().find("/batch/micro"), micro);
    settle();
  }
  std::string micro() const {
    return window->document().is_open() ? value_at(window->document().text(), "/batch/micro") : "none is open";
  }
  /// The window before is closed first, as by Ctrl+Q.
  void start(bool fresh) {
    if (window) window->close();
    window = another(fresh);
    settle();
  }
  std::unique_ptr<MainWindow> another(bool fresh) const {
    auto next = std::make_unique<MainWindow>(default_library(""));
    next->evaluator().set_simulating(false);
    if (!fresh) next->restore_session();
    next->show();
    return next;
  }
  void command(const QString& title) {
    for (QAction* const action : window->findChildren<QAction*>())
      if (QString(action->text()).remove('&') == title) return action->trigger();
    FAIL("no command " << title.toStdString());
  }
  SchedulePanel& editor() const { return window->schedule_panel(); }
  std::string table() const { return to_csv(editor().grid().schedule()); }
  void move_right(Slot slot) const {
    editor().view().select(slot);
    QTest::keyClick(&editor().view(), Qt::Key_Right, Qt::ControlModifier);
  }
  void undo_move() const {
    for (QPushButton* const button : editor().findChildren<QPushButton*>())
      if (button->text().contains("&Undo") || button->text().contains("Back to")) button->click();
  }
  void answer(const QString& title) {
    for (QPushButton* const button : window->message_bar().findChildren<QPushButton*>())
      if (button->text() == title && button->isVisibleTo(&window->message_bar())) {
        button->click();
        return settle();
      }
    FAIL("no answer " << title.toStdString());
  }
};

}  // namespace

TEST_CASE("closing a scenario that was edited asks first") {
  Session session;
  session.edit("4");
  session.command("Close scenario");
  CHECK(session.micro() == "4");
  CHECK(session.window->message_bar().text().contains("not saved"));
  SECTION("saving keeps the edit") {
    session.answer("Save, then close");
    CHECK_FALSE(session.window->document().is_open());
    CHECK(value_at(read_file(session.file.toStdString()), "/batch/micro") == "4");
  }
  SECTION("or it goes, as the user said") {
    session.answer("Close without saving");
    CHECK_FALSE(session.window->document().is_open());
    CHECK(value_at(read_file(session.file.toStdString()), "/batch/micro") == "2");
  }
  CHECK(session.window->message_bar().text().isEmpty());
}

TEST_CASE("closing a scenario that was not edited asks nothing") {
  Session session;
  session.command("Close scenario");
  CHECK_FALSE(session.window->document().is_open());
}

TEST_CASE("what a line holds when the scenario is saved or the window closed is an edit too", "[window]") {
  Session session;
  session.window->activateWindow();
  REQUIRE(QTest::qWaitForWindowActive(session.window.get()));
  session.type("/parallel/partition", "1, 3");
  SECTION("saved") {
    session.command("Save");
    CHECK(value_at(read_file(session.file.toStdString()), "/parallel/partition") == "[1, 3]");
  }
  SECTION("closed") {
    session.command("Close scenario");
    CHECK(session.window->document().is_open());
    CHECK(session.window->message_bar().text().contains("not saved"));
  }
  SECTION("back at the next start") {
    session.start(false);
    CHECK(value_at(session.window->document().text(), "/parallel/partition") == "[1, 3]");
  }
}

TEST_CASE("a start without the last session keeps the unsaved edits of that session") {
  Session session;
  session.edit("4");
  session.start(true);
  CHECK(session.micro() == "none is open");
  session.start(true);
  session.start(false);
  CHECK(session.micro() == "4");
  CHECK(session.window->document().modified());
  session.start(false);
  CHECK(session.micro() == "4");
}

TEST_CASE("unsaved edits that another scenario took the place of are offered at the next start") {
  Session session;
  session.edit("4");
  session.start(true);
  session.open(scenarios + "llama-3-8b-one-node.json");
  session.edit("2");
  session.start(false);
  CHECK(session.window->document().name() == "llama-3-8b-one-node.json");
  CHECK(session.micro() == "2");
  CHECK(session.window->message_bar().text().contains("mine.json"));
  session.start(false);  // not answered: offered again
  SECTION("and come back") {
    session.answer("Open them");
    session.answer("Open without saving");
    CHECK(session.window->document().name() == "mine.json");
    CHECK(session.micro() == "4");
    CHECK(session.window->document().modified());
    session.start(false);
    CHECK(session.micro() == "4");
    CHECK(session.window->message_bar().text().isEmpty());
  }
  SECTION("or are thrown away") {
    session.answer("Throw them away");
    session.start(false);
    CHECK(session.micro() == "2");
    CHECK(session.window->message_bar().text().isEmpty());
  }
}

TEST_CASE("of two windows that close one after the other, both keep their unsaved edits") {
  Session session;
  const std::unique_ptr<MainWindow> beside = session.another(true);
  beside->open_path(scenarios + "llama-3-8b-one-node.json");
  beside->document().set_field(*beside->form().model().find("/batch/micro"), "2");
  session.edit("4");
  session.window->close();
  beside->close();
  session.start(false);
  CHECK(session.window->document().name() == "llama-3-8b-one-node.json");
  session.answer("Open them");
  session.answer("Open without saving");
  CHECK(session.micro() == "4");
}

TEST_CASE("edits that were thrown away do not come back") {
  Session session;
  session.edit("4");
  session.start(false);
  session.command("Close scenario");
  session.answer("Close without saving");
  session.start(false);
  CHECK(session.micro() == "none is open");
  CHECK(session.window->message_bar().text().isEmpty());
}

TEST_CASE("unsaved edits of a file that is gone come back as often as they are not saved") {
  Session session;
  session.edit("4");
  QFile::remove(session.file);
  for (int i = 0; i < 2; ++i) {
    session.start(false);
    CHECK(session.micro() == "4");
    CHECK(session.window->document().modified());
  }
}

TEST_CASE("operations that were moved in the schedule editor are where they were at the next start") {
  Session session;
  session.window->show_view(ViewTab::schedule);
  session.settle();
  session.editor().show_schedule("gpipe", {4, 8, 1});
  session.editor().show_times({1, 2, 3, 0.5});
  const std::string before = session.table();
  session.move_right({0, 0});
  const std::string moved = session.table();
  for (int i = 0; i < 2; ++i) {
    session.start(false);
    CHECK(session.window->shown_view() == ViewTab::schedule);
    CHECK(session.table() == moved);
    CHECK(session.editor().times_shown() == std::vector<double>{1, 2, 3, 0.5});
    CHECK(session.editor().findChild<QComboBox*>()->currentText() == "gpipe");
  }
  session.undo_move();
  CHECK(session.table() == before);
  CHECK_FALSE(session.editor().grid().can_undo());
  session.start(false);
  CHECK_FALSE(session.editor().grid().can_undo());
  CHECK(session.editor().moved_tables().empty());
}

TEST_CASE("a schedule of a file and its moves come back, also when the file is gone") {
  Session session;
  const QString csv = session.folder.filePath("mine.csv");
  write_file_whole(csv.toStdString(), "0F0,0F1,0B0,0B1\n1F0,1B0,1F1,1B1\n");
  session.open(csv);
  const std::string loaded = session.table();
  session.start(false);
  CHECK(session.table() == loaded);
  CHECK(session.editor().csv_path() == csv);
  session.move_right({0, 0});
  const std::string moved = session.table();
  QFile::remove(csv);
  session.start(false);
  CHECK(session.table() == moved);
  CHECK(session.editor().csv_path() == csv);
  session.undo_move();
  CHECK(session.table() == loaded);
}

TEST_CASE("moves that another table took the place of, and those of another window, are kept too") {
  Session session;
  session.editor().show_schedule("gpipe", {4, 8, 1});
  session.move_right({0, 0});
  const std::string first = session.table();
  session.editor().show_schedule("1f1b", {4, 8, 1});
  session.start(true);
  session.editor().show_schedule("gpipe", {2, 4, 1});
  session.move_right({0, 1});
  const std::string second = session.table();
  session.start(false);
  CHECK(session.table() == second);
  session.undo_move();
  session.undo_move();
  CHECK(session.table() == first);
  session.start(true);
  session.start(false);
  CHECK(session.table() == first);
}

TEST_CASE("moves in a table that is too large for the settings are not kept, and it is told with the first of them") {
  Session session;
  session.editor().show_schedule("1f1b", {4, 8, 1});
  session.move_right({0, 0});
  session.editor().show_schedule("gpipe", {8, 4000, 1});
  REQUIRE(session.editor().grid().operations() > most_kept_operations);
  session.window->message_bar().hide();
  session.move_right({0, 0});
  CHECK(session.window->message_bar().text().contains("save the schedule as CSV"));
  session.window->message_bar().hide();
  session.move_right({0, 1});
  CHECK_FALSE(session.window->message_bar().isVisible());
  session.start(false);
  CHECK(QFileInfo(QSettings().fileName()).size() < 100'000);
  CHECK_FALSE(session.editor().grid().can_undo());
  REQUIRE(session.editor().moved_tables().size() == 1);
  CHECK(session.editor().moved_tables().front().table.schedule.name == "1f1b");
}

TEST_CASE("kept tables are not too large together: the oldest go") {
  Session session;
  for (int i = 0; i < 14; ++i) {
    session.editor().show_schedule("gpipe", {8, 2900 + i, 1});  // 46,400 operations and more
    session.move_right({0, 0});
  }
  session.start(false);
  const auto tables = session.editor().moved_tables();
  CHECK(QFileInfo(QSettings().fileName()).size() < 6'000'000);
  CHECK(tables.size() > 5);
  CHECK(tables.size() < 14);
  CHECK(tables.back().table.schedule.shape.micro_batches == 2913);
}

TEST_CASE("a kept schedule that cannot be read is told of and does no harm") {
  Session session;
  session.editor().show_schedule("gpipe", {4, 8, 1});
  session.move_right({0, 0});
  const std::string moved = session.table(), text = to_text(session.editor().grid().hand_made());
  REQUIRE(to_text(parse_hand_made(text)) == text);
  session.window->close();
  for (const std::string bad :
       {"", "nonsense", "0 0 1 \n{}", "0 0 \n", "9 0 1 \n", "0 99 1 \n", "0 0 99 \n", "0 0 -1 \n"}) {
    const bool whole = bad.ends_with(" \n");
    const std::string wrong = whole ? bad + text.substr(text.find('\n') + 1) : bad;
    CAPTURE(bad);
    CHECK_THROWS_AS(parse_hand_made(wrong), InputError);
    QSettings().setValue("schedule/moved", QStringList{"gpipe\n\n" + QString::fromStdString(wrong)});
    session.window = session.another(false);
    session.settle();
    CHECK(session.window->message_bar().text().contains("kept schedule"));
    CHECK_FALSE(session.editor().grid().can_undo());
  }
}
