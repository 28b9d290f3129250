#include "schedule/graph_edges.hpp"

#include "schedule/graph_tables.hpp"
#include "schedule/send_receive.hpp"

namespace stagecraft {

namespace {

/// What a collective or an optimizer step of one rank waits for on that rank; other ranks may have to wait for it too.
struct LocalWaits {
  std::uint32_t node = no_node;
  std::uint32_t compute = no_node, data = no_node;  // the operations of these lanes that stand before it
  Stage stage;
  std::uint32_t copy = no_node;  // of an optimizer step: the last copy of gradients
};

/// The last copy in one direction.
struct CopyQueue {
  std::uint32_t last = no_node;
  bool of_pass = false;  // an offload or reload: in the order of their passes anyway
};

struct Builder {
  const Schedule& schedule;
  const Twins& twins;
  NodeTable table;
  std::vector<Graph::Edge> edges;
  std::vector<std::uint32_t> last_send;   // [channel]
  std::vector<std::uint32_t> unshard_of;  // [stage] of the current rank, not yet waited for
  std::vector<std::uint32_t> reload_of;   // [stage] the same of copied parameters
  std::vector<LocalWaits> tied, copies, steps;

  // State of the rank that is being read.
  std::uint32_t compute = no_node, data = no_node, reduction = no_node;
  CopyQueue to_host, from_host;
  std::uint32_t gradients = no_node;  // the last offload_grad
  Op recomputed;

  void add(std::uint32_t from, std::uint32_t to) {
    if (from != no_node) add_edge(twins, from, to, edges);
  }
};

/// The input that comes from another rank: its receive, or its producer where messages are not written out.
std::uint32_t remote_input(const Builder& b, const Op& op, std::size_t rank) {
  const Neighbour source = source_of(b.schedule, op);
  if (!source.exists || source.rank.index() == rank) return no_node;
  const bool activation = op.kind == OpKind::forward;
  if (b.schedule.lowered) {
    const auto& own = b.table.at(op.stage, op.micro_batch);
    return activation ? own.recv_activation : own.recv_gradient;
  }
  const auto& other = b.table.at(source.stage, op.micro_batch);
  return activation ? other.forward : other.backward;
}

void add_input(Builder& b, const Op& op, std::uint32_t node, std::size_t rank) {
  if (op.kind == OpKind::recompute) {
    b.recomputed = op;
  } else if (needs_gradient(op.kind) && b.recomputed.kind == OpKind::recompute && b.recomputed.stage == op.stage &&
             b.recomputed.micro_batch == op.micro_batch) {
    return;  // its recompute waited already
  }
  b.add(remote_input(b, op, rank), node);
}

void add_send(Builder& b, const Op& op, std::uint32_t node, std::uint32_t compute_before) {
  const auto& own = b.table.at(op.stage, op.micro_batch);
  const std::uint32_t producer = op.kind == OpKind::send_activation ? own.forward : own.backward;
  if (op.lane != Lane::compute || producer != compute_before) b.add(producer, node);
  if (!op.channel.valid()) return;
  auto& last = b.last_send[op.channel.index()];
  if (op.lane != Lane::compute) b.add(last, node);
  last = node;
}

void add_receive(Builder& b, const Op& op, std::uint32_t node) {
  const std::uint32_t send = op.kind == OpKind::recv_activation
                                 ? b.table.at(Stage(op.stage.index() - 1), op.micro_batch).send_activation
                                 : b.table.at(Stage(op.stage.index() + 1), op.micro_batch).send_gradient;
  b.add(send, node);
  if (op.lane == Lane::compute && send != no_node) b.add(b.compute, send);
}

void add_copy(Builder& b, const Op& op, std::uint32_t node) {
  CopyQueue& queue = copies_to_host(op.kind) ? b.to_host : b.from_host;
  const bool of_pass = has_micro_batch(op.kind);
  if (!of_pass || !queue.of_pass) b.add(queue.last, node);
  queue = {node, of_pass};
  if (op.kind == OpKind::offload_grad) {
    b.add(b.compute, node);
    b.add(b.reduction, node);
    b.gradients = node;
  } else if (op.kind == OpKind::reload_param) {
    b.add(b.compute, node);
    b.reload_of[op.stage.index()] = node;
  }
}

/// What uses copied parameters first.
void wait_for_reload(Builder& b, const Op& op, std::uint32_t node) {
  std::uint32_t& reload = b.reload_of[op.stage.index()];
  b.add(reload, node);
  reload = no_node;
}

void add_operation(Builder& b, const Op& op, std::uint32_t node, std::size_t rank) {
  const std::uint32_t compute_before = b.compute, data_before = b.data;
  if (op.lane == Lane::compute && !is_receive(op.kind)) {
    b.add(compute_before, node);
    b.compute = node;
  } else if (op.lane == Lane::data) {
    b.add(data_before, node);
    b.add(compute_before, node);
    b.data = node;
  }
  if (op.kind == OpKind::reduce_grad || op.kind == OpKind::reduce_tied) b.reduction = node;
  switch (op.kind) {
    case OpKind::forward:
    case OpKind::backward:
    case OpKind::input_grad:
    case OpKind::recompute:
    case OpKind::weight_grad: {
      auto& unshard = b.unshard_of[op.stage.index()];
      b.add(unshard, node);
      unshard = no_node;
      if (op.kind != OpKind::weight_grad) add_input(b, op, node, rank);
      break;
    }
    case OpKind::send_activation:
    case OpKind::send_gradient:
      add_send(b, op, node, compute_before);
      break;
    case OpKind::recv_activation:
    case OpKind::recv_gradient:
      add_receive(b, op, node);
      break;
    case OpKind::unshard:
      wait_for_reload(b, op, node);
      b.unshard_of[op.stage.index()] = node;
      break;
    case OpKind::reduce_grad:
      if (b.schedule.placement.size() > 1) b.copies.push_back({node, compute_before, data_before, op.stage, no_node});
      break;
    case OpKind::reduce_tied:
      b.tied.push_back({node, compute_before, data_before, op.stage, no_node});
      break;
    case OpKind::optimizer_step:
      b.add(data_before, node);
      b.add(b.gradients, node);
      b.steps.push_back({node, compute_before, data_before, op.stage, b.gradients});
      break;
    case OpKind::gather_params:
      wait_for_reload(b, op, node);
      break;
    case OpKind::offload:
    case OpKind::reload:
    case OpKind::offload_grad:
    case OpKind::reload_param:
      add_copy(b, op, node);
      break;
    case OpKind::reshard:
      break;
  }
}

/// Each of `all` also waits for what the others wait for, if they belong together.
template <class Together>
void start_together(Builder& b, const std::vector<LocalWaits>& all, Together together) {
  for (const LocalWaits& one : all) {
    for (const LocalWaits& other : all) {
      if (one.node == other.node || !together(one, other)) continue;
      b.add(other.data, one.node);
      b.add(other.copy, one.node);
      // A reduction written after the last compute operation waits for it, so that waiting for both would be idle.
      if (other.data == no_node || other.data < other.compute) b.add(other.compute, one.node);
    }
  }
}

}  // namespace

std::vector<Graph::Edge> edges_within_step(const Schedule& schedule, std::span<const std::uint32_t> first_of_rank,
                                           const Twins& twins) {
  const std::int32_t stages = stage_count(schedule);
  Builder b{.schedule = schedule,
            .twins = twins,
            .table = NodeTable(stages, schedule.shape.micro_batches),
            .edges = {},
            .last_send = std::vector<std::uint32_t>(schedule.channels.size(), no_node),
            .unshard_of = std::vector<std::uint32_t>(static_cast<std::size_t>(stages), no_node),
            .reload_of = {},
            .tied = {},
            .copies = {},
            .steps = {},
            .to_host = {},
            .from_host = {},
            .recomputed = {}};
  b.edges.reserve(2 * static_cast<std::size_t>(first_of_rank.back()));
  for (std::size_t rank = 0; rank < schedule.programs.size(); ++rank) {
    std::uint32_t node = first_of_rank[rank];
    for (const Op& op : schedule.programs[rank]) b.table.place(op, node++);
  }
  for (std::size_t rank = 0; rank < schedule.programs.size(); ++rank) {
    b.compute = b.data = b.reduction = b.gradients = no_node;
    b.to_host = b.from_host = {};
    b.reload_of.assign(static_cast<std::size_t>(stages), no_node);
    b.recomputed = {};
    std::uint32_t node = first_of_rank[rank];
    for (const Op& op : schedule.programs[rank]) add_operation(b, op, node++, rank);
  }
  start_together(b, b.tied, [](const auto&, const auto&) { return true; });
  start_together(b, b.copies, [](const auto& one, const auto& other) { return one.stage == other.stage; });
  if (schedule.optimizer_sync == OptimizerSync::barrier && !schedule.asynchronous) {
    start_together(b, b.steps, [](const auto&, const auto&) { return true; });
  }
  return std::move(b.edges);
}

}  // namespace stagecraft
