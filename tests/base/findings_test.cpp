#include "base/findings.hpp"

#include <catch2/catch.hpp>

using namespace stagecraft;

TEST_CASE("only an error makes findings fail") {
  const Finding warning{Severity::warning, "tensor-beyond-node", "/parallel/tensor", "crosses the fabric", ""};
  const Finding error{Severity::error, "heads-not-divisible", "/parallel/tensor", "24 heads over 7 ranks", "6 or 8"};
  CHECK_FALSE(has_errors({}));
  CHECK_FALSE(has_errors({warning}));
  CHECK(has_errors({warning, error}));
}

TEST_CASE("a finding prints its severity, code, place, message and the nearest value") {
  CHECK(
      to_text(Finding{Severity::error, "heads-not-divisible", "/parallel/tensor", "24 heads over 7 ranks", "6 or 8"}) ==
      "error [heads-not-divisible] /parallel/tensor: 24 heads over 7 ranks; nearest: 6 or 8");
  CHECK(to_text(Finding{Severity::note, "idle-gpus", "", "8 GPUs are idle", ""}) ==
        "note [idle-gpus]: 8 GPUs are idle");
}
