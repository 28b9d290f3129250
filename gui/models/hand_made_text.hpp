#pragma once
// A schedule with the moves that made it as a text, for the settings of the program.

#include <string>

#include "gui/models/schedule_grid.hpp"

namespace stagecraft::gui {

/// The moves on the first line, three numbers each, then the schedule as JSON.
std::string to_text(const HandMade& table);

/// Reads what to_text writes. Throws InputError, also for a move of an operation that the schedule does not have.
HandMade parse_hand_made(const std::string& text);

}  // namespace stagecraft::gui
