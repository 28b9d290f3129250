#include "exec/profile/time_layers.hpp"

#include <algorithm>

#include "exec/run/data.hpp"
#include "exec/run/recorder.hpp"
#include "exec/run/support.hpp"
#include "exec/zero/adamw.hpp"
#include "schedule/body.hpp"

namespace stagecraft {

namespace {

constexpr std::int32_t most_blocks = 4;  // enough that no block finds its weights in a cache left by itself

std::int32_t count_blocks(const Plan& plan, const StageLayers& stage) {
  std::int32_t blocks = 0;
  for (std::int32_t l = stage.first; l < stage.last; ++l)
    blocks += plan.layers[static_cast<std::size_t>(l)].kind == LayerKind::block;
  return blocks;
}

/// The plan cut anew: one stage per kind of layer, blocks as many as the fullest stage has (up to a limit).
Plan cut_by_kind(Plan plan) {
  const auto layers = static_cast<std::int32_t>(plan.layers.size());
  std::vector<StageLayers> stages;
  if (!plan.model.plain_layers.empty()) {
    for (std::int32_t l = 0; l < layers; ++l) stages.push_back({l, l + 1});
  } else {
    std::int32_t blocks = 1;
    for (const StageLayers& stage : plan.stages) blocks = std::max(blocks, count_blocks(plan, stage));
    blocks = std::min({blocks, most_blocks, layers - 3});
    stages = {{0, 1}, {1, 1 + blocks}, {layers - 2, layers}};
  }
  plan.stages = std::move(stages);
  plan.degrees.pipeline = static_cast<std::int32_t>(plan.stages.size());
  return plan;
}

struct StageTimes {
  Median forward, backward, input_grad, weight_grad;
};

/// One stage with random input and gradient.
class TimedStage {
 public:
  TimedStage(const Plan& plan, Stage stage, const Timing& timing)
      : plan_(plan),
        timing_(timing),
        group_(timing.tensor.size() > 1
                   ? TensorGroup(timing.transport, timing.tensor, plan.run.parallel.sequence_parallel)
                   : TensorGroup()),
        tokens_(token_source(plan, timing.options)) {
    BufferPolicy policy = buffer_policy(plan, timing.options);
    policy.zero_stage = 0;
    shape_ = model_shape(plan, policy.value, timing.options.device);
    model_ = make_stage_model(plan, stage, shape_, group_, TiedCopy::none, nullptr);
    buffers_.push_back(make_stage_buffers(*model_, policy, timing.transport, timing.self, timing.tensor, true));
  }

  StageTimes times(const at::Tensor& input) {
    input_ = input;
    std::vector<double> forward, backward, first_half, second_half;
    for (std::int32_t i = -2; i < timing_.repetitions; ++i) {  // the first two warm up
      timing_.transport.barrier(timing_.world)->wait();
      Tape tape;
      const double f = timed([&] { run(i + 2, tape); });
      WeightGradients at_once(false);
      Backward whole{at_once, {}, 0};
      const double b = timed([&] { tape.run(gradient(), whole); }) - whole.recompute_s;
      run(i + 2, tape);
      WeightGradients later(true);
      Backward half{later, {}, 0};
      const double d = timed([&] { tape.run(gradient(), half); }) - half.recompute_s;
      const double w = timed([&] { later.run(); });
      if (i < 0) continue;
      forward.push_back(f);
      backward.push_back(b);
      first_half.push_back(d);
      second_half.push_back(w);
    }
    return {median_of(forward), median_of(backward), median_of(first_half), median_of(second_half)};
  }

  const at::Tensor& output() const { return output_; }
  std::vector<StageBuffers>& buffers() { return buffers_; }

 private:
  void run(std::int64_t step, Tape& tape) {
    const Batch batch = make_stage_batch(plan_, shape_, tokens_, timing_.options.seed, *model_, step, 0, 0);
    output_ = run_forward(*model_, input_, batch, &tape);
  }

  at::Tensor gradient() const {
    if (model_->last) return at::ones({}, at::TensorOptions().dtype(at::kDouble)).to(shape_.device);
    return at::empty_like(output_).fill_(1e-3);
  }

  template <class Work>
  double timed(Work&& work) {
    group_.take_charges();
    synchronize(shape_.device);
    const double begin_s = now_s();
    work();
    synchronize(shape_.device);
    double seconds = now_s() - begin_s;
    for (const TensorGroup::Charge& charge : group_.take_charges()) seconds -= charge.seconds;
    return std::max(seconds, 0.0);
  }

  const Plan& plan_;
  const Timing& timing_;
  TensorGroup group_;
  TokenSource tokens_;
  ModelShape shape_;
  std::unique_ptr<StageModel> model_;
  std::vector<StageBuffers> buffers_;
  at::Tensor input_, output_;
};

double weight_of(const Segment& segment) {
  constexpr double flops_per_byte = 5;  // of the roofline that divides a stage's time; its sum does not depend on it
  return std::max(segment.kernel.flops.value, flops_per_byte * segment.kernel.bytes.value);
}

const TimedSegment* find(const Profile& profile, const Segment& segment) {
  const Kernel& kernel = segment.kernel;
  const auto found = std::find_if(profile.segments.begin(), profile.segments.end(), [&](const TimedSegment& one) {
    return one.segment == segment.name && one.batch == kernel.batch && one.m == kernel.m && one.n == kernel.n &&
           one.k == kernel.k && one.bytes == kernel.bytes.value;
  });
  return found == profile.segments.end() ? nullptr : &*found;
}

/// Divides `time` over the segments of a body that have no entry yet; those that have one are taken out first.
void divide(const Body& body, Median time, Profile& profile) {
  double left = time.value, weights = 0;
  for (const BodyPart& part : body.parts) {
    for (const Segment& segment : part.segments) {
      if (segment.is_collective) continue;
      const TimedSegment* const known = find(profile, segment);
      if (known != nullptr) {
        left -= known->seconds * part.repeat;
      } else {
        weights += weight_of(segment) * part.repeat;
      }
    }
  }
  if (weights <= 0) return;
  left = std::max(left, 0.0);
  std::vector<TimedSegment> made;
  for (const BodyPart& part : body.parts) {
    for (const Segment& segment : part.segments) {
      if (segment.is_collective || find(profile, segment) != nullptr) continue;
      const Kernel& kernel = segment.kernel;
      made.push_back({segment.name, kernel.batch, kernel.m, kernel.n, kernel.k, kernel.bytes.value,
                      left * weight_of(segment) / weights, time.relative_error});
    }
  }
  for (TimedSegment& segment : made) add_segment(profile, std::move(segment));
}

/// Segments of the optimizer bodies that a rank of the schedule runs.
std::vector<Segment> optimizer_segments(const Bodies& bodies, KernelKind kind) {
  std::vector<Segment> segments;
  for (const std::vector<BodyId>& of_kind : bodies.of_stage) {
    const BodyId id = of_kind[static_cast<std::size_t>(OpKind::optimizer_step)];
    if (!id.valid()) continue;
    for (const BodyPart& part : bodies.bodies[id.index()].parts) {
      for (const Segment& segment : part.segments) {
        if (!segment.is_collective && segment.kernel.kind == kind) segments.push_back(segment);
      }
    }
  }
  return segments;
}

TimedSegment timed_segment(const Segment& segment, double seconds, double relative_error) {
  const Kernel& kernel = segment.kernel;
  return {segment.name, kernel.batch, kernel.m, kernel.n, kernel.k, kernel.bytes.value, seconds, relative_error};
}

Median scaled(Median time, double factor) {
  return {time.value * factor, time.relative_error};
}

bool splits_backward(const Schedule& schedule) {
  return std::any_of(schedule.programs.begin(), schedule.programs.end(), [](const std::vector<Op>& program) {
    return std::any_of(program.begin(), program.end(), [](const Op& op) { return op.kind == OpKind::input_grad; });
  });
}

Median time_step_exchange(const Timing& timing) {
  std::vector<double> seconds;
  for (std::int32_t i = -2; i < timing.repetitions; ++i) {
    timing.transport.barrier(timing.world)->wait();
    const double begin_s = now_s();
    const at::Tensor sum = at::zeros({1}, at::TensorOptions().dtype(at::kDouble)).to(timing.options.device);
    timing.transport.all_reduce(sum, Reduction::sum, timing.world)->wait();
    synchronize(timing.options.device);
    if (i >= 0) seconds.push_back(now_s() - begin_s);
  }
  return median_of(std::move(seconds));
}

}  // namespace

void time_layers(const Timing& timing, Profile& profile) {
  const Plan plan = cut_by_kind(timing.job.plan);
  const Bodies bodies = make_bodies(plan);
  const bool split = splits_backward(timing.job.schedule);
  at::Tensor x;
  for (std::size_t s = 0; s < plan.stages.size(); ++s) {
    TimedStage stage(plan, Stage(s), timing);
    const StageTimes times = stage.times(x);
    x = stage.output();
    const auto body = [&](OpKind kind) -> const Body& {
      return bodies.bodies[bodies.of_stage[s][static_cast<std::size_t>(kind)].index()];
    };
    divide(body(OpKind::forward), times.forward, profile);
    const double halves = times.input_grad.value + times.weight_grad.value;
    const double factor = !split && halves > 0 ? times.backward.value / halves : 1;
    divide(body(OpKind::input_grad), scaled(times.input_grad, factor), profile);
    divide(body(OpKind::weight_grad), scaled(times.weight_grad, factor), profile);
  }
}

void time_optimizer(const Timing& timing, Profile& profile) {
  Plan plan = cut_by_kind(timing.job.plan);
  plan.run.zero_stage = 0;  // a rank alone updates all that it holds
  const std::size_t measured_stage = plan.stages.size() > 1 ? 1 : 0;
  TimedStage stage(plan, Stage(measured_stage), timing);
  std::vector<double> seconds;
  for (std::int32_t i = -2; i < timing.repetitions; ++i) {
    timing.transport.barrier(timing.world)->wait();
    synchronize(timing.options.device);
    const double begin_s = now_s();
    prepare_gradients(stage.buffers().front());
    squared_norm(stage.buffers());
    adamw_update(stage.buffers(), timing.options.optimizer, 1, 1);
    synchronize(timing.options.device);
    if (i >= 0) seconds.push_back(now_s() - begin_s);
  }
  const Median time = median_of(std::move(seconds));
  const Median exchange = time_step_exchange(timing);
  // The pass's bytes are proportional to the parameters that a rank updates, and so is its time. Every stage of the cut
  // plan stands for a rank of its own.
  std::vector<PipelineRank> own_rank;
  for (std::size_t s = 0; s < plan.stages.size(); ++s) own_rank.emplace_back(s);
  const Bodies cut = make_bodies(plan, own_rank);
  const BodyId id = cut.of_stage[measured_stage][static_cast<std::size_t>(OpKind::optimizer_step)];
  double bytes = 0;
  for (const BodyPart& part : cut.bodies[id.index()].parts) {
    for (const Segment& segment : part.segments) bytes += segment.kernel.bytes.value;
  }
  if (bytes <= 0) return;
  for (const Segment& pass : optimizer_segments(timing.job.schedule.bodies, KernelKind::memory)) {
    const double seconds_of_pass = time.value * pass.kernel.bytes.value / bytes;
    add_segment(profile, timed_segment(pass, seconds_of_pass, time.relative_error));
  }
  for (const Segment& host : optimizer_segments(timing.job.schedule.bodies, KernelKind::host)) {
    add_segment(profile, timed_segment(host, exchange.value, exchange.relative_error));
  }
}

}  // namespace stagecraft
