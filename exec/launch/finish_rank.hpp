#pragma once
// The end of a rank that is a process of its own.

#include "exec/launch/run_rank.hpp"

namespace stagecraft {

/// Rank 0 prints results. A rank that failed leaves its report for the launcher, or prints it if there is none. Returns
/// the exit code.
int finish_rank(const Job& job, const JobArguments& arguments, const char* transport, std::int32_t rank,
                RankOutcome& outcome);

/// SIGTERM and SIGINT end waits, so that a rank told to stop can still say where it stood.
void stop_on_signals();

}  // namespace stagecraft
