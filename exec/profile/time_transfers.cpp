#include "exec/profile/time_transfers.hpp"

#include <algorithm>
#include <functional>

#include "exec/run/recorder.hpp"
#include "schedule/lower.hpp"

namespace stagecraft {

namespace {

constexpr std::int64_t size_ratio = 16;

at::Tensor floats(double bytes, at::Device device, std::int64_t multiple) {
  const auto count = std::max<std::int64_t>(static_cast<std::int64_t>(bytes / 4), multiple);
  return at::zeros({count / multiple * multiple}, at::TensorOptions().dtype(at::kFloat).device(device));
}

Median repeat(Transport& transport, const Group& everybody, at::Device device, std::int32_t repetitions,
              const std::function<void()>& work) {
  std::vector<double> seconds;
  for (std::int32_t i = -2; i < repetitions; ++i) {
    transport.barrier(everybody)->wait();
    synchronize(device);
    const double begin_s = now_s();
    work();
    synchronize(device);
    if (i >= 0) seconds.push_back(now_s() - begin_s);
  }
  return median_of(seconds);
}

/// Latency and rate from the times of two sizes; `factor` is what the algorithm multiplies the bytes with.
TimedTransfer fit(const char* name, double large_bytes, Median large, double small_bytes, Median small, double factor,
                  int ranks) {
  TimedTransfer result;
  result.name = name;
  const double slope = (large.value - small.value) / (large_bytes - small_bytes);
  const double positive = slope > 0 ? slope : large.value / large_bytes;
  result.bytes_per_s = factor / positive;
  result.latency_s = std::max(small.value - positive * small_bytes, 0.0);
  result.relative_error = std::max(large.relative_error, small.relative_error);
  result.smallest = small_bytes;
  result.largest = large_bytes;
  result.ranks = ranks;
  return result;
}

void time_messages(Transport& transport, const Group& world, double bytes, at::Device device, std::int32_t repetitions,
                   Profile& profile) {
  const bool takes_part = transport.rank() < 2;
  std::vector<Median> medians;
  std::vector<double> sizes;
  for (const std::int64_t divisor : {std::int64_t{1}, size_ratio}) {
    const at::Tensor buffer = floats(bytes / static_cast<double>(divisor), device, 1);
    sizes.push_back(static_cast<double>(buffer.nbytes()));
    Median round_trip = repeat(transport, world, device, repetitions, [&] {
      if (!takes_part) return;
      const std::int32_t peer = 1 - transport.rank();
      for (const bool first : {true, false}) {
        const bool sends = first == (transport.rank() == 0);
        (sends ? transport.isend(buffer, {peer, 0, 1}) : transport.irecv(buffer, {peer, 0, 1}))->wait();
      }
    });
    round_trip.value /= 2;
    medians.push_back(round_trip);
  }
  profile.transfers.push_back(fit("send", sizes[0], medians[0], sizes[1], medians[1], 1, 2));
}

void time_collective(Transport& transport, const Group& world, const Group& group, const char* name, double factor,
                     double bytes, at::Device device, std::int32_t repetitions, Profile& profile,
                     const std::function<WorkHandle(const at::Tensor& whole, const at::Tensor& part)>& call) {
  std::vector<Median> medians;
  std::vector<double> sizes;
  for (const std::int64_t divisor : {std::int64_t{1}, size_ratio}) {
    const at::Tensor whole = floats(bytes / static_cast<double>(divisor), device, group.size());
    const at::Tensor part = at::zeros({whole.numel() / group.size()}, whole.options());
    sizes.push_back(static_cast<double>(whole.nbytes()));
    medians.push_back(repeat(transport, world, device, repetitions, [&] {
      if (group.index >= 0) call(whole, part)->wait();
    }));
  }
  profile.transfers.push_back(fit(name, sizes[0], medians[0], sizes[1], medians[1], factor, group.size()));
}

}  // namespace

void time_transfers(const Timing& timing, Profile& profile) {
  Transport& transport = timing.transport;
  const Plan& plan = timing.job.plan;
  const Group &world = timing.world, &group = timing.tensor;
  const at::Device device = timing.options.device;
  const std::int32_t repetitions = timing.repetitions;
  const double message_size = plan.stages.size() > 1 ? message_bytes(plan, Stage(0)).value : 1 << 20;
  const double rows = static_cast<double>(plan.run.batch.micro * plan.run.sequence_length);
  const double group_size = std::max(rows * static_cast<double>(plan.model.hidden) * 4, 65536.0);
  if (transport.size() > 1) time_messages(transport, world, message_size, device, repetitions, profile);
  if (group.size() < 2) return;
  // Bus factors as nccl-tests counts them: 2 (n - 1) / n for all-reduce, (n - 1) / n for the others.
  const double share = static_cast<double>(group.size() - 1) / static_cast<double>(group.size());
  time_collective(
      transport, world, group, "all_reduce", 2 * share, group_size, device, repetitions, profile,
      [&](const at::Tensor& whole, const at::Tensor&) { return transport.all_reduce(whole, Reduction::sum, group); });
  time_collective(
      transport, world, group, "all_gather", share, group_size, device, repetitions, profile,
      [&](const at::Tensor& whole, const at::Tensor& part) { return transport.all_gather(whole, part, group); });
  time_collective(transport, world, group, "reduce_scatter", share, group_size, device, repetitions, profile,
                  [&](const at::Tensor& whole, const at::Tensor& part) {
                    return transport.reduce_scatter(part, whole, Reduction::sum, group);
                  });
}

}  // namespace stagecraft
