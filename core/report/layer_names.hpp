#pragma once

#include <string>
#include <vector>

#include "plan/plan.hpp"

namespace stagecraft {

/// The layers of some stages in words: "embedding, blocks 0-4, blocks 40-44".
std::string layer_names(const Plan& plan, const std::vector<std::int32_t>& stages);

}  // namespace stagecraft
