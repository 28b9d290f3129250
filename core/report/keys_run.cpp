#include "report/keys.hpp"

namespace stagecraft {

std::vector<ReportKey> keys_of_run() {
  return {
      {"run.model", "string", "Name of the model.", "", {}},
      {"run.parameters",
       "number",
       "Trainable parameters of the whole model; tied embeddings count once.",
       "sum over all layers of their weights and biases",
       {}},
      {"run.cluster", "string", "Name of the cluster.", "", {}},
      {"run.gpu", "string", "Name of the GPU.", "", {}},
      {"run.gpus",
       "integer",
       "GPUs that the job uses.",
       "run.tensor x run.context x run.data x run.pipeline",
       {"run.tensor", "run.context", "run.data", "run.pipeline"}},
      {"run.nodes", "integer", "Machines that they fill.", "run.gpus / GPUs per node, rounded up", {"run.gpus"}},
      {"run.tensor", "integer", "Tensor-parallel degree.", "", {}},
      {"run.context", "integer", "Context-parallel degree.", "", {}},
      {"run.pipeline", "integer", "Pipeline-parallel degree.", "", {}},
      {"run.data", "integer", "Data-parallel degree.", "", {}},
      {"run.virtual_stages", "integer", "Chunks of the model per pipeline rank.", "", {}},
      {"run.sequence_parallel",
       "boolean",
       "Whether activations outside GEMMs are split over the tensor group.",
       "",
       {}},
      {"run.global_batch", "integer", "Sequences per step over all data-parallel ranks.", "", {}},
      {"run.micro_batch", "integer", "Sequences in a micro-batch of one data-parallel rank.", "", {}},
      {"run.micro_batches",
       "integer",
       "Micro-batches per step and data-parallel rank.",
       "run.global_batch / (run.micro_batch x run.data)",
       {"run.global_batch", "run.micro_batch", "run.data"}},
      {"run.sequence_length", "integer", "Tokens in a sequence.", "", {}},
      {"run.schedule", "string", "Name of the pipeline schedule.", "", {}},
      {"run.precision", "string", "Number formats of weights, gradients and optimizer states.", "", {}},
      {"run.recompute",
       "string",
       "What is dropped in the forward pass and computed again: none, selective, full.",
       "",
       {}},
      {"run.attention_kernel", "string", "How attention is computed.", "", {}},
      {"run.zero_stage", "integer", "What is sharded over the data group: 0 nothing, 1 optimizer states, 2 gradients too, 3 parameters too.", "", {}},
      {"run.steps", "integer", "Steps run in a row; the last one is reported.", "", {}},
  };
}

}  // namespace stagecraft
