#include "search/evaluate.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <tuple>
#include <utility>

#include "base/refusal.hpp"
#include "cost/flops.hpp"
#include "estimate/balance.hpp"
#include "estimate/compute_schedule.hpp"
#include "estimate/estimate.hpp"
#include "memory/host_memory.hpp"
#include "memory/overhead.hpp"
#include "memory/timeline.hpp"
#include "schedule/family.hpp"
#include "schedule/lower.hpp"
#include "search/bound.hpp"
#include "spec/precision.hpp"
#include "spec/usual_choices.hpp"

namespace stagecraft {
namespace {

void balance(const SearchContext& context, Scenario& scenario) {
  balance_partition(scenario, context.topology, context.calibration);
  scenario.defaults.clear();
}

std::string reasons_of(const Findings& findings) {
  std::string text;
  for (const Finding& finding : findings) {
    if (finding.severity == Severity::error) text += (text.empty() ? "" : "; ") + to_text(finding);
  }
  return text;
}

void put(const Candidate& candidate, Scenario& scenario) {
  apply(candidate, scenario.run);
  choose_by_layout(scenario.model, scenario.cluster.gpu, scenario.run);
}

/// Everything that the lowered schedule depends on, unless the schedule is searched with the stage's times.
std::string key_of(const Plan& plan) {
  // Bound one by one, so that a policy with one more does not compile.
  const auto [recompute, shard, prefetch, reduce, overlap_reduce, tied, optimizer, gather, overlap_gather, activations,
              host_optimizer, parameters, receives, overlap_pipeline] = lowering_policy(plan);
  const ScheduleSpec& spec = plan.run.schedule;
  return fmt::format("{} {} {} {} {} {} {} {} {} {} {} {} {} {} {} {} {} {} {} {} {} {}", spec.name,
                     plan.degrees.pipeline, plan.run.parallel.virtual_stages, plan.micro_batches,
                     spec.group_size.value_or(0), spec.waves, spec.run_ahead, spec.flushes, recompute, shard, prefetch,
                     reduce, overlap_reduce, tied, optimizer, gather, overlap_gather, activations, host_optimizer,
                     parameters, static_cast<int>(receives), overlap_pipeline);
}

/// Everything that a cost model takes from a candidate's plan are its groups, where they lie, and what of the run
/// becomes part of its laws.
const CostModel& costs_of(const SearchContext& context, const Plan& plan, ScheduleCache& cache) {
  constexpr std::size_t kept = 64;
  for (const ScheduleCache::Costs& known : cache.costs) {
    if (known.degrees == plan.degrees && known.placed == plan.gpus) return known.model;
  }
  if (cache.costs.size() == kept) cache.costs.pop_front();
  cache.costs.push_back({plan.degrees, plan.gpus, make_cost_model(plan, context.topology, context.calibration)});
  return cache.costs.back().model;
}

/// All members are bound, so that a candidate with one more does not compile.
bool same(const Candidate& a, const Candidate& b) {
  const auto key = [](const Candidate& each) {
    const auto& [parallel, micro, schedule, zero, recompute, partition, optimizer, activations] = each;
    const auto& [tensor, context, pipeline, data, chunks, sequence, expert, expert_tensor, method, ulysses, zig_zag,
                 placement] = parallel;
    return std::tie(micro, schedule, zero, recompute, partition, optimizer, activations, tensor, context, pipeline,
                    data, chunks, sequence, expert, expert_tensor, method, ulysses, zig_zag, placement.order,
                    placement.rank_file);
  };
  return key(a) == key(b);
}

bool offloads(const OffloadSpec& offload) {
  return offload.optimizer != Home::gpu || offload.parameters != Home::gpu || offload.activations != Home::gpu;
}

void prepare(const SearchContext& context, const Scenario& scenario, const Plan& plan, const CostModel& costs,
             ScheduleCache& cache) {
  const FamilyEntry* const entry = find_schedule(plan.run.schedule.name);
  const bool by_times = entry == nullptr || entry->searched;
  std::string key = by_times ? std::string() : key_of(plan);
  if (!by_times && key == cache.key) return;
  cache.key.clear();
  cache.has_graph = false;
  Findings notes;
  cache.lowered = lower(compute_schedule(scenario, plan, costs, context.topology, notes), lowering_policy(plan));
  cache.facts = facts_of(cache.lowered);
  cache.effects = effect_programs(cache.lowered);
  cache.key = std::move(key);
}

/// Everything that bound, memory and closed form need, into the cache.
void plan_and_time(const SearchContext& context, Scenario& scenario, const Candidate& candidate, ScheduleCache& cache) {
  cache.judged.reset();
  balance(context, scenario);
  Plan plan = make_plan(scenario);
  const CostModel& costs = costs_of(context, plan, cache);
  prepare(context, scenario, plan, costs, cache);
  Bodies bodies = make_bodies(plan, cache.lowered.placement.front());
  RankTimes times = time_bodies_by_rank(costs, bodies, plan, context.topology);
  cache.judged = ScheduleCache::Judged{candidate, std::move(plan), std::move(bodies), std::move(times)};
}

}  // namespace

SearchContext make_search_context(const Scenario& scenario, const Calibration& calibration, double memory_reserve) {
  SearchContext context{scenario, build_topology(scenario.cluster), calibration, memory_reserve};
  context.scenario.published.clear();
  context.scenario.defaults.clear();
  return context;
}

Scenario scenario_of(const SearchContext& context, const Candidate& candidate) {
  Scenario scenario = context.scenario;
  put(candidate, scenario);
  return scenario;
}

bool schedule_comes_before(const Candidate& a, const Candidate& b) {
  const auto key = [](const Candidate& each) {
    const ParallelSpec& parallel = each.parallel;
    return std::tuple(parallel.pipeline, parallel.virtual_stages, parallel.data * each.micro, each.schedule,
                      each.recompute == Recompute::full, each.zero_stage, parallel.data > 1, each.optimizer_home,
                      each.activations_home, parallel.tensor, parallel.context, parallel.data, parallel.expert,
                      parallel.placement.order);
  };
  return key(a) < key(b);
}

Judgement judge(const SearchContext& context, Scenario& scenario, const Candidate& candidate, ScheduleCache& cache) {
  put(candidate, scenario);
  Judgement judgement;
  judgement.reason = reasons_of(check_feasible(scenario));
  if (!judgement.reason.empty()) return judgement;
  try {
    plan_and_time(context, scenario, candidate, cache);
  } catch (const Refusal& refusal) {
    judgement.reason = reasons_of(refusal.findings());
    return judgement;
  }
  const auto& [judged, plan, bodies, times] = *cache.judged;
  judgement.bound_s = least_step_s(plan, cache.lowered, cache.facts, bodies, times);
  for (const MemoryPeak& peak : memory_peaks(plan, cache.lowered, cache.effects)) {
    const double limit = peak.limit.value * (1 - context.memory_reserve);
    const bool first = judgement.memory_limit_bytes <= 0;
    if (!first && peak.peak.value * judgement.memory_limit_bytes <= judgement.peak_memory_bytes * limit) continue;
    judgement.peak_memory_bytes = peak.peak.value;  // of the rank that has the least room left
    judgement.memory_limit_bytes = limit;
  }
  judgement.fits = judgement.peak_memory_bytes <= judgement.memory_limit_bytes &&
                   (!offloads(plan.run.offload) || host_memory(plan, cache.lowered, scenario.cluster).fits());
  judgement.tokens = tokens_of_step(plan);
  judgement.training = &context.scenario.run.training;
  judgement.model_flops = find_flop_convention("gemm-full-attention")->of_step(plan).value;
  judgement.hardware_flops = hardware_flops_of_step(plan).value;
  judgement.peak_flops = mean_peak(plan, number_formats(plan.run.precision).gemm);
  return judgement;
}

double closed_form_s(const SearchContext& context, Scenario& scenario, const Candidate& candidate,
                     ScheduleCache& cache) {
  if (!cache.judged || !same(cache.judged->candidate, candidate)) {
    put(candidate, scenario);
    plan_and_time(context, scenario, candidate, cache);
  }
  const ScheduleCache::Judged judged = std::move(*cache.judged);
  cache.judged.reset();
  const Plan& plan = judged.plan;
  const CostModel& costs = costs_of(context, plan, cache);
  if (!cache.has_graph) cache.graph = make_graph(cache.lowered);
  cache.has_graph = true;
  cache.lowered = attach_bodies(std::move(cache.lowered), plan, judged.bodies);
  const std::int32_t steps = std::max(static_cast<std::int32_t>(plan.run.steps), cache.facts.steps_to_steady);
  NodeCosts of_nodes = cost_nodes(plan, cache.lowered, cache.graph, costs, context.topology, judged.times);
  return estimate(cache.graph, std::move(of_nodes), steps).step_time.value;
}

}  // namespace stagecraft
