#include "plan/partition.hpp"

#include <algorithm>
#include <catch2/catch.hpp>
#include <numeric>
#include <random>

#include "plan/feasibility.hpp"
#include "plan/plan.hpp"
#include "sample_scenarios.hpp"

using namespace stagecraft;
using namespace stagecraft::samples;

namespace {

using Ends = std::vector<std::int32_t>;

double largest_part(const std::vector<double>& weights, const Ends& ends) {
  double largest = 0;
  std::ptrdiff_t at = 0;
  for (const std::int32_t end : ends) {
    largest = std::max(largest, std::accumulate(weights.begin() + at, weights.begin() + end, 0.0));
    at = end;
  }
  return largest;
}

/// The smallest largest part over all ways to cut, by trying them all.
double best_by_search(const std::vector<double>& weights, std::size_t from, int parts) {
  const double rest = std::accumulate(weights.begin() + static_cast<std::ptrdiff_t>(from), weights.end(), 0.0);
  if (parts == 1) return rest;
  double best = rest + 1, sum = 0;
  for (std::size_t end = from + 1; end + static_cast<std::size_t>(parts) - 1 <= weights.size(); ++end) {
    sum += weights[end - 1];
    best = std::min(best, std::max(sum, best_by_search(weights, end, parts - 1)));
  }
  return best;
}

std::vector<int> blocks_per_stage(const ModelSpec& model, const RunSpec& run) {
  const std::vector<Layer> layers = layers_of(model);
  std::vector<int> counts;
  std::int32_t at = 0;
  for (const StageLayers& stage : partition_layers(model, run)) {
    CHECK(stage.first == at);
    at = stage.last;
    counts.push_back(
        static_cast<int>(std::count_if(layers.begin() + stage.first, layers.begin() + stage.last,
                                       [](const Layer& layer) { return layer.kind == LayerKind::block; })));
  }
  CHECK(at == static_cast<std::int32_t>(layers.size()));
  return counts;
}

}  // namespace

TEST_CASE("uniform stages hold equally many blocks, the ends also embedding, head and loss", "[plan]") {
  const Scenario sample = scenario(1, 4, 1, 1, 24);
  CHECK(blocks_per_stage(sample.model, sample.run) == std::vector{6, 6, 6, 6});
  const std::vector<StageLayers> stages = partition_layers(sample.model, sample.run);
  CHECK((stages[0].last - stages[0].first) == 7);
  CHECK((stages[3].last - stages[3].first) == 8);
}

TEST_CASE("virtual stages cut the model into pipeline times virtual pieces", "[plan]") {
  Scenario sample = scenario(1, 3, 1, 1, 24);
  sample.run.parallel.virtual_stages = 2;
  CHECK(blocks_per_stage(sample.model, sample.run) == std::vector{4, 4, 4, 4, 4, 4});
}

TEST_CASE("an explicit list is followed, empty ends included", "[plan]") {
  Scenario sample = scenario(1, 4, 1, 1, 24);
  sample.run.partition = {PartitionRule::explicit_list, {0, 13, 11, 0}, {}};
  CHECK(blocks_per_stage(sample.model, sample.run) == std::vector{0, 13, 11, 0});
}

TEST_CASE("by parameters the stages with the large vocabulary get fewer blocks", "[plan]") {
  Scenario sample = scenario(1, 4, 1, 1, 24);
  sample.run.partition.rule = PartitionRule::parameters;
  // A block has 12 h^2 = 12.6 M parameters; the embedding 51200 h = 52.4 M (4.2 blocks) plus 2 M of positions, and the
  // last stage holds a copy of it. 24 + 2 x 4.3 blocks over 4 stages make 8.1 to a stage: 4 blocks at each end.
  CHECK(blocks_per_stage(sample.model, sample.run) == std::vector{4, 8, 8, 4});
}

TEST_CASE("counted with the blocks, embedding and head take the place of one each", "[plan]") {
  Scenario sample = scenario(1, 4, 1, 1, 22);
  sample.run.partition = {PartitionRule::count, {}, {"embedding", "block", "head"}};
  CHECK(blocks_per_stage(sample.model, sample.run) == std::vector{5, 6, 6, 5});
}

TEST_CASE("blocks with experts can be dealt out evenly, whatever lies between them", "[plan]") {
  Scenario sample = scenario(1, 2, 1, 1, 12);
  sample.model.moe.experts = 8;
  sample.model.moe.top_k = 2;
  sample.model.moe.ffn_hidden = 512;
  sample.model.moe.dense_blocks = 4;
  // Eight of twelve blocks have experts: four to each stage, so the cut lies behind block 7.
  sample.run.partition = {PartitionRule::count, {}, {"experts"}};
  CHECK(blocks_per_stage(sample.model, sample.run) == std::vector{8, 4});
}

TEST_CASE("a type that no layer has is refused with the nearest that one has", "[plan]") {
  Scenario sample = scenario(1, 2, 1, 1, 12);
  sample.run.partition = {PartitionRule::count, {}, {"blok"}};
  const Findings findings = check_layout(sample);
  REQUIRE(has_errors(findings));
  CHECK(findings.front().code == "partition-type");
  CHECK(findings.front().nearest == "block");
}

TEST_CASE("equal weights are cut evenly, the remainder spread", "[plan]") {
  CHECK(balanced_cuts(std::vector<double>(8, 1.0), 4) == Ends{2, 4, 6, 8});
  const Ends uneven = balanced_cuts(std::vector<double>(10, 1.0), 4);
  CHECK(uneven.back() == 10);
  CHECK(largest_part(std::vector<double>(10, 1.0), uneven) == 3);
}

TEST_CASE("every part holds something, even if all weight lies at one end", "[plan]") {
  CHECK(balanced_cuts(std::vector<double>{100, 0, 0, 0}, 4) == Ends{1, 2, 3, 4});
  CHECK(balanced_cuts(std::vector<double>{0, 0, 0, 100}, 2).back() == 4);
  CHECK(balanced_cuts(std::vector<double>{0, 0, 0}, 3) == Ends{1, 2, 3});
  CHECK(balanced_cuts(std::vector<double>{5}, 1) == Ends{1});
}

TEST_CASE("no way of cutting has a smaller largest part", "[plan]") {
  std::mt19937 random(7);
  for (int round = 0; round < 300; ++round) {
    std::vector<double> weights(1 + random() % 9);
    for (double& weight : weights) weight = static_cast<double>(random() % 20);
    const auto parts = static_cast<std::int32_t>(1 + random() % weights.size());
    const Ends ends = balanced_cuts(weights, parts);
    CHECK(ends.size() == static_cast<std::size_t>(parts));
    CHECK(ends.back() == static_cast<std::int32_t>(weights.size()));
    CHECK(std::adjacent_find(ends.begin(), ends.end(), std::greater_equal<>()) == ends.end());
    CHECK(ends.front() > 0);
    CHECK(largest_part(weights, ends) == best_by_search(weights, 0, parts));
  }
}

TEST_CASE("a plan fills the cluster in rank order and counts micro-batches", "[plan]") {
  const Scenario sample = scenario(8, 4, 2, 8, 24);
  REQUIRE_FALSE(has_errors(check_feasible(sample)));
  const Plan plan = make_plan(sample);
  CHECK(plan.micro_batches == 8);
  CHECK(plan.stages.size() == 4);
  CHECK(gpu_of(plan, Rank(17)) == GpuId(17));
  CHECK(representative(plan, PipelineRank(1)) == Rank(16));
}

TEST_CASE("the vocabulary is padded to 128 times the tensor degree", "[plan]") {
  CHECK(padded_vocabulary(50257, 1) == 50304);
  CHECK(padded_vocabulary(50257, 8) == 51200);
  CHECK(padded_vocabulary(51200, 8) == 51200);
}
