// At which rate flows went when.
#include "sim/flow_record.hpp"

#include <algorithm>
#include <catch2/catch.hpp>
#include <map>

#include "hand_graph.hpp"
#include "sample_job.hpp"
#include "sim/local_costs.hpp"
#include "sim/traffic_sample.hpp"

using namespace stagecraft;
using namespace stagecraft::samples;

namespace {

std::vector<FlowStretch> stretches_of(const Playbook& book, const Graph& graph) {
  std::vector<FlowStretch> stretches;
  play(book, graph, 1, std::vector<std::string>(book.links.size(), "link"), &stretches);
  std::sort(stretches.begin(), stretches.end(), [](const FlowStretch& a, const FlowStretch& b) {
    return a.path != b.path ? a.path < b.path : a.begin_s < b.begin_s;
  });
  return stretches;
}

void check_stretch(const FlowStretch& stretch, std::int32_t path, double begin_s, double end_s, double units) {
  CHECK(stretch.path == path);
  CHECK(stretch.begin_s == Approx(begin_s).margin(1e-9));
  CHECK(stretch.end_s == Approx(end_s).epsilon(1e-9));
  CHECK(stretch.units == Approx(units).epsilon(1e-9));
}

Playbook playbook_of(const Job& job, bool folded) {
  const LocalCosts costs = local_costs(job.plan, job.schedule, job.model, job.topology, folded);
  return make_playbook(job.plan, job.schedule, costs, job.topology, traffic_sample(job.plan, job.topology, folded),
                       folded);
}

/// Of every link, the largest sum of its flows' rates, over what it carries.
double highest_load(const Playbook& book, const std::vector<FlowStretch>& stretches) {
  double highest = 0;
  for (std::size_t link = 0; link < book.links.size(); ++link) {
    std::map<double, double> change;
    for (const FlowStretch& stretch : stretches) {
      const double rate = stretch.units / (stretch.end_s - stretch.begin_s);
      for (const Crossing& crossing : book.paths[static_cast<std::size_t>(stretch.path)].crossings) {
        if (static_cast<std::size_t>(crossing.link) != link) continue;
        change[stretch.begin_s] += rate * crossing.crossings;
        change[stretch.end_s] -= rate * crossing.crossings;
      }
    }
    double load = 0;
    for (const auto& [time, rate] : change) highest = std::max(highest, (load += rate) / book.links[link].rate);
  }
  return highest;
}

}  // namespace

TEST_CASE("a flow's life falls into stretches of one rate", "[sim]") {
  // 30 of 50 alone until t = 3, then 5 each until the first has ended at 7; the other's last 5 go at the full rate.
  Playbook book = book_of({{0, 0, 50}, {3, 1, 25}});
  book.links = {{LinkId(0), 10, 1}};
  book.paths = {{10, {{0, 1}}}, {10, {{0, 1}}}};
  const std::vector<FlowStretch> stretches = stretches_of(book, graph_of(2, {}));
  REQUIRE(stretches.size() == 4);
  check_stretch(stretches[0], 0, 0, 3, 30);
  check_stretch(stretches[1], 0, 3, 7, 20);
  check_stretch(stretches[2], 1, 3, 7, 20);
  check_stretch(stretches[3], 1, 7, 7.5, 5);
}

TEST_CASE("a flow whose rate stays while others come and go has one stretch", "[sim]") {
  // Capped at 2 on a link of 10 that two others use one after the other, at 8 and at 5.
  Playbook book = book_of({{0, 0, 20}, {1, 1, 16}, {4, 2, 15}});
  book.links = {{LinkId(0), 10, 1}};
  book.paths = {{2, {{0, 1}}}, {8, {{0, 1}}}, {5, {{0, 1}}}};
  const std::vector<FlowStretch> stretches = stretches_of(book, graph_of(3, {}));
  REQUIRE(stretches.size() == 4);
  check_stretch(stretches[0], 0, 0, 1, 2);  // alone; SimGrid has it from then on
  check_stretch(stretches[1], 0, 1, 10, 18);
  check_stretch(stretches[2], 1, 1, 3, 16);
  check_stretch(stretches[3], 2, 4, 7, 15);
}

TEST_CASE("flows never put more on a link than it carries, and lose no byte", "[sim]") {
  Scenario overlapped = scenario(8, 4, 2, 8);
  overlapped.run.overlap.gradient_reduce = true;
  Scenario offloaded = scenario(8, 2, 2, 4);
  offloaded.run.offload.activations = Home::host;
  Scenario straggling = overlapped;
  straggling.cluster.faults.push_back({});
  straggling.cluster.faults.back().kind = FaultKind::gpu;
  straggling.cluster.faults.back().device = "gpu0";
  straggling.cluster.faults.back().left = 0.5;
  straggling.cluster.faults.back().nodes = {1};
  Scenario boxes = scenario(2, 2, 4, 4);
  boxes.cluster = cluster(pcie_box(4), 4, fabric(FabricKind::fat_tree, 2, 4));
  boxes.cluster.gpu = overlapped.cluster.gpu;
  for (const Scenario& sample : {overlapped, offloaded, straggling, boxes}) {
    for (const char* schedule : {"1f1b", "gpipe"}) {
      for (const bool folded : {true, false}) {
        const Job job = job_of(sample, schedule);
        const Playbook book = playbook_of(job, folded);
        INFO(sample.cluster.name << ", " << schedule << ", folded " << folded);
        REQUIRE_FALSE(book.links.empty());
        const std::vector<FlowStretch> stretches = stretches_of(book, job.graph);
        CHECK(highest_load(book, stretches) <= 1 + 1e-5);
        double played = 0, sent = 0;
        for (std::size_t i = 0; i < book.work_of.size(); ++i) {
          const Work& work = book.works[book.work_of[i]];
          const bool first_of_joint = i < book.work_of.size() / static_cast<std::size_t>(book.replicas);
          if (work.joint && !first_of_joint) continue;
          for (std::uint32_t move = work.first_move; move < work.first_move + work.moves; ++move)
            if (book.moves[move].path >= 0) played += static_cast<double>(book.moves[move].units);
        }
        for (const FlowStretch& stretch : stretches) sent += stretch.units;
        CHECK(sent == Approx(played).epsilon(1e-6));
      }
    }
  }
}
