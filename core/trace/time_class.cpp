#include "trace/time_class.hpp"

#include <numeric>

namespace stagecraft {
namespace {

struct Names {
  const char* key;
  const char* words;
};

constexpr std::array<Names, time_class_count> names = {{
    {"forward", "forward"},
    {"backward", "backward"},
    {"recompute", "recomputed forward"},
    {"tensor_communication", "exposed tensor-parallel communication"},
    {"context_communication", "exposed context-parallel communication"},
    {"expert_communication", "exposed expert-parallel communication"},
    {"pipeline_communication", "exposed pipeline communication"},
    {"data_communication", "exposed data-parallel communication"},
    {"host_copies", "exposed copies between GPU and host"},
    {"bubble_warmup", "bubble, warm-up"},
    {"bubble_steady", "bubble, steady"},
    {"bubble_cooldown", "bubble, cool-down"},
    {"optimizer", "optimizer"},
    {"other", "other"},
}};

}  // namespace

const char* key_of(TimeClass time_class) {
  return names[static_cast<std::size_t>(time_class)].key;
}
const char* to_text(TimeClass time_class) {
  return names[static_cast<std::size_t>(time_class)].words;
}

TimeClass class_of(OpKind kind) {
  switch (kind) {
    case OpKind::forward:
      return TimeClass::forward;
    case OpKind::backward:
    case OpKind::input_grad:
    case OpKind::weight_grad:
      return TimeClass::backward;
    case OpKind::recompute:
      return TimeClass::recompute;
    case OpKind::send_activation:
    case OpKind::recv_activation:
    case OpKind::send_gradient:
    case OpKind::recv_gradient:
      return TimeClass::pipeline_communication;
    case OpKind::unshard:
    case OpKind::reshard:
    case OpKind::reduce_grad:
    case OpKind::reduce_tied:
    case OpKind::gather_params:
      return TimeClass::data_communication;
    case OpKind::offload:
    case OpKind::reload:
    case OpKind::offload_grad:
    case OpKind::reload_param:
      return TimeClass::host_copies;
    case OpKind::optimizer_step:
      return TimeClass::optimizer;
  }
  return TimeClass::other;
}

bool is_bubble(TimeClass time_class) {
  return time_class >= TimeClass::bubble_warmup && time_class <= TimeClass::bubble_cooldown;
}

double total(const Breakdown& seconds) {
  return std::accumulate(seconds.begin(), seconds.end(), 0.0);
}

double bubble(const Breakdown& seconds) {
  double sum = 0;
  for (std::size_t i = 0; i < time_class_count; ++i) {
    if (is_bubble(static_cast<TimeClass>(i))) sum += seconds[i];
  }
  return sum;
}

}  // namespace stagecraft
