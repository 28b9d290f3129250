#include <catch2/catch.hpp>

#include "hand_written.hpp"
#include "schedule/check.hpp"
#include "schedule/lower.hpp"

using namespace stagecraft;
using test::text_of;

TEST_CASE("adjacent halves of one backward are fused, others are not") {
  const Schedule schedule = fuse_backward(test::written({"0F0 0F1 0F2 0I0 0W0 0I1 0I2 0W1 0W2"}, 3));
  CHECK(text_of(schedule.programs[0]) == "0F0 0F1 0F2 0B0 0I1 0I2 0W1 0W2");
}

TEST_CASE("each backward gets a recompute, a pair gets it in front") {
  CHECK(text_of(add_recompute(test::written({"0F0 0F1 0B0 0I1 0W1"}, 2)).programs[0]) ==
        "0F0 0F1 0RECOMPUTE0 0B0 0RECOMPUTE1 0I1 0W1");
  CHECK(text_of(add_recompute(test::written({"0F0 0F1+0B0 0B1"}, 2)).programs[0]) ==
        "0F0 0RECOMPUTE0 0F1+0B0 0RECOMPUTE1 0B1");
}

TEST_CASE("stages are unsharded ahead of their use, within the limit, and dropped when others need the room") {
  // Looped stages 0, 1, 2 of one rank; two may be held at once.
  const Schedule schedule = add_unshard(test::written({"0F0 0F1 1F0 1F1 2F0 2F1 2B1 2B0 1B1 1B0 0B1 0B0"}, 2), 2);
  CHECK(
      text_of(schedule.programs[0]) ==
      "0UNSHARD 1UNSHARD 0F0 0F1 0RESHARD 2UNSHARD 1F0 1F1 2F0 2F1 2B1 2B0 2RESHARD 0UNSHARD 1B1 1B0 1RESHARD 0B1 0B0 "
      "0RESHARD");
  CHECK_FALSE(has_errors(check_schedule(schedule)));
}

TEST_CASE("a pair may hold one stage more than the limit") {
  const Schedule schedule = add_unshard(test::written({"0F0 1F0 0F1+1B0 1F1 1B1 0B0 0B1"}, 2), 1);
  CHECK(text_of(schedule.programs[0]) ==
        "0UNSHARD 0F0 0RESHARD 1UNSHARD 1F0 0UNSHARD 0F1+1B0 0RESHARD 1F1 1B1 1RESHARD 0UNSHARD 0B0 0B1 0RESHARD");
}

TEST_CASE("gradients are reduced behind the last W or B of their stage if that may overlap") {
  const Schedule compute = test::written({"0F0 1F0 0F1 1F1 1B0 0I0 1B1 0I1 0W0 0W1"}, 2);
  CHECK(text_of(add_reduce_grad(compute, true).programs[0]) ==
        "0F0 1F0 0F1 1F1 1B0 0I0 1B1 1REDUCE_GRAD 0I1 0W0 0W1 0REDUCE_GRAD");
  CHECK(text_of(add_reduce_grad(compute, false).programs[0]) ==
        "0F0 1F0 0F1 1F1 1B0 0I0 1B1 0I1 0W0 0W1 0REDUCE_GRAD 1REDUCE_GRAD");
}

TEST_CASE("both copies of a bidirectional stage are reduced in one order") {
  const Schedule schedule = add_reduce_grad(test::generated("dualpipe", 4, 8), true);
  for (std::size_t rank = 0; rank < 4; ++rank) {
    const auto& program = schedule.programs[rank];
    const auto low = std::min(rank, 3 - rank), high = std::max(rank, 3 - rank);
    CHECK(to_text(program[program.size() - 2]) == std::to_string(low) + "REDUCE_GRAD");
    CHECK(to_text(program.back()) == std::to_string(high) + "REDUCE_GRAD");
  }
  CHECK_FALSE(has_errors(check_schedule(schedule)));
}

TEST_CASE("tied embeddings are added between the ranks of the first and the last stage") {
  const Schedule schedule = add_reduce_tied(add_reduce_grad(test::generated("1f1b", 3, 3), true));
  CHECK(to_text(schedule.programs[0].back()) == "0REDUCE_TIED");
  CHECK(to_text(schedule.programs[1].back()) == "1REDUCE_GRAD");
  CHECK(to_text(schedule.programs[2].back()) == "2REDUCE_TIED");
  // In a V one rank holds both ends.
  CHECK(test::count(add_reduce_tied(test::generated("zbv", 2, 4, 2)), OpKind::reduce_tied) == 0);
  CHECK(test::count(add_reduce_tied(test::generated("1f1b", 1, 2)), OpKind::reduce_tied) == 0);
}

TEST_CASE("every rank ends with one optimizer step and the gathers of its stages") {
  const Schedule schedule = add_gather_params(add_optimizer(test::generated("interleaved-1f1b", 2, 2, 2)), true);
  CHECK_THAT(text_of(schedule.programs[1]), Catch::EndsWith("1B1 OPTIMIZER_STEP 1GATHER_PARAMS 3GATHER_PARAMS"));
  CHECK(test::count(schedule, OpKind::optimizer_step) == 2);
  CHECK(schedule.programs[0].back().lane == Lane::data);
  CHECK(add_gather_params(add_optimizer(test::generated("1f1b", 2, 2)), false).programs[0].back().lane ==
        Lane::compute);
}

TEST_CASE("a schedule without a flush gets no global synchronisation") {
  CHECK(add_optimizer(test::generated("pipedream-2bw", 2, 4)).optimizer_sync == OptimizerSync::none);
  CHECK(add_optimizer(test::generated("1f1b", 2, 4)).optimizer_sync == OptimizerSync::barrier);
}

TEST_CASE("all passes in a row give the whole program of a step") {
  LoweringPolicy policy;
  policy.recompute = policy.reduce_grad = policy.reduce_tied = policy.gather_params = true;
  const Schedule schedule = lower(test::generated("1f1b", 2, 2), policy);
  CHECK(text_of(schedule.programs[0]) ==
        "0F0 0SEND_F0 0F1 0SEND_F1 0RECV_B0 0RECOMPUTE0 0B0 0RECV_B1 0RECOMPUTE1 0B1 0REDUCE_GRAD 0REDUCE_TIED "
        "OPTIMIZER_STEP 0GATHER_PARAMS");
  CHECK(text_of(schedule.programs[1]) ==
        "1RECV_F0 1F0 1RECV_F1 1RECOMPUTE0 1B0 1SEND_B0 1F1 1RECOMPUTE1 1B1 1SEND_B1 1REDUCE_GRAD 1REDUCE_TIED "
        "OPTIMIZER_STEP 1GATHER_PARAMS");
  CHECK(check_schedule(schedule).empty());
}
