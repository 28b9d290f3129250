#pragma once
// Whether the winner stays the winner if a figure behind it is off by a tenth.

#include <string>
#include <vector>

#include "search/search.hpp"

namespace stagecraft {

struct Sensitivity {
  std::string what;  // "bandwidth +10 %"
  bool same_winner = true;
  Candidate winner;            // then
  double step_s = 0;           // of the winner then, closed form
  double step_of_first_s = 0;  // of today's winner then; 0: it no longer fits
};

/// Bandwidth of all links, what kernels achieve of the peak, and the GPU's usable memory, each 10 % lower and higher,
/// in closed form over every candidate that could then be first. Precondition: the ranking is not empty.
std::vector<Sensitivity> sensitivities(const SearchContext& context, const SearchResult& result,
                                       const SearchOptions& options);

/// All links, and the collectives measured on them, at `factor` of their rate.
void scale_bandwidth(SearchContext& context, double factor);

/// What kernels achieve, at `factor` of it.
void scale_efficiency(Calibration& calibration, double factor);

}  // namespace stagecraft
