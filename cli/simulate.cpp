#include <algorithm>
#include <optional>

#include "base/file_io.hpp"
#include "command_line.hpp"
#include "exit_code.hpp"
#include "rehearsal.hpp"
#include "report/formats.hpp"
#include "report/svg.hpp"
#include "trace/chrome_json.hpp"
#include "trace/native_format.hpp"
#include "trace/output_stream.hpp"
#include "verb.hpp"

namespace stagecraft::cli {
namespace {

std::string print_as(const std::string& format, const Report& report, bool colour) {
  if (format == "json") return to_json(report);
  if (format == "csv") return to_csv(report);
  if (format == "md") return to_markdown(report);
  return to_text(report, colour);
}

/// The file's ending chooses: Chrome JSON, SVG, or the native format.
void save(const Trace& trace, const std::string& path) {
  if (path.ends_with(".svg")) return write_file_whole(path, timeline_svg(trace, {}));
  if (path.ends_with(".json")) return write_chrome_json(trace, path);
  write_trace(trace, path);
}

/// Trace and report to their places. A place that cannot be written is found before the other one is touched.
void write_all(const Trace& trace, const std::string& trace_path, const std::string& text, const std::string& output,
               const Console& console) {
  auto writing = console.interrupt.hold_off();
  std::optional<OutputStream> file;
  if (!output.empty()) file.emplace(output);
  if (!trace_path.empty()) save(trace, trace_path);
  if (!file) {
    writing.unlock();  // a reader may take its time
    return console.print(text);
  }
  file->write(text);
  file->commit();
}

/// --steps is --set steps=N; both at once would leave one without effect.
bool sets_steps(const std::string& text) {
  return text.starts_with("steps=") || text.starts_with("/steps=");
}

}  // namespace

int run_simulate(const Words& words, const Console& console) {
  RehearsalOptions options;
  std::string trace_path, format, output, steps;
  const auto app = make_app(
      "simulate", "Rehearses one training step of a scenario and reports where the time and memory go.",
      {{"simulate scenarios/gpt-145b-selene.json", "on SimGrid, with contention on shared links; about a second"},
       {"simulate scenarios/gpt-145b-selene.json --estimate", "closed form, without contention; milliseconds"},
       {"simulate my.json --set parallel.tensor=4 --set batch.micro=1", "other settings without another file"},
       {"simulate my.json --trace step.json", "the timeline for ui.perfetto.dev or chrome://tracing"},
       {"simulate my.json --trace step.svg", "the timeline as a picture"},
       {"simulate my.json --format json --output report.json", "for programs; schema: stagecraft schema report"}});
  app->add_option("FILE", options.file, "A scenario")->required();
  add_overrides(*app, options.overrides);
  app->add_flag("--estimate", options.estimate, "Closed form instead of simulation");
  app->add_option("--trace", trace_path,
                  "Write the timeline: Chrome JSON if FILE ends in .json, a picture if in .svg, else the native format")
      ->type_name("FILE");
  app->add_option("--steps", steps, "Steps in a row; the last one is reported (the same as --set steps=N)")
      ->type_name("N");
  add_format(*app, format, {"text", "json", "csv", "md"});
  add_output(*app, output);
  if (const auto help = parse(*app, words)) return console.print(*help), ok;
  if (!steps.empty() && std::any_of(options.overrides.begin(), options.overrides.end(), sets_steps))
    throw UsageError("--steps and --set steps say the same thing twice; leave one out");
  if (!steps.empty()) options.overrides.push_back("steps=" + steps);
  options.counters = !trace_path.empty();
  const std::vector<Written> written{{"--trace", trace_path}, {"--output", output}};
  keep_apart({options.file}, written);

  const Rehearsal rehearsal = rehearse(options, console);
  keep_apart(rehearsal.files, written);
  const bool colour = console.colour_output && output.empty();
  const std::string text = print_as(format, rehearsal.report, colour);
  write_all(rehearsal.trace, trace_path, text, output, console);
  return rehearsal.report.fits ? ok : does_not_fit;
}

}  // namespace stagecraft::cli
