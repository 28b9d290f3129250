// ZeRO, hybrid sharding and offload: what shards what, over whom, and where it goes.
#include <fmt/format.h>

#include <algorithm>

#include "plan/feasibility_checks.hpp"
#include "topology/host_link.hpp"

namespace stagecraft {
namespace {

/// Ranks that hold the same experts.
std::int64_t expert_replicas(const Scenario& scenario) {
  const ParallelSpec& parallel = scenario.run.parallel;
  if (scenario.model.moe.experts == 0) return 1;
  const std::int64_t spread = expert_tensor_of(parallel) * parallel.expert;
  return parallel.tensor * parallel.context * parallel.data / std::max<std::int64_t>(1, spread);
}

void check_zero(const Scenario& scenario, std::int64_t ranks, Findings& findings) {
  const RunSpec& run = scenario.run;
  if (run.zero_stage < 0 || run.zero_stage > 3) {
    findings.push_back({Severity::error, "out-of-range", "/zero_stage",
                        fmt::format("{} is no ZeRO stage (0 to 3)", run.zero_stage), run.zero_stage < 0 ? "0" : "3"});
  }
  if (run.zero_stage > 0 && ranks == 1 && expert_replicas(scenario) < 2) {
    findings.push_back({Severity::warning, "zero-without-data", "/zero_stage",
                        "states are sharded over the data group, which has one rank: it changes nothing", "0"});
  }
  if (run.sharding.group == 0) return;
  if (run.zero_stage == 0) {
    findings.push_back({Severity::warning, "sharding-without-zero", "/sharding/group",
                        "ZeRO 0 shards nothing: the group has no effect", "0"});
  }
  if (ranks % run.sharding.group != 0) {
    findings.push_back(
        {Severity::error, "sharding-group", "/sharding/group",
         fmt::format("{} ranks of the data and context group do not divide into groups of {}", ranks,
                     run.sharding.group),
         nearest_values(run.sharding.group, ranks, [&](std::int64_t size) { return ranks % size == 0; })});
  }
}

/// ZeRO++: the second shard lies among neighbours.
void check_secondary(const RunSpec& run, std::int64_t ranks, Findings& findings) {
  const std::int64_t secondary = run.sharding.secondary;
  if (secondary == 0 || ranks % secondary == 0) return;
  findings.push_back(
      {Severity::error, "sharding-secondary", "/sharding/secondary",
       fmt::format("{} ranks of the data and context group do not divide into groups of {}", ranks, secondary),
       nearest_values(secondary, ranks, [&](std::int64_t size) { return ranks % size == 0; })});
}

void check_gradient_traffic(const RunSpec& run, std::int64_t ranks, Findings& findings) {
  const std::int64_t micro_batches = run.batch.global / std::max<std::int64_t>(1, run.batch.micro * run.parallel.data);
  if (run.zero_stage < 2 || ranks == 1 || micro_batches < 2) return;
  if (reduces_in_backward(run.zero_stage, run.sharding)) {
    findings.push_back({Severity::note, "gradients-reduced-each-micro-batch", "/sharding/unit",
                        fmt::format("sharded gradients are reduced in each of the {} micro-batches: {} times the "
                                    "traffic of one reduction per step",
                                    micro_batches, micro_batches),
                        ""});
  } else if (run.zero_stage == 2) {
    findings.push_back({Severity::note, "gradients-whole-until-reduced", "/sharding/unit",
                        fmt::format("gradients of {} micro-batches are added up whole and sharded after the one "
                                    "reduction: at the peak ZeRO 2 saves nothing over ZeRO 1",
                                    micro_batches),
                        "block"});
  }
}

void check_offload(const Scenario& scenario, Findings& findings) {
  const RunSpec& run = scenario.run;
  struct Part {
    const char* pointer;
    Home home;
  };
  const bool cpu = scenario.cluster.gpu.architecture == "cpu";
  for (const Part& part :
       {Part{"/offload/optimizer", run.offload.optimizer}, Part{"/offload/parameters", run.offload.parameters},
        Part{"/offload/activations", run.offload.activations}}) {
    if (part.home == Home::gpu) continue;
    bool reached = !cpu, memory = true, drives = true;
    for (std::size_t kind = 0; kind < kind_count(scenario.cluster); ++kind) {
      const NodeSpec& node = node_of_kind(scenario.cluster, kind);
      reached = reached && host_rate(node, 1).alone.value > 0;
      memory = memory && node.host_memory.value > 0;
      drives = drives && node.nvme.value > 0;
    }
    if (!reached || !memory) {
      findings.push_back({Severity::error, "offload-without-host", part.pointer,
                          cpu       ? "the ranks already run on the host: there is nowhere to offload to"
                          : reached ? "the node states no host memory"
                                    : "no GPU of the node has a way to a CPU",
                          "gpu"});
    } else if (part.home == Home::nvme && !drives) {
      findings.push_back({Severity::error, "offload-without-nvme", part.pointer,
                          "the node has no NVMe drives (key \"nvme\")", "host"});
    }
  }
  if (run.offload.parameters != Home::gpu && run.zero_stage < 3) {
    findings.push_back({Severity::error, "offload-unsharded-parameters", "/offload/parameters",
                        fmt::format("parameters can leave the GPU only if they are gathered for each use: ZeRO 3, not "
                                    "{}",
                                    run.zero_stage),
                        "gpu"});
  }
}

}  // namespace

void check_sharding(const Scenario& scenario, Findings& findings) {
  const RunSpec& run = scenario.run;
  const std::int64_t ranks = run.parallel.data * run.parallel.context;
  check_zero(scenario, ranks, findings);
  check_secondary(run, ranks, findings);
  check_gradient_traffic(run, ranks, findings);
  check_offload(scenario, findings);
  if (run.sharding.unit == ShardUnit::block && !scenario.model.plain_layers.empty()) {
    findings.push_back({Severity::error, "sharding-unit", "/sharding/unit",
                        "a model of plain layers has no blocks: it is sharded stage by stage", "stage"});
  }
  if (run.recompute != Recompute::full && run.recompute_scope != RecomputeScope::every_block) {
    findings.push_back({Severity::error, "recompute-scope", "/recompute_scope",
                        fmt::format("\"{}\" says which blocks full recompute covers, and recompute is \"{}\"",
                                    to_text(run.recompute_scope), to_text(run.recompute)),
                        "every_block"});
  }
}

}  // namespace stagecraft
