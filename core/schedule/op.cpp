#include "schedule/op.hpp"

#include <array>

namespace stagecraft {

namespace {

constexpr std::array<std::string_view, op_kind_count> words = {"F",
                                                               "B",
                                                               "I",
                                                               "W",
                                                               "RECOMPUTE",
                                                               "SEND_F",
                                                               "RECV_F",
                                                               "SEND_B",
                                                               "RECV_B",
                                                               "UNSHARD",
                                                               "RESHARD",
                                                               "REDUCE_GRAD",
                                                               "REDUCE_TIED",
                                                               "OPTIMIZER_STEP",
                                                               "GATHER_PARAMS",
                                                               "OFFLOAD",
                                                               "RELOAD",
                                                               "OFFLOAD_GRAD",
                                                               "RELOAD_PARAM"};

}  // namespace

const char* to_text(Lane lane) {
  switch (lane) {
    case Lane::compute:
      return "compute";
    case Lane::tensor:
      return "tensor";
    case Lane::pipeline:
      return "pipeline";
    case Lane::data:
      return "data";
    case Lane::copy:
      return "copy";
  }
  return "?";
}

std::string_view word_of(OpKind kind) {
  return words[static_cast<std::size_t>(kind)];
}

bool is_compute(OpKind kind) {
  switch (kind) {
    case OpKind::forward:
    case OpKind::backward:
    case OpKind::input_grad:
    case OpKind::weight_grad:
    case OpKind::recompute:
    case OpKind::optimizer_step:
      return true;
    default:
      return false;
  }
}

bool is_send(OpKind kind) {
  return kind == OpKind::send_activation || kind == OpKind::send_gradient;
}

bool is_receive(OpKind kind) {
  return kind == OpKind::recv_activation || kind == OpKind::recv_gradient;
}

bool copies_to_host(OpKind kind) {
  return kind == OpKind::offload || kind == OpKind::offload_grad;
}

bool is_copy(OpKind kind) {
  return copies_to_host(kind) || kind == OpKind::reload || kind == OpKind::reload_param;
}

bool has_micro_batch(OpKind kind) {
  return static_cast<int>(kind) < static_cast<int>(OpKind::unshard) || kind == OpKind::offload ||
         kind == OpKind::reload;
}

bool has_stage(OpKind kind) {
  return kind != OpKind::optimizer_step;
}

Lane usual_lane(OpKind kind) {
  if (is_compute(kind)) return Lane::compute;
  if (is_copy(kind)) return Lane::copy;
  return is_send(kind) || is_receive(kind) ? Lane::pipeline : Lane::data;
}

}  // namespace stagecraft
