#include "exec/run/execute.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <limits>

#include "exec/run/gather.hpp"
#include "exec/run/transfers.hpp"

namespace stagecraft {

namespace {

constexpr std::int32_t most_steps = 255;  // of a trace

Trace empty_trace(const JobInputs& inputs, const char* transport) {
  Trace trace;
  trace.producer = "stagecraft execute";
  trace.kind = "measured";
  trace.steps = inputs.options.steps;
  trace.labels = {""};
  trace.provenance = {{"transport", transport},
                      {"device", inputs.options.device.is_cpu() ? "cpu" : "cuda"},
                      {"ranks", std::to_string(world_size(inputs.plan.degrees))},
                      {"schedule", inputs.schedule.name}};
  return trace;
}

/// Losses are known where the last stage lies; everybody gets them.
void share_losses(const Group& world, Transport& transport, at::Device device, std::vector<StepResult>& steps) {
  std::vector<double> mine;
  for (const StepResult& step : steps)
    mine.push_back(step.loss ? *step.loss : std::numeric_limits<double>::quiet_NaN());
  const bool have = !steps.empty() && steps.front().loss.has_value();
  for (const std::vector<double>& theirs :
       gather_numbers(have ? mine : std::vector<double>{}, world, transport, device)) {
    for (std::size_t i = 0; i < theirs.size() && !have; ++i) steps[i].loss = theirs[i];
  }
}

/// When the steps began and ended, each by its last rank, on rank 0's clock. A step that nothing stands before begins
/// where the one before ended.
struct StepTimes {
  std::vector<double> begin_s, end_s;
};

StepTimes latest_of(const std::vector<std::vector<double>>& of_ranks) {
  const std::size_t steps = of_ranks.front().size() / 2;
  const double never = -std::numeric_limits<double>::infinity();
  StepTimes times{std::vector<double>(steps, never), std::vector<double>(steps, never)};
  for (const std::vector<double>& theirs : of_ranks) {
    for (std::size_t i = 0; i < steps; ++i) {
      times.begin_s[i] = std::max(times.begin_s[i], theirs[2 * i]);
      times.end_s[i] = std::max(times.end_s[i], theirs[2 * i + 1]);
    }
  }
  return times;
}

/// What is to be taken off the times of every step, so that the first begins at 0 and nothing lies between them.
std::vector<double> cut_before(const StepTimes& steps, bool pauses) {
  std::vector<double> cut{steps.begin_s.front()};
  for (std::size_t i = 1; i < steps.begin_s.size(); ++i)
    cut.push_back(cut.back() + (pauses ? std::max(steps.begin_s[i] - steps.end_s[i - 1], 0.0) : 0));
  return cut;
}

void merge(const JobInputs& inputs, std::vector<std::vector<RecordedOp>> ops, const ClockOffsets& clocks,
           const StepTimes& steps, bool pauses, Trace& trace) {
  const std::vector<double> cut = cut_before(steps, pauses);
  for (std::size_t rank = 0; rank < ops.size(); ++rank) {
    for (RecordedOp& op : ops[rank]) {
      const auto step = static_cast<std::size_t>(op.step - inputs.options.warmup);
      // Ranks leave the barrier before a step one after the other.
      const double least_s = step == 0 || pauses ? steps.begin_s[step] : 0;
      for (double* const time_s : {&op.posted_s, &op.begin_s, &op.end_s})
        *time_s = std::max(*time_s - clocks.offset_s[rank], least_s) - cut[step];
    }
  }
  split_transfers(inputs, ops);
  for (std::size_t rank = 0; rank < ops.size(); ++rank) {
    const auto global = static_cast<std::int32_t>(rank);
    append_spans(inputs, global, ops[rank], inputs.options.warmup, 0, trace);
    trace.ranks.push_back({global, coordinates_of(inputs.plan.degrees, Rank(global)).pipeline, 0, 1});
  }
  for (std::size_t i = 0; i < steps.end_s.size(); ++i) trace.step_end_s.push_back(steps.end_s[i] - cut[i]);
  trace.end_s = trace.step_end_s.empty() ? 0 : trace.step_end_s.back();
  connect_spans(inputs, trace);
}

}  // namespace

Trace partial_trace(const JobInputs& inputs, const char* transport, std::vector<std::vector<RecordedOp>> ops) {
  Trace trace = empty_trace(inputs, transport);
  trace.provenance.push_back({"ended", "early"});
  std::int32_t last_step = 0;
  for (const std::vector<RecordedOp>& theirs : ops) {
    for (const RecordedOp& op : theirs) last_step = std::max(last_step, op.step);
  }
  const std::int32_t first_step = std::max(last_step - (most_steps - 1), 0);
  double origin_s = std::numeric_limits<double>::infinity();
  for (const std::vector<RecordedOp>& theirs : ops) {
    for (const RecordedOp& op : theirs) {
      if (op.step >= first_step) origin_s = std::min(origin_s, op.begin_s);
    }
  }
  split_transfers(inputs, ops);
  for (std::size_t rank = 0; rank < ops.size(); ++rank) {
    const auto global = static_cast<std::int32_t>(rank);
    append_spans(inputs, global, ops[rank], first_step, origin_s, trace);
    trace.ranks.push_back({global, coordinates_of(inputs.plan.degrees, Rank(global)).pipeline, 0, 1});
  }
  trace.steps = last_step - first_step + 1;
  trace.step_end_s.assign(static_cast<std::size_t>(trace.steps), 0);
  for (const Span& span : trace.spans) trace.step_end_s[span.step] = std::max(trace.step_end_s[span.step], span.end_s);
  for (double& end_s : trace.step_end_s) end_s = trace.end_s = std::max(trace.end_s, end_s);
  connect_spans(inputs, trace);
  return trace;
}

ExecuteResult execute(const JobInputs& inputs, Transport& transport, const RankHooks& hooks,
                      std::vector<RecordedOp>& until_failure) {
  RankExecutor executor(inputs, transport, hooks.meter);
  if (hooks.whereabouts != nullptr) executor.stand_in(*hooks.whereabouts);
  const Group& world = executor.groups().world;
  const at::Device device = inputs.options.device;
  ExecuteResult result;
  const auto run_step = [&] {
    result.steps.push_back(executor.run_step());
    if (hooks.after_step) hooks.after_step(static_cast<std::int32_t>(result.steps.size()));
  };
  try {
    ClockOffsets clocks;
    executor.between_steps([&] { clocks = align_clocks(world, transport, device); });
    for (std::int32_t step = 0; step < inputs.options.warmup; ++step) run_step();
    executor.between_steps([&] { executor.begin_measuring(); });
    const double offset_s = clocks.offset_s[static_cast<std::size_t>(transport.rank())];
    std::vector<double> begins_and_ends;
    for (std::int32_t step = 0; step < inputs.options.steps; ++step) {
      executor.between_steps([&] {
        if (hooks.between) {
          executor.settle();
          hooks.between();
        }
        if (hooks.between || step == 0) {
          transport.barrier(world)->wait();
          synchronize(device);
        }
      });
      begins_and_ends.push_back(now_s() - offset_s);
      run_step();
      begins_and_ends.push_back(now_s() - offset_s);
    }
    executor.between_steps([&] {
      share_losses(world, transport, device, result.steps);
      const auto all_times = gather_numbers(begins_and_ends, world, transport, device);
      const auto packed = gather_numbers(pack(executor.recorder().ops()), world, transport, device);
      result.clock_skew_s = clocks.skew_s;
      if (transport.rank() != 0) return;
      std::vector<std::vector<RecordedOp>> ops;
      for (const std::vector<double>& numbers : packed) ops.push_back(unpack(numbers));
      result.trace = empty_trace(inputs, transport.name());
      result.trace.provenance.push_back({"clock_skew_s", fmt::format("{:.9f}", clocks.skew_s)});
      merge(inputs, std::move(ops), clocks, latest_of(all_times), static_cast<bool>(hooks.between), result.trace);
    });
  } catch (const std::exception&) {
    until_failure = executor.recorder().ops();
    throw;
  }
  return result;
}

}  // namespace stagecraft
