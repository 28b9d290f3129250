#include "trace/share_devices.hpp"

#include <algorithm>
#include <cassert>
#include <limits>

namespace stagecraft {
namespace {

/// Whole operations alone, with the dependencies among them.
Trace without_segments(const Trace& trace) {
  Trace whole = trace;
  constexpr std::uint32_t none = std::numeric_limits<std::uint32_t>::max();
  std::vector<std::uint32_t> place(trace.spans.size(), none);
  whole.spans.clear();
  for (std::size_t i = 0; i < trace.spans.size(); ++i) {
    if (trace.spans[i].segment >= 0) continue;
    place[i] = static_cast<std::uint32_t>(whole.spans.size());
    whole.spans.push_back(trace.spans[i]);
  }
  whole.dependencies.clear();
  for (const Dependency& edge : trace.dependencies) {
    if (place[edge.from] != none && place[edge.to] != none)
      whole.dependencies.push_back({place[edge.from], place[edge.to]});
  }
  return whole;
}

/// Operations under way: computations of a device share it, everything else has what it needs.
class Player {
 public:
  Player(Trace& trace, std::int32_t devices)
      : trace_(trace),
        successors_(trace.spans.size()),
        waiting_(trace.spans.size()),
        on_device_(static_cast<std::size_t>(devices)) {
    for (const Dependency& edge : trace.dependencies) add_edge(edge.from, edge.to);
    for (const SpanRange& lane : lanes_of(trace)) {
      for (std::size_t i = lane.first + 1; i < lane.last; ++i)
        add_edge(static_cast<std::uint32_t>(i - 1), static_cast<std::uint32_t>(i));
    }
  }

  void play() {
    for (std::uint32_t i = 0; i < trace_.spans.size(); ++i) {
      if (waiting_[i] == 0) begin(i);
    }
    while (!running_.empty()) advance();
  }

 private:
  struct Running {
    std::uint32_t span = 0;
    double left_s = 0;         // at full speed
    std::int32_t device = -1;  // -1: shares nothing
  };

  void add_edge(std::uint32_t from, std::uint32_t to) {
    successors_[from].push_back(to);
    ++waiting_[to];
  }

  void begin(std::uint32_t i) {
    Span& span = trace_.spans[i];
    const double duration_s = span.end_s - span.begin_s;
    const auto devices = static_cast<std::int32_t>(on_device_.size());
    const std::int32_t device = span.lane == Lane::compute && is_compute(span.kind) ? span.rank % devices : -1;
    if (device >= 0) ++on_device_[static_cast<std::size_t>(device)];
    span.begin_s = now_s_;
    running_.push_back({i, duration_s, device});
  }

  double slowdown(const Running& one) const {
    return one.device < 0 ? 1.0 : on_device_[static_cast<std::size_t>(one.device)];
  }

  /// To the next end of an operation.
  void advance() {
    double step_s = std::numeric_limits<double>::infinity();
    for (const Running& one : running_) step_s = std::min(step_s, one.left_s * slowdown(one));
    now_s_ += step_s;
    std::vector<Running> ended;
    for (Running& one : running_) {
      const double needed_s = one.left_s * slowdown(one);
      one.left_s = needed_s <= step_s ? 0 : one.left_s - step_s / slowdown(one);
      if (one.left_s <= 0) ended.push_back(one);
    }
    std::erase_if(running_, [](const Running& one) { return one.left_s <= 0; });
    for (const Running& one : ended) {
      trace_.spans[one.span].end_s = now_s_;
      if (one.device >= 0) --on_device_[static_cast<std::size_t>(one.device)];
    }
    for (const Running& one : ended) {
      for (const std::uint32_t next : successors_[one.span]) {
        if (--waiting_[next] == 0) begin(next);
      }
    }
  }

  Trace& trace_;
  std::vector<std::vector<std::uint32_t>> successors_;
  std::vector<std::uint32_t> waiting_;
  std::vector<std::int32_t> on_device_;  // computations that run there
  std::vector<Running> running_;
  double now_s_ = 0;
};

}  // namespace

Trace share_devices(const Trace& trace, std::int32_t devices) {
  assert(devices >= 1);
  Trace shared = without_segments(trace);
  Player(shared, devices).play();
  shared.begin_s = 0;
  std::fill(shared.step_end_s.begin(), shared.step_end_s.end(), 0.0);
  for (const Span& span : shared.spans) {
    for (std::size_t step = span.step; step < shared.step_end_s.size(); ++step)
      shared.step_end_s[step] = std::max(shared.step_end_s[step], span.end_s);
  }
  shared.end_s = shared.step_end_s.empty() ? 0 : shared.step_end_s.back();
  sort_spans(shared);
  return shared;
}

}  // namespace stagecraft
