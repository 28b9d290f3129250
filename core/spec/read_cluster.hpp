#pragma once
// Cluster and GPU files: JSON to ClusterSpec.

#include <functional>
#include <string>

#include "base/json_reader.hpp"
#include "spec/cluster_spec.hpp"
#include "spec/object_reader.hpp"

namespace stagecraft {

/// Problems and defaults go to `reading`; `where` is the pointer of the object in the scenario.
GpuSpec read_gpu(const JsonNode& object, const std::string& where, Reading& reading);
NodeSpec read_node(const JsonNode& object, const std::string& where, Reading& reading);
FabricSpec read_fabric(const JsonNode& object, const std::string& where, Reading& reading);
/// Readers of members that name a file or are an object.
struct ClusterParts {
  std::function<GpuSpec(const JsonNode&)> gpu;
  std::function<ClusterSpec(const JsonNode&, const std::string& where)> cluster;
};

/// `cluster`: all but its faults and its nodes of other kinds.
std::vector<OtherNodes> read_other_nodes(const JsonNode& list, const ClusterSpec& cluster, const std::string& where,
                                         Reading& reading, const ClusterParts& parts);
/// `cluster`: all but its faults.
std::vector<FaultSpec> read_faults(const JsonNode& list, const ClusterSpec& cluster, const std::string& where,
                                   Reading& reading);

ClusterSpec read_cluster(const JsonNode& object, const std::string& where, Reading& reading, const ClusterParts& parts);

inline constexpr std::int64_t most_nodes = std::int64_t{1} << 20;
inline constexpr std::size_t most_devices = 4096;  // of one node
inline constexpr std::size_t most_wires = 16384;   // of one node

}  // namespace stagecraft
