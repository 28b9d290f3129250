#include "exec/launch/rank_report.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <fstream>
#include <new>
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

static_assert(std::is_trivially_destructible_v<Whereabouts> && std::atomic<std::uint64_t>::is_always_lock_free);

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
  report.kind = static_cast<FailureKind>(std::clamp(kind, 0, static_cast<int>(FailureKind::stopped_by_timeout)));
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

SharedWhereabouts::SharedWhereabouts(const std::string& folder, std::int32_t rank) {
  const std::string path = path_of(folder, rank, "place");
  const int file = ::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600);
  void* memory = MAP_FAILED;
  if (file >= 0 && ::ftruncate(file, sizeof(Whereabouts)) == 0)
    memory = ::mmap(nullptr, sizeof(Whereabouts), PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
  if (file >= 0) ::close(file);
  if (memory == MAP_FAILED) throw std::runtime_error("cannot write " + path + ": " + std::strerror(errno));
  place_ = new (memory) Whereabouts;
}

SharedWhereabouts::~SharedWhereabouts() {
  ::munmap(place_, sizeof(Whereabouts));
}

SilentRank silent_rank(const Plan& plan, const std::string& folder, std::int32_t rank) {
  SilentRank silent{rank, {}};
  std::ifstream file(path_of(folder, rank, "place"), std::ios::binary);
  Whereabouts stood;
  if (!file.read(reinterpret_cast<char*>(&stood), sizeof(stood)) || !stood.known()) return silent;
  FailurePlace& place = silent.place.emplace();
  place.rank = rank;
  place.step = stood.step();
  place.pipeline = PipelineRank(coordinates_of(plan.degrees, Rank(rank)).pipeline);
  place.position = stood.position();
  return silent;
}

std::string failure_message(const Schedule& schedule, std::vector<RankReport> reports,
                            const std::vector<SilentRank>& silent) {
  std::sort(reports.begin(), reports.end(), comes_first);
  std::string text;
  std::vector<FailurePlace> places;
  for (const SilentRank& one : silent) {
    constexpr const char* reason = "ended without a report: it was killed or crashed";
    text += (one.place ? failure_line(schedule, *one.place, reason)
                       : fmt::format("rank {}, before its first operation: {}", one.rank, reason)) +
            "\n";
    if (one.place) places.push_back(*one.place);
  }
  for (const RankReport& report : reports) places.push_back(report.place);
  if (!reports.empty() && (silent.empty() || !was_stopped(reports.front().kind)))
    text += reports.front().message + "\n";
  if (!places.empty()) text += failure_table(schedule, places);
  return text;
}

int exit_code(const std::vector<RankReport>& reports, const std::vector<SilentRank>& silent) {
  const auto any = [&](FailureKind kind) {
    return std::any_of(reports.begin(), reports.end(), [&](const RankReport& report) { return report.kind == kind; });
  };
  if (any(FailureKind::rank_failed)) return 6;
  if (any(FailureKind::timed_out)) return 7;  // a stalled rank was then killed without a report
  // Ranks that were only stopped say what stopped them: a launcher may see one of them end first.
  return silent.empty() && !any(FailureKind::stopped_by_failure) ? 7 : 6;
}

}  // namespace stagecraft
