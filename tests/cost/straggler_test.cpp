#include "cost/straggler.hpp"

#include <catch2/catch.hpp>
#include <cmath>

using namespace stagecraft;

TEST_CASE("one rank waits for nobody, two for 1/sqrt(pi) of a standard deviation") {
  CHECK(expected_maximum(1) == 0);
  CHECK(expected_maximum(0) == 0);
  CHECK(expected_maximum(2) == Approx(1 / std::sqrt(3.14159265)).margin(0.07));
}

TEST_CASE("the expected largest of many normal values is that of the tables") {
  // Harter, Expected values of normal order statistics, Biometrika 48, 1961: n = 10: 1.53875, 100: 2.50759,
  // 400: 2.96818.
  CHECK(expected_maximum(10) == Approx(1.53875).margin(0.03));
  CHECK(expected_maximum(100) == Approx(2.50759).margin(0.03));
  CHECK(expected_maximum(400) == Approx(2.96818).margin(0.03));
}

TEST_CASE("more ranks wait longer") {
  double before = 0;
  for (double n = 2; n < 1e9; n *= 4) {
    CHECK(expected_maximum(n) > before);
    before = expected_maximum(n);
  }
  CHECK(before < 7);
}
