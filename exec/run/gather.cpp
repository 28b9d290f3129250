#include "exec/run/gather.hpp"

#include <algorithm>
#include <fstream>

#include "exec/model/parameter.hpp"

namespace stagecraft {

namespace {

constexpr std::size_t fields = 8;
constexpr int stamps = 9;

at::Tensor tensor_of(const std::vector<double>& numbers, std::size_t length, at::Device device) {
  const at::Tensor host = at::zeros({static_cast<std::int64_t>(length)}, at::TensorOptions().dtype(at::kDouble));
  std::copy(numbers.begin(), numbers.end(), host.mutable_data_ptr<double>());
  return host.to(device);
}

std::vector<double> all_gather(const std::vector<double>& mine, std::size_t length, const Group& world,
                               Transport& transport, at::Device device) {
  const at::Tensor input = tensor_of(mine, length, device);
  const at::Tensor output = at::zeros({static_cast<std::int64_t>(length) * world.size()},
                                      at::TensorOptions().dtype(at::kDouble).device(device));
  transport.all_gather(output, input, world)->wait();
  const at::Tensor host = output.cpu();
  return {host.const_data_ptr<double>(), host.const_data_ptr<double>() + host.numel()};
}

/// Identifies the running system of this machine, in 52 bits.
double machine_id() {
  std::ifstream file("/proc/sys/kernel/random/boot_id");
  std::string text;
  file >> text;
  return static_cast<double>(name_hash(text) >> 12);
}

}  // namespace

std::vector<std::vector<double>> gather_numbers(const std::vector<double>& mine, const Group& world,
                                                Transport& transport, at::Device device) {
  const std::vector<double> lengths = all_gather({static_cast<double>(mine.size())}, 1, world, transport, device);
  const auto longest = static_cast<std::size_t>(*std::max_element(lengths.begin(), lengths.end()));
  std::vector<std::vector<double>> result(lengths.size());
  if (longest == 0) return result;
  const std::vector<double> all = all_gather(mine, longest, world, transport, device);
  for (std::size_t rank = 0; rank < lengths.size(); ++rank) {
    const auto begin = all.begin() + static_cast<std::ptrdiff_t>(rank * longest);
    result[rank].assign(begin, begin + static_cast<std::ptrdiff_t>(lengths[rank]));
  }
  return result;
}

ClockOffsets align_clocks(const Group& world, Transport& transport, at::Device device) {
  const auto ranks = static_cast<std::size_t>(world.size());
  ClockOffsets clocks{std::vector<double>(ranks, 0), 0};
  const std::vector<double> machines = all_gather({machine_id()}, 1, world, transport, device);
  if (std::all_of(machines.begin(), machines.end(), [&](double id) { return id == machines.front(); })) return clocks;
  std::vector<double> mine;
  for (int i = 0; i < stamps; ++i) {
    transport.barrier(world)->wait();
    synchronize(device);
    mine.push_back(now_s());
  }
  const std::vector<double> all = all_gather(mine, stamps, world, transport, device);
  for (std::size_t rank = 1; rank < ranks; ++rank) {
    if (machines[rank] == machines[0]) continue;
    std::vector<double> differences;
    for (std::size_t i = 0; i < stamps; ++i) differences.push_back(all[rank * stamps + i] - all[i]);
    std::sort(differences.begin(), differences.end());
    clocks.offset_s[rank] = differences[stamps / 2];
    clocks.skew_s = std::max(clocks.skew_s, (differences.back() - differences.front()) / 2);
  }
  return clocks;
}

std::vector<double> pack(const std::vector<RecordedOp>& ops) {
  std::vector<double> numbers;
  numbers.reserve(ops.size() * fields);
  for (const RecordedOp& op : ops) {
    for (const double value : {static_cast<double>(op.step), static_cast<double>(op.position), op.posted_s, op.begin_s,
                               op.end_s, op.tensor_s, op.recompute_s, static_cast<double>(op.peak_bytes)}) {
      numbers.push_back(value);
    }
  }
  return numbers;
}

std::vector<RecordedOp> unpack(const std::vector<double>& numbers) {
  std::vector<RecordedOp> ops;
  for (std::size_t at = 0; at + fields <= numbers.size(); at += fields) {
    const double* const n = numbers.data() + at;
    ops.push_back({static_cast<std::int32_t>(n[0]), static_cast<std::uint32_t>(n[1]), n[2], n[3], n[4], n[5], n[6],
                   static_cast<std::int64_t>(n[7])});
  }
  return ops;
}

}  // namespace stagecraft
