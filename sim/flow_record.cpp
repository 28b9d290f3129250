#include "sim/flow_record.hpp"

#include <algorithm>
#include <cmath>

namespace stagecraft {

void FlowRecord::add(const FlowStretch& stretch) {
  if (stretch.end_s > stretch.begin_s) stretches_.push_back(stretch);
}

void FlowRecord::note(Followed& followed, double left, double now_s) {
  const FlowStretch next{followed.since_s, now_s, followed.left - left, followed.path};
  followed.left = left;
  followed.since_s = now_s;
  if (next.end_s <= next.begin_s) return;
  if (followed.last != none) {
    FlowStretch& last = stretches_[followed.last];
    const double rate = next.units / (next.end_s - next.begin_s), before = last.units / (last.end_s - last.begin_s);
    constexpr double same = 1e-6;  // units are whole bytes, and SimGrid's clock rounds
    if (std::abs(rate - before) <= same * before) {
      last.end_s = next.end_s;
      last.units += next.units;
      return;
    }
  }
  followed.last = stretches_.size();
  stretches_.push_back(next);
}

void FlowRecord::advance(double now_s) {
  for (Followed& followed : followed_) note(followed, network_.units_left(followed.handle), now_s);
}

void FlowRecord::follow(std::uint64_t flow, FlowHandle handle, std::int32_t path, std::uint64_t units, double now_s) {
  followed_.push_back({flow, handle, path, static_cast<double>(units), now_s, none});
}

void FlowRecord::end(std::uint64_t flow, double now_s) {
  const auto ended =
      std::find_if(followed_.begin(), followed_.end(), [flow](const Followed& one) { return one.flow == flow; });
  note(*ended, 0, now_s);
  followed_.erase(ended);
  advance(now_s);
}

}  // namespace stagecraft
