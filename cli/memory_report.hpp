#pragma once
// What `stagecraft memory` found out, as text and JSON.

#include <string>
#include <vector>

#include "memory/allocator.hpp"
#include "memory/host_memory.hpp"
#include "memory/overhead.hpp"
#include "memory/peak_explanation.hpp"
#include "memory_advice.hpp"

namespace stagecraft::cli {

/// A reading to compare with: "allocated", "reserved" or "device".
struct MeasuredMemory {
  std::string kind;
  Bytes bytes;
};

struct MemoryFindings {
  std::string scenario;
  Findings findings;
  std::vector<MemoryPeak> peaks;  // [pipeline rank]
  std::vector<Op> peak_ops;
  std::size_t fullest = 0;
  AllocatorView view;  // of the fullest rank
  FitVerdict verdict = FitVerdict::fits;
  PeakExplanation explanation;
  std::vector<FixedLine> fixed;
  HostMemory host;
  std::vector<MeasuredMemory> measured;
  std::vector<Advice> advice;
  bool fits = true;
};

std::string memory_text(const MemoryFindings& found);
std::string memory_json(const MemoryFindings& found);

}  // namespace stagecraft::cli
