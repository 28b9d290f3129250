// Whole jobs in one process: their traces, their memory, and how they end when a rank fails.

#include <c10/core/CPUAllocator.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <catch2/catch.hpp>
#include <chrono>
#include <cstdio>
#include <filesystem>
#include <random>
#include <set>
#include <thread>

#include "base/file_io.hpp"
#include "exec/launch/outputs.hpp"
#include "exec/launch/run_job.hpp"
#include "exec/launch/run_rank.hpp"
#include "exec/run/support.hpp"
#include "exec/transport/in_process.hpp"
#include "job_of_threads.hpp"
#include "schedule/family.hpp"
#include "tiny_model.hpp"

using namespace stagecraft;

namespace {

Job make_job(const Plan& plan, const std::string& schedule) {
  Job job;
  job.scenario.name = "tiny";
  job.plan = plan;
  job.schedule = lowered_schedule(schedule, plan);
  job.graph = make_graph(job.schedule);
  return job;
}

std::vector<RankOutcome> run(const Job& job, const JobArguments& arguments) {
  const auto ranks = static_cast<std::int32_t>(world_size(job.plan.degrees));
  AllocationOwners owners;
  std::vector<RankOutcome> outcomes(static_cast<std::size_t>(ranks));
  run_ranks(ranks, {arguments.timeout_s, true}, [&](Transport& transport) {
    outcomes[static_cast<std::size_t>(transport.rank())] =
        run_rank(job, arguments, transport, transport.rank(), owners);
  });
  return outcomes;
}

TinyLayout two_stages() {
  TinyLayout layout;
  layout.pipeline = 2;
  return layout;
}

/// The host's memory as if it ended after so many allocations; the libraries' own words for it.
class ScarceMemory final : public c10::Allocator {
 public:
  explicit ScarceMemory(int allocations) : left_(allocations) { c10::SetCPUAllocator(this); }
  ~ScarceMemory() override { c10::SetCPUAllocator(inner_); }
  c10::DataPtr allocate(std::size_t bytes) override {
    TORCH_CHECK(left_-- > 0, "DefaultCPUAllocator: can't allocate memory: you tried to allocate ", bytes,
                " bytes. Error code 12 (Cannot allocate memory)");
    return inner_->allocate(bytes);
  }
  c10::DeleterFnPtr raw_deleter() const override { return inner_->raw_deleter(); }
  void copy_data(void* to, const void* from, std::size_t bytes) const override { inner_->copy_data(to, from, bytes); }

 private:
  c10::Allocator* const inner_ = c10::GetCPUAllocator();
  std::atomic<int> left_;
};

}  // namespace

TEST_CASE("A measured trace holds every operation of every rank once, within its step") {
  const Job job = make_job(tiny_plan(tiny_gpt(4), two_stages()), "zb-h1");
  JobArguments arguments;
  arguments.options.steps = 2;
  arguments.options.warmup = 1;
  // With a profile measured in turn with the steps, or without: the pauses are cut out.
  const std::string profile = std::filesystem::temp_directory_path() / ("profile-" + std::to_string(::getpid()));
  arguments.profile = GENERATE_COPY(std::string(), profile);
  const std::vector<RankOutcome> outcomes = run(job, arguments);
  REQUIRE(!outcomes[0].failure);
  CHECK(file_exists(profile) == !arguments.profile.empty());
  std::filesystem::remove(profile);
  const Trace& trace = outcomes[0].result.trace;
  CHECK(trace.end_s == trace.step_end_s[1]);
  std::size_t expected = 0;
  for (const auto& program : job.schedule.programs) expected += 2 * program.size();
  CHECK(trace.spans.size() == expected);
  std::set<std::pair<std::int32_t, OpId>> seen;
  for (const Span& span : trace.spans) {
    CHECK(seen.insert({span.rank, op_id(span)}).second);
    CHECK(span.begin_s >= 0);
    CHECK(span.end_s >= span.begin_s);
    CHECK(span.end_s <= trace.step_end_s[span.step] + 1e-9);
  }
  for (const Dependency& edge : trace.dependencies) {
    CHECK(trace.spans[edge.from].begin_s <= trace.spans[edge.to].end_s);
  }
  CHECK(trace.dependencies.size() >= trace.spans.size() / 2);
  CHECK(outcomes[0].result.steps.size() == 3);
  CHECK(outcomes[0].result.steps.back().loss == outcomes[1].result.steps.back().loss);
}

TEST_CASE("What stands between the steps is not in the trace, nor is its memory") {
  const Job job = make_job(tiny_plan(tiny_gpt(4), two_stages()), "1f1b");
  ExecuteOptions options;
  options.steps = 3;
  const JobInputs inputs{job.plan, job.schedule, job.graph, options};
  std::array<Trace, 2> traces;
  for (const bool pauses : {false, true}) {
    AllocationOwners owners;
    run_ranks(2, {10, true}, [&](Transport& transport) {
      const c10::InferenceMode no_graph;
      MemoryMeter& meter = owners.new_meter();
      const MemoryListening listening(meter, owners, at::kCPU);
      const auto pause = [] {
        const MemorySilence silence;
        const at::Tensor large = at::zeros({1 << 24}, at::TensorOptions().dtype(at::kFloat));
        std::this_thread::sleep_for(std::chrono::seconds(1));
      };
      std::vector<RecordedOp> until_failure;
      const RankHooks hooks{&meter, nullptr, pauses ? std::function<void()>(pause) : std::function<void()>(), {}};
      ExecuteResult result = execute(inputs, transport, hooks, until_failure);
      if (transport.rank() == 0) traces[pauses ? 1 : 0] = std::move(result.trace);
    });
  }
  CHECK(traces[1].spans.size() == traces[0].spans.size());
  CHECK(traces[1].end_s < 2.5);  // three pauses of a second would be more than that
  for (const CounterSeries& series : traces[1].counters)
    CHECK(*std::max_element(series.value.begin(), series.value.end()) < 4 << 24);
}

TEST_CASE("An optimizer step does not count the wait for the last rank") {
  // Rank 1 of a pipeline has its last backward done while rank 0 still has one to do.
  const Job job = make_job(tiny_plan(tiny_gpt(4), two_stages()), "gpipe");
  const std::vector<RankOutcome> outcomes = run(job, {});
  const Trace& trace = outcomes[0].result.trace;
  double last_backward_s = 0;
  for (const Span& span : trace.spans) {
    if (span.rank == 0 && span.kind == OpKind::backward) last_backward_s = std::max(last_backward_s, span.end_s);
  }
  for (const Span& span : trace.spans) {
    if (span.kind != OpKind::optimizer_step) continue;
    CHECK(span.end_s > last_backward_s);
    CHECK(span.begin_s > last_backward_s - (span.end_s - span.begin_s));
  }
}

TEST_CASE("A send on the compute lane does not wait for a receiver that is busy") {
  Plan plan = tiny_plan(tiny_gpt(4), two_stages());
  plan.run.overlap.pipeline = false;
  const Job job = make_job(plan, "gpipe");
  JobArguments arguments;
  arguments.timeout_s = 0.4;
  arguments.options.drill = {Drill::Kind::stall, 1, 0, 0};  // rank 1 takes no message
  const std::vector<RankOutcome> outcomes = run(job, arguments);
  REQUIRE(outcomes[0].failure);
  const FailurePlace& place = outcomes[0].failure->place;
  CHECK(job.schedule.programs[0][place.position].kind == OpKind::backward);  // behind all forwards and their sends
}

TEST_CASE("What stands on the compute lane of a sender does not overlap") {
  Plan plan = tiny_plan(tiny_gpt(4), two_stages());
  plan.run.overlap.pipeline = false;
  const Job job = make_job(plan, "1f1b");
  const std::vector<RankOutcome> outcomes = run(job, {});
  const Trace& trace = outcomes[0].result.trace;
  const Span* before = nullptr;
  int sends = 0;
  for (const Span& span : trace.spans) {
    if (span.lane != Lane::compute || is_receive(span.kind)) continue;
    if (before != nullptr && before->rank == span.rank) CHECK(span.begin_s >= before->end_s);
    sends += is_send(span.kind);
    before = &span;
  }
  CHECK(sends == 2 * job.plan.micro_batches);
}

TEST_CASE("A message's send and receive agree on when it passed") {
  Plan plan = tiny_plan(tiny_gpt(4), two_stages());
  plan.run.overlap.pipeline = true;
  const Job job = make_job(plan, "1f1b");
  const std::vector<RankOutcome> outcomes = run(job, {});
  const Trace& trace = outcomes[0].result.trace;
  for (const Span& send : trace.spans) {
    if (send.kind != OpKind::send_activation) continue;
    const auto receive = std::find_if(trace.spans.begin(), trace.spans.end(), [&](const Span& span) {
      return span.kind == OpKind::recv_activation && span.stage == send.stage + 1 &&
             span.micro_batch == send.micro_batch;
    });
    REQUIRE(receive != trace.spans.end());
    CHECK(receive->begin_s == send.begin_s);
    CHECK(receive->end_s == send.end_s);
  }
}

TEST_CASE("Memory is counted per rank and comes back to where it was after every step") {
  const Job job = make_job(tiny_plan(tiny_gpt(4), two_stages()), "1f1b");
  JobArguments arguments;
  arguments.options.steps = 12;
  const std::vector<RankOutcome> outcomes = run(job, arguments);
  const Trace& trace = outcomes[0].result.trace;
  REQUIRE(trace.counters.size() == 2);
  for (const CounterSeries& series : trace.counters) {
    const std::size_t per_step = series.value.size() / 12;
    REQUIRE(per_step > 0);
    // fp32 values, gradients, two moments: at least 16 bytes per parameter of the stage.
    CHECK(series.value.front() > 16.0 * 3 * 32 * 32);
    // A thread may hold another's message (4 KiB) or numbers a moment longer in one step than in the next; what stayed
    // behind in every step would add up.
    CHECK(series.value[per_step] == Approx(series.value[11 * per_step]).epsilon(0).margin(10 * 1024));
    CHECK(*std::max_element(series.value.begin(), series.value.end()) > series.value.front());
  }
}

TEST_CASE("A rank that throws or stalls at any point ends the job in time, with the table and its cell") {
  const Plan plan = tiny_plan(tiny_gpt(4), two_stages());
  std::mt19937 random(7);
  const std::vector<std::string> names = {"1f1b", "zb-h1", "gpipe"};
  for (int round = 0; round < 24; ++round) {
    const Job job = make_job(plan, names[static_cast<std::size_t>(round) % names.size()]);
    JobArguments arguments;
    arguments.timeout_s = 0.4;
    Drill& drill = arguments.options.drill;
    drill.kind = round % 2 == 0 ? Drill::Kind::raise : Drill::Kind::stall;
    drill.rank = static_cast<std::int32_t>(random() % 2);
    drill.position =
        static_cast<std::int32_t>(random() % job.schedule.programs[static_cast<std::size_t>(drill.rank)].size());
    CAPTURE(round, job.schedule.name, drill.rank, drill.position);
    const double begin_s = now_s();
    const std::vector<RankOutcome> outcomes = run(job, arguments);
    CHECK(now_s() - begin_s < 5);
    std::vector<RankReport> reports;
    for (const RankOutcome& outcome : outcomes) {
      if (outcome.failure) reports.push_back(*outcome.failure);
    }
    REQUIRE(reports.size() == 2);
    CHECK(exit_code(reports, {}) == (drill.kind == Drill::Kind::raise ? 6 : 7));
    const std::string message = failure_message(job.schedule, reports, {});
    const Op& cell =
        job.schedule.programs[static_cast<std::size_t>(drill.rank)][static_cast<std::size_t>(drill.position)];
    CHECK_THAT(message, Catch::Contains("--> " + to_text(cell) + " <--"));
    CHECK_THAT(message, Catch::Contains(drill.kind == Drill::Kind::raise ? "raised by --drill" : "within the timeout"));
  }
}

TEST_CASE("Memory that runs out names the operation, the tensor, its size and the predicted peak") {
  const Job job = make_job(tiny_plan(tiny_gpt(4), {}), "1f1b");
  JobArguments arguments;
  std::set<std::string> wanted;
  for (int allocations = 0; allocations < 1200; allocations += 29) {
    std::vector<RankOutcome> outcomes;
    {
      const ScarceMemory scarce(allocations);
      outcomes = run(job, arguments);
    }
    if (!outcomes[0].failure) continue;
    const std::string message = failure_message(job.schedule, {*outcomes[0].failure}, {});
    INFO(allocations << " allocations\n" << message);
    CHECK(exit_code({*outcomes[0].failure}, {}) == 6);
    CHECK_THAT(message, Catch::Contains("out of memory: "));
    CHECK_THAT(message, Catch::Contains("predicted to need"));
    for (const char* what : {"values, gradients and optimizer states of stage 0", "activations of block2",
                             "gradients of block1", "gradients of head"}) {
      if (message.find(std::string(" bytes for ") + what) != std::string::npos) wanted.insert(what);
    }
    if (message.find("activations of") != std::string::npos) CHECK_THAT(message, Catch::Contains("--> 0F"));
    if (message.find("for gradients of") != std::string::npos) CHECK_THAT(message, Catch::Contains("--> 0B"));
  }
  CHECK(wanted.size() == 4);
}

TEST_CASE("bf16, and fp16 with its loss scale, train as fp32 does to their rounding") {
  std::vector<double> exact;
  for (const Precision precision : {Precision::fp32, Precision::bf16_mixed, Precision::fp16_mixed}) {
    Plan plan = tiny_plan(tiny_gpt(4), two_stages());
    plan.run.precision = precision;
    const Job job = make_job(plan, "1f1b");
    JobArguments arguments;
    arguments.options.steps = 6;
    arguments.options.initial_loss_scale = 1024;
    const std::vector<RankOutcome> outcomes = run(job, arguments);
    REQUIRE(!outcomes[0].failure);
    std::vector<double> losses;
    for (const StepResult& step : outcomes[0].result.steps) {
      CHECK(!step.skipped);
      losses.push_back(step.loss.value());
    }
    if (precision == Precision::fp32) exact = losses;
    REQUIRE(losses.size() == exact.size());
    for (std::size_t i = 0; i < losses.size(); ++i) CHECK(losses[i] == Approx(exact[i]).epsilon(0.01));
    if (precision != Precision::fp32) CHECK(losses != exact);
  }
}

TEST_CASE("A loss scale that is too large is halved, and the step is skipped") {
  Plan plan = tiny_plan(tiny_gpt(4), two_stages());
  plan.run.precision = Precision::fp16_mixed;
  const Job job = make_job(plan, "1f1b");
  JobArguments arguments;
  arguments.options.steps = 40;
  arguments.options.initial_loss_scale = 0x1p40;
  const std::vector<RankOutcome> outcomes = run(job, arguments);
  REQUIRE(!outcomes[0].failure);
  const std::vector<StepResult>& steps = outcomes[0].result.steps;
  CHECK(steps.front().skipped);
  CHECK(!steps.back().skipped);
  for (std::size_t rank = 0; rank < 2; ++rank) {
    for (std::size_t i = 0; i < steps.size(); ++i) CHECK(outcomes[rank].result.steps[i].skipped == steps[i].skipped);
  }
}

TEST_CASE("What a failed job had measured is kept as a trace") {
  const Job job = make_job(tiny_plan(tiny_gpt(4), two_stages()), "1f1b");
  JobArguments arguments;
  arguments.options.drill = {Drill::Kind::raise, 1, 0, 12};
  std::vector<RankOutcome> outcomes = run(job, arguments);
  std::vector<std::vector<RecordedOp>> operations;
  for (RankOutcome& outcome : outcomes) operations.push_back(outcome.operations);
  const JobInputs inputs{job.plan, job.schedule, job.graph, arguments.options};
  const Trace partial = partial_trace(inputs, "in-process", operations);
  CHECK(partial.spans.size() >= 12);
  CHECK(partial.steps == 1);
  CHECK(partial.step_end_s == std::vector<double>{partial.end_s});
  CHECK(std::all_of(partial.spans.begin(), partial.spans.end(),
                    [](const Span& span) { return span.end_s >= span.begin_s; }));
}

TEST_CASE("What can't be executed is refused with the reason") {
  const auto codes = [](const Plan& plan, const std::string& name, const ExecuteOptions& options) {
    ScheduleRequest request;
    request.shape = {plan.degrees.pipeline, plan.micro_batches,
                     static_cast<std::int32_t>(plan.run.parallel.virtual_stages)};
    std::vector<std::string> found;
    for (const Finding& finding : refusals(plan, find_schedule(name)->generate(request), options))
      found.push_back(finding.code);
    return found;
  };
  Plan plan = tiny_plan(tiny_gpt(4), two_stages());
  CHECK(codes(plan, "1f1b", {}).empty());
  CHECK(codes(plan, "pipedream", {}) == std::vector<std::string>{"execute-asynchronous"});
  CHECK(codes(plan, "chimera", {}) == std::vector<std::string>{"execute-replicas"});
  plan.run.precision = Precision::fp8_mixed;
  plan.model.dropout = 0.1;
  plan.run.attention_kernel = AttentionKernel::flash_3;
  plan.run.overlap.tensor = true;
  CHECK(codes(plan, "1f1b", {}) ==
        std::vector<std::string>{"execute-fp8", "execute-dropout", "execute-attention", "execute-overlap-tensor"});
  plan = tiny_plan(tiny_gpt(4), two_stages());
  plan.run.sharding.reduce_scatter = false;
  plan.run.gradient_compression = GradientCompression::fp32;
  plan.run.host.attention_waits = true;
  CHECK(codes(plan, "1f1b", {}) ==
        std::vector<std::string>{"execute-compression", "execute-all-reduce", "execute-host"});
  plan = tiny_plan(tiny_gpt(4), two_stages());
  plan.run.data_loading_s = 0.01;
  plan.run.cuda_graphs = true;
  CHECK(codes(plan, "1f1b", {}) == std::vector<std::string>{"execute-data-loading", "execute-cuda-graphs"});
  Plan plain = tiny_plan(tiny_mlp(4), two_stages());
  plain.model.plain_layers[1].parameters += 1;
  CHECK(codes(plain, "1f1b", {}) == std::vector<std::string>{"execute-plain-layer"});
}
