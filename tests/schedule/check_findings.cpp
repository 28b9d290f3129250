// Each way of breaking a schedule is found, named and located.

#include <catch2/catch.hpp>

#include "hand_written.hpp"
#include "schedule/check.hpp"
#include "schedule/lower.hpp"

using namespace stagecraft;

namespace {

Schedule sound() {
  LoweringPolicy policy;
  policy.reduce_grad = policy.reduce_tied = policy.gather_params = true;
  return lower(test::generated("1f1b", 2, 2), policy);
}

std::size_t position(const Schedule& schedule, std::size_t rank, const std::string& name) {
  const auto& program = schedule.programs[rank];
  for (std::size_t i = 0; i < program.size(); ++i) {
    if (to_text(program[i]) == name) return i;
  }
  FAIL("no " << name << " on rank " << rank);
  return 0;
}

void erase(Schedule& schedule, std::size_t rank, const std::string& name) {
  auto& program = schedule.programs[rank];
  program.erase(program.begin() + static_cast<std::ptrdiff_t>(position(schedule, rank, name)));
}

void swap(Schedule& schedule, std::size_t rank, const std::string& a, const std::string& b) {
  std::swap(schedule.programs[rank][position(schedule, rank, a)], schedule.programs[rank][position(schedule, rank, b)]);
}

/// "code pointer" of every finding.
std::vector<std::string> found(const Schedule& schedule) {
  std::vector<std::string> out;
  for (const Finding& finding : check_schedule(schedule)) {
    CHECK(finding.severity == Severity::error);
    CHECK_FALSE(finding.message.empty());
    out.push_back(finding.code + " " + finding.pointer);
  }
  return out;
}

using Found = std::vector<std::string>;

}  // namespace

TEST_CASE("a sound schedule has no findings") {
  CHECK(found(sound()).empty());
  CHECK(found(test::generated("1f1b", 4, 8)).empty());
}

TEST_CASE("a shape that nothing can run on is refused at once") {
  Schedule schedule = sound();
  schedule.shape.micro_batches = 0;
  CHECK(found(schedule) == Found{"schedule-shape /programs"});
  schedule = sound();
  schedule.programs.pop_back();
  CHECK(found(schedule) == Found{"schedule-shape /programs"});
  schedule = sound();
  schedule.placement.front()[1] = PipelineRank(2);
  CHECK(found(schedule) == Found{"schedule-shape /programs"});
  schedule.placement.clear();
  CHECK(found(schedule) == Found{"schedule-shape /programs"});
}

TEST_CASE("operations out of range are located") {
  Schedule schedule = sound();
  schedule.programs[0][0].stage = Stage(7);
  schedule.programs[0][2].micro_batch = MicroBatch(2);
  schedule.programs[1][1].replica = 1;
  CHECK(found(schedule) == Found{"stage-out-of-range /programs/0/0", "micro-batch-out-of-range /programs/0/2",
                                 "replica-out-of-range /programs/1/1"});
  schedule = sound();
  schedule.programs[0][0].stage = Stage(1);
  CHECK(found(schedule) == Found{"stage-on-wrong-rank /programs/0/0"});
}

TEST_CASE("missing and repeated passes are named") {
  Schedule schedule = test::written({"0F0 0F1 0B0 0B1"}, 3);
  CHECK(found(schedule) == Found{"forward-missing /programs/0", "backward-missing /programs/0"});
  CHECK(found(test::written({"0F0 0F0 0B0"}, 1)) == Found{"duplicate-operation /programs/0/1"});
  CHECK(found(test::written({"0F0 0B0 0W0"}, 1)) == Found{"backward-both-ways /programs/0/2"});
  CHECK(found(test::written({"0F0 0I0"}, 1)) == Found{"backward-missing /programs/0"});
  CHECK(found(test::written({"0F0 0W0"}, 1)) ==
        Found{"order-within-stage /programs/0/1", "backward-missing /programs/0"});
}

TEST_CASE("a stage's passes must be in order") {
  CHECK(found(test::written({"0B0 0F0"}, 1)) == Found{"order-within-stage /programs/0/0"});
  CHECK(found(test::written({"0F0 0W0 0I0"}, 1)) == Found{"order-within-stage /programs/0/1"});
  CHECK(found(test::written({"0F0 0B0 0RECOMPUTE0"}, 1)) == Found{"order-within-stage /programs/0/2"});
}

TEST_CASE("a pair must be a forward and a backward") {
  Schedule schedule = test::written({"0F0 0F1 0B0 0B1"}, 2);
  schedule.programs[0][0].overlaps_next = true;
  CHECK(found(schedule) == Found{"pair-incomplete /programs/0/0"});
}

TEST_CASE("a micro-batch may not change its replica") {
  Schedule schedule = test::generated("chimera", 2, 2);
  for (Op& op : schedule.programs[0]) {
    if (to_text(op) == "0B0") op.replica = 1;
  }
  CHECK(found(schedule).front().starts_with("stage-on-wrong-rank /programs/0/"));
}

TEST_CASE("messages must be there, in order, and agree at both ends") {
  Schedule schedule = sound();
  erase(schedule, 1, "1RECV_F0");
  CHECK(found(schedule) == Found{"receive-missing /programs/1/0"});
  schedule = sound();
  erase(schedule, 0, "0SEND_F1");
  CHECK(found(schedule) == Found{"send-missing /programs/0/2"});
  schedule = sound();
  swap(schedule, 1, "1RECV_F0", "1F0");
  CHECK(found(schedule) == Found{"receive-after-use /programs/1/1"});
  schedule = sound();
  swap(schedule, 0, "0F0", "0SEND_F0");
  CHECK(found(schedule) == Found{"send-before-producer /programs/0/0"});
  schedule = sound();
  schedule.programs[0][1].bytes = {1024};
  CHECK(found(schedule) == Found{"message-bytes-differ /programs/0/1"});
  schedule = sound();
  schedule.programs[0][1].channel = ChannelId(1);
  CHECK(found(schedule) == Found{"channel-mismatch /programs/0/1"});
  schedule.programs[0][1].channel = ChannelId(99);
  CHECK(found(schedule) == Found{"channel-mismatch /programs/0/1"});
  schedule = sound();
  schedule.programs[0].insert(schedule.programs[0].begin(), schedule.programs[0][1]);
  CHECK(found(schedule).front() == "duplicate-operation /programs/0/2");
}

TEST_CASE("a message that leads nowhere is refused") {
  Schedule schedule = sound();
  Op op = schedule.programs[1][1];
  op.kind = OpKind::send_activation;  // behind the last stage
  schedule.programs[1].push_back(op);
  CHECK(found(schedule).front().starts_with("message-not-needed /programs/1/"));
  schedule = test::generated("1f1b", 2, 2);
  op = schedule.programs[0][0];
  op.kind = OpKind::send_activation;
  schedule.programs[0].push_back(op);  // in a schedule that says it has no messages
  CHECK(found(schedule) == Found{"message-not-needed /programs/0/4"});
}

TEST_CASE("every stage is reduced once, behind its last gradient, before the optimizer") {
  Schedule schedule = sound();
  erase(schedule, 1, "1REDUCE_GRAD");
  CHECK(found(schedule) == Found{"reduction-missing /programs/1"});
  schedule = sound();
  swap(schedule, 0, "0B1", "0REDUCE_GRAD");
  CHECK(found(schedule).front().starts_with("reduction-too-early /programs/0/"));
  schedule = sound();
  swap(schedule, 0, "0REDUCE_TIED", "OPTIMIZER_STEP");
  CHECK(found(schedule).front().starts_with("optimizer-before-reduction /programs/0/"));
  schedule = sound();
  erase(schedule, 0, "OPTIMIZER_STEP");
  CHECK(found(schedule) == Found{"optimizer-missing /programs/0/10", "optimizer-missing /programs/0"});
}

TEST_CASE("a rank steps once, behind everything it computes") {
  Schedule schedule = sound();
  schedule.programs[0].push_back(schedule.programs[0][position(schedule, 0, "OPTIMIZER_STEP")]);
  CHECK(found(schedule) == Found{"duplicate-operation /programs/0/12"});
  schedule = lower(test::generated("1f1b", 2, 2), LoweringPolicy{});
  swap(schedule, 1, "1SEND_B1", "OPTIMIZER_STEP");
  CHECK(found(schedule).front() == "optimizer-before-reduction /programs/1/7");
}

TEST_CASE("ranks that share a collective must issue it both, in one order") {
  Schedule schedule = sound();
  erase(schedule, 1, "1REDUCE_TIED");
  CHECK(found(schedule) == Found{"collective-order /programs/0"});
  schedule = lower(test::generated("chimera", 2, 2), LoweringPolicy{});
  swap(schedule, 0, "0REDUCE_GRAD", "1REDUCE_GRAD");
  CHECK(found(schedule) == Found{"collective-order /programs/0"});
}

TEST_CASE("parameters must be gathered while they are used") {
  Schedule schedule = add_unshard(test::generated("1f1b", 2, 2), 1);
  erase(schedule, 0, "0UNSHARD");
  const Found codes = found(schedule);
  CHECK(codes.front() == "used-while-sharded /programs/0/0");
  CHECK(codes.back().starts_with("unshard-unbalanced /programs/0/"));
  schedule = add_unshard(test::generated("1f1b", 2, 2), 1);
  erase(schedule, 1, "1RESHARD");
  CHECK(found(schedule) == Found{"unshard-unbalanced /programs/1"});
}

TEST_CASE("a deadlock is a finding with the table and the cycle") {
  const Findings findings = check_schedule(test::written({"0F0 0B0 0F1 0B1", "1F1 1B1 1F0 1B0"}, 2));
  REQUIRE(findings.size() == 1);
  CHECK(findings.front().code == "deadlock");
  CHECK_THAT(findings.front().message, Catch::Contains("-->") && Catch::Contains("cycle"));
}

TEST_CASE("a thousand faults of one kind do not make a thousand findings") {
  const Findings findings = check_schedule(test::written({"0F0 0B0"}, 1000));
  CHECK(findings.size() == 22);  // ten of each kind and the number of the rest
  CHECK_THAT(findings.back().message, Catch::Contains("989 more"));
}
