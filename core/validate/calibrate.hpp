#pragma once
// A profile fitted to measured runs: which constants, how well the runs determine them, what is left over.

#include <string>
#include <vector>

#include "cost/calibration.hpp"
#include "validate/validate.hpp"

namespace stagecraft {

struct CalibrateRequest {
  std::string calibration;             // "HARDWARE+SOFTWARE": only records whose rule chooses it are fitted to
  std::string group;                   // "": any
  std::vector<std::string> constants;  // names of list_constants; empty: those whose evidence is "fitted"
};

struct FittedConstant {
  std::vector<std::string> names;  // of equal value and source: one constant
  double before = 0, after = 0;
  Interval interval;         // 90 %, by resampling the records
  bool at_the_edge = false;  // the interval reaches the end of what was tried
};

struct Residual {
  std::string id;
  double before = 0, after = 0;  // predicted over measured, minus 1
};

struct FittedProfile {
  std::string calibration, hardware, software;
  bool of_software = false;
  std::vector<FittedConstant> constants;
  ErrorStatistics before, after;
  std::vector<Residual> residuals;
  std::vector<std::string> left_out;  // records of the calibration that no step time was predicted for
};

/// Throws InputError if no record uses the calibration, if more constants are asked for than a tenth of the records
/// can carry, or if constants of both the hardware and the software profile are.
FittedProfile calibrate(const std::vector<Record>& records, const CalibrateRequest& request, const Library& library);

/// A profile that extends the fitted one with the new constants.
std::string profile_json(const FittedProfile& fitted);

}  // namespace stagecraft
