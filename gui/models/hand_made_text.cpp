#include "gui/models/hand_made_text.hpp"

#include <fmt/format.h>

#include <sstream>

#include "base/input_error.hpp"
#include "schedule/json_text.hpp"

namespace stagecraft::gui {
namespace {

constexpr const char* file = "kept schedule";

[[noreturn]] void refuse(const std::string& got) {
  throw InputError(InputProblem{file, 1, 0, "", got, "moves of operations of the schedule", ""});
}

bool has_place(const Schedule& schedule, std::int32_t rank, std::int32_t position) {
  return rank >= 0 && position >= 0 && static_cast<std::size_t>(rank) < schedule.programs.size() &&
         static_cast<std::size_t>(position) < schedule.programs[static_cast<std::size_t>(rank)].size();
}

std::vector<Moved> parse_moves(const std::string& line, const Schedule& schedule) {
  std::istringstream words(line);
  std::vector<Moved> moves;
  while (words >> std::ws && !words.eof()) {
    Moved move;
    if (!(words >> move.from.rank >> move.from.position >> move.to)) refuse(line);
    if (!has_place(schedule, move.from.rank, move.from.position) || !has_place(schedule, move.from.rank, move.to))
      refuse(line);
    moves.push_back(move);
  }
  return moves;
}

}  // namespace

std::string to_text(const HandMade& table) {
  std::string text;
  for (const Moved& move : table.moves) text += fmt::format("{} {} {} ", move.from.rank, move.from.position, move.to);
  return text + "\n" + to_json(table.schedule);
}

HandMade parse_hand_made(const std::string& text) {
  const std::size_t end = text.find('\n');
  if (end == std::string::npos) refuse(text.substr(0, 40));
  HandMade table;
  table.schedule = parse_json_schedule(text.substr(end + 1), file);
  table.moves = parse_moves(text.substr(0, end), table.schedule);
  return table;
}

}  // namespace stagecraft::gui
