#include <fmt/format.h>

#include <algorithm>

#include "schedule/generators.hpp"
#include "schedule/refusals.hpp"

namespace stagecraft {

namespace {

/// The numbers of micro-batches nearest to m, below and above, that split into equal groups without a group size named.
std::string nearest_micro_batches(const PipelineShape& shape) {
  PipelineShape below = shape;
  while (usual_group_size(below) == 0) --below.micro_batches;
  PipelineShape above = shape;
  while (usual_group_size(above) == 0) ++above.micro_batches;
  return fmt::format("{} or {} micro-batches", below.micro_batches, above.micro_batches);
}

void refuse_uneven_groups(Findings& findings, const char* name, const PipelineShape& shape) {
  if (usual_group_size(shape) != 0) return;
  findings.push_back(
      schedule_finding("schedule-micro-batches", "/batch/global",
                       fmt::format("{} on {} ranks cuts {} micro-batches into {} groups, which does not divide them",
                                   name, shape.ranks, shape.micro_batches, shape.micro_batches / shape.ranks),
                       nearest_micro_batches(shape)));
}

void refuse_group_size(Findings& findings, const PipelineShape& shape, std::int32_t group_size) {
  const std::int32_t p = shape.ranks;
  const std::int32_t m = shape.micro_batches;
  const auto refuse = [&](std::string why, std::int32_t nearest) {
    findings.push_back(schedule_finding(
        "schedule-group-size", "/schedule/group_size",
        fmt::format("micro-batch groups of {} on {} ranks with {} micro-batches: {}", group_size, p, m, why),
        std::to_string(nearest)));
  };
  const std::int32_t last_group = group_size > 0 ? m % group_size : 0;
  const auto works_from = [&](std::int32_t least) {  // m itself always works
    while (least < m && m % least != 0 && m % least < p) ++least;
    return std::min(least, m);
  };
  if (group_size > m) {
    refuse("a group cannot hold more than all micro-batches", m);
  } else if (group_size != m && group_size < p) {
    refuse("a group must hold at least one micro-batch per rank, or all of them", works_from(p));
  } else if (last_group != 0 && last_group < p) {
    refuse(fmt::format("the last group would hold only {}, fewer than there are ranks", last_group),
           works_from(group_size));
  }
}

}  // namespace

Findings refuse_interleaved_1f1b(const ScheduleRequest& request) {
  Findings findings = refuse_shape("interleaved-1f1b", ChunkRule::two_or_more, ScheduleOption::group_size, request);
  if (!findings.empty()) return findings;
  if (request.group_size) {
    refuse_group_size(findings, request.shape, *request.group_size);
  } else {
    refuse_uneven_groups(findings, "interleaved-1f1b", request.shape);
  }
  return findings;
}

Findings refuse_interleaved_zb(const ScheduleRequest& request) {
  Findings findings = refuse_shape("interleaved-zb", ChunkRule::any, ScheduleOption::none, request);
  if (!findings.empty()) return findings;
  refuse_uneven_groups(findings, "interleaved-zb", request.shape);
  return findings;
}

}  // namespace stagecraft
