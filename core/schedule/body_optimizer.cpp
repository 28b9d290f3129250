// The optimizer step as bytes per parameter. Mixed precision follows Megatron-LM's optimizer: gradients to fp32 and
// unscaled (fp16 only), a norm, a clip, Adam on fp32 master weights and moments, and the copy to 16-bit weights.

#include "schedule/body_layers.hpp"

namespace stagecraft {

OptimizerTraffic optimizer_traffic(Precision precision) {
  // Adam: gradient 4 read; master weight, first and second moment 4 read and 4 written each.
  const double adam = 4 + 3 * 8;
  const double norm_and_clip = 4 + 8;
  switch (precision) {
    case Precision::fp16_mixed:
      // Held: zero the fp16 gradient (2). Updated: fp16 -> fp32 gradient (6), unscale and look for infinities (8), copy
      // (6).
      return {2, 6 + 8 + norm_and_clip + adam + 6, 7};
    case Precision::bf16_pure:
      // Everything in bf16: norm 2, clip 4, Adam 2 + 3 x 4, zeroing 2.
      return {2, 2 + 4 + 14, 4};
    case Precision::fp32:
    case Precision::tf32:
      return {4, norm_and_clip + adam, 4};
    case Precision::bf16_mixed:
    case Precision::fp8_mixed:
      break;
  }
  return {4, norm_and_clip + adam + 6, 5};
}

void add_optimizer(std::vector<Segment>& out, const Plan& plan, double parameters) {
  const OptimizerTraffic traffic = optimizer_traffic(plan.run.precision);
  const double shards = plan.run.zero_stage >= 1 ? static_cast<double>(group_size(plan.degrees, Axis::data)) : 1.0;
  out.push_back(pass("optimizer", parameters * (traffic.per_held + traffic.per_updated / shards), traffic.launches));
  Segment host;
  host.name = "step-host";
  host.kernel.kind = KernelKind::host;
  out.push_back(host);
}

}  // namespace stagecraft
