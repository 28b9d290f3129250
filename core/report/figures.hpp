#pragma once
// The headline figures of a report by key, so that every format prints the same ones in the same order.

#include <array>
#include <span>
#include <string_view>

#include "report/report.hpp"

namespace stagecraft {

enum class FigureUnit : std::uint8_t { seconds, per_second, tflops, fraction, bytes };

struct FigureField {
  const char* key;    // "step_time_s"
  const char* title;  // "step time"
  FigureUnit unit;
  Figure Report::*member;
};

std::span<const FigureField> figure_fields();

/// Share of the time that GPUs compute. Waits of a step for its batch, the collector and the host stand in the
/// optimizer's operation, and are none of it.
double computing_share(const Breakdown& mean, const StepCosts& costs);

/// Communication that holds a rank up.
inline constexpr std::array exposed_classes = {TimeClass::tensor_communication, TimeClass::context_communication,
                                               TimeClass::expert_communication, TimeClass::pipeline_communication,
                                               TimeClass::data_communication,   TimeClass::host_copies};

/// Their share of the step, mean over the GPUs.
double exposed_communication(const Report& report);

/// nullptr if there is no such key.
const FigureField* find_figure(std::string_view key);

}  // namespace stagecraft
