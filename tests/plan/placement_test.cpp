// Which GPU a rank runs on, by an order of axes and by a rank file.
#include "plan/placement.hpp"

#include <algorithm>
#include <catch2/catch.hpp>

#include "plan/plan.hpp"
#include "sample_scenarios.hpp"

using namespace stagecraft;
using namespace stagecraft::samples;

namespace {

std::vector<std::int32_t> gpus(const Degrees& degrees, const PlacementSpec& placement) {
  std::vector<std::int32_t> values;
  for (const GpuId gpu : placed(degrees, placement, 8)) values.push_back(gpu.value);
  return values;
}

bool mentions(const Findings& findings, const std::string& code) {
  for (const Finding& finding : findings) {
    if (finding.code == code) return true;
  }
  return false;
}

}  // namespace

TEST_CASE("in the usual order rank r runs on GPU r, and nothing is stored for it", "[plan]") {
  CHECK(placed({2, 2, 2, 2}, {}, 8).empty());
}

TEST_CASE("with the pipeline innermost the stages of a replica are neighbours", "[plan]") {
  PlacementSpec placement;
  placement.order = {ParallelAxis::pipeline, ParallelAxis::tensor, ParallelAxis::context, ParallelAxis::data};
  // tensor 2, data 2, pipeline 2: rank = t + 2 d + 4 p, GPU = p + 2 t + 4 d.
  CHECK(gpus({2, 1, 2, 2}, placement) == std::vector<std::int32_t>{0, 2, 4, 6, 1, 3, 5, 7});
}

TEST_CASE("any order is a permutation of the GPUs", "[plan]") {
  const Degrees degrees{2, 3, 4, 5};
  PlacementSpec placement;
  std::array<ParallelAxis, 4> order = placement.order;
  do {
    placement.order = order;
    std::vector<std::int32_t> sorted = gpus(degrees, placement);
    if (sorted.empty()) continue;  // the usual one
    std::sort(sorted.begin(), sorted.end());
    for (std::size_t i = 0; i < sorted.size(); ++i) REQUIRE(sorted[i] == static_cast<std::int32_t>(i));
  } while (std::next_permutation(order.begin(), order.end()));
}

TEST_CASE("a rank file puts each rank where its line says", "[plan]") {
  PlacementSpec placement;
  placement.rank_file = "ranks.txt";
  placement.places = {{1, 7}, {0, 0}};
  CHECK(gpus({1, 1, 2, 1}, placement) == std::vector<std::int32_t>{15, 0});
}

TEST_CASE("a rank file that is short, outside the cluster or uses a GPU twice is refused", "[plan]") {
  Scenario sample = scenario(1, 1, 2, 1);
  PlacementSpec& placement = sample.run.parallel.placement;
  placement.rank_file = "ranks.txt";
  placement.places = {{0, 0}, {0, 1}};
  CHECK_FALSE(mentions(check_feasible(sample), "rank-file"));
  placement.places = {{0, 0}};
  CHECK(mentions(check_feasible(sample), "rank-file"));
  placement.places = {{0, 0}, {0, 8}};
  CHECK(mentions(check_feasible(sample), "rank-file"));
  placement.places = {{0, 0}, {1, 0}};
  CHECK(mentions(check_feasible(sample), "rank-file"));
  placement.places = {{0, 3}, {0, 3}};
  CHECK(mentions(check_feasible(sample), "rank-file"));
}
