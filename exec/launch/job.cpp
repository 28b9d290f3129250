#include "exec/launch/job.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "base/file_io.hpp"
#include "base/input_error.hpp"
#include "exec/launch/preflight.hpp"
#include "exec/model/parameter.hpp"
#include "exec/run/data.hpp"
#include "exec/run/support.hpp"
#include "schedule/check.hpp"
#include "schedule/json_text.hpp"
#include "schedule/lower.hpp"

namespace stagecraft {

namespace {

void append(Findings& to, const Findings& from) {
  to.insert(to.end(), from.begin(), from.end());
}

void check_fits(const Plan& plan, const Schedule& schedule, const std::string& path) {
  const bool fits = schedule.lowered && schedule.shape.ranks == plan.degrees.pipeline &&
                    schedule.shape.micro_batches == plan.micro_batches &&
                    stage_count(schedule) == static_cast<std::int32_t>(plan.stages.size());
  if (fits) return;
  throw InputError(
      InputProblem{path, 0, 0, "/shape",
                   fmt::format("{} ranks, {} stages, {} micro-batches{}", schedule.shape.ranks, stage_count(schedule),
                               schedule.shape.micro_batches, schedule.lowered ? "" : ", not lowered"),
                   fmt::format("a lowered schedule for the scenario's {} ranks, {} stages, {} micro-batches",
                               plan.degrees.pipeline, plan.stages.size(), plan.micro_batches),
                   ""});
}

/// A token file that can't serve is found before ranks are started.
void check_data(const Plan& plan, const ExecuteOptions& options) {
  if (options.data.empty()) return;
  if (!plan.model.plain_layers.empty()) {
    throw InputError(InputProblem{"--data", 0, 0, "", "a token file for a plain list of layers",
                                  "a model of tokens, or no --data: samples are synthetic", ""});
  }
  token_source(plan, options);
}

/// A fault that no rank would ever come to.
void check_drill(const Plan& plan, const Schedule& schedule, const ExecuteOptions& options) {
  if (options.drill.kind == Drill::Kind::none) return;
  Drill nearest = options.drill;
  nearest.rank = std::min(nearest.rank, static_cast<std::int32_t>(world_size(plan.degrees)) - 1);
  nearest.step = std::min(nearest.step, options.warmup + options.steps - 1);
  const auto pipeline = static_cast<std::size_t>(coordinates_of(plan.degrees, Rank(nearest.rank)).pipeline);
  const auto operations = static_cast<std::int32_t>(schedule.programs[pipeline].size());
  nearest.position = std::min(nearest.position, operations);
  if (to_text(nearest) == to_text(options.drill)) return;
  throw InputError(InputProblem{
      "--drill", 0, 0, "", "\"" + to_text(options.drill) + "\", which no rank comes to",
      fmt::format(
          "a rank from 0 to {}, a step from 0 to {} (warm-up counts), a position from 0 to {} in the program of "
          "rank {} ({}: after the last operation)",
          world_size(plan.degrees) - 1, options.warmup + options.steps - 1, operations, nearest.rank, operations),
      to_text(nearest)});
}

}  // namespace

std::string to_text(const Drill& drill) {
  const char* kind = "stall";
  if (drill.kind == Drill::Kind::raise) kind = "raise";
  if (drill.kind == Drill::Kind::stop) kind = "stop";
  if (drill.kind == Drill::Kind::die) kind = "die";
  return fmt::format("{}:{}:{}:{}", kind, drill.rank, drill.step, drill.position);
}

std::string content_hash(const std::string& bytes) {
  return fmt::format("{:016x}", name_hash(bytes));
}

std::unique_ptr<Job> load_job(const JobArguments& arguments) {
  if (!arguments.expected_version.empty() && arguments.expected_version != STAGECRAFT_VERSION) {
    throw InputError(InputProblem{"stagecraft-exec", 0, 0, "", "version " STAGECRAFT_VERSION,
                                  "version " + arguments.expected_version + ", which froze the schedule", ""});
  }
  auto job = std::make_unique<Job>();
  job->cores = usable_cores();
  job->scenario = load_scenario(arguments.scenario, arguments.overrides, default_library(arguments.executable));
  append(job->findings, check_feasible(job->scenario));
  if (has_errors(job->findings)) return job;
  job->plan = make_plan(job->scenario);
  const std::string text = read_file(arguments.schedule);
  if (!arguments.schedule_hash.empty() && content_hash(text) != arguments.schedule_hash) {
    throw InputError(InputProblem{arguments.schedule, 0, 0, "", "content with hash " + content_hash(text),
                                  "the schedule that was frozen, hash " + arguments.schedule_hash, ""});
  }
  job->schedule = parse_json_schedule(text, arguments.schedule);
  check_fits(job->plan, job->schedule, arguments.schedule);
  job->schedule = attach_bodies(std::move(job->schedule), job->plan);
  append(job->findings, check_schedule(job->schedule));
  append(job->findings, refusals(job->plan, job->schedule, arguments.options));
  if (has_errors(job->findings)) return job;
  check_drill(job->plan, job->schedule, arguments.options);
  if (arguments.report_folder.empty()) check_data(job->plan, arguments.options);  // else the launcher has looked
  job->graph = make_graph(job->schedule);
  return job;
}

}  // namespace stagecraft
