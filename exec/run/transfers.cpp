#include "exec/run/transfers.hpp"

#include <algorithm>
#include <map>
#include <tuple>

namespace stagecraft {

namespace {

/// Names a message of a column: step, gradient or activation, producing stage, micro-batch.
using MessageKey = std::tuple<std::int32_t, bool, std::int32_t, std::int32_t>;

struct Send {
  RecordedOp* op = nullptr;
  bool handed_over = false;
};

MessageKey key_of(const Op& op, std::int32_t step) {
  switch (op.kind) {
    case OpKind::send_activation:
      return {step, false, op.stage.value, op.micro_batch.value};
    case OpKind::recv_activation:
      return {step, false, op.stage.value - 1, op.micro_batch.value};
    case OpKind::send_gradient:
      return {step, true, op.stage.value, op.micro_batch.value};
    default:
      return {step, true, op.stage.value + 1, op.micro_batch.value};
  }
}

}  // namespace

bool is_handed_over(const Op& op, at::Device device) {
  return is_send(op.kind) && op.lane == Lane::compute && device.is_cpu();
}

void split_transfers(const JobInputs& inputs, std::vector<std::vector<RecordedOp>>& ops) {
  const Degrees& degrees = inputs.plan.degrees;
  for (std::int32_t column = 0; column < static_cast<std::int32_t>(ops.size()); ++column) {
    Coordinates at = coordinates_of(degrees, Rank(column));
    if (at.pipeline != 0) continue;
    std::map<MessageKey, Send> sends;
    for (const bool receiving : {false, true}) {
      for (at.pipeline = 0; at.pipeline < degrees.pipeline; ++at.pipeline) {
        const std::vector<Op>& program = inputs.schedule.programs[static_cast<std::size_t>(at.pipeline)];
        for (RecordedOp& recorded : ops[rank_at(degrees, at).index()]) {
          const Op& op = program[recorded.position];
          if (!receiving && is_send(op.kind))
            sends[key_of(op, recorded.step)] = {&recorded, is_handed_over(op, inputs.options.device)};
          if (!receiving || !is_receive(op.kind)) continue;
          const auto send = sends.find(key_of(op, recorded.step));
          if (send == sends.end()) continue;
          // begin_s of the receive is when its bytes began to move, as far as the transport knows.
          const double begin_s = std::max(recorded.begin_s, send->second.op->posted_s);
          recorded.begin_s = begin_s;
          recorded.end_s = std::max(recorded.end_s, begin_s);
          if (send->second.handed_over) continue;
          send->second.op->begin_s = begin_s;
          send->second.op->end_s = recorded.end_s;
        }
      }
    }
  }
}

}  // namespace stagecraft
