#pragma once
// What a job prints and writes.

#include "exec/launch/run_rank.hpp"

namespace stagecraft {

/// Loss, gradient norm and time of every step, on stdout as text or JSON; the trace to its file.
void write_results(const Job& job, const JobArguments& arguments, const char* transport, ExecuteResult& result);

/// The trace file of a job: Chrome JSON if it ends in .json, else the native format. Nothing if no path was given.
void write_trace(const JobArguments& arguments, const Job& job, Trace& trace);

/// Notes and findings to stderr, one line each.
void print_findings(const Findings& findings);

}  // namespace stagecraft
