#include "schedule/body_segments.hpp"

#include <utility>

namespace stagecraft {
namespace {

double operand_bytes(const BodyShape& shape) {
  return shape.gemm_dtype == Dtype::fp8 ? 1 : shape.element;
}

double product(std::int64_t a, std::int64_t b) {
  return static_cast<double>(a) * static_cast<double>(b);
}

}  // namespace

const char* to_text(CollectiveKind kind) {
  switch (kind) {
    case CollectiveKind::all_reduce:
      return "all_reduce";
    case CollectiveKind::all_gather:
      return "all_gather";
    case CollectiveKind::reduce_scatter:
      return "reduce_scatter";
    case CollectiveKind::all_to_all:
      return "all_to_all";
    case CollectiveKind::broadcast:
      return "broadcast";
    case CollectiveKind::exchange:
      return "exchange";
    case CollectiveKind::host_copy:
      return "host_copy";
    case CollectiveKind::nvme_copy:
      return "nvme_copy";
  }
  return "";
}

Segment gemm(const char* name, const BodyShape& shape, std::int64_t m, std::int64_t n, std::int64_t k, double output) {
  Segment segment;
  segment.name = name;
  segment.kernel.kind = KernelKind::gemm;
  segment.kernel.dtype = shape.gemm_dtype;
  segment.kernel.row_wise = shape.gemm_dtype == Dtype::fp8 && shape.fp8_scaling == Fp8Scaling::per_row;
  segment.kernel.m = m;
  segment.kernel.n = n;
  segment.kernel.k = k;
  segment.kernel.flops = Flops{2 * product(m, n) * static_cast<double>(k)};
  segment.kernel.bytes = Bytes{operand_bytes(shape) * (product(m, k) + product(k, n)) + output * product(m, n)};
  return segment;
}

Segment batched_gemm(const char* name, const BodyShape& shape, std::int64_t batch, std::int64_t m, std::int64_t n,
                     std::int64_t k) {
  Segment segment;
  segment.name = name;
  segment.kernel.kind = KernelKind::gemm;
  segment.kernel.dtype = shape.element_dtype;
  segment.kernel.batch = batch;
  segment.kernel.m = m;
  segment.kernel.n = n;
  segment.kernel.k = k;
  const double count = static_cast<double>(batch);
  segment.kernel.flops = Flops{2 * count * product(m, n) * static_cast<double>(k)};
  segment.kernel.bytes = Bytes{shape.element * count * (product(m, k) + product(k, n) + product(m, n))};
  return segment;
}

Segment pass(const char* name, double bytes, std::int32_t launches) {
  Segment segment;
  segment.name = name;
  segment.kernel.bytes = Bytes{bytes};
  segment.kernel.launches = launches;
  return segment;
}

std::vector<Segment> casts(const char* name, const BodyShape& shape, std::int64_t rows, std::int64_t columns) {
  if (shape.gemm_dtype != Dtype::fp8) return {};
  const double numbers = product(rows, columns);
  switch (shape.fp8_scaling) {
    case Fp8Scaling::per_tensor:
      return {pass(name, numbers * (shape.element + shape.fp8_copies))};
    case Fp8Scaling::current:
      return {pass(name, numbers * (2 * shape.element + shape.fp8_copies), 2)};
    case Fp8Scaling::per_row:  // read, written in both formats; the second format read and written in the first
      return {pass(name, numbers * (2 * shape.element + 1) + numbers * (shape.element + 1), 2)};
    case Fp8Scaling::per_block:  // scales go along the rows of one copy and along the columns of the other
      return {pass(name, numbers * (shape.element + 2 * (1 + 4.0 / 128)))};
  }
  return {};
}

std::vector<Segment> casts_after_norm(const char* name, const BodyShape& shape) {
  if (shape.fp8_scaling == Fp8Scaling::per_tensor) return {};
  return casts(name, shape, shape.norm_tokens, shape.hidden);
}

double whole_bytes(const BodyShape& shape) {
  return shape.element * static_cast<double>(shape.tokens) * static_cast<double>(shape.hidden);
}

Segment host_wait(const char* name) {
  Segment segment;
  segment.name = name;
  segment.kernel.kind = KernelKind::host_sync;
  return segment;
}

Segment collective(const char* name, CollectiveKind kind, Axis group, double bytes, std::int32_t hides_behind) {
  Segment segment;
  segment.name = name;
  segment.is_collective = true;
  segment.collective = {kind, group, Bytes{bytes}};
  segment.hides_behind = hides_behind;
  return segment;
}

// Gradients add up in full precision, and PyTorch's row-wise kernel is so slow at that that torchao runs the one for
// whole tensors and applies the scales to the 16-bit result by itself (github.com/pytorch/ao, pull request 1325); the
// row-wise kernel that took its place in July 2025 is as slow in all (2185, 2595).
void BackwardList::add(const Segment& segment) const {
  out->push_back(segment);
  Kernel& kernel = out->back().kernel;
  if (!std::exchange(kernel.row_wise, false)) return;
  const double numbers = static_cast<double>(kernel.batch) * product(kernel.m, kernel.n);
  constexpr double read_and_written = 2 * 2;
  out->push_back(pass("row-rescale", read_and_written * numbers));
}

void add_weight_grad(const BackwardList& list, const char* name, const char* accumulate_name, const BodyShape& shape,
                     std::int64_t m, std::int64_t n, std::int64_t k) {
  if (shape.accumulates_in_gemm) {
    list.weight_grad(gemm(name, shape, k, n, m, 2 * shape.gradient));
    return;
  }
  list.weight_grad(gemm(name, shape, k, n, m));
  list.weight_grad(pass(accumulate_name, product(k, n) * (shape.element + 2 * shape.gradient)));
}

}  // namespace stagecraft
