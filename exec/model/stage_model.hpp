#pragma once
// The layers of one stage in order, and their parameters.

#include <vector>

#include "exec/model/layer.hpp"
#include "plan/plan.hpp"

namespace stagecraft {

struct StageModel {
  Stage stage;
  ParameterList parameters;
  std::vector<LayerPtr> layers;
  std::vector<std::string> layer_names;  // "embedding", "block3", "head", "loss", "layer0"
  bool first = false, last = false;      // takes tokens; ends in the loss
};

/// Where the second use of a tied embedding lies.
enum class TiedCopy : std::uint8_t {
  none,        // embeddings are not tied, or one stage holds both
  same_rank,   // another stage of this rank: it uses the embedding's own table
  other_rank,  // each keeps a copy and their gradients are added
};

/// `word` is the embedding's table where `copy` is same_rank and this is not its stage, else null. `group` and `word`
/// outlive the result. Precondition: refusals(...) of exec/support.hpp found nothing.
std::unique_ptr<StageModel> make_stage_model(const Plan& plan, Stage stage, const ModelShape& shape, TensorGroup& group,
                                             TiedCopy copy, Parameter* word);

/// The embedding's table, or null if the stage has none.
Parameter* word_table(StageModel& stage);

/// x is undefined for the first stage. The result is the activation for the next stage, or the loss (a scalar).
at::Tensor run_forward(StageModel& stage, const at::Tensor& x, const Batch& batch, Tape* tape);

}  // namespace stagecraft
