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

void merge(const JobInputs& inputs, std::vector<std::vector<RecordedOp>> ops, const ClockOffsets& clocks,
           const std::vector<double>& step_ends, double origin_s, Trace& trace) {
  for (std::size_t rank = 0; rank < ops.size(); ++rank) {
    for (RecordedOp& op : ops[rank]) {
      op.posted_s -= clocks.offset_s[rank];
      op.begin_s -= clocks.offset_s[rank];
      op.end_s -= clocks.offset_s[rank];
    }
  }
  split_transfers(inputs, ops);
  for (std::size_t rank = 0; rank < ops.size(); ++rank) {
    const auto global = static_cast<std::int32_t>(rank);
    append_spans(inputs, global, ops[rank], inputs.options.warmup, origin_s, trace);
    trace.ranks.push_back({global, coordinates_of(inputs.plan.degrees, Rank(global)).pipeline, 0, 1});
  }
  for (const double end_s : step_ends) trace.step_end_s.push_back(end_s - origin_s);
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

ExecuteResult execute(const JobInputs& inputs, Transport& transport, MemoryMeter* meter,
                      std::vector<RecordedOp>& until_failure) {
  RankExecutor executor(inputs, transport, meter);
  const Group& world = executor.groups().world;
  const at::Device device = inputs.options.device;
  ExecuteResult result;
  double origin_s = now_s();
  std::vector<double> step_ends;
  try {
    const ClockOffsets clocks = align_clocks(world, transport, device);
    for (std::int32_t step = 0; step < inputs.options.warmup; ++step) result.steps.push_back(executor.run_step());
    executor.begin_measuring();
    transport.barrier(world)->wait();
    synchronize(device);
    origin_s = now_s();
    for (std::int32_t step = 0; step < inputs.options.steps; ++step) {
      result.steps.push_back(executor.run_step());
      step_ends.push_back(now_s());
    }
    share_losses(world, transport, device, result.steps);
    const auto me = static_cast<std::size_t>(transport.rank());
    std::vector<double> ends{origin_s - clocks.offset_s[me]};
    for (const double end_s : step_ends) ends.push_back(end_s - clocks.offset_s[me]);
    const auto all_ends = gather_numbers(ends, world, transport, device);
    const auto packed = gather_numbers(pack(executor.recorder().ops()), world, transport, device);
    result.clock_skew_s = clocks.skew_s;
    if (transport.rank() != 0) return result;
    std::vector<std::vector<RecordedOp>> ops;
    for (const std::vector<double>& numbers : packed) ops.push_back(unpack(numbers));
    // A step ends when its last rank has ended it.
    std::vector<double> latest(ends.size(), -std::numeric_limits<double>::infinity());
    for (const std::vector<double>& theirs : all_ends) {
      for (std::size_t i = 0; i < theirs.size(); ++i) latest[i] = std::max(latest[i], theirs[i]);
    }
    result.trace = empty_trace(inputs, transport.name());
    result.trace.provenance.push_back({"clock_skew_s", fmt::format("{:.9f}", clocks.skew_s)});
    merge(inputs, std::move(ops), clocks, {latest.begin() + 1, latest.end()}, latest.front(), result.trace);
  } catch (const std::exception&) {
    until_failure = executor.recorder().ops();
    throw;
  }
  return result;
}

}  // namespace stagecraft
