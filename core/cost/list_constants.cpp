#include "cost/calibration.hpp"

namespace stagecraft {
namespace {

const char* unit_of(const std::string& name) {
  for (const ConstantMeaning& meaning : constant_meanings()) {
    if (name == meaning.name) return meaning.unit;
  }
  return "";
}

}  // namespace

std::vector<ConstantLine> list_constants(const Calibration& calibration) {
  std::vector<ConstantLine> lines;
  for (const auto& [dtype, law] : calibration.gemm) {
    const std::string prefix = "gemm/" + to_text(dtype) + "/";
    lines.push_back({prefix + "ceiling", "of peak", law.ceiling});
    lines.push_back({prefix + "k_half", "", law.k_half});
    lines.push_back({prefix + "tile_loss", "", law.tile_loss});
    lines.push_back({prefix + "quantisation", "", law.quantisation});
    lines.push_back({prefix + "misaligned", "", law.misaligned});
  }
  for (const auto& [version, law] : calibration.attention) {
    const std::string prefix = "attention/flash_" + std::to_string(version) + "/";
    lines.push_back({prefix + "forward", "of peak", law.forward});
    lines.push_back({prefix + "backward", "of peak", law.backward});
    lines.push_back({prefix + "head_dim_half", "", law.head_dim_half});
    lines.push_back({prefix + "length_half", "tokens", law.length_half});
    lines.push_back({prefix + "causal_length_half", "tokens", law.causal_length_half});
  }
  for (const auto& [name, law] : calibration.collectives) {
    lines.push_back({"collectives/" + name + "/latency_us", "us", law.latency_us});
    lines.push_back({"collectives/" + name + "/sqrt_us_per_byte", "us per sqrt(B)", law.sqrt_us_per_byte});
    lines.push_back({"collectives/" + name + "/bus_GBps", "GB/s", law.bus_GBps});
    lines.push_back({"collectives/" + name + "/low_latency_us", "us", law.low_latency_us});
    lines.push_back({"collectives/" + name + "/low_latency_us_per_MB", "us/MB", law.low_latency_us_per_MB});
  }
  for (const auto& [name, value] : calibration.constants) {
    lines.push_back({"constants/" + name, unit_of(name), value});
  }
  return lines;
}

}  // namespace stagecraft
