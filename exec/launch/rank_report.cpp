#include "exec/launch/rank_report.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <fstream>
#include <sstream>

#include "base/file_io.hpp"
#include "exec/run/gather.hpp"

namespace stagecraft {

namespace {

std::string path_of(const std::string& folder, std::int32_t rank, const char* ending) {
  return fmt::format("{}/rank-{}.{}", folder, rank, ending);
}

std::string one_line(std::string text) {
  std::replace(text.begin(), text.end(), '\n', ' ');
  return text;
}

/// The cause first: a rank that failed, then one that timed out, then those that were stopped; by rank within.
bool comes_first(const RankReport& a, const RankReport& b) {
  return std::pair(a.kind, a.place.rank) < std::pair(b.kind, b.place.rank);
}

}  // namespace

RankReport report_of(const RankFailure& failure) {
  return {failure.kind(), failure.place(), failure.what()};
}

void write_report(const std::string& folder, const RankReport& report) noexcept {
  try {
    const FailurePlace& place = report.place;
    std::string text = fmt::format("{} {} {} {} {}\n{}\n", static_cast<int>(report.kind), place.rank, place.step,
                                   place.pipeline.value, place.position, one_line(report.message));
    for (const std::string& transfer : place.pending) text += one_line(transfer) + "\n";
    write_file_whole(path_of(folder, place.rank, "failure"), text);
  } catch (...) {
  }
}

std::optional<RankReport> read_report(const std::string& folder, std::int32_t rank) {
  std::ifstream file(path_of(folder, rank, "failure"));
  RankReport report;
  int kind = 0;
  std::string line;
  if (!(file >> kind >> report.place.rank >> report.place.step >> report.place.pipeline.value >> report.place.position))
    return {};
  report.kind = static_cast<FailureKind>(std::clamp(kind, 0, 2));
  std::getline(file, line);
  std::getline(file, report.message);
  while (std::getline(file, line)) report.place.pending.push_back(line);
  return report;
}

void write_operations(const std::string& folder, std::int32_t rank, const std::vector<RecordedOp>& ops) noexcept {
  try {
    const std::vector<double> numbers = pack(ops);
    std::string bytes(numbers.size() * sizeof(double), '\0');
    std::memcpy(bytes.data(), numbers.data(), bytes.size());
    write_file_whole(path_of(folder, rank, "ops"), bytes);
  } catch (...) {
  }
}

std::vector<RecordedOp> read_operations(const std::string& folder, std::int32_t rank) {
  const std::string path = path_of(folder, rank, "ops");
  if (!file_exists(path)) return {};
  const std::string bytes = read_file(path);
  std::vector<double> numbers(bytes.size() / sizeof(double));
  std::memcpy(numbers.data(), bytes.data(), numbers.size() * sizeof(double));
  return unpack(numbers);
}

std::string failure_message(const Schedule& schedule, std::vector<RankReport> reports,
                            const std::vector<std::int32_t>& silent) {
  std::sort(reports.begin(), reports.end(), comes_first);
  std::string text;
  for (const std::int32_t rank : silent)
    text += fmt::format("rank {} ended without a report: it was killed or crashed\n", rank);
  std::vector<FailurePlace> places;
  for (const RankReport& report : reports) places.push_back(report.place);
  if (!reports.empty() && (silent.empty() || reports.front().kind != FailureKind::stopped))
    text += reports.front().message + "\n";
  if (!places.empty()) text += failure_table(schedule, places);
  return text;
}

int exit_code(const std::vector<RankReport>& reports, const std::vector<std::int32_t>& silent) {
  const bool failed = std::any_of(reports.begin(), reports.end(),
                                  [](const RankReport& report) { return report.kind == FailureKind::rank_failed; });
  const bool timed_out = std::any_of(reports.begin(), reports.end(),
                                     [](const RankReport& report) { return report.kind == FailureKind::timed_out; });
  if (failed) return 6;
  if (timed_out) return 7;  // a stalled rank was then killed without a report
  return silent.empty() ? 7 : 6;
}

}  // namespace stagecraft
