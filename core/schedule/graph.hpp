#pragma once
// The dependencies of a schedule, derived once; estimate, sim and exec all read this and nothing else.

#include <cstdint>
#include <span>
#include <vector>

#include "schedule/schedule.hpp"

namespace stagecraft {

/// Node n is operation `position` of rank `rank`: n = first_of_rank[rank] + position. The graph describes one step;
/// `across_steps` holds the edges from a node of step k to a node of step k+1.
struct Graph {
  struct Edge {
    std::uint32_t from = 0, to = 0;
    friend bool operator==(const Edge&, const Edge&) = default;
  };
  std::vector<std::uint32_t> first_of_rank;      // ranks + 1 entries
  std::vector<std::uint32_t> successor_offsets;  // nodes + 1 entries
  std::vector<std::uint32_t> successors;
  std::vector<std::uint32_t> predecessor_counts;
  std::vector<std::uint32_t> order;  // topological; has fewer entries than nodes if the program waits for itself
  std::vector<Edge> across_steps;
};

std::uint32_t node_count(const Graph& graph);
std::span<const std::uint32_t> successors_of(const Graph& graph, std::uint32_t node);
const Op& op_at(const Schedule& schedule, const Graph& graph, std::uint32_t node);
PipelineRank rank_at(const Graph& graph, std::uint32_t node);

/// No edge is missing because a schedule is not lowered: where a message would pass, the producer's edge goes straight
/// to the consumer. Within a step:
///   - Lane::compute and Lane::data of a rank run in program order, sends of one channel in the order of their
///   producers;
///   - F waits for its activation, B, I and recompute for their output gradient; what comes from the same rank is
///     covered by program order (as are F before B, I before W, recompute before its backward);
///   - a send waits for its producer, a receive for its send; the send of a receive on Lane::compute also waits for the
///     compute operation before that receive, which is when it is posted;
///   - an operation of Lane::data waits for the operation of Lane::compute that stands before it in the program: so a
///     reduction written behind the last W or B of a stage may start there, one written at the end waits for
///     everything;
///   - the first compute operation of a stage waits for the unshard before it;
///   - collectives between pipeline ranks (reduce_tied, the two copies of a bidirectional stage) start together;
///   - the optimizer step waits for all reductions of its rank, and with OptimizerSync::barrier for those of all ranks.
///   - an offload starts when its F may start, and what waits for F waits for it too: of the blocks of a pass two are
///   on the GPU at a time, so that neither runs ahead of the other (memory/footprint.hpp). So a reload and its B or I,
///   but it starts when the recompute may start if there is one;
///   - copies of one direction run in program order; an offload_grad waits for the passes and reductions before it, the
///   optimizer step for the offload_grads of its rank, a reload_param for the operation of Lane::compute before it, the
///   unshard or gather behind a reload_param for that.
/// Across steps: a rank's lanes, channels and directions of copies go on in order; gathers on Lane::data, and a
/// reload_param that nothing behind it has waited for, hold only the first operation of their stage; unshards and
/// copies before the first operation of Lane::compute wait for the last one of the step before.
/// Precondition: check_schedule has no errors.
Graph make_graph(const Schedule& schedule);

/// Start and end of every node when each starts as early as its dependencies allow and takes `duration[node]`.
/// A send's duration is its transfer time; a receive takes none. Nodes of an OVERLAP_F_B pair run in turn.
/// A graph with a cycle has an infinite makespan.
struct NodeTimes {
  std::vector<double> start_s, end_s;
  double makespan_s = 0;
};
NodeTimes longest_path(const Graph& graph, std::span<const double> duration_s);

/// The same into buffers that are kept from call to call.
void longest_path(const Graph& graph, std::span<const double> duration_s, NodeTimes& times);

/// The same with a time per node before which it may not start (empty: 0), as the step before leaves it.
void longest_path(const Graph& graph, std::span<const double> duration_s, std::span<const double> earliest_s,
                  NodeTimes& times);

/// Earliest starts in the next step, from the ends of this one along `across_steps`. Resizes `earliest_s` to the nodes.
void carry_over(const Graph& graph, const NodeTimes& times, std::vector<double>& earliest_s);

}  // namespace stagecraft
