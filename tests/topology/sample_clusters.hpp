#pragma once
// Clusters with round figures, so that answers can be derived by hand.

#include <string>

#include "spec/cluster_spec.hpp"

namespace stagecraft::samples {

inline BytesPerSecond GBps(double value) {
  return {value * 1e9};
}
inline Seconds us(double value) {
  return {value * 1e-6};
}

inline void add_device(NodeSpec& node, DeviceKind kind, const std::string& name) {
  node.devices.push_back({kind, name});
}

inline void add_wire(NodeSpec& node, const std::string& from, const std::string& to, LinkKind kind, double gbps,
                     double latency_us = 0) {
  node.wires.push_back({from, to, kind, GBps(gbps), GBps(gbps), us(latency_us), "round figures"});
}

inline GpuSpec a100() {
  GpuSpec gpu;
  gpu.name = "a100";
  gpu.peak = {{Dtype::fp16, {312e12}}, {Dtype::bf16, {312e12}}, {Dtype::tf32, {156e12}}, {Dtype::fp32, {19.5e12}}};
  gpu.memory = gpu.memory_usable = {80e9};
  gpu.memory_bandwidth = GBps(2000);
  gpu.l2 = {40e6};
  gpu.sms = 108;
  gpu.architecture = "ampere";
  return gpu;
}

inline FabricSpec fabric(FabricKind kind, std::int64_t nodes_per_leaf_group = 32, double oversubscription = 1) {
  FabricSpec fabric;
  fabric.kind = kind;
  fabric.nic_nominal = GBps(25);
  fabric.nic_achieved = GBps(24);
  fabric.nic_latency = us(2);
  fabric.switch_latency = us(0.5);
  fabric.nodes_per_leaf_group = nodes_per_leaf_group;
  fabric.oversubscription = oversubscription;
  return fabric;
}

/// 8 GPUs on an NVSwitch, 4 PCIe switches with 2 GPUs and 2 NICs each, 2 sockets.
inline NodeSpec dgx_a100_node() {
  NodeSpec node;
  node.name = "dgx-a100";
  node.gpu = "a100";
  node.host_memory = {2e12};
  add_device(node, DeviceKind::nvswitch, "nvswitch");
  for (int cpu = 0; cpu < 2; ++cpu) add_device(node, DeviceKind::cpu, "cpu" + std::to_string(cpu));
  add_wire(node, "cpu0", "cpu1", LinkKind::socket, 30);
  for (int s = 0; s < 4; ++s) {
    const std::string pcie = "pcie" + std::to_string(s);
    add_device(node, DeviceKind::pcie_switch, pcie);
    add_wire(node, pcie, "cpu" + std::to_string(s / 2), LinkKind::pcie, 25);
  }
  for (int g = 0; g < 8; ++g) {
    const std::string gpu = "gpu" + std::to_string(g), nic = "nic" + std::to_string(g);
    const std::string pcie = "pcie" + std::to_string(g / 2);
    add_device(node, DeviceKind::gpu, gpu);
    add_device(node, DeviceKind::nic, nic);
    add_wire(node, gpu, "nvswitch", LinkKind::nvlink, 300, 1);
    add_wire(node, gpu, pcie, LinkKind::pcie, 25);
    add_wire(node, nic, pcie, LinkKind::pcie, 25);
  }
  return node;
}

/// DGX-1: a hybrid cube mesh of 8 GPUs, 4 PCIe switches with 2 GPUs and 1 NIC each.
inline NodeSpec dgx1_node() {
  NodeSpec node;
  node.name = "dgx-1";
  node.gpu = "v100";
  for (int cpu = 0; cpu < 2; ++cpu) add_device(node, DeviceKind::cpu, "cpu" + std::to_string(cpu));
  add_wire(node, "cpu0", "cpu1", LinkKind::socket, 19);
  for (int s = 0; s < 4; ++s) {
    const std::string pcie = "pcie" + std::to_string(s), nic = "nic" + std::to_string(s);
    add_device(node, DeviceKind::pcie_switch, pcie);
    add_device(node, DeviceKind::nic, nic);
    add_wire(node, pcie, "cpu" + std::to_string(s / 2), LinkKind::pcie, 12);
    add_wire(node, nic, pcie, LinkKind::pcie, 12);
  }
  for (int g = 0; g < 8; ++g) {
    add_device(node, DeviceKind::gpu, "gpu" + std::to_string(g));
    add_wire(node, "gpu" + std::to_string(g), "pcie" + std::to_string(g / 2), LinkKind::pcie, 12);
  }
  struct Bridge {
    int a, b, links;
  };
  for (const Bridge& bridge :
       {Bridge{0, 1, 1}, Bridge{0, 2, 1}, Bridge{0, 3, 2}, Bridge{0, 4, 2}, Bridge{1, 2, 2}, Bridge{1, 3, 1},
        Bridge{1, 5, 2}, Bridge{2, 3, 2}, Bridge{2, 6, 1}, Bridge{3, 7, 1}, Bridge{4, 5, 1}, Bridge{4, 6, 1},
        Bridge{4, 7, 2}, Bridge{5, 6, 2}, Bridge{5, 7, 1}, Bridge{6, 7, 2}}) {
    add_wire(node, "gpu" + std::to_string(bridge.a), "gpu" + std::to_string(bridge.b), LinkKind::nvlink,
             25.0 * bridge.links);
  }
  return node;
}

/// GPUs on PCIe, half of them on each of two sockets, one NIC on the first; copies between GPUs pass host memory.
inline NodeSpec pcie_box(int gpus, bool peer_to_peer = false) {
  NodeSpec node;
  node.name = "pcie-box";
  node.gpu = "rtx-4090";
  node.peer_to_peer = peer_to_peer;
  add_device(node, DeviceKind::cpu, "cpu0");
  add_device(node, DeviceKind::cpu, "cpu1");
  add_device(node, DeviceKind::nic, "nic0");
  add_wire(node, "cpu0", "cpu1", LinkKind::socket, 20);
  add_wire(node, "nic0", "cpu0", LinkKind::pcie, 25);
  for (int g = 0; g < gpus; ++g) {
    add_device(node, DeviceKind::gpu, "gpu" + std::to_string(g));
    add_wire(node, "gpu" + std::to_string(g), g < gpus / 2 ? "cpu0" : "cpu1", LinkKind::pcie, 25);
  }
  return node;
}

inline ClusterSpec cluster(NodeSpec node, std::int64_t nodes, FabricSpec wiring) {
  ClusterSpec cluster;
  cluster.name = node.name + "-cluster";
  cluster.gpu = a100();
  cluster.node = std::move(node);
  cluster.nodes = nodes;
  cluster.fabric = wiring;
  return cluster;
}

}  // namespace stagecraft::samples
