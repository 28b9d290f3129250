#include "estimate/balance.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <utility>

#include "base/refusal.hpp"
#include "cost/rank_costs.hpp"
#include "estimate/compute_schedule.hpp"
#include "estimate/stage_durations.hpp"
#include "memory/overhead.hpp"
#include "memory/timeline.hpp"
#include "plan/plan.hpp"
#include "schedule/check.hpp"
#include "schedule/lower.hpp"

namespace stagecraft {
namespace {

constexpr double endless = std::numeric_limits<double>::infinity();

/// Layers that stay together: the loss is never apart from the head.
std::vector<StageLayers> pieces_of(const std::vector<Layer>& layers) {
  std::vector<StageLayers> pieces;
  for (std::int32_t at = 0; at < static_cast<std::int32_t>(layers.size()); ++at) {
    if (layers[static_cast<std::size_t>(at)].kind == LayerKind::loss && !pieces.empty()) {
      pieces.back().last = at + 1;
    } else {
      pieces.push_back({at, at + 1});
    }
  }
  return pieces;
}

/// Every piece as a stage of its own. Its times are those of its layers: nothing is received in parts.
std::vector<LayerLoad> load_of_pieces(Plan plan, const CostModel& costs) {
  plan.stages = pieces_of(plan.layers);
  plan.run.scatter_gather = false;
  const StageTimes times = stage_durations(plan, costs);
  const std::vector<StageMemory> memories = stage_memories(plan);
  std::vector<LayerLoad> loads;
  for (std::size_t i = 0; i < plan.stages.size(); ++i) {
    const StageMemory& memory = memories[i];
    loads.push_back({times.forward[i] + times.input_grad[i] + times.weight_grad[i], total(memory.resident).value,
                     (memory.activation_per_micro_batch + memory.logits_per_micro_batch).value});
  }
  return loads;
}

/// How much longer each stage takes where it lies than on the GPUs that loads are counted for. Which rank holds a stage
/// is the schedule's choice, and that is yet to be made: looped is usual.
std::vector<double> paces_of(const Plan& plan, const CostModel& costs, const Topology& topology) {
  std::vector<double> paces(plan.stages.size(), 1);
  if (!may_differ(plan, topology)) return paces;
  const StageTimes alike = stage_durations(plan, costs), there = stage_durations(plan, costs, topology);
  for (std::size_t s = 0; s < paces.size(); ++s) {
    paces[s] = (there.forward[s] + there.input_grad[s] + there.weight_grad[s]) /
               (alike.forward[s] + alike.input_grad[s] + alike.weight_grad[s]);
  }
  return paces;
}

/// Where each stage ends, in layers, as the number of blocks in each.
std::vector<std::int64_t> blocks_of(const Plan& plan, const std::vector<std::int32_t>& ends) {
  const std::vector<StageLayers> pieces = pieces_of(plan.layers);
  std::vector<std::int64_t> blocks;
  std::int32_t at = 0;
  for (const std::int32_t end : ends) {
    std::int64_t count = 0;
    for (; at < end; ++at) {
      const LayerKind kind = plan.layers[static_cast<std::size_t>(pieces[static_cast<std::size_t>(at)].first)].kind;
      if (kind == LayerKind::block || kind == LayerKind::plain) ++count;
    }
    blocks.push_back(count);
  }
  return blocks;
}

std::string list_of(const std::vector<std::int64_t>& blocks) {
  return fmt::format("[{}]", fmt::join(blocks, ", "));
}

[[noreturn]] void refuse_memory(const Scenario& scenario, const Plan& plan) {
  double limit = memory_limit(plan.gpu).value;
  for (const OtherGpus& other : plan.other_gpus) limit = std::min(limit, memory_limit(other.gpu).value);
  throw Refusal(scenario.path,
                {{Severity::error, "partition-memory", "/parallel/partition",
                  fmt::format("however the blocks are cut, some stage needs more than the {:.1f} GiB of the GPU; the "
                              "partition \"time\" leaves memory out of account",
                              limit / 1073741824.0),
                  "time"}});
}

/// How much the ranks exceed their memory, each stage of a rank by the rank's excess.
std::vector<double> excess_of(const Plan& plan, const Schedule& schedule) {
  const std::vector<MemoryPeak> peaks = memory_peaks(plan, schedule);
  std::vector<double> excess(plan.stages.size());
  for (std::size_t stage = 0; stage < excess.size(); ++stage) {
    const MemoryPeak& peak = peaks[schedule.placement.front()[stage].index()];
    excess[stage] = peak.peak.value - peak.limit.value;
  }
  return excess;
}

/// The rooms of the stages before anything but their layers is counted.
std::vector<StageRoom> empty_rooms(const Plan& plan, const Schedule& schedule, const std::vector<double>& paces) {
  const std::vector<double> in_flight = peak_activations(schedule);
  const double of_rank = static_cast<double>(plan.run.parallel.virtual_stages);
  std::vector<StageRoom> rooms;
  for (std::size_t stage = 0; stage < plan.stages.size(); ++stage) {
    const PipelineRank rank = schedule.placement.front()[stage];
    rooms.push_back({in_flight[rank.index()], memory_limit(smallest_gpu(plan, rank)).value / of_rank, paces[stage]});
  }
  return rooms;
}

Plan plan_of(const Scenario& scenario, std::vector<std::int64_t> blocks) {
  Scenario listed = scenario;
  listed.run.partition = {PartitionRule::explicit_list, std::move(blocks), {}};
  return make_plan(listed);
}

/// Whether every rank holds its stages.
bool fit(const Scenario& scenario, const Schedule& schedule, const std::vector<std::int64_t>& blocks) {
  const Plan cut = plan_of(scenario, blocks);
  const std::vector<double> excess = excess_of(cut, lower(schedule, cut));
  return std::all_of(excess.begin(), excess.end(), [](double bytes) { return bytes <= 0; });
}

std::vector<std::int64_t> blocks_by_time(const Plan& plan, const std::vector<LayerLoad>& loads,
                                         const std::vector<double>& paces) {
  std::vector<StageRoom> rooms;
  for (const double pace : paces) rooms.push_back({0, endless, pace});
  return blocks_of(plan, *cut_by_time(loads, rooms));  // there are as many pieces as stages at least
}

/// The cut that memory leaves alone, if it fits: no other is faster. Else each stage of a rank gets its share of the
/// memory. Working sets, buffers and fixed lines depend on what a stage holds; what they exceed the memory by is taken
/// from the room until the real peaks fit.
std::vector<std::int64_t> blocks_that_fit(const Scenario& scenario, const Plan& plan, const Schedule& schedule,
                                          const std::vector<LayerLoad>& loads, const std::vector<double>& paces) {
  std::vector<std::int64_t> fastest = blocks_by_time(plan, loads, paces);
  if (fit(scenario, schedule, fastest)) return fastest;
  std::vector<StageRoom> rooms = empty_rooms(plan, schedule, paces);
  constexpr int most_attempts = 16;
  for (int attempt = 0; attempt < most_attempts; ++attempt) {
    const auto ends = cut_by_time(loads, rooms);
    if (!ends) break;
    std::vector<std::int64_t> blocks = blocks_of(plan, *ends);
    const Plan cut = plan_of(scenario, blocks);
    const std::vector<double> excess = excess_of(cut, lower(schedule, cut));
    bool fits = true;
    for (std::size_t stage = 0; stage < rooms.size(); ++stage) {
      if (excess[stage] <= 0) continue;
      fits = false;
      rooms[stage].bytes -= excess[stage];
    }
    if (fits) return blocks;
  }
  refuse_memory(scenario, plan);
}

}  // namespace

std::optional<std::vector<std::int32_t>> cut_by_time(std::span<const LayerLoad> layers,
                                                     std::span<const StageRoom> rooms) {
  struct Best {
    double slowest = endless, squares = endless;
    std::size_t from = 0;
    bool beats(const Best& other) const {
      return slowest != other.slowest ? slowest < other.slowest : squares < other.squares;
    }
  };
  const std::size_t count = layers.size();
  std::vector<std::vector<Best>> best(rooms.size() + 1, std::vector<Best>(count + 1));
  best[0][0] = {0, 0, 0};
  for (std::size_t stage = 1; stage <= rooms.size(); ++stage) {
    const StageRoom& room = rooms[stage - 1];
    for (std::size_t end = stage; end <= count; ++end) {
      double seconds = 0, resident = 0, activations = 0;
      for (std::size_t begin = end; begin-- >= stage;) {
        seconds += layers[begin].seconds * room.pace;
        resident += layers[begin].resident;
        activations += layers[begin].activations;
        if (resident + room.in_flight * activations > room.bytes || seconds > best[stage][end].slowest) break;
        const Best& before = best[stage - 1][begin];
        const Best found{std::max(before.slowest, seconds), before.squares + seconds * seconds, begin};
        if (found.slowest < endless && found.beats(best[stage][end])) best[stage][end] = found;
      }
    }
  }
  if (best[rooms.size()][count].slowest == endless) return std::nullopt;
  std::vector<std::int32_t> ends(rooms.size());
  std::size_t at = count;
  for (std::size_t stage = rooms.size(); stage > 0; --stage) {
    ends[stage - 1] = static_cast<std::int32_t>(at);
    at = best[stage][at].from;
  }
  return ends;
}

void balance_partition(Scenario& scenario, const Topology& topology, const Calibration& calibration) {
  const PartitionRule rule = scenario.run.partition.rule;
  if (rule != PartitionRule::time && rule != PartitionRule::time_and_memory) return;
  const Plan plan = make_plan(scenario);
  const CostModel costs = make_cost_model(plan, topology, calibration);
  const std::vector<LayerLoad> loads = load_of_pieces(plan, costs);
  const std::vector<double> paces = paces_of(plan, costs, topology);
  std::vector<std::int64_t> blocks;
  if (rule == PartitionRule::time) {
    blocks = blocks_by_time(plan, loads, paces);
  } else {
    Findings findings;
    const Schedule schedule = compute_schedule(scenario, plan, costs, topology, findings);
    refuse_errors(scenario.path, findings);
    blocks = blocks_that_fit(scenario, plan, schedule, loads, paces);
  }
  scenario.defaults.push_back(
      {"/parallel/partition", list_of(blocks), fmt::format("what the partition \"{}\" comes to", to_text(rule))});
  scenario.run.partition = {PartitionRule::explicit_list, std::move(blocks), {}};
}

}  // namespace stagecraft
