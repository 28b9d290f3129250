#pragma once
// A peak as PyTorch's caching allocator and the driver show it, and the verdict.

#include "memory/timeline.hpp"

namespace stagecraft {

/// Three figures that readings are compared with, each with its own.
struct AllocatorView {
  Bytes allocated;       // torch.cuda.max_memory_allocated
  Bytes reserved;        // torch.cuda.max_memory_reserved: with the blocks that lie unused between tensors
  Bytes outside;         // context, NCCL: what the allocator does not see
  Bytes device;          // nvidia-smi: reserved and outside
  bool retries = false;  // reserving as much as usual would pass the limit: the allocator frees and asks again, slowly
};

/// Reserved is allocated and a share of it that the framework's row states (memory/framework.hpp), 1 % with expandable
/// segments; never more than the limit leaves.
AllocatorView allocator_view(const Plan& plan, const MemoryPeak& peak);

enum class FitVerdict : std::uint8_t { fits, close, does_not_fit };
const char* to_text(FitVerdict verdict);  // "fits", "close to the limit", "does not fit"

/// `close` is a need within 5 % of the limit, on either side; memory/timeline.hpp's fits() says on which.
FitVerdict verdict_of(const MemoryPeak& peak);

}  // namespace stagecraft
