#pragma once
// One candidate of a search, judged at three levels: can it run at all, does it fit and what is the least time that it
// can take, and how long does it take in closed form.

#include <deque>
#include <optional>
#include <string>

#include "cost/calibration.hpp"
#include "cost/cost_model.hpp"
#include "memory/timeline.hpp"
#include "plan/layout.hpp"
#include "plan/plan.hpp"
#include "schedule/graph.hpp"
#include "search/bound.hpp"
#include "search/space.hpp"
#include "topology/topology.hpp"

namespace stagecraft {

/// What all candidates of a search share.
struct SearchContext {
  Scenario scenario;  // `run` is overwritten by the candidate
  Topology topology;
  Calibration calibration;
  double memory_reserve = 0;  // share of the GPU's memory that must stay free
};
SearchContext make_search_context(const Scenario& scenario, const Calibration& calibration, double memory_reserve);

/// The context's scenario with the candidate in it.
Scenario scenario_of(const SearchContext& context, const Candidate& candidate);

/// What the candidate judged last had: neighbours in a sorted list of candidates have the same schedule and often the
/// same groups. One per thread and context.
struct ScheduleCache {
  std::string key;
  Schedule lowered;  // its bodies are those of the candidate timed last
  ScheduleFacts facts;
  EffectPrograms effects;
  Graph graph;
  bool has_graph = false;
  struct Costs {
    Degrees degrees;
    std::vector<GpuId> placed;
    CostModel model;
  };
  std::deque<Costs> costs;  // of the last few degrees and placements
  struct Judged {
    Candidate candidate;
    Plan plan;
    Bodies bodies;
    RankTimes times;
  };
  std::optional<Judged> judged;  // for whoever times the same candidate next
};

/// An order that has candidates with equal schedules, and then those with equal groups, one after the other.
bool schedule_comes_before(const Candidate& a, const Candidate& b);

struct Judgement {
  std::string reason;  // why it cannot run; "" if it can
  double bound_s = 0;  // no way of playing it, with or without contention, takes less
  double peak_memory_bytes = 0, memory_limit_bytes = 0;
  bool fits = false;
  double tokens = 0, model_flops = 0, hardware_flops = 0, peak_flops = 0;  // of a step; the last one per GPU and second
  const TrainingSpec* training = nullptr;                                  // the context's
};

/// Findings, memory verdict and bound. `scenario` is the context's, one copy per thread: its run is overwritten.
Judgement judge(const SearchContext& context, Scenario& scenario, const Candidate& candidate, ScheduleCache& cache);

/// Closed-form seconds of a step, as `simulate --estimate` gives them. Precondition: judge found no reason against it.
double closed_form_s(const SearchContext& context, Scenario& scenario, const Candidate& candidate,
                     ScheduleCache& cache);

}  // namespace stagecraft
