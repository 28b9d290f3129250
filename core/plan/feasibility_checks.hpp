#pragma once
// The parts of check_feasible, one file each. Internal to the room. All but the range checks require that
// those found nothing, so that no product below can overflow.

#include <cstdint>
#include <functional>
#include <string>

#include "plan/feasibility.hpp"

namespace stagecraft {

void check_ranges(const Scenario& scenario, Findings& findings);
void check_cluster_range(const Scenario& scenario, Findings& findings);
void check_tensor_degree(const Scenario& scenario, Findings& findings);
void check_sequence(const Scenario& scenario, Findings& findings);
void check_batch(const Scenario& scenario, Findings& findings);
void check_partition(const Scenario& scenario, Findings& findings);
void check_cluster(const Scenario& scenario, Findings& findings);
void check_experts(const Scenario& scenario, Findings& findings);
void check_sharding(const Scenario& scenario, Findings& findings);
void check_hardware(const Scenario& scenario, Findings& findings);
void check_training(const Scenario& scenario, Findings& findings);
void check_unused(const Scenario& scenario, Findings& findings);

/// "4 or 8": the values nearest to `around`, one below and one above, in [1, highest], that satisfy `works`; "" if none
/// do.
std::string nearest_values(std::int64_t around, std::int64_t highest, const std::function<bool(std::int64_t)>& works);

/// Product of factors >= 0 that stops at `ceiling` instead of overflowing.
std::int64_t capped_product(std::initializer_list<std::int64_t> factors, std::int64_t ceiling);

/// Blocks, or plain layers, that the partition cuts.
std::int64_t divisible_layers(const ModelSpec& model);

}  // namespace stagecraft
