// `stagecraft-gui --render` as a program: pictures without a display, clear refusals.
#include <QImage>
#include <QProcess>
#include <QTemporaryDir>
#include <catch2/catch.hpp>

#include "base/file_io.hpp"
#include "base/input_error.hpp"
#include "gui/render/render_command.hpp"
#include "gui_traces.hpp"
#include "search/table.hpp"
#include "trace/native_format.hpp"

using namespace stagecraft;
using namespace stagecraft::gui;

namespace {

struct Ended {
  int code = -1;
  QString errors;
};

Ended run_gui(const QStringList& words, const QString& fonts = {}) {
  QProcess program;
  QProcessEnvironment bare;  // no display, no home
  bare.insert("PATH", "/usr/bin:/bin");
  if (!fonts.isEmpty()) bare.insert("FONTCONFIG_FILE", fonts);
  program.setProcessEnvironment(bare);
  program.start(STAGECRAFT_BINARY_DIR "/bin/stagecraft-gui", words);
  REQUIRE(program.waitForFinished(120'000));
  REQUIRE(program.exitStatus() == QProcess::NormalExit);
  return {program.exitCode(), QString::fromUtf8(program.readAllStandardError())};
}

const QString scenario = STAGECRAFT_SOURCE_DIR "/scenarios/tiny-gpt-2cores.json";

/// Four points, one of each kind, as `stagecraft sweep` leaves them.
QString points_of_a_sweep(const QTemporaryDir& folder) {
  constexpr double gib = 1073741824.0;
  PointTable table;
  table.scenario = scenario.toStdString();
  table.kind = "estimated";
  table.axes = {{"batch.micro", {"1", "2", "3", "4"}}};
  table.objectives = {"tokens_per_s", "peak_memory_bytes"};
  for (std::int64_t number = 0; number < 4; ++number) {
    Point point;
    point.number = number;
    point.values = {std::to_string(number + 1)};
    point.figures.step_time_s = 1.0 / static_cast<double>(number + 1);
    point.figures.tokens_per_s = 1000.0 * static_cast<double>(number + 1);
    point.figures.peak_memory_bytes = 8 * gib * static_cast<double>(number + 1);
    point.figures.memory_limit_bytes = 20 * gib;
    table.points.push_back(point);
  }
  table.points[2].status = PointStatus::does_not_fit;
  table.points[2].reason = "does not fit in memory";
  table.points[3].status = PointStatus::infeasible;
  table.points[3].reason = "4 does not divide 6";
  mark_front(table.points, objectives_of(table.objectives));
  const QString path = folder.filePath("points.json");
  write_file_whole(path.toStdString(), points_json(table));
  return path;
}

}  // namespace

TEST_CASE("every view is drawn without a display, twice with the same bytes") {
  const QTemporaryDir folder;
  const QString points = points_of_a_sweep(folder);
  for (const char* view : {"timeline", "why", "topology", "schedule", "table", "sweep", "form", "headline", "window"}) {
    CAPTURE(view);
    const QString& shown = QString(view) == "sweep" ? points : scenario;
    std::string bytes[2];
    for (std::string& one : bytes) {
      const QString path = folder.filePath("a.png");
      const Ended ended = run_gui({"--render", view, shown, "-o", path, "--size", "900x600"});
      CAPTURE(ended.errors.toStdString());
      REQUIRE(ended.code == 0);
      one = read_file(path.toStdString());
    }
    CHECK((bytes[0] == bytes[1]));
    const QImage picture(folder.filePath("a.png"));
    CHECK(picture.width() > 250);
  }
}

TEST_CASE("the sweep is drawn with its points, counted by verdict") {
  const QTemporaryDir folder;
  const QString path = folder.filePath("a.svg");
  const Ended ended = run_gui({"--render", "sweep", points_of_a_sweep(folder), "-o", path, "--size", "1200x800"});
  CAPTURE(ended.errors.toStdString());
  REQUIRE(ended.code == 0);
  const std::string text = read_file(path.toStdString());
  for (const char* word : {"frontier 2", "runs 2", "does not fit 1", "cannot run 1", "memory limit 20.0 GiB"}) {
    CAPTURE(word);
    CHECK(text.find(word) != std::string::npos);
  }
}

TEST_CASE("two traces are drawn compared, with the tables filled, twice with the same bytes") {
  const QTemporaryDir folder;
  const QString a = folder.filePath("a.sgt"), b = folder.filePath("b.sgt"), path = folder.filePath("a.svg");
  write_trace(pipeline(2, 4), a.toStdString());
  write_trace(pipeline(2, 6), b.toStdString());
  std::string bytes[2];
  for (std::string& one : bytes) {
    const Ended ended = run_gui({"--render", "compare", a, "--against", b, "-o", path, "--size", "900x600"});
    CAPTURE(ended.errors.toStdString());
    REQUIRE(ended.code == 0);
    one = read_file(path.toStdString());
  }
  CHECK((bytes[0] == bytes[1]));
  CHECK(bytes[0].find("Comparing") == std::string::npos);
  CHECK(bytes[0].find("forward") != std::string::npos);
}

TEST_CASE("a timeline is as high as its rows unless a size is asked for, and never lower than usual") {
  const QTemporaryDir folder;
  const QString path = folder.filePath("a.png");
  const auto size_of = [&](const QString& shown, const QStringList& more = {}) {
    const Ended ended = run_gui(QStringList{"--render", "timeline", shown, "-o", path} + more);
    CAPTURE(ended.errors.toStdString());
    REQUIRE(ended.code == 0);
    return QImage(path).size();
  };
  const QString deep = STAGECRAFT_SOURCE_DIR "/scenarios/gpt-145b-selene.json";  // eight pipeline ranks
  CHECK(size_of(scenario) == QSize(1600, 900));
  CHECK(size_of(deep).height() > 1000);
  CHECK(size_of(deep).width() == 1600);
  CHECK(size_of(deep, {"--size", "1000x700"}) == QSize(1000, 700));
}

TEST_CASE("SVG of the timeline, in dark, of a changed scenario") {
  const QTemporaryDir folder;
  const QString path = folder.filePath("a.svg");
  const Ended ended =
      run_gui({"--render", "timeline", scenario, "-o", path, "--theme", "dark", "--set", "batch.micro=4"});
  CAPTURE(ended.errors.toStdString());
  REQUIRE(ended.code == 0);
  CHECK(read_file(path.toStdString()).find("<svg") != std::string::npos);
}

TEST_CASE("what cannot be drawn is refused, and no picture appears") {
  const QTemporaryDir folder;
  const QString path = folder.filePath("a.png");
  for (const QStringList& words :
       {QStringList{"timeline", "/no/such/file.json", "-o", path}, QStringList{"nonsense", scenario, "-o", path},
        QStringList{"timeline", scenario}, QStringList{"timeline", scenario, "-o", folder.filePath("a.gif")},
        QStringList{"timeline", scenario, "-o", path, "--size", "0x0"},
        QStringList{"why", scenario, "-o", path, "--set", "parallel.tensor=3"},
        QStringList{"timeline", scenario, "-o", "/no/such/folder/a.png"}}) {
    CAPTURE(words.join(' ').toStdString());
    const Ended ended = run_gui(QStringList{"--render"} + words);
    CHECK(ended.code == 3);
    CHECK(ended.errors.startsWith("stagecraft-gui: "));
    CHECK_FALSE(QFileInfo::exists(path));
  }
}

TEST_CASE("without a font nothing is drawn, and the message says what to install") {
  const QTemporaryDir folder;
  const QString fonts = folder.filePath("fonts.conf"), path = folder.filePath("a.png");
  write_file_whole(fonts.toStdString(),
                   "<?xml version=\"1.0\"?><!DOCTYPE fontconfig SYSTEM \"fonts.dtd\"><fontconfig/>");
  const Ended ended = run_gui({"--render", "headline", scenario, "-o", path}, fonts);
  CHECK(ended.code == 3);
  CHECK(ended.errors.contains("fonts-dejavu-core"));
  CHECK_FALSE(QFileInfo::exists(path));
}

TEST_CASE("without a display the window is refused with a way out") {
  const Ended ended = run_gui({});
  CHECK(ended.code == 2);
  CHECK(ended.errors.contains("--render"));
}

TEST_CASE("requests are read with their options") {
  const RenderRequest request =
      parse_render({"why", "my.json", "--output", "a.png", "--size", "800x500", "--scale", "2", "--theme", "dark"});
  CHECK(request.view == "why");
  CHECK(request.size == QSize(800, 500));
  CHECK(request.scale == 2);
  CHECK(request.dark);
  CHECK_THROWS_AS(parse_render({"why", "my.json", "--output", "a.png", "--scale", "99"}), InputError);
  CHECK_THROWS_AS(parse_render({"why", "my.json", "--output"}), InputError);
}
