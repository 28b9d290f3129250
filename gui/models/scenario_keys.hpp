#pragma once
// Places of a scenario where a name stands for an object.

#include <array>

#include "gui/models/json_edit.hpp"

namespace stagecraft::gui {

inline constexpr std::array scenario_short_keys{ShortKey{"/model", "extends"}, ShortKey{"/cluster", "extends"},
                                                ShortKey{"/cluster/gpu", "extends"}, ShortKey{"/schedule", "name"}};

}  // namespace stagecraft::gui
