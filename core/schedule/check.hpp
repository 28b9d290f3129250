#pragma once
// Proves a schedule before a cluster is booked: completeness, order, matched sends, one collective order per group, no
// deadlock, unsharded before use, one reduction per stage.

#include <cstdint>
#include <string>
#include <vector>

#include "base/findings.hpp"
#include "schedule/schedule.hpp"

namespace stagecraft {

/// How a message leaves its sender: at once (small, buffered), or only together with its receive (large: NCCL beyond
/// its internal buffers, MPI beyond its eager limit).
enum class TransportModel : std::uint8_t { eager, rendezvous };
const char* to_text(TransportModel transport);

/// What shares an in-order queue on a rank: everything, everything of one kind (activation | gradient), everything with
/// one peer, everything in one direction with one peer, the same of one kind, or nothing (tags are matched).
enum class QueueGrouping : std::uint8_t { rank, rank_and_kind, peer, edge, edge_and_kind, tag };
const char* to_text(QueueGrouping grouping);

/// All reasons why the schedule cannot be run as written; compute-only schedules are judged by their dependencies
/// alone. Every finding points at a cell: "/programs/RANK/POSITION". At most 10 findings of one code, then one that
/// counts the rest. Linear in the number of operations. Codes:
///   schedule-shape, stage-out-of-range, micro-batch-out-of-range, replica-out-of-range, stage-on-wrong-rank,
///   forward-missing, backward-missing, duplicate-operation, backward-both-ways, order-within-stage, two-replicas,
///   pair-incomplete, receive-missing, send-missing, message-not-needed, receive-after-use, send-before-producer,
///   message-bytes-differ, channel-mismatch, reduction-missing, reduction-too-early, optimizer-missing,
///   optimizer-before-reduction, collective-order, used-while-sharded, unshard-unbalanced, copy-lane, copy-unmatched,
///   copy-misplaced, deadlock, mispaired
Findings check_schedule(const Schedule& schedule);

/// Replays the program: computes wait for their own receives, sends and receives are posted and never waited for (a
/// send on Lane::compute holds its rank until it has left). Posted operations leave their queue in order; the n-th send
/// of a channel meets the n-th receive, a channel being (source, destination), with the kind where the grouping has it.
/// A failure is explained: the programs around the blocked cells, an arrow at each, and the cycle in words. `mispaired`
/// is set if a receive meets another micro-batch's message. Precondition: check_schedule reports nothing about shape or
/// ranges.
struct Replay {
  bool deadlock = false;
  bool mispaired = false;
  std::string explanation;  // empty if it runs through with the right messages
};
Replay replay(const Schedule& schedule, TransportModel transport, QueueGrouping grouping);

/// Largest number of micro-batches whose activations are alive at once, per rank, in units of one full stage
/// (1/chunks per stage); from the start of F to the end of W or B.
std::vector<double> peak_activations(const Schedule& schedule);

}  // namespace stagecraft
