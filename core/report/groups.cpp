#include "report/groups.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <set>

namespace stagecraft {
namespace {

bool is_reduction(OpKind kind) {
  return kind == OpKind::reduce_grad || kind == OpKind::reduce_tied || kind == OpKind::gather_params ||
         kind == OpKind::unshard;
}

double bytes_in(const Body& body, Axis axis) {
  double sum = 0;
  for (const BodyPart& part : body.parts) {
    for (const Segment& segment : part.segments) {
      const bool copies = segment.is_collective && is_host_copy(segment.collective.kind);
      if (segment.is_collective && !copies && segment.collective.group == axis) {
        sum += segment.collective.bytes.value * part.repeat;
      }
    }
  }
  return sum;
}

// "0-7", "0, 8, 16, 24", "0, 8, ... 120".
std::string ranks_text(const std::vector<Rank>& ranks) {
  const bool run = ranks.back().value - ranks.front().value + 1 == static_cast<std::int32_t>(ranks.size());
  if (run) return fmt::format("{}-{}", ranks.front().value, ranks.back().value);
  constexpr std::size_t most = 8;
  std::string text;
  for (std::size_t i = 0; i < ranks.size(); ++i) {
    if (i + 1 < ranks.size() && i >= most) continue;
    text += i == 0 ? "" : i > most ? ", ... " : ", ";
    text += fmt::format("{}", ranks[i].value);
  }
  return text;
}

std::string nodes_text(const std::vector<Rank>& ranks, const Plan& plan, const Topology& topology) {
  std::set<std::int32_t> nodes;
  for (const Rank rank : ranks) nodes.insert(node_of(topology, gpu_of(plan, rank)).value);
  if (nodes.size() == 1) return fmt::format("node {}", *nodes.begin());
  return fmt::format("{} nodes, {} to {}", nodes.size(), *nodes.begin(), *nodes.rbegin());
}

}  // namespace

double group_bytes(const Plan& plan, const Schedule& schedule, Axis axis, PipelineRank rank) {
  double sum = 0;
  for (const Op& op : schedule.programs[rank.index()]) {
    if (op.body.valid()) sum += bytes_in(schedule.bodies.bodies[op.body.index()], axis);
    if (axis == Axis::pipeline && is_send(op.kind)) sum += op.bytes.value;
    if (!is_reduction(op.kind) || !op.stage.valid()) continue;
    const Collective work = collective_of(plan, op);
    if (work.group == axis) sum += work.bytes.value;
    if (axis != Axis::expert_data || op.kind == OpKind::reduce_tied) continue;
    const double dense = parameters_per_rank(plan, op.stage) - expert_parameters_per_rank(plan, op.stage);
    if (dense > 0) sum += work.bytes.value / dense * expert_parameters_per_rank(plan, op.stage);
  }
  return sum;
}

std::string explain_groups(const Plan& plan, const Schedule& schedule, const Topology& topology) {
  std::string text =
      fmt::format("{} ranks; bytes per rank and step as nccl-tests counts them\n", world_size(plan.degrees));
  constexpr std::int32_t shown = 4;
  for (std::size_t a = 0; a < axis_count; ++a) {
    const Axis axis = static_cast<Axis>(a);
    const std::int64_t size = group_size(plan.degrees, axis);
    if (size < 2) continue;
    double least = 0, most = 0;
    for (std::size_t p = 0; p < schedule.programs.size(); ++p) {
      const double bytes = group_bytes(plan, schedule, axis, PipelineRank(p));
      least = p == 0 ? bytes : std::min(least, bytes);
      most = std::max(most, bytes);
    }
    const bool carries_nothing = most == 0;
    if (carries_nothing && axis != Axis::tensor && axis != Axis::data && axis != Axis::context) continue;
    const std::int64_t groups =
        axis == Axis::embedding ? world_size(plan.degrees) / plan.degrees.pipeline : world_size(plan.degrees) / size;
    text += fmt::format("\n{}: {} groups of {} ranks; {}", to_text(axis), groups, size, to_text(Bytes{most}));
    if (least < most) text += fmt::format(" (least of the pipeline ranks: {})", to_text(Bytes{least}));
    text += "\n";
    std::set<std::int32_t> seen;
    std::int32_t listed = 0;
    for (std::int32_t r = 0; r < world_size(plan.degrees) && listed < shown; ++r) {
      const std::vector<Rank> members = group_of(plan.degrees, axis, Rank(r));
      if (members.empty() || !seen.insert(members.front().value).second) continue;
      text += fmt::format("  ranks {} on {}\n", ranks_text(members), nodes_text(members, plan, topology));
      ++listed;
    }
    if (groups > listed) text += fmt::format("  and {} more alike\n", groups - listed);
  }
  return text;
}

}  // namespace stagecraft
