#pragma once
// The collectives of tensor and sequence parallelism (arXiv 1909.08053, section 3; arXiv 2205.05198, section 4.2.2) on
// row-major [rows, width] tensors. In a group of one all of them return their argument.

#include <deque>
#include <vector>

#include "exec/transport/transport.hpp"

namespace stagecraft {

class TensorGroup {
 public:
  TensorGroup() = default;  // one rank
  TensorGroup(Transport& transport, Group group, bool sequence_parallel)
      : transport_(&transport), group_(std::move(group)), sequence_parallel_(sequence_parallel && group_.size() > 1) {}

  std::int64_t size() const { return transport_ == nullptr ? 1 : group_.size(); }
  std::int64_t index() const { return transport_ == nullptr ? 0 : group_.index; }
  /// Rows outside the tensor-parallel regions are split over the group.
  bool sequence_parallel() const { return sequence_parallel_; }

  /// In place.
  void all_reduce(const at::Tensor& x, Reduction reduction = Reduction::sum);
  /// [rows, width] -> [rows * size, width]
  at::Tensor gather_rows(const at::Tensor& x);
  /// [rows, width] -> [rows / size, width], summed over the group
  at::Tensor reduce_scatter_rows(const at::Tensor& x);

  /// What enters a tensor-parallel region: gathered under sequence parallelism, else as it is.
  at::Tensor enter(const at::Tensor& x) { return sequence_parallel_ ? gather_rows(x) : x; }
  /// What leaves one: partial sums become sums, whole or each rank's rows.
  at::Tensor leave(const at::Tensor& x);

  /// Later collectives belong to this record (run/recorder.hpp).
  void charge_to(std::size_t record) { record_ = record; }
  /// Seconds that finished collectives have held their rank up, by record; on a GPU from their events.
  struct Charge {
    std::size_t record = 0;
    double seconds = 0;
  };
  std::vector<Charge> take_charges();

 private:
  void finish(WorkHandle work, double begin_s, bool on_cpu);
  void collect();

  Transport* transport_ = nullptr;
  Group group_;
  bool sequence_parallel_ = false;
  struct Running {
    WorkHandle work;
    std::size_t record = 0;
  };
  std::deque<Running> running_;  // on a GPU: waited for by the stream, not by the host
  std::vector<Charge> charges_;
  std::size_t record_ = 0;
};

}  // namespace stagecraft
