#include "plan/partition.hpp"

#include <algorithm>
#include <cassert>
#include <cmath>
#include <functional>

#include "plan/attended.hpp"

namespace stagecraft {
namespace {

using Weights = std::vector<std::int64_t>;

/// Parts needed if every part holds as much as fits under `cap`. Precondition: no weight exceeds the cap.
std::int64_t parts_needed(const Weights& weights, std::int64_t cap) {
  std::int64_t parts = 1, sum = 0;
  for (const std::int64_t weight : weights) {
    if (sum > cap - weight) {
      ++parts;
      sum = 0;
    }
    sum += weight;
  }
  return parts;
}

std::int64_t smallest_cap(const Weights& weights, std::int64_t parts) {
  std::int64_t low = 0, high = 0;
  for (const std::int64_t weight : weights) {
    low = std::max(low, weight);
    high += weight;
  }
  while (low < high) {
    const std::int64_t middle = low + (high - low) / 2;
    if (parts_needed(weights, middle) <= parts) {
      high = middle;
    } else {
      low = middle + 1;
    }
  }
  return low;
}

/// Entry s: the first position from which the rest still fits in parts s, s+1, ..., parts-1.
std::vector<std::size_t> earliest_starts(const Weights& weights, std::size_t parts, std::int64_t cap) {
  std::vector<std::size_t> starts(parts + 1, weights.size());
  std::size_t at = weights.size();
  for (std::size_t part = parts; part-- > 0;) {
    std::int64_t sum = 0;
    while (at > 0 && sum <= cap - weights[at - 1]) sum += weights[--at];
    starts[part] = at;
  }
  return starts;
}

std::int64_t blocks_in(const ModelSpec& model) {
  return model.plain_layers.empty() ? block_count(model) : static_cast<std::int64_t>(model.plain_layers.size());
}

/// Parameters that the stage of `layer` holds because of it.
double parameters_held(const ModelSpec& model, const Layer& layer, bool one_stage) {
  const bool copies_embedding = layer.kind == LayerKind::head && model.tied_embeddings && !one_stage;
  const double copy =
      copies_embedding ? static_cast<double>(model.vocabulary) * static_cast<double>(model.hidden) : 0.0;
  return parameters_of(model, layer) + copy;
}

/// Stages from the number of blocks (or plain layers) in each.
std::vector<StageLayers> stages_from_counts(const std::vector<std::int64_t>& counts, const ModelSpec& model,
                                            std::size_t layer_count) {
  std::vector<StageLayers> stages;
  auto at = static_cast<std::int32_t>(model.plain_layers.empty() ? 1 : 0);
  for (const std::int64_t count : counts) {
    const std::int32_t end = at + static_cast<std::int32_t>(count);
    stages.push_back({at, end});
    at = end;
  }
  stages.front().first = 0;
  stages.back().last = static_cast<std::int32_t>(layer_count);
  return stages;
}

/// FLOPs of a forward pass for one token (or sample), which is what most of a stage's time is made of.
double work_of(const ModelSpec& model, const Layer& layer, double tokens) {
  if (layer.kind == LayerKind::plain) {
    return model.plain_layers[static_cast<std::size_t>(layer.index)].forward_flops_per_sample.value;
  }
  if (layer.kind == LayerKind::head) {
    const bool all = model.head.projection && !model.head.first_token;
    return all ? 2 * static_cast<double>(model.vocabulary) * static_cast<double>(model.hidden) : 0;
  }
  if (layer.kind != LayerKind::block) return 0;
  const BlockKind kind = block_kind(model, layer.index);
  const AttentionSpec& attention = model.attention;
  const double experts = expert_parameters_of(model, layer);
  const double routed =
      model.moe.experts > 0 ? static_cast<double>(model.moe.top_k) / static_cast<double>(model.moe.experts) : 0;
  const Mask mask{attention.causal && !kind.encoder, kind.windowed ? attention.window : 0, {}};
  const double width = static_cast<double>(attention.heads) * static_cast<double>(attention.head_dim);
  const double of_encoder =
      model.encoder_sequence_length > 0 ? static_cast<double>(model.encoder_sequence_length) : tokens;
  const double own = kind.encoder ? of_encoder : tokens;
  double work =
      2 * own * (parameters_of(model, layer) - experts * (1 - routed)) + 4 * width * attended_pairs(mask, own);
  if (kind.cross) {  // keys and values are made of the encoder's output
    const double key_value = static_cast<double>(2 * model.hidden * attention.kv_heads * attention.head_dim);
    work += 2 * (of_encoder - tokens) * key_value + 4 * width * tokens * of_encoder;
  }
  return work / tokens;
}

std::vector<StageLayers> stages_by_weight(const std::vector<Layer>& layers, std::int32_t stage_count,
                                          const std::function<double(const Layer&)>& weight_of) {
  std::vector<double> weights;
  for (const Layer& layer : layers) {
    const double held = weight_of(layer);
    if (layer.kind == LayerKind::loss) {
      weights.back() += held;  // never apart from the head
    } else {
      weights.push_back(held);
    }
  }
  std::vector<StageLayers> stages;
  std::int32_t at = 0;
  for (const std::int32_t end : balanced_cuts(weights, stage_count)) {
    stages.push_back({at, end});
    at = end;
  }
  stages.back().last = static_cast<std::int32_t>(layers.size());
  return stages;
}

}  // namespace

std::vector<std::int32_t> balanced_cuts(std::span<const double> weights, std::int32_t parts) {
  assert(parts >= 1 && static_cast<std::size_t>(parts) <= weights.size());
  const auto part_count = static_cast<std::size_t>(parts);
  Weights whole;
  std::int64_t left = 0;
  for (const double weight : weights) {
    whole.push_back(std::llround(weight));
    left += whole.back();
  }
  const std::int64_t cap = smallest_cap(whole, parts);
  const std::vector<std::size_t> starts = earliest_starts(whole, part_count, cap);

  std::vector<std::int32_t> ends;
  std::size_t at = 0;
  for (std::size_t part = 0; part < part_count; ++part) {
    const std::size_t parts_after = part_count - part - 1;
    const std::size_t lowest = std::max(at + 1, starts[part + 1]);
    const std::size_t highest = whole.size() - parts_after;
    const double share = static_cast<double>(left) / static_cast<double>(parts_after + 1);
    std::int64_t sum = 0;
    std::size_t end = at;
    while (end < lowest) sum += whole[end++];
    while (end < highest && sum <= cap - whole[end]) {
      const double over = static_cast<double>(sum + whole[end]) - share;
      if (over > share - static_cast<double>(sum)) break;
      sum += whole[end++];
    }
    if (parts_after == 0) end = whole.size();
    left -= sum;
    at = end;
    ends.push_back(static_cast<std::int32_t>(end));
  }
  return ends;
}

std::vector<StageLayers> partition_layers(const ModelSpec& model, const RunSpec& run) {
  const std::vector<Layer> layers = layers_of(model);
  const std::int64_t stage_count = run.parallel.pipeline * run.parallel.virtual_stages;
  switch (run.partition.rule) {
    case PartitionRule::uniform: {
      const std::vector<std::int64_t> counts(static_cast<std::size_t>(stage_count), blocks_in(model) / stage_count);
      return stages_from_counts(counts, model, layers.size());
    }
    case PartitionRule::explicit_list:
      return stages_from_counts(run.partition.blocks_per_stage, model, layers.size());
    // Where times decide, this is the start; estimate/balance.hpp has replaced the rule before a plan is used.
    case PartitionRule::time:
    case PartitionRule::time_and_memory:
    case PartitionRule::work: {
      const double tokens = static_cast<double>(std::max<std::int64_t>(1, run.sequence_length));
      return stages_by_weight(layers, static_cast<std::int32_t>(stage_count),
                              [&](const Layer& layer) { return work_of(model, layer, tokens); });
    }
    case PartitionRule::count:
      return stages_by_weight(layers, static_cast<std::int32_t>(stage_count), [&](const Layer& layer) {
        const std::vector<std::string> types = types_of(model, layer);
        return std::any_of(types.begin(), types.end(),
                           [&](const std::string& type) {
                             return std::find(run.partition.types.begin(), run.partition.types.end(), type) !=
                                    run.partition.types.end();
                           })
                   ? 1.0
                   : 0.0;
      });
    case PartitionRule::parameters:
      break;
  }
  return stages_by_weight(layers, static_cast<std::int32_t>(stage_count),
                          [&](const Layer& layer) { return parameters_held(model, layer, stage_count == 1); });
}

}  // namespace stagecraft
