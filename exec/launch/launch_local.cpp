// Ranks as processes of this machine, brought up by mpirun.

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <filesystem>

#include "exec/launch/outputs.hpp"
#include "exec/launch/run_job.hpp"
#include "exec/launch/under_mpirun.hpp"

namespace stagecraft {

namespace {

/// A fresh folder that is removed with everything in it.
class TemporaryFolder {
 public:
  TemporaryFolder() {
    std::string pattern = (std::filesystem::temp_directory_path() / "stagecraft-XXXXXX").string();
    if (::mkdtemp(pattern.data()) == nullptr) throw std::runtime_error("cannot make a temporary folder: " + pattern);
    path_ = pattern;
  }
  ~TemporaryFolder() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;
  const std::string& path() const { return path_; }

 private:
  std::string path_;
};

}  // namespace

int launch_local(const Job& job, const JobArguments& arguments, const std::vector<std::string>& words) {
  const std::int64_t ranks = world_size(job.plan.degrees);
  const TemporaryFolder folder;
  std::vector<std::string> command = words;
  command.insert(command.end(), {"--report-folder", folder.path()});
  if (::isatty(STDERR_FILENO) == 1) command.emplace_back("--on-terminal");
  const int status = run_under_mpirun(ranks, command);
  if (status == 0) return 0;
  std::vector<RankReport> reports;
  std::vector<SilentRank> silent;
  std::vector<std::vector<RecordedOp>> operations;
  for (std::int32_t rank = 0; rank < ranks; ++rank) {
    const std::optional<RankReport> report = read_report(folder.path(), rank);
    if (report) {
      reports.push_back(*report);
    } else {
      silent.push_back(silent_rank(job.plan, folder.path(), rank));
    }
    operations.push_back(read_operations(folder.path(), rank));
  }
  const bool any_began = std::any_of(silent.begin(), silent.end(), [](const SilentRank& one) { return one.place; });
  if (silent.size() == static_cast<std::size_t>(ranks) && !any_began && status < 128) {
    // Bad input was refused by every rank, in words of its own.
    if (status != 3) std::fprintf(stderr, "mpirun ended with status %d before any rank had begun\n", status);
    return status;
  }
  std::fputs(failure_message(job.schedule, reports, silent).c_str(), stderr);
  const JobInputs inputs{job.plan, job.schedule, job.graph, arguments.options};
  Trace partial = partial_trace(inputs, "mpi", std::move(operations));
  write_trace(arguments, job, partial);
  // mpirun tells what ended first: a process that a signal took, or one that gave up waiting for a stalled one.
  return status > 128 && !silent.empty() ? 6 : exit_code(reports, silent);
}

}  // namespace stagecraft
