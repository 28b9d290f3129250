#include "trace/kernel_totals.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <utility>

#include "base/input_error.hpp"
#include "trace/kernel_class.hpp"

namespace stagecraft {
namespace {

constexpr std::size_t most_kernels = std::size_t{1} << 24, most_names = std::size_t{1} << 16;
constexpr std::size_t most_letters = std::size_t{64} << 20;

}  // namespace

KernelCollector::Sums* KernelCollector::sums_of(const std::string& name) {
  const auto known = by_name_.find(name);
  if (known != by_name_.end()) return &known->second;
  letters_ += name.size();
  if (by_name_.size() >= most_names || letters_ > most_letters) {
    problem_ = fmt::format("more than {} names of kernels", std::min(by_name_.size(), most_names));
    return nullptr;
  }
  const KernelClass kind = class_of_kernel(name).kernel_class;
  Sums& added = by_name_[name];
  added.computes = kind != KernelClass::communication && kind != KernelClass::copy;
  return &added;
}

bool KernelCollector::add(const std::string& name, std::int64_t device, std::int64_t stream, double begin_s,
                          double duration_s) {
  if (!device_) device_ = device;
  if (*device_ != device) {
    problem_ = fmt::format("kernels of device {} and of device {}", *device_, device);
    return false;
  }
  if (++kernels_ > most_kernels) {
    problem_ = fmt::format("more than {} kernels", most_kernels);
    return false;
  }
  Sums* const sums = sums_of(name);
  if (sums == nullptr) return false;
  // Welford's recurrence: exact for equal times.
  ++sums->count;
  const double off = duration_s - sums->mean;
  sums->mean += off / static_cast<double>(sums->count);
  sums->squares += off * (duration_s - sums->mean);
  by_stream_[stream].push_back({begin_s, begin_s + duration_s});
  if (sums->computes) compute_s_[stream] += duration_s;
  return true;
}

bool KernelCollector::add_sum(const std::string& name, std::int64_t count, double seconds, double squared_spread) {
  Sums* const sums = sums_of(name);
  if (sums == nullptr) return false;
  const std::int64_t before = sums->count;
  sums->count += count;
  if (sums->count <= 0) return true;
  sums->mean = (sums->mean * static_cast<double>(before) + seconds) / static_cast<double>(sums->count);
  sums->squares += squared_spread;
  return true;
}

KernelTotals KernelCollector::finish() {
  if (by_name_.empty()) {
    throw InputError(InputProblem{file_, 0, 0, "", "no kernels of a GPU", "a profile of a training step on a GPU", ""});
  }
  KernelTotals totals;
  totals.file = file_;
  for (const auto& [name, sums] : by_name_) {
    totals.kernels.push_back({name, sums.count, sums.mean * static_cast<double>(sums.count), sums.squares});
  }
  const auto busiest = std::max_element(compute_s_.begin(), compute_s_.end(),
                                        [](const auto& a, const auto& b) { return a.second < b.second; });
  if (busiest == compute_s_.end()) return totals;
  std::vector<Run>& runs = by_stream_.at(busiest->first);
  std::sort(runs.begin(), runs.end(), [](const Run& a, const Run& b) {
    return std::pair{a.begin_s, a.end_s} < std::pair{b.begin_s, b.end_s};
  });
  double end_s = runs.front().end_s;
  for (std::size_t i = 1; i < runs.size(); ++i) {
    if (runs[i].begin_s >= end_s) totals.gaps_s.push_back(runs[i].begin_s - end_s);
    end_s = std::max(end_s, runs[i].end_s);
  }
  return totals;
}

}  // namespace stagecraft
