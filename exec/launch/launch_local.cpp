// Ranks as processes of this machine, brought up by mpirun.

#include <fmt/format.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <filesystem>

#include "base/input_error.hpp"
#include "exec/launch/outputs.hpp"
#include "exec/launch/run_job.hpp"

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

std::vector<std::string> mpirun_words(std::int64_t ranks) {
  std::vector<std::string> words{"mpirun"};
  if (::geteuid() == 0) words.emplace_back("--allow-run-as-root");
  for (const char* word : {"--oversubscribe", "--bind-to", "none", "--mca", "btl", "self,vader", "--mca",
                           "odls_base_sigkill_timeout", "5", "--quiet", "-np"}) {
    words.emplace_back(word);
  }
  words.push_back(std::to_string(ranks));
  return words;
}

int run_child(const std::vector<std::string>& words) {
  std::vector<char*> arguments;
  for (const std::string& word : words) arguments.push_back(const_cast<char*>(word.c_str()));
  arguments.push_back(nullptr);
  const pid_t child = ::fork();
  if (child < 0) throw std::runtime_error("cannot start a process");
  if (child == 0) {
    ::execvp(arguments[0], arguments.data());
    ::_exit(127);
  }
  int status = 0;
  while (::waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

}  // namespace

int launch_local(const Job& job, const JobArguments& arguments, const std::vector<std::string>& words) {
  const std::int64_t ranks = world_size(job.plan.degrees);
  const TemporaryFolder folder;
  std::vector<std::string> command = mpirun_words(ranks);
  command.insert(command.end(), words.begin(), words.end());
  command.insert(command.end(), {"--report-folder", folder.path()});
  const int status = run_child(command);
  if (status == 0) return 0;
  if (status == 127) {
    throw InputError(
        InputProblem{"mpirun", 0, 0, "", "no such program", "Open MPI's mpirun on the PATH, or --in-process", ""});
  }
  std::vector<RankReport> reports;
  std::vector<std::int32_t> silent;
  std::vector<std::vector<RecordedOp>> operations;
  for (std::int32_t rank = 0; rank < ranks; ++rank) {
    const std::optional<RankReport> report = read_report(folder.path(), rank);
    if (report) {
      reports.push_back(*report);
    } else {
      silent.push_back(rank);
    }
    operations.push_back(read_operations(folder.path(), rank));
  }
  if (silent.size() == static_cast<std::size_t>(ranks))
    return status < 128 ? status : 6;  // never got to run; MPI has said why
  std::fputs(failure_message(job.schedule, reports, silent).c_str(), stderr);
  const JobInputs inputs{job.plan, job.schedule, job.graph, arguments.options};
  Trace partial = partial_trace(inputs, "mpi", std::move(operations));
  write_trace(arguments, job.scenario, partial);
  return exit_code(reports, silent);
}

}  // namespace stagecraft
