#include <catch2/catch.hpp>

#include "base/input_error.hpp"
#include "spec/parse_cluster.hpp"

using namespace stagecraft;
using Catch::Contains;

namespace {

ClusterSpec selene(const std::string& fields) {
  const std::string root = STAGECRAFT_SOURCE_DIR;
  return parse_cluster(R"({"extends": "selene", )" + fields + "}", "test.json",
                       Library{{root + "/scenarios", root + "/topologies"}});
}

InputProblem problem(const std::string& fault) {
  try {
    selene(R"("faults": [)" + fault + "]");
  } catch (const InputError& error) {
    return error.problems().front();
  }
  FAIL("accepted");
  return {};
}

}  // namespace

TEST_CASE("faults are read with their fields", "[spec]") {
  const ClusterSpec cluster = selene(R"("faults": [
    {"kind": "nic", "device": "nic2", "nodes": [7, 3, 7], "rate": 0.5},
    {"kind": "gpu", "device": "gpu5", "speed": 0.8},
    {"kind": "background", "load": 0.25, "leaf_group": 2}])");
  REQUIRE(cluster.faults.size() == 3);
  CHECK(cluster.faults[0].nodes == std::vector<std::int64_t>{3, 7});
  CHECK(describe(cluster.faults[0]) == "nic2 of nodes 3, 7 at 50 %");
  CHECK_FALSE(is_even(cluster.faults[0]));
  CHECK(describe(cluster.faults[1]) == "gpu5 of every node at 80 % of its speed");
  CHECK(cluster.faults[2].left == 0.75);
  CHECK(describe(cluster.faults[2]) == "other tenants take 25 % of the fabric of leaf group 2");
}

TEST_CASE("a fault of something that the cluster does not have is refused with what it has", "[spec]") {
  CHECK(problem(R"({"kind": "nic", "device": "nic9", "rate": 0.5})").nearest == "\"nic0\"");
  CHECK(problem(R"({"kind": "nic", "device": "gpu0", "rate": 0.5})").pointer == "/faults/0/device");
  CHECK(problem(R"({"kind": "nic", "device": "nic1", "rate": 1.5})").pointer == "/faults/0/rate");
  CHECK(problem(R"({"kind": "nic", "device": "nic1", "rate": 0.5, "nodes": [560]})").pointer == "/faults/0/nodes/0");
  CHECK(problem(R"({"kind": "nic", "device": "nic1", "rate": 0.5, "nodes": []})").pointer == "/faults/0/nodes");
  CHECK(problem(R"({"kind": "nik", "device": "nic1", "rate": 0.5})").nearest == "\"nic\"");
  CHECK(problem(R"({"kind": "gpu", "device": "gpu1", "rate": 0.5})").pointer == "/faults/0/speed");
  CHECK_THAT(problem(R"({"kind": "wire", "from": "gpu0", "to": "gpu1", "rate": 0})").nearest, Contains("gpu0"));
  CHECK(problem(R"({"kind": "leaf", "rail": 8, "rate": 0.5})").pointer == "/faults/0/rail");
  CHECK(problem(R"({"kind": "leaf", "leaf_group": 28, "rate": 0.5})").pointer == "/faults/0/leaf_group");
  CHECK(problem(R"({"kind": "background", "load": 1})").pointer == "/faults/0/load");
  CHECK(problem(R"({"kind": "nic_moved", "device": "nic1", "to": "gpu0"})").pointer == "/faults/0/to");
}

TEST_CASE("faults of a fabric need one", "[spec]") {
  const std::string root = STAGECRAFT_SOURCE_DIR;
  const Library library{{root + "/scenarios", root + "/topologies"}};
  CHECK_THROWS_WITH(
      parse_cluster(R"({"extends": "box-4x4090", "faults": [{"kind": "leaf", "rate": 0.5}]})", "t", library),
      Contains("leaf needs a fat_tree or rail_optimised fabric"));
}

TEST_CASE("a dragonfly and fixed routing are read with their fields", "[spec]") {
  const std::string root = STAGECRAFT_SOURCE_DIR;
  const ClusterSpec fly = parse_cluster(
      R"({"name": "fly", "source": "round figures", "gpu": "L40S", "nodes": 64, "calibration": "rtx4090-pcie",
    "node": {"name": "box", "host_memory": "1 TB", "source": "round figures",
      "devices": [{"kind": "gpu", "name": "gpu0"}, {"kind": "nic", "name": "nic0"}],
      "wires": [{"from": "gpu0", "to": "nic0", "kind": "pcie", "nominal": "31 GB/s", "latency": "0.2 us", "source": "x"}]},
    "fabric": {"kind": "dragonfly", "nic_nominal": "200 Gb/s", "nic_latency": "1 us", "switch_latency": "0.2 us",
      "nodes_per_leaf_group": 4, "switches_per_group": 16, "local_rate": "400 Gb/s", "global_rate": "800 Gb/s",
      "routing": "fixed", "source": "round figures"}})",
      "test.json", Library{{root + "/scenarios", root + "/topologies"}});
  CHECK(fly.fabric.kind == FabricKind::dragonfly);
  CHECK(fly.fabric.global_rate.value == 100e9);
  CHECK(fly.fabric.routing == Routing::fixed);
  CHECK(selene(R"("fabric": {"routing": "fixed", "hash_seed": 7})").fabric.hash_seed == 7);
  CHECK_THROWS_WITH(selene(R"("fabric": {"hash_seed": 7})"), Contains("hash_seed"));
  CHECK_THROWS_WITH(selene(R"("fabric": {"switches_per_group": 7})"), Contains("switches_per_group"));
  CHECK_THROWS_WITH(selene(R"("fabric": {"routing": "ecmp"})"), Contains("fixed"));
}
