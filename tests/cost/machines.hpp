#pragma once
// Machines and calibrations with round numbers, and the shipped profiles.

#include "cost/cost_model.hpp"

namespace stagecraft::testing {

/// 100 units, 100 TFLOP/s in fp16, 1 TB/s.
GpuSpec round_gpu();

/// Launches, latencies and losses 0, efficiencies 1: times can be derived by hand. Collectives of a node: 10 us, 100
/// GB/s.
Calibration ideal_calibration();

/// Eight GPUs on one switch at 100 GB/s, `nics` NICs at 10 GB/s, every GPU at its nearest one.
ClusterSpec round_cluster(std::int64_t nodes, int nics);

/// Four blocks of hidden size 2048 over 8 tensor ranks and 2 replicas on a round_cluster, micro-batches of two
/// sequences of 1024 tokens in fp16.
Scenario small_scenario();

GpuSpec a100_gpu();
ClusterSpec dgx_a100(std::int64_t nodes);

Library shipped_library();
Calibration shipped(const std::string& name);

/// GPUs first, first + stride, ...
std::vector<GpuId> gpus(int first, int count, int stride = 1);

}  // namespace stagecraft::testing
