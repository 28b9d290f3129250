#include "topology/check_topology.hpp"

#include <catch2/catch.hpp>

#include "sample_clusters.hpp"
#include "spec/scenario.hpp"

using namespace stagecraft;
using namespace stagecraft::samples;

namespace {

std::vector<std::string> codes(const ClusterSpec& cluster) {
  std::vector<std::string> found;
  for (const Finding& finding : check_topology(cluster)) found.push_back(finding.code);
  return found;
}

Finding only_finding(const ClusterSpec& cluster) {
  const Findings findings = check_topology(cluster);
  REQUIRE(findings.size() == 1);
  return findings.front();
}

void cut(NodeSpec& node, const std::string& device, LinkKind kind) {
  std::erase_if(node.wires,
                [&](const WireSpec& wire) { return wire.kind == kind && (wire.from == device || wire.to == device); });
}

WireSpec& wire_of(NodeSpec& node, const std::string& device, LinkKind kind) {
  for (WireSpec& wire : node.wires) {
    if (wire.kind == kind && (wire.from == device || wire.to == device)) return wire;
  }
  FAIL("no such wire");
  return node.wires.front();
}

ClusterSpec dgx(int nodes = 2) {
  ClusterSpec made = cluster(dgx_a100_node(), nodes, fabric(FabricKind::rail_optimised));
  made.gpu = a100();
  return made;
}

using Codes = std::vector<std::string>;

}  // namespace

TEST_CASE("a sound cluster has no finding", "[topology]") {
  CHECK(codes(dgx()).empty());
}

TEST_CASE("every shipped cluster passes the check; oddities are those of the machines", "[topology]") {
  const std::string root = STAGECRAFT_SOURCE_DIR;
  const Library library{{root + "/scenarios", root + "/topologies"}};
  for (const std::string& name : cluster_names(library)) {
    INFO(name);
    std::string errors;
    for (const Finding& finding : check_topology(load_cluster(name, library))) {
      if (finding.severity == Severity::error) errors += to_text(finding) + "\n";
    }
    CHECK(errors == "");
  }
}

TEST_CASE("a GPU that no wire joins is named, with the wire that its siblings have", "[topology]") {
  ClusterSpec made = dgx(1);
  cut(made.node, "gpu5", LinkKind::nvlink);
  cut(made.node, "gpu5", LinkKind::pcie);
  const Findings findings = check_topology(made);
  REQUIRE(findings.size() >= 2);
  CHECK(findings[0].code == "unwired-device");
  CHECK(findings[0].nearest == "a wire gpu5-nvswitch");
  CHECK(findings[1].code == "unreachable-gpu");
  CHECK(findings[1].message == "no path from gpu0 to gpu5; expected wires that join all GPUs of a node");
}

TEST_CASE("with several nodes every GPU needs a way to a NIC", "[topology]") {
  ClusterSpec made = dgx();
  cut(made.node, "gpu3", LinkKind::pcie);  // NVLink to other GPUs is no way to a NIC
  CHECK(codes(made) == Codes{"gpu-without-nic"});
  CHECK(only_finding(made).nearest == "a wire gpu3-nic0");
  made.nodes = 1;
  CHECK(codes(made).size() <= 1);  // at most a word on uneven NICs
}

TEST_CASE("copies that are staged need a way to host memory", "[topology]") {
  ClusterSpec made = dgx(1);
  made.node.peer_to_peer = false;
  CHECK(codes(made).empty());
  std::erase_if(made.node.wires,
                [](const WireSpec& wire) { return wire.to.starts_with("cpu") && wire.from != "cpu0"; });
  std::erase_if(made.node.wires, [](const WireSpec& wire) { return wire.from.starts_with("cpu"); });
  const Codes found = codes(made);
  CHECK(std::find(found.begin(), found.end(), "gpu-without-host") != found.end());
}

TEST_CASE("a wire or NIC that achieves more than its label is refused with the label", "[topology]") {
  ClusterSpec made = dgx();
  wire_of(made.node, "gpu2", LinkKind::nvlink).achieved = GBps(301);
  CHECK(only_finding(made).code == "achieved-above-nominal");
  CHECK(only_finding(made).nearest == "\"300 GB/s\"");
  made = dgx();
  made.fabric.nic_achieved = GBps(26);
  CHECK(only_finding(made).pointer == "/fabric/nic_achieved");
}

TEST_CASE("labels are held against the generation of the GPU", "[topology]") {
  SECTION("twelve NVLinks of 25 GB/s make 300 GB/s") {
    ClusterSpec made = dgx();
    for (int gpu = 0; gpu < 8; ++gpu) {
      WireSpec& wire = wire_of(made.node, "gpu" + std::to_string(gpu), LinkKind::nvlink);
      wire.nominal = wire.achieved = GBps(450);
    }
    CHECK(only_finding(made).code == "nominal-above-hardware");
    CHECK(only_finding(made).nearest == "\"300 GB/s\"");
    made.gpu.architecture = "hopper";
    CHECK(codes(made).empty());
  }
  SECTION("an Ampere slot is PCIe 4") {
    ClusterSpec made = dgx();
    WireSpec& wire = wire_of(made.node, "gpu0", LinkKind::pcie);
    wire.nominal = wire.achieved = GBps(63);
    CHECK(only_finding(made).code == "nominal-above-hardware");
    CHECK_THAT(only_finding(made).message, Catch::Contains("PCIe 4 x16"));
  }
  SECTION("Ada has no NVLink") {
    ClusterSpec made = dgx();
    made.gpu.architecture = "ada";
    CHECK_THAT(only_finding(made).message, Catch::Contains("expected none"));
  }
}

TEST_CASE("a NIC faster than its slot, or on another socket than its GPUs, is worth a warning", "[topology]") {
  SECTION("slot") {
    ClusterSpec made = dgx();
    wire_of(made.node, "nic4", LinkKind::pcie).nominal = GBps(15.75);
    wire_of(made.node, "nic4", LinkKind::pcie).achieved = GBps(12);
    CHECK(only_finding(made).code == "nic-above-slot");
    CHECK(only_finding(made).severity == Severity::warning);
  }
  SECTION("socket") {
    ClusterSpec made = dgx();
    for (int nic = 0; nic < 4; ++nic) {  // all NICs on the second socket
      WireSpec& wire = wire_of(made.node, "nic" + std::to_string(nic), LinkKind::pcie);
      (wire.from.starts_with("nic") ? wire.to : wire.from) = "pcie2";
    }
    CHECK(codes(made) == Codes{"nic-on-other-socket"});
    CHECK_THAT(only_finding(made).message, Catch::Contains("cpu0->cpu1"));
  }
}

TEST_CASE("NICs that GPUs share unevenly and GPUs with fewer links than the others stand out", "[topology]") {
  ClusterSpec made = dgx();
  std::erase_if(made.node.devices, [](const DeviceSpec& device) { return device.name == "nic7"; });
  cut(made.node, "nic7", LinkKind::pcie);
  CHECK(codes(made) == Codes{"uneven-nics"});
  made = dgx();
  wire_of(made.node, "gpu6", LinkKind::nvlink).nominal = GBps(275);
  wire_of(made.node, "gpu6", LinkKind::nvlink).achieved = GBps(275);
  CHECK(codes(made) == Codes{"uneven-gpus"});
}
