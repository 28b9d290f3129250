// Which transport and queue grouping each schedule survives. The table was computed by a simulator that shares nothing
// with this one; for torch.distributed.pipelining's schedules it agrees with what users report: a receive moved next to
// its consumer hangs on one communicator per rank (pytorch/pytorch#172668), one communicator per directed edge and kind
// does not.

#include <catch2/catch.hpp>

#include "hand_written.hpp"
#include "schedule/check.hpp"
#include "schedule/lower.hpp"

using namespace stagecraft;

namespace {

constexpr TransportModel transports[] = {TransportModel::eager, TransportModel::rendezvous};
constexpr QueueGrouping groupings[] = {QueueGrouping::rank, QueueGrouping::rank_and_kind, QueueGrouping::peer,
                                       QueueGrouping::edge, QueueGrouping::edge_and_kind, QueueGrouping::tag};

/// One letter per cell, eager then rendezvous, groupings in the order above: D deadlock, M mispaired, '.' neither.
std::string cells(const Schedule& schedule) {
  std::string out;
  for (const auto transport : transports) {
    for (const auto grouping : groupings) {
      const Replay result = replay(schedule, transport, grouping);
      out += result.deadlock ? 'D' : result.mispaired ? 'M' : '.';
    }
    out += ' ';
  }
  out.pop_back();
  return out;
}

Schedule with_messages(const test::FamilyCase& one, ReceivePlacement placement, bool overlap = true) {
  return assign_channels(add_send_receive(one.entry->generate(one.request), placement, overlap));
}

/// What the table says for receives placed before their consumers.
std::string expected_before_consumer(const test::FamilyCase& one) {
  const std::string name = one.entry->name;
  const auto [p, m, v] = one.request.shape;
  const std::string safe = "...... ......";
  const std::string by_kind = "...... D.D...";           // a queue of its own per kind is enough
  const std::string by_edge = "...... DDD...";           // only directed edges are
  const std::string by_edge_and_kind = "M.MM.. DDDM..";  // activations and gradients share an edge and change order
  if (name == "naive" || name == "gpipe" || name == "gpipe-descending") return safe;
  const bool breadth_first = name == "looped-bfs" || name == "looped-bfs-ascending";
  if (breadth_first) return v == 1 ? safe : p == 2 ? by_edge : "...... DD....";
  if (name == "interleaved-1f1b") {
    const bool large_group = one.request.group_size.value_or(p) > p;
    return large_group && p == 2 ? by_edge_and_kind : by_edge;
  }
  if (name == "interleaved-zb") return v == 1 ? by_kind : p == 2 ? by_edge_and_kind : by_edge;
  if (name.starts_with("zbv") || name.starts_with("v-") || name == "1f1b-v") return by_edge_and_kind;
  if (name == "dualpipe") return p == 8 && m == 16 ? by_edge_and_kind : by_edge;
  if (name == "dualpipev") return p >= 3 ? by_edge_and_kind : by_edge;
  if (name == "chimera" || name == "hanayo") return by_edge;
  return by_kind;  // 1F1B, eager 1F1B, ZB-H1, ZB-H2, zb-auto and its limits, PipeDream, 2BW
}

std::vector<test::FamilyCase> table_cases() {
  std::vector<PipelineShape> shapes;
  for (const auto& [p, m] : {std::pair{2, 4}, {2, 8}, {3, 6}, {4, 8}, {4, 12}, {8, 16}}) {
    for (const std::int32_t v : {1, 2, 3, 4}) shapes.push_back({p, m, v});
  }
  return test::family_cases(shapes);
}

}  // namespace

TEST_CASE("no schedule deadlocks or mixes messages up when receives stand where their senders ran") {
  for (const auto& one : table_cases()) {
    INFO(one.text());
    CHECK(cells(with_messages(one, ReceivePlacement::at_sender)) == "...... ......");
    CHECK(cells(with_messages(one, ReceivePlacement::at_sender, false)) == "...... ......");  // blocking sends
  }
}

TEST_CASE("receives right before their consumers deadlock in exactly the known cells") {
  std::size_t deadlocks = 0, mixed_up = 0;
  for (const auto& one : table_cases()) {
    INFO(one.text());
    const std::string found = cells(with_messages(one, ReceivePlacement::before_consumer));
    CHECK(found == expected_before_consumer(one));
    deadlocks += found.find('D') != std::string::npos;
    mixed_up += found.find('M') != std::string::npos;
  }
  CHECK(deadlocks > 100);
  CHECK(mixed_up > 30);
}

TEST_CASE("one channel per directed edge and kind is safe for every schedule, transport and placement") {
  for (const auto& one : table_cases()) {
    for (const auto placement : {ReceivePlacement::at_sender, ReceivePlacement::before_consumer}) {
      const Schedule schedule = with_messages(one, placement);
      for (const auto transport : transports) {
        const Replay result = replay(schedule, transport, QueueGrouping::edge_and_kind);
        INFO(one.text() << '\n' << result.explanation);
        CHECK_FALSE(result.deadlock);
        CHECK_FALSE(result.mispaired);
      }
    }
  }
}

TEST_CASE("blocking rendezvous sends with late receives deadlock on any queues, except where all forwards come first") {
  for (const auto& one : table_cases()) {
    const std::string name = one.entry->name;
    const bool safe = name == "naive" || name.starts_with("gpipe") ||
                      (name.starts_with("looped-bfs") && one.request.shape.chunks == 1);
    INFO(one.text());
    const std::string found = cells(with_messages(one, ReceivePlacement::before_consumer, false));
    CHECK(found.substr(7) == (safe ? "......" : "DDDDDD"));
  }
}
