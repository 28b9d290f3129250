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

Plan unsharded(Plan plan) {
  plan.run.zero_stage = 0;  // a rank alone updates all that it holds
  return plan;
}

}  // namespace

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

  /// Returns the output, which is the next stage's input.
  at::Tensor repeat(const at::Tensor& input, bool counts) {
    input_ = input;
    last_s = 0;
    timing_.transport.barrier(timing_.world)->wait();
    Tape tape;
    timed(counts, forward_s, [&](double&) { run(tape); });
    WeightGradients at_once(false);
    Backward whole{at_once, {}, 0};
    timed(counts, backward_s, [&](double& apart) { tape.run(gradient(), whole), apart = whole.recompute_s; });
    timed(counts, forward_s, [&](double&) { run(tape); });
    WeightGradients later(true);
    Backward half{later, {}, 0};
    timed(counts, input_grad_s, [&](double& apart) { tape.run(gradient(), half), apart = half.recompute_s; });
    timed(counts, weight_grad_s, [&](double&) { later.run(); });
    ++runs_;
    return output_;
  }

  std::vector<StageBuffers>& buffers() { return buffers_; }

  std::vector<double> forward_s, backward_s, input_grad_s, weight_grad_s, exchange_s;
  double last_s = 0;  // of the last repetition, all its parts

 private:
  void run(Tape& tape) {
    const Batch batch = make_stage_batch(plan_, shape_, tokens_, timing_.options.seed, *model_, runs_, 0, 0);
    output_ = run_forward(*model_, input_, batch, &tape);
  }

  at::Tensor gradient() const {
    if (model_->last) return at::ones({}, at::TensorOptions().dtype(at::kDouble)).to(shape_.device);
    return at::empty_like(output_).fill_(1e-3);
  }

  /// `work` says how much of its time is counted elsewhere.
  template <class Work>
  void timed(bool counts, std::vector<double>& into, Work&& work) {
    group_.take_charges();
    synchronize(shape_.device);
    const double begin_s = now_s();
    double apart_s = 0;
    work(apart_s);
    synchronize(shape_.device);
    double seconds = now_s() - begin_s - apart_s;
    for (const TensorGroup::Charge& charge : group_.take_charges()) {
      seconds -= charge.seconds;
      if (counts) exchange_s.push_back(charge.seconds);
    }
    seconds = std::max(seconds, 0.0);
    last_s += seconds;
    if (counts) into.push_back(seconds);
  }

  const Plan& plan_;
  const Timing& timing_;
  TensorGroup group_;
  TokenSource tokens_;
  ModelShape shape_;
  std::unique_ptr<StageModel> model_;
  std::vector<StageBuffers> buffers_;
  at::Tensor input_, output_;
  std::int64_t runs_ = 0;
};

namespace {

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
void divide(const Body& body, Typical time, Profile& profile) {
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

Typical scaled(Typical time, double factor) {
  return {time.value * factor, time.relative_error};
}

bool splits_backward(const Schedule& schedule) {
  return std::any_of(schedule.programs.begin(), schedule.programs.end(), [](const std::vector<Op>& program) {
    return std::any_of(program.begin(), program.end(), [](const Op& op) { return op.kind == OpKind::input_grad; });
  });
}

/// Stages that blocks make up, of those that `cut_by_kind` makes: the embedding lies before, head and loss behind.
std::size_t block_stage(const Plan& plan) {
  return plan.stages.size() > 1 ? 1 : 0;
}

}  // namespace

LayerTimer::LayerTimer(const Timing& timing) : timing_(timing), plan_(cut_by_kind(timing.job.plan)) {
  for (std::size_t s = 0; s < plan_.stages.size(); ++s)
    stages_.push_back(std::make_unique<TimedStage>(plan_, Stage(s), timing_));
}

LayerTimer::~LayerTimer() = default;

void LayerTimer::repeat(bool counts) {
  at::Tensor x;
  double total_s = 0;
  for (const std::unique_ptr<TimedStage>& stage : stages_) {
    x = stage->repeat(x, counts);
    total_s += stage->last_s;
  }
  if (counts) repetition_s_.push_back(total_s);
}

const std::vector<double>& LayerTimer::exchanges() const {
  return stages_[block_stage(plan_)]->exchange_s;
}

void LayerTimer::add_to(Profile& profile) const {
  const Bodies bodies = make_bodies(plan_);
  const bool split = splits_backward(timing_.job.schedule);
  for (std::size_t s = 0; s < stages_.size(); ++s) {
    const TimedStage& stage = *stages_[s];
    const auto body = [&](OpKind kind) -> const Body& {
      return bodies.bodies[bodies.of_stage[s][static_cast<std::size_t>(kind)].index()];
    };
    const Typical input_grad = mean_of(stage.input_grad_s), weight_grad = mean_of(stage.weight_grad_s);
    const double halves = input_grad.value + weight_grad.value;
    const double factor = !split && halves > 0 ? mean_of(stage.backward_s).value / halves : 1;
    divide(body(OpKind::forward), mean_of(stage.forward_s), profile);
    divide(body(OpKind::input_grad), scaled(input_grad, factor), profile);
    divide(body(OpKind::weight_grad), scaled(weight_grad, factor), profile);
  }
}

OptimizerTimer::OptimizerTimer(const Timing& timing)
    : timing_(timing),
      plan_(unsharded(cut_by_kind(timing.job.plan))),
      measured_stage_(block_stage(plan_)),
      stage_(std::make_unique<TimedStage>(plan_, Stage(measured_stage_), timing_)) {
  stage_->buffers().front().gradients.fill_(1e-3);
}

OptimizerTimer::~OptimizerTimer() = default;

void OptimizerTimer::repeat(bool counts) {
  const at::Device device = timing_.options.device;
  timing_.transport.barrier(timing_.world)->wait();
  synchronize(device);
  const double begin_s = now_s();
  squared_norm(stage_->buffers());
  adamw_update(stage_->buffers(), timing_.options.optimizer, 1, ++updates_);
  prepare_gradients(stage_->buffers().front());
  synchronize(device);
  const double end_s = now_s();
  stage_->buffers().front().gradients.fill_(1e-3);
  timing_.transport.barrier(timing_.world)->wait();
  const double exchange_begin_s = now_s();
  const at::Tensor sum = at::zeros({1}, at::TensorOptions().dtype(at::kDouble)).to(device);
  timing_.transport.all_reduce(sum, Reduction::sum, timing_.world)->wait();
  synchronize(device);
  if (!counts) return;
  update_s_.push_back(end_s - begin_s);
  exchange_s_.push_back(now_s() - exchange_begin_s);
}

void OptimizerTimer::add_to(Profile& profile) const {
  const Typical time = mean_of(update_s_), exchange = median_of(exchange_s_);
  // The pass's bytes are proportional to the parameters that a rank updates, and so is its time. Every stage of the cut
  // plan stands for a rank of its own.
  std::vector<PipelineRank> own_rank;
  for (std::size_t s = 0; s < plan_.stages.size(); ++s) own_rank.emplace_back(s);
  const Bodies cut = make_bodies(plan_, own_rank);
  const BodyId id = cut.of_stage[measured_stage_][static_cast<std::size_t>(OpKind::optimizer_step)];
  double bytes = 0;
  for (const BodyPart& part : cut.bodies[id.index()].parts) {
    for (const Segment& segment : part.segments) bytes += segment.kernel.bytes.value;
  }
  if (bytes <= 0) return;
  const Bodies& bodies = timing_.job.schedule.bodies;
  for (const Segment& pass : optimizer_segments(bodies, KernelKind::memory)) {
    const double seconds_of_pass = time.value * pass.kernel.bytes.value / bytes;
    add_segment(profile, timed_segment(pass, seconds_of_pass, time.relative_error));
  }
  for (const Segment& host : optimizer_segments(bodies, KernelKind::host)) {
    add_segment(profile, timed_segment(host, exchange.value, exchange.relative_error));
  }
}

}  // namespace stagecraft
