#pragma once
// What is wrong with a cluster: wires, NICs and GPUs below their rate, a fabric that others use too, settings of the
// hosts that send traffic the long way round.

#include <cstdint>
#include <string>
#include <vector>

namespace stagecraft {

enum class FaultKind : std::uint8_t {
  wire,            // a wire of a node at a fraction of its rate; 0: down
  nic,             // a NIC at a fraction of its rate; 0: down, its GPUs use another one
  gpu,             // a GPU whose kernels take longer
  leaf,            // a leaf switch with a fraction of its rate to the spine
  background,      // other tenants take a part of the fabric between leaves
  gpudirect_off,   // what goes through a NIC passes host memory
  access_control,  // PCIe access control services: traffic between devices goes up to the root and down again
  nic_moved        // a NIC in a slot of another switch or socket
};

std::string to_text(FaultKind kind);

struct FaultSpec {
  FaultKind kind = FaultKind::nic;
  std::vector<std::int64_t> nodes;  // that have it, ascending; empty: all
  std::string device;               // of nic, gpu and nic_moved
  std::string from, to;             // of wire: its ends; of nic_moved: `to` is where the NIC is
  double left = 1;                  // fraction of the rate (or of the GPU's speed) that is left
  std::int64_t leaf_group = -1;     // of leaf and background; -1: all
  std::int64_t rail = -1;           // of leaf on a rail-optimised fabric; -1: all
};

/// Of the inside of a node, not of the fabric.
inline bool is_of_node(const FaultSpec& fault) {
  return fault.kind != FaultKind::leaf && fault.kind != FaultKind::background;
}

/// Whether all nodes, and so all data replicas, suffer alike.
bool is_even(const FaultSpec& fault);

/// "nic2 of node 3 at 50 %": what a message calls it.
std::string describe(const FaultSpec& fault);

}  // namespace stagecraft
