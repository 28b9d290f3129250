// What an operation of one step waits for in the step before.

#include "schedule/graph_edges.hpp"
#include "schedule/graph_tables.hpp"

namespace stagecraft {

namespace {

/// First and last operation of each lane of a rank, of each direction of copies, and of each channel that it sends on.
struct Ends {
  std::uint32_t first = no_node, last = no_node;
  void extend(std::uint32_t node) {
    if (first == no_node) first = node;
    last = node;
  }
};

/// What of a stage the next step does first with its parameters: gathers them or computes with them.
std::vector<std::uint32_t> first_uses(const std::vector<Op>& program, std::uint32_t first_node, std::size_t stages,
                                      bool gathered) {
  std::vector<std::uint32_t> first_use(stages, no_node);
  for (std::size_t i = program.size(); i-- > 0;) {
    const bool uses = program[i].kind == OpKind::forward || (gathered && program[i].kind == OpKind::unshard);
    if (uses) first_use[program[i].stage.index()] = first_node + static_cast<std::uint32_t>(i);
  }
  return first_use;
}

class Builder {
 public:
  Builder(const Schedule& schedule, const Twins& twins)
      : twins_(twins), sends_(schedule.channels.size()), stages_(static_cast<std::size_t>(stage_count(schedule))) {}

  void read_rank(const std::vector<Op>& program, std::uint32_t first_node) {
    Ends compute, data, to_host, from_host;
    bool gathers = false, reloads = false;
    std::vector<std::uint32_t> early;  // unshards and copies of parameters before any compute operation
    std::uint32_t node = first_node;
    for (const Op& op : program) {
      const bool on_compute = op.lane == Lane::compute && !is_receive(op.kind);
      if (on_compute) compute.extend(node);
      if (op.lane == Lane::data) data.extend(node);
      if (is_copy(op.kind)) (copies_to_host(op.kind) ? to_host : from_host).extend(node);
      if (is_send(op.kind) && op.channel.valid()) sends_[op.channel.index()].extend(node);
      gathers = gathers || (op.kind == OpKind::gather_params && op.lane == Lane::data);
      reloads = reloads || op.kind == OpKind::reload_param;
      const bool fetches = op.kind == OpKind::unshard || op.kind == OpKind::reload_param;
      if (fetches && compute.first == no_node) early.push_back(node);
      ++node;
    }
    for (const Ends& ends : {compute, data, to_host, from_host}) add(ends);
    for (const std::uint32_t waiting : early) {
      if (compute.last != no_node) add_edge(twins_, compute.last, waiting, edges_);
    }
    if (gathers) add_gathers(program, first_node);
    if (reloads) add_reloads(program, first_node);
  }

  std::vector<Graph::Edge> take() {
    for (const Ends& ends : sends_) add(ends);
    return std::move(edges_);
  }

 private:
  void add(const Ends& ends) {
    if (ends.first != no_node) add_edge(twins_, ends.last, ends.first, edges_);
  }

  /// A gather on Lane::data holds up the first forward of its stage.
  void add_gathers(const std::vector<Op>& program, std::uint32_t first_node) {
    const std::vector<std::uint32_t> first_use = first_uses(program, first_node, stages_, false);
    for (std::size_t i = 0; i < program.size(); ++i) {
      if (program[i].kind != OpKind::gather_params || program[i].lane != Lane::data) continue;
      const std::uint32_t use = first_use[program[i].stage.index()];
      if (use != no_node) add_edge(twins_, first_node + static_cast<std::uint32_t>(i), use, edges_);
    }
  }

  void add_reloads(const std::vector<Op>& program, std::uint32_t first_node) {
    const std::vector<std::uint32_t> first_use = first_uses(program, first_node, stages_, true);
    std::vector<std::uint32_t> unused(stages_, no_node);  // [stage] -> copy that nothing has waited for
    for (std::size_t i = 0; i < program.size(); ++i) {
      const OpKind kind = program[i].kind;
      if (kind == OpKind::reload_param) {
        unused[program[i].stage.index()] = first_node + static_cast<std::uint32_t>(i);
      } else if (kind == OpKind::unshard || kind == OpKind::gather_params) {
        unused[program[i].stage.index()] = no_node;
      }
    }
    for (std::size_t stage = 0; stage < stages_; ++stage) {
      if (unused[stage] == no_node || first_use[stage] == no_node) continue;
      add_edge(twins_, unused[stage], first_use[stage], edges_);
    }
  }

  const Twins& twins_;
  std::vector<Ends> sends_;  // [channel]
  std::size_t stages_;
  std::vector<Graph::Edge> edges_;
};

}  // namespace

std::vector<Graph::Edge> edges_across_steps(const Schedule& schedule, std::span<const std::uint32_t> first_of_rank,
                                            const Twins& twins) {
  Builder builder(schedule, twins);
  for (std::size_t rank = 0; rank < schedule.programs.size(); ++rank) {
    builder.read_rank(schedule.programs[rank], first_of_rank[rank]);
  }
  return builder.take();
}

}  // namespace stagecraft
