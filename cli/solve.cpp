// stagecraft solve: what explains a measured step time.

#include "search/solve.hpp"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "base/refusal.hpp"
#include "command_line.hpp"
#include "exit_code.hpp"
#include "search_verbs.hpp"

namespace stagecraft::cli {
namespace {

std::string text_of(const Scenario& scenario, double as_it_is_s, double measured_s,
                    const std::vector<Solution>& solutions) {
  std::string text = fmt::format("{}: {:.6g} s in closed form, {:.6g} s to explain ({:+.1f} %)\n\n", scenario.name,
                                 as_it_is_s, measured_s, 100 * (measured_s / as_it_is_s - 1));
  text += "Each alone, everything else as in the scenario:\n";
  for (const Solution& solution : solutions) text += fmt::format("  {:<26}{}\n", solution.what, solution.meaning);
  return text;
}

std::string json_of(const Scenario& scenario, double as_it_is_s, double measured_s,
                    const std::vector<Solution>& solutions) {
  nlohmann::ordered_json root = {{"version", 1},
                                 {"scenario", scenario.name},
                                 {"estimate_step_time_s", as_it_is_s},
                                 {"step_time_s", measured_s},
                                 {"solutions", nlohmann::ordered_json::array()}};
  for (const Solution& solution : solutions) {
    nlohmann::ordered_json entry = {{"what", solution.what}};
    if (solution.factor) entry[solution.what == "micro-batches" ? "micro_batches" : "factor"] = *solution.factor;
    entry["step_time_s"] = solution.step_s;
    entry["meaning"] = solution.meaning;
    root["solutions"].push_back(std::move(entry));
  }
  return root.dump(2, ' ', false, nlohmann::ordered_json::error_handler_t::replace) + "\n";
}

}  // namespace

int run_solve(const Words& words, const Console& console) {
  std::string file, format, output;
  std::vector<std::string> overrides;
  double step_s = 0;
  const auto app =
      make_app("solve", "Says which efficiency, bandwidth or number of micro-batches explains a measured step time.",
               {{"solve scenarios/gpt-145b-selene.json --step-time 24.8", "closed form, each thing alone"},
                {"solve my.json --step-time 3.1 --format json", ""}});
  app->add_option("FILE", file, "A scenario")->required();
  app->add_option("--step-time", step_s, "The measured step time in seconds")
      ->required()
      ->type_name("SECONDS")
      ->check(number_between(1e-9, 1e9));
  add_overrides(*app, overrides);
  add_format(*app, format, {"text", "json"});
  add_output(*app, output);
  if (const auto help = parse(*app, words)) return console.print(*help), ok;
  keep_apart({file}, {{"--output", output}});

  const Library library = default_library(console.executable);
  const Scenario scenario = load_scenario(file, overrides, library);
  refuse_errors(scenario.path, check_feasible(scenario));
  const SearchContext context = make_search_context(scenario, calibration_of(scenario, library), 0);
  const double as_it_is_s = step_of_scenario_s(context);
  const std::vector<Solution> solutions = solve_for_step_time(context, step_s);
  write_output(console, output,
               format == "json" ? json_of(scenario, as_it_is_s, step_s, solutions)
                                : text_of(scenario, as_it_is_s, step_s, solutions));
  return ok;
}

}  // namespace stagecraft::cli
