// Sends and receives between stages. A message is named alike at both ends: by its channel, and a tag made of its kind,
// the producing stage and the micro-batch. Every receive gets a buffer of its own, freed with its last user.

#include "exec/model/out_of_memory.hpp"
#include "exec/run/rank_executor.hpp"
#include "schedule/executable.hpp"

namespace stagecraft {

namespace {

struct MessageEnds {
  Stage producer, other;
  bool gradient = false;
};

MessageEnds ends_of(const Op& op) {
  switch (op.kind) {
    case OpKind::send_activation:
      return {op.stage, Stage(op.stage.value + 1), false};
    case OpKind::recv_activation:
      return {Stage(op.stage.value - 1), Stage(op.stage.value - 1), false};
    case OpKind::send_gradient:
      return {op.stage, Stage(op.stage.value - 1), true};
    default:
      return {Stage(op.stage.value + 1), Stage(op.stage.value + 1), true};
  }
}

}  // namespace

bool RankExecutor::scattered() const {
  return inputs_.plan.run.scatter_gather && tensor_.size() > 1 && !tensor_.sequence_parallel() &&
         inputs_.plan.model.plain_layers.empty();
}

at::Tensor RankExecutor::message_part(const at::Tensor& whole) const {
  if (!scattered()) return whole;
  const std::int64_t rows = whole.size(0) / tensor_.size();
  return whole.narrow(0, tensor_.index() * rows, rows);
}

at::Tensor RankExecutor::whole_message(const at::Tensor& part) {
  return scattered() ? tensor_.gather_rows(part) : part;
}

at::Tensor RankExecutor::message_buffer(Stage below) const {
  const Plan& plan = inputs_.plan;
  if (!plan.model.plain_layers.empty()) {
    const double bytes = plan.run.precision == Precision::fp32 || plan.run.precision == Precision::tf32 ? 4 : 2;
    const Layer& last = plan.layers[static_cast<std::size_t>(plan.stages[below.index()].last) - 1];
    return at::empty(
        {shape_.sequences, plain_widths(plan.model.plain_layers[static_cast<std::size_t>(last.index)], bytes).out},
        shape_.options());
  }
  const bool split = scattered() || tensor_.sequence_parallel();
  return at::empty({split ? shape_.rows() / tensor_.size() : shape_.rows(), shape_.hidden}, shape_.options());
}

void RankExecutor::send(const Op& op, std::uint32_t position, std::size_t record) {
  const MessageEnds ends = ends_of(op);
  Cell& here = cell(op.stage, op.micro_batch);
  at::Tensor& kept = ends.gradient ? here.input_gradient : here.output;
  const std::int32_t peer = peer_rank(inputs_.plan, groups_, rank_of(inputs_.schedule, ends.other));
  const std::int32_t tag =
      message_tag(ends.gradient, ends.producer.value, stage_count(inputs_.schedule), op.micro_batch.value);
  std::vector<WorkHandle> works;
  works.push_back(transport_.isend(kept, {peer, op.channel.value, tag}));
  kept = at::Tensor();  // the handle holds it until it has left
  park(position, record, std::move(works));
  if (pending_[position]) pending_[position]->peer = peer;
}

void RankExecutor::receive(const Op& op, std::uint32_t position, std::size_t record) {
  const MessageEnds ends = ends_of(op);
  Cell& here = cell(op.stage, op.micro_batch);
  at::Tensor& into = ends.gradient ? here.output_gradient : here.input;
  into = naming("the message of", word_of(op.kind),
                [&] { return message_buffer(ends.gradient ? op.stage : ends.producer); });
  const std::int32_t peer = peer_rank(inputs_.plan, groups_, rank_of(inputs_.schedule, ends.other));
  const std::int32_t tag =
      message_tag(ends.gradient, ends.producer.value, stage_count(inputs_.schedule), op.micro_batch.value);
  std::vector<WorkHandle> works;
  works.push_back(transport_.irecv(into, {peer, op.channel.value, tag}));
  park(position, record, std::move(works));
  if (pending_[position]) pending_[position]->peer = peer;
}

}  // namespace stagecraft
