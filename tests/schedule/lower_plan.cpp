// Lowering with a model behind it: policies, message sizes, bodies.

#include <catch2/catch.hpp>

#include "body_plans.hpp"
#include "hand_written.hpp"
#include "schedule/check.hpp"
#include "schedule/lower.hpp"

using namespace stagecraft;

namespace {

/// The dense model on 2 tensor x 2 data x 2 pipeline ranks: 2 micro-batches of 2 sequences per data rank.
Scenario scenario() {
  Scenario out = testing::dense_scenario();
  out.run.parallel.tensor = out.run.parallel.data = out.run.parallel.pipeline = 2;
  return out;
}

Schedule lowered(const Scenario& from) {
  const Plan plan = make_plan(from);
  return lower(test::generated("1f1b", plan.degrees.pipeline, plan.micro_batches), plan);
}

double send_bytes(const Scenario& from) {
  const Schedule schedule = lowered(from);
  for (const Op& op : schedule.programs[0]) {
    if (is_send(op.kind)) return op.bytes.value;
  }
  return -1;
}

}  // namespace

TEST_CASE("a message is b s h elements, split over the tensor group where it may be") {
  Scenario split = scenario(), whole = scenario();
  split.run.scatter_gather = true;
  whole.run.scatter_gather = false;
  const double bytes = 2.0 * 512 * 1024 * 2;  // 2 sequences of 512 tokens, hidden 1024, fp16
  CHECK(send_bytes(whole) == bytes);
  CHECK(send_bytes(split) == bytes / 2);
  whole.run.parallel.sequence_parallel = true;
  CHECK(send_bytes(whole) == bytes / 2);
  whole.run.parallel.sequence_parallel = false;
  whole.run.precision = Precision::fp32;
  CHECK(send_bytes(whole) == 2 * bytes);
}

TEST_CASE("both ends of every message agree and only messages carry bytes") {
  const Schedule schedule = lowered(scenario());
  CHECK(check_schedule(schedule).empty());
  for (const auto& program : schedule.programs) {
    for (const Op& op : program) CHECK((op.bytes.value > 0) == (is_send(op.kind) || is_receive(op.kind)));
  }
}

TEST_CASE("the run decides which passes are taken") {
  Scenario from = scenario();
  from.run.zero_stage = 0;
  from.run.recompute = Recompute::none;
  Schedule schedule = lowered(from);
  CHECK(test::count(schedule, OpKind::recompute) == 0);
  CHECK(test::count(schedule, OpKind::gather_params) == 0);
  CHECK(test::count(schedule, OpKind::reduce_grad) == 2);
  CHECK(test::count(schedule, OpKind::reduce_tied) == 2);
  CHECK(test::count(schedule, OpKind::optimizer_step) == 2);

  from.run.zero_stage = 1;
  from.run.recompute = Recompute::full;
  from.model.tied_embeddings = false;
  schedule = lowered(from);
  CHECK(test::count(schedule, OpKind::recompute) == 4);
  CHECK(test::count(schedule, OpKind::gather_params) == 2);
  CHECK(test::count(schedule, OpKind::reduce_tied) == 0);

  from.run.parallel.data = 1;
  schedule = lowered(from);
  CHECK(test::count(schedule, OpKind::reduce_grad) == 0);
  CHECK(test::count(schedule, OpKind::gather_params) == 0);

  from.run.recompute = Recompute::selective;  // inside the backward's body
  CHECK(test::count(lowered(from), OpKind::recompute) == 0);
}

TEST_CASE("every compute operation has the body of its stage and kind") {
  Scenario from = scenario();
  from.run.recompute = Recompute::full;
  const Schedule schedule = lowered(from);
  for (const auto& program : schedule.programs) {
    for (const Op& op : program) {
      INFO(to_text(op));
      CHECK(op.body.valid() == is_compute(op.kind));
      if (!op.body.valid()) continue;
      CHECK(op.body == schedule.bodies.of_stage[op.stage.index()][static_cast<std::size_t>(op.kind)]);
    }
  }
}

TEST_CASE("a rank of a bidirectional pipeline updates the stages of both copies") {
  Scenario from = scenario();
  from.model.tied_embeddings = false;
  const Plan plan = make_plan(from);
  const Schedule schedule = lower(test::generated("chimera", 2, 2), plan);
  const auto step = static_cast<std::size_t>(OpKind::optimizer_step);
  const auto parts = [&](std::size_t stage) {
    return schedule.bodies.bodies[schedule.bodies.of_stage[stage][step].index()].parts.size();
  };
  for (const auto& program : schedule.programs) {
    for (const Op& op : program) {
      if (op.kind != OpKind::optimizer_step) continue;
      CHECK(schedule.bodies.bodies[op.body.index()].parts.size() == parts(0) + parts(1));
    }
  }
}

TEST_CASE("a rank with stages of both copies updates each, and pays once per step what the host does once") {
  Scenario both = scenario();
  both.run.parallel.tensor = both.run.parallel.data = 1;
  both.run.batch = {8, 2};
  both.run.data_loading_s = 1;
  both.run.host.collection_pause_s = 0.1;
  const Plan plan = make_plan(both);
  const auto count = [&](const char* name, KernelKind kind) {
    const Schedule schedule = lower(test::generated(name, plan.degrees.pipeline, plan.micro_batches), plan);
    int found = 0;
    for (const Op& op : schedule.programs[0]) {
      if (op.kind != OpKind::optimizer_step) continue;
      for (const BodyPart& part : schedule.bodies.bodies[op.body.index()].parts) {
        for (const Segment& segment : part.segments) found += segment.kernel.kind == kind ? 1 : 0;
      }
    }
    return found;
  };
  for (const KernelKind once : {KernelKind::host, KernelKind::loading, KernelKind::collection}) {
    CHECK(count("dualpipe", once) == count("1f1b", once));
  }
  CHECK(count("dualpipe", KernelKind::memory) == 2 * count("1f1b", KernelKind::memory));
}
