#pragma once
// The family of schedules by name: one table, so that CLI, GUI, checks and docs list the same things.

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "base/findings.hpp"
#include "schedule/schedule.hpp"
#include "schedule/stage_times.hpp"
#include "spec/run_spec.hpp"

namespace stagecraft {

struct ScheduleRequest {
  PipelineShape shape;
  StageTimes times;  // empty: F = I = W = 1 per full stage; only the automatic schedules read them
  std::optional<std::int32_t> group_size;  // interleaved schedules: micro-batches per group
  std::optional<double> memory_limit;      // zb-auto, zbv-auto: in full-stage activations
  std::int32_t waves = 1;                  // hanayo
  std::int32_t run_ahead = 0;              // 1f1b: micro-batches in flight beyond p - r
  std::int32_t flushes = 1;                // of a step; entries know nothing of them, see schedule/flushes.hpp
  /// Searched schedules: the share of an activation that stays until W runs ({x, g} of each linear layer); the rest is
  /// freed by I.
  double kept_until_weight_grad = 1;
};

/// What a scenario asks of its schedule, without times.
ScheduleRequest request_of(const ScheduleSpec& spec, const PipelineShape& shape);

/// How many chunks (virtual stages) per rank a schedule runs.
enum class ChunkRule : std::uint8_t { one, two, two_per_wave, two_or_more, any };

/// The field of a request, beside shape and times, that a schedule reads. Any other that is set is refused.
enum class ScheduleOption : std::uint8_t { none, group_size, memory_limit, waves, run_ahead };

struct FamilyEntry {
  const char* name;                      // "zb-h1"
  std::span<const char* const> aliases;  // other names for the same schedule, PyTorch's class names among them
  const char* summary;                   // one line
  const char* source;                    // paper and section, or repository
  ChunkRule chunks;
  ScheduleOption option;
  Findings (*refuse)(const ScheduleRequest&);    // reasons and nearest valid values; empty: accepted
  Schedule (*generate)(const ScheduleRequest&);  // compute only; precondition: nothing refused
  bool searched = false;                         // the order depends on the request's times
};

std::span<const FamilyEntry> schedule_family();

/// By name or alias, capitals ignored; nullptr if there is none.
const FamilyEntry* find_schedule(std::string_view name);

/// All names and aliases, for suggestions.
std::vector<std::string_view> schedule_names();

/// Chunks per rank of a request that does not name them: 1, 2, or 2 per wave.
std::int32_t usual_chunks(const FamilyEntry& entry, std::int32_t waves = 1);

}  // namespace stagecraft
