#include "schedule/body.hpp"

#include <tuple>

#include "plan/recompute_scope.hpp"
#include "schedule/body_layers.hpp"

namespace stagecraft {
namespace {

constexpr std::size_t kind_count = static_cast<std::size_t>(OpKind::gather_params) + 1;

std::size_t slot(OpKind kind) {
  return static_cast<std::size_t>(kind);
}

// What decides the bodies of a stage; stages that agree in it share them.
struct Composition {
  StageLayers layers;  // only for plain models, where every layer differs
  std::int32_t blocks = 0;
  bool embedding = false, head = false, loss = false;
  bool receives_forward = false, receives_backward = false;
  friend bool operator==(const Composition& a, const Composition& b) {
    return std::tie(a.layers.first, a.layers.last, a.blocks, a.embedding, a.head, a.loss, a.receives_forward,
                    a.receives_backward) == std::tie(b.layers.first, b.layers.last, b.blocks, b.embedding, b.head,
                                                     b.loss, b.receives_forward, b.receives_backward);
  }
};

Composition composition_of(const Plan& plan, std::size_t stage, std::span<const PipelineRank> rank_of_stage) {
  Composition found;
  const bool plain = !plan.model.plain_layers.empty();
  if (plain) found.layers = plan.stages[stage];
  for (std::int32_t i = plan.stages[stage].first; i < plan.stages[stage].last; ++i) {
    switch (plan.layers[static_cast<std::size_t>(i)].kind) {
      case LayerKind::embedding:
        found.embedding = true;
        break;
      case LayerKind::block:
        ++found.blocks;
        break;
      case LayerKind::head:
        found.head = true;
        break;
      case LayerKind::loss:
        found.loss = true;
        break;
      case LayerKind::plain:
        break;
    }
  }
  const bool scattered =
      plan.run.scatter_gather && plan.degrees.tensor > 1 && !plan.run.parallel.sequence_parallel && !plain;
  const auto apart = [&](std::size_t a, std::size_t b) { return rank_of_stage[a] != rank_of_stage[b]; };
  found.receives_forward = scattered && stage > 0 && apart(stage, stage - 1);
  found.receives_backward = scattered && stage + 1 < plan.stages.size() && apart(stage, stage + 1);
  return found;
}

void add_part(Body& body, std::vector<Segment> segments, std::int32_t repeat = 1) {
  if (!segments.empty() && repeat > 0) body.parts.push_back({std::move(segments), repeat});
}

double parameters_of_block(const Plan& plan) {
  return parameters_of(plan.model, {LayerKind::block, 0}) / static_cast<double>(plan.degrees.tensor);
}

double parameters_of_ends(const Plan& plan, const Composition& stage) {
  const double embedding = stage.embedding ? parameters_of(plan.model, {LayerKind::embedding, 0}) : 0;
  const double head = stage.head ? parameters_of(plan.model, {LayerKind::head, 0}) : 0;
  return (embedding + head) / static_cast<double>(plan.degrees.tensor);
}

std::vector<Segment> gather_received(const BodyShape& shape) {
  const double bytes = shape.element * static_cast<double>(shape.tokens) * static_cast<double>(shape.hidden);
  return {collective("receive-all-gather", CollectiveKind::all_gather, Axis::tensor, bytes)};
}

std::vector<Segment> plain_segments(const Plan& plan, const Composition& stage, const BodyShape& shape,
                                    const BackwardList* backward) {
  std::vector<Segment> out;
  for (std::int32_t i = 0; i < stage.layers.last - stage.layers.first; ++i) {
    const std::int32_t at = backward == nullptr ? stage.layers.first + i : stage.layers.last - 1 - i;
    const PlainLayerSpec& layer =
        plan.model.plain_layers[static_cast<std::size_t>(plan.layers[static_cast<std::size_t>(at)].index)];
    if (backward == nullptr) {
      add_plain_forward(out, shape, layer);
    } else {
      add_plain_backward({backward->input, backward->weight, &out}, shape, layer);
    }
  }
  return out;
}

Body forward_body(const Plan& plan, const Composition& stage, const BodyShape& shape, bool again) {
  Body body;
  if (!plan.model.plain_layers.empty()) {
    add_part(body, plain_segments(plan, stage, shape, nullptr));
    return body;
  }
  std::vector<Segment> block, first, last;
  if (stage.blocks > 0) add_block_forward(block, shape, plan);
  if (!again) add_activation_copy(block, plan, shape);
  const bool sharded = shards_by_block(plan), gathers = sharded && plan.run.zero_stage == 3;
  const double of_block = parameters_of_block(plan);
  if (again) {  // only blocks are checkpointed
    const auto count = static_cast<std::int32_t>(recomputed_blocks(plan.run, stage.blocks).count);
    if (plan.run.recompute == Recompute::per_op) block = recomputed_per_op(block, shape, plan);
    add_part(body, std::move(block), count);
    return body;
  }
  if (stage.receives_forward) first = gather_received(shape);
  add_sharded_ends(first, plan, parameters_of_ends(plan, stage), gathers, false);
  if (stage.embedding) add_embedding_forward(first, shape, plan);
  if (stage.head) add_head_forward(last, shape);
  if (stage.loss) add_loss_forward(last, shape, plan.run.loss_kernel);
  add_part(body, std::move(first));
  if (sharded) {
    add_sharded_blocks(body, plan, block, stage.blocks, of_block, gathers, false);
  } else {
    add_part(body, std::move(block), stage.blocks);
  }
  add_part(body, std::move(last));
  return body;
}

Body backward_body(const Plan& plan, const Composition& stage, const BodyShape& shape, bool input, bool weight) {
  Body body;
  if (!plan.model.plain_layers.empty()) {
    const BackwardList kept{input, weight, nullptr};
    add_part(body, plain_segments(plan, stage, shape, &kept));
    return body;
  }
  std::vector<Segment> first, block, last;
  const auto into = [&](std::vector<Segment>& out) { return BackwardList{input, weight, &out}; };
  if (stage.receives_backward && input) first = gather_received(shape);
  if (stage.loss) add_loss_backward(into(first), shape, plan.run.loss_kernel);
  if (stage.head) add_head_backward(into(first), shape);
  if (stage.blocks > 0) add_block_backward(into(block), shape, plan);
  if (input) add_activation_copy(block, plan, shape);
  if (stage.embedding) add_embedding_backward(into(last), shape, plan);
  const bool sharded = shards_by_block(plan);
  const bool gathers = sharded && input && plan.run.zero_stage == 3 && plan.run.sharding.reshard_after_forward;
  add_part(body, std::move(first));
  if (sharded) {
    add_sharded_blocks(body, plan, block, stage.blocks, parameters_of_block(plan), gathers, weight);
    add_sharded_ends(last, plan, parameters_of_ends(plan, stage), false, weight);
  } else {
    add_part(body, std::move(block), stage.blocks);
  }
  add_part(body, std::move(last));
  return body;
}

// Sum over the stages of each pipeline rank.
std::vector<double> parameters_of_ranks(const Plan& plan, std::span<const PipelineRank> rank_of_stage) {
  std::vector<double> sums(static_cast<std::size_t>(plan.degrees.pipeline));
  for (std::size_t s = 0; s < plan.stages.size(); ++s) {
    sums[rank_of_stage[s].index()] += parameters_per_rank(plan, Stage{s});
  }
  return sums;
}

void add_stage(Bodies& bodies, std::vector<BodyId>& ids, const Plan& plan, const Composition& stage,
               const BodyShape& shape) {
  const auto store = [&](OpKind kind, Body body) {
    ids[slot(kind)] = BodyId{bodies.bodies.size()};
    bodies.bodies.push_back(std::move(body));
  };
  store(OpKind::forward, forward_body(plan, stage, shape, false));
  store(OpKind::backward, backward_body(plan, stage, shape, true, true));
  store(OpKind::input_grad, backward_body(plan, stage, shape, true, false));
  store(OpKind::weight_grad, backward_body(plan, stage, shape, false, true));
  const bool again = plan.run.recompute == Recompute::full || plan.run.recompute == Recompute::per_op;
  if (again) store(OpKind::recompute, forward_body(plan, stage, shape, true));
}

}  // namespace

double parameters_per_rank(const Plan& plan, Stage stage) {
  const StageLayers& range = plan.stages[stage.index()];
  double sum = 0;
  bool embedding = false, head = false;
  double block = -1;  // blocks are all alike
  for (std::int32_t i = range.first; i < range.last; ++i) {
    const Layer& layer = plan.layers[static_cast<std::size_t>(i)];
    embedding = embedding || layer.kind == LayerKind::embedding;
    head = head || layer.kind == LayerKind::head;
    if (layer.kind == LayerKind::block) {
      if (block < 0) block = parameters_of(plan.model, layer);
      sum += block;
    } else {
      sum += parameters_of(plan.model, layer);
    }
  }
  if (head && !embedding && plan.model.tied_embeddings) {
    sum += static_cast<double>(plan.model.vocabulary) * static_cast<double>(plan.model.hidden);
  }
  return sum / static_cast<double>(plan.degrees.tensor);
}

Bodies make_bodies(const Plan& plan, std::span<const PipelineRank> rank_of_stage) {
  std::vector<PipelineRank> in_turn;
  if (rank_of_stage.empty()) {
    for (std::size_t s = 0; s < plan.stages.size(); ++s) {
      in_turn.emplace_back(static_cast<std::int32_t>(s) % plan.degrees.pipeline);
    }
    rank_of_stage = in_turn;
  }
  const BodyShape shape = body_shape(plan);
  Bodies made;
  made.of_stage.assign(plan.stages.size(), std::vector<BodyId>(kind_count));
  std::vector<std::pair<Composition, std::size_t>> seen;
  const std::vector<double> parameters_held = parameters_of_ranks(plan, rank_of_stage);
  std::vector<std::pair<double, BodyId>> optimizers;
  for (std::size_t s = 0; s < plan.stages.size(); ++s) {
    const Composition composition = composition_of(plan, s, rank_of_stage);
    bool known = false;
    for (const auto& [other, owner] : seen) {
      if (other == composition) {
        made.of_stage[s] = made.of_stage[owner];
        known = true;
        break;
      }
    }
    if (!known) {
      add_stage(made, made.of_stage[s], plan, composition, shape);
      seen.emplace_back(composition, s);
    }
    const double parameters = parameters_held[rank_of_stage[s].index()];
    BodyId optimizer;
    for (const auto& [other, id] : optimizers) {
      if (other == parameters) optimizer = id;
    }
    if (!optimizer.valid()) {
      optimizer = BodyId{made.bodies.size()};
      Body body;
      std::vector<Segment> segments;
      add_optimizer(segments, plan, parameters);
      add_part(body, std::move(segments));
      made.bodies.push_back(std::move(body));
      optimizers.emplace_back(parameters, optimizer);
    }
    made.of_stage[s][slot(OpKind::optimizer_step)] = optimizer;
  }
  return made;
}

Flops flops_of(const Body& body) {
  Flops sum;
  for (const BodyPart& part : body.parts) {
    for (const Segment& segment : part.segments) sum += segment.kernel.flops * static_cast<double>(part.repeat);
  }
  return sum;
}

Bytes kernel_bytes_of(const Body& body) {
  Bytes sum;
  for (const BodyPart& part : body.parts) {
    for (const Segment& segment : part.segments) sum += segment.kernel.bytes * static_cast<double>(part.repeat);
  }
  return sum;
}

}  // namespace stagecraft
