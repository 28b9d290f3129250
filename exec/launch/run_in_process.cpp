#include <cstdio>
#include <thread>

#include "exec/launch/outputs.hpp"
#include "exec/launch/progress.hpp"
#include "exec/launch/run_job.hpp"
#include "exec/transport/in_process.hpp"

namespace stagecraft {

int run_in_process(const Job& job, const JobArguments& arguments) {
  const auto ranks = static_cast<std::int32_t>(world_size(job.plan.degrees));
  InProcessJob shared(ranks, {arguments.timeout_s, true});
  AllocationOwners owners;
  std::vector<RankOutcome> outcomes(static_cast<std::size_t>(ranks));
  std::vector<std::thread> threads;
  for (std::int32_t rank = 0; rank < ranks; ++rank) {
    threads.emplace_back([&, rank] {
      RankWatch watch;
      if (rank == 0) watch.after_step = progress_of(arguments);
      outcomes[static_cast<std::size_t>(rank)] = run_rank(job, arguments, shared.transport(rank), rank, owners, watch);
    });
  }
  for (std::thread& thread : threads) thread.join();

  std::vector<RankReport> reports;
  std::vector<std::vector<RecordedOp>> operations;
  for (RankOutcome& outcome : outcomes) {
    if (outcome.failure) reports.push_back(*outcome.failure);
    operations.push_back(std::move(outcome.operations));
  }
  if (reports.empty()) {
    write_results(job, arguments, "in-process", outcomes.front().result);
    return 0;
  }
  std::fputs(failure_message(job.schedule, reports, {}).c_str(), stderr);
  const JobInputs inputs{job.plan, job.schedule, job.graph, arguments.options};
  Trace partial = partial_trace(inputs, "in-process", std::move(operations));
  write_trace(arguments, job, partial);
  return exit_code(reports, {});
}

}  // namespace stagecraft
