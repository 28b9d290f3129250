#include "trace/kernel_class.hpp"

#include <algorithm>
#include <string>

namespace stagecraft {
namespace {

struct Rule {
  std::string_view part;  // of the name, in lower case
  KernelClass kernel_class;
};

constexpr KernelClass gemm = KernelClass::gemm, forward = KernelClass::attention_forward, memory = KernelClass::memory;

// The first that fits counts: a CUTLASS kernel of FlashAttention is attention, a fused GEMM is a GEMM.
constexpr std::array rules{
    Rule{"nccl", KernelClass::communication},
    Rule{"rccl", KernelClass::communication},
    Rule{"memset", memory},
    Rule{"memcpy", KernelClass::copy},
    Rule{"flash", forward},
    Rule{"fmha", forward},
    Rule{"sdpa", forward},
    Rule{"attn_fwd", forward},
    Rule{"attn_bwd", forward},
    Rule{"gemm", gemm},
    Rule{"gemv", gemm},
    Rule{"nvjet", gemm},
    Rule{"cutlass", gemm},
    Rule{"xmma", gemm},
    Rule{"splitkreduce", gemm},
    Rule{"cijk_", gemm},
    Rule{"elementwise", memory},
    Rule{"softmax", memory},
    Rule{"norm", memory},
    Rule{"reduce", memory},
    Rule{"dropout", memory},
    Rule{"gelu", memory},
    Rule{"silu", memory},
    Rule{"swiglu", memory},
    Rule{"triton_", memory},
    Rule{"multi_tensor", memory},
    Rule{"adam", memory},
    Rule{"copy", memory},
    Rule{"fill", memory},
    Rule{"cast", memory},
    Rule{"transpose", memory},
    Rule{"permute", memory},
    Rule{"index", memory},
    Rule{"gather", memory},
    Rule{"scatter", memory},
    Rule{"embedding", memory},
    Rule{"rope", memory},
    Rule{"rotary", memory},
    Rule{"cross_entropy", memory},
    Rule{"nll_loss", memory},
    Rule{"cub::", memory},
    Rule{"fused", memory},
    Rule{"distribution_", memory},
    Rule{"scan", memory},
    Rule{"sort", memory},
    Rule{"topk", memory},
};

constexpr std::array<std::string_view, 5> backward_parts{"bwd", "backward", "bprop", "fmha_cutlassb", "dq_dk_dv"};
constexpr std::array<std::string_view, 8> helpers{"splitkreduce", "dot_do_o",    "convert_dq", "convert_dkv",
                                                  "preprocess",   "postprocess", "combine",    "clear_dkvaccum"};

template <std::size_t n>
bool has_any(std::string_view name, const std::array<std::string_view, n>& parts) {
  return std::any_of(parts.begin(), parts.end(),
                     [&](std::string_view part) { return name.find(part) != std::string_view::npos; });
}

}  // namespace

const char* to_text(KernelClass kernel_class) {
  switch (kernel_class) {
    case KernelClass::gemm:
      return "GEMM";
    case KernelClass::attention_forward:
      return "attention, forward";
    case KernelClass::attention_backward:
      return "attention, backward";
    case KernelClass::memory:
      return "bound by memory";
    case KernelClass::communication:
      return "communication";
    case KernelClass::copy:
      return "copies";
    case KernelClass::unknown:
      break;
  }
  return "unknown";
}

KernelNamed class_of_kernel(std::string_view name) {
  std::string lower(name);
  std::transform(lower.begin(), lower.end(), lower.begin(),
                 [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; });
  for (const Rule& rule : rules) {
    if (lower.find(rule.part) == std::string::npos) continue;
    KernelNamed named{rule.kernel_class, true};
    if (named.kernel_class == forward && has_any(lower, backward_parts))
      named.kernel_class = KernelClass::attention_backward;
    const bool may_help = rule.kernel_class == forward || rule.kernel_class == gemm;
    named.is_main = !may_help || !has_any(lower, helpers);
    return named;
  }
  return {};
}

}  // namespace stagecraft
