#include "schedule/refusals.hpp"

#include <fmt/format.h>

#include <cmath>

namespace stagecraft {

Finding schedule_finding(const char* code, const char* pointer, std::string message, std::string nearest) {
  return {Severity::error, code, pointer, std::move(message), std::move(nearest)};
}

namespace {

void refuse_chunks(Findings& findings, const char* name, ChunkRule rule, const ScheduleRequest& request) {
  const std::int32_t v = request.shape.chunks;
  const auto refuse = [&](std::string wanted, std::int64_t nearest) {
    findings.push_back(schedule_finding("schedule-chunks", "/parallel/virtual_stages",
                                        fmt::format("{} runs {} per rank, got {}", name, wanted, v),
                                        std::to_string(nearest)));
  };
  switch (rule) {
    case ChunkRule::one:
      if (v != 1) refuse("one stage", 1);
      return;
    case ChunkRule::two:
      if (v != 2) refuse("two chunks", 2);
      return;
    case ChunkRule::two_per_wave:
      if (request.waves < 1) {
        findings.push_back(schedule_finding("schedule-waves", "/schedule/waves",
                                            fmt::format("{} needs at least one wave, got {}", name, request.waves),
                                            "1"));
      } else if (v != std::int64_t{2} * request.waves) {
        refuse(fmt::format("two chunks per wave ({} wave{})", request.waves, request.waves == 1 ? "" : "s"),
               std::int64_t{2} * request.waves);
      }
      return;
    case ChunkRule::two_or_more:
      if (v < 2) refuse("two chunks or more", 2);
      return;
    case ChunkRule::any:
      return;
  }
}

void refuse_options(Findings& findings, const char* name, ScheduleOption option, const ScheduleRequest& request) {
  const auto refuse = [&](const char* pointer, const char* what) {
    findings.push_back(
        schedule_finding("schedule-option", pointer, fmt::format("{} has no {}", name, what), "leave it out"));
  };
  if (request.group_size && option != ScheduleOption::group_size)
    refuse("/schedule/group_size", "micro-batch groups to set");
  if (request.memory_limit && option != ScheduleOption::memory_limit)
    refuse("/schedule/memory_limit", "memory limit to set");
  if (request.waves != 1 && option != ScheduleOption::waves) refuse("/schedule/waves", "waves");
  if (request.run_ahead != 0 && option != ScheduleOption::run_ahead)
    refuse("/schedule/run_ahead", "micro-batches to run ahead");
  const std::int32_t ranks = request.shape.ranks;
  if (option == ScheduleOption::run_ahead && (request.run_ahead < 0 || request.run_ahead > ranks)) {
    findings.push_back(schedule_finding("schedule-run-ahead", "/schedule/run_ahead",
                                        fmt::format("{} on {} rank{} runs 0 to {} micro-batches ahead, got {}", name,
                                                    ranks, ranks == 1 ? "" : "s", ranks, request.run_ahead),
                                        std::to_string(request.run_ahead < 0 ? 0 : ranks)));
  }
}

}  // namespace

Findings refuse_shape(const char* name, ChunkRule chunks, ScheduleOption option, const ScheduleRequest& request) {
  const PipelineShape& shape = request.shape;
  Findings findings;
  const auto at_least_one = [&](const char* what, const char* pointer, std::int32_t value) {
    if (value >= 1) return;
    findings.push_back(schedule_finding("schedule-shape", pointer,
                                        fmt::format("a schedule needs at least one {}, got {}", what, value), "1"));
  };
  at_least_one("rank", "/parallel/pipeline", shape.ranks);
  at_least_one("micro-batch", "/batch/global", shape.micro_batches);
  at_least_one("chunk per rank", "/parallel/virtual_stages", shape.chunks);
  if (!findings.empty()) return findings;
  if (shape.ranks > most_ranks) {
    findings.push_back(schedule_finding("schedule-too-large", "/parallel/pipeline",
                                        fmt::format("at most {} ranks are scheduled, got {}", most_ranks, shape.ranks),
                                        std::to_string(most_ranks)));
    return findings;
  }
  const double passes = static_cast<double>(shape.ranks) * shape.chunks;
  const double operations = 3 * passes * shape.micro_batches;
  if (operations > most_operations) {
    const double most = std::floor(most_operations / (3 * passes));
    findings.push_back(schedule_finding(
        "schedule-too-large", "/batch/global",
        fmt::format(
            "{} ranks with {} chunks and {} micro-batches make up to {:.0f} operations; at most {:.0f} are scheduled",
            shape.ranks, shape.chunks, shape.micro_batches, operations, most_operations),
        most >= 1 ? fmt::format("{:.0f} micro-batches", most) : ""));
    return findings;
  }
  refuse_chunks(findings, name, chunks, request);
  refuse_options(findings, name, option, request);
  return findings;
}

void refuse_times(Findings& findings, const ScheduleRequest& request) {
  const std::int64_t stages = std::int64_t{request.shape.ranks} * request.shape.chunks;
  const auto check = [&](const char* what, const std::vector<double>& times) {
    if (times.size() > 1 && static_cast<std::int64_t>(times.size()) != stages) {
      findings.push_back(
          schedule_finding("schedule-times", "",
                           fmt::format("{} times given for {}, but there are {} stages", times.size(), what, stages),
                           fmt::format("one time, or {}", stages)));
    }
    for (const double time : times) {
      if (std::isfinite(time) && time >= 0) continue;
      findings.push_back(schedule_finding("schedule-times", "",
                                          fmt::format("a {} time must be zero or more, got {}", what, time), "0"));
      return;
    }
  };
  check("forward", request.times.forward);
  check("input-gradient", request.times.input_grad);
  check("weight-gradient", request.times.weight_grad);
  check("send", {request.times.send});
  check("pair", request.times.pair);
  if (!(request.kept_until_weight_grad >= 0 && request.kept_until_weight_grad <= 1)) {
    findings.push_back(
        schedule_finding("schedule-kept-share", "",
                         fmt::format("the share of an activation kept until W lies between 0 and 1, got {}",
                                     request.kept_until_weight_grad),
                         request.kept_until_weight_grad > 1 ? "1" : "0"));
  }
}

}  // namespace stagecraft
