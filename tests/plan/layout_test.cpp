#include "plan/layout.hpp"

#include <catch2/catch.hpp>
#include <set>

using namespace stagecraft;

namespace {

std::vector<int> numbers(const std::vector<Rank>& ranks) {
  std::vector<int> values;
  for (const Rank rank : ranks) values.push_back(rank.value);
  return values;
}

}  // namespace

TEST_CASE("tensor is the fastest axis and pipeline the slowest, as in Megatron's own example", "[plan]") {
  // Megatron-LM parallel_state.py documents 16 GPUs with tensor 2 and pipeline 4: its groups are these.
  const Degrees degrees{2, 1, 2, 4};
  CHECK(numbers(group_of(degrees, Axis::tensor, Rank(0))) == std::vector{0, 1});
  CHECK(numbers(group_of(degrees, Axis::tensor, Rank(15))) == std::vector{14, 15});
  CHECK(numbers(group_of(degrees, Axis::data, Rank(0))) == std::vector{0, 2});
  CHECK(numbers(group_of(degrees, Axis::data, Rank(13))) == std::vector{13, 15});
  CHECK(numbers(group_of(degrees, Axis::pipeline, Rank(0))) == std::vector{0, 4, 8, 12});
  CHECK(numbers(group_of(degrees, Axis::pipeline, Rank(3))) == std::vector{3, 7, 11, 15});
}

TEST_CASE("gradients are reduced over data and context ranks together", "[plan]") {
  const Degrees degrees{2, 2, 2, 1};
  CHECK(numbers(group_of(degrees, Axis::context, Rank(0))) == std::vector{0, 2});
  CHECK(numbers(group_of(degrees, Axis::data, Rank(0))) == std::vector{0, 2, 4, 6});
  CHECK(group_size(degrees, Axis::data) == 4);
}

TEST_CASE("tied embeddings join the first and the last pipeline rank of a column", "[plan]") {
  const Degrees degrees{2, 1, 2, 4};
  CHECK(numbers(group_of(degrees, Axis::embedding, Rank(1))) == std::vector{1, 13});
  CHECK(numbers(group_of(degrees, Axis::embedding, Rank(13))) == std::vector{1, 13});
  CHECK(group_of(degrees, Axis::embedding, Rank(5)).empty());
  CHECK(numbers(group_of({2, 1, 2, 1}, Axis::embedding, Rank(3))) == std::vector{3});
}

TEST_CASE("a rank's coordinates lead back to the rank", "[plan]") {
  const Degrees degrees{3, 2, 5, 4};
  std::set<int> seen;
  for (int rank = 0; rank < world_size(degrees); ++rank) {
    CHECK(rank_at(degrees, coordinates_of(degrees, Rank(rank))) == Rank(rank));
    seen.insert(rank);
  }
  CHECK(seen.size() == 120);
}

TEST_CASE("the groups of every axis share out all ranks", "[plan]") {
  const Degrees degrees{2, 2, 3, 4};
  for (const Axis axis : {Axis::tensor, Axis::context, Axis::data, Axis::pipeline}) {
    std::set<std::vector<int>> groups;
    for (int rank = 0; rank < world_size(degrees); ++rank) {
      const std::vector<int> group = numbers(group_of(degrees, axis, Rank(rank)));
      CHECK(std::count(group.begin(), group.end(), rank) == 1);
      CHECK(static_cast<std::int64_t>(group.size()) == group_size(degrees, axis));
      groups.insert(group);
    }
    CHECK(static_cast<std::int64_t>(groups.size()) * group_size(degrees, axis) == world_size(degrees));
  }
}
