#include <catch2/catch.hpp>
#include <fstream>

#include "hand_written.hpp"
#include "schedule/check.hpp"
#include "schedule/lower.hpp"

using namespace stagecraft;
using test::text_of;

TEST_CASE("a receive is placed where its sender ran") {
  // Rounds over the ranks, one action each: (0F0, sends) (1F0) | (0F1, sends) (1B0, sends) | (0B0) (1F1) | (1B1, sends)
  // | (0B1).
  const Schedule schedule =
      add_send_receive(test::written({"0F0 0F1 0B0 0B1", "1F0 1B0 1F1 1B1"}, 2), ReceivePlacement::at_sender);
  CHECK(text_of(schedule.programs[0]) == "0F0 0SEND_F0 0F1 0SEND_F1 0RECV_B0 0B0 0RECV_B1 0B1");
  CHECK(text_of(schedule.programs[1]) == "1RECV_F0 1F0 1RECV_F1 1B0 1SEND_B0 1F1 1B1 1SEND_B1");
}

TEST_CASE("or right before the operation that needs it") {
  const Schedule schedule =
      add_send_receive(test::written({"0F0 0F1 0B0 0B1", "1F0 1B0 1F1 1B1"}, 2), ReceivePlacement::before_consumer);
  CHECK(text_of(schedule.programs[0]) == "0F0 0SEND_F0 0F1 0SEND_F1 0RECV_B0 0B0 0RECV_B1 0B1");
  CHECK(text_of(schedule.programs[1]) == "1RECV_F0 1F0 1B0 1SEND_B0 1RECV_F1 1F1 1B1 1SEND_B1");
  CHECK(schedule.programs[1][0].lane == Lane::compute);  // posted only when the rank gets there
}

TEST_CASE("PyTorch's own lowered table of the interleaved zero bubble comes out action for action") {
  // 2 ranks, 2 stages each, 8 micro-batches; the file writes BW for B and B for I.
  const Schedule schedule =
      add_send_receive(fuse_backward(test::generated("interleaved-zb", 2, 8, 2)), ReceivePlacement::at_sender);
  std::ifstream file(STAGECRAFT_SOURCE_DIR "/tests/golden/schedules/zb1p_2rank_2stagep_comms.legacy.csv");
  REQUIRE(file);
  for (const auto& program : schedule.programs) {
    std::string expected;
    std::getline(file, expected);
    std::string found;
    for (const Op& op : program) {
      std::string word = to_text(op);
      if (op.kind == OpKind::backward) word.replace(word.find('B'), 1, "BW");
      if (op.kind == OpKind::input_grad) word.replace(word.find('I'), 1, "B");
      found += (found.empty() ? "" : ",") + word;
    }
    CHECK(found == expected);
  }
}

TEST_CASE("neighbouring stages of one rank pass tensors without a message") {
  // V placement: stages 0 and 3 on rank 0, 1 and 2 on rank 1. Between 1 and 2 nothing is sent.
  const Schedule schedule =
      add_send_receive(test::written({"0F0 3F0 3B0 0B0", "1F0 2F0 2B0 1B0"}, 1), ReceivePlacement::at_sender);
  CHECK(text_of(schedule.programs[0]) == "0F0 0SEND_F0 3RECV_F0 3F0 3B0 3SEND_B0 0RECV_B0 0B0");
  CHECK(text_of(schedule.programs[1]) == "1RECV_F0 1F0 2F0 2SEND_F0 2RECV_B0 2B0 1B0 1SEND_B0");
}

TEST_CASE("an overlapped pair waits for both inputs and sends both outputs behind it") {
  const Schedule schedule = add_send_receive(
      test::written(
          {"0F0 0F1 3F0 0F2+3B0 3F1 0B0 3B1 3F2 0B1 3B2 0B2", "1F0 2F0 1F1 2F1 2B0+1F2 1B0 2B1 2F2 1B1 2B2 1B2"}, 3),
      ReceivePlacement::at_sender);
  CHECK_THAT(text_of(schedule.programs[0]), Catch::Contains("0F2+3B0 0SEND_F2 3SEND_B0"));
}

TEST_CASE("the replicas of a bidirectional schedule send within themselves") {
  const Schedule schedule =
      assign_channels(add_send_receive(test::generated("chimera", 2, 2), ReceivePlacement::at_sender));
  for (std::size_t rank = 0; rank < 2; ++rank) {
    for (const Op& op : schedule.programs[rank]) {
      if (!is_send(op.kind)) continue;
      const Channel& channel = schedule.channels[op.channel.index()];
      const Stage target(op.stage.value + (op.kind == OpKind::send_activation ? 1 : -1));
      CHECK(channel.from == PipelineRank(rank));
      CHECK(channel.to == rank_of(schedule, target, op.replica));
    }
  }
  CHECK(test::count(schedule, OpKind::send_activation) == 2);
}

TEST_CASE("a send that may not overlap is on the compute lane") {
  const Schedule schedule = add_send_receive(test::generated("1f1b", 2, 2), ReceivePlacement::at_sender, false);
  for (const auto& program : schedule.programs) {
    for (const Op& op : program) {
      if (is_send(op.kind)) CHECK(op.lane == Lane::compute);
      if (is_receive(op.kind)) CHECK(op.lane == Lane::pipeline);
    }
  }
}

TEST_CASE("a step sends one message per stage boundary between ranks, micro-batch and direction") {
  for (const auto& one : test::family_cases({{4, 8, 1}, {4, 8, 2}, {4, 8, 4}, {2, 4, 2}, {3, 6, 1}, {8, 16, 2}})) {
    const auto [p, m, v] = one.request.shape;
    const Schedule schedule = add_send_receive(one.entry->generate(one.request), ReceivePlacement::at_sender);
    INFO(one.text());
    const std::string name = one.entry->name;
    std::int64_t boundaries = p * v - 1;  // looped
    if (name.starts_with("zbv") || name.starts_with("v-") || name == "1f1b-v" || name == "dualpipev")
      boundaries = 2 * (p - 1);
    if (name == "hanayo") boundaries = v * (p - 1);
    if (name == "dualpipe" || name == "chimera") boundaries = p - 1;
    CHECK(test::count(schedule, OpKind::send_activation) + test::count(schedule, OpKind::send_gradient) ==
          2 * m * boundaries);
    CHECK(test::count(schedule, OpKind::recv_activation) == m * boundaries);
    CHECK(test::count(schedule, OpKind::recv_gradient) == m * boundaries);
  }
}

TEST_CASE("channels are (source, destination, kind), ascending") {
  const Schedule schedule =
      assign_channels(add_send_receive(test::generated("1f1b", 3, 2), ReceivePlacement::at_sender));
  REQUIRE(schedule.channels.size() == 4);
  const auto is = [&](std::size_t c, std::int32_t from, std::int32_t to, bool gradient) {
    const Channel& channel = schedule.channels[c];
    return channel.from.value == from && channel.to.value == to && channel.gradient == gradient && channel.tag < 0;
  };
  CHECK(is(0, 0, 1, false));
  CHECK(is(1, 1, 0, true));
  CHECK(is(2, 1, 2, false));
  CHECK(is(3, 2, 1, true));
}

TEST_CASE("with one rank nothing is sent") {
  const Schedule schedule =
      assign_channels(add_send_receive(test::generated("1f1b", 1, 4), ReceivePlacement::at_sender));
  CHECK(text_of(schedule.programs[0]) == "0F0 0B0 0F1 0B1 0F2 0B2 0F3 0B3");
  CHECK(schedule.channels.empty());
}

TEST_CASE("a program that waits for itself is lowered so that the check can show why") {
  const Schedule schedule = assign_channels(
      add_send_receive(test::written({"0F0 0B0 0F1 0B1", "1F1 1B1 1F0 1B0"}, 2), ReceivePlacement::at_sender));
  CHECK(text_of(schedule.programs[0]) == "0F0 0SEND_F0 0RECV_B0 0B0 0F1 0SEND_F1 0RECV_B1 0B1");
  CHECK(text_of(schedule.programs[1]) == "1RECV_F0 1RECV_F1 1F1 1B1 1SEND_B1 1F0 1B0 1SEND_B0");
  const Findings findings = check_schedule(schedule);
  REQUIRE(findings.size() == 1);
  CHECK(findings.front().code == "deadlock");
}

TEST_CASE("a schedule that mixes up messages on shared channels gets one channel per message") {
  // Rank 1 takes the micro-batches in the other order. Late receives then ask for micro-batch 1 first.
  const Schedule compute = test::written({"0F0 0F1 0B1 0B0", "1F1 1B1 1F0 1B0"}, 2);
  const LoweringPolicy late{.optimizer = false, .receive_placement = ReceivePlacement::before_consumer};
  const Schedule schedule = lower(compute, late);
  CHECK(replay(schedule, TransportModel::rendezvous, QueueGrouping::edge_and_kind).mispaired);
  REQUIRE(schedule.channels.size() == 4);
  for (const Channel& channel : schedule.channels) CHECK(channel.tag >= 0);
  CHECK(check_schedule(schedule).empty());
  CHECK(lower(compute, LoweringPolicy{.optimizer = false}).channels.size() ==
        2);  // receives at their senders are in order
}

TEST_CASE("a program that has its messages keeps them and gets what is missing") {
  const Schedule schedule =
      lower(test::written({"0F0 0SEND_F0 0RECV_B0 0B0 0REDUCE_GRAD", "1RECV_F0 1F0 1B0 1SEND_B0 1REDUCE_GRAD"}, 1),
            LoweringPolicy{.recompute = true, .reduce_grad = true});
  CHECK(text_of(schedule.programs[0]) == "0F0 0SEND_F0 0RECV_B0 0RECOMPUTE0 0B0 0REDUCE_GRAD OPTIMIZER_STEP");
  CHECK(text_of(schedule.programs[1]) == "1RECV_F0 1F0 1RECOMPUTE0 1B0 1SEND_B0 1REDUCE_GRAD OPTIMIZER_STEP");
  CHECK(check_schedule(schedule).empty());
}
