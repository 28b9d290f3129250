// stagecraft-gui: the window, or with --render a picture without one.

#include <fmt/core.h>

#include <QApplication>
#include <QString>
#include <algorithm>
#include <cstdlib>
#include <string_view>

#include "base/input_error.hpp"
#include "gui/render/picture.hpp"
#include "gui/render/render_command.hpp"
#include "gui/theme/theme.hpp"
#include "gui/window/main_window.hpp"
#include "spec/scenario.hpp"

namespace {

constexpr int ok = 0, internal_error = 1, usage_error = 2, invalid_input = 3;

constexpr const char* help =
    "stagecraft-gui: plan a training run with its figures in view.\n\n"
    "  stagecraft-gui [FILE...]            scenarios, traces, schedules, sweeps; without one, the last session\n"
    "  stagecraft-gui --new [FILE...]      without the last session\n"
    "  stagecraft-gui --render VIEW FILE --output PICTURE.png|.svg\n"
    "      VIEW: timeline, why, topology, compare, schedule, table, sweep, form, headline, window, start\n"
    "      --size 1600x900  --scale 2  --theme dark  --simulate  --set PATH=VALUE  --against TRACE\n"
    "      needs no display; the same bytes every time\n"
    "  --help, --version\n";

bool has(int argc, char** argv, std::string_view word) {
  return std::any_of(argv + std::min(argc, 1), argv + argc, [&](const char* one) { return word == one; });
}

bool has_display() {
  for (const char* name : {"QT_QPA_PLATFORM", "DISPLAY", "WAYLAND_DISPLAY"})
    if (const char* const value = std::getenv(name); value != nullptr && *value != '\0') return true;
  return false;
}

int run_render(int argc, char** argv) {
  using namespace stagecraft::gui;
  prepare_offscreen();
  QApplication application(argc, argv);
  QStringList words = QApplication::arguments().mid(1);
  words.removeAll("--render");
  try {
    render(application, parse_render(words),
           stagecraft::default_library(QApplication::applicationFilePath().toStdString()));
    return ok;
  } catch (const stagecraft::InputError& error) {
    fmt::print(stderr, "stagecraft-gui: {}\n", error.what());
    return invalid_input;
  }
}

int run_window(int argc, char** argv) {
  using namespace stagecraft::gui;
  QApplication application(argc, argv);
  QApplication::setOrganizationName("Stagecraft");
  QApplication::setApplicationName("stagecraft-gui");
  QApplication::setApplicationVersion(STAGECRAFT_VERSION);
  require_fonts();
  apply_theme(application, make_theme(desktop_is_dark()));
  QStringList files = QApplication::arguments().mid(1);
  const bool fresh = files.removeAll("--new") > 0;
  MainWindow window(stagecraft::default_library(QApplication::applicationFilePath().toStdString()));
  if (!fresh) window.restore_session();
  for (const QString& file : files) window.open_path(file);
  window.show();
  return QApplication::exec();
}

}  // namespace

int main(int argc, char** argv) {
  if (has(argc, argv, "--help")) return fmt::print("{}", help), ok;
  if (has(argc, argv, "--version")) return fmt::print("stagecraft-gui {}\n", STAGECRAFT_VERSION), ok;
  try {
    if (has(argc, argv, "--render")) return run_render(argc, argv);
    if (!has_display()) {
      fmt::print(stderr,
                 "stagecraft-gui: there is no display ($DISPLAY and $WAYLAND_DISPLAY are empty); pictures need "
                 "none: stagecraft-gui --render VIEW FILE --output PICTURE.png\n");
      return usage_error;
    }
    return run_window(argc, argv);
  } catch (const stagecraft::InputError& error) {
    fmt::print(stderr, "stagecraft-gui: {}\n", error.what());
    return invalid_input;
  } catch (const std::exception& error) {
    fmt::print(stderr, "stagecraft-gui: {}\n", error.what());
    return internal_error;
  }
}
