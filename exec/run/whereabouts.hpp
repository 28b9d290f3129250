#pragma once
// Where a rank stands, for whoever looks after it has been killed.

#include <atomic>
#include <cstdint>

namespace stagecraft {

/// Step and position in the rank's program as one word; lies in memory that another process can read.
class Whereabouts {
 public:
  void stand(std::int32_t step, std::uint32_t position) {
    word_.store(static_cast<std::uint64_t>(static_cast<std::uint32_t>(step)) << 32 | position,
                std::memory_order_relaxed);
  }
  /// False before the first operation.
  bool known() const { return word_.load(std::memory_order_relaxed) != nowhere; }
  std::int32_t step() const { return static_cast<std::int32_t>(word_.load(std::memory_order_relaxed) >> 32); }
  std::uint32_t position() const { return static_cast<std::uint32_t>(word_.load(std::memory_order_relaxed)); }

 private:
  static constexpr std::uint64_t nowhere = ~std::uint64_t{0};
  std::atomic<std::uint64_t> word_{nowhere};
};

}  // namespace stagecraft
