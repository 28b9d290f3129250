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
  TimedStage(const Plan& plan, Stage stage, const ExecuteOptions& options, Transport& transport, const Group& tensor)
      : plan_(plan),
        group_(tensor.size() > 1 ? TensorGroup(transport, tensor, plan.run.parallel.sequence_parallel)
                                 : TensorGroup()) {
    BufferPolicy policy = buffer_policy(plan, options);
    policy.zero_stage = 0;
    shape_ = model_shape(plan, policy.value, options.device);
    model_ = make_stage_model(plan, stage, shape_, group_, TiedCopy::none, nullptr);
    buffers_.push_back(make_stage_buffers(*model_, policy, transport, {}, tensor, true));
    const TokenSource tokens(std::max<std::int64_t>(plan.model.vocabulary, 1), plan.run.sequence_length, options.seed);
    if (plan.model.plain_layers.empty()) {
      batch_ = make_batch(plan, shape_, tokens, 0, 0, 0);
    }
  }

  StageTimes times(std::int32_t repetitions) {
    StageTimes result;
    std::vector<double> forward, backward, input, weight;
    for (std::int32_t i = -2; i < repetitions; ++i) {  // the first two warm up
      Tape tape;
      const double f = timed([&] { output_ = run_forward(*model_, input_, batch_, &tape); });
      WeightGradients at_once(false);
      Backward whole{at_once, {}, 0};
      const double b = timed([&] { tape.run(gradient(), whole); }) - whole.recompute_s;
      Tape again;
      run_forward(*model_, input_, batch_, &again);
      WeightGradients later(true);
      Backward half{later, {}, 0};
      const double d = timed([&] { again.run(gradient(), half); }) - half.recompute_s;
      const double w = timed([&] { later.run(); });
      if (i < 0) continue;
      forward.push_back(f);
      backward.push_back(b);
      input.push_back(d);
      weight.push_back(w);
    }
    result = {median_of(forward), median_of(backward), median_of(input), median_of(weight)};
    return result;
  }

  void set_input(const at::Tensor& x, Batch batch) {
    input_ = x;
    if (x.defined() || batch.samples.defined()) batch_ = std::move(batch);
  }
  const Batch& batch() const { return batch_; }
  const at::Tensor& output() const { return output_; }
  std::vector<StageBuffers>& buffers() { return buffers_; }
  at::Device device() const { return shape_.device; }

 private:
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
  TensorGroup group_;
  ModelShape shape_;
  std::unique_ptr<StageModel> model_;
  std::vector<StageBuffers> buffers_;
  Batch batch_;
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
      if (segment.is_collective || segment.kernel.kind == KernelKind::host) continue;
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
      if (segment.is_collective || segment.kernel.kind == KernelKind::host || find(profile, segment) != nullptr)
        continue;
      const Kernel& kernel = segment.kernel;
      made.push_back({segment.name, kernel.batch, kernel.m, kernel.n, kernel.k, kernel.bytes.value,
                      left * weight_of(segment) / weights, time.relative_error});
    }
  }
  for (TimedSegment& segment : made) add_segment(profile, std::move(segment));
}

/// The optimizer's memory-bound pass on the rank of a stage.
Segment optimizer_pass(const Bodies& bodies, std::size_t stage) {
  const BodyId id = bodies.of_stage[stage][static_cast<std::size_t>(OpKind::optimizer_step)];
  for (const BodyPart& part : bodies.bodies[id.index()].parts) {
    for (const Segment& segment : part.segments) {
      if (segment.kernel.kind == KernelKind::memory) return segment;
    }
  }
  return {};
}

Median scaled(Median time, double factor) {
  return {time.value * factor, time.relative_error};
}

}  // namespace

void time_layers(const Plan& whole, const ExecuteOptions& options, Transport& transport, const Group& tensor,
                 std::int32_t repetitions, Profile& profile) {
  const Plan plan = cut_by_kind(whole);
  const Bodies bodies = make_bodies(plan);
  at::Tensor x;
  Batch batch;
  for (std::size_t s = 0; s < plan.stages.size(); ++s) {
    TimedStage stage(plan, Stage(s), options, transport, tensor);
    if (s == 0 && !plan.model.plain_layers.empty()) {
      const double bytes = c10::elementSize(buffer_policy(plan, options).value) == 2 ? 2 : 4;
      const std::int64_t in = plain_widths(plan.model.plain_layers.front(), bytes).in;
      const std::int64_t out = plain_widths(plan.model.plain_layers.back(), bytes).out;
      batch = make_plain_batch(plan, model_shape(plan, buffer_policy(plan, options).value, options.device), in, out,
                               options.seed, 0, 0, 0);
    } else if (s == 0) {
      batch = stage.batch();
    }
    stage.set_input(x, batch);
    const StageTimes times = stage.times(repetitions);
    x = stage.output();
    const auto body = [&](OpKind kind) -> const Body& {
      return bodies.bodies[bodies.of_stage[s][static_cast<std::size_t>(kind)].index()];
    };
    divide(body(OpKind::forward), times.forward, profile);
    // Both ways of running a backward are made of the same segments; the one that schedules use most decides.
    const double halves = times.input_grad.value + times.weight_grad.value;
    const double factor = halves > 0 ? times.backward.value / halves : 1;
    divide(body(OpKind::input_grad), scaled(times.input_grad, factor), profile);
    divide(body(OpKind::weight_grad), scaled(times.weight_grad, factor), profile);
  }
}

void time_optimizer(const Plan& whole, const ExecuteOptions& options, Transport& transport, const Group& self,
                    std::int32_t repetitions, Profile& profile) {
  const Plan plan = cut_by_kind(whole);
  TimedStage stage(plan, Stage(plan.stages.size() > 1 ? std::size_t{1} : std::size_t{0}), options, transport, self);
  std::vector<double> seconds;
  for (std::int32_t i = -2; i < repetitions; ++i) {
    synchronize(stage.device());
    const double begin_s = now_s();
    prepare_gradients(stage.buffers().front());
    squared_norm(stage.buffers());
    adamw_update(stage.buffers(), options.optimizer, 1, 1);
    synchronize(stage.device());
    if (i >= 0) seconds.push_back(now_s() - begin_s);
  }
  const Median time = median_of(seconds);
  // The pass's bytes are proportional to the parameters of a rank, and so is its time.
  const std::size_t measured_stage = plan.stages.size() > 1 ? 1 : 0;
  const Segment measured = optimizer_pass(make_bodies(plan), measured_stage);
  if (measured.kernel.bytes.value <= 0) return;
  const Bodies bodies = make_bodies(whole);
  for (std::size_t s = 0; s < whole.stages.size(); ++s) {
    const Segment pass = optimizer_pass(bodies, s);
    const Kernel& kernel = pass.kernel;
    add_segment(profile, {pass.name, kernel.batch, kernel.m, kernel.n, kernel.k, kernel.bytes.value,
                          time.value * kernel.bytes.value / measured.kernel.bytes.value, time.relative_error});
  }
}

}  // namespace stagecraft
