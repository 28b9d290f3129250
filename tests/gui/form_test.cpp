// The form under the hands of a user: nothing open, words where numbers belong, undo by key, what stands against it.
#include <catch2/catch.hpp>

#include "base/file_io.hpp"
#include "gui/models/json_edit.hpp"
#include "opened.hpp"
#include "trace/native_format.hpp"

using namespace stagecraft;
using namespace stagecraft::gui;

namespace {

void check_disabled_and_empty(const Opened& opened) {
  for (FieldRow* const row : opened.window->form().findChildren<FieldRow*>()) {
    CAPTURE(row->field().pointer);
    CHECK_FALSE(row->findChild<FieldEditor*>()->isEnabled());
    CHECK(row->value() == FieldValue{});
    for (const QLineEdit* const line : row->findChildren<QLineEdit*>()) {
      CHECK(line->text().isEmpty());
      CHECK(line->placeholderText().isEmpty());
    }
    for (const QPushButton* const button : row->findChildren<QPushButton*>()) CHECK_FALSE(button->isVisibleTo(row));
  }
}

/// As a window that is not on a screen lets a test do it: signals of the row, which a disabled editor would not send.
void touch(const Opened& opened) {
  FieldRow* const row = opened.window->form().row("/parallel/tensor");
  CHECK_NOTHROW(Q_EMIT row->typed("4"));
  CHECK_NOTHROW(Q_EMIT row->reset());
  CHECK_FALSE(opened.window->document().is_open());
}

QStringList banner_lines(const Opened& opened) {
  QStringList lines;
  for (const QLabel* const label : opened.window->form().findChildren<QLabel*>())
    if (label->textInteractionFlags() == Qt::TextBrowserInteraction) lines.append(label->text());
  return lines;
}

}  // namespace

TEST_CASE("with no scenario open the form is disabled and empty, and typing into it ends nothing") {
  Opened opened;
  SECTION("at first") {
    opened.window->show_view(ViewTab::schedule);
  }
  SECTION("with a schedule open") {
    const QString csv = opened.folder.filePath("mine.csv");
    write_file_whole(csv.toStdString(), "0F0,0F1,0B0,0B1\n1F0,1B0,1F1,1B1\n");
    opened.open(csv);
  }
  SECTION("after a scenario was closed") {
    opened.open(scenarios + "tiny-gpt-2cores.json");
    CHECK(opened.editor("/parallel/tensor")->isEnabled());
    opened.window->document().close();
    opened.settle();
  }
  check_disabled_and_empty(opened);
  touch(opened);
  opened.open(scenarios + "tiny-gpt-2cores.json");
  CHECK(opened.editor("/parallel/tensor")->isEnabled());
  CHECK(opened.editor("/parallel/tensor")->text() == "1");
}

TEST_CASE("with only a trace open the form is disabled and empty") {
  Opened opened(scenarios + "tiny-gpt-2cores.json");
  const QString path = opened.folder.filePath("measured.sgt");
  write_trace(opened.window->evaluator().trace()->trace, path.toStdString());
  opened.window->document().close();
  opened.open(path);
  REQUIRE(opened.window->measured() != nullptr);
  check_disabled_and_empty(opened);
  touch(opened);
}

TEST_CASE("a number that is being typed may be none for a while: the field says so and goes on") {
  Opened opened(scenarios + "gpt-145b-selene.json");
  const std::string before = opened.window->document().text();
  for (const char* typed : {"1e3", "2.", "01", "+2", "--1", "1e999", "-", "e"}) {
    CAPTURE(typed);
    opened.type("/sequence_length", typed);
    CHECK_FALSE(value_at(opened.window->document().text(), "/sequence_length").empty());
  }
  const auto refused = [&] {
    const std::vector<Problem> problems = opened.window->form().model().problems("/sequence_length");
    return !problems.empty() && problems.front().severity == Severity::error;
  };
  CHECK(refused());
  opened.type("/sequence_length", "2048");
  CHECK(value_at(opened.window->document().text(), "/sequence_length") == "2048");
  CHECK_FALSE(refused());
  while (opened.window->document().undo_stack().canUndo()) opened.window->document().undo_stack().undo();
  CHECK(opened.window->document().text() == before);
}

TEST_CASE("a number that is typed slowly arrives as it was typed") {
  Opened opened(scenarios + "tiny-gpt-2cores.json");
  const std::vector<FormField>& fields = opened.window->form().model().fields();
  const auto found = std::find_if(fields.begin(), fields.end(), [&](const FormField& field) {
    return field.kind == FieldKind::number && opened.editor(field.pointer.c_str()) != nullptr;
  });
  REQUIRE(found != fields.end());
  opened.window->form().go_to(found->pointer);
  QLineEdit* const line = opened.editor(found->pointer.c_str());
  line->selectAll();
  for (const char* digit : {"0", ".", "0", "0", "1"}) {
    QTest::keyClicks(line, digit);
    opened.settle();
  }
  CHECK(value_at(opened.window->document().text(), found->pointer) == "0.001");
}

TEST_CASE("a wrong element of a list turns the list's field red") {
  Opened opened(scenarios + "tiny-gpt-2cores.json");
  for (const char* typed : {"1e,2", "9,x"}) {
    CAPTURE(typed);
    opened.type("/parallel/partition", typed);
    QTest::keyClick(opened.editor("/parallel/partition"), Qt::Key_Return);
    opened.settle();
    CHECK_FALSE(opened.window->form().model().problems("/parallel/partition").empty());
    CHECK(opened.window->form().row("/parallel/partition")->findChild<QComboBox*>()->property("wrong").toBool());
  }
}

TEST_CASE("the banner shows what the reader says as it says it") {
  Opened opened;
  const QString path = opened.folder.filePath("odd.json");
  write_file_whole(path.toStdString(), R"({"model": "tiny-gpt", "cluster": "host-2core", "partition": [1, 1]})");
  opened.open(path);
  const QStringList lines = banner_lines(opened);
  REQUIRE_FALSE(lines.empty());
  CHECK(lines.join("\n").contains("\"partition\""));
  CHECK_FALSE(lines.join("\n").contains("&quot;"));
}

TEST_CASE("undo and redo by key are the document's while a field has the focus", "[window]") {
  Opened opened(scenarios + "llama-3-8b-one-node.json");
  opened.window->activateWindow();
  REQUIRE(QTest::qWaitForWindowActive(opened.window.get()));
  const std::string before = opened.window->document().text();
  opened.type("/parallel/tensor", "8");
  const std::string after = opened.window->document().text();
  REQUIRE(after != before);
  QLineEdit* const line = opened.editor("/parallel/tensor");
  REQUIRE(line->hasFocus());
  QTest::keyClick(line, Qt::Key_Z, Qt::ControlModifier);
  opened.settle();
  CHECK(opened.window->document().text() == before);
  CHECK(opened.window->document().undo_stack().count() == 1);
  CHECK(line->text() == "4");
  QTest::keyClick(line, Qt::Key_Z, Qt::ControlModifier);  // nothing is left to undo
  CHECK(opened.window->document().text() == before);
  QTest::keyClick(line, Qt::Key_Z, Qt::ControlModifier | Qt::ShiftModifier);
  opened.settle();
  CHECK(opened.window->document().text() == after);
  CHECK(line->text() == "8");
}

TEST_CASE("undo in a line takes back what was typed there and not taken yet", "[window]") {
  Opened opened(scenarios + "tiny-gpt-2cores.json");
  opened.window->activateWindow();
  REQUIRE(QTest::qWaitForWindowActive(opened.window.get()));
  const std::string before = opened.window->document().text();
  QLineEdit* const line = opened.editor("/parallel/partition");
  const QString shown = line->text();
  opened.type("/parallel/partition", "1, 3");
  REQUIRE(line->isModified());
  for (int i = 0; i < 8 && line->isModified(); ++i) QTest::keyClick(line, Qt::Key_Z, Qt::ControlModifier);
  CHECK(line->text() == shown);
  CHECK(opened.window->document().text() == before);
}

TEST_CASE("the key that leads to the form selects the value there, which is typed over") {
  Opened opened(scenarios + "llama-3-8b-one-node.json");
  REQUIRE(opened.editor("/parallel/tensor")->text() == "4");
  opened.window->form().go_to("/parallel/tensor");
  QTest::keyClicks(opened.editor("/parallel/tensor"), "8");
  CHECK(opened.editor("/parallel/tensor")->text() == "8");
}
