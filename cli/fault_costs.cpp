#include "fault_costs.hpp"

#include <fmt/format.h>

#include "topology/fault_effect.hpp"

namespace stagecraft::cli {
namespace {

constexpr std::size_t most_priced = 32;  // each takes an estimate

}  // namespace

Findings fault_costs(const Scenario& scenario, const Plan& plan, const Schedule& schedule, const Graph& graph,
                     const Calibration& calibration, std::int32_t steps) {
  Findings notes;
  if (scenario.cluster.faults.empty()) return notes;
  const auto step_s = [&](const Topology& topology) {
    const CostModel model = make_cost_model(plan, topology, calibration);
    return estimate(plan, schedule, graph, model, topology, steps).step_time.value;
  };
  ClusterSpec cluster = scenario.cluster;
  cluster.faults.clear();
  const double sound_s = step_s(build_topology(cluster));
  for (std::size_t i = 0; i < scenario.cluster.faults.size() && i < most_priced; ++i) {
    const FaultSpec& fault = scenario.cluster.faults[i];
    cluster.faults = {fault};
    const Topology topology = build_topology(cluster);
    const double cost_s = step_s(topology) - sound_s;
    const std::string effect = fault_effect(topology, fault);
    const bool on_trunks = fault.kind == FaultKind::leaf || fault.kind == FaultKind::background;
    const std::string cost =
        on_trunks ? "cables between switches are shared, so only the simulation says what it costs"
                  : fmt::format("alone it costs {} of a step of {} ({:+.1f} %, closed form)", to_text(Seconds{cost_s}),
                                to_text(Seconds{sound_s}), 100 * cost_s / sound_s);
    notes.push_back({Severity::note, "fault", fmt::format("/cluster/faults/{}", i),
                     fmt::format("{}{}; {}", describe(fault), effect.empty() ? "" : ": " + effect, cost), ""});
  }
  return notes;
}

}  // namespace stagecraft::cli
