// F, B, I, W.

#include "exec/model/out_of_memory.hpp"
#include "exec/run/rank_executor.hpp"

namespace stagecraft {

namespace {

Stage next(Stage stage) {
  return Stage(stage.value + 1);
}
Stage previous(Stage stage) {
  return Stage(stage.value - 1);
}

}  // namespace

Batch RankExecutor::batch_for(const StageModel& model, MicroBatch micro_batch) const {
  return make_stage_batch(inputs_.plan, shape_, tokens_, inputs_.options.seed, model, steps_run_, groups_.at.data,
                          micro_batch.value);
}

void RankExecutor::forward(const Op& op) {
  Cell& here = cell(op.stage, op.micro_batch);
  StageModel& model = *buffers_of(op.stage).model;
  at::Tensor x = std::move(here.input);
  here.input = at::Tensor();
  if (!model.first && !holds(previous(op.stage))) x = whole_message(x);
  at::Tensor y = run_forward(model, x, batch_for(model, op.micro_batch), &here.tape);
  if (model.last) {
    loss_sum_.add_(y.to(at::kDouble));
  } else if (holds(next(op.stage))) {
    cell(next(op.stage), op.micro_batch).input = std::move(y);
  } else {
    here.output = message_part(y);
  }
}

void RankExecutor::ready_for_gradients(StageBuffers& buffers) {
  if (!buffers.gradients.defined()) {
    naming("gradients of stage", std::to_string(buffers.model->stage.value), [&] { prepare_gradients(buffers); });
  }
  // The last stage adds to the embedding's gradient too.
  if (tied_here_ && buffers.model->last && !buffers_.front().gradients.defined()) prepare_gradients(buffers_.front());
}

void RankExecutor::backward(const Op& op, std::size_t record) {
  Cell& here = cell(op.stage, op.micro_batch);
  StageBuffers& buffers = buffers_of(op.stage);
  StageModel& model = *buffers.model;
  ready_for_gradients(buffers);
  at::Tensor g;
  if (model.last) {
    // The loss is a mean over micro-batches and data ranks; its gradient carries the factor, so nothing is scaled
    // later.
    const double parts = static_cast<double>(inputs_.plan.micro_batches) * static_cast<double>(groups_.data.size());
    g = at::ones({}, at::TensorOptions().dtype(at::kDouble)).mul_(loss_scale_.value / parts).to(shape_.device);
  } else {
    g = std::move(here.output_gradient);
    here.output_gradient = at::Tensor();
    if (!holds(next(op.stage))) g = whole_message(g);
  }
  WeightGradients weights(op.kind == OpKind::input_grad);
  Backward backward{weights, {}, 0};
  at::Tensor dx = here.tape.run(std::move(g), backward);
  if (op.kind == OpKind::input_grad) here.weights.emplace(std::move(weights));
  recorder_.at(record).recompute_s = backward.recompute_s;
  if (model.first) return;
  if (holds(previous(op.stage))) {
    cell(previous(op.stage), op.micro_batch).output_gradient = std::move(dx);
  } else {
    here.input_gradient = message_part(dx);
  }
}

void RankExecutor::weight_grad(const Op& op) {
  Cell& here = cell(op.stage, op.micro_batch);
  ready_for_gradients(buffers_of(op.stage));
  naming("weight gradients of stage", std::to_string(op.stage.value), [&] { here.weights->run(); });
  here.weights.reset();
}

}  // namespace stagecraft
