#include "validate/bubble.hpp"

#include <algorithm>

#include "base/input_error.hpp"
#include "schedule/analyse.hpp"
#include "schedule/family.hpp"
#include "schedule/flushes.hpp"

namespace stagecraft {
namespace {

StageTimes stage_times(const RecordMeasured& measured, std::size_t stages) {
  StageTimes times;
  if (measured.stage_forward_s.size() == stages && measured.stage_backward_s.size() == stages) {
    times.forward = measured.stage_forward_s;
    for (const double backward : measured.stage_backward_s) {
      times.input_grad.push_back(backward / 2);
      times.weight_grad.push_back(backward / 2);
    }
    return times;
  }
  return stage_times_of(*measured.profile);
}

}  // namespace

StageTimes stage_times_of(const RecordProfile& profile) {
  StageTimes times;
  times.forward = {profile.forward_s};
  times.input_grad = {profile.input_grad_s};
  times.weight_grad = {profile.weight_grad_s};
  times.send = profile.send_s;
  return times;
}

double kept_until_weight_grad(const RecordModel& model) {
  if (!model.hidden || !model.heads || !model.sequence) return 1;
  const auto h = static_cast<double>(*model.hidden);
  const double scores = 5.0 * static_cast<double>(*model.heads) * static_cast<double>(*model.sequence);
  return 32 * h / (34 * h + scores);
}

std::optional<double> bubble_from_stage_times(const Record& record, const ParallelSpec& parallel,
                                              const ScheduleSpec& schedule, std::int64_t micro_batches) {
  const RecordMeasured& measured = record.measured;
  const auto stages = static_cast<std::size_t>(parallel.pipeline * parallel.virtual_stages);
  const bool per_stage = measured.stage_forward_s.size() == stages && measured.stage_backward_s.size() == stages;
  if (!per_stage && !measured.profile) return std::nullopt;
  ScheduleRequest request =
      request_of(schedule, {static_cast<std::int32_t>(parallel.pipeline), static_cast<std::int32_t>(micro_batches),
                            static_cast<std::int32_t>(parallel.virtual_stages)});
  request.times = stage_times(measured, stages);
  request.kept_until_weight_grad = kept_until_weight_grad(record.model);
  const FamilyEntry* entry = find_schedule(schedule.name);
  const Findings refused = refuse_with_flushes(*entry, request);
  if (has_errors(refused))
    throw InputError(InputProblem{record.id, 0, 0, "/schedule", schedule.name, to_text(refused.front()), ""});
  const Analysis analysis = analyse(generate_with_flushes(*entry, request), request.times);
  double busy = 0;
  for (const RankAnalysis& rank : analysis.ranks) busy += rank.busy;
  busy /= static_cast<double>(std::max<std::size_t>(analysis.ranks.size(), 1));
  const bool zero_bubble = std::string_view(schedule.name).starts_with("zb");
  const double step = zero_bubble ? analysis.span : analysis.makespan;
  return step > 0 ? std::optional<double>(1 - busy / step) : std::nullopt;
}

}  // namespace stagecraft
