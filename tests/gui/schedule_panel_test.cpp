// The schedule editor as a panel: hand-made moves stay until they are undone, and figures are of schedules that run.
#include <catch2/catch.hpp>

#include "base/file_io.hpp"
#include "opened.hpp"
#include "schedule/csv_text.hpp"

using namespace stagecraft;
using namespace stagecraft::gui;

namespace {

struct Editor : Opened {
  SchedulePanel& panel = window->schedule_panel();

  Editor() {
    window->show_view(ViewTab::schedule);
    panel.show_schedule("1f1b", {4, 8, 1});
    QTest::qWait(5);
  }
  std::string table() const { return to_csv(panel.grid().schedule()); }
  QDoubleSpinBox* time(int i) const { return panel.findChildren<QDoubleSpinBox*>()[i]; }  // F, I, W, send
  QSpinBox* shape(int i) const { return panel.findChildren<QSpinBox*>()[i]; }             // p, m, v
  QComboBox* name() const { return panel.findChild<QComboBox*>(); }
  QPushButton* undo() const {
    for (QPushButton* const button : panel.findChildren<QPushButton*>())
      if (button->text().contains("&Undo") || button->text().contains("Back to")) return button;
    return nullptr;
  }
  bool says(const QString& text) const {
    const QList<QLabel*> labels = panel.findChildren<QLabel*>();
    return std::any_of(labels.begin(), labels.end(), [&](const QLabel* label) { return label->text().contains(text); });
  }
  void move_right(Slot slot) const {
    panel.view().select(slot);
    QTest::keyClick(&panel.view(), Qt::Key_Right, Qt::ControlModifier);
  }
};

}  // namespace

TEST_CASE("a time that changes keeps the moves that were made by hand") {
  Editor editor;
  REQUIRE(editor.panel.grid().name_of({3, 14}) == "3F7");
  editor.panel.show_schedule("gpipe", {4, 8, 1});
  editor.move_right({0, 0});
  const std::string moved = editor.table();
  for (int i = 0; i < 4; ++i) {
    editor.time(i)->setValue(2.5);
    CHECK(editor.table() == moved);
    CHECK(editor.undo()->isEnabled());
  }
  CHECK(editor.panel.grid().times().forward == std::vector<double>{2.5});
  CHECK(editor.panel.grid().times().send == 2.5);
  editor.undo()->click();
  CHECK(editor.panel.grid().name_of({0, 0}) == "0F0");
}

TEST_CASE("a searched schedule follows the times until an operation of it was moved") {
  Editor editor;
  editor.panel.show_schedule("zb-auto", {4, 8, 1});
  const std::string before = editor.table();
  editor.time(0)->setValue(3);
  editor.time(3)->setValue(1);
  CHECK(editor.table() != before);
  editor.move_right({0, 0});
  const std::string moved = editor.table();
  editor.time(0)->setValue(1);
  CHECK(editor.table() == moved);
}

TEST_CASE("the line below names the selected operation after every change") {
  Editor editor;
  editor.panel.view().select({1, 3});
  REQUIRE(editor.says(editor.panel.grid().name_of({1, 3}) + " on rank 1, place 3"));
  editor.move_right({1, 3});
  CHECK(editor.says(editor.panel.grid().name_of({1, 4}) + " on rank 1, place 4"));
  editor.undo()->click();
  CHECK(editor.panel.view().selected() == Slot{1, 3});
  CHECK(editor.says(editor.panel.grid().name_of({1, 3}) + " on rank 1, place 3"));
  editor.name()->setCurrentText("gpipe");
  CHECK(editor.says(editor.panel.grid().name_of({1, 3}) + " on rank 1, place 3"));
  editor.shape(0)->setValue(1);
  CHECK(editor.says("A schedule orders the operations of each rank"));
}

TEST_CASE("moves whose table another one took the place of come back, with what stood beside it") {
  Editor editor;
  editor.move_right({0, 0});
  const std::string moved = editor.table();
  SECTION("another p") {
    editor.shape(0)->setValue(2);
  }
  SECTION("another schedule") {
    editor.name()->setCurrentText("zb-h1");
  }
  SECTION("a file") {
    const QString csv = editor.folder.filePath("mine.csv");
    write_file_whole(csv.toStdString(), "0F0,0F1,0B0,0B1\n1F0,1B0,1F1,1B1\n");
    editor.panel.load_csv(csv);
  }
  REQUIRE(editor.table() != moved);
  CHECK(editor.undo()->text() == "Back to my &moves");
  editor.undo()->click();
  CHECK(editor.table() == moved);
  CHECK(editor.name()->currentText() == "1f1b");
  CHECK(editor.shape(0)->value() == 4);
  CHECK(editor.panel.csv_path().isEmpty());
  CHECK(editor.undo()->text() == "&Undo move");
  editor.undo()->click();
  CHECK(editor.panel.grid().name_of({0, 0}) == "0F0");
  CHECK_FALSE(editor.undo()->isEnabled());
}

TEST_CASE("a file that is shown says so, and its shape is its own until a schedule is picked") {
  Editor editor;
  const QString csv = editor.folder.filePath("mine.csv");
  write_file_whole(csv.toStdString(), "0F0,0F1,0B0,0B1\n1F0,1B0,1F1,1B1\n");
  editor.panel.load_csv(csv);
  const std::string loaded = editor.table();
  CHECK(editor.name()->currentText().isEmpty());
  CHECK(editor.name()->placeholderText() == "mine.csv");
  CHECK(editor.says(csv));
  for (int i = 0; i < 3; ++i) CHECK_FALSE(editor.shape(i)->isEnabled());
  CHECK(editor.shape(0)->value() == 2);
  CHECK(editor.shape(1)->value() == 2);
  editor.time(0)->setValue(2);
  CHECK(editor.table() == loaded);
  editor.name()->setCurrentText("1f1b");
  CHECK(editor.panel.csv_path().isEmpty());
  CHECK(editor.shape(0)->isEnabled());
  CHECK_FALSE(editor.shape(2)->isEnabled());  // 1F1B has one chunk
  CHECK_FALSE(editor.says(csv));
}

TEST_CASE("a file that cannot be read leaves moves and controls as they are") {
  Editor editor;
  editor.move_right({0, 0});
  const std::string moved = editor.table();
  const QString csv = editor.folder.filePath("bad.csv");
  write_file_whole(csv.toStdString(), "0F0,nonsense");
  CHECK_THROWS(editor.panel.load_csv(csv));
  CHECK(editor.table() == moved);
  CHECK(editor.name()->currentText() == "1f1b");
  CHECK(editor.undo()->text() == "&Undo move");
  CHECK(editor.undo()->isEnabled());
}

TEST_CASE("a schedule that does not run to its end has no figures") {
  Editor editor;
  REQUIRE(editor.says("makespan"));
  Slot forward{1, 0};
  while (editor.panel.grid().name_of(forward) != "1F1") ++forward.position;
  while (editor.panel.grid().name_of(forward) == "1F1" && !has_errors(editor.panel.grid().verdict())) {
    editor.move_right(forward);
    ++forward.position;
  }
  REQUIRE(has_errors(editor.panel.grid().verdict()));
  CHECK_FALSE(editor.says("makespan"));
  CHECK_FALSE(editor.says("messages <b>"));
  CHECK(editor.says("no figures"));
  while (editor.panel.grid().can_undo()) editor.undo()->click();
  CHECK(editor.says("makespan"));
}

TEST_CASE("in a schedule that deadlocks, what ran can be dragged back, and nothing else is drawn") {
  Editor editor;
  ScheduleView& view = editor.panel.view();
  ScheduleGrid& grid = editor.panel.grid();
  Slot last{1, 2};
  REQUIRE(grid.name_of(last) == "1F2");
  while (!has_errors(grid.verdict())) {  // further than 1B1, which waits for it
    editor.move_right(last);
    ++last.position;
  }
  REQUIRE_FALSE(grid.analysis().complete);
  const QImage unmarked = [&] {
    view.select({});
    return view.grab().toImage();
  }();
  view.select(last);
  CHECK(view.grab().toImage() == unmarked);  // it never runs: it has no place in time
  const Slot ran{1, 3};
  REQUIRE(grid.name_of(ran) == "1F3");
  const QPoint from = view.centre_of(ran), to = view.centre_of({1, 1}) - QPoint(2, 0);
  QTest::mousePress(view.viewport(), Qt::LeftButton, {}, from);
  CHECK(view.selected() == ran);
  QMouseEvent move(QEvent::MouseMove, to, view.viewport()->mapToGlobal(to), Qt::NoButton, Qt::LeftButton, {});
  QApplication::sendEvent(view.viewport(), &move);
  QTest::mouseRelease(view.viewport(), Qt::LeftButton, {}, to);
  CHECK(grid.name_of({1, 1}) == "1F3");
}

TEST_CASE("the key that undoes takes back a move while the picture has the focus, and no edit of the scenario") {
  Editor editor;
  editor.open(scenarios + "tiny-gpt-2cores.json");
  editor.type("/batch/micro", "4");
  REQUIRE(editor.window->document().modified());
  const std::string before = editor.table();
  editor.panel.view().setFocus();
  editor.move_right({0, 0});
  editor.move_right({0, 1});
  for (int i = 0; i < 3; ++i) {
    QTest::keyClick(&editor.panel.view(), Qt::Key_Z, Qt::ControlModifier);
    CHECK(editor.panel.grid().can_undo() == (i == 0));
  }
  CHECK(editor.table() == before);
  CHECK(editor.window->document().modified());
}
