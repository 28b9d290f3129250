#pragma once
// What a rank leaves behind when it can't go on, in memory or as a file for the process that launched it.

#include <optional>
#include <string>
#include <vector>

#include "exec/launch/job.hpp"
#include "exec/run/execute.hpp"
#include "exec/run/whereabouts.hpp"

namespace stagecraft {

struct RankReport {
  FailureKind kind = FailureKind::rank_failed;
  FailurePlace place;
  std::string message;
};

RankReport report_of(const RankFailure& failure);

/// FOLDER/rank-N.failure. Never throws: a rank that fails has nobody to tell about a full disk.
void write_report(const std::string& folder, const RankReport& report) noexcept;
std::optional<RankReport> read_report(const std::string& folder, std::int32_t rank);

/// FOLDER/rank-N.ops: operations recorded so far.
void write_operations(const std::string& folder, std::int32_t rank, const std::vector<RecordedOp>& ops) noexcept;
std::vector<RecordedOp> read_operations(const std::string& folder, std::int32_t rank);

/// FOLDER/rank-N.place, mapped into memory: where rank N stands stays known when it is killed.
class SharedWhereabouts {
 public:
  /// Throws std::runtime_error if the file can't be made.
  SharedWhereabouts(const std::string& folder, std::int32_t rank);
  ~SharedWhereabouts();
  SharedWhereabouts(const SharedWhereabouts&) = delete;
  SharedWhereabouts& operator=(const SharedWhereabouts&) = delete;
  Whereabouts& get() { return *place_; }

 private:
  Whereabouts* place_;
};

/// A rank that ended without a report; `place` is where it stood, unless it had not begun its first operation.
struct SilentRank {
  std::int32_t rank = 0;
  std::optional<FailurePlace> place;
};

SilentRank silent_rank(const Plan& plan, const std::string& folder, std::int32_t rank);

/// One message for the job: the first cause, the schedule's table with an arrow at every rank's cell, pending
/// transfers.
std::string failure_message(const Schedule& schedule, std::vector<RankReport> reports,
                            const std::vector<SilentRank>& silent);

/// 6 if a rank failed, 7 if the job timed out.
int exit_code(const std::vector<RankReport>& reports, const std::vector<SilentRank>& silent);

}  // namespace stagecraft
