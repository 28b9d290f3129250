#include <algorithm>
#include <array>

#include "base/refusal.hpp"
#include "command_line.hpp"
#include "cost/calibration.hpp"
#include "estimate/balance.hpp"
#include "exchange/exchange.hpp"
#include "exit_code.hpp"
#include "plan/feasibility.hpp"
#include "plan/plan.hpp"
#include "topology/topology.hpp"
#include "verb.hpp"

namespace stagecraft::cli {
namespace {

/// Frameworks take the number of blocks in each stage, whatever rule they come from.
void list_blocks(Scenario& scenario) {
  if (scenario.run.partition.rule == PartitionRule::uniform) return;
  const Plan plan = make_plan(scenario);
  std::vector<std::int64_t> blocks;
  for (const StageLayers& stage : plan.stages) {
    const auto from = plan.layers.begin() + stage.first, to = plan.layers.begin() + stage.last;
    blocks.push_back(std::count_if(from, to, [](const Layer& layer) { return layer.kind == LayerKind::block; }));
  }
  scenario.run.partition = {PartitionRule::explicit_list, std::move(blocks), {}};
}

}  // namespace

int run_export(const Words& words, const Console& console) {
  std::string file, output;
  std::vector<std::string> overrides;
  bool megatron = false, deepspeed = false, torchtitan = false;
  const auto app = make_app("export", "Writes the flags or the file that run a scenario in a framework.",
                            {{"export scenarios/llama-3-405b-eos.json --megatron", "a command line"},
                             {"export my.json --deepspeed -o ds_config.json", "DeepSpeed's configuration"},
                             {"export my.json --torchtitan", "torchtitan's, as TOML"}});
  app->add_option("FILE", file, "A scenario")->required();
  add_overrides(*app, overrides);
  app->add_flag("--megatron", megatron, "A Megatron-LM command line");
  app->add_flag("--deepspeed", deepspeed, "A ds_config.json");
  app->add_flag("--torchtitan", torchtitan, "A torchtitan TOML");
  add_output(*app, output);
  if (const auto help = parse(*app, words)) return console.print(*help), ok;
  if (int{megatron} + int{deepspeed} + int{torchtitan} != 1) {
    throw UsageError("export: one of --megatron, --deepspeed and --torchtitan");
  }
  const Library library = default_library(console.executable);
  Scenario scenario = load_scenario(file, overrides, library);
  refuse_errors(scenario.path, check_layout(scenario));
  if (!scenario.model.plain_layers.empty()) throw UsageError("export: no framework knows a list of plain layers");
  balance_partition(scenario, build_topology(scenario.cluster), calibration_of(scenario, library));
  list_blocks(scenario);
  keep_apart(scenario.files, {{"--output", output}});
  const Exported exported = megatron    ? export_megatron(scenario)
                            : deepspeed ? export_deepspeed(scenario)
                                        : export_torchtitan(scenario);
  write_output(console, output, exported.text);
  for (const std::string& line : exported.left_out) console.message("left out", line);
  return ok;
}

}  // namespace stagecraft::cli
