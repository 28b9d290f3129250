#pragma once
// Bytes that a rank has allocated on its device, followed through every allocation and release that PyTorch reports
// (c10::MemoryReportingInfoBase). Ranks that are threads hand tensors to each other, so a release is charged to the
// rank that allocated.

#include <c10/util/ThreadLocalDebugInfo.h>

#include <atomic>
#include <deque>
#include <memory>
#include <mutex>
#include <unordered_map>

#include "exec/torch.hpp"

namespace stagecraft {

class MemoryMeter {
 public:
  std::int64_t current() const { return current_.load(); }
  std::int64_t peak() const { return peak_.load(); }
  void restart_peak() { peak_.store(current_.load()); }
  void add(std::int64_t bytes);

 private:
  std::atomic<std::int64_t> current_{0}, peak_{0};
};

/// Who allocated what, shared by the ranks of a process; outlives them all.
class AllocationOwners {
 public:
  MemoryMeter& new_meter();
  void add(void* pointer, MemoryMeter* owner);
  /// Null if the pointer was allocated before anybody listened.
  MemoryMeter* remove(void* pointer);

 private:
  std::mutex mutex_;
  std::deque<MemoryMeter> meters_;  // stay where they are: a tensor may outlive the rank that made it
  std::unordered_map<void*, MemoryMeter*> owners_;
};

/// While it lives, nobody listens to the allocations of this thread.
class MemorySilence {
 public:
  MemorySilence();
  ~MemorySilence();

 private:
  std::unique_ptr<c10::DebugInfoGuard> guard_;
};

/// While it lives, allocations of this thread on devices of `type` are charged to `meter`. Both outlive it.
class MemoryListening {
 public:
  MemoryListening(MemoryMeter& meter, AllocationOwners& owners, at::DeviceType type);
  ~MemoryListening();

 private:
  std::unique_ptr<c10::DebugInfoGuard> guard_;
};

}  // namespace stagecraft
