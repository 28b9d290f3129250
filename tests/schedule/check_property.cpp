// What holds for every schedule of the family, over a grid of shapes.

#include <catch2/catch.hpp>

#include "hand_written.hpp"
#include "schedule/check.hpp"
#include "schedule/lower.hpp"

using namespace stagecraft;

namespace {

std::vector<PipelineShape> grid() {
  std::vector<PipelineShape> shapes;
  for (const std::int32_t p : {1, 2, 3, 4, 5, 8}) {
    for (const std::int32_t m : {1, 2, 3, 4, 6, 8, 12, 16}) {
      for (const std::int32_t v : {1, 2, 3, 4}) shapes.push_back({p, m, v});
    }
  }
  return shapes;
}

std::string text(const Findings& findings) {
  std::string out;
  for (const Finding& finding : findings) out += to_text(finding) + '\n';
  return out;
}

}  // namespace

TEST_CASE("every schedule passes the check, as it is generated and under every lowering policy") {
  std::size_t checked = 0;
  for (const auto& one : test::family_cases(grid())) {
    const Schedule compute = one.entry->generate(one.request);
    INFO(one.text());
    CHECK(text(check_schedule(compute)).empty());
    for (int bits = 0; bits < 32; ++bits) {
      if (one.request.shape.micro_batches > 6 && bits % 5 != 0) continue;
      LoweringPolicy policy;
      policy.recompute = (bits & 1) != 0;
      policy.shard_parameters = (bits & 2) != 0;
      policy.reduce_grad = policy.gather_params = (bits & 4) != 0;
      policy.reduce_tied = policy.overlap_reduce = (bits & 8) != 0;
      policy.receive_placement = (bits & 16) != 0 ? ReceivePlacement::before_consumer : ReceivePlacement::at_sender;
      INFO("policy " << bits);
      CHECK(text(check_schedule(lower(compute, policy))).empty());
      ++checked;
    }
  }
  CHECK(checked > 10000);
}

TEST_CASE("lowering keeps the order of computation") {
  for (const auto& one : test::family_cases({{4, 8, 1}, {4, 8, 2}, {2, 4, 4}, {8, 16, 2}})) {
    const Schedule compute = one.entry->generate(one.request);
    const Schedule lowered = lower(compute, LoweringPolicy{.recompute = true, .reduce_grad = true});
    INFO(one.text());
    for (std::size_t rank = 0; rank < compute.programs.size(); ++rank) {
      std::vector<Op> kept;
      for (const Op& op : lowered.programs[rank]) {
        if (is_compute(op.kind) && op.kind != OpKind::recompute && op.kind != OpKind::optimizer_step)
          kept.push_back(op);
      }
      CHECK(test::text_of(kept) == test::text_of(compute.programs[rank]));
    }
  }
}

TEST_CASE("1F1B keeps min(m, p - r) micro-batches alive, GPipe all of them") {
  for (const std::int32_t p : {1, 2, 4, 8}) {
    for (const std::int32_t m : {1, 3, 8, 20}) {
      const auto one_forward_one_backward = peak_activations(test::generated("1f1b", p, m));
      const auto gpipe = peak_activations(test::generated("gpipe", p, m));
      const auto eager = peak_activations(test::generated("eager-1f1b", p, m));
      for (std::int32_t r = 0; r < p; ++r) {
        const auto rank = static_cast<std::size_t>(r);
        CHECK(one_forward_one_backward[rank] == std::min(m, p - r));
        CHECK(gpipe[rank] == m);
        CHECK(eager[rank] == std::min(m, 2 * (p - r) - 1));
      }
    }
  }
}

TEST_CASE("interleaved 1F1B keeps min(mv, (v-1)p + 2(p-1-r) + 1) chunks alive") {
  for (const std::int32_t p : {2, 4, 8}) {
    for (const std::int32_t v : {2, 4}) {
      const std::int32_t m = 2 * p;
      const auto peaks = peak_activations(test::generated("interleaved-1f1b", p, m, v));
      for (std::int32_t r = 0; r < p; ++r) {
        CHECK(peaks[static_cast<std::size_t>(r)] ==
              Approx(static_cast<double>(std::min(m * v, (v - 1) * p + 2 * (p - 1 - r) + 1)) / v));
      }
    }
  }
}

TEST_CASE("a bidirectional rank holds full-depth stages of both copies") {
  // Chimera, p dividing m: p/2 + 1 + min(r, p-1-r) (arXiv 2107.06925, section 3).
  const auto peaks = peak_activations(test::generated("chimera", 4, 8));
  CHECK(peaks == std::vector<double>{3, 4, 4, 3});
}
