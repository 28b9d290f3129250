#include "search/sensitivity.hpp"

#include <functional>

namespace stagecraft {
namespace {

struct Change {
  const char* what;
  std::function<void(SearchContext&)> apply;
};

/// Memory grows by lowering the reserve below zero.
void scale_memory(SearchContext& context, double factor) {
  context.memory_reserve = 1 - (1 - context.memory_reserve) * factor;
}

std::vector<Change> changes() {
  return {{"bandwidth -10 %", [](SearchContext& context) { scale_bandwidth(context, 0.9); }},
          {"bandwidth +10 %", [](SearchContext& context) { scale_bandwidth(context, 1.1); }},
          {"efficiency -10 %", [](SearchContext& context) { scale_efficiency(context.calibration, 0.9); }},
          {"efficiency +10 %", [](SearchContext& context) { scale_efficiency(context.calibration, 1.1); }},
          {"usable memory -10 %", [](SearchContext& context) { scale_memory(context, 0.9); }},
          {"usable memory +10 %", [](SearchContext& context) { scale_memory(context, 1.1); }}};
}

/// Those that a tenth more or less can bring to the front: a step changes by no more than the figure that changes.
std::vector<Candidate> contenders(const SearchResult& result) {
  constexpr double reach = 1.1 / 0.9;
  const double best = step_seconds(result.ranking.front());
  std::vector<Candidate> list;
  for (const auto* group : {&result.ranking, &result.pruned, &result.too_large}) {
    for (const Ranked& ranked : *group) {
      const bool near_memory = ranked.judgement.peak_memory_bytes <= 1.1 * ranked.judgement.memory_limit_bytes;
      if (ranked.judgement.bound_s <= reach * best && near_memory) list.push_back(ranked.candidate);
    }
  }
  return list;
}

void scale_wires(NodeSpec& node, double factor) {
  for (WireSpec& wire : node.wires) {
    wire.nominal = wire.nominal * factor;
    wire.achieved = wire.achieved * factor;
  }
}

void scale_collectives(Calibration& calibration, double factor) {
  for (auto& [name, profile] : calibration.collectives) profile.bus_GBps.value *= factor;
  for (Calibration& other : calibration.other_kinds) scale_collectives(other, factor);
}

}  // namespace

void scale_bandwidth(SearchContext& context, double factor) {
  ClusterSpec& cluster = context.scenario.cluster;
  scale_wires(cluster.node, factor);
  cluster.fabric.nic_nominal = cluster.fabric.nic_nominal * factor;
  cluster.fabric.nic_achieved = cluster.fabric.nic_achieved * factor;
  cluster.fabric.local_rate = cluster.fabric.local_rate * factor;
  cluster.fabric.global_rate = cluster.fabric.global_rate * factor;
  for (OtherNodes& kind : cluster.other_nodes) {
    scale_wires(kind.node, factor);
    kind.nic_nominal = kind.nic_nominal * factor;
    kind.nic_achieved = kind.nic_achieved * factor;
  }
  scale_collectives(context.calibration, factor);
  context.topology = build_topology(cluster);
}

void scale_efficiency(Calibration& calibration, double factor) {
  for (auto& [dtype, gemm] : calibration.gemm) gemm.ceiling.value *= factor;
  for (auto& [version, attention] : calibration.attention) {
    attention.forward.value *= factor;
    attention.backward.value *= factor;
  }
  if (const auto found = calibration.constants.find("memory_efficiency"); found != calibration.constants.end())
    found->second.value *= factor;
  for (MeasuredKernel& kernel : calibration.measured) kernel.seconds /= factor;
  for (Calibration& other : calibration.other_kinds) scale_efficiency(other, factor);
}

std::vector<Sensitivity> sensitivities(const SearchContext& context, const SearchResult& result,
                                       const SearchOptions& options) {
  const std::vector<Candidate> candidates = contenders(result);
  const std::vector<std::string> first = result.ranking.front().point.values;
  SearchOptions how = options;
  how.keep = 1;
  how.most_simulations = 0;
  how.progress = nullptr;
  how.known = nullptr;  // of another context
  how.found = nullptr;
  std::vector<Sensitivity> found;
  for (const Change& change : changes()) {
    SearchContext changed = context;
    change.apply(changed);
    const SearchResult then = search(changed, candidates, how, nullptr);
    Sensitivity line{change.what, false, {}, 0, 0};
    ScheduleCache cache;
    Scenario scenario = changed.scenario;
    const Candidate& today = result.ranking.front().candidate;
    const Judgement judged = judge(changed, scenario, today, cache);
    if (judged.fits) line.step_of_first_s = closed_form_s(changed, scenario, today, cache);
    if (!then.ranking.empty()) {
      line.winner = then.ranking.front().candidate;
      line.step_s = step_seconds(then.ranking.front());
      // One that is as good as today's winner does not replace it.
      line.same_winner = judged.fits && line.step_of_first_s <= line.step_s * (1 + 1e-9);
      if (line.same_winner) line.winner = today;
    }
    found.push_back(std::move(line));
  }
  return found;
}

}  // namespace stagecraft
