#pragma once
// Reasons why a schedule cannot be built for a shape, each with the nearest valid value.

#include <string>

#include "base/findings.hpp"
#include "schedule/family.hpp"

namespace stagecraft {

/// More than this is refused, so that no request takes unbounded memory (32 bytes per operation) or time.
inline constexpr double most_operations = 16.0 * 1024 * 1024;
inline constexpr std::int32_t most_ranks = 4096;
inline constexpr double most_slots = 4.0 * 1024 * 1024;  // of the tables behind v-half, v-min and 1f1b-v

/// p, m and v at least 1, at most `most_operations` operations, the chunk count that `chunks` asks for, and no option
/// set but `option`.
Findings refuse_shape(const char* name, ChunkRule chunks, ScheduleOption option, const ScheduleRequest& request);

/// Times that are negative, not finite, or neither one nor one per stage.
void refuse_times(Findings& findings, const ScheduleRequest& request);

Finding schedule_finding(const char* code, const char* pointer, std::string message, std::string nearest);

/// Group sizes that Megatron-LM refuses (schedules.py: p <= g <= m, a last group of p or more), or none that fits.
Findings refuse_interleaved_1f1b(const ScheduleRequest& request);

/// Micro-batches that do not split into max(1, m div p) equal groups.
Findings refuse_interleaved_zb(const ScheduleRequest& request);

/// v-half, v-min and 1f1b-v: tables of p ranks times 6(m+2p) slots that are too large.
Findings refuse_v_shaped(const char* name, const ScheduleRequest& request);

/// Counts that the rules of the schedule cannot fill, and memory limits below what it needs at least.
Findings refuse_zb_h2(const ScheduleRequest& request);
Findings refuse_zb_auto(const ScheduleRequest& request);
Findings refuse_zb_fixed(const ScheduleRequest& request);  // zb-1p, zb-2p
Findings refuse_zbv_auto(const ScheduleRequest& request);
Findings refuse_dualpipe(const ScheduleRequest& request);
Findings refuse_dualpipev(const ScheduleRequest& request);
Findings refuse_chimera(const ScheduleRequest& request);
Findings refuse_pipedream_2bw(const ScheduleRequest& request);

}  // namespace stagecraft
