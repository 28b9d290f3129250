// Cutting layers into stages by time, and by time within each stage's memory; small cases by hand.
#include "estimate/balance.hpp"

#include <catch2/catch.hpp>

#include "base/refusal.hpp"

using namespace stagecraft;

namespace {

std::vector<LayerLoad> of_seconds(const std::vector<double>& seconds) {
  std::vector<LayerLoad> layers;
  for (const double one : seconds) layers.push_back({one, 0, 0});
  return layers;
}

using Ends = std::vector<std::int32_t>;

Ends cut(const std::vector<LayerLoad>& layers, const std::vector<StageRoom>& rooms) {
  return cut_by_time(layers, rooms).value_or(Ends{});
}

}  // namespace

TEST_CASE("stages are cut where the slowest takes least") {
  const std::vector<StageRoom> two(2, {0, 1e9}), three(3, {0, 1e9});
  // 1+1+1+1 | 4, and not 1+1+1 | 1+4.
  CHECK(cut(of_seconds({1, 1, 1, 1, 4}), two) == Ends{4, 5});
  // 2+1 | 3 | 1+1: any other cut has a stage of 4 or more.
  CHECK(cut(of_seconds({2, 1, 3, 1, 1}), three) == Ends{2, 3, 5});
}

TEST_CASE("among cuts of one slowest stage the others are evened out") {
  // One stage of 6 whatever happens; 2+2 | 2+2 before it rather than 2+2+2 | 2.
  CHECK(cut(of_seconds({2, 2, 2, 2, 6}), {{0, 1e9}, {0, 1e9}, {0, 1e9}}) == Ends{2, 4, 5});
}

TEST_CASE("a stage with more micro-batches in flight gets fewer layers if its memory says so") {
  // Four layers of 1 s, 10 bytes each and 5 per micro-batch. With 4 in flight two layers need 60 bytes, one needs 30.
  const std::vector<LayerLoad> layers(4, {1, 10, 5});
  CHECK(cut(layers, {{4, 60}, {1, 60}}) == Ends{2, 4});
  CHECK(cut(layers, {{4, 59}, {1, 60}}) == Ends{1, 4});
  CHECK(cut_by_time(layers, std::vector<StageRoom>{{4, 59}, {1, 44}}) == std::nullopt);
}

TEST_CASE("no stage is empty, and too few layers are no cut") {
  CHECK(cut(of_seconds({5, 0, 0}), {{0, 1e9}, {0, 1e9}, {0, 1e9}}) == Ends{1, 2, 3});
  CHECK(cut_by_time(of_seconds({5}), std::vector<StageRoom>(2, {0, 1e9})) == std::nullopt);
}

TEST_CASE("the cut is the best of all, found by trying every one") {
  // Every cut of seven layers into three stages.
  const std::vector<double> seconds{3, 1, 4, 1, 5, 9, 2};
  double least = 1e9;
  for (std::size_t a = 1; a < 6; ++a) {
    for (std::size_t b = a + 1; b < 7; ++b) {
      double sums[3] = {};
      for (std::size_t i = 0; i < 7; ++i) sums[i < a ? 0 : i < b ? 1 : 2] += seconds[i];
      least = std::min(least, std::max({sums[0], sums[1], sums[2]}));
    }
  }
  const Ends ends = cut(of_seconds(seconds), std::vector<StageRoom>(3, {0, 1e9}));
  double slowest = 0;
  std::size_t at = 0;
  for (const std::int32_t end : ends) {
    double sum = 0;
    for (; at < static_cast<std::size_t>(end); ++at) sum += seconds[at];
    slowest = std::max(slowest, sum);
  }
  CHECK(slowest == least);
}
