#pragma once
// Parts of the rule that turns a record into a scenario; one .cpp file each.

#include <nlohmann/json_fwd.hpp>
#include <stdexcept>

#include "validate/mapping.hpp"
#include "validate/software.hpp"

namespace stagecraft {

using OrderedJson = nlohmann::ordered_json;

/// A record that cannot be mapped; what() is the reason.
class Unmapped : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// What is being put together.
struct Draft {
  const Record& record;
  const SoftwarePeriod& software;
  OrderedJson& scenario;
  Mapping& mapping;
};

/// Notes an input that the record does not state.
void infer(Draft& draft, const std::string& pointer, const std::string& value, const std::string& reason);

bool contains(const std::string& text, const char* part);  // capitals ignored

/// The value, or Unmapped that names what is missing.
std::int64_t stated(const std::optional<std::int64_t>& value, const char* what);

void map_model(Draft& draft);     // rule_model.cpp
void map_cluster(Draft& draft);   // rule_cluster.cpp: cluster and calibration
void map_parallel(Draft& draft);  // rule_parallel.cpp: degrees, batch, partition, schedule
void map_kernels(Draft& draft);   // rule_kernels.cpp: precision, recompute, attention, overlap, ZeRO
void map_memory(Draft& draft);    // rule_kernels.cpp: which reading

}  // namespace stagecraft
