// Frames of the timeline at 1600x900 with a million and ten million slices, and how long a trace takes to open.
#include <QGuiApplication>
#include <QImage>
#include <QPainter>
#include <cmath>
#include <cstdio>
#include <ctime>
#include <filesystem>
#include <string>

#include "figure.hpp"
#include "gui/models/trace_open.hpp"
#include "gui/timeline/paint_cache.hpp"
#include "gui/timeline/paint_timeline.hpp"
#include "gui/timeline/view_geometry.hpp"
#include "trace/chrome_json.hpp"
#include "trace/native_format.hpp"
#ifdef STAGECRAFT_HAVE_SIMDJSON
#include <simdjson.h>
#endif

using namespace stagecraft;
using namespace stagecraft::gui;

namespace {

constexpr int width = 1600, height = 900, frames = 15, opens = 3;
constexpr double open_limit_s = 3;

/// `ranks` compute lanes of `each` operations of uneven lengths, every third after a gap; messages tie them together.
Trace made_up(int ranks, int each) {
  constexpr std::array kinds = {OpKind::forward,    OpKind::backward,    OpKind::forward,
                                OpKind::input_grad, OpKind::weight_grad, OpKind::recompute};
  Trace trace;
  trace.producer = "bench";
  trace.scenario = "made up";
  trace.kind = "estimated";
  trace.labels = {""};
  trace.spans.reserve(static_cast<std::size_t>(ranks) * static_cast<std::size_t>(each));
  for (int rank = 0; rank < ranks; ++rank) {
    trace.ranks.push_back({rank, rank, 0, 1});
    double time = 0;
    for (int i = 0; i < each; ++i) {
      Span span;
      span.rank = span.stage = rank;
      span.micro_batch = i;
      span.kind = kinds[static_cast<std::size_t>(i + rank) % kinds.size()];
      time += i % 3 == 0 ? 4e-6 : 0;
      span.begin_s = time;
      time += (10 + (i * 7 + rank * 13) % 17) * 1e-6;
      span.end_s = time;
      if (i > 0) {
        const auto index = static_cast<std::uint32_t>(trace.spans.size());
        trace.dependencies.push_back({index - 1, index});
      }
      trace.spans.push_back(span);
    }
    trace.end_s = std::max(trace.end_s, time);
  }
  trace.step_end_s = {trace.end_s};
  return trace;
}

QFont bench_font() {
  QFont font(QStringLiteral("DejaVu Sans"));
  font.setPixelSize(12);
  return font;
}

/// All ranks on screen at once, however low their rows.
TimelineView view_of(const LoadedTrace& loaded, int ranks) {
  TimelineView view = whole_view({{&loaded, 0}}, QSize(width, height), false, bench_font());
  view.title = false;
  RowOptions options;
  options.folded = folded_at_first({&loaded});
  options.rank_height = std::max(3, (height - 60) / ranks - 3);
  view.rows = make_rows({&loaded}, options);
  return view;
}

struct FrameTime {
  double wall_ms = 0;  // median
  double cpu_ms = 0;   // mean, of all threads: what other programs on the machine do not change
};

double cpu_seconds() {
  std::timespec now{};
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) + 1e-9 * static_cast<double>(now.tv_nsec);
}

template <class Work>
FrameTime timed(Work&& work) {
  const double before = cpu_seconds();
  const double wall = bench::median_seconds(frames, work);
  return {1e3 * wall, 1e3 * (cpu_seconds() - before) / (frames + 1)};
}

/// Frames none of which can reuse anything of the one before.
FrameTime frame_time(TimelineView view, double part) {
  const double length = view.axis.end_s - view.axis.begin_s;
  const double begin = view.axis.begin_s + length * 0.4 * (1 - part);
  QImage image(width, height, QImage::Format_RGB32);
  PaintCache cache;
  int frame = 0;
  return timed([&] {
    view.axis.begin_s = begin + ++frame * 0.37 * part * length / width;
    view.axis.end_s = view.axis.begin_s + length * part;
    QPainter painter(&image);
    paint_timeline(painter, QSize(width, height), view, &cache);
  });
}

/// A pan by whole pixels and a scroll: what has been drawn is moved.
FrameTime pan_time(TimelineView view) {
  const double length = view.axis.end_s - view.axis.begin_s;
  view.axis.begin_s += length * 0.3;
  view.axis.end_s = view.axis.begin_s + length * 0.05;
  const double pixel = view.axis.seconds_per_pixel();
  QImage image(width, height, QImage::Format_RGB32);
  PaintCache cache;
  return timed([&] {
    view.axis.begin_s += 12 * pixel;
    view.axis.end_s += 12 * pixel;
    QPainter painter(&image);
    paint_timeline(painter, QSize(width, height), view, &cache);
  });
}

/// One fillRect for every column of every row: the same pixels without finding out what to draw.
FrameTime fill_time(const TimelineView& view) {
  QImage image(width, height, QImage::Format_RGB32);
  const Layout layout = layout_of(view, QSize(width, height));
  const int left = static_cast<int>(layout.rows.left()), top = static_cast<int>(layout.rows.top());
  return timed([&] {
    QPainter painter(&image);
    for (const Row& row : view.rows) {
      for (int x = left; x < width; ++x)
        painter.fillRect(x, top + row.y, 1, row.height, QColor(view.palette.fill[x % 6]));
    }
  });
}

void frames_of(const char* name, int ranks, int each, double limit_ms, bool json) {
  const auto loaded = make_loaded_trace(made_up(ranks, each), "bench");
  const TimelineView view = view_of(*loaded, ranks);
  const FrameTime bare = fill_time(view);
  const std::string prefix = std::string("timeline/") + name + "-";
  const auto show = [&](const std::string& what, const FrameTime& time) {
    bench::print({prefix + what, time.wall_ms, "ms", limit_ms, "limit"}, json);
    bench::print({prefix + what + "-cpu", time.cpu_ms, "ms", {}, ""}, json);
    bench::print({prefix + what + "-to-fillrect", time.wall_ms / bare.wall_ms, "x", {}, ""}, json);
  };
  show("out", frame_time(view, 1));
  show("middle", frame_time(view, 0.05));
  show("in", frame_time(view, 0.001));
  show("pan", pan_time(view));
  bench::print({prefix + "fillrect", bare.wall_ms, "ms", {}, ""}, json);
  bench::print({prefix + "fillrect-cpu", bare.cpu_ms, "ms", {}, ""}, json);
}

#ifdef STAGECRAFT_HAVE_SIMDJSON
double simdjson_pass(const std::string& path) {
  double sum = 0;
  simdjson::ondemand::parser parser;
  const double seconds = bench::median_seconds(opens, [&] {
    const simdjson::padded_string text = simdjson::padded_string::load(path);
    simdjson::ondemand::document document = parser.iterate(text);
    for (simdjson::ondemand::object event : document["traceEvents"].get_array()) {
      for (auto field : event) {
        const std::string_view key = field.unescaped_key();
        if (key == "ts" || key == "dur") sum += field.value().get_double();
      }
    }
  });
  return sum > 0 ? seconds : -1;
}
#endif

/// How long a file takes to open, in seconds and as a multiple of a bare pass over the JSON.
void show_opening(const std::string& name, const std::string& file, [[maybe_unused]] double bare_s, bool json) {
  double cpu = cpu_seconds();
  const double seconds = bench::median_seconds(opens, [&] { make_loaded_trace(read_any_trace(file), "bench"); });
  cpu = (cpu_seconds() - cpu) / (opens + 1);
  bench::print({"timeline/" + name, seconds, "s", open_limit_s, "limit"}, json);
  bench::print({"timeline/" + name + "-cpu", cpu, "s", {}, ""}, json);
#ifdef STAGECRAFT_HAVE_SIMDJSON
  bench::print({"timeline/" + name + "-to-simdjson", seconds / bare_s, "x", {}, ""}, json);
#endif
}

void opening(bool json) {
  const std::string path = (std::filesystem::temp_directory_path() / "stagecraft-timeline-bench").string();
  const std::string native = path + ".trace", chrome = path + ".json";
  const Trace trace = made_up(64, 15'625);
  write_trace(trace, native);
  write_chrome_json(trace, chrome);
  double bare_s = 0;
#ifdef STAGECRAFT_HAVE_SIMDJSON
  bare_s = simdjson_pass(chrome);
  bench::print({"timeline/simdjson-pass-1e6", bare_s, "s", {}, ""}, json);
#endif
  show_opening("open-native-1e6", native, bare_s, json);
  show_opening("open-chrome-1e6", chrome, bare_s, json);
  std::remove(native.c_str());
  std::remove(chrome.c_str());
}

}  // namespace

int main(int argc, char** argv) {
  const bool json = bench::wants_json(argc, argv);
  qputenv("QT_QPA_PLATFORM", "offscreen");
  QGuiApplication application(argc, argv);
  frames_of("1e6", 64, 15'625, 8, json);
  frames_of("1e7", 256, 39'063, 16.7, json);
  opening(json);
  return 0;
}
