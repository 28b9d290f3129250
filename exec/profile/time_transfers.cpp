#include "exec/profile/time_transfers.hpp"

#include <algorithm>

#include "exec/run/gather.hpp"
#include "exec/run/recorder.hpp"
#include "schedule/lower.hpp"

namespace stagecraft {

namespace {

constexpr std::int64_t size_ratio = 16;

at::Tensor floats(double bytes, at::Device device, std::int64_t multiple) {
  const auto count = std::max<std::int64_t>(static_cast<std::int64_t>(bytes / 4), multiple);
  return at::zeros({count / multiple * multiple}, at::TensorOptions().dtype(at::kFloat).device(device));
}

/// Latency and rate from the times of two sizes.
TimedTransfer fit(double large_bytes, Typical large, double small_bytes, Typical small, double factor) {
  TimedTransfer result;
  const double slope = (large.value - small.value) / (large_bytes - small_bytes);
  const double positive = slope > 0 ? slope : large.value / large_bytes;
  result.bytes_per_s = factor / positive;
  result.latency_s = std::max(small.value - positive * small_bytes, 0.0);
  result.relative_error = std::max(large.relative_error, small.relative_error);
  result.smallest = small_bytes;
  result.largest = large_bytes;
  return result;
}

}  // namespace

TransferTimer::TransferTimer(const Timing& timing) : timing_(timing) {
  if (timing_.transport.size() > 1) add_messages();
  if (timing_.tensor.size() > 1) add_collectives();
}

void TransferTimer::add_messages() {
  const Plan& plan = timing_.job.plan;
  const double bytes = plan.stages.size() > 1 ? message_bytes(plan, Stage(0)).value : 1 << 20;
  Transport& transport = timing_.transport;
  const auto round_trip = [&transport](const at::Tensor& buffer) {
    if (transport.rank() >= 2) return;
    const std::int32_t peer = 1 - transport.rank();
    for (const bool first : {true, false}) {
      const bool sends = first == (transport.rank() == 0);
      (sends ? transport.isend(buffer, {peer, 0, 1}) : transport.irecv(buffer, {peer, 0, 1}))->wait();
    }
  };
  const auto size = [&](double of_bytes) {
    const at::Tensor buffer = floats(of_bytes, timing_.options.device, 1);
    return Size{static_cast<double>(buffer.nbytes()), [=] { round_trip(buffer); }, {}};
  };
  all_.push_back({"send", 1, 2, false, size(bytes), size(bytes / size_ratio)});
}

void TransferTimer::add_collectives() {
  const Plan& plan = timing_.job.plan;
  const Group& group = timing_.tensor;
  Transport& transport = timing_.transport;
  const double rows = static_cast<double>(plan.run.batch.micro * plan.run.sequence_length);
  const double bytes = std::max(rows * static_cast<double>(plan.model.hidden) * 4, 65536.0);
  using Call = std::function<WorkHandle(const at::Tensor& whole, const at::Tensor& part)>;
  const auto add = [&](const char* name, double factor, bool inside_blocks, const Call& call) {
    const auto size = [&](double of_bytes) {
      const at::Tensor whole = floats(of_bytes, timing_.options.device, group.size());
      const at::Tensor part = at::zeros({whole.numel() / group.size()}, whole.options());
      const bool takes_part = group.index >= 0;
      return Size{static_cast<double>(whole.nbytes()),
                  [=] {
                    if (takes_part) call(whole, part)->wait();
                  },
                  {}};
    };
    all_.push_back({name, factor, group.size(), inside_blocks, size(bytes), size(bytes / size_ratio)});
  };
  // Bus factors as nccl-tests counts them: 2 (n - 1) / n for all-reduce, (n - 1) / n for the others.
  const double share = static_cast<double>(group.size() - 1) / static_cast<double>(group.size());
  const bool rows_split = plan.run.parallel.sequence_parallel;
  add("all_reduce", 2 * share, !rows_split, [&transport, &group](const at::Tensor& whole, const at::Tensor&) {
    return transport.all_reduce(whole, Reduction::sum, group);
  });
  add("all_gather", share, rows_split, [&transport, &group](const at::Tensor& whole, const at::Tensor& part) {
    return transport.all_gather(whole, part, group);
  });
  add("reduce_scatter", share, rows_split, [&transport, &group](const at::Tensor& whole, const at::Tensor& part) {
    return transport.reduce_scatter(part, whole, Reduction::sum, group);
  });
}

void TransferTimer::repeat(bool counts) {
  for (Timed& timed : all_) {
    for (Size* const size : {&timed.large, &timed.small}) {
      timing_.transport.barrier(timing_.world)->wait();
      synchronize(timing_.options.device);
      const double begin_s = now_s();
      size->work();
      synchronize(timing_.options.device);
      if (counts) size->seconds.push_back(now_s() - begin_s);
    }
  }
}

void TransferTimer::add_to(Profile& profile, const std::vector<double>& exchanges) const {
  Typical inside = mean_of(exchanges);  // between GEMMs each waits for the slowest rank, and a step has many
  const auto everybody = gather_numbers({inside.value}, timing_.world, timing_.transport, timing_.options.device);
  double sum = 0;
  for (const std::vector<double>& theirs : everybody) sum += theirs.at(0);
  inside.value = sum / static_cast<double>(everybody.size());
  for (const Timed& timed : all_) {
    Typical large = median_of(timed.large.seconds), small = median_of(timed.small.seconds);
    if (timed.name == std::string_view("send")) {
      large.value /= 2;
      small.value /= 2;
    }
    if (timed.inside_blocks && inside.value > 0) large = inside;
    TimedTransfer found = fit(timed.large.bytes, large, timed.small.bytes, small, timed.factor);
    found.name = timed.name;
    found.ranks = timed.ranks;
    profile.transfers.push_back(std::move(found));
  }
}

}  // namespace stagecraft
