#include "search/sensitivity.hpp"

#include <catch2/catch.hpp>

#include "../plan/sample_scenarios.hpp"

using namespace stagecraft;
using namespace stagecraft::samples;

TEST_CASE("twice the bandwidth is twice that of every link between any two GPUs", "[search]") {
  for (const FabricKind kind :
       {FabricKind::single_switch, FabricKind::fat_tree, FabricKind::rail_optimised, FabricKind::dragonfly}) {
    SearchContext context;
    context.scenario = scenario(8, 1, 8, 8);
    context.scenario.cluster.fabric = fabric(kind, 2, 4);
    context.scenario.cluster.fabric.switches_per_group = 2;
    context.scenario.cluster.fabric.local_rate = context.scenario.cluster.fabric.global_rate = GBps(50);
    context.topology = build_topology(context.scenario.cluster);
    SearchContext twice = context;
    scale_bandwidth(twice, 2);
    Route route;
    for (const std::int32_t to : {1, 9, 17, 63}) {
      find_route(context.topology, GpuId(0), GpuId(to), route);
      REQUIRE_FALSE(route.links.empty());
      for (const LinkId id : route.links) {
        CAPTURE(to_text(kind), link(context.topology, id).name);
        CHECK(link(twice.topology, id).achieved.value == Approx(2 * link(context.topology, id).achieved.value));
      }
    }
  }
}
