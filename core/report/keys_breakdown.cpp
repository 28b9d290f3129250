#include "report/keys.hpp"
#include "trace/time_class.hpp"

namespace stagecraft {
namespace {

const char* meaning_of(TimeClass time_class) {
  switch (time_class) {
    case TimeClass::forward:
      return "Forward passes, exposed tensor-parallel communication apart";
    case TimeClass::backward:
      return "Backward passes (input and weight gradients), exposed tensor-parallel communication apart";
    case TimeClass::recompute:
      return "Forward passes repeated for the backward pass";
    case TimeClass::tensor_communication:
      return "Tensor-parallel collectives that no kernel hides";
    case TimeClass::context_communication:
      return "Collectives of the context group that no kernel hides";
    case TimeClass::expert_communication:
      return "Dispatch and combine of tokens between experts that no kernel hides";
    case TimeClass::host_copies:
      return "Waiting for copies between GPU and host, or exposed ones inside an operation";
    case TimeClass::pipeline_communication:
      return "Waiting for an activation or gradient that has been produced but has not arrived";
    case TimeClass::data_communication:
      return "Waiting for gradient reductions or parameter gathers, or exposed ones inside an operation";
    case TimeClass::bubble_warmup:
      return "Idle before the first backward pass";
    case TimeClass::bubble_steady:
      return "Idle between the first backward and the last forward pass";
    case TimeClass::bubble_cooldown:
      return "Idle after the last forward pass";
    case TimeClass::optimizer:
      return "Optimizer step";
    case TimeClass::other:
      return "Idle although everything awaited is there, or for no known reason";
  }
  return "";
}

}  // namespace

std::vector<ReportKey> keys_of_breakdown(const std::string& path, const std::string& whose) {
  std::vector<ReportKey> keys;
  for (std::size_t i = 0; i < time_class_count; ++i) {
    const auto time_class = static_cast<TimeClass>(i);
    const std::string key = path + "." + key_of(time_class);
    const std::string meaning = meaning_of(time_class);
    keys.push_back({key + ".time_s",
                    "number",
                    meaning + ", " + whose + "; seconds.",
                    "summed over the operations and gaps of the last step; docs/report.md, \"Where the step goes\"",
                    {"kind"}});
    keys.push_back({key + ".fraction",
                    "number",
                    meaning + ", " + whose + "; all of these fractions add up to 1.",
                    key + ".time_s / step_time_s",
                    {key + ".time_s", "step_time_s"}});
  }
  return keys;
}

}  // namespace stagecraft
