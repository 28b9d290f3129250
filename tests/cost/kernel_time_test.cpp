#include <catch2/catch.hpp>

#include "machines.hpp"
#include "schedule/body_segments.hpp"

using namespace stagecraft;
using namespace stagecraft::testing;

namespace {

Kernel product(std::int64_t m, std::int64_t n, std::int64_t k, double bytes = 0) {
  Kernel kernel;
  kernel.kind = KernelKind::gemm;
  kernel.dtype = Dtype::fp16;
  kernel.m = m;
  kernel.n = n;
  kernel.k = k;
  kernel.flops = Flops{2.0 * static_cast<double>(m) * static_cast<double>(n) * static_cast<double>(k)};
  kernel.bytes = Bytes{bytes};
  return kernel;
}

double seconds(const Kernel& kernel, const Calibration& calibration) {
  return kernel_time(kernel, round_gpu(), calibration).expected.value;
}

}  // namespace

TEST_CASE("a whole wave of tiles runs at the peak") {
  // 100 tiles of 128 x 256, one per unit.
  const Kernel kernel = product(128 * 10, 256 * 10, 1000);
  CHECK(seconds(kernel, ideal_calibration()) == Approx(kernel.flops.value / 100e12));
}

TEST_CASE("one tile too many takes a second wave when work is not shared out") {
  Calibration calibration = ideal_calibration();
  calibration.gemm[Dtype::fp16].tile_loss.value = 0.5;  // small tiles do not pay
  const double full = seconds(product(128 * 100, 256, 1000), calibration);
  CHECK(seconds(product(128 * 101, 256, 1000), calibration) == Approx(2 * full));
  calibration.gemm[Dtype::fp16].quantisation.value = 0;
  CHECK(seconds(product(128 * 101, 256, 1000), calibration) == Approx(1.01 * full));
}

TEST_CASE("a product half as deep as k_half runs at a third of the rate") {
  Calibration calibration = ideal_calibration();
  calibration.gemm[Dtype::fp16].k_half.value = 128;
  const Kernel kernel = product(1280, 2560, 64);
  CHECK(seconds(kernel, calibration) == Approx(3 * kernel.flops.value / 100e12));
}

TEST_CASE("a product of a few rows still pays for whole tiles") {
  // 16 rows fill a quarter of a 64-row tile: 100 tiles of 64 x 128 do the work of 64 rows.
  const Kernel kernel = product(16, 12800, 1024);
  CHECK(seconds(kernel, ideal_calibration()) == Approx(4 * kernel.flops.value / 100e12));
}

TEST_CASE("bytes dominate a product with little to reuse") {
  const Kernel kernel = product(128, 256, 8, 1e9);
  CHECK(seconds(kernel, ideal_calibration()) == Approx(1e9 / 1e12).epsilon(0.001));
}

TEST_CASE("rows that are no multiple of 16 bytes run at the misaligned rate") {
  Calibration calibration = ideal_calibration();
  calibration.gemm[Dtype::fp16].misaligned.value = 0.5;
  const double aligned = seconds(product(1280, 2560, 1000), calibration);
  CHECK(seconds(product(1280, 2560, 1004), calibration) == Approx(2 * aligned * 1004 / 1000));
}

TEST_CASE("with a scale per row a product runs at 0.95 of the law, which was measured with one per operand") {
  Kernel kernel = product(128 * 10, 256 * 10, 1000);
  const TimeEstimate whole = kernel_time(kernel, round_gpu(), ideal_calibration());
  kernel.row_wise = true;
  const TimeEstimate by_rows = kernel_time(kernel, round_gpu(), ideal_calibration());
  CHECK(by_rows.expected.value == Approx(whole.expected.value / 0.95));
  CHECK(whole.evidence == Evidence::measured);
  CHECK(by_rows.evidence == Evidence::borrowed);
  CHECK(by_rows.low.value == Approx(by_rows.expected.value * 0.95));  // "90-100 %"
}

TEST_CASE("a product of unknown shape runs at the ceiling") {
  Calibration calibration = ideal_calibration();
  calibration.gemm[Dtype::fp16].ceiling.value = 0.8;
  Kernel kernel = product(0, 0, 0);
  kernel.flops = Flops{80e12};
  CHECK(seconds(kernel, calibration) == Approx(1));
}

TEST_CASE("a chain bound by memory pays its bytes once and a launch per kernel") {
  Calibration calibration = ideal_calibration();
  calibration.constants["launch_us"].value = 3;
  calibration.constants["element_wise_efficiency"].value = 0.5;
  const Segment chain = pass("chain", 1e9, 4);
  CHECK(seconds(chain.kernel, calibration) == Approx(4 * 3e-6 + 1e9 / 0.5e12));
}

TEST_CASE("kernels among streams follow each other at the pace of their events, never faster than back to back") {
  Calibration calibration = ideal_calibration();
  calibration.constants["launch_us"].value = 2;
  Segment chain = pass("chain", 1e6, 3);
  const double work = 1e6 / 1e12;
  CHECK(seconds(chain.kernel, calibration) == Approx(work + 6e-6));
  chain.kernel.among_streams = true;
  CHECK(seconds(chain.kernel, calibration) == Approx(work + 6e-6));
  calibration.constants["stream_launch_us"].value = 10;
  CHECK(seconds(chain.kernel, calibration) == Approx(work + 30e-6));
  Kernel grouped = product(128 * 10, 256 * 10, 1000);
  grouped.among_streams = true;
  CHECK(seconds(grouped, calibration) == Approx(grouped.flops.value / 100e12 + 10e-6));
}

TEST_CASE("flash attention loses half its rate at the half length, and more under a causal mask") {
  Calibration calibration = ideal_calibration();
  calibration.attention[2].length_half.value = 1024;
  calibration.attention[2].causal_length_half.value = 3072;
  Kernel kernel;
  kernel.kind = KernelKind::attention;
  kernel.dtype = Dtype::fp16;
  kernel.batch = 100;
  kernel.m = kernel.n = 1024;
  kernel.k = 64;
  kernel.flops = Flops{1e12};
  CHECK(seconds(kernel, calibration) == Approx(2 * 1e12 / 100e12));
  kernel.causal = true;
  CHECK(seconds(kernel, calibration) == Approx(4 * 1e12 / 100e12));
}

TEST_CASE("fused attention in fp32 is no faster than the GPU multiplies in fp32 or tf32") {
  Kernel kernel;
  kernel.kind = KernelKind::attention;
  kernel.batch = 1000;
  kernel.m = kernel.n = 4096;
  kernel.k = 128;
  kernel.flops = Flops{1e15};
  const Calibration calibration = shipped("a100-hdr");
  kernel.dtype = Dtype::bf16;
  const double narrow = kernel_time(kernel, a100_gpu(), calibration).expected.value;
  kernel.dtype = Dtype::fp32;
  const double wide = kernel_time(kernel, a100_gpu(), calibration).expected.value;
  CHECK(wide == Approx(2 * narrow).epsilon(1e-3));  // 312 against 156 TFLOP/s
}

TEST_CASE("every time lies inside its own interval") {
  const Calibration calibration = shipped("a100-hdr");
  const TimeEstimate time = kernel_time(product(8192, 6144, 6144, 3e8), a100_gpu(), calibration);
  CHECK(time.low.value < time.expected.value);
  CHECK(time.expected.value < time.high.value);
}
