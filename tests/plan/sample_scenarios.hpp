#pragma once
// A GPT on a cluster with round figures.

#include "../topology/sample_clusters.hpp"
#include "spec/scenario.hpp"

namespace stagecraft::samples {

inline ModelSpec gpt(std::int64_t blocks, std::int64_t hidden = 1024, std::int64_t heads = 16) {
  ModelSpec model;
  model.name = "gpt";
  model.hidden = hidden;
  model.blocks = blocks;
  model.vocabulary = 51200;
  model.sequence_length = 2048;
  model.attention = {heads, heads, hidden / heads, true, true};
  model.mlp = {4 * hidden, false, Activation::gelu, true};
  return model;
}

/// tensor x pipeline x data ranks on DGX A100 nodes, one sequence per micro-batch, two micro-batches per stage.
inline Scenario scenario(std::int64_t tensor, std::int64_t pipeline, std::int64_t data, std::int64_t nodes,
                         std::int64_t blocks = 24) {
  Scenario scenario;
  scenario.name = "sample";
  scenario.model = gpt(blocks);
  scenario.cluster = cluster(dgx_a100_node(), nodes, fabric(FabricKind::rail_optimised));
  scenario.run.parallel.tensor = tensor;
  scenario.run.parallel.pipeline = pipeline;
  scenario.run.parallel.data = data;
  scenario.run.batch = {2 * pipeline * data, 1};
  scenario.run.sequence_length = 2048;
  return scenario;
}

}  // namespace stagecraft::samples
