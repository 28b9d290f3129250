#pragma once
// A node under way, and what is known of GPUs that dumps only hint at. Internal to the room.

#include <string>
#include <vector>

#include "exchange/topology_import.hpp"

namespace stagecraft {

/// What a dump leaves out about a GPU.
struct KnownGpu {
  const char* name;         // of topologies/gpus
  int compute_capability;   // 90
  double link_GBps;         // of one link to another GPU, per direction
  int links;                // most of them; 0: none
  double slot_GBps;         // per direction
  const char* calibration;  // of topologies/calibrations
};

/// Throws InputError with the nearest name if `wanted` is not "" and unknown. By compute capability: the first of it.
const KnownGpu& known_gpu(const std::string& wanted, int compute_capability, const std::string& file);

struct NodeDraft {
  std::vector<DeviceSpec> devices;
  std::vector<WireSpec> wires;  // of latency 0: that of its kind is written
  std::string source;
  double nic_GBps = 0;  // 0: unknown
};

inline constexpr std::size_t most_dump_bytes = std::size_t{16} << 20;
inline constexpr std::size_t most_dump_devices = 1024;

[[noreturn]] void refuse_dump(const std::string& file, int line, const std::string& got, const std::string& expected,
                              const std::string& nearest = "");

/// The cluster of such nodes.
ImportedTopology finished_topology(const NodeDraft& node, const KnownGpu& gpu, const TopologyRequest& request,
                                   const std::string& file, std::vector<std::string> assumed);

/// The base with so many nodes, in leaf groups of so many (0: as the base has them).
ImportedTopology resized_base(const TopologyRequest& request, const std::string& file, std::int64_t nodes,
                              std::int64_t nodes_per_leaf_group, std::vector<std::string> assumed);

/// Lines without comments (from '#') and without spaces at their ends, with their numbers; empty ones are left out.
struct DumpLine {
  int number = 0;
  std::string text;
};
std::vector<DumpLine> dump_lines(std::string_view text);
std::vector<std::string> words_of(const std::string& line);

}  // namespace stagecraft
