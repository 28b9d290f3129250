#pragma once
// Model FLOPs of a step under the conventions that papers print, so that TFLOP/s and MFU can be compared with theirs.

#include <span>
#include <string_view>

#include "base/units.hpp"
#include "plan/plan.hpp"

namespace stagecraft {

struct FlopConvention {
  const char* name;
  const char* formula;
  const char* source;
  bool counts_recompute;          // then it compares with HFU, not with MFU
  Flops (*of_step)(const Plan&);  // whole job, one step
};

/// "megatron-sc21": 96 B s l h^2 (1 + s/6h + V/16lh), recompute counted (arXiv 2104.04473, equation 3);
/// "gemm-full-attention": 3 x the forward GEMMs with full attention, recompute not counted (arXiv 2205.05198, appendix
/// A); "causal-attention", "6n", "6n-attention", "6n-causal-attention": see the table in flops.cpp. Plain layers count
/// 3 x their forward FLOPs under every convention.
std::span<const FlopConvention> flop_conventions();

/// nullptr if there is none of that name.
const FlopConvention* find_flop_convention(std::string_view name);

/// FLOPs of one step that the hardware executes, recompute included (for HFU). Attention counts the whole square, as in
/// gemm-full-attention, also where a causal kernel, or a step of an unfused ring, skips half of it: HFU is then never
/// below MFU in that convention, unless experts drop tokens. What differs between context ranks counts by their mean.
/// What flash attention computes again in its backward pass counts as recompute.
Flops hardware_flops_of_step(const Plan& plan);

/// Trainable parameters times tokens is what "6n" needs; both are of the whole model and the whole step.
double tokens_of_step(const Plan& plan);

}  // namespace stagecraft
