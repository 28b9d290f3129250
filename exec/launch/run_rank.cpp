#include "exec/launch/run_rank.hpp"

#include <sched.h>

#include "exec/model/out_of_memory.hpp"
#include "exec/profile/profile.hpp"
#include "exec/profile/profiler.hpp"
#include "memory/timeline.hpp"

namespace stagecraft {

namespace {

/// A stream of its own for each rank that shares a GPU, as the current stream of this thread.
class RankStream {
 public:
  explicit RankStream(at::Device device) {
    if (!device.is_cpu()) guard_.emplace(c10::impl::VirtualGuardImpl(device.type()).getStreamFromGlobalPool(device));
  }

 private:
  std::optional<c10::StreamGuard> guard_;
};

RankReport unexpected(const std::exception& error, std::int32_t rank, Bytes peak) {
  RankReport report;
  report.place.rank = rank;
  report.message = "rank " + std::to_string(rank) + ", before the first operation: ";
  if (is_out_of_memory(error)) {
    report.message +=
        "out of memory: " + wanted_memory(error) + "; the rank was predicted to need " + to_text(peak) + " at its peak";
  } else {
    report.message += reason_of(error);
  }
  report.kind = kind_of(error);
  return report;
}

}  // namespace

bool pin_to_core(std::int32_t n) {
  cpu_set_t allowed;
  CPU_ZERO(&allowed);
  if (sched_getaffinity(0, sizeof(allowed), &allowed) != 0) return false;
  for (std::size_t core = 0; core < CPU_SETSIZE; ++core) {
    if (!CPU_ISSET(core, &allowed) || n-- > 0) continue;
    cpu_set_t one;
    CPU_ZERO(&one);
    CPU_SET(core, &one);
    return sched_setaffinity(0, sizeof(one), &one) == 0;
  }
  return false;
}

RankOutcome run_rank(const Job& job, const JobArguments& arguments, Transport& transport, std::int32_t local_rank,
                     AllocationOwners& owners, const RankWatch& watch) {
  RankOutcome outcome;
  at::set_num_threads(1);
  if (arguments.pin) pin_to_core(local_rank);
  const c10::InferenceMode no_graph;
  const RankStream stream(arguments.options.device);
  std::optional<Profiler> profiler;
  MemoryMeter& meter = owners.new_meter();
  const MemoryListening listening(meter, owners, arguments.options.device.type());
  const JobInputs inputs{job.plan, job.schedule, job.graph, arguments.options};
  try {
    const auto silently = [](const auto& work) {
      const MemorySilence silence;
      work();
    };
    RankHooks hooks{&meter, watch.whereabouts, {}, watch.after_step};
    if (!arguments.profile.empty()) {
      silently([&] {
        profiler.emplace(job, arguments.options, transport);
        for (int i = 0; i < 2; ++i) profiler->repeat();
      });
      // Twice, so that a dozen steps give two dozen repetitions of everything, and four of a forward.
      hooks.between = [&] { silently([&] { profiler->repeat(), profiler->repeat(); }); };
    }
    outcome.result = execute(inputs, transport, hooks, outcome.operations);
    if (profiler) {
      const Profile profile = profiler->result();
      if (transport.rank() == 0) save_profile(job, arguments.options.device, arguments.profile, profile);
    }
  } catch (const RankFailure& failure) {
    outcome.failure = report_of(failure);
  } catch (const std::exception& error) {
    const Coordinates at = coordinates_of(job.plan.degrees, Rank(transport.rank()));
    const std::vector<MemoryPeak> peaks = memory_peaks(job.plan, job.schedule);
    outcome.failure = unexpected(error, transport.rank(), peaks[static_cast<std::size_t>(at.pipeline)].peak);
    const bool timed_out = outcome.failure->kind == FailureKind::timed_out;
    if (!was_stopped(outcome.failure->kind))
      transport.abort(outcome.failure->message, timed_out ? StopCause::timed_out : StopCause::failed);
  }
  return outcome;
}

}  // namespace stagecraft
