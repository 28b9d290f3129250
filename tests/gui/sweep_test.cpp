// The view Sweep as a user works in it, with the command-line program as it is built: start, watch, cancel, resume,
// look, take a point into the form.
#include <QComboBox>
#include <QFileInfo>
#include <QProcess>
#include <QPushButton>
#include <QSplitter>
#include <algorithm>
#include <set>

#include "base/file_io.hpp"
#include "gui/models/json_edit.hpp"
#include "opened.hpp"
#include "search/sweep_journal.hpp"

using namespace stagecraft;
using namespace stagecraft::gui;

namespace {

/// Enough points to stop in the middle of them, in one process.
const QStringList large{"parallel.tensor=1,2,4,8,3", "batch.micro=1..4*2", "zero_stage=0..3",
                        "recompute=none,selective,full"};
constexpr std::size_t large_points = 5 * 3 * 4 * 3;

/// A window on the view Sweep whose results go to a folder of the test.
struct Sweeping : Opened {
  QString output = folder.filePath("points.json");

  explicit Sweeping(const QString& scenario = "llama-3-8b-one-node.json") : Opened(scenarios + scenario) {
    window->show_view(ViewTab::sweep);
    page().set_output(output);
    page().set_estimate(true);
    settle();
  }
  ~Sweeping() { qunsetenv("STAGECRAFT_PROGRAM"); }
  SweepPage& page() { return window->sweep_page(); }
  QPushButton* button(const QString& text) {
    for (QPushButton* const one : page().findChildren<QPushButton*>())
      if (one->text() == text) return one;
    return nullptr;
  }
  void click(const QString& text) {
    REQUIRE(button(text) != nullptr);
    REQUIRE(button(text)->isEnabled());
    QTest::mouseClick(button(text), Qt::LeftButton);
  }
  void wait_until_done() {
    REQUIRE(wait_for([&] { return !page().busy(); }));
    settle();
  }
  void sweep(const QStringList& axes) {
    page().axes().set_texts(axes);
    click("Start sweep");
    wait_until_done();
  }
  /// The program with other words, or a script in its place.
  void replace_program(const QString& script) {
    const QString program = folder.filePath("program");
    write_file_whole(program.toStdString(), ("#!/bin/sh\n" + script).toStdString());
    QFile::setPermissions(program, QFile::ReadOwner | QFile::WriteOwner | QFile::ExeOwner);
    qputenv("STAGECRAFT_PROGRAM", program.toUtf8());
  }
  int row_of(const std::vector<std::string>& values) {
    const auto& points = page().points().points();
    const auto found = std::find_if(points.begin(), points.end(), [&](const Point& p) { return p.values == values; });
    return found == points.end() ? -1 : static_cast<int>(found - points.begin());
  }
  /// Starts the large sweep with one worker and cancels it once some points are there.
  void cancel_midway() {
    replace_program("exec \"" STAGECRAFT_BINARY_DIR "/bin/stagecraft\" \"$@\" --workers 1\n");
    page().axes().set_texts(large);
    click("Start sweep");
    REQUIRE(wait_for([&] { return page().points().points().size() > 10 || !page().busy(); }));
    click("Cancel");
    wait_until_done();
  }
  std::string field(const char* pointer) { return value_at(window->document().text(), pointer); }
};

/// Nobody is at least as good in both and better in one.
bool nobody_beats(const std::vector<Point>& points, const Point& point) {
  return std::none_of(points.begin(), points.end(), [&](const Point& other) {
    if (other.status != PointStatus::ok) return false;
    const double rate = other.figures.tokens_per_s - point.figures.tokens_per_s;
    const double memory = point.figures.peak_memory_bytes - other.figures.peak_memory_bytes;
    return rate >= 0 && memory >= 0 && (rate > 0 || memory > 0);
  });
}

const QStringList small{"parallel.tensor=1,2,3,4,8", "batch.micro=1,2"};

}  // namespace

TEST_CASE("a sweep that is started from the view ends with its points in table and scatter", "[window]") {
  Sweeping opened;
  opened.sweep(small);
  CHECK(opened.page().message_bar().text().isEmpty());
  CHECK(opened.page().state().startsWith("all 10 points"));
  const std::vector<Point>& points = opened.page().points().points();
  REQUIRE(points.size() == 10);
  CHECK(opened.page().table().sorted().rowCount() == 10);

  // The file that the command writes says the same.
  const PointTable written = read_points_json(read_file(opened.output.toStdString()), "points.json");
  REQUIRE(written.points.size() == 10);
  std::size_t timed = 0;
  for (const Point& point : written.points) {
    const int row = opened.row_of(point.values);
    REQUIRE(row >= 0);
    const Point& shown = points[static_cast<std::size_t>(row)];
    CHECK(point_line(shown) == point_line(point));
    CHECK(shown.on_front == point.on_front);
    CHECK(shown.on_front == (shown.status == PointStatus::ok && nobody_beats(points, shown)));
    timed += has_figures(point) ? 1 : 0;
  }
  CHECK(opened.page().plot().picture().points.size() == timed);

  // Three-way tensor parallelism divides nothing in this model: it stays in the table with its reason.
  const int bad = opened.row_of({"3", "1"});
  CHECK(words_of(verdict_of(points[static_cast<std::size_t>(bad)])) == "cannot run");
  const SweepPointsModel& model = opened.page().points();
  CHECK(model.index(bad, model.reason_column()).data().toString().contains('3'));
  opened.page().table().set_filter(SweepFilter::cannot_run);
  CHECK(opened.page().table().sorted().rowCount() == 2);
  opened.page().table().set_filter(SweepFilter::all);
  const auto verdict_at = [&](int line) {
    return opened.page().table().sorted().index(line, 0).data(SweepPointsModel::verdict_role).toInt();
  };
  CHECK(verdict_at(0) == static_cast<int>(Verdict::frontier));
  CHECK(verdict_at(9) == static_cast<int>(Verdict::cannot_run));
}

TEST_CASE("a sweep that is cancelled keeps its points, and resumed it writes the bytes of one that ran through",
          "[window]") {
  Sweeping opened("gpt-1.7b-selene.json");
  opened.replace_program("exec \"" STAGECRAFT_BINARY_DIR "/bin/stagecraft\" \"$@\" --workers 1\n");
  opened.page().axes().set_texts(large);
  const auto total = static_cast<std::size_t>(opened.page().axes().points());
  opened.click("Start sweep");
  CHECK(opened.button("Cancel")->isEnabled());
  CHECK_FALSE(opened.button("Start sweep")->isEnabled());
  REQUIRE(wait_for([&] { return opened.page().points().points().size() > 10 || !opened.page().busy(); }));
  CHECK(opened.page().state().contains("per second"));
  opened.click("Cancel");
  opened.wait_until_done();
  const std::size_t kept = opened.page().points().points().size();
  CHECK(kept > 10);
  REQUIRE(kept < total);
  CHECK(opened.page().state().contains(QString("%1 of %2 points are kept").arg(kept).arg(total)));
  CHECK_FALSE(QFile::exists(opened.output));

  opened.click("Resume");
  opened.wait_until_done();
  CHECK(opened.page().points().points().size() == total);
  CHECK_FALSE(opened.button("Resume")->isEnabled());
  const std::string resumed = read_file(opened.output.toStdString());

  opened.click("Start sweep");  // at the same place: asks first
  CHECK(opened.page().message_bar().text().contains("earlier sweep"));
  CHECK(read_file(opened.output.toStdString()) == resumed);
  qunsetenv("STAGECRAFT_PROGRAM");
  opened.click("Start anew");
  opened.wait_until_done();
  CHECK(opened.page().points().points().size() == total);
  CHECK((read_file(opened.output.toStdString()) == resumed));
}

TEST_CASE("a cancelled sweep goes on in the next session from its journal", "[window]") {
  Sweeping opened("gpt-1.7b-selene.json");
  opened.cancel_midway();
  const std::size_t kept = opened.page().points().points().size();
  opened.window->save_session();
  opened.window = std::make_unique<MainWindow>(default_library(""));
  opened.window->evaluator().set_simulating(false);
  opened.window->restore_session();
  opened.window->show();
  opened.wait_until_done();
  CHECK(opened.page().points().points().size() == kept);
  CHECK(opened.page().axes().texts() == large);
  CHECK(opened.page().output() == opened.output);
  opened.window->show_view(ViewTab::sweep);
  opened.click("Resume");
  opened.wait_until_done();
  CHECK(opened.page().points().points().size() == large_points);
  CHECK(QFile::exists(opened.output));
}

TEST_CASE("the journal of a shard is resumed as that shard, and no other point is computed", "[window]") {
  Sweeping opened;
  QStringList words{"sweep", scenarios + "llama-3-8b-one-node.json", "--estimate"};
  for (const QString& axis : small) words << "--vary" << axis;
  words << "--shard"
        << "2/3"
        << "--output" << opened.output << "--format"
        << "json";
  REQUIRE(QProcess::execute(STAGECRAFT_BINARY_DIR "/bin/stagecraft", words) == 0);
  const std::string whole = read_file(opened.output.toStdString());
  const std::string journal = (opened.output + ".journal").toStdString(), lines = read_file(journal);
  write_file_whole(journal, lines.substr(0, lines.find('\n', lines.find('\n') + 1) + 1));  // one point
  QFile::remove(opened.output);

  opened.page().open(QString::fromStdString(journal));
  opened.wait_until_done();
  CHECK(opened.page().state().startsWith("1 of 3 points"));
  opened.click("Resume");
  opened.wait_until_done();
  CAPTURE(opened.page().message_bar().text().toStdString());
  CHECK(opened.page().state().startsWith("all 3 points"));
  std::vector<std::int64_t> numbers;
  for (const Point& point : opened.page().points().points()) numbers.push_back(point.number);
  std::sort(numbers.begin(), numbers.end());
  CHECK(numbers == std::vector<std::int64_t>{1, 4, 7});
  CHECK((read_file(opened.output.toStdString()) == whole));
  CHECK_FALSE(opened.button("Resume")->isEnabled());
}

TEST_CASE("a cancelled search goes on in the next session, with the result of one that was not", "[window]") {
  const QStringList restricted{"batch.micro=1,2,4", "recompute=none,full"};
  Sweeping opened("gpt-1.7b-selene.json");
  opened.page().axes().set_texts(restricted);
  opened.click("Search layouts");
  opened.wait_until_done();
  const std::string whole = read_file(opened.output.toStdString());
  const std::string journal = (opened.output + ".journal").toStdString();
  const auto lines_of = [](const std::string& text) { return std::count(text.begin(), text.end(), '\n'); };
  const auto whole_lines = lines_of(read_file(journal));

  opened.replace_program("exec \"" STAGECRAFT_BINARY_DIR "/bin/stagecraft\" \"$@\" --threads 1\n");
  QFile::remove(opened.output);
  QFile::remove(QString::fromStdString(journal));
  opened.click("Search layouts");
  REQUIRE(
      wait_for([&] { return QFileInfo(QString::fromStdString(journal)).size() > 20'000 || !opened.page().busy(); }));
  opened.click("Cancel");
  opened.wait_until_done();
  CHECK(opened.page().state().startsWith("cancelled: what was computed is kept"));
  CHECK_FALSE(QFile::exists(opened.output));

  opened.window->save_session();
  opened.window = std::make_unique<MainWindow>(default_library(""));
  opened.window->evaluator().set_simulating(false);
  opened.window->restore_session();
  opened.window->show();
  opened.wait_until_done();
  CHECK(opened.page().state().startsWith("a search without results yet"));
  opened.window->show_view(ViewTab::sweep);
  opened.click("Resume");
  opened.wait_until_done();
  CAPTURE(opened.page().message_bar().text().toStdString());
  CHECK((read_file(opened.output.toStdString()) == whole));
  CHECK(lines_of(read_file(journal)) == whole_lines);  // nothing twice
  CHECK(opened.page().points().rowCount() > 100);
  CHECK_FALSE(opened.button("Resume")->isEnabled());
  // What is done is opened by its result, also if its journal is named.
  opened.page().open(QString::fromStdString(journal));
  opened.wait_until_done();
  CHECK(opened.page().points().rowCount() > 100);
  CHECK_FALSE(opened.button("Resume")->isEnabled());
}

TEST_CASE("a search tries the listed values only, and cannot start with a field that it does not try", "[window]") {
  Sweeping opened;
  opened.page().axes().set_texts({"parallel.tensor=2,4", "batch.micro=1"});
  opened.click("Search layouts");
  opened.wait_until_done();
  CAPTURE(opened.page().message_bar().text().toStdString());
  const PointTable& table = opened.page().points().table();
  REQUIRE(table.points.size() > 20);
  std::set<std::string> tensor, micro;
  for (const Point& point : table.points) {
    for (std::size_t i = 0; i < table.axes.size(); ++i) {
      if (table.axes[i].path == "parallel.tensor") tensor.insert(point.values[i]);
      if (table.axes[i].path == "batch.micro") micro.insert(point.values[i]);
    }
  }
  CHECK(tensor == std::set<std::string>{"2", "4"});
  CHECK(micro == std::set<std::string>{"1"});

  opened.page().axes().set_texts({"sequence_length=1024,2048"});
  CHECK(opened.button("Start sweep")->isEnabled());
  CHECK_FALSE(opened.button("Search layouts")->isEnabled());
  CHECK(opened.button("Search layouts")->toolTip().contains("sequence_length"));
  opened.page().start(SweepKind::search);  // by its key
  CHECK_FALSE(opened.page().busy());
  CHECK(opened.page().message_bar().text().contains("sequence_length"));
}

TEST_CASE("a double click on a row brings the point into the form, and undo brings back what was there", "[window]") {
  Sweeping opened;
  const std::string before = opened.window->document().text();
  opened.sweep(small);
  const int row = opened.row_of({"2", "2"});
  QTableView& view = opened.page().table().view();
  const QModelIndex index = opened.page().table().sorted().mapFromSource(
      opened.page().points().index(row, opened.page().points().axis_columns()));
  view.scrollTo(index);
  const QPoint place = view.visualRect(index).center();
  QTest::mouseClick(view.viewport(), Qt::LeftButton, {}, place);
  CHECK(opened.page().plot().current_row() == row);
  CHECK(opened.field("/parallel/tensor") != "2");
  QTest::mouseDClick(view.viewport(), Qt::LeftButton, {}, place);
  opened.settle();
  CHECK(opened.field("/parallel/tensor") == "2");
  CHECK(opened.field("/batch/micro") == "2");
  const Point& point = opened.page().points().points()[static_cast<std::size_t>(row)];
  REQUIRE(opened.window->evaluator().report() != nullptr);
  CHECK(opened.window->evaluator().report()->tokens_per_s.value == Approx(point.figures.tokens_per_s));
  opened.window->document().undo_stack().undo();
  CHECK(opened.window->document().text() == before);
}

TEST_CASE("in the scatter a double click takes a point, and so do the arrow keys and Enter", "[window]") {
  Sweeping opened;
  opened.sweep(small);
  ParetoPlot& plot = opened.page().plot();
  const ParetoPicture& picture = plot.picture();
  const PlotPoint point = picture.points[1];
  const std::vector<std::string> values = opened.page().points().point(point.row).values;
  QTest::mouseDClick(&plot, Qt::LeftButton, {}, picture.place(point).toPoint());
  opened.settle();
  CHECK(opened.field("/parallel/tensor") == values[0]);
  CHECK(opened.field("/batch/micro") == values[1]);

  plot.setFocus();
  QTest::keyClick(&plot, Qt::Key_End);
  const int last = picture.points.back().row;
  CHECK(plot.current_row() == last);
  const QModelIndex chosen = opened.page().table().view().currentIndex();
  CHECK(opened.page().table().sorted().mapToSource(chosen).row() == last);
  QTest::keyClick(&plot, Qt::Key_Left);
  CHECK(plot.current_row() == picture.points[picture.points.size() - 2].row);
  QTest::keyClick(&plot, Qt::Key_Return);
  opened.settle();
  CHECK(opened.field("/parallel/tensor") == opened.page().points().point(plot.current_row()).values[0]);
}

TEST_CASE("a point is of the scenario that the sweep began with, whatever was edited since") {
  Sweeping opened;
  opened.sweep(small);
  const FormField* const blocks = opened.window->form().model().find("/sequence_length");
  REQUIRE(blocks != nullptr);
  const std::string began_with = opened.field("/sequence_length");
  opened.window->document().set_field(*blocks, "1024");
  opened.settle();
  opened.page().take(opened.row_of({"4", "1"}));
  CHECK(opened.field("/sequence_length") == began_with);
  opened.window->document().undo_stack().undo();
  CHECK(opened.field("/sequence_length") == "1024");
}

TEST_CASE("points of another scenario than the open one open theirs, but not over unsaved changes") {
  Sweeping opened;
  opened.sweep(small);
  opened.open(scenarios + "tiny-gpt-2cores.json");
  const FormField* const micro = opened.window->form().model().find("/batch/micro");
  opened.window->document().set_field(*micro, "4");
  opened.page().take(0);
  CHECK(opened.page().message_bar().text().contains("not saved"));
  CHECK(opened.window->document().name() == "tiny-gpt-2cores.json");
  opened.click("Take the point without saving");
  opened.settle();
  CHECK(opened.window->document().name() == "llama-3-8b-one-node.json");
  CHECK(opened.field("/parallel/tensor") == opened.page().points().point(0).values[0]);
}

TEST_CASE("a search brings every layout with verdict and reason", "[window]") {
  Sweeping opened;
  opened.page().axes().set_texts({});
  opened.click("Search layouts");
  opened.wait_until_done();
  CAPTURE(opened.page().message_bar().text().toStdString());
  const SweepPointsModel& points = opened.page().points();
  const auto counts = points.counts();
  CHECK(points.rowCount() > 50);
  CHECK(counts[static_cast<std::size_t>(Verdict::frontier)] > 0);
  CHECK(counts[static_cast<std::size_t>(Verdict::untimed)] > 0);
  for (const Point& point : points.points())
    if (verdict_of(point) == Verdict::cannot_run) CHECK_FALSE(point.reason.empty());
  int best = -1;
  const auto rate = [&](int row) { return points.point(row).figures.tokens_per_s; };
  for (int row = 0; row < points.rowCount(); ++row)
    if (points.point(row).on_front && (best < 0 || rate(row) > rate(best))) best = row;
  opened.page().take(best);
  opened.settle();
  REQUIRE(opened.window->evaluator().report() != nullptr);
  CHECK(opened.window->evaluator().report()->fits);
}

TEST_CASE("results are opened like any file, and what cannot be read is told") {
  Sweeping opened;
  opened.sweep(small);
  const QString copy = opened.folder.filePath("copy.json"), broken = opened.folder.filePath("broken.json");
  const std::string text = read_file(opened.output.toStdString());
  write_file_whole(copy.toStdString(), text);
  write_file_whole(broken.toStdString(), text.substr(0, text.size() / 2));
  opened.window->show_view(ViewTab::timeline);
  opened.open(copy);
  CHECK(opened.window->shown_view() == ViewTab::sweep);
  CHECK(opened.page().points().rowCount() == 10);
  CHECK_FALSE(opened.button("Resume")->isEnabled());
  opened.open(broken);
  CHECK(opened.page().message_bar().text().contains("broken.json"));
  CHECK(opened.page().points().rowCount() == 0);
  opened.open(opened.output + ".journal");
  CHECK(opened.page().points().rowCount() == 10);
  CHECK(opened.page().message_bar().text().isEmpty());
}

TEST_CASE("what stops a sweep is told in one sentence, and nothing keeps running") {
  Sweeping opened;
  opened.sweep({"batch.mirco=1,2"});
  CHECK(opened.page().message_bar().text().contains("exit code 3, invalid input"));
  CHECK(opened.page().message_bar().text().contains("mirco"));
  CHECK(opened.page().points().rowCount() == 0);
  opened.page().axes().set_texts({"batch.micro=1..0"});
  CHECK_FALSE(opened.button("Start sweep")->isEnabled());
  opened.page().start(SweepKind::sweep);
  CHECK(opened.page().message_bar().text().contains("batch.micro"));
  opened.page().axes().set_texts(small);
  opened.page().set_output(opened.folder.filePath("points.txt"));
  opened.page().start(SweepKind::sweep);
  CHECK(opened.page().message_bar().text().contains(".json"));
  opened.page().set_output("/nowhere/points.json");
  opened.page().start(SweepKind::sweep);
  CHECK(opened.page().message_bar().text().contains("/nowhere"));
  opened.page().set_output(opened.output);
  qputenv("STAGECRAFT_PROGRAM", "/nowhere/stagecraft");
  opened.page().start(SweepKind::sweep);
  CHECK(opened.page().message_bar().text().contains("STAGECRAFT_PROGRAM"));
  CHECK_FALSE(opened.page().busy());
}

TEST_CASE("a program that does not heed Ctrl+C is ended all the same") {
  Sweeping opened;
  opened.replace_program("trap '' INT\nexec sleep 600\n");
  opened.click("Start sweep");
  REQUIRE(wait_for([&] { return opened.page().running(); }));
  opened.click("Cancel");
  opened.wait_until_done();
  CHECK(opened.page().state().startsWith("cancelled"));
  CHECK(opened.button("Start sweep")->isEnabled());
}

TEST_CASE("results that are opened bring their axes along, and the next session keeps those that were typed since") {
  Sweeping opened;
  opened.sweep(small);
  opened.page().axes().set_texts({"zero_stage=0,1"});
  opened.page().open(opened.output);
  opened.wait_until_done();
  CHECK(opened.page().axes().texts() == small);
  CHECK(opened.page().axes().points() == opened.page().points().rowCount());
  opened.page().axes().set_texts({"zero_stage=0,1"});
  opened.window->save_session();
  opened.window = std::make_unique<MainWindow>(default_library(""));
  opened.window->evaluator().set_simulating(false);
  opened.window->restore_session();
  opened.wait_until_done();
  CHECK(opened.page().points().rowCount() == 10);
  CHECK(opened.page().axes().texts() == QStringList{"zero_stage=0,1"});
}

TEST_CASE("results without a journal bring the axes of a sweep along") {
  Sweeping opened;
  opened.sweep(small);
  QFile::remove(opened.output + ".journal");
  opened.page().axes().set_texts({"zero_stage=0,1"});
  opened.page().open(opened.output);
  opened.wait_until_done();
  CHECK(opened.page().axes().texts() == small);
}

TEST_CASE("a sweep that fails before its first point leaves the earlier points and their Resume") {
  Sweeping opened("gpt-1.7b-selene.json");
  opened.cancel_midway();
  const int kept = opened.page().points().rowCount();
  opened.page().set_output(opened.folder.filePath("other.json"));
  opened.sweep({"batch.mirco=1,2"});
  opened.wait_until_done();
  CHECK(opened.page().message_bar().text().contains("mirco"));
  CHECK(opened.page().points().rowCount() == kept);
  CHECK(opened.page().axes().texts() == QStringList{"batch.mirco=1,2"});  // to be mended
  CHECK(opened.button("Resume")->isEnabled());
}
