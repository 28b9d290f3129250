// The table of kernels against the times that it is made of.
#include "report/kernels.hpp"

#include <algorithm>
#include <catch2/catch.hpp>
#include <sstream>

#include "cost/calibration.hpp"
#include "schedule/family.hpp"
#include "schedule/lower.hpp"
#include "spec/scenario.hpp"
#include "topology/topology.hpp"

using namespace stagecraft;

namespace {

struct Made {
  Plan plan;
  Schedule schedule;
  RankTimes times;
};

/// GPT 1.7B on two nodes: TP 2, PP 4, eight micro-batches.
Made made(const std::string& more = "") {
  const std::string root = STAGECRAFT_SOURCE_DIR;
  const Library library{{root + "/scenarios", root + "/topologies"}};
  const Scenario scenario = parse_scenario(
      R"({"model": "gpt-1.7b", "cluster": {"extends": "selene", "nodes": 2}, "parallel": {"tensor": 2, "pipeline": 4},
          "batch": {"global": 16, "micro": 1})" +
          more + "}",
      "test", {}, library);
  const Topology topology = build_topology(scenario.cluster);
  Made out;
  out.plan = make_plan(scenario);
  const CostModel costs = make_cost_model(out.plan, topology, calibration_of(scenario, library));
  ScheduleRequest request;
  request.shape = {4, out.plan.micro_batches, 1};
  out.schedule = lower(find_schedule("1f1b")->generate(request), out.plan);
  out.times = time_bodies_by_rank(costs, out.schedule.bodies, out.plan, topology);
  return out;
}

const KernelLine& line_of(const std::vector<KernelLine>& lines, OpKind pass, const std::string& name) {
  const auto found = std::find_if(lines.begin(), lines.end(), [&](const KernelLine& line) {
    return line.pass == pass && line.segment.name == name;
  });
  REQUIRE(found != lines.end());
  return *found;
}

}  // namespace

TEST_CASE("the kernels of a rank take the time of its operations, and no more") {
  const Made all = made();
  for (std::size_t rank = 0; rank < 4; ++rank) {
    double kernels_s = 0, operations_s = 0;
    for (const KernelLine& line : kernel_lines(all.schedule, all.times, PipelineRank(rank))) {
      kernels_s += line.time.value;
    }
    for (const Op& op : all.schedule.programs[rank]) {
      if (op.body.valid()) operations_s += all.times.at(PipelineRank(rank))[op.body.index()].total.expected.value;
    }
    CHECK(kernels_s == Approx(operations_s));
  }
}

TEST_CASE("a kernel is called once per block and micro-batch, with the FLOPs of its shape") {
  const Made all = made();
  const std::vector<KernelLine> lines = kernel_lines(all.schedule, all.times, PipelineRank(0));
  // 24 blocks on 4 ranks, 16 sequences over 2 replicas; 2048 tokens, hidden 2304, queries, keys and values on 2 ranks.
  const KernelLine& qkv = line_of(lines, OpKind::forward, "qkv");
  CHECK(qkv.calls == 6 * 8);
  CHECK(qkv.alike);
  CHECK(qkv.segment.kernel.n == 3 * 2304 / 2);
  CHECK(qkv.flops.value == Approx(qkv.calls * 2.0 * 2048 * 2304 * (3 * 2304 / 2.0)));
  CHECK(line_of(lines, OpKind::forward, "embedding-lookup").calls == 8);
  CHECK(line_of(lines, OpKind::optimizer_step, "optimizer").calls == 1);
  double longest_s = 1e9;
  for (const KernelLine& line : lines) {  // the longest first
    if (line.pass != OpKind::backward) continue;
    CHECK(line.time.value <= longest_s);
    longest_s = line.time.value;
  }
}

TEST_CASE("the busiest rank of a pipeline is the one with the head") {
  const Made all = made();
  CHECK(busiest_rank(all.schedule, all.times) == PipelineRank(3));
}

TEST_CASE("the table of kernels has the rates, and what a collective is") {
  const Made all = made();
  const std::string text = explain_kernels(all.plan, all.schedule, all.times, PipelineRank(0));
  CHECK_THAT(text, Catch::StartsWith("pipeline rank 0: embedding, blocks 0-5\n"));
  CHECK_THAT(
      text, Catch::Contains("of fp16 peak; 2048 x 3456 x 2304") || Catch::Contains("of bf16 peak; 2048 x 3456 x 2304"));
  CHECK_THAT(text, Catch::Contains("all_reduce over 2 tensor ranks, 9.44 MB"));
  CHECK_THAT(text, Catch::Contains("% of memory"));
}

TEST_CASE("every row of the kernels' CSV has the columns of its head, and shares add up to one") {
  const Made all = made();
  std::istringstream csv(kernels_csv(all.plan, all.schedule, all.times, PipelineRank(3)));
  std::string row;
  std::getline(csv, row);
  const auto commas = std::count(row.begin(), row.end(), ',');
  double shares = 0;
  int rows = 0;
  while (std::getline(csv, row)) {
    CAPTURE(row);
    CHECK(std::count(row.begin(), row.end(), ',') == commas);
    std::istringstream cells(row);
    std::string cell;
    for (int i = 0; i < 7; ++i) std::getline(cells, cell, ',');
    shares += std::stod(cell);
    ++rows;
  }
  CHECK(rows > 30);
  CHECK(shares == Approx(1));
}
