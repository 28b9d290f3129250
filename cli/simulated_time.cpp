#include "simulated_time.hpp"

#ifdef STAGECRAFT_HAVE_SIM
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cmath>
#include <exception>

#include "estimate/estimate.hpp"
#include "estimate/steady_state.hpp"
#include "sim/simulate.hpp"
#endif

namespace stagecraft::cli {

#ifdef STAGECRAFT_HAVE_SIM

namespace {

double play(const Rehearsed& run, const Graph& graph) {
  SimulationOptions how;
  how.steps = steps_until_steady(run.schedule);
  const Trace trace = simulate(run.plan, run.schedule, graph, *run.costs, run.topology, how);
  return summarise(trace, run.schedule).summary.step_s;
}

[[noreturn]] void play_and_leave(int pipe_end, const Rehearsed& run, const Graph& graph) {
  constexpr unsigned longest_s = 60;
  ::alarm(longest_s);
  int code = 1;
  try {
    const double seconds = play(run, graph);
    code = ::write(pipe_end, &seconds, sizeof seconds) == static_cast<ssize_t>(sizeof seconds) ? 0 : 1;
  } catch (const std::exception&) {
    code = 1;
  }
  ::_exit(code);
}

}  // namespace

std::optional<double> simulated_step_time(const Rehearsed& run, const Graph& graph) {
  std::array<int, 2> ends{};
  if (::pipe(ends.data()) != 0) return std::nullopt;
  const pid_t child = ::fork();
  if (child == 0) {
    ::close(ends[0]);
    play_and_leave(ends[1], run, graph);
  }
  ::close(ends[1]);
  double seconds = 0;
  const bool told = child > 0 && ::read(ends[0], &seconds, sizeof seconds) == static_cast<ssize_t>(sizeof seconds);
  ::close(ends[0]);
  int status = 0;
  if (child > 0) ::waitpid(child, &status, 0);
  return told && std::isfinite(seconds) && seconds > 0 ? std::optional<double>(seconds) : std::nullopt;
}

bool can_simulate() {
  return true;
}

#else

std::optional<double> simulated_step_time(const Rehearsed&, const Graph&) {
  return std::nullopt;
}

bool can_simulate() {
  return false;
}

#endif

}  // namespace stagecraft::cli
