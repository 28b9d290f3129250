#include <catch2/catch.hpp>

#include "hand_written.hpp"
#include "schedule/check.hpp"
#include "schedule/lower.hpp"

using namespace stagecraft;
using Catch::Matchers::Contains;

TEST_CASE("a deadlock is told as a table with arrows and a cycle in words") {
  // Rank 0 sends its second activation before it receives the gradient, rank 1 sends the gradient before it receives
  // the second activation: with one in-order queue per rank and large messages neither can leave.
  const Schedule schedule = test::written(
      {"0F0 0SEND_F0 0F1 0SEND_F1 0RECV_B0 0B0 0RECV_B1 0B1", "1RECV_F0 1F0 1B0 1SEND_B0 1RECV_F1 1F1 1B1 1SEND_B1"},
      2);
  const Replay result = replay(schedule, TransportModel::rendezvous, QueueGrouping::rank);
  CHECK(result.deadlock);
  CHECK(result.explanation ==
        "deadlock in hand-written with one queue per rank: 2 of 2 ranks are blocked\n"
        "rank   0 | ... 0SEND_F0 0F1 0SEND_F1 0RECV_B0 --> 0B0 0RECV_B1 0B1   <-- waits for 0RECV_B0\n"
        "rank   1 | ... 1F0 1B0 1SEND_B0 1RECV_F1 --> 1F1 1B1 1SEND_B1   <-- waits for 1RECV_F1\n"
        "they wait for each other in a cycle:\n"
        "  rank 0: 0RECV_B0 stands in a queue behind 0SEND_F1\n"
        "  rank 0: 0SEND_F1 needs 1RECV_F1\n"
        "  rank 1: 1RECV_F1 stands in a queue behind 1SEND_B0\n"
        "  rank 1: 1SEND_B0 needs 0RECV_B0\n"
        "  and so back to the first line\n");
  CHECK_FALSE(replay(schedule, TransportModel::eager, QueueGrouping::rank).deadlock);
  CHECK_FALSE(replay(schedule, TransportModel::rendezvous, QueueGrouping::edge).deadlock);
}

TEST_CASE("two computations that wait for each other are a cycle without any queue") {
  // Micro-batch 1 must be behind micro-batch 0 on rank 0 and before it on rank 1.
  const Schedule schedule = test::written({"0F0 0B0 0F1 0B1", "1F1 1B1 1F0 1B0"}, 2);
  const Replay result = replay(schedule, TransportModel::eager, QueueGrouping::tag);
  CHECK(result.deadlock);
  CHECK_THAT(result.explanation, Contains("rank   0 | 0F0 --> 0B0 0F1 0B1   <-- waits for 1B0"));
  CHECK_THAT(result.explanation, Contains("rank 0: 0B0 waits for 1B0, which rank 1 has not reached: it stands at 1F1"));
  CHECK_THAT(result.explanation, Contains("rank 1: 1F1 waits for 0F1, which rank 0 has not reached: it stands at 0B0"));
}

TEST_CASE("a message that meets another micro-batch's receive is reported with both ends") {
  const Schedule schedule = test::written(
      {"0F0 0SEND_F0 0F1 0SEND_F1 0RECV_B0 0B0 0RECV_B1 0B1", "1RECV_F1 1RECV_F0 1F0 1F1 1B0 1SEND_B0 1B1 1SEND_B1"},
      2);
  const Replay result = replay(schedule, TransportModel::eager, QueueGrouping::edge);
  CHECK_FALSE(result.deadlock);
  CHECK(result.mispaired);
  CHECK_THAT(result.explanation, Contains("0SEND_F0 of rank 0 meets 1RECV_F1 of rank 1"));
  CHECK_FALSE(replay(schedule, TransportModel::eager, QueueGrouping::tag).mispaired);
}

TEST_CASE("a receive that nobody serves ends the explanation") {
  const Schedule schedule = test::written({"0F0 0RECV_B0 0B0", "1RECV_F0 1F0 1B0 1SEND_B0"}, 1);
  const Replay result = replay(schedule, TransportModel::eager, QueueGrouping::tag);
  CHECK(result.deadlock);
  CHECK_THAT(result.explanation, Contains("rank 1: 1RECV_F0 has no counterpart in the schedule"));
}

TEST_CASE("the table of a wide schedule is clipped to the ranks of the cycle") {
  const Schedule schedule =
      assign_channels(add_send_receive(test::generated("1f1b", 64, 128), ReceivePlacement::before_consumer));
  const Replay result = replay(schedule, TransportModel::rendezvous, QueueGrouping::rank);
  CHECK(result.deadlock);
  CHECK(std::count(result.explanation.begin(), result.explanation.end(), '\n') < 60);
  CHECK_THAT(result.explanation, Contains("more blocked ranks"));
}
