#include <fmt/format.h>

#include "schedule/check_parts.hpp"

namespace stagecraft {

namespace {

bool check_shape(const Schedule& schedule, FindingList& out) {
  const auto& shape = schedule.shape;
  if (shape.ranks < 1 || shape.micro_batches < 1 || shape.chunks < 1) {
    out.add("schedule-shape", -1, -1,
            fmt::format("{} ranks, {} micro-batches and {} chunks per rank; each must be 1 or more", shape.ranks,
                        shape.micro_batches, shape.chunks));
    return false;
  }
  if (schedule.programs.size() != static_cast<std::size_t>(shape.ranks)) {
    out.add("schedule-shape", -1, -1, fmt::format("{} programs for {} ranks", schedule.programs.size(), shape.ranks),
            fmt::format("{}", shape.ranks));
    return false;
  }
  if (schedule.placement.empty() || schedule.placement.front().empty()) {
    out.add("schedule-shape", -1, -1, "no stage is placed on a rank");
    return false;
  }
  for (const StageMap& map : schedule.placement) {
    if (map.size() != schedule.placement.front().size()) {
      out.add("schedule-shape", -1, -1, "the replicas have different numbers of stages");
      return false;
    }
    for (std::size_t s = 0; s < map.size(); ++s) {
      if (map[s].value >= 0 && map[s].value < shape.ranks) continue;
      out.add("schedule-shape", -1, -1,
              fmt::format("stage {} is placed on rank {}, of {} ranks", s, map[s].value, shape.ranks),
              fmt::format("0 .. {}", shape.ranks - 1));
      return false;
    }
  }
  return true;
}

/// Whether the message has another stage, on another rank, to come from or go to.
bool crosses_ranks(const Schedule& schedule, const Op& op) {
  const bool upward = op.kind == OpKind::send_activation || op.kind == OpKind::recv_gradient;
  const std::int32_t other = op.stage.value + (upward ? 1 : -1);
  if (other < 0 || other >= stage_count(schedule)) return false;
  return rank_of(schedule, Stage(other), op.replica) != rank_of(schedule, op.stage, op.replica);
}

void check_op(const Schedule& schedule, const Op& op, std::int64_t rank, std::int64_t position, FindingList& out) {
  const std::int32_t stages = stage_count(schedule), micro_batches = schedule.shape.micro_batches;
  if (op.replica >= schedule.placement.size()) {
    out.add("replica-out-of-range", rank, position,
            fmt::format("{} belongs to replica {} of {}", to_text(op), op.replica, schedule.placement.size()));
    return;
  }
  if (!has_stage(op.kind) && !op.stage.valid()) return;
  if (op.stage.value < 0 || op.stage.value >= stages) {
    out.add("stage-out-of-range", rank, position, fmt::format("{} on rank {}, of {} stages", to_text(op), rank, stages),
            fmt::format("0 .. {}", stages - 1));
    return;
  }
  if (has_micro_batch(op.kind) && (op.micro_batch.value < 0 || op.micro_batch.value >= micro_batches)) {
    out.add("micro-batch-out-of-range", rank, position,
            fmt::format("{} on rank {}, of {} micro-batches", to_text(op), rank, micro_batches),
            fmt::format("0 .. {}", micro_batches - 1));
    return;
  }
  const PipelineRank home = rank_of(schedule, op.stage, op.replica);
  if (home.value != rank) {
    out.add("stage-on-wrong-rank", rank, position,
            fmt::format("{} stands on rank {}, but stage {} lies on rank {}", to_text(op), rank, op.stage.value,
                        home.value),
            fmt::format("{}", home.value));
    return;
  }
  if (!is_send(op.kind) && !is_receive(op.kind)) return;
  if (!schedule.lowered) {
    out.add("message-not-needed", rank, position,
            fmt::format("{} on rank {}: a compute-only schedule has no messages", to_text(op), rank));
  } else if (!crosses_ranks(schedule, op)) {
    out.add("message-not-needed", rank, position,
            fmt::format("{} on rank {}: there is no other rank at this side of stage {}", to_text(op), rank,
                        op.stage.value));
  } else if (op.channel.value >= static_cast<std::int64_t>(schedule.channels.size())) {
    out.add("channel-mismatch", rank, position,
            fmt::format("{} on rank {} uses channel {} of {}", to_text(op), rank, op.channel.value,
                        schedule.channels.size()));
  }
}

}  // namespace

void check_structure(const Schedule& schedule, FindingList& out) {
  if (!check_shape(schedule, out)) return;
  for (std::size_t rank = 0; rank < schedule.programs.size(); ++rank) {
    const auto& program = schedule.programs[rank];
    for (std::size_t i = 0; i < program.size() && !out.enough(); ++i) {
      check_op(schedule, program[i], static_cast<std::int64_t>(rank), static_cast<std::int64_t>(i), out);
    }
  }
}

}  // namespace stagecraft
