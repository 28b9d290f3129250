#include <fmt/core.h>

#include <algorithm>
#include <optional>

#include "base/input_error.hpp"
#include "base/refusal.hpp"
#include "command_line.hpp"
#include "exit_code.hpp"
#include "report/family_table.hpp"
#include "report/schedule_trace.hpp"
#include "report/svg.hpp"
#include "report/timeline_text.hpp"
#include "schedule/analyse.hpp"
#include "schedule/check.hpp"
#include "schedule/csv_text.hpp"
#include "schedule/family.hpp"
#include "schedule/flushes.hpp"
#include "schedule/json_text.hpp"
#include "schedule/lower.hpp"
#include "verb.hpp"

namespace stagecraft::cli {
namespace {

struct Options {
  std::string name, format, output;
  bool all = false, list = false, communication = false;
  std::optional<std::int32_t> stages, micro_batches, chunks, group_size, waves, run_ahead, flushes;
  std::optional<double> memory_limit;
  double forward = 1, input_grad = 1, weight_grad = 1, send = 0;
};

bool is_file(const std::string& name) {
  return name.ends_with(".csv") || name.ends_with(".json");
}

StageTimes times_of(const Options& options) {
  StageTimes times;
  times.forward = {options.forward};
  times.input_grad = {options.input_grad};
  times.weight_grad = {options.weight_grad};
  times.send = options.send;
  return times;
}

ScheduleRequest request_of(const Options& options, const FamilyEntry& entry) {
  ScheduleRequest request;
  request.waves = options.waves.value_or(1);
  request.run_ahead = options.run_ahead.value_or(0);
  request.flushes = options.flushes.value_or(1);
  request.shape = {*options.stages, *options.micro_batches,
                   options.chunks.value_or(usual_chunks(entry, request.waves))};
  request.times = times_of(options);
  request.group_size = options.group_size;
  request.memory_limit = options.memory_limit;
  return request;
}

std::string list_text() {
  std::string out;
  for (const FamilyEntry& entry : schedule_family()) {
    out += fmt::format("{:<22}{}\n{:<22}  {}\n", entry.name, entry.summary, "", entry.source);
  }
  return out;
}

Schedule load(const std::string& path) {
  CsvOptions csv;
  csv.file = path;
  Schedule schedule = path.ends_with(".csv") ? load_csv_schedule(path, csv) : load_json_schedule(path);
  refuse_errors(path, check_schedule(schedule));
  return schedule;
}

const FamilyEntry& entry_of(const std::string& name) {
  if (const FamilyEntry* const entry = find_schedule(name)) return *entry;
  std::vector<std::string> names;
  for (const std::string_view known : schedule_names()) names.emplace_back(known);
  throw InputError(InputProblem{"schedule", 0, 0, "", name,
                                "a schedule (`stagecraft schedule --list` names them), or a .csv or .json file",
                                nearest_word(name, names)});
}

Schedule generate(const Options& options) {
  const FamilyEntry& entry = entry_of(options.name);
  const ScheduleRequest request = request_of(options, entry);
  refuse_errors(entry.name, refuse_with_flushes(entry, request));
  return generate_with_flushes(entry, request);
}

/// A table without a row that can run is a refusal, with every reason once.
void refuse_empty(const std::vector<FamilyRow>& rows) {
  if (std::any_of(rows.begin(), rows.end(), [](const FamilyRow& row) { return !has_errors(row.refused); })) return;
  Findings reasons;
  for (const FamilyRow& row : rows) {
    for (const Finding& finding : row.refused) {
      const auto known = [&](const Finding& other) { return other.message == finding.message; };
      if (std::none_of(reasons.begin(), reasons.end(), known)) reasons.push_back(finding);
    }
  }
  refuse_errors("schedule --all", reasons);
}

std::vector<FamilyRow> family(const Options& options) {
  std::vector<FamilyRow> rows;
  for (const FamilyEntry& entry : schedule_family()) {
    ScheduleRequest request = request_of(options, entry);
    if (entry.option != ScheduleOption::group_size) request.group_size.reset();
    if (entry.option != ScheduleOption::memory_limit) request.memory_limit.reset();
    if (entry.option != ScheduleOption::waves) request.waves = 1;
    if (entry.option != ScheduleOption::run_ahead) request.run_ahead = 0;
    const bool any_chunks = entry.chunks == ChunkRule::any || entry.chunks == ChunkRule::two_or_more;
    if (!any_chunks) request.shape.chunks = usual_chunks(entry, request.waves);
    FamilyRow row{entry.name, request.shape.chunks, false, {}, refuse_with_flushes(entry, request)};
    if (!has_errors(row.refused)) {
      const Schedule schedule = generate_with_flushes(entry, request);
      row.refused.clear();
      row.asynchronous = schedule.asynchronous;
      row.analysis = analyse(schedule, request.times);
    }
    rows.push_back(std::move(row));
  }
  return rows;
}

std::string family_as(const Options& options) {
  const std::vector<FamilyRow> rows = family(options);
  refuse_empty(rows);
  if (options.format == "csv") return family_csv(rows);
  if (options.format == "json") return family_json(rows);
  return family_text(rows);
}

std::string schedule_as(const Options& options, const Schedule& schedule, bool colour) {
  if (options.format == "csv" || options.format == "json") {
    LoweringPolicy messages_only;
    messages_only.optimizer = false;
    const Schedule shown = options.communication && !schedule.lowered ? lower(schedule, messages_only) : schedule;
    if (options.format == "json") return to_json(shown);
    refuse_errors(schedule.name, refuse_csv(shown));
    return to_csv(shown);
  }
  const StageTimes times = times_of(options);
  const Analysis analysis = analyse(schedule, times);
  const Trace trace = to_trace(schedule, analysis);
  if (options.format == "svg") {
    SvgOptions svg;
    svg.unit = "";
    return timeline_svg(trace, svg);
  }
  return fmt::format("{}: {} ranks, {} micro-batches, {} chunks per rank\n", schedule.name, schedule.shape.ranks,
                     schedule.shape.micro_batches, schedule.shape.chunks) +
         timeline_text(trace, colour) + schedule_figures(schedule, analysis, times);
}

void check_list(const CLI::App& app) {
  const std::string idle =
      given_options(app, {"--all", "--stages", "--micro-batches", "--virtual", "--group-size", "--memory-limit",
                          "--waves", "--run-ahead", "--flushes", "--forward", "--input-grad", "--weight-grad", "--send",
                          "--communication", "--format"});
  if (!idle.empty()) throw UsageError(fmt::format("schedule: --list takes no other option; leave out {}", idle));
  if (app.get_option("NAME")->count() > 0) throw UsageError("schedule: --list takes no NAME");
}

/// Times shape the picture and the table; an order that is not searched for is the same without them.
void check_times(const CLI::App& app, const Options& options) {
  const bool order_only = !options.all && (options.format == "csv" || options.format == "json");
  if (!order_only || (!is_file(options.name) && entry_of(options.name).searched)) return;
  const std::string idle = given_options(app, {"--forward", "--input-grad", "--weight-grad", "--send"});
  if (!idle.empty()) {
    throw UsageError(
        fmt::format("schedule: {} changes nothing in --format {} of {}, whose order does not depend on times", idle,
                    options.format, options.name));
  }
}

void check_combination(const Options& options) {
  const bool from_file = is_file(options.name);
  const bool shaped = options.stages || options.micro_batches || options.chunks || options.group_size ||
                      options.waves || options.memory_limit || options.run_ahead || options.flushes;
  if (options.all != options.name.empty())
    throw UsageError("schedule: give one NAME, or --all; see: stagecraft schedule --help");
  if (from_file && shaped) throw UsageError("schedule: a file brings its own shape; leave out --stages and the like");
  if (!from_file && !options.all) entry_of(options.name);  // a name that is wrong comes before what it lacks
  if (!from_file && !(options.stages && options.micro_batches))
    throw UsageError("schedule: --stages and --micro-batches are needed");
  if (options.all && options.format == "svg") throw UsageError("schedule: --all prints text, csv or json");
  if (options.communication && (options.all || (options.format != "csv" && options.format != "json"))) {
    throw UsageError("schedule: --communication applies to --format csv and json of one schedule");
  }
}

}  // namespace

int run_schedule(const Words& words, const Console& console) {
  Options options;
  const CLI::Validator duration = number_between(0, 1e12);
  const auto app = make_app(
      "schedule",
      "Prints a pipeline schedule: as a timeline, as PyTorch's CSV, as JSON or as SVG. --all compares the family.",
      {{"schedule 1f1b --stages 4 --micro-batches 8", "a timeline in the terminal"},
       {"schedule --all --stages 8 --micro-batches 32", "makespan, bubble, memory and messages of every schedule"},
       {"schedule zb-h1 --stages 4 --micro-batches 8 --format svg -o zb.svg", ""},
       {"schedule zbv --stages 4 --micro-batches 8 --format csv --communication",
        "runs in torch.distributed.pipelining"},
       {"schedule my.csv", "checks and draws a table of your own"}});
  app->add_option("NAME", options.name, "A schedule, or a .csv or .json file");
  app->add_flag("--all", options.all, "The whole family side by side");
  app->add_flag("--list", options.list, "Names, with what they are and where they come from");
  app->add_option("--stages,-p", options.stages, "Pipeline ranks")->type_name("P");
  app->add_option("--micro-batches,-m", options.micro_batches, "Micro-batches in a step")->type_name("M");
  app->add_option("--virtual,-v", options.chunks,
                  "Chunks per rank; default as the schedule usually runs. With --all: of those that leave it open")
      ->type_name("V");
  app->add_option("--group-size", options.group_size, "Micro-batches per group of an interleaved schedule")
      ->type_name("G");
  app->add_option("--memory-limit", options.memory_limit, "Of a searched schedule, in activations of a full stage")
      ->type_name("N")
      ->check(number_between(0.001, 1e6));
  app->add_option("--waves", options.waves, "Of hanayo")->type_name("W");
  app->add_option("--run-ahead", options.run_ahead,
                  "Of 1f1b: micro-batches in flight beyond p - r, but on the last rank")
      ->type_name("N");
  app->add_option("--flushes", options.flushes, "Equal groups of micro-batches with a drain behind each; default 1")
      ->type_name("K");
  app->add_option("--forward", options.forward, "Duration of a forward through a full stage; default 1")
      ->type_name("F")
      ->check(duration);
  app->add_option("--input-grad", options.input_grad, "The same of the input gradient; default 1")
      ->type_name("I")
      ->check(duration);
  app->add_option("--weight-grad", options.weight_grad, "The same of the weight gradient; default 1")
      ->type_name("W")
      ->check(duration);
  app->add_option("--send", options.send, "Duration of a message; default 0")->type_name("S")->check(duration);
  app->add_flag("--communication", options.communication, "With sends and receives (csv, json)");
  add_format(*app, options.format, {"text", "csv", "json", "svg"});
  add_output(*app, options.output);
  if (const auto help = parse(*app, words)) return console.print(*help), ok;

  if (options.list) check_list(*app);
  if (options.list) return write_output(console, options.output, list_text()), ok;
  check_combination(options);
  check_times(*app, options);
  if (is_file(options.name)) keep_apart({options.name}, {{"--output", options.output}});
  if (options.all) return write_output(console, options.output, family_as(options)), ok;
  const Schedule schedule = is_file(options.name) ? load(options.name) : generate(options);
  const bool colour = console.colour_output && options.output.empty();
  return write_output(console, options.output, schedule_as(options, schedule, colour)), ok;
}

}  // namespace stagecraft::cli
