// Copies of activations and the passes that they run beside.

#include <algorithm>

#include "schedule/graph_edges.hpp"
#include "schedule/graph_tables.hpp"

namespace stagecraft {

namespace {

bool copies_activations(const Schedule& schedule) {
  const auto copies = [](const Op& op) { return op.kind == OpKind::offload || op.kind == OpKind::reload; };
  return std::any_of(schedule.programs.begin(), schedule.programs.end(),
                     [&](const auto& program) { return std::any_of(program.begin(), program.end(), copies); });
}

}  // namespace

Twins find_twins(const Schedule& schedule, std::span<const std::uint32_t> first_of_rank) {
  Twins twins;
  if (!copies_activations(schedule)) return twins;
  NodeTable table(stage_count(schedule), schedule.shape.micro_batches);
  std::uint32_t node = 0;
  for (const auto& program : schedule.programs) {
    for (const Op& op : program) table.place(op, node++);
  }
  twins.starts_with.assign(first_of_rank.back(), no_node);
  twins.ends_with.assign(first_of_rank.back(), no_node);
  const auto pair = [&](std::uint32_t pass, std::uint32_t copy) {
    if (pass != no_node) twins.starts_with[pass] = twins.ends_with[pass] = copy;
  };
  node = 0;
  for (const auto& program : schedule.programs) {
    for (const Op& op : program) {
      if (op.kind == OpKind::offload) pair(table.at(op.stage, op.micro_batch).forward, node);
      if (op.kind == OpKind::reload) pair(table.at(op.stage, op.micro_batch).backward, node);
      ++node;
    }
  }
  // A checkpoint is needed when its block is computed again.
  node = 0;
  for (const auto& program : schedule.programs) {
    for (const Op& op : program) {
      const std::uint32_t recompute = node++;
      if (op.kind != OpKind::recompute) continue;
      const std::uint32_t backward = table.at(op.stage, op.micro_batch).backward;
      if (backward == no_node) continue;
      twins.starts_with[recompute] = twins.ends_with[backward];
      twins.starts_with[backward] = no_node;
    }
  }
  return twins;
}

void add_edge(const Twins& twins, std::uint32_t from, std::uint32_t to, std::vector<Graph::Edge>& edges) {
  edges.push_back({from, to});
  if (twins.ends_with.empty()) return;
  const std::uint32_t beside_from = twins.ends_with[from], beside_to = twins.starts_with[to];
  if (beside_from != no_node && beside_from != to) edges.push_back({beside_from, to});
  if (beside_to != no_node && beside_to != from) edges.push_back({from, beside_to});
  if (beside_from != no_node && beside_to != no_node && beside_from != beside_to) {
    edges.push_back({beside_from, beside_to});
  }
}

}  // namespace stagecraft
