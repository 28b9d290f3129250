// The optimizer step as bytes per parameter. Mixed precision follows Megatron-LM's optimizer: gradients to fp32 and
// unscaled (fp16 only), a norm, a clip, Adam on fp32 master weights and moments, and the copy to 16-bit weights.

#include "schedule/body_layers.hpp"
#include "spec/precision.hpp"

namespace stagecraft {

OptimizerTraffic optimizer_traffic(const RunSpec& run) {
  const double gradient = size_of(gradient_dtype(run)).value;
  // Held: the gradient is zeroed. Adam: gradient 4 read; master weight, first and second moment 4 read and 4 written
  // each.
  const double adam = 4 + 3 * 8;
  const double norm_and_clip = 4 + 8;
  const double cast = gradient < 4 ? 2 + 4 : 0;  // 16-bit gradient to fp32
  const double copy = 6;                         // fp32 master weight to 16 bits
  const std::int32_t casts = gradient < 4 ? 1 : 0;
  switch (run.precision) {
    case Precision::fp16_mixed: {
      const double unscale = 8;  // and look for infinities
      return {gradient, cast + unscale + norm_and_clip + adam + copy, 6 + casts};
    }
    case Precision::bf16_pure:
      // Norm, clip, Adam with weight and moments of 2 read and written each.
      return {gradient, gradient + 2 * gradient + gradient + 3 * 4, 4};
    case Precision::fp32:
    case Precision::tf32:
      return {gradient, norm_and_clip + adam, 4};
    case Precision::bf16_mixed:
    case Precision::fp8_mixed:
      break;
  }
  return {gradient, cast + norm_and_clip + adam + copy, 5 + casts};
}

void add_optimizer(std::vector<Segment>& out, const Plan& plan, double parameters) {
  const OptimizerTraffic traffic = optimizer_traffic(plan.run);
  const double shards = plan.run.zero_stage >= 1 ? static_cast<double>(group_size(plan.degrees, Axis::data)) : 1.0;
  out.push_back(pass("optimizer", parameters * (traffic.per_held + traffic.per_updated / shards), traffic.launches));
  Segment host;
  host.name = "step-host";
  host.kernel.kind = KernelKind::host;
  out.push_back(host);
}

}  // namespace stagecraft
