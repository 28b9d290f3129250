#pragma once
// The JSON form of a schedule: everything that PyTorch's CSV cannot say. docs/schedules.md describes it with an
// example.

#include <string>
#include <string_view>

#include "schedule/schedule.hpp"

namespace stagecraft {

inline constexpr int schedule_json_version = 1;

/// One program per line. Holds name, shape, placement, channels and all operations with lane, replica, channel and
/// bytes; not the bodies, which belong to a model. Same schedule, same bytes.
std::string to_json(const Schedule& schedule);

/// Reads what to_json writes. Throws InputError with file, line, JSON pointer, what stands there and what was expected;
/// the result has stages, micro-batches, replicas, ranks and channels within its shape, and nothing else is proved (see
/// check.hpp).
Schedule parse_json_schedule(std::string_view text, const std::string& file);
Schedule load_json_schedule(const std::string& path);

}  // namespace stagecraft
