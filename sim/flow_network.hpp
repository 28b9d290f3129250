#pragma once
// SimGrid behind a narrow door: links, flows that share them max-min fairly, and one alarm clock. Nothing else of the
// room includes SimGrid.
//
// Set up for GPU clusters: CM02 without TCP's window, without cross-traffic and with links of zero latency, since
// latency is added by the caller as time before the flow starts. Flows start from maestro; there are no actors.

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace stagecraft {

/// A link and how often a flow's route lists it; a flow of rate x takes `crossings` * x of the link.
struct Crossing {
  std::int32_t link = 0;
  std::int32_t crossings = 1;
};

/// A flow under way; another one's once it has ended.
struct FlowHandle {
  std::uint32_t slot = 0;
};

/// Who is told what happens. Called from within FlowNetwork::run; may start flows and set the alarm.
class FlowListener {
 public:
  virtual ~FlowListener() = default;
  virtual void on_flow_end(std::uint64_t flow) = 0;
  virtual void on_alarm() = 0;
};

/// One simulation. At most one exists at a time, and SimGrid allows no two threads.
class FlowNetwork {
 public:
  FlowNetwork();
  ~FlowNetwork();
  FlowNetwork(const FlowNetwork&) = delete;
  FlowNetwork& operator=(const FlowNetwork&) = delete;

  /// Before run(). `rate` in units per second, > 0. Returns the link's number.
  std::int32_t add_shared_link(const std::string& name, double rate);
  /// Before run(). A route: every flow on it is capped at `cap` units per second for itself. Returns the path's number.
  std::int32_t add_path(double cap, std::vector<Crossing> crossings);

  /// Plays until no flow and no alarm is left. Calls listener.on_alarm() once at the start.
  void run(FlowListener& listener);

  /// During run(): seconds since its start.
  double now() const;
  /// During run(): starts `units` >= 1 on a path now; `flow` comes back in on_flow_end.
  FlowHandle start_flow(std::int32_t path, std::uint64_t units, std::uint64_t flow);
  /// During run(), of a flow that has not been reported as ended: what it has still to send now.
  double units_left(FlowHandle flow) const;
  /// During run(): calls on_alarm at `time` >= now(); replaces an alarm that has not rung yet.
  void set_alarm(double time);
  std::uint64_t live_flows() const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace stagecraft
