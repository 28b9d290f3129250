#include "gui/render/render_command.hpp"

#include <fmt/core.h>

#include <QElapsedTimer>
#include <QFileInfo>
#include <QFontDatabase>
#include <QThread>
#include <algorithm>

#include "base/input_error.hpp"
#include "gui/models/json_edit.hpp"
#include "gui/models/trace_open.hpp"
#include "gui/render/picture.hpp"
#include "gui/theme/theme.hpp"
#include "gui/window/file_kind.hpp"
#include "gui/window/main_window.hpp"

namespace stagecraft::gui {
namespace {

constexpr qint64 patience_ms = 300'000;

[[noreturn]] void refuse(const QString& got, const QString& expected) {
  throw InputError(InputProblem{"--render", 0, 0, "", got.toStdString(), expected.toStdString(), ""});
}

QSize size_of(const QString& text) {
  const QStringList parts = text.split('x');
  const QSize size = parts.size() == 2 ? QSize(parts[0].toInt(), parts[1].toInt()) : QSize();
  if (size.width() < 64 || size.height() < 64 || size.width() > 16384 || size.height() > 16384)
    refuse(text, "a size like 1600x900, 64 to 16384 pixels each way");
  return size;
}

void choose_font() {
  require_fonts();
  const QStringList families = QFontDatabase::families();
  QFont font(families.contains("DejaVu Sans") ? QString("DejaVu Sans") : families.front());
  font.setPixelSize(13);
  QApplication::setFont(font);
}

/// Layouts and views that follow at the next turn of the event loop cause one another: a few turns, however slow.
void settle(QApplication& application) {
  constexpr int turns = 25;
  for (int turn = 0; turn < turns; ++turn) {
    application.processEvents();
    QThread::msleep(4);
  }
}

void wait_until_idle(QApplication& application, const MainWindow& window) {
  QElapsedTimer clock;
  clock.start();
  while (!window.idle() && clock.elapsed() < patience_ms) {
    application.processEvents(QEventLoop::AllEvents, 20);
    QThread::msleep(1);
  }
  settle(application);
  if (!window.idle()) refuse("more than five minutes of work", "a smaller scenario or trace");
}

void open_wanted(QApplication& application, MainWindow& window, const RenderRequest& request) {
  window.open_path(request.file);
  wait_until_idle(application, window);
  for (const std::string& one : request.overrides) {
    const std::size_t equals = one.find('=');
    if (equals == std::string::npos) refuse(QString::fromStdString(one), "PATH=VALUE");
    std::string pointer = one.substr(0, equals);
    if (!pointer.starts_with('/')) {
      std::replace(pointer.begin(), pointer.end(), '.', '/');
      pointer.insert(pointer.begin(), '/');
    }
    if (pointer == "/schedule") pointer = "/schedule/name";
    const FormField* const field = window.form().model().find(pointer);
    if (field == nullptr) refuse(QString::fromStdString(pointer), "a field of the form");
    window.document().set_field(*field, one.substr(equals + 1));
  }
  wait_until_idle(application, window);
  if (!request.against.isEmpty()) window.open_path(request.against);
  wait_until_idle(application, window);
  for (const MessageBar* const bar : {&window.message_bar(), &window.sweep_page().message_bar()})
    if (!bar->text().isEmpty()) refuse(bar->text(), "a file that can be drawn");
}

void require_figures(const MainWindow& window, const Evaluator& evaluator, const QString& view) {
  if (evaluator.report() != nullptr || window.measured() != nullptr) return;
  QString why = view + " of nothing";
  if (evaluator.evaluation() != nullptr && !problems_of(*evaluator.evaluation()).empty())
    why = problems_of(*evaluator.evaluation()).front().message;
  refuse(why, "a scenario that can run, or a trace");
}

/// Two traces without a scenario: neither is of the window's evaluator.
void compare_traces(QApplication& application, const RenderRequest& request) {
  const auto load = [](const QString& path) {
    return make_loaded_trace(read_any_trace(path.toStdString()), QFileInfo(path).fileName().toStdString());
  };
  const auto a = load(request.file), b = load(request.against);
  CompareWidget widget;
  widget.set_palette(make_palette(request.dark));
  widget.resize(request.size);
  widget.ensurePolished();
  bool compared = a->trace.spans.empty() || b->trace.spans.empty();
  QObject::connect(&widget, &CompareWidget::compared, &widget, [&] { compared = true; });
  widget.set_traces(a.get(), b.get());
  QElapsedTimer clock;
  clock.start();
  while (!compared && clock.elapsed() < patience_ms) application.processEvents(QEventLoop::AllEvents, 20);
  if (!compared) refuse("more than five minutes of work", "smaller traces");
  widget.grab();  // lays it out
  settle(application);
  write_widget_picture(widget, request.output, request.scale);
  widget.set_traces(nullptr, nullptr);
}

}  // namespace

QStringList render_views() {
  return {"timeline", "why",  "topology", "compare", "schedule", "table",
          "sweep",    "form", "headline", "window",  "start"};
}

RenderRequest parse_render(const QStringList& words) {
  RenderRequest request;
  QStringList plain;
  for (qsizetype i = 0; i < words.size(); ++i) {
    const QString word = words[i];
    const auto value = [&] {
      if (i + 1 >= words.size()) refuse(word, "a value after it");
      return words[++i];
    };
    if (word == "-o" || word == "--output") {
      request.output = value();
    } else if (word == "--size") {
      request.size = size_of(value());
      request.size_given = true;
    } else if (word == "--scale") {
      request.scale = value().toDouble();
    } else if (word == "--theme") {
      const QString theme = value();
      if (theme != "light" && theme != "dark") refuse(theme, "light or dark");
      request.dark = theme == "dark";
    } else if (word == "--against") {
      request.against = value();
    } else if (word == "--set") {
      request.overrides.push_back(value().toStdString());
    } else if (word == "--simulate") {
      request.simulate = true;
    } else if (word.startsWith('-')) {
      refuse(word, "an option of --render: --output, --size, --scale, --theme, --against, --set, --simulate");
    } else {
      plain.append(word);
    }
  }
  if (plain.size() != 2 && !(plain.size() == 1 && plain.front() == "start"))
    refuse(plain.join(' '), "VIEW FILE --output PICTURE");
  request.view = plain.front();
  if (plain.size() == 2) request.file = plain.back();
  if (!render_views().contains(request.view)) refuse(request.view, "a view: " + render_views().join(", "));
  if (!(request.scale >= 0.5 && request.scale <= 8)) refuse("that scale", "a number from 0.5 to 8");
  if (!request.output.endsWith(".png") && !request.output.endsWith(".svg"))
    refuse(request.output.isEmpty() ? "no --output" : request.output, "--output with a name that ends in .png or .svg");
  return request;
}

namespace {

/// Qt remarks that a bare environment has no runtime folder; a picture needs none.
void only_what_matters(QtMsgType /*type*/, const QMessageLogContext& /*where*/, const QString& text) {
  if (!text.startsWith("QStandardPaths: ")) fmt::print(stderr, "stagecraft-gui: {}\n", text.toStdString());
}

}  // namespace

void prepare_offscreen() {
  qputenv("QT_QPA_PLATFORM", "offscreen");
  for (const char* name : {"QT_SCALE_FACTOR", "QT_SCREEN_SCALE_FACTORS", "QT_FONT_DPI", "QT_STYLE_OVERRIDE",
                           "QT_QPA_PLATFORMTHEME", "QT_AUTO_SCREEN_SCALE_FACTOR", "QT_ENABLE_HIGHDPI_SCALING"})
    qunsetenv(name);
  qInstallMessageHandler(only_what_matters);
}

void render(QApplication& application, const RenderRequest& request, const Library& library) {
  QLocale::setDefault(QLocale::c());
  QApplication::setCursorFlashTime(0);  // a blinking caret would be in every other picture
  choose_font();
  apply_theme(application, make_theme(request.dark));
  const bool two_traces = request.view == "compare" && kind_of_file(request.file) == FileKind::trace;
  if (two_traces) {
    if (request.against.isEmpty()) refuse("one trace", "--against with a second one");
    return compare_traces(application, request);
  }
  MainWindow window(library);
  window.evaluator().set_simulating(request.simulate);
  window.resize(request.size);
  window.setAttribute(Qt::WA_DontShowOnScreen);
  window.show();
  if (request.view != "start") open_wanted(application, window, request);
  const qsizetype index = render_views().indexOf(request.view);
  if (index < view_tab_count) {
    const auto tab = static_cast<ViewTab>(index);
    if (tab != ViewTab::schedule && tab != ViewTab::sweep) require_figures(window, window.evaluator(), request.view);
    window.show_view(tab);
    if (tab == ViewTab::timeline) {
      const std::vector<Source>& sources = window.timeline_page().timeline().view().sources;
      const QSize size = request.size_given ? request.size : with_every_row(sources, request.size);
      return write_whole_timeline(sources, size, request.dark, request.output, request.scale);
    }
    QWidget& page = *window.page(tab);
    application.processEvents();
    window.resize(window.size() + request.size - page.size());  // until the page has the size
    application.processEvents();
    if (!request.size_given) return write_page_picture(page, request.output, request.scale);
    if (auto* const topology = qobject_cast<TopologyWidget*>(&page)) {
      topology->show_whole();
      settle(application);
    }
    return write_widget_picture(page, request.output, request.scale);
  }
  settle(application);
  QWidget* const widget = request.view == "form"       ? static_cast<QWidget*>(&window.form())
                          : request.view == "headline" ? static_cast<QWidget*>(&window.headline_strip())
                                                       : &window;
  write_widget_picture(*widget, request.output, request.scale);
}

}  // namespace stagecraft::gui
