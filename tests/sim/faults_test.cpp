#include <catch2/catch.hpp>

#include "estimate/estimate.hpp"
#include "sample_job.hpp"
#include "sim/simulate.hpp"

using namespace stagecraft;
using namespace stagecraft::samples;

namespace {

double step_time(const Job& job, bool folded = true) {
  SimulationOptions options;
  options.folded = folded;
  return simulate(job.plan, job.schedule, job.graph, job.model, job.topology, options).end_s;
}

double closed_form(const Job& job) {
  return estimate(job.plan, job.schedule, job.graph, job.model, job.topology).step_time.value;
}

Job with(Scenario sample, std::vector<FaultSpec> faults) {
  sample.cluster.faults = std::move(faults);
  return job_of(sample, "1f1b");
}

FaultSpec fault(FaultKind kind, const char* device, double left, std::vector<std::int64_t> nodes) {
  FaultSpec made;
  made.kind = kind;
  made.device = device;
  made.left = left;
  made.nodes = std::move(nodes);
  return made;
}

}  // namespace

TEST_CASE("a slow GPU ends folding and slows its replica, and the others wait for it at the reduction", "[sim]") {
  const Scenario sample = scenario(8, 2, 4, 4);
  const Job sound = with(sample, {}), slow = with(sample, {fault(FaultKind::gpu, "gpu3", 0.5, {1})});
  CHECK(folding_of(sound.plan, sound.graph, sound.topology, 1).folded);
  CHECK_FALSE(folding_of(slow.plan, slow.graph, slow.topology, 1).folded);
  CHECK_THAT(folding_of(slow.plan, slow.graph, slow.topology, 1).note, Catch::Contains("each is played on its own"));
  CHECK(step_time(slow) > 1.2 * step_time(sound));
  CHECK(step_time(slow) < 2.05 * step_time(sound));
  // The closed form has every rank as slow as the slowest.
  CHECK(closed_form(slow) > 1.2 * closed_form(sound));
  CHECK(step_time(slow) <= 1.01 * closed_form(slow));
}

TEST_CASE("where replicas are too many to be played apart, the fold says that it is approximate", "[sim]") {
  const Job slow = with(scenario(8, 2, 4, 4), {fault(FaultKind::gpu, "gpu3", 0.5, {1})});
  Plan wide = slow.plan;
  wide.degrees.data = 1'000'000;
  const Folding folding = folding_of(wide, slow.graph, slow.topology, 1);
  CHECK(folding.folded);
  CHECK_THAT(folding.note, Catch::Contains("approximate") && Catch::Contains("as slow as the slowest"));
}

TEST_CASE("only the replica of a slow GPU computes slowly", "[sim]") {
  const Job slow = with(scenario(8, 1, 4, 2), {fault(FaultKind::gpu, "gpu0", 0.5, {2})});
  const Trace trace = simulate(slow.plan, slow.schedule, slow.graph, slow.model, slow.topology, {});
  double fast_s = 0, slow_s = 0;
  for (const Span& span : trace.spans) {
    if (span.kind == OpKind::forward && span.micro_batch == 0)
      (span.rank / 8 == 2 ? slow_s : fast_s) = span.end_s - span.begin_s;
  }
  CHECK(slow_s > 1.3 * fast_s);
}

TEST_CASE("in a lone pipeline only the stage of a slow GPU computes slowly", "[sim]") {
  const Job slow = with(scenario(8, 4, 1, 4), {fault(FaultKind::gpu, "gpu0", 0.5, {2})});
  CHECK_FALSE(folding_of(slow.plan, slow.graph, slow.topology, 1).folded);
  const Trace trace = simulate(slow.plan, slow.schedule, slow.graph, slow.model, slow.topology, {});
  std::vector<double> forward_s(4, 0);
  for (const Span& span : trace.spans) {
    if (span.kind == OpKind::forward) forward_s[static_cast<std::size_t>(span.stage)] = span.end_s - span.begin_s;
  }
  CHECK(forward_s[2] > 1.3 * forward_s[1]);
}

TEST_CASE("a slow NIC of one node slows the data-parallel reduction of all", "[sim]") {
  const Scenario sample = scenario(8, 1, 4, 2);
  const Job sound = with(sample, {}), slow = with(sample, {fault(FaultKind::nic, "nic3", 0.25, {1})});
  const auto reduction = [](const Job& job) {
    const Trace trace = simulate(job.plan, job.schedule, job.graph, job.model, job.topology, {});
    double longest = 0;
    for (const Span& span : trace.spans) {
      if (span.kind == OpKind::reduce_grad) longest = std::max(longest, span.end_s - span.begin_s);
    }
    return longest;
  };
  CHECK(reduction(slow) == Approx(4 * reduction(sound)).epsilon(0.02));
  CHECK(closed_form(slow) > closed_form(sound));
}

TEST_CASE("a NIC that is slow in every node keeps folding, and both ways agree", "[sim]") {
  const Job slow = with(scenario(8, 2, 2, 4), {fault(FaultKind::nic, "nic3", 0.5, {})});
  CHECK(folding_of(slow.plan, slow.graph, slow.topology, 1).folded);
  CHECK(step_time(slow) == Approx(step_time(slow, false)).epsilon(1e-6));
}

TEST_CASE("every fault of a node costs something in the simulation", "[sim]") {
  const Scenario sample = scenario(8, 2, 2, 4);
  const double sound = step_time(with(sample, {}));
  FaultSpec wire = fault(FaultKind::wire, "", 0.2, {0});
  wire.from = "gpu1";
  wire.to = "nvswitch";
  FaultSpec moved = fault(FaultKind::nic_moved, "nic0", 1, {0});
  moved.to = "cpu1";
  for (const FaultSpec& each : {wire, fault(FaultKind::nic, "nic0", 0.3, {0}), fault(FaultKind::nic, "nic0", 0, {0}),
                                fault(FaultKind::gpu, "gpu7", 0.7, {3}), fault(FaultKind::access_control, "", 1, {}),
                                fault(FaultKind::gpudirect_off, "", 1, {1}), moved}) {
    INFO(describe(each));
    const Job faulty = with(sample, {each});
    CHECK(step_time(faulty) > sound * (1 + 1e-6));
    CHECK(closed_form(faulty) > 0);
  }
}

TEST_CASE("cables that a leaf lost and background load slow what crosses the spine", "[sim]") {
  Scenario sample = scenario(8, 4, 1, 8);
  sample.cluster.fabric = fabric(FabricKind::fat_tree, 2);
  const double sound = step_time(with(sample, {}));
  FaultSpec leaf = fault(FaultKind::leaf, "", 0.02, {});
  CHECK(step_time(with(sample, {leaf})) > sound);
  FaultSpec load = fault(FaultKind::background, "", 0.02, {});
  CHECK(step_time(with(sample, {load})) > sound);
}

TEST_CASE("fixed routing is no faster than adaptive, and the fold says what it stands for", "[sim]") {
  Scenario sample = scenario(8, 2, 4, 4);
  sample.cluster.fabric = fabric(FabricKind::fat_tree, 2);
  const Job adaptive = with(sample, {});
  sample.cluster.fabric.routing = Routing::fixed;
  const Job hashed = with(sample, {});
  CHECK(step_time(hashed) >= step_time(adaptive) * (1 - 1e-9));
  CHECK_THAT(folding_of(hashed.plan, hashed.graph, hashed.topology, 1).note, Catch::Contains("fixed routing"));
}
