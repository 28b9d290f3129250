// What the exchanges of experts cost beside another micro-batch's pass, and in the passes that have none beside them.

#include <algorithm>
#include <catch2/catch.hpp>

#include "estimate/estimate.hpp"
#include "sample_job.hpp"
#include "schedule/company.hpp"
#include "sim/simulate.hpp"

using namespace stagecraft;
using namespace stagecraft::samples;

namespace {

constexpr std::int32_t blocks = 4;

/// Eight experts over the GPUs of a DGX A100, `micro_batches` of one sequence each, GPUs joined at `gbps`.
Scenario spread_experts(std::int64_t micro_batches, double gbps) {
  Scenario sample = scenario(1, 1, 8, 1, blocks);
  for (WireSpec& wire : sample.cluster.node.wires) {
    if (wire.kind == LinkKind::nvlink) wire.nominal = wire.achieved = GBps(gbps);
  }
  sample.model.moe.experts = 8;
  sample.model.moe.top_k = 2;
  sample.model.moe.ffn_hidden = 2048;
  sample.run.parallel.expert = 8;
  sample.run.batch = {8 * micro_batches, 1};
  sample.run.overlap.expert = true;
  return sample;
}

Job job(const Scenario& scenario) {
  return job_of(scenario, "1f1b");
}

double step_of(const Scenario& scenario) {
  const Job made = job(scenario);
  return estimate(made.plan, made.schedule, made.graph, made.model, made.topology).step_time.value;
}

/// Times of the segments of one block in a pass that runs alone, by name.
class Alone {
 public:
  Alone(const Job& job, OpKind kind) {
    const Bodies& bodies = job.schedule.bodies;
    const BodyId together = bodies.of_stage[0][static_cast<std::size_t>(kind)];
    id_ = body_beside(bodies, together, 0, false);
    const std::vector<BodyTime> times = time_bodies(job.model, job.schedule, job.plan);
    body_ = &bodies.bodies[id_.index()];
    time_ = times[id_.index()];
    for (part_ = 0; body_->parts[part_].repeat != blocks; ++part_) {
    }
  }

  double whole() const { return time_.total.expected.value; }
  double segment(const char* name) const { return seconds(at(name), at(name) + 1); }
  double before(const char* end) const { return seconds(0, at(end)); }
  double between(const char* first, const char* last) const { return seconds(at(first) + 1, at(last)); }
  double behind(const char* first) const { return seconds(at(first) + 1, body_->parts[part_].segments.size()); }

 private:
  std::size_t at(const std::string& name) const {
    std::size_t i = 0;
    while (body_->parts[part_].segments[i].name != name) ++i;
    return i;
  }
  double seconds(std::size_t from, std::size_t to) const {
    double sum = 0;
    for (std::size_t i = from; i < to; ++i) sum += time_.segments[part_][i].time.value;
    return sum;
  }

  BodyId id_;
  const Body* body_ = nullptr;
  BodyTime time_;
  std::size_t part_ = 0;
};

/// What a pair of passes saves over two that run alone: of each exchange, what the kernels beside it take.
double saved(const Job& job) {
  const Alone forward(job, OpKind::forward), backward(job, OpKind::backward);
  const double dispatch = forward.segment("experts-dispatch"), combine = forward.segment("experts-combine");
  const double combine_grad = backward.segment("experts-combine-grad"),
               dispatch_grad = backward.segment("experts-dispatch-grad");
  return blocks * (std::min(combine_grad, forward.before("experts-dispatch")) +
                   std::min(dispatch, backward.between("experts-combine-grad", "experts-dispatch-grad")) +
                   std::min(dispatch_grad, forward.between("experts-dispatch", "experts-combine")) +
                   std::min(combine, backward.behind("experts-dispatch-grad")));
}

}  // namespace

TEST_CASE("a pair of passes takes what two alone take, less what the exchanges find to hide behind") {
  for (const double gbps : {1.0, 30.0, 60.0, 100.0, 1000.0}) {
    CAPTURE(gbps);
    const Job three = job(spread_experts(3, gbps));
    const Alone forward(three, OpKind::forward), backward(three, OpKind::backward);
    const double pair = step_of(spread_experts(4, gbps)) - step_of(spread_experts(3, gbps));
    CHECK(pair == Approx(forward.whole() + backward.whole() - saved(three)));
    CHECK(saved(three) > 0);
  }
}

TEST_CASE("the first forward and the last backward pass of a step hide nothing") {
  Scenario one = spread_experts(1, 50), four = spread_experts(4, 50);
  const double hidden = saved(job(four));
  const double together = step_of(four);
  const double alone = step_of(one);
  one.run.overlap.expert = four.run.overlap.expert = false;
  CHECK(alone == Approx(step_of(one)));
  CHECK(together == Approx(step_of(four) - 3 * hidden));
}

namespace {

/// Exposed communication of all operations of a step but that of experts.
double others_exposed(Scenario scenario, bool overlaps) {
  scenario.run.overlap.expert = overlaps;
  const Job made = job(scenario);
  double sum = 0;
  for (const auto& program : made.schedule.programs) {
    const std::vector<BodyTime> times = time_bodies(made.model, made.schedule, made.plan);
    for (const Op& op : program) {
      if (!op.body.valid()) continue;
      const ExposedTime& exposed = times[op.body.index()].exposed;
      sum += (exposed.tensor + exposed.context + exposed.data).value;
    }
  }
  return sum;
}

}  // namespace

TEST_CASE("experts that overlap leave what tensor and context ranks send as it was") {
  Scenario tensor = spread_experts(4, 50);
  tensor.run.parallel.tensor = 2;
  tensor.run.parallel.sequence_parallel = true;
  tensor.run.parallel.data = tensor.run.parallel.expert = 4;
  tensor.run.batch.global = 16;
  Scenario context = spread_experts(4, 50);
  context.run.parallel.context = 2;
  context.run.parallel.data = context.run.parallel.expert = 4;
  context.run.batch.global = 16;
  context.run.attention_kernel = AttentionKernel::flash_2;
  for (Scenario* const scenario : {&tensor, &context}) {
    for (const bool hides : {false, true}) {
      scenario->run.overlap.tensor = scenario->run.overlap.context = hides;
      const double apart = others_exposed(*scenario, false);
      CHECK(apart > 0);
      CHECK(others_exposed(*scenario, true) == Approx(apart));
    }
  }
}

TEST_CASE("neither more overlap nor CUDA graphs make an overlapped step slower") {
  Calibration slow_host = ideal_calibration();
  slow_host.constants["host_launch_us"].value = 200;
  for (const double gbps : {5.0, 50.0, 500.0}) {
    CAPTURE(gbps);
    Scenario sample = spread_experts(4, gbps);
    sample.run.overlap.expert = false;
    const auto step = [&] {
      const Job made = job_of(sample, "1f1b", slow_host);
      return estimate(made.plan, made.schedule, made.graph, made.model, made.topology).step_time.value;
    };
    const double apart = step();
    sample.run.overlap.expert = true;
    const double together = step();
    sample.run.overlap.delay_weight_grad = true;
    const double delayed = step();
    sample.run.cuda_graphs = true;
    const double graphs = step();
    CHECK(together <= apart);
    CHECK(delayed <= together * 1.005);  // the host's pace is that of each pass, what hides is of both
    CHECK(graphs <= delayed);
  }
}

TEST_CASE("simulated and estimated steps with exchanges beside another pass agree") {
  const Job made = job(spread_experts(4, 50));
  const Trace trace = simulate(made.plan, made.schedule, made.graph, made.model, made.topology, {});
  const Estimate expected = estimate(made.plan, made.schedule, made.graph, made.model, made.topology);
  CHECK(trace.step_end_s.front() == Approx(expected.step_time.value).epsilon(1e-6));
}

TEST_CASE("segments of a pass that has no company show its exchanges whole") {
  const Job made = job(spread_experts(4, 50));
  SimulationOptions options;
  options.segment_spans = true;
  const Trace trace = simulate(made.plan, made.schedule, made.graph, made.model, made.topology, options);
  const auto dispatched = [&](std::int32_t micro_batch) {
    double sum = 0;
    for (const Span& span : trace.spans) {
      const bool is_forward = span.kind == OpKind::forward && span.micro_batch == micro_batch && span.rank == 0;
      if (is_forward && trace.labels[span.label] == "experts-dispatch") sum += span.end_s - span.begin_s;
    }
    return sum;
  };
  const Alone forward(made, OpKind::forward);
  CHECK(dispatched(0) == Approx(blocks * forward.segment("experts-dispatch")).epsilon(1e-6));
  CHECK(dispatched(1) < dispatched(0));
}

TEST_CASE("experts' gradients that cross nodes take the time of the closed form on an idle network") {
  // Four NICs for eight GPUs: the groups of ranks that hold the same experts share them.
  const std::string root = STAGECRAFT_SOURCE_DIR;
  const Library library{{root + "/scenarios", root + "/topologies"}};
  const Scenario scenario = parse_scenario(
      R"({"model": {"extends": "qwen3-30b-a3b", "blocks": 4}, "cluster": {"extends": "aws-p4d", "nodes": 2},
          "parallel": {"data": 16, "expert": 8}, "batch": {"micro": 1, "global": 16}, "sequence_length": 1024})",
      "test", {}, library);
  const Job made = job_of(scenario, "1f1b", calibration_of(scenario, library));
  const Trace trace = simulate(made.plan, made.schedule, made.graph, made.model, made.topology, {});
  const Estimate closed = estimate(made.plan, made.schedule, made.graph, made.model, made.topology);
  CHECK(trace.step_end_s.front() == Approx(closed.step_time.value).epsilon(1e-6));
}
