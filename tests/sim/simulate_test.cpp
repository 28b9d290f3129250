#include "sim/simulate.hpp"

#include <catch2/catch.hpp>

#include "estimate/estimate.hpp"
#include "sample_job.hpp"

using namespace stagecraft;
using namespace stagecraft::samples;

namespace {

Trace simulated(const Job& job, SimulationOptions options = {}) {
  return simulate(job.plan, job.schedule, job.graph, job.model, job.topology, options);
}

double step_time(const Job& job, bool folded = true) {
  SimulationOptions options;
  options.folded = folded;
  return simulated(job, options).end_s;
}

double estimated(const Job& job) {
  return estimate(job.plan, job.schedule, job.graph, job.model, job.topology).step_time.value;
}

}  // namespace

TEST_CASE("without communication p stages and m micro-batches take (m+p-1)(F+B)", "[sim]") {
  for (const char* schedule : {"gpipe", "1f1b"}) {
    for (const int p : {1, 2, 4, 8}) {
      for (const int m : {1, 4, 16}) {
        const Job job = job_of(silent_layers(p, m), schedule);
        INFO(schedule << " p=" << p << " m=" << m);
        CHECK(step_time(job) == Approx((m + p - 1) * 2e-3).epsilon(1e-9));
      }
    }
  }
}

TEST_CASE("steps in a row take a multiple, and each end is noted", "[sim]") {
  SimulationOptions options;
  options.steps = 3;
  const Trace trace = simulated(job_of(silent_layers(4, 8), "1f1b"), options);
  REQUIRE(trace.step_end_s.size() == 3);
  CHECK(trace.step_end_s[0] == Approx(22e-3));
  CHECK(trace.step_end_s[2] == Approx(66e-3));
  CHECK(trace.end_s == trace.step_end_s[2]);
}

TEST_CASE("on an idle network the simulation is the estimate", "[sim]") {
  // GPipe sends activations, then gradients, and a lone stage only reduces: no two kinds of traffic meet on a link.
  for (const auto& [tensor, pipeline, data] :
       {std::tuple{8, 4, 1}, std::tuple{8, 1, 4}, std::tuple{1, 8, 1}, std::tuple{4, 1, 8}}) {
    const Job job = job_of(scenario(tensor, pipeline, data, (tensor * pipeline * data + 7) / 8), "gpipe");
    INFO(tensor << " x " << pipeline << " x " << data);
    CHECK(step_time(job) == Approx(estimated(job)).epsilon(1e-6));
  }
}

TEST_CASE("the last gradient of a stage shares the NIC with the stage's reduction, which the estimate cannot know",
          "[sim]") {
  // A stage that has ended its last backward sends the gradient and begins to reduce: both get half of the NIC, and the
  // message is by far the shorter. So each of the p - 1 last messages takes another message time.
  for (const auto& [pipeline, data] : {std::tuple{2, 2}, std::tuple{4, 2}, std::tuple{4, 4}}) {
    const Job job = job_of(scenario(8, pipeline, data, pipeline * data), "gpipe");
    const double message = 2.0 * 2048 * 1024 / 8 / 24e9;  // 16 bits, scattered over 8 tensor ranks
    INFO(pipeline << " x " << data);
    CHECK(step_time(job) - estimated(job) == Approx((pipeline - 1) * message).epsilon(1e-4));
  }
}

TEST_CASE("1F1B sends activations and gradients through one NIC and is slower than its estimate, though not by much",
          "[sim]") {
  const Job job = job_of(scenario(8, 4, 1, 4), "1f1b");
  CHECK(step_time(job) >= estimated(job) * (1 - 1e-9));
  CHECK(step_time(job) < estimated(job) * 1.2);
}

TEST_CASE("one pipeline stands for all replicas", "[sim]") {
  for (const auto& [tensor, pipeline, data] :
       {std::tuple{8, 4, 2}, std::tuple{2, 2, 4}, std::tuple{4, 2, 4}, std::tuple{1, 4, 4}, std::tuple{2, 4, 2}}) {
    for (const char* schedule : {"gpipe", "1f1b"}) {
      Scenario sample = scenario(tensor, pipeline, data, tensor * pipeline * data / 8);
      sample.run.overlap.gradient_reduce = true;
      const Job job = job_of(sample, schedule);
      INFO(schedule << " " << tensor << " x " << pipeline << " x " << data);
      CHECK(step_time(job) == Approx(step_time(job, false)).epsilon(1e-6));
    }
  }
}

TEST_CASE("an unfolded trace holds every replica", "[sim]") {
  const Job job = job_of(scenario(2, 2, 4, 2), "1f1b");
  SimulationOptions options;
  const Trace folded = simulated(job, options);
  options.folded = false;
  const Trace unfolded = simulated(job, options);
  CHECK(folded.ranks.size() == 2);
  CHECK(folded.ranks[0].represents == 8);
  CHECK(unfolded.ranks.size() == 8);
  CHECK(unfolded.ranks[0].represents == 2);
  CHECK(unfolded.spans.size() == 4 * folded.spans.size());
}

TEST_CASE("reductions of four tensor ranks through one NIC take four times as long", "[sim]") {
  Scenario sample = scenario(4, 1, 2, 1);
  sample.cluster = cluster(pcie_box(4, true), 2, fabric(FabricKind::single_switch));
  const Job job = job_of(sample, "gpipe");
  for (const Span& span : simulated(job).spans) {
    if (span.kind != OpKind::reduce_grad) continue;
    Op op;
    op.kind = span.kind;
    op.stage = Stage(0);
    const CollectiveTime alone = time_of(job.model, job.schedule, job.plan, job.topology, PipelineRank(0), op);
    CHECK(span.end_s - span.begin_s == Approx(4 * alone.total.expected.value).epsilon(1e-6));
  }
  CHECK(step_time(job) == Approx(step_time(job, false)).epsilon(1e-6));
}

TEST_CASE("tensor-parallel collectives that share PCIe with other traffic are played as flows", "[sim]") {
  // 2 x 2 on one PCIe box: tensor rings and pipeline sends leave a GPU over the same slot.
  Scenario sample = scenario(2, 2, 1, 1);
  sample.cluster = cluster(pcie_box(4), 1, fabric(FabricKind::none));
  const Job job = job_of(sample, "1f1b");
  const double idle = estimated(job);
  CHECK(step_time(job) > idle);
  CHECK(step_time(job) < 2 * idle);
}

TEST_CASE("the trace has a span for every operation and an edge for every dependency", "[sim]") {
  const Job job = job_of(scenario(8, 4, 2, 8), "1f1b");
  SimulationOptions options;
  options.steps = 2;
  const Trace trace = simulated(job, options);
  CHECK(trace.spans.size() == 2 * node_count(job.graph));
  CHECK(trace.dependencies.size() == 2 * job.graph.successors.size() + job.graph.across_steps.size());
  for (const Dependency& edge : trace.dependencies) {
    CHECK(trace.spans[edge.from].end_s <= trace.spans[edge.to].begin_s + 1e-9);
  }
}

TEST_CASE("segments fill their operation", "[sim]") {
  const Job job = job_of(scenario(8, 2, 1, 2, 4), "1f1b");
  SimulationOptions options;
  options.segment_spans = true;
  const Trace trace = simulated(job, options);
  double whole = 0, segments = 0;
  for (const Span& span : trace.spans) {
    if (span.kind != OpKind::forward) continue;
    (span.segment < 0 ? whole : segments) += span.end_s - span.begin_s;
  }
  CHECK(segments == Approx(whole).epsilon(1e-9));
}

TEST_CASE("link counters stay below the rate of the link and come back to zero", "[sim]") {
  Scenario sample = scenario(8, 4, 2, 8);
  sample.run.overlap.gradient_reduce = true;
  SimulationOptions options;
  options.link_counters = true;
  const Trace trace = simulated(job_of(sample, "1f1b"), options);
  REQUIRE_FALSE(trace.counters.empty());
  for (const CounterSeries& series : trace.counters) {
    CHECK(series.value.back() == 0);
    for (const double value : series.value) CHECK(value <= 24e9 * (1 + 1e-5));
  }
}

TEST_CASE("a trace with link counters notes the communication that they leave out", "[sim]") {
  SimulationOptions options;
  options.link_counters = true;
  const auto note = [&](const Scenario& sample, const char* schedule) {
    for (const Provenance& one : simulated(job_of(sample, schedule), options).provenance) {
      if (one.key == uncounted_key) return one.value;
    }
    return std::string("no note");
  };
  // NVSwitch carries the tensor group alone; on the NICs messages and reductions meet.
  CHECK(note(scenario(8, 4, 2, 8), "1f1b") == "tensor_communication");
  // A lone stage has nothing but its reduction on them.
  CHECK(note(scenario(8, 1, 4, 4), "gpipe") == "tensor_communication,data_communication");
  CHECK(note(scenario(1, 1, 1, 1), "gpipe") == "none");
  for (const Provenance& one : simulated(job_of(scenario(8, 4, 2, 8), "1f1b")).provenance)
    CHECK(one.key != uncounted_key);  // without counters none is left out
}

TEST_CASE("the same simulation twice in one process gives the same trace", "[sim]") {
  const Job job = job_of(scenario(8, 4, 2, 8), "1f1b");
  const Trace first = simulated(job), second = simulated(job);
  REQUIRE(first.spans.size() == second.spans.size());
  for (std::size_t i = 0; i < first.spans.size(); ++i) {
    CHECK(first.spans[i].begin_s == Approx(second.spans[i].begin_s).epsilon(1e-9).margin(1e-12));
  }
}
