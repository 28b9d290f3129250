// Reductions of gradients, the optimizer step, and the coming and going of sharded values.

#include <cmath>

#include "exec/run/rank_executor.hpp"

namespace stagecraft {

void RankExecutor::reduce_grad(const Op& op, std::uint32_t position, std::size_t record) {
  StageBuffers& buffers = buffers_of(op.stage);
  sum_partial_gradients(buffers);
  park(position, record, begin_reduce(buffers));
  if (pending_[position]) {
    pending_[position]->reduced = &buffers;
  } else {
    finish_reduce(buffers);
  }
}

void RankExecutor::state_collective(const Op& op, std::uint32_t position, std::size_t record) {
  StageBuffers& buffers = buffers_of(op.stage);
  switch (op.kind) {
    case OpKind::reduce_tied:
      return reduce_tied(buffers, groups_.embedding);
    case OpKind::gather_params:
      if (buffers.policy.zero_stage == 1 || buffers.policy.zero_stage == 2)
        park(position, record, begin_gather(buffers));
      return;
    case OpKind::unshard:
      if (buffers.policy.zero_stage == 3) park(position, record, begin_unshard(buffers));
      return;
    default:
      if (buffers.policy.zero_stage == 3) reshard(buffers);
      return;
  }
}

void RankExecutor::optimizer_step(std::size_t record) {
  for (StageBuffers& buffers : buffers_) sum_partial_gradients(buffers);
  const at::Tensor squares = at::zeros({1}, at::TensorOptions().dtype(at::kDouble)).fill_(squared_norm(buffers_));
  const at::Tensor on_device = squares.to(shape_.device);
  const double arrived_s = now_s();
  transport_.all_reduce(on_device, Reduction::sum, groups_.world)->wait();
  const bool cut = !buffers_.empty() && buffers_.front().policy.zero_stage > 0;
  const double copies = cut ? 1 : static_cast<double>(groups_.data.size());
  const double sum = on_device.item<double>() / copies;
  recorder_.leave_out(record, now_s() - arrived_s);  // the wait for the last rank to arrive
  const double scale = loss_scale_.value;
  result_.gradient_norm = std::sqrt(sum) / scale;
  if (!adjust_loss_scale(loss_scale_, sum)) {
    result_.skipped = true;
    return;
  }
  const double limit = inputs_.options.optimizer.clip_norm;
  const double clip = limit > 0 && result_.gradient_norm > limit ? limit / (result_.gradient_norm + 1e-6) : 1;
  adamw_update(buffers_, inputs_.options.optimizer, clip / scale, ++updates_);
}

}  // namespace stagecraft
