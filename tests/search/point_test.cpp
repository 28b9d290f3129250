#include <algorithm>
#include <catch2/catch.hpp>
#include <random>

#include "base/input_error.hpp"
#include "search/table.hpp"

using namespace stagecraft;

namespace {

Point point_with(std::int64_t number, double tokens_per_s, double peak_bytes) {
  Point point;
  point.number = number;
  point.values = {"v"};
  point.figures.tokens_per_s = tokens_per_s;
  point.figures.peak_memory_bytes = peak_bytes;
  return point;
}

/// By definition: nobody is at least as good in both and better in one.
bool on_front(const std::vector<Point>& points, const Point& point) {
  return std::none_of(points.begin(), points.end(), [&](const Point& other) {
    if (other.status != PointStatus::ok) return false;
    const double rate = other.figures.tokens_per_s - point.figures.tokens_per_s;
    const double memory = point.figures.peak_memory_bytes - other.figures.peak_memory_bytes;
    return rate >= 0 && memory >= 0 && (rate > 0 || memory > 0);
  });
}

}  // namespace

TEST_CASE("the front is what no other point dominates", "[search]") {
  std::mt19937 random(7);
  const auto objectives = objectives_of({"tokens_per_s", "peak_memory_bytes"});
  for (int round = 0; round < 50; ++round) {
    std::vector<Point> points;
    for (int i = 0; i < 40; ++i) {  // few values, so that there are ties
      points.push_back(point_with(i, static_cast<double>(random() % 8), static_cast<double>(random() % 8)));
      if (random() % 5 == 0) points.back().status = PointStatus::does_not_fit;
    }
    mark_front(points, objectives);
    for (const Point& point : points)
      CHECK(point.on_front == (point.status == PointStatus::ok && on_front(points, point)));
  }
}

TEST_CASE("a point survives its line to the bit", "[search]") {
  Point point = point_with(41, 1.0 / 3, 6.02214076e23);
  point.figures.step_time_s = 5e-324;
  point.status = PointStatus::does_not_fit;
  point.reason = "a \"reason\",\nin two lines";
  const std::string line = point_line(point);
  CHECK(line.find('\n') == std::string::npos);
  const Point back = read_point_line(line, "test");
  CHECK(back.number == 41);
  CHECK(back.values == point.values);
  CHECK(back.status == point.status);
  CHECK(back.reason == point.reason);
  for (const PointColumn& column : point_columns()) CHECK(back.figures.*column.member == point.figures.*column.member);
}

TEST_CASE("what is no line of a point is refused", "[search]") {
  for (const char* text : {"", "{}", "[]", "{\"point\":1}", "null", "{\"point\":\"x\"}"})
    CHECK_THROWS_AS(read_point_line(text, "test"), InputError);
}

TEST_CASE("an unknown objective is refused with the nearest", "[search]") {
  CHECK_THROWS_WITH(objectives_of({"tokens_per_sec"}), Catch::Contains("nearest: tokens_per_s"));
}

TEST_CASE("every form has the same points", "[search]") {
  PointTable table;
  table.scenario = "s.json";
  table.axes = {{"schedule", {}}};
  table.objectives = {"tokens_per_s", "peak_memory_bytes"};
  table.points = {point_with(0, 10, 5), point_with(1, 0, 0)};
  table.points[0].values = {R"({"name":"a","waves":2})"};
  table.points[1].status = PointStatus::infeasible;
  table.points[1].reason = "no, it | cannot";
  mark_front(table.points, objectives_of(table.objectives));
  CHECK(points_csv(table) ==
        "point,schedule,status,gpus,step_time_s,tokens_per_s,tokens_per_s_per_gpu,tflops_per_gpu,mfu,hfu,"
        "bubble_fraction,peak_memory_bytes,memory_limit_bytes,goodput,training_time_s,cost_per_million_tokens,"
        "joules_per_token,pareto,reason\n"
        "0,\"{\"\"name\"\":\"\"a\"\",\"\"waves\"\":2}\",ok,0,0,10,0,0,0,0,0,5,0,0,0,0,0,1,\n"
        "1,v,infeasible,,,,,,,,,,,,,,,0,\"no, it | cannot\"\n");
  CHECK(points_json(table).find("\"tokens_per_s\": 10.0") != std::string::npos);
  CHECK(points_markdown(table).find("no, it \\| cannot") != std::string::npos);
  CHECK(front_svg(table).find("point 0") != std::string::npos);
}

TEST_CASE("a table of points survives its JSON", "[search]") {
  PointTable table;
  table.scenario = "my.json";
  table.kind = "estimated";
  table.fixed = {"zero_stage=1"};
  table.axes = {{"schedule", {"gpipe", "a \"b\""}}, {"batch.micro", {}}};
  table.objectives = {"tokens_per_s", "peak_memory_bytes"};
  Point good = point_with(0, 1.0 / 3, 6.02214076e23), bad = point_with(1, 0, 0);
  good.values = {"gpipe", "2"};
  good.on_front = true;
  bad.values = {"a \"b\"", "4"};
  bad.status = PointStatus::infeasible;
  bad.reason = "3 does not divide 8;\nsecond line";
  table.points = {good, bad};
  const std::string json = points_json(table);
  const PointTable back = read_points_json(json, "test");
  CHECK(points_json(back) == json);
  CHECK(back.points[1].reason == bad.reason);
  CHECK(back.points[0].figures.tokens_per_s == 1.0 / 3);
}

TEST_CASE("what is no table of points is refused with its place", "[search]") {
  PointTable table;
  table.axes = {{"batch.micro", {"1"}}};
  table.objectives = {"tokens_per_s"};
  Point point = point_with(0, 1, 1);
  point.values = {"1"};
  table.points = {point};
  const std::string json = points_json(table);
  CHECK_NOTHROW(read_points_json(json, "test"));
  for (std::size_t end = 0; end + 2 < json.size(); end += 7)
    CHECK_THROWS_AS(read_points_json(json.substr(0, end), "test"), InputError);
  for (const char* const key : {"\"tokens_per_s\": 1.0", "\"batch.micro\": \"1\"", "\"pareto\"", "\"objectives\""}) {
    CAPTURE(key);
    std::string damaged = json;
    const std::size_t at = damaged.find(key);
    REQUIRE(at != std::string::npos);
    damaged.replace(at + 1, 3, "???");
    CHECK_THROWS_AS(read_points_json(damaged, "test"), InputError);
  }
}
