#pragma once

#include "base/findings.hpp"
#include "schedule/schedule.hpp"

namespace stagecraft {

/// Adds what a reader must know of a schedule without a flush: how old its weights are, how many versions of them are
/// kept, and, if `cold`, that the stream is too short to hold a steady state.
void note_staleness(const Schedule& schedule, bool cold, Findings& findings);

}  // namespace stagecraft
