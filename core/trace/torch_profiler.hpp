#pragma once
// Traces that PyTorch wrote of a pipeline of its own: torch.profiler's Chrome JSON, one file per rank, in which
// torch.distributed.pipelining names every action "PP:" and the action ("PP:2F5", torch/distributed/pipelining/
// schedules.py, _get_profiler_function_name).

#include <string>

#include "trace/trace.hpp"

namespace stagecraft {

/// The PP: annotations of every *.json file of a folder as one measured trace. The rank of a file is the one of its
/// "distributedInfo", else what stands behind "rank" in its name. Where a file has annotations of the GPU
/// ("gpu_user_annotation"), these count and not those of the host. A step begins where a compute action comes again; it
/// is timed from its first action on any rank to its last. OVERLAP_F_B counts as its F and its B, both over the whole
/// time. Files are read as a stream: memory grows with the number of PP: annotations alone, at most 2^24 of them, and
/// with the longest string, at most 16 MiB. Throws InputError.
Trace read_torch_profiler_folder(const std::string& path);

}  // namespace stagecraft
