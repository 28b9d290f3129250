// The laws against tables that others measured.

#include <catch2/catch.hpp>
#include <cmath>

#include "machines.hpp"

using namespace stagecraft;
using namespace stagecraft::testing;

namespace {

struct MeasuredGemm {
  std::int64_t m, n, k;
  double tflops;
};

double predicted_tflops(const MeasuredGemm& row, const Calibration& calibration, const GpuSpec& gpu = a100_gpu()) {
  Kernel kernel;
  kernel.kind = KernelKind::gemm;
  kernel.dtype = Dtype::fp16;
  kernel.m = row.m;
  kernel.n = row.n;
  kernel.k = row.k;
  const double m = static_cast<double>(row.m), n = static_cast<double>(row.n), k = static_cast<double>(row.k);
  kernel.flops = Flops{2 * m * n * k};
  kernel.bytes = Bytes{2 * (m * k + k * n + m * n)};
  return (kernel.flops / kernel_time(kernel, gpu, calibration).expected).value / 1e12;
}

double predicted_attention(std::int64_t length, std::int64_t head_dim, bool causal, const Calibration& calibration) {
  // FlashAttention's benchmark: 16k tokens, hidden size 2048, forward and backward.
  double seconds = 0, flops = 0;
  for (const bool backward : {false, true}) {
    Kernel kernel;
    kernel.kind = KernelKind::attention;
    kernel.dtype = Dtype::fp16;
    kernel.backward = backward;
    kernel.causal = causal;
    kernel.batch = 16384 / length * (2048 / head_dim);
    kernel.m = kernel.n = length;
    kernel.k = head_dim;
    kernel.flops = Flops{(backward ? 10.0 : 4.0) * (causal ? 0.5 : 1.0) * 16384 * static_cast<double>(length) * 2048};
    kernel.bytes = Bytes{(backward ? 8.0 : 4.0) * 2 * 16384 * 2048};
    seconds += kernel_time(kernel, a100_gpu(), calibration).expected.value;
    flops += kernel.flops.value;
  }
  return flops / seconds / 1e12;
}

GpuSpec b200_gpu() {
  GpuSpec gpu;
  gpu.name = "B200";
  gpu.sms = 148;
  gpu.peak[Dtype::fp16] = gpu.peak[Dtype::bf16] = {2250e12};
  gpu.memory_bandwidth = {7.7e12};
  gpu.architecture = "blackwell";
  return gpu;
}

/// Of the peak, with the FLOPs of a causal mask counted whole, heads of 128.
double of_b200_peak(std::int64_t length, std::int64_t heads, bool backward) {
  const double whole = (backward ? 10.0 : 4.0) * static_cast<double>(length) * static_cast<double>(length) * 128 *
                       static_cast<double>(heads);
  Kernel kernel;
  kernel.kind = KernelKind::attention;
  kernel.dtype = Dtype::bf16;
  kernel.flash_version = 4;
  kernel.backward = backward;
  kernel.causal = true;
  kernel.batch = heads;
  kernel.m = kernel.n = length;
  kernel.k = 128;
  kernel.flops = Flops{whole / 2};
  return whole / 2250e12 / kernel_time(kernel, b200_gpu(), shipped("b200-hgx")).expected.value;
}

}  // namespace

TEST_CASE("B200 matrix products reach what SimuMax measured") {
  // github.com/MooreThreads/SimuMax configs/system/b200_bf16_ceperm.json @4dcaae5, fractions of 2250 TFLOP/s.
  struct Row {
    std::int64_t m, n, k;
    double of_peak;
  };
  const std::vector<Row> rows{{32768, 64128, 16384, 0.4715}, {16384, 128256, 8192, 0.4852},
                              {4096, 57344, 8192, 0.4867},   {4096, 8192, 28672, 0.4847},
                              {4096, 8192, 8192, 0.4625},    {4096, 10240, 8192, 0.6452}};
  const Calibration calibration = shipped("b200-hgx");
  for (const Row& row : rows) {
    const double predicted = predicted_tflops({row.m, row.n, row.k, 0}, calibration, b200_gpu()) / 2250;
    CAPTURE(row.m, row.n, row.k, row.of_peak, predicted);
    const bool short_burst = row.of_peak > 0.55;  // a third faster than its neighbours: below the power limit
    CHECK(predicted == Approx(row.of_peak).epsilon(short_burst ? 0.26 : 0.07));
  }
}

TEST_CASE("attention on B200 runs as cuDNN does in SimuMax's table") {
  CHECK(of_b200_peak(4096, 64, false) == Approx(0.8715).epsilon(0.05));
  CHECK(of_b200_peak(4096, 32, false) == Approx(0.7318).epsilon(0.2));
  CHECK(of_b200_peak(32768, 16, false) == Approx(1.1654).epsilon(0.05));
  CHECK(of_b200_peak(4096, 64, true) == Approx(0.7294).epsilon(0.06));
  CHECK(of_b200_peak(4096, 32, true) == Approx(0.7963).epsilon(0.15));
  CHECK(of_b200_peak(32768, 16, true) == Approx(0.8717).epsilon(0.08));
}

TEST_CASE("A100 matrix products reach what cublasLt reaches") {
  // github.com/Azure/AI-benchmarking-guide, Azure_Results, ND A100 v4, random data.
  const std::vector<MeasuredGemm> rows{
      {4096, 4096, 4096, 228.0}, {8192, 8192, 8192, 253.7}, {16384, 16384, 16384, 256.5}, {6144, 12288, 12288, 250.8},
      {1024, 1024, 1024, 119.4}, {2048, 2048, 2048, 221.8}, {802816, 192, 768, 157.8}};
  const Calibration calibration = shipped("a100-hdr");
  double sum = 0;
  for (const MeasuredGemm& row : rows) {
    const double error = predicted_tflops(row, calibration) / row.tflops - 1;
    CAPTURE(row.m, row.n, row.k, row.tflops, error);
    const bool large = row.m >= 4096 && row.n >= 4096;
    CHECK(std::abs(error) < (large ? 0.06 : 0.25));
    sum += std::abs(error);
  }
  CHECK(sum / static_cast<double>(rows.size()) < 0.09);
}

TEST_CASE("flash attention 2 on A100 reaches what its authors print") {
  // github.com/Dao-AILab/flash-attention README figures: forward + backward TFLOP/s.
  struct Row {
    std::int64_t length;
    double full64, causal64, full128, causal128;
  };
  const std::vector<Row> rows{{1024, 153, 119, 173, 133},
                              {2048, 162, 140, 187, 155},
                              {4096, 171, 156, 196, 173},
                              {8192, 175, 165, 201, 182},
                              {16384, 176, 171, 203, 189}};
  const Calibration calibration = shipped("a100-hdr");
  for (const Row& row : rows) {
    CAPTURE(row.length);
    CHECK(predicted_attention(row.length, 64, false, calibration) == Approx(row.full64).epsilon(0.06));
    CHECK(predicted_attention(row.length, 64, true, calibration) == Approx(row.causal64).epsilon(0.06));
    CHECK(predicted_attention(row.length, 128, false, calibration) == Approx(row.full128).epsilon(0.06));
    CHECK(predicted_attention(row.length, 128, true, calibration) == Approx(row.causal128).epsilon(0.06));
  }
}
