#include "exec/run/memory_meter.hpp"

#include <c10/core/Allocator.h>

namespace stagecraft {

namespace {

class Listener final : public c10::MemoryReportingInfoBase {
 public:
  Listener(MemoryMeter& meter, AllocationOwners& owners, at::DeviceType type)
      : meter_(meter), owners_(owners), type_(type) {}

  void reportMemoryUsage(void* pointer, std::int64_t bytes, std::size_t, std::size_t, c10::Device device) override {
    if (device.type() != type_ || pointer == nullptr) return;
    if (bytes > 0) {
      owners_.add(pointer, &meter_);
      meter_.add(bytes);
    } else if (MemoryMeter* const owner = owners_.remove(pointer)) {
      owner->add(bytes);
    }
  }
  bool memoryProfilingEnabled() const override { return true; }

 private:
  MemoryMeter& meter_;
  AllocationOwners& owners_;
  at::DeviceType type_;
};

class NoListener final : public c10::MemoryReportingInfoBase {
 public:
  void reportMemoryUsage(void*, std::int64_t, std::size_t, std::size_t, c10::Device) override {}
  bool memoryProfilingEnabled() const override { return false; }
};

}  // namespace

MemorySilence::MemorySilence()
    : guard_(
          std::make_unique<c10::DebugInfoGuard>(c10::DebugInfoKind::PROFILER_STATE, std::make_shared<NoListener>())) {}

MemorySilence::~MemorySilence() = default;

MemoryMeter& AllocationOwners::new_meter() {
  const std::lock_guard<std::mutex> lock(mutex_);
  return meters_.emplace_back();
}

void AllocationOwners::add(void* pointer, MemoryMeter* owner) {
  const std::lock_guard<std::mutex> lock(mutex_);
  owners_[pointer] = owner;
}

MemoryMeter* AllocationOwners::remove(void* pointer) {
  const std::lock_guard<std::mutex> lock(mutex_);
  const auto found = owners_.find(pointer);
  if (found == owners_.end()) return nullptr;
  MemoryMeter* const owner = found->second;
  owners_.erase(found);
  return owner;
}

void MemoryMeter::add(std::int64_t bytes) {
  const std::int64_t now = current_.fetch_add(bytes) + bytes;
  std::int64_t peak = peak_.load();
  while (now > peak && !peak_.compare_exchange_weak(peak, now)) {
  }
}

MemoryListening::MemoryListening(MemoryMeter& meter, AllocationOwners& owners, at::DeviceType type)
    : guard_(std::make_unique<c10::DebugInfoGuard>(c10::DebugInfoKind::PROFILER_STATE,
                                                   std::make_shared<Listener>(meter, owners, type))) {}

MemoryListening::~MemoryListening() = default;

}  // namespace stagecraft
