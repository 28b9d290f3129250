#pragma once
// The order that 1F1B, eager 1F1B, PipeDream and PipeDream-2BW share.

#include <functional>

#include "schedule/program.hpp"

namespace stagecraft {

/// Rank r runs warm_up(p, r) forwards (m at most), then a backward and a forward in turn, then the remaining backwards.
/// Precondition: 1 <= warm_up <= 2p.
Schedule one_forward_one_backward(const char* name, const PipelineShape& shape,
                                  const std::function<std::int32_t(std::int32_t ranks, std::int32_t rank)>& warm_up);

}  // namespace stagecraft
