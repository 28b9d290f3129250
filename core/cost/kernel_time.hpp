#pragma once
// Seconds of one kernel of a shape on a GPU. Three laws, each with few constants; docs/cost-model.md gives the
// evidence.
//
// GEMM   t = launch + sqrt(compute^2 + memory^2)
//        compute = waves * units * 2 Tm Tn (k + k_half) / (peak * ceiling * tile_loss^log2(128*256 / (Tm Tn)))
//        waves   = q * ceil(tiles / units) + (1 - q) * max(1, tiles / units), tiles = batch * ceil(m/Tm) * ceil(n/Tn)
//        over the tile shapes of the library (256x128 down to 64x64) the fastest counts; memory = bytes / streaming
//        rate.
// Flash  t = launch + flops / (peak * fraction * d/(d + d_half) * L/(L + L_half)) * waves of 128-row tiles, or its
// bytes Memory t = launches * launch + bytes / (streaming rate * element-wise fraction)

#include "cost/calibration.hpp"
#include "cost/kernel_law.hpp"
#include "schedule/body.hpp"
#include "spec/cluster_spec.hpp"

namespace stagecraft {

/// A dtype without a profile of its own runs at the memory and compute rate of the nearest one that the GPU has
/// (tf32 -> fp32, bf16 <-> fp16); std::invalid_argument if there is none.
TimeEstimate kernel_time(const Kernel& kernel, const KernelLaw& law);
TimeEstimate kernel_time(const Kernel& kernel, const GpuSpec& gpu, const Calibration& calibration);

/// Fraction of the GPU's peak that the kernel reaches, for explanations; 0 for kernels without FLOPs.
double efficiency_of(const Kernel& kernel, const GpuSpec& gpu, const Calibration& calibration);

}  // namespace stagecraft
