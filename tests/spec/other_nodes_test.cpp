// Clusters with nodes of several kinds, as files write them.
#include <catch2/catch.hpp>

#include "base/input_error.hpp"
#include "spec/parse_cluster.hpp"

using namespace stagecraft;
using Catch::Contains;

namespace {

const std::string root = STAGECRAFT_SOURCE_DIR;
const Library library{{root + "/scenarios", root + "/topologies"}};

/// 8 nodes of azure-nd-a100-v4 with these members.
ClusterSpec azure(const std::string& fields) {
  return parse_cluster(R"({"extends": "azure-nd-a100-v4", "nodes": 8, )" + fields + "}", "test.json", library);
}

InputProblem problem(const std::string& fields) {
  try {
    azure(fields);
  } catch (const InputError& error) {
    return error.problems().front();
  }
  FAIL("accepted: " << fields);
  return {};
}

}  // namespace

TEST_CASE("the last nodes are of the other kind, with its GPU, NICs and calibration", "[spec]") {
  const ClusterSpec cluster = azure(R"("other_nodes": [{"count": 3, "cluster": "azure-nd-h100-v5"}])");
  REQUIRE(kind_count(cluster) == 2);
  CHECK(first_node_of(cluster, 1) == 5);
  CHECK(kind_of_node(cluster, 4) == 0);
  CHECK(kind_of_node(cluster, 5) == 1);
  CHECK(kind_of_node(cluster, 7) == 1);
  const ClusterSpec other = load_cluster("azure-nd-h100-v5", library);
  CHECK(gpu_of_kind(cluster, 0).name == "A100-SXM4-80GB");
  CHECK(gpu_of_kind(cluster, 1).name == other.gpu.name);
  CHECK(nic_rate_of_kind(cluster, 1).nominal == other.fabric.nic_nominal);
  CHECK(cluster.other_nodes[0].calibration == other.calibration);
}

TEST_CASE("several kinds follow each other in the order of the file", "[spec]") {
  const ClusterSpec cluster = azure(R"("other_nodes": [{"count": 2, "cluster": "azure-nd-h100-v5"},
      {"count": 1, "cluster": {"extends": "azure-nd-a100-v4", "gpu": {"extends": "A100-SXM4-80GB", "memory": "40 GiB", "memory_usable": "39 GiB"}}}])");
  CHECK(first_node_of(cluster, 1) == 5);
  CHECK(first_node_of(cluster, 2) == 7);
  CHECK(gpu_of_kind(cluster, 2).memory == Bytes{40.0 * 1073741824});
}

TEST_CASE("kinds that the cluster has no room or no place for are refused", "[spec]") {
  const InputProblem many = problem(R"("other_nodes": [{"count": 8, "cluster": "azure-nd-h100-v5"}])");
  CHECK(many.pointer == "/other_nodes/0/count");
  CHECK(many.nearest == "\"nodes\": 9");
  const InputProblem gpus = problem(R"("other_nodes": [{"count": 1, "cluster": "box-4x4090"}])");
  CHECK(gpus.pointer == "/other_nodes/0/cluster");
  CHECK_THAT(gpus.expected, Contains("8 GPUs per node"));
  CHECK_THAT(problem(R"("other_nodes": [{"count": 1, "cluster": "azure-nd-h100-v6"}])").nearest,
             Contains("azure-nd-h100-v5"));
  CHECK(problem(R"("other_nodes": [{"cluster": "azure-nd-h100-v5"}])").pointer == "/other_nodes/0/count");
}

TEST_CASE("a kind is a cluster whose nodes are alike and sound", "[spec]") {
  CHECK_THAT(problem(R"("other_nodes": [{"count": 1, "cluster": {"extends": "azure-nd-h100-v5", "nodes": 4,
                        "other_nodes": [{"count": 1, "cluster": "azure-nd-a100-v4"}]}}])")
                 .expected,
             Contains("alike"));
  CHECK_THAT(problem(R"("other_nodes": [{"count": 1, "cluster": {"extends": "azure-nd-h100-v5",
                        "faults": [{"kind": "gpudirect_off"}]}}])")
                 .expected,
             Contains("without faults"));
}

TEST_CASE("a fault names a device that the nodes have that it is on", "[spec]") {
  const std::string kinds = R"("other_nodes": [{"count": 3, "cluster": "azure-nd-h100-v5"}], "faults": )";
  // The H100 nodes have a PCIe switch per GPU; the others one for two.
  CHECK(azure(kinds + R"([{"kind": "nic_moved", "nodes": [6], "device": "nic0", "to": "pcie7"}])").faults.size() == 1);
  CHECK(problem(kinds + R"([{"kind": "nic_moved", "nodes": [2], "device": "nic0", "to": "pcie7"}])").pointer ==
        "/faults/0/to");
  CHECK_THAT(problem(kinds + R"([{"kind": "nic_moved", "device": "nic0", "to": "pcie7"}])").expected,
             Contains("ND A100"));
}
