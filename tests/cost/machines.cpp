#include "machines.hpp"

namespace stagecraft::testing {
namespace {

Constant exactly(double value) {
  return {value, 0, Evidence::measured, "test"};
}

ClusterSpec switched_node(std::int64_t nodes, int nics, double link, double nic) {
  ClusterSpec cluster;
  cluster.name = "test";
  cluster.nodes = nodes;
  cluster.node.name = "node";
  cluster.node.devices.push_back({DeviceKind::nvswitch, "switch"});
  for (int n = 0; n < nics; ++n) {
    const std::string i = std::to_string(n);
    cluster.node.devices.push_back({DeviceKind::pcie_switch, "pcie" + i});
    cluster.node.devices.push_back({DeviceKind::nic, "nic" + i});
    cluster.node.wires.push_back({"pcie" + i, "nic" + i, LinkKind::pcie, {1e12}, {1e12}, {0}, "test"});
  }
  for (int g = 0; g < 8; ++g) {
    const std::string gpu = "gpu" + std::to_string(g);
    cluster.node.devices.push_back({DeviceKind::gpu, gpu});
    cluster.node.wires.push_back({gpu, "switch", LinkKind::nvlink, {link}, {link}, {0}, "test"});
    if (nics > 0) {
      const std::string pcie = "pcie" + std::to_string(g * nics / 8);
      cluster.node.wires.push_back({gpu, pcie, LinkKind::pcie, {1e12}, {1e12}, {0}, "test"});
    }
  }
  if (nodes > 1) {
    cluster.fabric.kind = FabricKind::single_switch;
    cluster.fabric.nic_nominal = {nic};
    cluster.fabric.nic_achieved = {nic};
  }
  return cluster;
}

}  // namespace

GpuSpec round_gpu() {
  GpuSpec gpu;
  gpu.name = "round";
  gpu.sms = 100;
  gpu.peak[Dtype::fp16] = {100e12};
  gpu.memory_bandwidth = {1e12};
  gpu.memory = {80e9};
  gpu.memory_usable = {80e9};
  gpu.architecture = "ampere";
  return gpu;
}

Calibration ideal_calibration() {
  Calibration calibration;
  calibration.name = "ideal";
  for (const ConstantMeaning& meaning : constant_meanings()) {
    const std::string name = meaning.name;
    const bool fraction = !name.ends_with("_us") && !name.ends_with("_ms") && !name.ends_with("_spread");
    calibration.constants[name] = exactly(fraction ? 1 : 0);
  }
  GemmProfile gemm;
  gemm.ceiling = gemm.tile_loss = gemm.misaligned = gemm.quantisation = exactly(1);
  gemm.k_half = exactly(0);
  calibration.gemm[Dtype::fp16] = gemm;
  AttentionProfile attention;
  attention.forward = attention.backward = exactly(1);
  calibration.attention[2] = attention;
  CollectiveProfile node;
  node.latency_us = exactly(10);
  node.bus_GBps = exactly(100);
  for (const char* kind : {"all_reduce", "all_gather", "reduce_scatter"}) {
    calibration.collectives[std::string("node/") + kind] = node;
  }
  return calibration;
}

ClusterSpec round_cluster(std::int64_t nodes, int nics) {
  ClusterSpec cluster = switched_node(nodes, nics, 100e9, 10e9);
  cluster.gpu = round_gpu();
  return cluster;
}

Scenario small_scenario() {
  Scenario scenario;
  scenario.cluster = round_cluster(2, 8);
  ModelSpec& model = scenario.model;
  model.name = "small";
  model.hidden = 2048;
  model.blocks = 4;
  model.vocabulary = 8192;
  model.sequence_length = 1024;
  model.attention = {16, 16, 128, true, true};
  model.mlp = {8192, false, Activation::gelu, true};
  RunSpec& run = scenario.run;
  run.parallel.tensor = 8;
  run.parallel.data = 2;
  run.batch = {4, 2};
  run.sequence_length = 1024;
  run.precision = Precision::fp16_mixed;
  run.fp32_gradients = false;
  run.attention_kernel = AttentionKernel::fused_softmax;
  return scenario;
}

GpuSpec a100_gpu() {
  GpuSpec gpu;
  gpu.name = "a100-sxm4-80gb";
  gpu.architecture = "ampere";
  gpu.sms = 108;
  gpu.peak[Dtype::fp16] = gpu.peak[Dtype::bf16] = {312e12};
  gpu.peak[Dtype::tf32] = {156e12};
  gpu.peak[Dtype::fp32] = {19.5e12};
  gpu.memory = gpu.memory_usable = {80e9};
  gpu.memory_bandwidth = {2039e9};
  gpu.l2 = {40e6};
  return gpu;
}

ClusterSpec dgx_a100(std::int64_t nodes) {
  ClusterSpec cluster = switched_node(nodes, 8, 276e9, 24e9);
  cluster.gpu = a100_gpu();
  return cluster;
}

Library shipped_library() {
  return {{std::string(STAGECRAFT_SOURCE_DIR) + "/topologies"}};
}

Calibration shipped(const std::string& name) {
  return load_calibration(name, shipped_library());
}

std::vector<GpuId> gpus(int first, int count, int stride) {
  std::vector<GpuId> members;
  for (int i = 0; i < count; ++i) members.emplace_back(first + i * stride);
  return members;
}

}  // namespace stagecraft::testing
