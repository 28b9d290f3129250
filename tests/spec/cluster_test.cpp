#include <map>

#include "base/json_reader.hpp"
#include "spec/name_pattern.hpp"
#include "spec_test.hpp"

using namespace stagecraft;
using namespace stagecraft::test;

namespace {

std::vector<std::string> names(const std::string& pattern) {
  const JsonDocument document = JsonDocument::from_text("\"" + pattern + "\"", "pattern");
  std::vector<std::string> found;
  for (const NumberedName& name : expand_names(document.root())) found.push_back(name.name);
  return found;
}

std::string at(const std::string& pattern, std::int64_t i) {
  const JsonDocument document = JsonDocument::from_text("\"" + pattern + "\"", "pattern");
  return name_at(document.root(), i);
}

}  // namespace

TEST_CASE("a row of devices is written once") {
  CHECK(names("gpu{0..3}") == std::vector<std::string>{"gpu0", "gpu1", "gpu2", "gpu3"});
  CHECK(names("tray{2..3}-nic") == std::vector<std::string>{"tray2-nic", "tray3-nic"});
  CHECK(names("nvswitch") == std::vector<std::string>{"nvswitch"});
  CHECK(names("x{7..7}") == std::vector<std::string>{"x7"});
}

TEST_CASE("rows that make no sense are refused") {
  for (const char* pattern : {"gpu{3..0}", "gpu{0..}", "gpu{..3}", "gpu{a..b}", "gpu{0..3", "gpu0..3}", "gpu{}",
                              "gpu{0..1}{0..1}", "", "gpu{-1..3}", "gpu{0..4096}", "gpu{0..99999999999999999999}"}) {
    CAPTURE(pattern);
    CHECK_FALSE(problems_of([&] { names(pattern); }).empty());
  }
}

TEST_CASE("the far end of a row of wires is a formula of i") {
  CHECK(at("pcie{i/2}", 5) == "pcie2");
  CHECK(at("pcie{i%4}", 5) == "pcie1");
  CHECK(at("x{i*2+1}", 3) == "x7");
  CHECK(at("x{1+i*2}", 3) == "x7");
  CHECK(at("x{7-i-1}", 2) == "x4");
  CHECK(at("x{i / 4}y{i % 4}", 6) == "x1y2");
  CHECK(at("nvswitch", 6) == "nvswitch");
}

TEST_CASE("formulas that make no sense are refused") {
  for (const char* pattern : {"x{i/0}", "x{i%0}", "x{i-9}", "x{j}", "x{}", "x{i+}", "x{*i}", "x{i", "xi}",
                              "x{i*999999*999999}", "x{99999999999999999999}"}) {
    CAPTURE(pattern);
    CHECK_FALSE(problems_of([&] { at(pattern, 5); }).empty());
  }
}

TEST_CASE("every GPU of the DGX-1 has six NVLinks, wired as a hybrid cube mesh") {
  const ClusterSpec cluster = load_cluster("dgx-1-v100", shipped_library());
  std::map<std::string, double> links;
  std::map<std::string, int> neighbours;
  for (const WireSpec& wire : cluster.node.wires) {
    if (wire.kind != LinkKind::nvlink) continue;
    for (const std::string& end : {wire.from, wire.to}) {
      links[end] += wire.nominal.value / 25e9;
      ++neighbours[end];
    }
  }
  REQUIRE(links.size() == 8);
  for (const auto& [gpu, count] : links) {
    CAPTURE(gpu);
    CHECK(count == 6);
    CHECK(neighbours[gpu] == 4);
  }
}

TEST_CASE("the machines have the devices that their makers name") {
  const ClusterSpec selene = load_cluster("selene", shipped_library());
  CHECK(selene.nodes * gpus_per_node(selene.node) == 4480);
  CHECK(nics_per_node(selene.node) == 8);
  CHECK(selene.fabric.nic_nominal.value == 25e9);
  CHECK(selene.fabric.kind == FabricKind::rail_optimised);
  const ClusterSpec eos = load_cluster("eos", shipped_library());
  CHECK(eos.nodes * gpus_per_node(eos.node) == 4608);
  CHECK(eos.gpu.peak.at(Dtype::bf16).value == 989e12);
  CHECK(eos.node.gpu == "H100-SXM5-80GB");
  const ClusterSpec dgx1 = load_cluster("dgx-1-v100", shipped_library());
  CHECK(gpus_per_node(dgx1.node) == 8);
  CHECK(nics_per_node(dgx1.node) == 4);
  const ClusterSpec box = load_cluster("box-4x4090", shipped_library());
  CHECK(gpus_per_node(box.node) == 4);
  CHECK_FALSE(box.node.peer_to_peer);
  CHECK(box.fabric.kind == FabricKind::none);
  CHECK(gpus_per_node(load_cluster("box-1gpu", shipped_library()).node) == 1);
  CHECK(gpus_per_node(load_cluster("host-2core", shipped_library()).node) == 2);
}

TEST_CASE("no rate that was measured exceeds what is labelled") {
  for (const std::string& name : cluster_names(shipped_library())) {
    CAPTURE(name);
    const ClusterSpec cluster = load_cluster(name, shipped_library());
    for (const WireSpec& wire : cluster.node.wires) {
      CHECK(wire.achieved <= wire.nominal);
      CHECK_FALSE(wire.source.empty());
    }
    CHECK(cluster.fabric.nic_achieved <= cluster.fabric.nic_nominal);
    CHECK(cluster.gpu.memory_usable <= cluster.gpu.memory);
  }
}

TEST_CASE("wires join two different devices that exist, once") {
  const std::string wire = R"("kind":"pcie","nominal":"1 GB/s","latency":"1 us","source":"x")";
  const auto problem = [&](const std::string& ends) {
    return refused([&] { small({"cluster.node.wires=[{" + ends + "," + wire + "}]"}); });
  };
  CHECK(problem(R"("from":"gpu1","to":"cpu")").nearest == "gpu0");
  CHECK(contains(problem(R"("from":"gpu0","to":"gpu0")").got, "at both ends"));
  CHECK(contains(problem(R"("pairs":[["gpu0","cpu"],["cpu","gpu0"]])").got, "a second wire"));
  CHECK(problem(R"("pairs":[["gpu0"]])").pointer == "/cluster/node/wires/0/pairs/0");
  CHECK(problem(R"("from":"gpu0")").pointer == "/cluster/node/wires/0/to");
  CHECK(problem(R"("from":"gpu0","to":"cpu","pairs":[["gpu0","cpu"]])").pointer == "/cluster/node/wires/0/from");
}

TEST_CASE("devices have names of their own and at least one is a GPU") {
  CHECK(contains(
      refused([] { small({R"(cluster.node.devices=[{"kind":"gpu","name":"a"},{"kind":"cpu","name":"a"}])"}); }).got,
      "a second time"));
  CHECK(
      contains(refused([] { small({R"(cluster.node.devices=[{"kind":"cpu","name":"cpu"}])"}); }).expected, "\"gpu\""));
}

TEST_CASE("a job may be given the first GPUs of each machine only") {
  const auto cluster = [](const std::string& rest) {
    return parse_scenario(R"({"model": "gpt-1.7b", "parallel": {"data": 8}, "batch": {"global": 8},
                            "cluster": {"extends": "gb200-nvl72", "nodes": 2)" +
                              rest + "}}",
                          "test", {}, shipped_library())
        .cluster;
  };
  const ClusterSpec whole = cluster(""), part = cluster(R"(, "gpus_per_node": 64)");
  CHECK(gpus_per_node(whole.node) == 72);
  CHECK(gpus_per_node(part.node) == 64);
  CHECK(nics_per_node(part.node) == 72);
  CHECK(whole.node.wires.size() - part.node.wires.size() == 2 * 8);  // each GPU to the switch and to its CPU
  for (const WireSpec& wire : part.node.wires) CHECK((wire.from != "gpu64" && wire.from != "gpu71"));
  const std::vector<InputProblem> many = problems_of([&] { cluster(R"(, "gpus_per_node": 73)"); });
  REQUIRE(many.size() == 1);
  CHECK(many.front().pointer == "/cluster/gpus_per_node");
  CHECK(many.front().nearest == "72");
  CHECK_FALSE(problems_of([&] { cluster(R"(, "gpus_per_node": 0)"); }).empty());
}
