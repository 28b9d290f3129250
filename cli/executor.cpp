#include "executor.hpp"

#include <fmt/format.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <filesystem>

#include "base/file_io.hpp"
#include "base/refusal.hpp"
#include "calibration_files.hpp"
#include "command_line.hpp"
#include "cost/cost_model.hpp"
#include "estimate/balance.hpp"
#include "estimate/compute_schedule.hpp"
#include "find_program.hpp"
#include "plan/plan.hpp"
#include "schedule/check.hpp"
#include "schedule/lower.hpp"

namespace stagecraft::cli {
namespace {

namespace fs = std::filesystem;

constexpr const char* program_name = "stagecraft-exec";

/// Signals as a program expects them: this one's own threads have them blocked.
class SpawnSettings {
 public:
  SpawnSettings() {
    posix_spawnattr_init(&attributes_);
    sigset_t none, all;
    sigemptyset(&none);
    sigemptyset(&all);
    for (const int signal : {SIGINT, SIGTERM, SIGPIPE}) sigaddset(&all, signal);
    posix_spawnattr_setsigmask(&attributes_, &none);
    posix_spawnattr_setsigdefault(&attributes_, &all);
    posix_spawnattr_setflags(&attributes_, POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF);
  }
  ~SpawnSettings() { posix_spawnattr_destroy(&attributes_); }
  SpawnSettings(const SpawnSettings&) = delete;
  SpawnSettings& operator=(const SpawnSettings&) = delete;
  const posix_spawnattr_t* get() const { return &attributes_; }

 private:
  posix_spawnattr_t attributes_;
};

}  // namespace

Prepared prepare_schedule(const std::string& file, const std::vector<std::string>& overrides, const Console& console) {
  const Library library = default_library(console.executable);
  Prepared prepared;
  prepared.scenario = load_scenario(file, overrides, library);
  prepared.notes = check_feasible(prepared.scenario);
  refuse_errors(file, prepared.notes);
  prepared.files = prepared.scenario.files;
  for (const std::string& one : calibration_files(prepared.scenario, library)) prepared.files.push_back(one);
  const Topology topology = build_topology(prepared.scenario.cluster);
  const Calibration calibration = calibration_of(prepared.scenario, library);
  prepared.overrides = overrides;
  const PartitionRule rule = prepared.scenario.run.partition.rule;
  balance_partition(prepared.scenario, topology, calibration);
  if (prepared.scenario.run.partition.rule != rule) {
    prepared.overrides.push_back(
        fmt::format("parallel.partition=[{}]", fmt::join(prepared.scenario.run.partition.blocks_per_stage, ",")));
  }
  const Plan plan = make_plan(prepared.scenario);
  const CostModel costs = make_cost_model(plan, topology, calibration);
  prepared.schedule = lower(compute_schedule(prepared.scenario, plan, costs, topology, prepared.notes), plan);
  refuse_errors(file, check_schedule(prepared.schedule));
  return prepared;
}

std::string executor_program() {
  const std::string program = find_program(program_name);
  if (!program.empty()) return program;
  throw UsageError(
      fmt::format("{} is neither beside stagecraft nor on the PATH: it is built where LibTorch is found "
                  "(tools/fetch_torch, then cmake -DSTAGECRAFT_EXEC=ON)",
                  program_name));
}

int run_program(const std::vector<std::string>& words, Interrupt& interrupt) {
  std::vector<char*> arguments;
  for (const std::string& word : words) arguments.push_back(const_cast<char*>(word.c_str()));
  arguments.push_back(nullptr);
  const SpawnSettings settings;
  pid_t child = 0;
  const int failure = ::posix_spawnp(&child, arguments[0], nullptr, settings.get(), arguments.data(), environ);
  if (failure != 0) throw std::runtime_error(fmt::format("cannot start {}: {}", words.front(), std::strerror(failure)));
  interrupt.takes_along(child);
  int status = 0;
  while (::waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  interrupt.takes_along(0);
  return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

TemporaryFile::TemporaryFile(const std::string& text) {
  std::string pattern = (fs::temp_directory_path() / "stagecraft-XXXXXX").string();
  const int file = ::mkstemp(pattern.data());
  if (file < 0) throw std::runtime_error(fmt::format("cannot write {}: {}", pattern, std::strerror(errno)));
  ::close(file);
  path_ = pattern;
  write_file_whole(path_, text);
}

TemporaryFile::~TemporaryFile() {
  std::error_code ignored;
  fs::remove(path_, ignored);
}

}  // namespace stagecraft::cli
