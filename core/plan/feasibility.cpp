#include "plan/feasibility.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "plan/feasibility_checks.hpp"

namespace stagecraft {

namespace {

void check_rules(const Scenario& scenario, Findings& findings) {
  check_tensor_degree(scenario, findings);
  check_sequence(scenario, findings);
  check_batch(scenario, findings);
  check_sharding(scenario, findings);
  check_experts(scenario, findings);
  check_partition(scenario, findings);
}

}  // namespace

Findings check_layout(const Scenario& scenario) {
  Findings findings;
  check_ranges(scenario, findings);
  if (!has_errors(findings)) check_rules(scenario, findings);
  return findings;
}

Findings check_feasible(const Scenario& scenario) {
  Findings findings;
  check_ranges(scenario, findings);
  check_cluster_range(scenario, findings);
  if (has_errors(findings)) return findings;
  check_rules(scenario, findings);
  check_cluster(scenario, findings);
  check_hardware(scenario, findings);
  check_training(scenario, findings);
  check_unused(scenario, findings);
  return findings;
}

std::int64_t padded_vocabulary(std::int64_t vocabulary, std::int64_t tensor) {
  const std::int64_t multiple = 128 * tensor;
  return (vocabulary + multiple - 1) / multiple * multiple;
}

std::string nearest_values(std::int64_t around, std::int64_t highest, const std::function<bool(std::int64_t)>& works) {
  constexpr std::int64_t farthest = 1 << 20;  // values tried on each side
  const std::int64_t top = std::min(around, highest);
  std::string text;
  for (std::int64_t value = top; value >= std::max<std::int64_t>(1, top - farthest); --value) {
    if (!works(value)) continue;
    text = fmt::format("{}", value);
    break;
  }
  for (std::int64_t value = around + 1; value <= std::min(highest, around + farthest); ++value) {
    if (!works(value)) continue;
    text += fmt::format("{}{}", text.empty() ? "" : " or ", value);
    break;
  }
  return text;
}

std::int64_t capped_product(std::initializer_list<std::int64_t> factors, std::int64_t ceiling) {
  std::int64_t product = 1;
  for (const std::int64_t factor : factors) {
    if (factor == 0) return 0;
    if (product > ceiling / factor) return ceiling;
    product *= factor;
  }
  return product;
}

std::int64_t divisible_layers(const ModelSpec& model) {
  return model.plain_layers.empty() ? block_count(model) : static_cast<std::int64_t>(model.plain_layers.size());
}

}  // namespace stagecraft
