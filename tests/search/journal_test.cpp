#include <catch2/catch.hpp>

#include "base/input_error.hpp"
#include "search/sweep_journal.hpp"

using namespace stagecraft;

namespace {

SweepIdentity identity() {
  return {"my.json", "00c0ffee", "estimated", {"zero_stage=1"}, {{"batch.micro", {"1", "2", "4"}}}, {"mfu"}};
}

}  // namespace

TEST_CASE("the first line of a journal says which sweep it is, and reads back", "[search]") {
  const std::string line = journal_header(identity());
  const SweepIdentity back = read_journal_header(line, "test");
  CHECK(journal_header(back) == line);
  CHECK(back.axes[0].values == std::vector<std::string>{"1", "2", "4"});
  CHECK_THROWS_AS(read_journal_header("{}", "test"), InputError);
  CHECK_THROWS_AS(read_journal_header(line.substr(0, line.size() / 2), "test"), InputError);
}

TEST_CASE("the first line of a shard's journal says which shard, and no point of another is taken from it",
          "[search]") {
  SweepIdentity shard = identity();
  shard.shard = {2, 3};
  const std::string line = journal_header(shard);
  CHECK(line != journal_header(identity()));
  const SweepIdentity back = read_journal_header(line, "test");
  CHECK(back.shard == Shard{2, 3});
  CHECK(journal_header(back) == line);
  Point point;
  point.number = 1;
  point.values = {"2"};
  CHECK(read_journal_point(point_line(point), back, "test").number == 1);
  point.number = 0;
  point.values = {"1"};
  CHECK_THROWS_AS(read_journal_point(point_line(point), back, "test"), InputError);
  const std::size_t at = line.find("2/3");
  CHECK_THROWS_AS(read_journal_header(std::string(line).replace(at, 3, "4/3"), "test"), InputError);
}

TEST_CASE("shards part the points of a sweep between them", "[search]") {
  for (const std::int64_t total : {0, 1, 7, 8, 9, 160}) {
    std::int64_t all = 0;
    for (std::int64_t index = 1; index <= 8; ++index) {
      const Shard shard{index, 8};
      std::int64_t held = 0;
      for (std::int64_t point = 0; point < total; ++point) held += holds(shard, point) ? 1 : 0;
      CHECK(count_points(shard, total) == held);
      all += held;
    }
    CHECK(all == total);
  }
  CHECK(parse_shard("2/8") == Shard{2, 8});
  for (const char* const wrong : {"", "0/3", "4/3", "1/3x", "1", "-1/3", "1/0"}) CHECK_FALSE(parse_shard(wrong));
}

TEST_CASE("the first line of a search's journal has its options, and is not that of a sweep", "[search]") {
  SweepIdentity search = identity();
  search.search = true;
  search.scenario.clear();
  search.options = {"--model", "gpt-1.7b", "--reserve", "0.05"};
  const std::string line = journal_header(search);
  const SweepIdentity back = read_journal_header(line, "test");
  CHECK(back.search);
  CHECK(back.options == search.options);
  CHECK(journal_header(back) == line);
  search.options.back() = "0.1";
  CHECK(journal_header(search) != line);
}

TEST_CASE("a point is of a sweep if its number and values are", "[search]") {
  Point point;
  point.number = 1;
  point.values = {"2"};
  CHECK(read_journal_point(point_line(point), identity(), "test").number == 1);
  point.values = {"4"};
  CHECK_THROWS_AS(read_journal_point(point_line(point), identity(), "test"), InputError);
  point.values = {"2"};
  for (const std::int64_t number : {std::int64_t{-1}, std::int64_t{3}}) {
    point.number = number;
    CHECK_THROWS_AS(read_journal_point(point_line(point), identity(), "test"), InputError);
  }
}
