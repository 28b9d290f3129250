#pragma once
// Every parameter tensor of a layer, and what a tensor-parallel rank holds of it.

#include <vector>

#include "plan/plan.hpp"

namespace stagecraft {

struct ParameterTensor {
  const char* name;
  double elements = 0;  // whole
  bool divided = true;  // over the tensor group; norms, biases of row-parallel layers and positions are on every rank
  bool matrix = true;   // multiplied by, as opposed to norms, biases and positions
};

/// The matrices of the embedding and of an untied head have padded_vocabulary(plan) rows (Megatron-LM, vocab padding).
std::vector<ParameterTensor> parameter_tensors(const Plan& plan, const Layer& layer);

/// The copy of the word embedding that the head needs when embeddings are tied and the two sit on different ranks
/// (Megatron-LM, initialize_model_parallel: the embedding group).
ParameterTensor tied_head_copy(const Plan& plan);

/// Parameters on one rank of a tensor group of `tensor` ranks.
double parameters_on_rank(const std::vector<ParameterTensor>& tensors, double tensor);

}  // namespace stagecraft
