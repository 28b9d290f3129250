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
  Bytes wanted;          // the same if the allocator could reserve as much as it usually does
  bool retries = false;  // reserving as much as usual would pass the limit: the allocator frees and asks again, slowly
};

/// Reserved is allocated and a share of it that the framework's row states (memory/framework.hpp), 1 % with expandable
/// segments; never more than the limit leaves.
AllocatorView allocator_view(const Plan& plan, const MemoryPeak& peak);

enum class FitVerdict : std::uint8_t { fits, close, does_not_fit };
const char* to_text(FitVerdict verdict);  // "fits", "close to the limit", "does not fit"

/// Holds what the allocator usually wants against the limit. `close` is within 5 % of it, on either side: such a run
/// may fit with stalls, or run out after some steps.
FitVerdict verdict_of(const AllocatorView& view, Bytes limit);

}  // namespace stagecraft
