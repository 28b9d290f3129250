#pragma once
// Bytes that no layer owns, as named lines with their source.

#include <vector>

#include "memory/memory_class.hpp"
#include "plan/plan.hpp"

namespace stagecraft {

struct FixedLine {
  const char* name;
  MemoryClass memory_class = MemoryClass::overhead;
  Bytes bytes;
  bool in_allocator =
      true;  // counted by torch.cuda.max_memory_allocated, unlike what driver and NCCL take for themselves
  const char* source;
};

/// What every rank of the plan pays once, whatever its stages: context, libraries, communicators, gathered inputs.
/// No CUDA lines on a host without GPUs (architecture "cpu").
std::vector<FixedLine> fixed_lines(const Plan& plan);

/// The same, summed by class.
MemoryByClass fixed_memory(const Plan& plan);

/// What the driver lets a process use: memory_usable where the GPU's file states it, else the label.
Bytes memory_limit(const GpuSpec& gpu);

}  // namespace stagecraft
