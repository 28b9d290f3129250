#include "report/explain.hpp"

#include <fmt/core.h>

#include "base/refusal.hpp"
#include "command_line.hpp"
#include "exit_code.hpp"
#include "planned.hpp"
#include "rehearsal.hpp"
#include "report/groups.hpp"
#include "verb.hpp"

namespace stagecraft::cli {
namespace {

std::string groups_of(const RehearsalOptions& options, const Console& console) {
  Planned planned = plan_scenario(options.file, options.overrides, default_library(console.executable));
  return explain_groups(planned.plan, lowered_schedule(planned), planned.topology);
}

}  // namespace

int run_explain(const Words& words, const Console& console) {
  std::string key;
  RehearsalOptions options;
  const auto app = make_app(
      "explain", "The formula behind a number of the report, its inputs with their values, and where they come from.",
      {{"explain", "all keys that can be explained"},
       {"explain mfu", "meaning and formula"},
       {"explain mfu scenarios/gpt-145b-selene.json", "with the values of a scenario"},
       {"explain groups my.json", "which ranks form which group, on which nodes, and what each moves"},
       {"explain stages.3.peak_memory_bytes my.json --estimate", "of one pipeline rank"}});
  app->add_option("KEY", key, "A key of the JSON report");
  app->add_option("FILE", options.file, "A scenario");
  add_overrides(*app, options.overrides);
  app->add_flag("--estimate", options.estimate, "Closed form instead of simulation");
  if (const auto help = parse(*app, words)) return console.print(*help), ok;

  const std::string idle = given_options(*app, {"--set", "--estimate"});
  if (options.file.empty() && !idle.empty()) throw UsageError(fmt::format("explain: {} needs a scenario FILE", idle));
  if (key.empty()) {
    std::string list;
    for (const std::string& known : explainable_keys()) list += known + "\n";
    return console.print(list), ok;
  }
  if (key == "groups") {
    if (options.file.empty()) throw UsageError("explain: groups are those of a scenario FILE");
    return console.print(groups_of(options, console)), ok;
  }
  const std::string formula = explain(key);  // a wrong key is found before anything is simulated
  if (options.file.empty()) return console.print(formula), ok;
  return console.print(explain(key, rehearse(options, console).report)), ok;
}

}  // namespace stagecraft::cli
