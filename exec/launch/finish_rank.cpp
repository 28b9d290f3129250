#include "exec/launch/finish_rank.hpp"

#include <csignal>
#include <cstdio>

#include "exec/launch/outputs.hpp"
#include "exec/transport/interruption.hpp"

namespace stagecraft {

namespace {

extern "C" void on_terminate(int) {
  interrupt_waits("the launcher ended the job");
}
extern "C" void on_interrupt(int) {
  interrupt_waits("interrupted");
}

}  // namespace

int finish_rank(const Job& job, const JobArguments& arguments, const char* transport, std::int32_t rank,
                RankOutcome& outcome) {
  if (!outcome.failure) {
    if (rank == 0) write_results(job, arguments, transport, outcome.result);
    return 0;
  }
  if (!arguments.report_folder.empty()) {
    write_report(arguments.report_folder, *outcome.failure);
    write_operations(arguments.report_folder, rank, outcome.operations);
  } else if (!was_stopped(outcome.failure->kind) || interruption() != nullptr) {
    // Ranks that another one stopped repeat its reason. Those that a launcher ends may be the only ones left to speak.
    std::fputs(failure_message(job.schedule, {*outcome.failure}, {}).c_str(), stderr);
  }
  return exit_code({*outcome.failure}, {});
}

void stop_on_signals() {
  std::signal(SIGTERM, on_terminate);
  std::signal(SIGINT, on_interrupt);
}

}  // namespace stagecraft
