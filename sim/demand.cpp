#include "sim/demand.hpp"

#include <algorithm>

namespace stagecraft {

bool has_rate(const Demand& demand) {
  return demand.bytes > 0 && demand.seconds > demand.latency;
}

Demand demand_of(const CollectiveTime& time) {
  return {time.total.expected.value, std::min(time.latency.value, time.total.expected.value), time.wire_bytes.value};
}

bool is_tensor_collective(const Segment& segment) {
  return segment.is_collective && segment.collective.group == Axis::tensor;
}

Demand tensor_demand(const CostModel& model, const Collective& collective, const SegmentTime& exposed) {
  const CollectiveTime time = collective_time(collective, shape_of(model, collective.group), model.calibration);
  Demand demand = demand_of(time);
  // Siblings that slow it down are flows themselves, so that of their part nothing is left here.
  const double alone_s = exposed.time.value * (demand.seconds / time.shared.value);
  if (!has_rate(demand) || alone_s >= demand.seconds) return demand;
  const double rate = demand.bytes / (demand.seconds - demand.latency);
  demand.seconds = alone_s;
  demand.latency = std::min(demand.latency, demand.seconds);
  demand.bytes = rate * (demand.seconds - demand.latency);
  return demand;
}

std::vector<Demand> tensor_demands(const CostModel& model, const Body& body, const BodyTime& time) {
  std::vector<Demand> demands;
  for (std::size_t part = 0; part < body.parts.size(); ++part) {
    for (std::size_t i = 0; i < body.parts[part].segments.size(); ++i) {
      const Segment& segment = body.parts[part].segments[i];
      if (!is_tensor_collective(segment)) continue;
      demands.push_back(tensor_demand(model, segment.collective, time.segments[part][i]));
    }
  }
  return demands;
}

}  // namespace stagecraft
