#pragma once
// Gathers a report from what the rooms before it computed.

#include <string>
#include <vector>

#include "cost/cost_model.hpp"
#include "estimate/estimate.hpp"
#include "memory/timeline.hpp"
#include "plan/plan.hpp"
#include "report/report.hpp"
#include "schedule/schedule.hpp"
#include "topology/topology.hpp"
#include "trace/summary.hpp"
#include "trace/trace.hpp"

namespace stagecraft {

/// Everything by reference; `trace` is the simulated or the estimated one.
struct ReportSources {
  const Scenario& scenario;
  const Topology& topology;
  const Plan& plan;
  const Schedule& schedule;
  const Graph& graph;
  const CostModel& costs;
  const Estimate& estimate;
  const Trace& trace;
  const Summary& summary;
  const std::vector<MemoryPeak>& memory;
  const Findings& findings;
};

/// The interval is the closed form's with every duration at the low (high) end of its own, scaled to the time of the
/// trace. It assumes that all errors go the same way, so it is wide. Throws InputError if a published figure names an
/// unknown key or FLOP convention.
Report make_report(const ReportSources& sources);

}  // namespace stagecraft
