#pragma once
// The vocabulary in which bodies are written: GEMMs, passes over memory, collectives, and who collects them.

#include <cstdint>
#include <vector>

#include "schedule/body.hpp"
#include "schedule/body_shape.hpp"

namespace stagecraft {

/// C(m x n) = A(m x k) B(k x n), each matrix moved once. FLOPs are 2 m n k. `output` is bytes moved per element of C.
Segment gemm(const char* name, const BodyShape& shape, std::int64_t m, std::int64_t n, std::int64_t k, double output);
inline Segment gemm(const char* name, const BodyShape& shape, std::int64_t m, std::int64_t n, std::int64_t k) {
  return gemm(name, shape, m, n, k, shape.element);
}

/// `batch` products of one shape in the dtype of activations (attention keeps it when other GEMMs run in fp8).
Segment batched_gemm(const char* name, const BodyShape& shape, std::int64_t batch, std::int64_t m, std::int64_t n,
                     std::int64_t k);

/// A kernel (or a chain of `launches` kernels) limited by the bytes that it reads and writes.
Segment pass(const char* name, double bytes, std::int32_t launches = 1);

/// What it takes to bring a 16-bit tensor to fp8 for the next GEMMs: read once, written as it is and, before Blackwell,
/// transposed (Transformer Engine's cast_transpose). Current scaling reads it once more before, for its largest value;
/// scales per block are written beside both copies, four bytes per 128 numbers (arXiv 2412.19437, section 3.3.2).
/// Scales per row take two kernels, since a row's scale needs all of the row: one casts by rows and writes a transposed
/// 16-bit copy, one casts that by its rows (github.com/pytorch/ao, torchao/testing/training/roofline_utils.py). Nothing
/// unless GEMMs run in fp8.
std::vector<Segment> casts(const char* name, const BodyShape& shape, std::int64_t rows, std::int64_t columns);

/// The same behind a norm, which writes fp8 itself where the scale is known before it runs (per tensor, from earlier
/// steps), and 16 bits where it is not.
std::vector<Segment> casts_after_norm(const char* name, const BodyShape& shape);

/// Of a tensor that holds one value per token and hidden unit of a micro-batch, not divided over the tensor group.
double whole_bytes(const BodyShape& shape);

/// `bytes` as nccl-tests counts them, see Collective.
Segment collective(const char* name, CollectiveKind kind, Axis group, double bytes, std::int32_t hides_behind = 0);

/// The host waits for the GPU, to read something back.
Segment host_wait(const char* name);

/// Collects the segments of a backward pass: those that lead to the gradient of the input and those that lead to weight
/// gradients, from one listing in the framework's order.
struct BackwardList {
  bool input = true, weight = true;  // which of the two are kept
  std::vector<Segment>* out = nullptr;
  void input_grad(const Segment& segment) const {
    if (input) add(segment);
  }
  void weight_grad(const Segment& segment) const {
    if (weight) add(segment);
  }

 private:
  void add(const Segment& segment) const;
};

/// The gradient of a linear layer y(m x n) = x(m x k) W(k x n): the weight's GEMM and what it takes to accumulate it.
/// Frameworks that accumulate in the GEMM's epilogue read and write the fp32 sum there; others add in a pass of its
/// own.
void add_weight_grad(const BackwardList& list, const char* name, const char* accumulate_name, const BodyShape& shape,
                     std::int64_t m, std::int64_t n, std::int64_t k);

}  // namespace stagecraft
