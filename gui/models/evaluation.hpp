#pragma once
// One scenario worked out in closed form: what `stagecraft simulate --estimate` does, kept with everything that a
// simulated trace of the same scenario needs to become a report.

#include <atomic>
#include <memory>
#include <optional>
#include <string>

#include "base/findings.hpp"
#include "base/input_error.hpp"
#include "cost/cost_model.hpp"
#include "estimate/estimate.hpp"
#include "gui/models/trace_rows.hpp"
#include "memory/timeline.hpp"
#include "plan/plan.hpp"
#include "report/report.hpp"
#include "schedule/graph.hpp"
#include "schedule/schedule.hpp"
#include "spec/scenario.hpp"
#include "topology/topology.hpp"
#include "trace/trace.hpp"

namespace stagecraft::gui {

/// What is known of a feasible scenario.
struct WorkedOut {
  Topology topology;
  Plan plan;
  CostModel costs;
  Schedule schedule;
  Graph graph;
  Estimate closed_form;
  std::vector<MemoryPeak> memory;
  Report report;                              // of the closed form
  Trace trace;                                // of the closed form; empty once it is loaded
  std::unique_ptr<const LoadedTrace> loaded;  // of the closed form, with memory counters; null until load() made it
};

struct Evaluation {
  std::optional<Scenario> scenario;    // none: it could not be read
  std::vector<InputProblem> problems;  // why it could not be read
  Findings findings;                   // of layout, schedule and memory; errors leave `done` empty
  std::unique_ptr<WorkedOut> done;
  double seconds = 0;  // that it took
};

/// Never throws. `path` stands for the text in messages; what it names relatively is beside it.
/// `cancel` may be null; once true the result is whatever was there.
Evaluation evaluate(const std::string& text, const std::string& path, const Library& library,
                    const std::atomic<bool>* cancel = nullptr);

/// The trace of the closed form, ready to look at. Null if it was cancelled.
std::unique_ptr<const LoadedTrace> load(const WorkedOut& done, Trace trace, const std::atomic<bool>& cancel);

double memory_limit_bytes(const WorkedOut& done);

/// The report of a simulated or measured trace of the scenario that `evaluation` worked out. Throws InputError.
/// Precondition: evaluation.done.
Report report_of(const Evaluation& evaluation, const Trace& trace);

}  // namespace stagecraft::gui
