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
  double rows = 0;      // of a matrix, 0: not one; of one expert's where there are several
  double experts = 0;   // matrices of this shape, spread over the expert group; 0: not an expert's
};

/// The matrices of the embedding and of an untied head have padded_vocabulary(plan) rows (Megatron-LM, vocab padding).
/// A block from plan.model.moe.dense_blocks on has experts, if the model has any.
std::vector<ParameterTensor> parameter_tensors(const Plan& plan, const Layer& layer);

/// The copy of the word embedding that the head needs when embeddings are tied and the two sit on different ranks
/// (Megatron-LM, initialize_model_parallel: the embedding group).
ParameterTensor tied_head_copy(const Plan& plan);

/// What one rank holds before any sharding over the data group.
struct ParameterCount {
  double dense = 0;   // replicated over the data group
  double expert = 0;  // of this rank's experts, replicated over the data group less the expert group
  double factored_dense = 0, factored_expert = 0;  // row and column sums that adafactor keeps
  double small = 0;                                // in tensors of fewer than 4096 elements

  double all() const { return dense + expert; }
  ParameterCount& operator+=(const ParameterCount& other);
  ParameterCount operator-() const;
};
/// `expert_tensor` ranks share one expert; 0: as many as `tensor`.
ParameterCount count_on_rank(const std::vector<ParameterTensor>& tensors, double tensor, double expert,
                             double expert_tensor = 0);

/// Parameters on one rank of a tensor group of `tensor` ranks, all experts included.
double parameters_on_rank(const std::vector<ParameterTensor>& tensors, double tensor);

}  // namespace stagecraft
