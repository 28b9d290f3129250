#include "search/point.hpp"

#include <algorithm>
#include <array>
#include <utility>

#include "base/input_error.hpp"

namespace stagecraft {
namespace {

constexpr std::array<std::pair<PointStatus, const char*>, 4> status_words{{{PointStatus::ok, "ok"},
                                                                           {PointStatus::does_not_fit, "does_not_fit"},
                                                                           {PointStatus::infeasible, "infeasible"},
                                                                           {PointStatus::failed, "failed"}}};

constexpr std::array<PointColumn, 14> columns{{
    {"gpus", "GPUs", "GPUs that the job uses", &PointFigures::gpus, false},
    {"step_time_s", "s", "seconds of one training step", &PointFigures::step_time_s, false},
    {"tokens_per_s", "tokens/s", "tokens trained per second by the whole job", &PointFigures::tokens_per_s, true},
    {"tokens_per_s_per_gpu", "tokens/s", "the same per GPU", &PointFigures::tokens_per_s_per_gpu, true},
    {"tflops_per_gpu", "TFLOP/s", "model FLOP/s per GPU, in 1e12", &PointFigures::tflops_per_gpu, true},
    {"mfu", "fraction", "model FLOP/s utilisation", &PointFigures::mfu, true},
    {"hfu", "fraction", "hardware FLOP/s utilisation, recomputation counted", &PointFigures::hfu, true},
    {"bubble_fraction", "fraction", "share of the step in which a GPU idles for another stage",
     &PointFigures::bubble_fraction, false},
    {"peak_memory_bytes", "B", "the fullest GPU at its fullest moment", &PointFigures::peak_memory_bytes, false},
    {"memory_limit_bytes", "B", "what a process can use on the GPU", &PointFigures::memory_limit_bytes, true},
    {"goodput", "fraction", "share of the time that steps which last take, by training.failures",
     &PointFigures::goodput, true},
    {"training_time_s", "s", "seconds of the whole run, by training.tokens", &PointFigures::training_time_s, false},
    {"cost_per_million_tokens", "currency", "by training.price_per_gpu_hour", &PointFigures::cost_per_million_tokens,
     false},
    {"joules_per_token", "J", "energy, by training.power", &PointFigures::joules_per_token, false},
}};

/// Larger is better.
double merit(const Point& point, const PointColumn& objective) {
  const double value = point.figures.*objective.member;
  return objective.more_is_better ? value : -value;
}

bool dominates(const std::vector<double>& a, const std::vector<double>& b) {
  bool better = false;
  for (std::size_t i = 0; i < a.size(); ++i) {
    if (a[i] < b[i]) return false;
    better = better || a[i] > b[i];
  }
  return better;
}

}  // namespace

std::string to_text(PointStatus status) {
  for (const auto& [known, word] : status_words) {
    if (known == status) return word;
  }
  return "failed";
}

PointStatus status_of(std::string_view text) {
  for (const auto& [known, word] : status_words) {
    if (text == word) return known;
  }
  return PointStatus::failed;
}

bool has_figures(const Point& point) {
  return point.status == PointStatus::ok || point.status == PointStatus::does_not_fit;
}

std::span<const PointColumn> point_columns() {
  return columns;
}

const PointColumn* find_point_column(std::string_view key) {
  const auto found =
      std::find_if(columns.begin(), columns.end(), [&](const PointColumn& column) { return key == column.key; });
  return found == columns.end() ? nullptr : &*found;
}

std::vector<const PointColumn*> objectives_of(const std::vector<std::string>& keys) {
  std::vector<const PointColumn*> objectives;
  for (const std::string& key : keys) {
    const PointColumn* const column = find_point_column(key);
    if (column == nullptr) {
      std::vector<std::string> known;
      for (const PointColumn& each : columns) known.emplace_back(each.key);
      std::string list;
      for (const std::string& each : known) list += (list.empty() ? "" : ", ") + each;
      throw InputError(
          InputProblem{"--objective", 0, 0, "", "\"" + key + "\"", "one of " + list, nearest_word(key, known)});
    }
    if (std::find(objectives.begin(), objectives.end(), column) == objectives.end()) objectives.push_back(column);
  }
  return objectives;
}

// Sorted by falling merit a point can only be dominated by an earlier one, and then by one of the front so far.
void mark_front(std::vector<Point>& points, const std::vector<const PointColumn*>& objectives) {
  std::vector<std::pair<std::vector<double>, std::size_t>> candidates;
  for (std::size_t i = 0; i < points.size(); ++i) {
    points[i].on_front = false;
    if (points[i].status != PointStatus::ok) continue;
    std::vector<double> merits;
    for (const PointColumn* objective : objectives) merits.push_back(merit(points[i], *objective));
    candidates.emplace_back(std::move(merits), i);
  }
  std::sort(candidates.begin(), candidates.end(),
            [](const auto& a, const auto& b) { return a.first != b.first ? a.first > b.first : a.second < b.second; });
  std::vector<std::vector<double>> front;
  for (const auto& candidate : candidates) {
    const std::vector<double>& merits = candidate.first;
    const bool beaten =
        std::any_of(front.begin(), front.end(), [&](const auto& other) { return dominates(other, merits); });
    if (beaten) continue;
    points[candidate.second].on_front = true;
    if (front.empty() || front.back() != merits) front.push_back(merits);
  }
}

}  // namespace stagecraft
