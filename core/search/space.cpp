#include "search/space.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>

#include "base/input_error.hpp"
#include "plan/partition.hpp"
#include "schedule/family.hpp"

namespace stagecraft {
namespace {

constexpr std::int64_t long_sequence = 32'768;

std::vector<std::int64_t> divisors(std::int64_t number, std::int64_t most) {
  std::vector<std::int64_t> found;
  for (std::int64_t i = 1; i <= std::min(number, most); ++i) {
    if (number % i == 0) found.push_back(i);
  }
  return found;
}

std::vector<std::int64_t> powers_of_two(std::int64_t most) {
  std::vector<std::int64_t> found;
  for (std::int64_t i = 1; i <= most; i *= 2) found.push_back(i);
  return found;
}

template <class T>
void fill(std::vector<T>& axis, std::vector<T> usual) {
  if (axis.empty()) axis = std::move(usual);
}

/// Schedules and chunks that go together at all.
bool go_together(const std::string& schedule, std::int64_t pipeline, std::int64_t chunks) {
  const FamilyEntry* const entry = find_schedule(schedule);
  if (entry == nullptr) return false;
  if (pipeline == 1) return chunks == 1 && entry->chunks == ChunkRule::one;
  switch (entry->chunks) {
    case ChunkRule::one:
      return chunks == 1;
    case ChunkRule::two:
      return chunks == 2;
    case ChunkRule::two_per_wave:
      return chunks % 2 == 0;
    case ChunkRule::two_or_more:
      return chunks >= 2;
    case ChunkRule::any:
      break;
  }
  return true;
}

/// Without a pipeline all schedules of one chunk are the same; the first of the list stands for them.
bool repeats_another(const SearchSpace& space, const std::string& schedule, std::int64_t pipeline) {
  if (pipeline > 1) return false;
  const auto first = std::find_if(space.schedules.begin(), space.schedules.end(),
                                  [](const std::string& each) { return go_together(each, 1, 1); });
  return first == space.schedules.end() || *first != schedule;
}

struct Grid {
  const Scenario& scenario;
  const SearchSpace& space;
  std::vector<Candidate>& found;
  std::map<std::pair<std::int64_t, std::int64_t>, bool>& balanced;  // by pipeline and virtual stages

  bool cuts_evenly(const ParallelSpec& parallel) const {
    const std::int64_t layers = scenario.model.plain_layers.empty()
                                    ? scenario.model.blocks
                                    : static_cast<std::int64_t>(scenario.model.plain_layers.size());
    return layers % (parallel.pipeline * parallel.virtual_stages) == 0;
  }

  /// Whether balancing by parameters comes to the same stages as equal blocks, which are tried too.
  bool balanced_anyway(const ParallelSpec& parallel) const {
    const auto [known, added] = balanced.try_emplace({parallel.pipeline, parallel.virtual_stages}, false);
    if (!added) return known->second;
    RunSpec run = scenario.run;
    run.parallel = parallel;
    run.partition = {};
    const std::vector<StageLayers> equal = partition_layers(scenario.model, run);
    run.partition.rule = PartitionRule::parameters;
    const std::vector<StageLayers> cut = partition_layers(scenario.model, run);
    const auto same = [](const StageLayers& a, const StageLayers& b) { return a.first == b.first && a.last == b.last; };
    return known->second = std::equal(equal.begin(), equal.end(), cut.begin(), cut.end(), same);
  }

  void add_homes(Candidate candidate) const {
    for (const Home optimizer : space.optimizer_home) {
      for (const Home activations : space.activations_home) {
        candidate.optimizer_home = optimizer;
        candidate.activations_home = activations;
        found.push_back(candidate);
      }
    }
  }

  /// Without several nodes, or with one pipeline or data rank, another order changes nothing.
  bool placement_matters(const ParallelSpec& parallel) const {
    return parallel.pipeline > 1 && parallel.data * parallel.context > 1 &&
           parallel.tensor * parallel.context * parallel.data * parallel.pipeline >
               gpus_per_node(scenario.cluster.node);
  }

  void add_kinds(Candidate candidate) const {
    for (const std::int64_t zero : space.zero_stage) {
      if (zero > 1 && space.sharded_without_pipeline && candidate.parallel.pipeline > 1) continue;
      if (zero > 0 && candidate.parallel.data * candidate.parallel.context == 1) continue;
      candidate.zero_stage = zero;
      for (const Recompute recompute : space.recompute) {
        candidate.recompute = recompute;
        for (const PartitionRule partition : space.partition) {
          const bool uniform = partition == PartitionRule::uniform;
          const bool one_stage = candidate.parallel.pipeline * candidate.parallel.virtual_stages == 1;
          const bool even = cuts_evenly(candidate.parallel);
          if (space.partition.size() > 1 && uniform && !even) continue;
          if (space.timed_where_uneven && partition == PartitionRule::time && even) continue;
          if (space.partition.size() > 1 && !uniform && one_stage) continue;
          const bool by_parameters = space.timed_where_uneven && partition == PartitionRule::parameters;
          if (by_parameters && even && balanced_anyway(candidate.parallel)) continue;
          candidate.partition = partition;
          add_homes(candidate);
        }
      }
    }
  }

  void add_schedules(Candidate candidate) const {
    for (const std::string& schedule : space.schedules) {
      if (repeats_another(space, schedule, candidate.parallel.pipeline)) continue;
      for (const std::int64_t chunks : space.virtual_stages) {
        if (!go_together(schedule, candidate.parallel.pipeline, chunks)) continue;
        candidate.schedule = schedule;
        candidate.parallel.virtual_stages = chunks;
        for (const std::int64_t micro : space.micro) {
          candidate.micro = micro;
          if (scenario.run.batch.global % (micro * candidate.parallel.data) == 0) add_kinds(candidate);
        }
      }
    }
  }

  void add_degrees(std::int64_t gpus, ParallelSpec parallel) const {
    const std::int64_t without_data = parallel.tensor * parallel.pipeline * parallel.context;
    if (gpus % without_data != 0) return;
    parallel.data = gpus / without_data;
    for (const std::int64_t expert : space.expert) {
      if (parallel.data % expert != 0) continue;
      parallel.expert = expert;
      for (const bool split : space.sequence_parallel) {
        if (split && parallel.tensor == 1) continue;
        parallel.sequence_parallel = split;
        for (const PlacementSpec& placement : space.placement) {
          if (&placement != &space.placement.front() && !placement_matters(parallel)) continue;
          Candidate candidate;
          candidate.parallel = parallel;
          candidate.parallel.placement = placement;
          add_schedules(candidate);
        }
      }
    }
  }
};

std::string bool_text(bool value) {
  return value ? "true" : "false";
}

constexpr std::array homes{Home::gpu, Home::host, Home::nvme};

[[noreturn]] void refuse(const SweepAxis& axis, const std::string& got, const std::string& expected,
                         const std::string& nearest = "") {
  throw InputError(InputProblem{"--vary", 0, 0, axis.path, got, expected, nearest});
}

std::vector<std::int64_t> integers(const SweepAxis& axis, std::int64_t least, std::int64_t most) {
  std::vector<std::int64_t> values;
  for (const std::string& text : axis.values) {
    std::size_t used = 0;
    std::int64_t value = 0;
    try {
      value = std::stoll(text, &used);
    } catch (const std::exception&) {
      used = 0;
    }
    if (used != text.size() || used == 0 || value < least || value > most)
      refuse(axis, text, fmt::format("an integer from {} to {}", least, most));
    values.push_back(value);
  }
  return values;
}

template <class T, std::size_t N>
std::vector<T> words(const SweepAxis& axis, const std::array<T, N>& known, std::string (*text_of)(T)) {
  std::vector<std::string> list;
  for (const T& each : known) list.push_back(text_of(each));
  std::vector<T> values;
  for (const std::string& text : axis.values) {
    const auto at = std::find(list.begin(), list.end(), text);
    if (at == list.end()) refuse(axis, text, fmt::format("one of {}", fmt::join(list, ", ")), nearest_word(text, list));
    values.push_back(known[static_cast<std::size_t>(at - list.begin())]);
  }
  return values;
}

}  // namespace

void restrict_space(SearchSpace& space, const SweepAxis& axis) {
  std::string path = axis.path.substr(axis.path.starts_with('/') ? 1 : 0);
  std::replace(path.begin(), path.end(), '/', '.');
  if (path == "parallel.tensor") {
    space.tensor = integers(axis, 1, 1024);
  } else if (path == "parallel.pipeline") {
    space.pipeline = integers(axis, 1, 4096);
  } else if (path == "parallel.virtual_stages") {
    space.virtual_stages = integers(axis, 1, 1024);
  } else if (path == "parallel.context") {
    space.context = integers(axis, 1, 1024);
  } else if (path == "parallel.expert") {
    space.expert = integers(axis, 1, 1 << 20);
  } else if (path == "batch.micro") {
    space.micro = integers(axis, 1, 1 << 24);
  } else if (path == "zero_stage") {
    space.zero_stage = integers(axis, 0, 3);
  } else if (path == "parallel.sequence_parallel") {
    space.sequence_parallel = words(axis, std::array{false, true}, bool_text);
  } else if (path == "recompute") {
    space.recompute =
        words(axis, std::array{Recompute::none, Recompute::selective, Recompute::full, Recompute::per_op}, to_text);
  } else if (path == "parallel.partition") {
    space.partition = words(axis,
                            std::array{PartitionRule::uniform, PartitionRule::parameters, PartitionRule::work,
                                       PartitionRule::time, PartitionRule::time_and_memory},
                            to_text);
  } else if (path == "parallel.placement") {
    space.placement.clear();
    for (const std::string& text : axis.values) {
      PlacementSpec placement;
      const std::optional<std::array<ParallelAxis, 4>> order = parse_order(text);
      if (!order) refuse(axis, text, "an order of tensor, context, data and pipeline", to_text(placement));
      placement.order = *order;
      space.placement.push_back(placement);
    }
  } else if (path == "offload.optimizer") {
    space.optimizer_home = words(axis, homes, to_text);
  } else if (path == "offload.activations") {
    space.activations_home = words(axis, homes, to_text);
  } else if (path == "schedule" || path == "schedule.name") {
    space.schedules.clear();
    for (const std::string& name : axis.values) {
      if (const FamilyEntry* entry = find_schedule(name)) {
        space.schedules.emplace_back(entry->name);
        continue;
      }
      std::vector<std::string> names;
      for (const std::string_view known : schedule_names()) names.emplace_back(known);
      refuse(axis, name, "a schedule; `stagecraft schedule --list` names them", nearest_word(name, names));
    }
  } else {
    std::vector<std::string> paths = candidate_paths();
    std::erase(paths, "parallel.data");
    refuse(axis, "a path that a search does not vary",
           fmt::format("one of {} (parallel.data follows from the others; fix other fields with --set)",
                       fmt::join(paths, ", ")),
           nearest_word(path, paths));
  }
}

SearchSpace usual_space(const Scenario& scenario, const SearchSpace& asked, std::int64_t gpus) {
  SearchSpace space = asked;
  const std::int64_t per_node = std::max<std::int64_t>(1, gpus_per_node(scenario.cluster.node));
  const bool plain = !scenario.model.plain_layers.empty();
  const std::int64_t layers =
      plain ? static_cast<std::int64_t>(scenario.model.plain_layers.size()) : scenario.model.blocks;
  fill(space.tensor, plain ? std::vector<std::int64_t>{1} : divisors(per_node, gpus));
  fill(space.pipeline, divisors(gpus, layers));
  fill(space.virtual_stages, {1, 2, 3, 4, 5, 6, 7, 8});
  fill(space.context, scenario.run.sequence_length >= long_sequence ? powers_of_two(8) : powers_of_two(1));
  std::vector<std::int64_t> experts{1};
  for (std::int64_t degree = 2; degree <= scenario.model.moe.experts; degree *= 2) {
    if (scenario.model.moe.experts % degree == 0) experts.push_back(degree);
  }
  fill(space.expert, std::move(experts));
  fill(space.micro, powers_of_two(16));
  fill(space.schedules, {"1f1b", "interleaved-1f1b", "zb-h1", "zbv"});
  space.sharded_without_pipeline = space.zero_stage.empty();
  fill(space.zero_stage, {0, 1, 2, 3});
  fill(space.recompute,
       plain ? std::vector{Recompute::none} : std::vector{Recompute::none, Recompute::selective, Recompute::full});
  fill(space.sequence_parallel, plain ? std::vector<bool>{false} : std::vector<bool>{false, true});
  space.timed_where_uneven = space.partition.empty();
  fill(space.partition, {PartitionRule::uniform, PartitionRule::parameters, PartitionRule::time});
  if (space.placement.empty()) {
    const PlacementSpec& own = scenario.run.parallel.placement;
    space.placement = {own};
    PlacementSpec neighbours;
    neighbours.order = {ParallelAxis::tensor, ParallelAxis::context, ParallelAxis::pipeline, ParallelAxis::data};
    if (own.places.empty() && own.order != neighbours.order) space.placement.push_back(neighbours);
  }
  fill(space.optimizer_home, {scenario.run.offload.optimizer});
  fill(space.activations_home, {scenario.run.offload.activations});
  return space;
}

std::vector<Candidate> candidates_of(const Scenario& scenario, const SearchSpace& space, std::int64_t gpus) {
  std::vector<Candidate> found;
  std::map<std::pair<std::int64_t, std::int64_t>, bool> balanced;
  const Grid grid{scenario, space, found, balanced};
  for (const std::int64_t tensor : space.tensor) {
    for (const std::int64_t pipeline : space.pipeline) {
      for (const std::int64_t context : space.context) {
        ParallelSpec parallel;
        parallel.tensor = tensor;
        parallel.pipeline = pipeline;
        parallel.context = context;
        if (tensor <= gpus && pipeline <= gpus && context <= gpus) grid.add_degrees(gpus, parallel);
      }
    }
  }
  return found;
}

void apply(const Candidate& candidate, RunSpec& run) {
  const ParallelSpec& parallel = candidate.parallel;
  run.parallel.tensor = parallel.tensor;
  run.parallel.pipeline = parallel.pipeline;
  run.parallel.virtual_stages = parallel.virtual_stages;
  run.parallel.context = parallel.context;
  run.parallel.expert = parallel.expert;
  run.parallel.data = parallel.data;
  run.parallel.sequence_parallel = parallel.sequence_parallel;
  run.parallel.placement = parallel.placement;
  run.offload.optimizer = candidate.optimizer_home;
  run.offload.activations = candidate.activations_home;
  run.batch.micro = candidate.micro;
  run.schedule = {};
  run.schedule.name = candidate.schedule;
  run.zero_stage = candidate.zero_stage;
  run.recompute = candidate.recompute;
  run.partition = {candidate.partition, {}, {}};
}

std::vector<std::string> candidate_paths() {
  return {"parallel.tensor",
          "parallel.pipeline",
          "parallel.virtual_stages",
          "parallel.context",
          "parallel.expert",
          "parallel.data",
          "batch.micro",
          "schedule",
          "zero_stage",
          "recompute",
          "parallel.sequence_parallel",
          "parallel.partition",
          "parallel.placement",
          "offload.optimizer",
          "offload.activations"};
}

std::vector<std::string> candidate_values(const Candidate& candidate) {
  const ParallelSpec& parallel = candidate.parallel;
  const auto number = [](std::int64_t value) { return fmt::format("{}", value); };
  return {number(parallel.tensor),
          number(parallel.pipeline),
          number(parallel.virtual_stages),
          number(parallel.context),
          number(parallel.expert),
          number(parallel.data),
          number(candidate.micro),
          candidate.schedule,
          number(candidate.zero_stage),
          to_text(candidate.recompute),
          bool_text(parallel.sequence_parallel),
          to_text(candidate.partition),
          parallel.placement.rank_file.empty() ? to_text(parallel.placement)
                                               : fmt::format(R"({{"rank_file": "{}"}})", parallel.placement.rank_file),
          to_text(candidate.optimizer_home),
          to_text(candidate.activations_home)};
}

std::string describe(const Candidate& candidate) {
  const ParallelSpec& parallel = candidate.parallel;
  std::string text = fmt::format("TP {} x PP {}", parallel.tensor, parallel.pipeline);
  if (parallel.virtual_stages > 1) text += fmt::format(" ({} chunks)", parallel.virtual_stages);
  if (parallel.context > 1) text += fmt::format(" x CP {}", parallel.context);
  text += fmt::format(" x DP {}", parallel.data);
  if (parallel.expert > 1) text += fmt::format(" (EP {})", parallel.expert);
  text += fmt::format(", micro-batch {}", candidate.micro);
  if (parallel.pipeline > 1) text += ", " + candidate.schedule;
  text += candidate.recompute == Recompute::none ? ", no recompute"
                                                 : fmt::format(", {} recompute", to_text(candidate.recompute));
  if (parallel.sequence_parallel) text += ", sequence parallel";
  if (candidate.zero_stage > 0) text += fmt::format(", ZeRO {}", candidate.zero_stage);
  if (candidate.partition != PartitionRule::uniform) text += ", stages by " + to_text(candidate.partition);
  if (to_text(parallel.placement) != to_text(PlacementSpec{})) text += ", placed " + to_text(parallel.placement);
  if (candidate.optimizer_home != Home::gpu) text += ", optimizer on " + to_text(candidate.optimizer_home);
  if (candidate.activations_home != Home::gpu) text += ", activations on " + to_text(candidate.activations_home);
  return text;
}

}  // namespace stagecraft
