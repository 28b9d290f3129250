#include "validate/statistics.hpp"

#include <catch2/catch.hpp>

using namespace stagecraft;

TEST_CASE("error statistics of five errors follow by hand") {
  const std::vector<double> errors{0.10, -0.02, 0.04, -0.20, 0.03};
  const auto statistics = error_statistics(errors);
  REQUIRE(statistics);
  CHECK(statistics->n == 5);
  CHECK(statistics->mean == Approx(0.39 / 5));
  CHECK(statistics->median == Approx(0.04));
  CHECK(statistics->p90 == Approx(0.20));  // nine tenths of five are more than four
  CHECK(statistics->worst == Approx(0.20));
  CHECK(statistics->bias == Approx(-0.05 / 5));
}

TEST_CASE("the 90th percentile of ten errors is the ninth, and no errors have no statistics") {
  const std::vector<double> errors{.01, .02, .03, .04, .05, .06, .07, .08, .09, .10};
  CHECK(error_statistics(errors)->p90 == Approx(0.09));
  CHECK(error_statistics(errors)->median == Approx(0.055));
  CHECK_FALSE(error_statistics({}));
}

TEST_CASE("values within the margin of the smallest of their run share a rank") {
  const std::vector<double> values{10.05, 20, 10, 10.2};
  CHECK(ranks_of(values, 0.01) == std::vector<double>{1.5, 4, 1.5, 3});
  CHECK(ranks_of(values, 0) == std::vector<double>{2, 4, 1, 3});
}

TEST_CASE("Spearman is 1 in the same order, -1 in the reverse, and undefined for ties alone") {
  const std::vector<double> up{1, 2, 3, 4}, steeper{1, 10, 100, 1000}, down{4, 3, 2, 1}, flat{5, 5, 5, 5};
  CHECK(*spearman(up, steeper, 0.01) == Approx(1));
  CHECK(*spearman(up, down, 0.01) == Approx(-1));
  CHECK_FALSE(spearman(up, flat, 0.01));
  // One neighbouring pair swapped among four: 1 - 6 * 2 / (4 * 15).
  const std::vector<double> swapped{1, 3, 2, 4};
  CHECK(*spearman(up, swapped, 0.01) == Approx(0.8));
}

TEST_CASE("regret is what the chosen layout took beyond the best") {
  const std::vector<double> predicted{2, 1, 3}, measured{10, 12, 11};
  CHECK(regret(predicted, measured) == Approx(0.2));
}
