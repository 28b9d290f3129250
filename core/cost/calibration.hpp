#pragma once
// What a GPU and a fabric achieve, apart from what they are labelled with. A hardware profile (one per GPU and fabric)
// and a software profile (one per framework generation), every constant with its evidence. docs/cost-model.md lists the
// laws that the constants belong to.

#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/units.hpp"
#include "schedule/body.hpp"
#include "spec/scenario.hpp"

namespace stagecraft {

/// In ascending order of doubt.
enum class Evidence : std::uint8_t { measured, fitted, borrowed };
const char* to_text(Evidence evidence);

/// A predicted figure with its interval.
struct TimeEstimate {
  Seconds expected, low, high;
  Evidence evidence = Evidence::borrowed;
};

/// A constant of a profile.
struct Constant {
  double value = 0;
  double relative_error = 0.1;  // half width of the interval, as a fraction
  Evidence evidence = Evidence::borrowed;
  std::string source;
};

/// A range of inputs that a law was measured over; min > max: not stated.
struct MeasuredRange {
  double min = 1, max = 0;
  bool stated() const { return min <= max; }
  bool holds(double value) const { return !stated() || (value >= min && value <= max); }
};

/// The GEMM law of one dtype, see cost/kernel_time.hpp.
struct GemmProfile {
  Constant ceiling;       // fraction of peak that large shapes sustain
  Constant k_half;        // k at which prologue and epilogue of a tile take as long as its products
  Constant tile_loss;     // rate of a tile of half the area, as a fraction
  Constant quantisation;  // 1: whole waves of tiles; 0: work spread evenly
  Constant misaligned;    // rate when a row is no multiple of 16 bytes, as a fraction
  MeasuredRange k;        // that the law was fitted over
};

/// The law of fused attention of one kernel generation, see cost/kernel_time.hpp.
struct AttentionProfile {
  Constant forward, backward;   // fraction of peak at long sequences and wide heads
  Constant head_dim_half;       // head_dim at which half of it is left
  Constant length_half;         // sequence length at which half of it is left
  Constant causal_length_half;  // the same under a causal mask, work counted as half
  MeasuredRange length;
};

/// Time of a collective on one node, the lesser of two protocols: t = latency + sqrt_us_per_byte * sqrt(S) + S * bus
/// factor / bus_GBps for large sizes, and t = low_latency + low_latency_us_per_MB * S for small ones.
struct CollectiveProfile {
  Constant latency_us;             // alpha
  Constant sqrt_us_per_byte;       // g, us per sqrt(byte)
  Constant bus_GBps;               // achieved bus bandwidth for large sizes
  Constant low_latency_us;         // of the low-latency protocol
  Constant low_latency_us_per_MB;  // its time per 1e6 bytes
  MeasuredRange bytes, ranks;
  LinkKind links = LinkKind::nvlink;  // that it was measured over; other links take the rate of their wires
  double link_GBps = 0;  // all of a GPU of the machine that it was measured on together, one way; others scale the
                         // rates (0: not stated, no others do)
};

/// Seconds of one segment of a body as `stagecraft profile` found it on the machine itself. It takes the place of the
/// laws for every segment of this name and shape.
struct MeasuredKernel {
  std::string segment;
  std::int64_t batch = 1, m = 0, n = 0, k = 0;
  double bytes = 0;
  double seconds = 0;
  double relative_error = 0.1;
};

struct Calibration {
  std::string name;
  std::string hardware, software;  // names of the two profiles
  std::string hardware_description, software_description;
  std::vector<std::string> gpus;  // that the hardware's laws were measured on; empty: not stated
  std::map<Dtype, GemmProfile> gemm;
  std::map<int, AttentionProfile> attention;               // by flash version, 1 to 4
  std::map<std::string, Constant, std::less<>> constants;  // "memory_efficiency", "launch_us", ...
  std::map<std::string, CollectiveProfile> collectives;    // "node/all_reduce", "node/all_gather", ...
  std::vector<MeasuredKernel> measured;                    // ascending by name and shape, no two alike
  std::vector<std::string> notes;
  std::vector<Calibration> other_kinds;  // of the cluster's other_nodes, in their order
};

/// The measured time of a kernel segment; nullptr if the calibration has none.
const MeasuredKernel* find_measured(const Calibration& calibration, const Segment& segment);

/// The order of Calibration::measured.
bool comes_before(const MeasuredKernel& a, const MeasuredKernel& b);

/// "HARDWARE+SOFTWARE", or "HARDWARE" alone, which takes the software profile that it names as its default, or the path
/// of a hardware file. Profiles are `DIR/calibrations/NAME.json` of the library. Throws InputError.
Calibration load_calibration(const std::string& name_or_path, const Library& library);

/// The scenario's, with those of the cluster's nodes of other kinds: the hardware that these name, the software of the
/// scenario. `instead` takes the place of the scenario's own unless it is empty. Throws InputError where one lacks a
/// law that the scenario's kernels need.
Calibration calibration_of(const Scenario& scenario, const Library& library, const std::string& instead = "");

/// Names of the profiles that exist in the library, sorted.
std::vector<std::string> calibration_names(const Library& library);

/// A constant by name; std::invalid_argument if the calibration lacks it (loading makes sure that it does not).
const Constant& constant(const Calibration& calibration, std::string_view name);

/// The constants that every calibration holds, with what they mean; a profile with an unknown or missing one is
/// refused.
struct ConstantMeaning {
  const char* name;
  const char* unit;
  const char* meaning;
  bool of_software;
};
std::span<const ConstantMeaning> constant_meanings();

/// One line per constant of every law, for reports: "gemm/bf16/ceiling", value, unit, evidence, source.
struct ConstantLine {
  std::string name, unit;
  Constant constant;
};
std::vector<ConstantLine> list_constants(const Calibration& calibration);

/// The most that a profile may hold of a constant, by its name in list_constants: 1.25 for fractions of a peak (labels
/// are rounded), 1 for quantisation, 10^12 for all others.
double largest_value(const std::string& name);

}  // namespace stagecraft
