#pragma once
// What a GPU kernel does, told by its name.

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

namespace stagecraft {

enum class KernelClass : std::uint8_t {
  gemm,                // cuBLAS, cuBLASLt, CUTLASS, nvjet, Tensile
  attention_forward,   // FlashAttention, cuDNN's and memory-efficient attention
  attention_backward,  // the same
  memory,              // bound by bytes: element-wise, norms, softmax, reductions, optimizers, copies on the GPU, fills
  communication,       // NCCL and RCCL
  copy,                // between GPU and host, or between GPUs
  unknown,
};
inline constexpr std::size_t kernel_class_count = 7;
inline constexpr std::array<KernelClass, kernel_class_count> kernel_classes{
    KernelClass::gemm,   KernelClass::attention_forward, KernelClass::attention_backward,
    KernelClass::memory, KernelClass::communication,     KernelClass::copy,
    KernelClass::unknown};

const char* to_text(KernelClass kernel_class);  // "GEMM", "attention, forward", ...

struct KernelNamed {
  KernelClass kernel_class = KernelClass::unknown;
  /// False for what runs beside the main kernel of one operation: the sum over the parts of a GEMM split along k, the
  /// row sums before an attention backward and the conversion after it. Their time counts, they don't.
  bool is_main = true;
};

/// `name` as CUPTI gives it: demangled, template arguments and all.
KernelNamed class_of_kernel(std::string_view name);

}  // namespace stagecraft
