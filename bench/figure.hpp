#pragma once
// One figure of a benchmark, printed as a line of text or as a JSON object.

#include <optional>
#include <string>

namespace stagecraft::bench {

struct Figure {
  std::string name;  // "schedule/lower-p64-m1024-v2"
  double value = 0;
  std::string unit;                 // "s", "MB", "ops/s", "%"
  std::optional<double> reference;  // a limit, a peer or a published value
  std::string reference_name;       // what the reference is: "limit", "paper", ...
};

/// True if the command line asks for JSON lines (`--json`). Any other argument ends the program with a message and
/// code 2.
bool wants_json(int argc, char** argv);

void print(const Figure& figure, bool json);

/// Median wall time in seconds of `runs` calls after one warm-up call.
template <class Work>
double median_seconds(int runs, Work&& work);

}  // namespace stagecraft::bench

#include <algorithm>
#include <chrono>
#include <vector>

namespace stagecraft::bench {

template <class Work>
double median_seconds(int runs, Work&& work) {
  work();
  std::vector<double> seconds;
  for (int run = 0; run < runs; ++run) {
    const auto begin = std::chrono::steady_clock::now();
    work();
    seconds.push_back(std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count());
  }
  std::nth_element(seconds.begin(), seconds.begin() + runs / 2, seconds.end());
  return seconds[static_cast<std::size_t>(runs / 2)];
}

}  // namespace stagecraft::bench
