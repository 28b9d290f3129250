#include "sim/player.hpp"

#include <catch2/catch.hpp>
#include <stdexcept>

#include "hand_graph.hpp"

using namespace stagecraft;
using namespace stagecraft::samples;

TEST_CASE("a lone transfer takes its latency plus its bytes over the bandwidth", "[sim]") {
  Playbook book = book_of({{2e-6, 0, 24'000}});
  book.links = {{LinkId(0), 24e9, 1}};
  book.paths = {{24e9, {{0, 1}}}};
  CHECK(play_alone(book, graph_of(1, {})).end_s[0] == Approx(2e-6 + 1e-6).epsilon(1e-6));
}

TEST_CASE("operations follow their dependencies", "[sim]") {
  const Playbook book = book_of({{1, -1, 0}, {2, -1, 0}, {0, -1, 0}, {4, -1, 0}});
  const PlayedTimes times = play_alone(book, graph_of(4, {{0, 2}, {1, 2}, {2, 3}}));
  CHECK(times.begin_s == std::vector<double>{0, 0, 2, 2});
  CHECK(times.end_s == std::vector<double>{1, 2, 2, 6});
}

TEST_CASE("a step waits for what the step before leaves it", "[sim]") {
  const Playbook book = book_of({{1, -1, 0}, {2, -1, 0}});
  const PlayedTimes times = play_alone(book, graph_of(2, {{0, 1}}, {{0, 0}, {1, 1}}), 3);
  CHECK(times.begin_s == std::vector<double>{0, 1, 1, 3, 2, 5});
  CHECK(times.end_s == std::vector<double>{1, 3, 2, 5, 3, 7});
}

TEST_CASE("a chain of a million operations without duration needs no stack", "[sim]") {
  constexpr std::uint32_t nodes = 1'000'000;
  Graph graph = graph_of(0, {});
  graph.first_of_rank = {0, nodes};
  graph.predecessor_counts.assign(nodes, 1);
  graph.predecessor_counts[0] = 0;
  graph.successor_offsets.resize(nodes + 1);
  for (std::uint32_t node = 0; node + 1 < nodes; ++node) {
    graph.successors.push_back(node + 1);
    graph.successor_offsets[node + 1] = node + 1;
  }
  graph.successor_offsets[nodes] = nodes - 1;
  Playbook book = book_of({{0, -1, 0}});
  book.work_of.assign(nodes, 0);
  CHECK(play_alone(book, graph).end_s.back() == 0);
}

TEST_CASE("a pipeline send and a gradient reduction on one NIC slow each other as max-min predicts", "[sim]") {
  // 1.2 GB and 2.4 GB on 24 GB/s: 12 GB/s each until the send ends at 0.1 s, then the 1.2 GB left at full rate.
  Playbook book = book_of({{0, 0, 1'200'000'000}, {0, 1, 2'400'000'000}});
  book.links = {{LinkId(0), 24e9, 1}};
  book.paths = {{24e9, {{0, 1}}}, {24e9, {{0, 1}}}};
  const PlayedTimes times = play_alone(book, graph_of(2, {}));
  CHECK(times.end_s[0] == Approx(0.1).epsilon(1e-6));
  CHECK(times.end_s[1] == Approx(0.15).epsilon(1e-6));
}

TEST_CASE("an operation with collectives inside plays its moves in turn", "[sim]") {
  // 1 s of kernels, 10 units at 5/s, 2 s of kernels, 10 units at 5/s; beside it, from 0 on, 30 units on the same link.
  Playbook book;
  book.works = {{0, 4, 7, 4, false}, {4, 1, 3, 0, false}};
  book.moves = {{1, 0, 10}, {2, 0, 10}, {0, -1, 0}, {0, -1, 0}, {0, 1, 30}};
  book.work_of = {0, 1};
  book.links = {{LinkId(0), 10, 1}};
  book.paths = {{5, {{0, 1}}}, {10, {{0, 1}}}};
  // The other flow has the link alone until 1 (10 done), then 5/s: at 3 it has 10 left and the link alone until 4.
  // The first collective runs from 1 to 3 at its cap of 5/s, the second from 5 to 7.
  const PlayedTimes times = play_alone(book, graph_of(2, {}));
  CHECK(times.end_s[0] == Approx(7).epsilon(1e-9));
  CHECK(times.end_s[1] == Approx(4).epsilon(1e-9));
}

TEST_CASE("a joint operation starts when the last replica is ready and ends for all", "[sim]") {
  // Two replicas of (compute, reduction); the second replica computes for 3 s instead of 1.
  Playbook book;
  book.replicas = 2;
  book.works = {{0, 1, 1, 0, false}, {1, 1, 3, 0, false}, {2, 1, 2, 0, true}};
  book.moves = {{1, -1, 0}, {3, -1, 0}, {2, -1, 0}};
  book.work_of = {0, 2, 1, 2};
  const PlayedTimes times = play_alone(book, graph_of(2, {{0, 1}}));
  CHECK(times.begin_s == std::vector<double>{0, 3, 0, 3});
  CHECK(times.end_s == std::vector<double>{1, 5, 3, 5});
}

TEST_CASE("operations that wait for each other are a mistake of the caller, not an endless run", "[sim]") {
  const Playbook book = book_of({{1, -1, 0}, {1, -1, 0}, {1, -1, 0}});
  CHECK_THROWS_AS(play_alone(book, graph_of(3, {{0, 1}, {1, 2}, {2, 1}})), std::logic_error);
}

TEST_CASE("a lone flow that gets company half-way is played as if it had been shared from the start", "[sim]") {
  // 30 of 50 alone until t = 3, then 5 each: the first ends at 7, when the other has 5 of 25 left for the full rate.
  Playbook book = book_of({{0, 0, 50}, {3, 1, 25}});
  book.links = {{LinkId(0), 10, 1}};
  book.paths = {{10, {{0, 1}}}, {10, {{0, 1}}}};
  const PlayedTimes times = play_alone(book, graph_of(2, {}));
  CHECK(times.end_s[0] == Approx(7).epsilon(1e-9));
  CHECK(times.end_s[1] == Approx(7.5).epsilon(1e-9));
}
