#pragma once
// One file of torch.profiler, read as a stream.

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "schedule/op.hpp"

namespace stagecraft {

/// An action of torch.distributed.pipelining, in nanoseconds since the epoch of the file's clock.
struct TorchAction {
  OpName name;
  double begin_ns = 0, end_ns = 0;
};

struct TorchFile {
  std::optional<std::int32_t> rank;    // "distributedInfo"."rank"
  std::vector<TorchAction> host, gpu;  // annotations of the host, and of the GPU where it ran, in order of the file
  std::int64_t base_ns = 0;            // "baseTimeNanoseconds", which the times of the actions are counted from
};

/// Throws InputError if the file can't be read, is no JSON, or holds more than `limit` actions.
TorchFile read_torch_file(const std::string& path, std::size_t limit);

}  // namespace stagecraft
