#pragma once
// The space of a search: every way to train one model with one global batch on a given number of GPUs.

#include <cstdint>
#include <string>
#include <vector>

#include "search/axis.hpp"
#include "spec/scenario.hpp"

namespace stagecraft {

/// One way, as what it changes in the scenario. Degrees multiply to the number of GPUs.
struct Candidate {
  ParallelSpec parallel;
  std::int64_t micro = 1;
  std::string schedule = "1f1b";
  std::int64_t zero_stage = 0;
  Recompute recompute = Recompute::none;
  PartitionRule partition = PartitionRule::uniform;
  Home optimizer_home = Home::gpu, activations_home = Home::gpu;
};

/// The values that a search tries. Empty: the usual ones, see `usual_space`.
struct SearchSpace {
  std::vector<std::int64_t> tensor, pipeline, virtual_stages, context, expert, micro, zero_stage;
  std::vector<std::string> schedules;
  std::vector<Recompute> recompute;
  std::vector<bool> sequence_parallel;
  std::vector<PartitionRule> partition;
  std::vector<PlacementSpec> placement;
  std::vector<Home> optimizer_home, activations_home;
  // Of the usual values: which of them make sense for a layout.
  bool sharded_without_pipeline = false;  // ZeRO 2 and 3
  bool timed_where_uneven = false;        // stages by time
};

/// Takes an axis of the command line into the space. Throws InputError (file "--vary") for a path that a search does
/// not vary, or a value that the field does not take.
void restrict_space(SearchSpace& space, const SweepAxis& axis);

/// What an empty axis becomes:
///   tensor     divisors of the GPUs of a node: its collectives stay inside
///   pipeline   every degree that divides the rest, up to the number of blocks
///   virtual    1 to 8
///   context    1, and 2, 4, 8 from 32,768 tokens per sequence on
///   expert     1, and powers of two that divide the experts, for models that have some
///   micro      powers of two up to 16
///   schedule   1f1b, interleaved-1f1b, zb-h1, zbv
///   ZeRO       0 and 1; without a pipeline 2 and 3 too
///   recompute  none, selective, full
///   sequence   split over the tensor ranks, and not
///   partition  equal blocks where they divide, by time where they do not, and balanced by parameters
///   placement  the scenario's; where a pipeline crosses nodes also data ranks farthest (Megatron-LM's tp-pp-dp
///   mapping) offload    the scenario's
SearchSpace usual_space(const Scenario& scenario, const SearchSpace& asked, std::int64_t gpus);

/// Every candidate of the space in a fixed order. What cannot be combined at all (a chunk per rank for zbv, a pipeline
/// of one rank with several chunks) is left out; whether the others can run is for check_feasible to say.
std::vector<Candidate> candidates_of(const Scenario& scenario, const SearchSpace& space, std::int64_t gpus);

/// The scenario's run with the candidate in it.
void apply(const Candidate& candidate, RunSpec& run);

/// Columns of a table of candidates: the paths, and a candidate's values, as --set takes both.
std::vector<std::string> candidate_paths();
std::vector<std::string> candidate_values(const Candidate& candidate);

/// "TP 8 x PP 8 (2 chunks) x DP 24, micro-batch 2, interleaved-1f1b, full recompute, ZeRO 1"
std::string describe(const Candidate& candidate);

}  // namespace stagecraft
