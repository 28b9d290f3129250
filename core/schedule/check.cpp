#include "schedule/check.hpp"

#include <fmt/format.h>

#include "schedule/check_parts.hpp"

namespace stagecraft {

namespace {

constexpr std::int64_t findings_per_code = 10;
constexpr std::int64_t most_counted = 1000;

}  // namespace

void FindingList::add(const char* code, std::int64_t rank, std::int64_t position, std::string message,
                      std::string nearest) {
  Count* count = nullptr;
  for (auto& known : counts_) {
    if (known.code == code) count = &known;
  }
  if (count == nullptr) count = &counts_.emplace_back(Count{code, 0});
  if (++count->findings >= most_counted) enough_ = true;
  if (count->findings > findings_per_code) return;
  std::string pointer = "/programs";
  if (rank >= 0) pointer += fmt::format("/{}", rank);
  if (rank >= 0 && position >= 0) pointer += fmt::format("/{}", position);
  findings_.push_back({Severity::error, code, std::move(pointer), std::move(message), std::move(nearest)});
}

Findings FindingList::take() {
  for (const Count& count : counts_) {
    if (count.findings <= findings_per_code) continue;
    findings_.push_back(
        {Severity::error, count.code, "/programs",
         fmt::format("{}{} more findings of this kind", count.findings >= most_counted ? "at least " : "",
                     count.findings - findings_per_code),
         ""});
  }
  return std::move(findings_);
}

Findings check_schedule(const Schedule& schedule) {
  FindingList findings;
  check_structure(schedule, findings);
  if (findings.any()) return findings.take();
  check_completeness(schedule, findings);
  if (schedule.lowered) check_messages(schedule, findings);
  check_reductions(schedule, findings);
  check_sharding(schedule, findings);
  check_copies(schedule, findings);
  if (!findings.any()) check_progress(schedule, findings);
  return findings.take();
}

}  // namespace stagecraft
