#pragma once
// The constants of a calibration that kernel times need, looked up once for one GPU: plain numbers, so that a body of a
// hundred kernels is timed in microseconds.

#include <array>

#include "cost/calibration.hpp"
#include "spec/cluster_spec.hpp"

namespace stagecraft {

inline constexpr std::size_t dtype_count = 8;

/// A number with the half width of its interval and where it comes from.
struct LawTerm {
  double value = 0, error = 0;
  Evidence evidence = Evidence::borrowed;
};

struct GemmLaw {
  bool known = false;
  LawTerm rate;  // FLOP/s that large shapes sustain: peak * ceiling
  double k_half = 0, tile_loss = 1, quantisation = 1, misaligned = 1;
  double element = 2;  // bytes of an operand
};

struct AttentionLaw {
  bool known = false;
  LawTerm forward, backward;  // FLOP/s at long sequences and wide heads
  double head_dim_half = 0, length_half = 0, causal_length_half = 0;
  double wide = 1;  // share of these rates in fp32 and tf32: what the GPU's peaks leave
};

struct KernelLaw {
  double units = 1;                       // streaming multiprocessors, or cores
  LawTerm streaming;                      // bytes/s of a large streaming kernel
  double element_wise = 1;                // fraction of it that the framework's element-wise kernels reach
  LawTerm launch_s;                       // of one kernel, back to back on the GPU
  double stream_launch_s = 0;             // the same among streams that wait for each other, never less
  double host_launch_s = 0;               // of one kernel, on the host
  LawTerm host_step_s;                    // host work per step
  LawTerm gemm_beside;                    // fraction of its speed that a product keeps beside a collective
  double collective_efficiency = 1;       // of the achieved rate, by the framework's collectives over the tensor group
  double data_loading_s = 0;              // of a step, as the run states it
  double collection_s = 0;                // of a step, in pauses of the garbage collector with an empty queue
  double host_adam_s = 0;                 // per parameter of one GPU while the host serves all of its GPUs
  std::array<GemmLaw, dtype_count> gemm;  // [Dtype]
  std::array<AttentionLaw, 5> attention;  // [flash version]
};

/// Whether the calibration says which GPUs its laws were measured on, and this is none of them: rates are then known as
/// fractions of a peak only, within 30 %.
bool is_of_another_gpu(const GpuSpec& gpu, const Calibration& calibration);

/// Throws std::invalid_argument if the calibration lacks a constant. With CUDA graphs no kernel waits for the host, and
/// kernels follow each other faster: the gaps between empty kernels of a graph are `graph_launch_share` of those in a
/// stream (1.35 of 2.7 us on A100, 1.29 of 2.45 on H200, 0.97 of 1.6 on L40; github.com/te42kyfo/gpu-benches).
inline constexpr double graph_launch_share = 0.53;
KernelLaw kernel_law(const GpuSpec& gpu, const Calibration& calibration, bool cuda_graphs = false);

}  // namespace stagecraft
