#pragma once
// How a rank reports that it could not go on: the schedule's table with an arrow at its cell, and the transfers that
// are still pending.

#include <span>
#include <stdexcept>
#include <string>
#include <vector>

#include "schedule/schedule.hpp"

namespace stagecraft {

enum class FailureKind : std::uint8_t {
  rank_failed,  // an exception in an operation (exit code 6)
  timed_out,    // nothing arrived within the timeout (exit code 7)
  // Another rank, or the launcher, ended the job; its reason is in the message.
  stopped_by_failure,
  stopped_by_timeout,
};

/// Whether the rank itself was well.
bool was_stopped(FailureKind kind);
/// What an exception in a rank is to the job.
FailureKind kind_of(const std::exception& error);

struct FailurePlace {
  std::int32_t rank = 0, step = 0;
  PipelineRank pipeline;
  std::uint32_t position = 0;        // of the operation in its program; their number: after the last one
  std::vector<std::string> pending;  // "0RECV_F3 from rank 1 (waited for)", oldest first
};

class RankFailure : public std::runtime_error {
 public:
  RankFailure(FailureKind kind, FailurePlace place, const std::string& message)
      : std::runtime_error(message), kind_(kind), place_(std::move(place)) {}
  FailureKind kind() const { return kind_; }
  const FailurePlace& place() const { return place_; }

 private:
  FailureKind kind_;
  FailurePlace place_;
};

/// One line: "rank 2 (pipeline rank 1), step 0, operation 1B3 (17 of 40): REASON", or "..., step 0, after its last
/// operation: REASON".
std::string failure_line(const Schedule& schedule, const FailurePlace& place, const std::string& reason);

/// The programs of all pipeline ranks, each around its own cell with an arrow where a place is known (else around the
/// same part of its program), then the pending transfers of each place.
std::string failure_table(const Schedule& schedule, std::span<const FailurePlace> places);

}  // namespace stagecraft
