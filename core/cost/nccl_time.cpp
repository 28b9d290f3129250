#include <algorithm>
#include <cmath>
#include <stdexcept>

#include "cost/nccl.hpp"

namespace stagecraft {
namespace {

// Trees lose in the middle of the range of sizes (tuning.cc, treeCorrectionFactor).
double correction(const NcclCandidate& candidate, double bytes, const NcclTuner& tuner) {
  if (candidate.algorithm != NcclAlgorithm::tree || bytes < 64) return 1;
  const std::vector<double>& factors = tuner.tree_correction[static_cast<std::size_t>(candidate.protocol)];
  const auto index = static_cast<std::size_t>(std::floor(std::log2(bytes / 64)));
  return index < factors.size() ? factors[index] : 1;
}

double rate(const NcclCandidate& candidate, const NcclMachine& machine, const NcclSystem& system) {
  switch (candidate.algorithm) {
    case NcclAlgorithm::nvls:
    case NcclAlgorithm::nvls_tree:
      return system.nvls_rate;
    case NcclAlgorithm::p2p:
      return machine.nodes > 1 ? system.peer_network_rate : system.peer_rate;
    case NcclAlgorithm::two_tier:
      return two_tier_seconds_per_GB(machine) /
             two_tier_seconds_per_GB(machine, system.peer_rate, system.peer_network_rate);
    case NcclAlgorithm::tree:
    case NcclAlgorithm::ring:
    case NcclAlgorithm::collnet_direct:
    case NcclAlgorithm::collnet_chain:
    case NcclAlgorithm::pat:
      break;
  }
  return candidate.protocol == NcclProtocol::ll ? system.low_latency_rate : system.ring_rate;
}

}  // namespace

Bytes nvls_tree_chunk(Bytes bytes, const NcclMachine& machine, const NcclTuner& tuner) {
  const double heads = std::ceil(static_cast<double>(machine.ranks) / std::max(1, machine.nodes));
  const double at_once = heads * tuner.architectures.at(machine.architecture).nvls_channels;
  constexpr double kib = 1024;
  double chunk = machine.nodes >= 4 ? 64 * kib : 128 * kib;
  if (bytes.value < 4 * at_once * chunk) chunk = std::min(chunk, 64 * kib);
  if (bytes.value < at_once * chunk) chunk = std::min(chunk, 32 * kib);
  return {chunk};
}

NcclCandidate nccl_choice(NcclOp op, Bytes bytes, const NcclMachine& machine, const NcclTuner& tuner,
                          const std::vector<NcclAlgorithm>& only) {
  const double wire = bytes.value * nccl_bus_factor(op, machine.ranks);
  bool found = false;
  NcclCandidate best;
  double least = 0;
  for (const NcclCandidate& candidate : nccl_candidates(op, machine, tuner)) {
    if (only.empty() && is_of_frameworks(candidate.algorithm)) continue;
    if (!only.empty() && std::find(only.begin(), only.end(), candidate.algorithm) == only.end()) continue;
    if (candidate.bus <= 0) continue;
    const double time = candidate.latency_us + wire / (candidate.bus * correction(candidate, bytes.value, tuner) * 1e3);
    if (found && time >= least) continue;
    found = true;
    least = time;
    best = candidate;
  }
  if (!found) throw std::invalid_argument("no algorithm can run this collective here");
  return best;
}

NcclTime nccl_time(NcclOp op, Bytes bytes, const NcclMachine& machine, const NcclTuner& tuner, const NcclSystem& system,
                   const std::vector<NcclAlgorithm>& only) {
  NcclTime time;
  time.ran = nccl_choice(op, bytes, machine, tuner, only);
  const NcclCandidate& ran = time.ran;
  const double levels = std::floor(std::log2(static_cast<double>(machine.nodes)));
  const double hidden = std::min(system.levels_hidden, levels) * ran.level_us;
  double us = system.host_us + (ran.latency_us - hidden) * system.latency_scale;
  if (ran.algorithm == NcclAlgorithm::nvls_tree) {
    us += system.fill_us * levels * nvls_tree_chunk(bytes, machine, tuner).value / (64 * 1024);
  }
  if (ran.algorithm == NcclAlgorithm::p2p) {
    us += system.peer_us;
  } else if (ran.algorithm == NcclAlgorithm::two_tier) {
    us += 2 * system.peer_us;
  } else if (ran.protocol != NcclProtocol::ll) {
    us += system.sqrt_us * std::sqrt(bytes.value);
  }
  double bus = ran.bus * rate(ran, machine, system);
  if (ran.algorithm == NcclAlgorithm::p2p && machine.nodes == 1 && system.pair_GBps > 0) {
    bus = std::min(bus, system.pair_GBps * (machine.ranks - 1));
  }
  us += bytes.value * nccl_bus_factor(op, machine.ranks) / (bus * 1e3);
  time.total = {us * 1e-6};
  time.algorithm_GBps = us > 0 ? bytes.value / us * 1e-3 : 0;
  time.bus_GBps = time.algorithm_GBps * nccl_bus_factor(op, machine.ranks);
  return time;
}

}  // namespace stagecraft
