// Profiles as JSON: {"kind": "hardware" | "software", "extends", "description", "default_software", "gemm": {DTYPE:
// law}, "attention": {"flash_2": law}, "collectives": {"node/all_reduce": law}, "constants": {NAME: constant},
// "measured":
// [{"segment", "batch", "m", "n", "k", "bytes", "time_s", "relative_error"}], "notes": []}. A constant is {"value",
// "relative_error", "evidence", "source"}.

#include <algorithm>
#include <array>

#include "base/json_fields.hpp"
#include "base/json_merge.hpp"
#include "cost/calibration.hpp"
#include "cost/missing_laws.hpp"
#include "spec/library.hpp"

namespace stagecraft {
namespace {

constexpr const char* folder = "calibrations";

JsonDocument load_profile(const std::string& name, const Library& library) {
  return load_extended(locate(name, folder, library),
                       [&](const JsonNode& node) { return locate(node, folder, library); });
}

Evidence read_evidence(const JsonNode& node) {
  const std::string word = read_one_of(node, {"measured", "fitted", "borrowed"});
  if (word == "measured") return Evidence::measured;
  return word == "fitted" ? Evidence::fitted : Evidence::borrowed;
}

constexpr double any_value = 1e12, any_fraction = 1.25;

/// Of the constants beside the laws: times and spreads may be 0 and long.
bool is_fraction(const std::string& name) {
  return !name.ends_with("_us") && !name.ends_with("_ms") && !name.ends_with("_spread");
}

Constant read_constant(const JsonNode& node) {
  only_keys(node, {"value", "relative_error", "evidence", "source"});
  Constant constant;
  constant.value = read_number(node.at("value"), 0, any_value);
  constant.relative_error = read_number(node.at("relative_error"), 0, 1);
  constant.evidence = read_evidence(node.at("evidence"));
  constant.source = read_nonempty_string(node.at("source"));
  return constant;
}

Constant read_positive(const JsonNode& node) {
  Constant constant = read_constant(node);
  if (constant.value <= 0) node.at("value").fail("a number above 0");
  return constant;
}

Constant read_fraction(const JsonNode& node) {
  Constant constant = read_positive(node);
  if (constant.value > any_fraction) node.at("value").fail("a fraction, at most 1.25", "1");
  return constant;
}

MeasuredRange read_range(const JsonNode& object, const char* key) {
  MeasuredRange range;
  const std::optional<JsonNode> node = object.find(key);
  if (!node) return range;
  const std::vector<double> bounds = read_numbers(*node, 0, 1e18);
  if (bounds.size() != 2 || bounds[0] > bounds[1]) node->fail("[smallest, largest] of what was measured");
  return {bounds[0], bounds[1]};
}

GemmProfile read_gemm(const JsonNode& node) {
  only_keys(node, {"ceiling", "k_half", "tile_loss", "quantisation", "misaligned", "measured_k"});
  GemmProfile law;
  law.ceiling = read_fraction(node.at("ceiling"));
  law.k_half = read_constant(node.at("k_half"));
  law.tile_loss = read_fraction(node.at("tile_loss"));
  law.quantisation = read_constant(node.at("quantisation"));
  if (law.quantisation.value > 1) node.at("quantisation").at("value").fail("a number from 0 to 1", "1");
  law.misaligned = read_fraction(node.at("misaligned"));
  law.k = read_range(node, "measured_k");
  return law;
}

AttentionProfile read_attention(const JsonNode& node) {
  only_keys(node, {"forward", "backward", "head_dim_half", "length_half", "causal_length_half", "measured_length"});
  AttentionProfile law;
  law.forward = read_fraction(node.at("forward"));
  law.backward = read_fraction(node.at("backward"));
  law.head_dim_half = read_constant(node.at("head_dim_half"));
  law.length_half = read_constant(node.at("length_half"));
  law.causal_length_half = read_constant(node.at("causal_length_half"));
  law.length = read_range(node, "measured_length");
  return law;
}

CollectiveProfile read_collective(const JsonNode& node) {
  only_keys(node, {"latency_us", "sqrt_us_per_byte", "bus_GBps", "low_latency_us", "low_latency_us_per_MB",
                   "measured_bytes", "measured_ranks", "measured_links", "measured_link_GBps"});
  CollectiveProfile law;
  law.latency_us = read_constant(node.at("latency_us"));
  law.sqrt_us_per_byte = read_constant(node.at("sqrt_us_per_byte"));
  law.bus_GBps = read_positive(node.at("bus_GBps"));
  law.low_latency_us = read_constant(node.at("low_latency_us"));
  law.low_latency_us_per_MB = read_positive(node.at("low_latency_us_per_MB"));
  law.bytes = read_range(node, "measured_bytes");
  law.ranks = read_range(node, "measured_ranks");
  if (const std::optional<JsonNode> rate = node.find("measured_link_GBps"))
    law.link_GBps = read_number(*rate, 1e-3, 1e6);
  if (const std::optional<JsonNode> links = node.find("measured_links")) {
    const std::string word = read_one_of(*links, {"nvlink", "pcie", "socket"});
    law.links = word == "nvlink" ? LinkKind::nvlink : word == "pcie" ? LinkKind::pcie : LinkKind::socket;
  }
  return law;
}

MeasuredKernel read_measured_kernel(const JsonNode& node) {
  only_keys(node, {"segment", "batch", "m", "n", "k", "bytes", "time_s", "relative_error"});
  MeasuredKernel kernel;
  kernel.segment = read_nonempty_string(node.at("segment"));
  kernel.batch = read_integer(node.at("batch"), 1);
  kernel.m = read_integer(node.at("m"), 0);
  kernel.n = read_integer(node.at("n"), 0);
  kernel.k = read_integer(node.at("k"), 0);
  kernel.bytes = read_number(node.at("bytes"), 0, 1e18);
  kernel.seconds = read_number(node.at("time_s"), 0, 1e6);
  kernel.relative_error = read_number(node.at("relative_error"), 0, 1);
  return kernel;
}

void read_measured(const JsonNode& root, Calibration& out) {
  const std::optional<JsonNode> list = root.find("measured");
  if (!list) return;
  for (const JsonNode& element : list->elements()) {
    const MeasuredKernel kernel = read_measured_kernel(element);
    const auto place = std::lower_bound(out.measured.begin(), out.measured.end(), kernel, comes_before);
    if (place != out.measured.end() && !comes_before(kernel, *place)) {
      element.fail("one entry per name and shape; this one was there before");
    }
    out.measured.insert(place, kernel);
  }
}

constexpr std::array<Dtype, 8> dtypes{Dtype::fp32, Dtype::tf32, Dtype::fp16,  Dtype::bf16,
                                      Dtype::fp8,  Dtype::int8, Dtype::int32, Dtype::int64};

Dtype read_dtype(const JsonNode& node) {
  std::vector<std::string> words;
  for (const Dtype dtype : dtypes) {
    words.push_back(to_text(dtype));
    if (words.back() == node.key()) return dtype;
  }
  node.fail("a dtype", nearest_word(node.key(), words), node.key());
}

void read_constants(const JsonNode& root, bool of_software, Calibration& out) {
  const JsonNode node = root.at("constants");
  std::vector<std::string> names;
  for (const ConstantMeaning& meaning : constant_meanings()) {
    if (meaning.of_software == of_software) names.emplace_back(meaning.name);
  }
  only_keys(node, names);
  for (const std::string& name : names) {
    out.constants[name] = is_fraction(name) ? read_fraction(node.at(name)) : read_constant(node.at(name));
  }
}

void read_notes(const JsonNode& root, Calibration& out) {
  if (const std::optional<JsonNode> notes = root.find("notes")) {
    for (std::string& note : read_strings(*notes)) out.notes.push_back(std::move(note));
  }
}

void read_hardware(const JsonNode& root, Calibration& out) {
  only_keys(root, {"kind", "description", "default_software", "gpus", "gemm", "attention", "collectives", "constants",
                   "measured", "notes"});
  if (read_one_of(root.at("kind"), {"hardware", "software"}) != "hardware") root.at("kind").fail("\"hardware\"");
  out.hardware_description = read_nonempty_string(root.at("description"));
  if (const std::optional<JsonNode> gpus = root.find("gpus")) out.gpus = read_strings(*gpus);
  for (const JsonNode& member : root.at("gemm").members()) out.gemm[read_dtype(member)] = read_gemm(member);
  if (const std::optional<JsonNode> attention = root.find("attention")) {
    only_keys(*attention, {"flash_1", "flash_2", "flash_3", "flash_4"});
    for (const JsonNode& member : attention->members())
      out.attention[member.key().back() - '0'] = read_attention(member);
  }
  if (const std::optional<JsonNode> collectives = root.find("collectives")) {
    only_keys(*collectives,
              {"node/all_reduce", "node/all_gather", "node/reduce_scatter", "node/all_to_all", "node/broadcast"});
    for (const JsonNode& member : collectives->members()) out.collectives[member.key()] = read_collective(member);
  }
  read_constants(root, false, out);
  read_measured(root, out);
  read_notes(root, out);
}

void read_software(const JsonNode& root, Calibration& out) {
  only_keys(root, {"kind", "description", "constants", "notes"});
  if (read_one_of(root.at("kind"), {"hardware", "software"}) != "software") root.at("kind").fail("\"software\"");
  out.software_description = read_nonempty_string(root.at("description"));
  read_constants(root, true, out);
  read_notes(root, out);
}

struct Profiles {
  std::string hardware, software;  // no software: the hardware's default
};

Profiles profiles_of(const std::string& name_or_path) {
  const std::size_t plus = is_path(name_or_path) ? std::string::npos : name_or_path.find('+');
  if (plus == std::string::npos) return {name_or_path, ""};
  return {name_or_path.substr(0, plus), name_or_path.substr(plus + 1)};
}

Calibration load_profiles(const std::string& hardware, const std::string& software, const Library& library) {
  Calibration calibration;
  calibration.hardware = hardware;
  const JsonDocument of_hardware = load_profile(hardware, library);
  read_hardware(of_hardware.root(), calibration);
  calibration.software = software.empty() ? read_nonempty_string(of_hardware.root().at("default_software")) : software;
  const JsonDocument of_software = load_profile(calibration.software, library);
  read_software(of_software.root(), calibration);
  calibration.name = calibration.hardware + "+" + calibration.software;
  return calibration;
}

}  // namespace

double largest_value(const std::string& name) {
  const auto ends = [&](const char* member) { return name.ends_with(member); };
  if (name.starts_with("constants/")) return is_fraction(name) ? any_fraction : any_value;
  if (ends("/quantisation")) return 1;
  const bool of_peak =
      ends("/ceiling") || ends("/tile_loss") || ends("/misaligned") || ends("/forward") || ends("/backward");
  return of_peak ? any_fraction : any_value;
}

std::vector<std::string> calibration_names(const Library& library) {
  return names_of(folder, library);
}

Calibration load_calibration(const std::string& name_or_path, const Library& library) {
  const Profiles named = profiles_of(name_or_path);
  return load_profiles(named.hardware, named.software, library);
}

Calibration calibration_of(const Scenario& scenario, const Library& library, const std::string& instead) {
  Calibration calibration = load_calibration(instead.empty() ? scenario.calibration : instead, library);
  for (const OtherNodes& kind : scenario.cluster.other_nodes) {
    calibration.other_kinds.push_back(
        load_profiles(profiles_of(kind.calibration).hardware, calibration.software, library));
  }
  require_laws(scenario, scenario.cluster.gpu, calibration);
  for (std::size_t kind = 0; kind < calibration.other_kinds.size(); ++kind) {
    require_laws(scenario, gpu_of_kind(scenario.cluster, kind + 1), calibration.other_kinds[kind]);
  }
  return calibration;
}

}  // namespace stagecraft
