#pragma once
// The run settings of a scenario: JSON to RunSpec.

#include "spec/object_reader.hpp"

namespace stagecraft {

/// Reads every run setting out of the scenario object. Model and cluster decide some of the defaults.
RunSpec read_run(ObjectReader& scenario, const ModelSpec& model, const ClusterSpec& cluster);

namespace run_limits {  // the product of all degrees stays below 2^53
inline constexpr std::int64_t tensor = std::int64_t{1} << 10;
inline constexpr std::int64_t context = std::int64_t{1} << 10;
inline constexpr std::int64_t pipeline = std::int64_t{1} << 12;
inline constexpr std::int64_t data = std::int64_t{1} << 20;
inline constexpr std::int64_t virtual_stages = std::int64_t{1} << 10;
inline constexpr std::int64_t batch = std::int64_t{1} << 24;
inline constexpr std::int64_t steps = 255;
inline constexpr std::int64_t samples = std::int64_t{1} << 40;  // of a batch ramp-up
}  // namespace run_limits

}  // namespace stagecraft
