// Every stage gets layers.
#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "base/input_error.hpp"
#include "plan/feasibility_checks.hpp"

namespace stagecraft {
namespace {

void check_uniform(const ParallelSpec& parallel, std::int64_t layers, const char* unit, Findings& findings) {
  const std::int64_t stages = parallel.pipeline * parallel.virtual_stages;
  if (layers % stages == 0) return;
  findings.push_back(
      {Severity::error, "blocks-not-divisible", "/parallel/pipeline",
       fmt::format("{} {} cannot be split evenly over {} stages ({} pipeline ranks x {} virtual stages); the partition "
                   "\"time\", \"parameters\" or an explicit list can split them unevenly",
                   layers, unit, stages, parallel.pipeline, parallel.virtual_stages),
       nearest_values(parallel.pipeline, std::max<std::int64_t>(1, layers / parallel.virtual_stages),
                      [&](std::int64_t value) { return layers % (value * parallel.virtual_stages) == 0; })});
}

void check_list(const RunSpec& run, std::int64_t layers, bool has_edge_layers, const char* unit, Findings& findings) {
  const std::vector<std::int64_t>& list = run.partition.blocks_per_stage;
  const std::int64_t stages = run.parallel.pipeline * run.parallel.virtual_stages;
  const char* pointer = "/parallel/partition";
  if (static_cast<std::int64_t>(list.size()) != stages) {
    findings.push_back({Severity::error, "partition-length", pointer,
                        fmt::format("{} entries for {} stages ({} pipeline ranks x {} virtual stages)", list.size(),
                                    stages, run.parallel.pipeline, run.parallel.virtual_stages),
                        fmt::format("{} entries", stages)});
  }
  std::int64_t sum = 0;
  for (std::size_t stage = 0; stage < list.size(); ++stage) {
    const bool edge = stage == 0 || stage + 1 == list.size();
    const std::int64_t least = edge && has_edge_layers ? 0 : 1;
    if (list[stage] < least || list[stage] > layers) {
      findings.push_back({Severity::error, "partition-entry", fmt::format("{}/{}", pointer, stage),
                          fmt::format("a stage of {} {} is not possible here", list[stage], unit),
                          fmt::format("{}", std::clamp(list[stage], least, layers))});
    }
    sum += std::clamp<std::int64_t>(list[stage], 0, layers);  // a list holds far fewer than 2^32 entries
  }
  if (sum != layers) {
    findings.push_back({Severity::error, "partition-sum", pointer,
                        fmt::format("the stages hold {} {}, the model has {}", sum, unit, layers),
                        fmt::format("entries that add up to {}", layers)});
  }
}

/// Words that name no layer of the model.
void check_types(const Scenario& scenario, Findings& findings) {
  std::set<std::string> known;
  for (const Layer& layer : layers_of(scenario.model)) {
    for (std::string& type : types_of(scenario.model, layer)) known.insert(std::move(type));
  }
  const std::vector<std::string>& types = scenario.run.partition.types;
  for (std::size_t i = 0; i < types.size(); ++i) {
    if (known.count(types[i]) > 0) continue;
    findings.push_back({Severity::error, "partition-type", fmt::format("/parallel/partition/count/{}", i),
                        fmt::format("no layer of the model is of type \"{}\"", types[i]),
                        nearest_word(types[i], {known.begin(), known.end()})});
  }
}

}  // namespace

void check_partition(const Scenario& scenario, Findings& findings) {
  const RunSpec& run = scenario.run;
  const bool plain = !scenario.model.plain_layers.empty();
  const char* unit = plain ? "layers" : "blocks";
  const std::int64_t layers = divisible_layers(scenario.model);
  const std::int64_t stages = run.parallel.pipeline * run.parallel.virtual_stages;
  switch (run.partition.rule) {
    case PartitionRule::uniform:
      check_uniform(run.parallel, layers, unit, findings);
      break;
    case PartitionRule::explicit_list:
      check_list(run, layers, !plain, unit, findings);
      break;
    case PartitionRule::count:
      check_types(scenario, findings);
      [[fallthrough]];
    case PartitionRule::work:
    case PartitionRule::time:
    case PartitionRule::time_and_memory:
    case PartitionRule::parameters: {
      const std::int64_t pieces = layers + (plain ? 0 : 2);  // embedding, and head with loss
      if (stages <= pieces) break;
      const bool fewer_ranks = run.parallel.virtual_stages <= pieces;  // else one rank would have too many stages
      findings.push_back({Severity::error, "more-stages-than-layers",
                          fewer_ranks ? "/parallel/pipeline" : "/parallel/virtual_stages",
                          fmt::format("{} stages cannot share {} layers", stages, pieces),
                          fmt::format("{}", fewer_ranks ? pieces / run.parallel.virtual_stages
                                                        : std::max<std::int64_t>(1, pieces / run.parallel.pipeline))});
      break;
    }
  }
}

}  // namespace stagecraft
