#include "exec/run/failure.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace stagecraft {

namespace {

constexpr std::size_t cells_before = 4, cells_after = 5;

std::string row_text(const std::vector<Op>& program, std::size_t center, bool marked) {
  const std::size_t begin = center > cells_before ? center - cells_before : 0;
  const std::size_t end = std::min(program.size(), center + cells_after);
  std::string text = begin > 0 ? " ..." : "";
  for (std::size_t i = begin; i < end; ++i) {
    text += marked && i == center ? "  --> " + to_text(program[i]) + " <--" : "  " + to_text(program[i]);
  }
  if (end < program.size()) text += "  ...";
  return text;
}

}  // namespace

std::string failure_line(const Schedule& schedule, const FailurePlace& place, const std::string& reason) {
  const std::vector<Op>& program = schedule.programs[place.pipeline.index()];
  const std::string name = place.position < program.size() ? to_text(program[place.position]) : "end of step";
  return fmt::format("rank {} (pipeline rank {}), step {}, operation {} ({} of {}): {}", place.rank,
                     place.pipeline.value, place.step, name, std::min<std::size_t>(place.position + 1, program.size()),
                     program.size(), reason);
}

std::string failure_table(const Schedule& schedule, std::span<const FailurePlace> places) {
  std::string text;
  const FailurePlace none;
  const FailurePlace& main = places.empty() ? none : places.front();
  const std::size_t main_length =
      main.pipeline.valid() ? std::max<std::size_t>(schedule.programs[main.pipeline.index()].size(), 1) : 1;
  for (std::size_t rank = 0; rank < schedule.programs.size(); ++rank) {
    const std::vector<Op>& program = schedule.programs[rank];
    const auto place = std::find_if(places.begin(), places.end(), [&](const FailurePlace& one) {
      return one.pipeline.index() == rank && one.pipeline.valid();
    });
    const bool known = place != places.end();
    const std::size_t center = known ? place->position : main.position * program.size() / main_length;
    text += fmt::format("pipeline rank {:>3} {}{}\n", rank, known ? "*" : " ", row_text(program, center, known));
  }
  bool pending = false;
  for (const FailurePlace& place : places) {
    for (const std::string& transfer : place.pending) {
      text += fmt::format("{}  rank {}: {}\n", pending ? "" : "pending transfers:\n", place.rank, transfer);
      pending = true;
    }
  }
  return pending ? text : text + "no transfer is pending\n";
}

}  // namespace stagecraft
