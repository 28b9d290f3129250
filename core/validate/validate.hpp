#pragma once
// Predictions of records held against what was measured.

#include <functional>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "validate/mapping.hpp"
#include "validate/statistics.hpp"

namespace stagecraft {

/// Predicted and measured; `error` is predicted / measured - 1, for bubbles predicted - measured.
struct Comparison {
  double predicted = 0, measured = 0, error = 0;
};

struct Interval {
  double low = 0, high = 0;
};

struct OomComparison {
  bool predicted = false, measured = false;
  bool close = false;  // predicted within 5 % of the capacity
};

/// One reading of a record, held against the same figure of the same pipeline rank.
struct MemoryComparison : Comparison {
  MemoryReading kind = MemoryReading::allocated;
  MemoryOf rank = MemoryOf::largest;
};

/// Why a figure that the record has is not compared.
struct Skipped {
  std::string quantity;  // "step_time", "memory", "oom", "bubble"; "record": all of them
  std::string reason;
};

struct Outcome {
  Record record;
  Mapping mapping;
  std::optional<Comparison> step_time, bubble;
  std::vector<MemoryComparison> memory;  // in the order of the record's readings
  std::optional<Interval> step_time_interval;
  std::optional<OomComparison> oom;
  std::vector<Skipped> skipped;
};

struct OomCounts {
  std::size_t both = 0, neither = 0;  // predicted and measured
  std::size_t only_predicted = 0, only_measured = 0;
  std::size_t close = 0;  // of all of them, those predicted close to the limit

  std::size_t all() const { return both + neither + only_predicted + only_measured; }
};

/// Mean of the shares of fitting and of failing runs that were told right, those close to the limit left out; nothing
/// if one of the two kinds is missing.
std::optional<double> balanced_accuracy(std::span<const OomComparison> outcomes);

struct BubbleErrors {
  std::size_t n = 0;
  double mean = 0, worst = 0;  // absolute
};

struct GroupResult {
  std::string name;
  std::size_t records = 0, compared = 0;  // of them with at least one comparison
  std::optional<ErrorStatistics> step_time;
  std::optional<ErrorStatistics> memory;  // over all readings
  std::map<MemoryReading, ErrorStatistics> memory_by_kind;
  OomCounts oom;
  std::optional<double> balanced_accuracy;  // of the verdicts that are not close to the limit
  std::optional<BubbleErrors> bubble;
  std::optional<double> spearman;  // the lowest of its layout sets with at least `ranked_from` records
  std::optional<double> regret;    // the largest of the same
};

/// Records that differ in their layout only.
struct LayoutSet {
  std::string group, name;
  std::vector<std::size_t> outcomes;  // indices
  std::optional<double> spearman;
  double regret = 0;
  std::size_t ties = 0;  // pairs of measurements within the margin
  std::string best, chosen;
};

struct Graph;
struct Rehearsed;

/// Step time of a run in place of the closed form's; nothing where it cannot be told.
using StepTimer = std::function<std::optional<double>(const Rehearsed& run, const Graph& graph)>;

struct Validation {
  std::vector<Outcome> outcomes;           // in the order of the records
  std::vector<GroupResult> groups;         // in the order of their first record
  std::vector<LayoutSet> sets;             // of three records or more
  std::size_t intervals = 0, covered = 0;  // step times with an interval, and those that lie in it
};

inline constexpr double tie_margin = 0.01;     // step times closer than this rank equal
inline constexpr std::size_t ranked_from = 8;  // records of a set whose ranking counts for its group

/// Outcome of one record.
Outcome predict(const Record& record, const Library& library, const StepTimer& timer = {});

/// All of them. The work is bounded: records whose schedules together exceed the bound are skipped with that reason.
Validation validate(const std::vector<Record>& records, const Library& library, const StepTimer& timer = {});

}  // namespace stagecraft
