#include <algorithm>
#include <optional>

#include "schedule/company.hpp"
#include "schedule/lower.hpp"
#include "schedule/pair_passes.hpp"
#include "spec/precision.hpp"

namespace stagecraft {

namespace {

/// However many stages a rank updates, the host does its part once.
void append_update(std::vector<BodyPart>& parts, const std::vector<BodyPart>& more) {
  const bool first = parts.empty();
  const auto is_once = [](const Segment& segment) {
    return !segment.is_collective && is_host_work(segment.kernel.kind);
  };
  for (BodyPart part : more) {
    if (!first) std::erase_if(part.segments, is_once);
    if (!part.segments.empty()) parts.push_back(std::move(part));
  }
}

/// A rank of a bidirectional pipeline holds a stage of each copy and updates both. [rank]
std::vector<BodyId> add_optimizer_bodies_of_copies(Schedule& schedule) {
  const auto kind = static_cast<std::size_t>(OpKind::optimizer_step);
  std::vector<Body> merged(schedule.programs.size());
  for (const StageMap& map : schedule.placement) {
    for (std::size_t s = 0; s < map.size(); ++s) {
      const BodyId id = schedule.bodies.of_stage[s][kind];
      if (!id.valid()) continue;
      append_update(merged[map[s].index()].parts, schedule.bodies.bodies[id.index()].parts);
    }
  }
  std::vector<BodyId> of_rank;
  for (Body& body : merged) {
    of_rank.push_back(body.parts.empty() ? BodyId::none() : BodyId(schedule.bodies.bodies.size()));
    if (!body.parts.empty()) schedule.bodies.bodies.push_back(std::move(body));
  }
  return of_rank;
}

/// Bytes of copies, worked out once per kind and stage.
class Copies {
 public:
  explicit Copies(const Plan& plan) : plan_(plan), known_(op_kind_count * plan.stages.size()) {}
  Bytes bytes(const Op& op) {
    auto& known = known_[static_cast<std::size_t>(op.kind) * plan_.stages.size() + op.stage.index()];
    if (!known) known = copied_bytes(plan_, op.kind, op.stage);
    return *known;
  }

 private:
  const Plan& plan_;
  std::vector<std::optional<Bytes>> known_;
};

// Tokens per sequence behind a stage: the encoder's inside it, the decoder's and the encoder's output behind it, which
// travels along to every decoder block.
double boundary_length(const Plan& plan, Stage producer) {
  const auto decoder = static_cast<double>(plan.run.sequence_length);
  const std::int64_t encoder_blocks = plan.model.encoder_blocks;
  if (encoder_blocks == 0 || encoder_blocks >= plan.model.blocks) return decoder;
  const Layer& last = plan.layers[static_cast<std::size_t>(plan.stages[producer.index()].last) - 1];
  const auto encoder = static_cast<double>(encoder_length(plan));
  return last.kind != LayerKind::block || last.index < encoder_blocks ? encoder : decoder + encoder;
}

/// Passes that run together have company for as many blocks of experts as both have; all others run alone.
void give_company(Schedule& schedule, const Plan& plan) {
  const Bodies& bodies = schedule.bodies;
  const auto pairs = passes_together(schedule, std::max(1, plan.micro_batches / drains_of(plan.run)));
  const auto blocks = [&](const Op& op) { return blocks_with_company(bodies.bodies[op.body.index()]); };
  for (std::size_t r = 0; r < schedule.programs.size(); ++r) {
    std::vector<Op>& program = schedule.programs[r];
    std::vector<bool> paired(program.size());
    for (const auto& [first, second] : pairs[r]) {
      const std::int32_t both = std::min(blocks(program[first]), blocks(program[second]));
      const bool split = program[first].kind == OpKind::input_grad || program[second].kind == OpKind::input_grad;
      for (const std::uint32_t at : {first, second}) {
        Op& op = program[at];
        op.body = body_beside(bodies, op.body, both, split && op.kind == OpKind::forward);
        paired[at] = true;
      }
    }
    for (std::size_t i = 0; i < program.size(); ++i) {
      if (!paired[i] && program[i].body.valid()) program[i].body = body_beside(bodies, program[i].body, 0, false);
    }
  }
}

}  // namespace

Bytes message_bytes(const Plan& plan, Stage producer) {
  const auto sequences = static_cast<double>(plan.run.batch.micro);
  if (!plan.model.plain_layers.empty()) {
    const Layer& last = plan.layers[static_cast<std::size_t>(plan.stages[producer.index()].last) - 1];
    return plan.model.plain_layers[static_cast<std::size_t>(last.index)].output_per_sample * sequences;
  }
  const double tokens = sequences * boundary_length(plan, producer) / plan.degrees.context;
  const Bytes whole =
      size_of(number_formats(plan.run.precision).activation) * (tokens * static_cast<double>(plan.model.hidden));
  const bool split = plan.run.scatter_gather || plan.run.parallel.sequence_parallel;
  return split ? whole / plan.degrees.tensor : whole;
}

Schedule attach_bodies(Schedule schedule, const Plan& plan) {
  Bodies bodies = make_bodies(plan, schedule.placement.front());
  return attach_bodies(std::move(schedule), plan, std::move(bodies));
}

Schedule attach_bodies(Schedule schedule, const Plan& plan, Bodies bodies) {
  schedule.bodies = std::move(bodies);
  std::vector<Bytes> behind;  // [stage] -> bytes over the boundary behind it
  for (std::size_t s = 0; s + 1 < plan.stages.size(); ++s) behind.push_back(message_bytes(plan, Stage(s)));
  Copies copies(plan);
  for (auto& program : schedule.programs) {
    for (Op& op : program) {
      if (!op.stage.valid()) continue;
      op.body = schedule.bodies.of_stage[op.stage.index()][static_cast<std::size_t>(op.kind)];
      switch (op.kind) {
        case OpKind::send_activation:
        case OpKind::recv_gradient:
          op.bytes = behind[op.stage.index()];
          break;
        case OpKind::send_gradient:
        case OpKind::recv_activation:
          op.bytes = behind[op.stage.index() - 1];
          break;
        case OpKind::offload:
        case OpKind::reload:
        case OpKind::offload_grad:
        case OpKind::reload_param:
          op.bytes = copies.bytes(op);
          break;
        default:
          break;
      }
    }
  }
  if (!schedule.bodies.company.empty()) give_company(schedule, plan);
  if (schedule.placement.size() < 2) return schedule;
  const std::vector<BodyId> optimizer = add_optimizer_bodies_of_copies(schedule);
  for (std::size_t rank = 0; rank < schedule.programs.size(); ++rank) {
    for (Op& op : schedule.programs[rank]) {
      if (op.kind == OpKind::optimizer_step) op.body = optimizer[rank];
    }
  }
  return schedule;
}

}  // namespace stagecraft
