#include "exec/run/failure.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "exec/transport/transport.hpp"

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
  if (marked && center >= program.size()) text += "  --> end of step <--";
  return text;
}

}  // namespace

bool was_stopped(FailureKind kind) {
  return kind == FailureKind::stopped_by_failure || kind == FailureKind::stopped_by_timeout;
}

FailureKind kind_of(const std::exception& error) {
  const auto* const transport = dynamic_cast<const TransportError*>(&error);
  if (transport == nullptr) return FailureKind::rank_failed;
  if (transport->failure() == TransportFailure::timed_out) return FailureKind::timed_out;
  if (transport->failure() != TransportFailure::aborted) return FailureKind::rank_failed;
  return transport->cause() == StopCause::timed_out ? FailureKind::stopped_by_timeout : FailureKind::stopped_by_failure;
}

std::string failure_line(const Schedule& schedule, const FailurePlace& place, const std::string& reason) {
  const std::vector<Op>& program = schedule.programs[place.pipeline.index()];
  const std::string name =
      place.position < program.size()
          ? fmt::format("operation {} ({} of {})", to_text(program[place.position]), place.position + 1, program.size())
          : "after its last operation";
  return fmt::format("rank {} (pipeline rank {}), step {}, {}: {}", place.rank, place.pipeline.value, place.step, name,
                     reason);
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
