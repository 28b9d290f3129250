#include "report/explain.hpp"

#include <fmt/core.h>

#include "base/refusal.hpp"
#include "command_line.hpp"
#include "exit_code.hpp"
#include "planned.hpp"
#include "rehearsal.hpp"
#include "report/groups.hpp"
#include "report/kernels.hpp"
#include "verb.hpp"

namespace stagecraft::cli {
namespace {

std::string groups_of(const RehearsalOptions& options, const Console& console) {
  Planned planned = plan_scenario(options.file, options.overrides, default_library(console.executable));
  return explain_groups(planned.plan, lowered_schedule(planned), planned.topology);
}

/// What `explain kernels` alone reads.
struct KernelOptions {
  std::string format = "text";
  std::int32_t rank = -1;  // none: the busiest
};

std::string kernels_of(const RehearsalOptions& options, const KernelOptions& kernels, const Console& console) {
  Planned planned = plan_scenario(options.file, options.overrides, default_library(console.executable));
  const Schedule schedule = lowered_schedule(planned);
  const RankTimes times = time_bodies_by_rank(planned.costs, schedule.bodies, planned.plan, planned.topology);
  const auto ranks = static_cast<std::int32_t>(schedule.programs.size());
  if (kernels.rank >= ranks) {
    throw UsageError(fmt::format("explain: --rank: the pipeline has ranks 0 to {}, not {}; nearest: {}", ranks - 1,
                                 kernels.rank, ranks - 1));
  }
  const PipelineRank rank = kernels.rank < 0 ? busiest_rank(schedule, times) : PipelineRank(kernels.rank);
  return kernels.format == "csv" ? kernels_csv(planned.plan, schedule, times, rank)
                                 : explain_kernels(planned.plan, schedule, times, rank);
}

}  // namespace

int run_explain(const Words& words, const Console& console) {
  std::string key;
  RehearsalOptions options;
  KernelOptions kernels;
  const auto app = make_app(
      "explain", "The formula behind a number of the report, its inputs with their values, and where they come from.",
      {{"explain", "all keys that can be explained"},
       {"explain mfu", "meaning and formula"},
       {"explain mfu scenarios/gpt-145b-selene.json", "with the values of a scenario"},
       {"explain groups my.json", "which ranks form which group, on which nodes, and what each moves"},
       {"explain kernels my.json", "every kernel and collective of the busiest pipeline rank, with time and rate"},
       {"explain stages.3.peak_memory_bytes my.json --estimate", "of one pipeline rank"}});
  app->add_option("KEY", key, "A key of the JSON report, groups or kernels");
  app->add_option("FILE", options.file, "A scenario");
  add_overrides(*app, options.overrides);
  app->add_flag("--estimate", options.estimate, "Closed form instead of simulation");
  app->add_option("--rank", kernels.rank, "kernels: of this pipeline rank instead of the busiest")
      ->check(CLI::NonNegativeNumber);
  add_format(*app, kernels.format, {"text", "csv"});
  if (const auto help = parse(*app, words)) return console.print(*help), ok;

  const std::string idle = given_options(*app, {"--set", "--estimate", "--rank", "--format"});
  if (options.file.empty() && !idle.empty()) throw UsageError(fmt::format("explain: {} needs a scenario FILE", idle));
  const std::string unread = key == "kernels"  ? given_options(*app, {"--estimate"})
                             : key == "groups" ? given_options(*app, {"--estimate", "--rank", "--format"})
                                               : given_options(*app, {"--rank", "--format"});
  if (!unread.empty()) throw UsageError(fmt::format("explain: {} changes nothing about {}", unread, key));
  if (key.empty()) {
    std::string list;
    for (const std::string& known : explainable_keys()) list += known + "\n";
    return console.print(list), ok;
  }
  if (key == "groups" || key == "kernels") {
    if (options.file.empty()) throw UsageError(fmt::format("explain: {} are those of a scenario FILE", key));
    return console.print(key == "groups" ? groups_of(options, console) : kernels_of(options, kernels, console)), ok;
  }
  const std::string formula = explain(key);  // a wrong key is found before anything is simulated
  if (options.file.empty()) return console.print(formula), ok;
  return console.print(explain(key, rehearse(options, console).report)), ok;
}

}  // namespace stagecraft::cli
