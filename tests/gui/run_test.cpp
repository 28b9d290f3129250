// Runs that the window starts: with the command-line program as it is built, and, where the executor or minutes would
// be needed, with a script in its place that does what the program is documented to do.
#include <QAction>
#include <QProgressBar>
#include <QPushButton>

#include "base/file_io.hpp"
#include "gui/models/json_edit.hpp"
#include "opened.hpp"
#include "trace/native_format.hpp"

using namespace stagecraft;
using namespace stagecraft::gui;

namespace {

/// A window whose command-line program is a script; what it is called with is written to `words`.
struct Scripted : Opened {
  QString program = folder.filePath("program"), words = folder.filePath("words");

  explicit Scripted(const QString& script) : Opened(scenarios + "tiny-gpt-2cores.json") {
    const QString text =
        "#!/bin/sh\necho \"$@\" >\"" + words + "\"\nfor last; do :; done\ncd \"" + folder.path() + "\"\n" + script;
    write_file_whole(program.toStdString(), text.toStdString());
    QFile::setPermissions(program, QFile::ReadOwner | QFile::WriteOwner | QFile::ExeOwner);
    qputenv("STAGECRAFT_PROGRAM", program.toUtf8());
  }
  ~Scripted() { qunsetenv("STAGECRAFT_PROGRAM"); }

  void run(RunKind kind, const QString& output = {}) {
    window->run_panel().start(kind, output);
    REQUIRE(wait_for([&] { return !window->run_panel().running(); }));
    settle();
  }
  QString called_with() const { return QString::fromStdString(read_file(words.toStdString())).trimmed(); }
};

/// The words of the output option of a script.
const char* const output_option = "while [ $# -gt 1 ]; do case $1 in --trace|--output) out=$2;; esac; shift; done\n";

QPushButton* button(QWidget& panel, const QString& text) {
  for (QPushButton* const one : panel.findChildren<QPushButton*>())
    if (one->text() == text) return one;
  return nullptr;
}

}  // namespace

TEST_CASE("an execution brings its trace over the prediction, with log and progress on the way") {
  Scripted opened(QString("echo 'step 1 of 3'\nsleep 0.1\necho 'step 2 of 3'\necho loss 9.7 >&2\n") + output_option +
                  "cp measured.sgt \"$out\"\n");
  Trace measured = opened.window->evaluator().trace()->trace;
  measured.kind = "measured";
  write_trace(measured, opened.folder.filePath("measured.sgt").toStdString());
  RunPanel& panel = opened.window->run_panel();
  QPushButton* const start = button(panel, "Execute here");
  REQUIRE(start != nullptr);
  start->click();
  CHECK(panel.running());
  CHECK_FALSE(start->isEnabled());
  CHECK(button(panel, "Cancel")->isEnabled());
  REQUIRE(wait_for([&] { return panel.progress().value() == 2; }));
  CHECK(panel.progress().maximum() == 3);
  REQUIRE(wait_for([&] { return opened.window->measured() != nullptr; }));
  opened.settle();
  CHECK(panel.log().contains("step 2 of 3"));
  CHECK(panel.log().contains("loss 9.7"));
  CHECK(panel.state().contains("execute: done"));
  CHECK(
      opened.called_with().startsWith("execute " + scenarios + "tiny-gpt-2cores.json --steps 3 --device cpu --trace "));
  CHECK_FALSE(opened.called_with().contains("--in-process"));
  CHECK(opened.window->shown_view() == ViewTab::compare);
  CHECK(opened.window->timeline_page().timeline().view().sources.size() == 2);
  CHECK(start->isEnabled());
}

TEST_CASE("ranks as threads, steps and device are what the program is started with") {
  CHECK(run_arguments(RunKind::execute, "s.json", "m.sgt", 7, true, "cuda") ==
        QStringList{"execute", "s.json", "--steps", "7", "--device", "cuda", "--trace", "m.sgt", "--in-process"});
  CHECK(run_arguments(RunKind::profile, "s.json", "c.json", 7, true, "cpu") ==
        QStringList{"profile", "s.json", "--device", "cpu", "--output", "c.json"});
  CHECK(run_arguments(RunKind::bundle, "s.json", "folder", 7, false, "cpu") ==
        QStringList{"bundle", "s.json", "--steps", "7", "--output", "folder"});
  CHECK(run_arguments(RunKind::check, "s.json", "", 7, true, "cpu") == QStringList{"check", "s.json"});
}

TEST_CASE("a scenario that was edited is run as it stands, not as its file stands") {
  Scripted opened("cat \"$last\"\n");
  opened.window->document().set_field(*opened.window->form().model().find("/batch/micro"), "4");
  opened.settle();
  opened.run(RunKind::check);
  CHECK_FALSE(opened.called_with().contains("tiny-gpt-2cores.json"));
  CHECK(opened.window->run_panel().log().contains("\"micro\": 4"));
}

TEST_CASE("a run that is cancelled ends at once, says so, and leaves nothing behind") {
  Scripted opened("echo started\nexec sleep 600\n");
  RunPanel& panel = opened.window->run_panel();
  panel.start(RunKind::execute);
  REQUIRE(wait_for([&] { return panel.log().contains("started"); }));
  button(panel, "Cancel")->click();
  CHECK_FALSE(panel.running());
  CHECK(panel.state() == "execute: cancelled");
  CHECK(panel.log().contains("cancelled"));
  CHECK(button(panel, "Execute here")->isEnabled());
  CHECK(opened.window->measured() == nullptr);
}

TEST_CASE("a run that fails tells what its exit code means, and its trace is not shown") {
  const std::pair<int, const char*> codes[] = {{2, "could not be started"},
                                               {3, "the scenario cannot run"},
                                               {6, "a rank failed"},
                                               {7, "timed out"},
                                               {1, "see the log"}};
  for (const auto& [code, meaning] : codes) {
    CAPTURE(code);
    Scripted opened(QString(output_option) + QString("touch \"$out\"\necho broken >&2\nexit %1\n").arg(code));
    opened.run(RunKind::execute);
    CHECK(opened.window->run_panel().state().contains(meaning));
    CHECK(opened.window->run_panel().log().contains("broken"));
    CHECK(opened.window->measured() == nullptr);
    CHECK(opened.window->message_bar().text().isEmpty());
  }
}

TEST_CASE("a profile of this machine becomes the calibration of the scenario") {
  Scripted opened(QString(output_option) + "cp \"" STAGECRAFT_SOURCE_DIR
                                           "/topologies/calibrations/host-cpu.json\" \"$out\"\n");
  opened.run(RunKind::profile);
  const std::string calibration = value_at(opened.window->document().text(), "/calibration");
  CHECK(calibration.ends_with("calibration.json\""));
  CHECK(opened.window->document().modified());
  REQUIRE(opened.window->evaluator().report() != nullptr);
}

TEST_CASE("a program that is not there is told, and nothing runs") {
  Opened opened(scenarios + "tiny-gpt-2cores.json");
  qputenv("STAGECRAFT_PROGRAM", "/nowhere/stagecraft");
  opened.window->run_panel().start(RunKind::check);
  qunsetenv("STAGECRAFT_PROGRAM");
  CHECK_FALSE(opened.window->run_panel().running());
  CHECK(opened.window->run_panel().log().contains("STAGECRAFT_PROGRAM"));
}

TEST_CASE("a run that is started from the start page shows itself, or says that there is nothing to run") {
  const auto press = [](MainWindow& window, const char* key) {
    for (QAction* const action : window.findChildren<QAction*>())
      if (action->shortcut() == QKeySequence(key)) return action->trigger();
    FAIL("no command has the key " << key);
  };
  Opened empty;
  for (const char* key : {"F5", "F7", "F8", "F9", "Ctrl+Shift+E"}) {
    CAPTURE(key);
    empty.window->message_bar().hide();
    press(*empty.window, key);
    CHECK(empty.window->message_bar().isVisible());
    CHECK(empty.window->message_bar().text().contains("Open a scenario first"));
    CHECK_FALSE(empty.window->run_panel().running());
  }
  Opened opened(scenarios + "tiny-gpt-2cores.json");
  press(*opened.window, "Ctrl+0");
  REQUIRE_FALSE(opened.window->run_panel().isVisible());
  press(*opened.window, "F7");
  CHECK(opened.window->run_panel().isVisible());
  REQUIRE(wait_for([&] { return !opened.window->run_panel().running(); }));
}

TEST_CASE("the command-line program checks a scenario and writes a bundle for a cluster") {
  Opened opened(scenarios + "tiny-gpt-2cores.json");
  RunPanel& panel = opened.window->run_panel();
  panel.start(RunKind::check);
  REQUIRE(wait_for([&] { return !panel.running(); }));
  CHECK(panel.state().contains("check: done"));
  const QString bundle = opened.folder.filePath("bundle");
  panel.start(RunKind::bundle, bundle);
  REQUIRE(wait_for([&] { return !panel.running(); }));
  CAPTURE(panel.log().toStdString());
  CHECK(panel.state().contains("bundle: done"));
  for (const char* const name : {"scenario", "schedule.json", "run_rank"}) CHECK(QFile::exists(bundle + "/" + name));
}

TEST_CASE("the command-line program executes here where the executor is built, and says what is missing elsewhere") {
  Opened opened(scenarios + "tiny-gpt-2cores.json");
  RunPanel& panel = opened.window->run_panel();
  panel.start(RunKind::execute);
  REQUIRE(wait_for([&] { return !panel.running(); }));
  CAPTURE(panel.log().toStdString());
  if (QFile::exists(STAGECRAFT_BINARY_DIR "/bin/stagecraft-exec")) {
    CHECK(panel.state().contains("execute: done"));
    REQUIRE(wait_for([&] { return opened.window->measured() != nullptr; }));
  } else {
    CHECK(panel.log().contains("stagecraft-exec"));
    CHECK_FALSE(panel.state().contains("done"));
    CHECK(opened.window->measured() == nullptr);
  }
}
