#pragma once
// When operations began and ended: steady clock on CPU; on a GPU events on the stream that the operation ran on, read
// after the step.

#include <cstdint>
#include <optional>
#include <vector>

#include "exec/transport/transport.hpp"

namespace stagecraft {

struct RecordedOp {
  std::int32_t step = 0;
  std::uint32_t position = 0;  // in the rank's program
  double posted_s = 0;         // sends, receives, collectives: handed over
  double begin_s = 0, end_s = 0;
  double tensor_s = 0;          // spent in tensor-parallel collectives
  double recompute_s = 0;       // spent in recomputed forwards
  std::int64_t peak_bytes = 0;  // largest number of bytes allocated on the rank's device while it ran
};

class Recorder {
 public:
  explicit Recorder(at::Device device);
  ~Recorder();

  /// Marks the begin of an operation on the current stream. Returns a handle for `end`.
  std::size_t begin(std::int32_t step, std::uint32_t position);
  void end(std::size_t handle);
  /// The operation that runs has waited so long for other ranks: it counts as begun later by that.
  void leave_out(std::size_t handle, double seconds);
  RecordedOp& at(std::size_t handle) { return ops_[handle]; }

  /// Turns events into host times; the device must be idle. Called after each step.
  void resolve();
  const std::vector<RecordedOp>& ops() const { return ops_; }
  void clear();

 private:
  struct Events {
    std::size_t handle;
    c10::Event begin, end;
    double left_out_s = 0;
  };
  void anchor();

  at::Device device_;
  std::vector<RecordedOp> ops_;
  std::vector<Events> events_;
  std::optional<c10::Event> anchor_;
  double anchor_s_ = 0;
};

/// Blocks the host until the device has done all that was queued. Nothing to do on CPU.
void synchronize(at::Device device);

}  // namespace stagecraft
