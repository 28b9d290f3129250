#pragma once
// The texts of core/spec/schema/*.schema.json, put into the library at build time.

#include <string_view>

namespace stagecraft::embedded {

extern const std::string_view scenario_schema;
extern const std::string_view model_schema;
extern const std::string_view cluster_schema;
extern const std::string_view gpu_schema;
extern const std::string_view calibration_schema;

}  // namespace stagecraft::embedded
