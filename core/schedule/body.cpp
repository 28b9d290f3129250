#include "schedule/body.hpp"

#include <algorithm>
#include <set>
#include <tuple>

#include "plan/recompute_scope.hpp"
#include "schedule/body_layers.hpp"
#include "schedule/company.hpp"

namespace stagecraft {
namespace {

std::size_t slot(OpKind kind) {
  return static_cast<std::size_t>(kind);
}

// Blocks of one kind; where kinds alternate they are listed together.
struct BlockRun {
  BlockKind kind;
  std::int32_t count = 0;
  std::int32_t index = 0;  // one of them
  friend bool operator==(const BlockRun& a, const BlockRun& b) { return a.kind == b.kind && a.count == b.count; }
};

// What decides the bodies of a stage; stages that agree in it share them.
struct Composition {
  StageLayers layers;  // only for plain models, where every layer differs
  std::vector<BlockRun> blocks;
  bool embedding = false, head = false, loss = false;
  bool receives_forward = false, receives_backward = false;
  friend bool operator==(const Composition& a, const Composition& b) {
    return std::tie(a.layers.first, a.layers.last, a.blocks, a.embedding, a.head, a.loss, a.receives_forward,
                    a.receives_backward) == std::tie(b.layers.first, b.layers.last, b.blocks, b.embedding, b.head,
                                                     b.loss, b.receives_forward, b.receives_backward);
  }
};

void add_block(std::vector<BlockRun>& runs, const ModelSpec& model, std::int32_t index) {
  const BlockKind kind = block_kind(model, index);
  for (BlockRun& run : runs) {
    if (run.kind == kind) return static_cast<void>(++run.count);
  }
  runs.push_back({kind, 1, index});
}

std::int32_t block_total(const Composition& stage) {
  std::int32_t sum = 0;
  for (const BlockRun& run : stage.blocks) sum += run.count;
  return sum;
}

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
        add_block(found.blocks, plan.model, plan.layers[static_cast<std::size_t>(i)].index);
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

constexpr std::size_t usual_segments = 48;  // of a block

void add_part(Body& body, std::vector<Segment> segments, std::int32_t repeat = 1) {
  if (!segments.empty() && repeat > 0) body.parts.push_back({std::move(segments), repeat});
}

/// Of the parts from `from` on, those that hold exchanges of experts run beside another pass.
void put_beside(Body& body, std::size_t from, const std::vector<Segment>& beside) {
  const auto travels = [](const Segment& segment) {
    return segment.is_collective && segment.collective.group == Axis::expert;
  };
  for (std::size_t i = from; i < body.parts.size(); ++i) {
    BodyPart& part = body.parts[i];
    if (std::any_of(part.segments.begin(), part.segments.end(), travels)) part.beside = beside;
  }
}

double expert_parts(const Plan& plan) {
  return static_cast<double>(plan.degrees.expert) * static_cast<double>(group_size(plan.degrees, Axis::expert_tensor));
}

/// What one rank holds of a layer, before sharding: dense parts are divided over the tensor group, experts over the
/// expert and the expert-tensor group.
UnitParameters held_of(const Plan& plan, const Layer& layer) {
  const double experts = expert_parameters_of(plan.model, layer), whole = whole_parameters_of(plan.model, layer);
  const double divided = parameters_of(plan.model, layer) - experts - whole;
  return {divided / static_cast<double>(plan.degrees.tensor) + whole, experts / expert_parts(plan)};
}

double parameters_of_ends(const Plan& plan, const Composition& stage) {
  const double embedding = stage.embedding ? parameters_of(plan.model, {LayerKind::embedding, 0}) : 0;
  const double head = stage.head ? parameters_of(plan.model, {LayerKind::head, 0}) : 0;
  return (embedding + head) / static_cast<double>(plan.degrees.tensor);
}

/// Sizes on this rank; an encoder's differ by the length of its sequence.
struct Shapes {
  BodyShape decoder, encoder;
};

std::vector<Segment> gather_received(const BodyShape& shape) {
  const double bytes = shape.element * static_cast<double>(shape.tokens) * static_cast<double>(shape.hidden);
  return {collective("receive-all-gather", CollectiveKind::all_gather, Axis::tensor, bytes)};
}

std::vector<Segment> plain_segments(const Plan& plan, const Composition& stage, const BodyShape& shape,
                                    const BackwardList* backward) {
  std::vector<Segment> out;
  out.reserve(usual_segments);
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

const BodyShape& shape_of(const BlockKind& kind, const Shapes& shapes) {
  return kind.encoder ? shapes.encoder : shapes.decoder;
}

// The forward once more: only blocks are checkpointed. With several kinds of blocks each has its share of them.
Body recompute_body(const Plan& plan, const Composition& stage, const Shapes& shapes) {
  Body body;
  const std::int32_t total = block_total(stage);
  const std::int64_t again = recomputed_blocks(plan.run, total).count;
  std::int64_t passed = 0, done = 0;
  for (const BlockRun& run : stage.blocks) {
    std::vector<Segment> block;
    block.reserve(usual_segments);
    const BodyShape& shape = shape_of(run.kind, shapes);
    add_block_forward(block, shape, plan, run.kind);
    if (plan.run.recompute == Recompute::per_op) block = recomputed_per_op(block, shape, plan);
    passed += run.count;
    const std::int64_t count = passed * again / total - done;  // all of them once the last kind has passed
    add_part(body, std::move(block), static_cast<std::int32_t>(count));
    done += count;
  }
  return body;
}

/// `weight`: of the backward pass that may run beside it.
Body forward_body(const Plan& plan, const Composition& stage, const Shapes& shapes, bool weight = true) {
  Body body;
  const BodyShape& shape = shapes.decoder;
  if (!plan.model.plain_layers.empty()) {
    add_part(body, plain_segments(plan, stage, shape, nullptr));
    return body;
  }
  std::vector<Segment> first, last;
  const bool sharded = shards_by_block(plan), gathers = sharded && plan.run.zero_stage == 3;
  if (stage.receives_forward) first = gather_received(shape);
  add_sharded_ends(first, plan, parameters_of_ends(plan, stage), gathers, false);
  if (stage.embedding) add_embedding_forward(first, shape, plan);
  if (stage.head) add_head_forward(last, shape, plan.model);
  const BodyShape projected = projected_rows(shape, plan.model.head);
  if (stage.loss && plan.model.head.projection) add_loss_forward(last, projected, plan.run.loss_kernel);
  add_part(body, std::move(first));
  for (const BlockRun& run : stage.blocks) {
    std::vector<Segment> block;
    block.reserve(usual_segments);
    add_block_forward(block, shape_of(run.kind, shapes), plan, run.kind);
    const std::size_t from = body.parts.size();
    if (sharded) {
      add_sharded_blocks(body, plan, block, run.count, held_of(plan, {LayerKind::block, run.index}),
                         gathers ? Gathers::first : Gathers::no, false);
    } else {
      add_part(body, std::move(block), run.count);
    }
    put_beside(body, from, beside_another_pass(shape_of(run.kind, shapes), plan, run.kind, weight));
  }
  add_part(body, std::move(last));
  return body;
}

Body backward_body(const Plan& plan, const Composition& stage, const Shapes& shapes, bool input, bool weight) {
  Body body;
  const BodyShape& shape = shapes.decoder;
  if (!plan.model.plain_layers.empty()) {
    const BackwardList kept{input, weight, nullptr};
    add_part(body, plain_segments(plan, stage, shape, &kept));
    return body;
  }
  std::vector<Segment> first, last;
  const auto into = [&](std::vector<Segment>& out) { return BackwardList{input, weight, &out}; };
  if (stage.receives_backward && input) first = gather_received(shape);
  const BodyShape projected = projected_rows(shape, plan.model.head);
  if (stage.loss && plan.model.head.projection) add_loss_backward(into(first), projected, plan.run.loss_kernel);
  if (stage.head) add_head_backward(into(first), shape, plan.model);
  if (stage.embedding) add_embedding_backward(into(last), shape, plan);
  const bool sharded = shards_by_block(plan);
  const bool gathers = sharded && input && plan.run.zero_stage == 3 && plan.run.sharding.reshard_after_forward;
  const bool reduces = weight && reduces_in_backward(plan.run.zero_stage, plan.run.sharding);
  add_part(body, std::move(first));
  for (auto run = stage.blocks.rbegin(); run != stage.blocks.rend(); ++run) {
    std::vector<Segment> block;
    block.reserve(usual_segments);
    add_block_backward(into(block), shape_of(run->kind, shapes), plan, run->kind);
    const std::size_t from = body.parts.size();
    if (sharded) {
      add_sharded_blocks(body, plan, block, run->count, held_of(plan, {LayerKind::block, run->index}),
                         gathers ? Gathers::again : Gathers::no, reduces);
    } else {
      add_part(body, std::move(block), run->count);
    }
    put_beside(body, from, beside_another_pass(shape_of(run->kind, shapes), plan, run->kind, weight));
  }
  if (sharded) add_sharded_ends(last, plan, parameters_of_ends(plan, stage), false, reduces);
  add_part(body, std::move(last));
  return body;
}

// Sum over the stages of each pipeline rank.
std::vector<UnitParameters> parameters_of_ranks(const Plan& plan, std::span<const PipelineRank> rank_of_stage) {
  std::vector<UnitParameters> sums(static_cast<std::size_t>(plan.degrees.pipeline));
  for (std::size_t s = 0; s < plan.stages.size(); ++s) {
    const double experts = expert_parameters_per_rank(plan, Stage{s});
    UnitParameters& sum = sums[rank_of_stage[s].index()];
    sum.dense += parameters_per_rank(plan, Stage{s}) - experts;
    sum.expert += experts;
  }
  return sums;
}

void add_stage(Bodies& bodies, std::vector<BodyId>& ids, const Plan& plan, const Composition& stage,
               const Shapes& shapes) {
  const auto store = [&](OpKind kind, Body body) {
    ids[slot(kind)] = BodyId{bodies.bodies.size()};
    bodies.bodies.push_back(std::move(body));
  };
  Body forward = forward_body(plan, stage, shapes);
  const std::int32_t blocks = blocks_with_company(forward);
  store(OpKind::forward, std::move(forward));
  store(OpKind::backward, backward_body(plan, stage, shapes, true, true));
  store(OpKind::input_grad, backward_body(plan, stage, shapes, true, false));
  store(OpKind::weight_grad, backward_body(plan, stage, shapes, false, true));
  if (blocks > 0) {
    bodies.company.push_back({ids[slot(OpKind::forward)], blocks, true, BodyId{bodies.bodies.size()}});
    bodies.bodies.push_back(forward_body(plan, stage, shapes, false));
  }
  const bool again = plan.run.recompute == Recompute::full || plan.run.recompute == Recompute::per_op;
  if (again) store(OpKind::recompute, recompute_body(plan, stage, shapes));
}

/// With less company than a stage's passes have beside each other: none, that of a stage with fewer blocks of experts,
/// and, of a forward pass, that of an input gradient.
void add_company(Bodies& bodies) {
  std::set<std::int32_t> counts{0};
  const std::size_t made = bodies.bodies.size();
  for (std::size_t i = 0; i < made; ++i) counts.insert(blocks_with_company(bodies.bodies[i]));
  std::vector<Bodies::Company>& company = bodies.company;
  const auto add = [&](BodyId usual, BodyId of, std::int32_t blocks, bool without_weights) {
    company.push_back({usual, blocks, without_weights, BodyId{bodies.bodies.size()}});
    bodies.bodies.push_back(with_company(bodies.bodies[of.index()], blocks));
  };
  const std::vector<Bodies::Company> beside_inputs = company;
  const auto add_fewer = [&](BodyId usual, BodyId of, bool without_weights) {
    const std::int32_t own = blocks_with_company(bodies.bodies[of.index()]);
    for (const std::int32_t blocks : counts) {
      if (blocks < own && (blocks > 0 || !without_weights)) add(usual, of, blocks, without_weights);
    }
  };
  for (std::size_t i = 0; i < made; ++i) {
    const auto is_variant = [&](const Bodies::Company& each) { return each.body == BodyId{i}; };
    if (std::none_of(beside_inputs.begin(), beside_inputs.end(), is_variant)) add_fewer(BodyId{i}, BodyId{i}, false);
  }
  for (const Bodies::Company& each : beside_inputs) add_fewer(each.usual, each.body, true);
}

}  // namespace

double parameters_per_rank(const Plan& plan, Stage stage) {
  const StageLayers& range = plan.stages[stage.index()];
  double sum = 0;
  bool embedding = false, head = false;
  for (std::int32_t i = range.first; i < range.last; ++i) {
    const Layer& layer = plan.layers[static_cast<std::size_t>(i)];
    embedding = embedding || layer.kind == LayerKind::embedding;
    head = head || layer.kind == LayerKind::head;
    const UnitParameters held = held_of(plan, layer);
    sum += held.dense + held.expert;
  }
  if (head && !embedding && plan.model.tied_embeddings) {
    sum += static_cast<double>(plan.model.vocabulary) * static_cast<double>(plan.model.hidden) /
           static_cast<double>(plan.degrees.tensor);
  }
  return sum;
}

double expert_parameters_per_rank(const Plan& plan, Stage stage) {
  const StageLayers& range = plan.stages[stage.index()];
  double experts = 0;
  for (std::int32_t i = range.first; i < range.last; ++i) {
    experts += expert_parameters_of(plan.model, plan.layers[static_cast<std::size_t>(i)]);
  }
  return experts / expert_parts(plan);
}

Bodies make_bodies(const Plan& plan, std::span<const PipelineRank> rank_of_stage) {
  std::vector<PipelineRank> in_turn;
  if (rank_of_stage.empty()) {
    for (std::size_t s = 0; s < plan.stages.size(); ++s) {
      in_turn.emplace_back(static_cast<std::int32_t>(s) % plan.degrees.pipeline);
    }
    rank_of_stage = in_turn;
  }
  const Shapes shapes{body_shape(plan), encoder_shape(plan)};
  Bodies made;
  made.of_stage.assign(plan.stages.size(), std::vector<BodyId>(op_kind_count));
  std::vector<std::pair<Composition, std::size_t>> seen;
  const std::vector<UnitParameters> parameters_held = parameters_of_ranks(plan, rank_of_stage);
  std::vector<std::pair<UnitParameters, BodyId>> optimizers;
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
      add_stage(made, made.of_stage[s], plan, composition, shapes);
      seen.emplace_back(composition, s);
    }
    const UnitParameters parameters = parameters_held[rank_of_stage[s].index()];
    BodyId optimizer;
    for (const auto& [other, id] : optimizers) {
      if (other.dense == parameters.dense && other.expert == parameters.expert) optimizer = id;
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
  add_company(made);
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
