#include "sim/traffic_sample.hpp"

#include <catch2/catch.hpp>

#include "sample_job.hpp"
#include "sim/playbook.hpp"
#include "sim/simulate.hpp"

using namespace stagecraft;
using namespace stagecraft::samples;

namespace {

void check_equal(const Playbook& whole, const Playbook& sampled) {
  REQUIRE(whole.links.size() == sampled.links.size());
  for (std::size_t i = 0; i < whole.links.size(); ++i) {
    CHECK(whole.links[i].rate == sampled.links[i].rate);
    CHECK(whole.links[i].bytes_per_unit == sampled.links[i].bytes_per_unit);
  }
  REQUIRE(whole.paths.size() == sampled.paths.size());
  for (std::size_t i = 0; i < whole.paths.size(); ++i) {
    CHECK(whole.paths[i].cap == sampled.paths[i].cap);
    REQUIRE(whole.paths[i].crossings.size() == sampled.paths[i].crossings.size());
    for (std::size_t k = 0; k < whole.paths[i].crossings.size(); ++k) {
      CHECK(whole.paths[i].crossings[k].link == sampled.paths[i].crossings[k].link);
      CHECK(whole.paths[i].crossings[k].crossings == sampled.paths[i].crossings[k].crossings);
    }
  }
  REQUIRE(whole.moves.size() == sampled.moves.size());
  for (std::size_t i = 0; i < whole.moves.size(); ++i) {
    CHECK(whole.moves[i].seconds == sampled.moves[i].seconds);
    CHECK(whole.moves[i].path == sampled.moves[i].path);
    CHECK(whole.moves[i].units == sampled.moves[i].units);
  }
}

}  // namespace

TEST_CASE("what is played does not depend on the replicas that are left out", "[sim]") {
  struct Row {
    std::int64_t tensor, context, pipeline, data, idle_nodes, shard = 0;
  };
  // Replicas that fill nodes and leaf groups, that straddle them, and that leave a rest; shards that do.
  for (const Row& row : {Row{1, 1, 1, 96, 0}, Row{1, 1, 1, 99, 1}, Row{2, 1, 2, 48, 0}, Row{2, 1, 3, 53, 0},
                         Row{4, 1, 2, 27, 2}, Row{8, 1, 2, 14, 0}, Row{8, 1, 4, 13, 0}, Row{16, 1, 2, 9, 0},
                         Row{2, 2, 2, 29, 0}, Row{4, 2, 3, 11, 1}, Row{1, 1, 2, 96, 0, 8}, Row{1, 1, 1, 264, 0, 24},
                         Row{2, 1, 2, 132, 1, 12}, Row{2, 2, 2, 36, 0, 8}, Row{8, 1, 2, 14, 0, 2}}) {
    for (const FabricKind kind : {FabricKind::single_switch, FabricKind::fat_tree, FabricKind::rail_optimised}) {
      const std::int64_t world = row.tensor * row.context * row.pipeline * row.data;
      Scenario sample = scenario(row.tensor, row.pipeline, row.data, (world + 7) / 8 + row.idle_nodes);
      sample.run.parallel.context = row.context;
      sample.run.overlap.gradient_reduce = true;
      sample.run.zero_stage = row.shard > 0 ? 2 : 0;
      sample.run.sharding.group = row.shard;
      sample.cluster.fabric = fabric(kind, 2, 4);
      sample.model.tied_embeddings = true;
      const Job job = job_of(sample, "1f1b");
      const LocalCosts costs = local_costs(job.plan, job.schedule, job.model, job.topology, true);
      const auto playbook = [&](bool sampled) {
        return make_playbook(job.plan, job.schedule, costs, job.topology,
                             traffic_sample(job.plan, job.topology, sampled), true);
      };
      INFO("tensor " << row.tensor << ", context " << row.context << ", pipeline " << row.pipeline << ", data "
                     << row.data << ", shard " << row.shard << ", fabric " << static_cast<int>(kind));
      CHECK(walked_ranks(job.plan, job.topology) < world);
      check_equal(playbook(false), playbook(true));
    }
  }
}

TEST_CASE("a hundred thousand machines are walked like forty", "[sim]") {
  Scenario sample = scenario(8, 2, 1 << 17, 1 << 18);
  sample.cluster.fabric = fabric(FabricKind::rail_optimised, 4);
  const Job job = job_of(sample, "1f1b");
  CHECK(walked_ranks(job.plan, job.topology) == 8 * 2 * 4 * 4);  // four repetitions of a leaf group of four nodes
  CHECK(simulate(job.plan, job.schedule, job.graph, job.model, job.topology, {}).end_s > 0);
}

TEST_CASE("few replicas, and replicas that are played apart, are all walked", "[sim]") {
  const Job few = job_of(scenario(8, 2, 4, 8), "1f1b");
  CHECK(walked_ranks(few.plan, few.topology) == 64);
  const Job many = job_of(scenario(8, 1, 256, 256), "1f1b");
  CHECK(traffic_sample(many.plan, many.topology, false).plan.degrees.data == 256);
}
