#pragma once
// How much longer kernels take while a collective runs beside them.

#include "cost/cost_model.hpp"

namespace stagecraft {

/// Fractions of the time that a kernel takes alone: matrix products, and all others.
struct Slowdown {
  double gemm = 0, others = 0;
  double gemm_doubt =
      0;  // how far the time that products lose may be off, as a fraction of the collective's beside them
  Evidence evidence = Evidence::measured;  // of that
};

inline double slowdown_of(const Kernel& kernel, const Slowdown& slowdown) {
  return kernel.kind == KernelKind::gemm ? slowdown.gemm : slowdown.others;
}

/// A collective that holds multiprocessors (overlap.slowdown) takes its share of them from every kernel. Products may
/// lose more: where their kernel counts on all multiprocessors, the blocks that find none wait for the others to end.
Slowdown slowdown_beside(const CostModel& model, const OverlapSpec& overlap);

/// Of a body as a whole, by the time that its products take.
double mean_slowdown(const Body& body, const BodyTime& time, const Slowdown& slowdown);

}  // namespace stagecraft
