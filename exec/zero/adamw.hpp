#pragma once
// The optimizer step of one rank: gradient norm over the job, clipping, AdamW (arXiv 1711.05101), dynamic loss scale.

#include <vector>

#include "exec/zero/stage_buffers.hpp"

namespace stagecraft {

struct AdamWOptions {
  double learning_rate = 1e-3;
  double beta1 = 0.9, beta2 = 0.95;
  double epsilon = 1e-8;
  double weight_decay = 0.1;  // of matrices
  double clip_norm = 0;       // 0: gradients are not clipped
};

/// Sum of squares of the reduced gradients that this rank counts, in fp64. Over all ranks of the job every element of
/// the model is counted `repeats` times: once under ZeRO, once per data rank without.
double squared_norm(const std::vector<StageBuffers>& stages);

/// One update of what this rank owns; `factor` multiplies the gradients first (1 / loss scale, clipping). `update`
/// counts from 1. Works through the buffers in pieces, so that it needs little memory of its own.
void adamw_update(std::vector<StageBuffers>& stages, const AdamWOptions& options, double factor, std::int64_t update);

/// Loss scale of fp16 training (arXiv 1710.03740, section 3.2): halved and the step skipped when a gradient is not
/// finite, doubled after `interval` good steps.
struct LossScale {
  bool dynamic = false;
  double value = 1;
  std::int64_t good_steps = 0;
  std::int64_t interval = 1000;
};
/// True if the step is to be taken.
bool adjust_loss_scale(LossScale& scale, double squared_norm);

}  // namespace stagecraft
