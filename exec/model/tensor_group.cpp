#include "exec/model/tensor_group.hpp"

#include <utility>

namespace stagecraft {

void TensorGroup::finish(WorkHandle work, double begin_s, bool on_cpu) {
  work->wait();
  if (on_cpu) {
    charges_.push_back({record_, now_s() - begin_s});
    return;
  }
  running_.push_back({std::move(work), record_});
  collect();
}

void TensorGroup::collect() {
  while (!running_.empty() && running_.front().work->query()) {
    const WorkTimes times = running_.front().work->times();
    charges_.push_back({running_.front().record, times.finished_s - times.started_s});
    running_.pop_front();
  }
}

std::vector<TensorGroup::Charge> TensorGroup::take_charges() {
  collect();
  return std::exchange(charges_, {});
}

void TensorGroup::all_reduce(const at::Tensor& x, Reduction reduction) {
  if (size() == 1) return;
  const double begin_s = now_s();
  finish(transport_->all_reduce(x, reduction, group_), begin_s, x.is_cpu());
}

at::Tensor TensorGroup::gather_rows(const at::Tensor& x) {
  if (size() == 1) return x;
  const double begin_s = now_s();
  const at::Tensor whole = at::empty({x.size(0) * size(), x.size(1)}, x.options());
  finish(transport_->all_gather(whole, x, group_), begin_s, x.is_cpu());
  return whole;
}

at::Tensor TensorGroup::reduce_scatter_rows(const at::Tensor& x) {
  if (size() == 1) return x;
  const double begin_s = now_s();
  const at::Tensor part = at::empty({x.size(0) / size(), x.size(1)}, x.options());
  finish(transport_->reduce_scatter(part, x, Reduction::sum, group_), begin_s, x.is_cpu());
  return part;
}

at::Tensor TensorGroup::leave(const at::Tensor& x) {
  if (sequence_parallel_) return reduce_scatter_rows(x);
  all_reduce(x);
  return x;
}

}  // namespace stagecraft
