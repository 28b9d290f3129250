#include "trace/kernel_totals.hpp"

#include <unistd.h>

#include <catch2/catch.hpp>
#include <fstream>

#include "base/input_error.hpp"
#include "trace/kernel_class.hpp"

using namespace stagecraft;

namespace {

class File {
 public:
  explicit File(const std::string& text) : path_("/tmp/stagecraft_kernels_" + std::to_string(::getpid()) + ".json") {
    std::ofstream(path_, std::ios::binary) << text;
  }
  ~File() { std::remove(path_.c_str()); }
  File(const File&) = delete;
  File& operator=(const File&) = delete;
  const std::string& path() const { return path_; }

 private:
  std::string path_;
};

std::string event(const std::string& name, double ts, double dur, int stream = 7, const std::string& cat = "kernel",
                  int pid = 0) {
  return R"({"ph": "X", "cat": ")" + cat + R"(", "name": ")" + name + R"(", "pid": )" + std::to_string(pid) +
         R"(, "tid": )" + std::to_string(stream) + R"(, "ts": )" + std::to_string(ts) + R"(, "dur": )" +
         std::to_string(dur) + R"(, "args": {"stream": 7}})";
}

KernelTotals kineto(const std::string& events, const std::string& more = "") {
  const File file("{" + more + R"("traceEvents": [)" + events + "]}");
  return read_kineto_kernels(file.path());
}

template <class Read>
std::string message(Read&& read) {
  try {
    read();
  } catch (const InputError& error) {
    return error.what();
  }
  return "";
}

const std::string trace_columns =
    "Start (ns),Duration (ns),CorrId,GrdX,GrdY,GrdZ,BlkX,BlkY,BlkZ,Reg/Trd,StcSMem (MB),DymSMem (MB),Bytes (MB),"
    "Throughput (MB/s),SrcMemKd,DstMemKd,Device,Ctx,GreenCtx,Strm,Name\n";

std::string nsys_row(int start, int duration, const std::string& name, const std::string& device = "GPU (0)") {
  return std::to_string(start) + "," + std::to_string(duration) + ",1,1,1,1,256,1,1,16,0.0,0.0,,,,," + device +
         ",1,,7,\"" + name + "\"\n";
}

}  // namespace

TEST_CASE("kernels are told by their names") {
  const auto kind = [](const char* name) { return class_of_kernel(name).kernel_class; };
  CHECK(kind("ampere_bf16_s16816gemm_bf16_128x256_ldg8_f2f_stages_64x3_tn") == KernelClass::gemm);
  CHECK(kind("nvjet_hsh_128x256_64x4_1x2_h_bz_coopA_NTN") == KernelClass::gemm);
  CHECK(kind("void cutlass::Kernel2<cutlass_80_tensorop_bf16_s16816gemm_relu_bf16>(T1::Params)") == KernelClass::gemm);
  CHECK(kind("void flash_fwd_kernel<Flash_fwd_kernel_traits<128, 128, 64, 4>>(Flash_fwd_params)") ==
        KernelClass::attention_forward);
  CHECK(kind("void flash_bwd_dq_dk_dv_loop_seqk_parallel_kernel<T>(Flash_bwd_params)") ==
        KernelClass::attention_backward);
  CHECK(kind("cudnn_generated_fort_native_sdpa_sm90_flash_bprop_wgmma_f16") == KernelClass::attention_backward);
  CHECK(kind("fmha_cutlassB_bf16_aligned_64x64_k128_sm80") == KernelClass::attention_backward);
  CHECK(kind("ncclDevKernel_AllReduce_Sum_bf16_RING_LL(ncclDevKernelArgsStorage<4096ul>)") ==
        KernelClass::communication);
  CHECK(kind("Memcpy DtoH (Device -> Pageable)") == KernelClass::copy);
  CHECK(kind("[CUDA memcpy Host-to-Device]") == KernelClass::copy);
  CHECK(kind("void at::native::vectorized_elementwise_kernel<4, at::native::CUDAFunctor_add<float>>") ==
        KernelClass::memory);
  CHECK(kind("void at::native::multi_tensor_apply_kernel<FusedAdamMathFunctor>") == KernelClass::memory);
  CHECK(kind("saxpy") == KernelClass::unknown);
  // Beside the main kernel of one operation.
  CHECK(class_of_kernel("void cublasLt::splitKreduce_kernel<32, 16>(T)").kernel_class == KernelClass::gemm);
  CHECK_FALSE(class_of_kernel("void cublasLt::splitKreduce_kernel<32, 16>(T)").is_main);
  CHECK_FALSE(class_of_kernel("void flash_bwd_dot_do_o_kernel<true>(Flash_bwd_params)").is_main);
}

TEST_CASE("a Kineto trace gives sums by name, the gaps on the compute stream, steps and rank") {
  // On stream 7: 0 to 10, 12 to 22, 25 to 27 us; NCCL on stream 20 and the host's operations give no gap.
  const KernelTotals totals =
      kineto(event("gemm", 0, 10) + "," + event("gemm", 12, 10) + "," + event("add_elementwise", 25, 2) + "," +
                 event("ncclDevKernel_AllReduce", 0, 100, 20) + "," + event("aten::mm", 0, 500, 1, "cpu_op") + "," +
                 event("ProfilerStep#3", 0, 30, 1, "user_annotation") + "," +
                 event("ProfilerStep#4", 30, 30, 1, "user_annotation"),
             R"("distributedInfo": {"rank": 5}, )");
  REQUIRE(totals.kernels.size() == 3);
  CHECK(totals.kernels[1].name == "gemm");
  CHECK(totals.kernels[1].count == 2);
  CHECK(totals.kernels[1].seconds == Approx(20e-6));
  CHECK(totals.kernels[1].squared_spread == Approx(0).margin(1e-18));
  REQUIRE(totals.gaps_s.size() == 2);
  CHECK(totals.gaps_s[0] == Approx(2e-6));
  CHECK(totals.gaps_s[1] == Approx(3e-6));
  CHECK(totals.steps == 2);
  CHECK(totals.rank == 5);
}

TEST_CASE("the spread of a kernel's times is kept") {
  // 8 and 12: the mean is 10, the squares 4 + 4 (us^2).
  const KernelTotals totals = kineto(event("gemm", 0, 8) + "," + event("gemm", 10, 12));
  CHECK(totals.kernels[0].squared_spread == Approx(8e-12));
}

TEST_CASE("a file of torch.profiler that is none is refused with the event or what to do") {
  CHECK(message([] { kineto(event("gemm", 0, 1) + "," + event("gemm", 2, 1, 7, "kernel", 1)); }).find("device 1") !=
        std::string::npos);
  CHECK(message([] { kineto(event("gemm", 0, -1)); }).find("/traceEvents/0") != std::string::npos);
  CHECK(message([] { kineto(event("aten::mm", 0, 1, 1, "cpu_op")); }).find("no kernels") != std::string::npos);
  CHECK(message([] { kineto(R"({"ph": "X", "cat": "kernel", "name": "a")"); }).find("/traceEvents/0") !=
        std::string::npos);
  CHECK(message([] {
          const File file("\x1f\x8b\x08");
          read_kineto_kernels(file.path());
        }).find("gunzip") != std::string::npos);
}

TEST_CASE("nsys' table of kernels gives what the trace gives, behind whatever it prints first") {
  const KernelTotals totals = read_nsys_kernels(
      "\nNOTICE: Existing SQLite export found\n\nProcessing [x.sqlite] with [cuda_gpu_trace.py]... \n" + trace_columns +
          nsys_row(1000, 10000, "void gemm<float, 4>(T, U)") + nsys_row(13000, 10000, "void gemm<float, 4>(T, U)"),
      "step.csv");
  REQUIRE(totals.kernels.size() == 1);
  CHECK(totals.kernels[0].name == "void gemm<float, 4>(T, U)");
  CHECK(totals.kernels[0].count == 2);
  CHECK(totals.kernels[0].seconds == Approx(20e-6));
  REQUIRE(totals.gaps_s.size() == 1);
  CHECK(totals.gaps_s[0] == Approx(2e-6));
}

TEST_CASE("nsys' sums by name give the times and their spread, but no gaps") {
  const KernelTotals totals = read_nsys_kernels(
      "Time (%),Total Time (ns),Instances,Avg (ns),Med (ns),Min (ns),Max (ns),StdDev (ns),Name\n"
      "75.0,300,3,100.0,100.0,90,110,10.0,\"say \"\"gemm\"\", twice\"\n25.0,100,1,100.0,100.0,100,100,0.0,fill\n",
      "sum.csv");
  REQUIRE(totals.kernels.size() == 2);
  CHECK(totals.kernels[1].name == "say \"gemm\", twice");
  CHECK(totals.kernels[1].seconds == Approx(300e-9));
  CHECK(totals.kernels[1].squared_spread == Approx(200e-18));  // (10 ns)^2 * (3 - 1)
  CHECK(totals.gaps_s.empty());
}

TEST_CASE("a table of nsys that is none is refused with its line") {
  const auto refused = [](const std::string& text) { return message([&] { read_nsys_kernels(text, "a.csv"); }); };
  CHECK(refused("1,2,3\n").find("column names") != std::string::npos);
  CHECK(refused(trace_columns).find("no kernels") != std::string::npos);
  CHECK(refused(trace_columns + "1,2,3\n").find("a.csv:2") != std::string::npos);
  CHECK(refused(trace_columns + nsys_row(1, 2, "a") + nsys_row(3, 4, "a", "GPU (1)")).find("one rank") !=
        std::string::npos);
  CHECK(refused(trace_columns + "1,2,\"open\n").find("quote") != std::string::npos);
  CHECK(refused("Start (ns),Strm,Other,Name\n").find("Duration") != std::string::npos);
  CHECK(refused("Start,Duration,Strm,Name\n").find("unit of time") != std::string::npos);
  std::string negative = nsys_row(1, 2, "a");
  negative.replace(0, 1, "-");
  CHECK(refused(trace_columns + negative).find("Start") != std::string::npos);
}
