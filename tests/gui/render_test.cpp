// `stagecraft-gui --render` as a program: pictures without a display, clear refusals.
#include <QImage>
#include <QProcess>
#include <QTemporaryDir>
#include <catch2/catch.hpp>

#include "base/file_io.hpp"
#include "base/input_error.hpp"
#include "gui/render/render_command.hpp"
#include "gui_traces.hpp"
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

}  // namespace

TEST_CASE("every view is drawn without a display, twice with the same bytes") {
  const QTemporaryDir folder;
  for (const char* view : {"timeline", "why", "topology", "schedule", "table", "form", "headline", "window"}) {
    CAPTURE(view);
    std::string bytes[2];
    for (std::string& one : bytes) {
      const QString path = folder.filePath("a.png");
      const Ended ended = run_gui({"--render", view, scenario, "-o", path, "--size", "900x600"});
      CAPTURE(ended.errors.toStdString());
      REQUIRE(ended.code == 0);
      one = read_file(path.toStdString());
    }
    CHECK((bytes[0] == bytes[1]));
    const QImage picture(folder.filePath("a.png"));
    CHECK(picture.width() > 250);
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
