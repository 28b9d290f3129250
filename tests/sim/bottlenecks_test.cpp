#include "sim/bottlenecks.hpp"

#include <catch2/catch.hpp>
#include <limits>

#include "../plan/sample_scenarios.hpp"

using namespace stagecraft;
using namespace stagecraft::samples;

namespace {

constexpr double unlimited = std::numeric_limits<double>::infinity();

Topology two_nodes() {
  return build_topology(cluster(dgx_a100_node(), 2, fabric(FabricKind::single_switch)));
}

LinkId named(const Topology& topology, const std::string& name) {
  for (std::int32_t id = 0; id < link_count(topology); ++id) {
    if (link(topology, LinkId(id)).name == name) return LinkId(id);
  }
  return {};
}

}  // namespace

TEST_CASE("a link that one class uses is no bottleneck but limits it by its own flows", "[sim]") {
  const Topology topology = two_nodes();
  const LinkId nic = named(topology, "node0/nic0/up");
  const std::vector<ClassTraffic> traffic{{1, false, {{nic, 1, 4}}}};
  const Bottlenecks found = find_bottlenecks(traffic, std::vector{20e9}, topology);
  CHECK(found.links.empty());
  CHECK(found.routes[0].own_limit == Approx(24e9 / 4));
}

TEST_CASE("two classes on one NIC share its achieved rate", "[sim]") {
  const Topology topology = two_nodes();
  const LinkId nic = named(topology, "node0/nic0/up");
  const std::vector<ClassTraffic> traffic{{1, false, {{nic, 1, 1}}}, {1, false, {{nic, 1, 1}}}};
  const Bottlenecks found = find_bottlenecks(traffic, std::vector{20e9, 24e9}, topology);
  REQUIRE(found.links.size() == 1);
  CHECK(found.links[0].rate == Approx(24e9));
  CHECK(found.routes[0].crossings.size() == 1);
}

TEST_CASE("links that the same classes cross alike are one bottleneck, the slowest", "[sim]") {
  const Topology topology = two_nodes();
  std::vector<LinkUse> uses{{named(topology, "node0/gpu0->pcie0"), 1, 1},
                            {named(topology, "node0/pcie0->nic0"), 1, 1},
                            {named(topology, "node0/nic0/up"), 1, 1}};
  std::sort(uses.begin(), uses.end(), [](const LinkUse& a, const LinkUse& b) { return a.link < b.link; });
  const std::vector<ClassTraffic> traffic{{1, false, uses}, {1, false, uses}};
  const Bottlenecks found = find_bottlenecks(traffic, std::vector{24e9, 24e9}, topology);
  REQUIRE(found.links.size() == 1);
  CHECK(link(topology, found.links[0].link).name == "node0/nic0/up");
}

TEST_CASE("a link that all classes together cannot fill is left out", "[sim]") {
  const Topology topology = two_nodes();
  const LinkId nic = named(topology, "node0/nic0/up");
  const std::vector<ClassTraffic> traffic{{1, false, {{nic, 1, 1}}}, {1, false, {{nic, 1, 1}}}};
  CHECK(find_bottlenecks(traffic, std::vector{10e9, 12e9}, topology).links.empty());
}

TEST_CASE("a link carries at least what one communicator was measured to reach on it", "[sim]") {
  const Topology topology = two_nodes();
  const LinkId nic = named(topology, "node0/nic0/up");
  const std::vector<ClassTraffic> traffic{{1, false, {{nic, 1, 1}}}, {1, false, {{nic, 1, 1}}}};
  const Bottlenecks found = find_bottlenecks(traffic, std::vector{25e9, 1e9}, topology);
  REQUIRE(found.links.size() == 1);
  CHECK(found.links[0].rate == Approx(25e9));
}

TEST_CASE("common factors of the crossings are divided out, without changing any share", "[sim]") {
  const Topology topology = two_nodes();
  const LinkId nic = named(topology, "node0/nic0/up");
  const std::vector<ClassTraffic> traffic{{1, false, {{nic, 1, 96}}}, {1, false, {{nic, 1, 32}}}};
  const Bottlenecks found = find_bottlenecks(traffic, std::vector{20e9, 20e9}, topology);
  REQUIRE(found.links.size() == 1);
  CHECK(found.links[0].rate == Approx(24e9 / 32));
  CHECK(found.routes[0].crossings[0].crossings == 3);
  CHECK(found.routes[1].crossings[0].crossings == 1);
}

TEST_CASE("a class that crosses nothing has no limit", "[sim]") {
  const std::vector<ClassTraffic> traffic{{1, false, {}}};
  CHECK(find_bottlenecks(traffic, std::vector{1e9}, two_nodes()).routes[0].own_limit == unlimited);
}
