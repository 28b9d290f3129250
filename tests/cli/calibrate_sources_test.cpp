// stagecraft calibrate from nccl-tests, torch.profiler, nsys and stagecraft profile: files in, a profile out that
// loads.
#include <catch2/catch.hpp>
#include <cmath>
#include <nlohmann/json.hpp>
#include <set>

#include "estimate/compute_schedule.hpp"
#include "run_program.hpp"
#include "schedule/lower.hpp"
#include "validate/step_work.hpp"

using namespace stagecraft;

namespace {

const Library library{
    {std::string(STAGECRAFT_SOURCE_DIR) + "/scenarios", std::string(STAGECRAFT_SOURCE_DIR) + "/topologies"}};

/// What all_reduce_perf prints on the eight GPUs of one host: 15 us + 40 us per MB, then 50 us + S * 1.75 / (400 GB/s).
std::string nccl_log(const std::string& gpu, const std::string& program) {
  std::string out = program.empty() ? "" : "# Collective test starting: " + program + "\n";
  for (int rank = 0; rank < 8; ++rank) {
    const std::string r = std::to_string(rank);
    out += "#  Rank  " + r + " Group  0 Pid   6899 on hostA device  " + r + " [0000:04:00] " + gpu + "\n";
  }
  out +=
      "#       size         count      type   redop    root     time   algbw   busbw #wrong     time   algbw   busbw "
      "#wrong\n";
  for (double bytes = 8; bytes <= 0x1p33; bytes *= 2) {
    const double us = std::min(15 + 40e-6 * bytes, 50 + bytes * 1.75 / 400e3);
    char line[256];
    std::snprintf(line, sizeof line, "%.0f %.0f float sum -1 %.4f %.3f %.3f 0 %.4f %.3f %.3f 0\n", bytes, bytes / 4, us,
                  bytes / us / 1e3, bytes / us / 1e3 * 1.75, us, bytes / us / 1e3, bytes / us / 1e3 * 1.75);
    out += line;
  }
  return out;
}

struct Step {
  Plan plan;
  Calibration calibration;
  std::vector<StepKernel> kernels;  // of all pipeline ranks
};

Step step_of(const std::string& file, const std::vector<std::string>& overrides) {
  const Scenario scenario = load_scenario(file, overrides, library);
  const Topology topology = build_topology(scenario.cluster);
  Step step{make_plan(scenario), calibration_of(scenario, library), {}};
  const CostModel costs = make_cost_model(step.plan, topology, step.calibration);
  Findings findings;
  const Schedule schedule = lower(compute_schedule(scenario, step.plan, costs, topology, findings), step.plan);
  for (std::int32_t rank = 0; rank < step.plan.degrees.pipeline; ++rank) {
    const StepWork work = step_work(step.plan, schedule, costs, topology, PipelineRank{rank});
    step.kernels.insert(step.kernels.end(), work.kernels.begin(), work.kernels.end());
  }
  return step;
}

std::string name_of(const Kernel& kernel) {
  if (kernel.kind == KernelKind::gemm) return "nvjet_hsh_128x256_NTN";
  if (kernel.kind == KernelKind::memory) return "vectorized_elementwise_kernel";
  return kernel.backward ? "flash_bwd_dq_dk_dv_loop_kernel" : "flash_fwd_kernel";
}

/// Kernels of a machine that obeys `truth`, one behind the other; `write(name, begin_us, duration_us)`.
template <class Write>
void play(const Step& step, const Calibration& truth, Write&& write) {
  const KernelLaw law = kernel_law(step.plan.gpu, truth);
  const double launch_us = law.launch_s.value * 1e6;
  double at_us = 1e6;
  for (const StepKernel& one : step.kernels) {
    const Kernel& kernel = one.kernel;
    if (kernel.kind != KernelKind::gemm && kernel.kind != KernelKind::memory && kernel.kind != KernelKind::attention)
      continue;
    const double us = kernel_time(kernel, law).expected.value * 1e6 / kernel.launches - launch_us;
    for (double i = 0; i < one.count * kernel.launches; ++i) {
      write(name_of(kernel), at_us, us);
      at_us += us + launch_us;
    }
  }
}

Calibration slower(Calibration calibration) {
  for (auto& [dtype, law] : calibration.gemm) law.ceiling.value *= 0.9;
  calibration.constants.at("memory_efficiency").value *= 0.8;
  return calibration;
}

nlohmann::json profile_at(const std::string& path) {
  return nlohmann::json::parse(text_of_file(path));
}

const std::string small_batch = "batch.global=2";

}  // namespace

TEST_CASE("calibrate takes logs of nccl-tests, prints the fit and writes a profile that a scenario loads") {
  const Scratch scratch;
  const std::string log = scratch.write("all_reduce.log", nccl_log("NVIDIA H100 80GB HBM3", "all_reduce_perf"));
  const std::string mine = scratch.file("mine.json");
  const Outcome made = run_program({"calibrate", "--nccl-tests", log, "--cluster", "eos", "--output", mine});
  INFO(made.messages);
  REQUIRE(made.exit_code == 0);
  CHECK(made.output.find("named by the log") != std::string::npos);
  CHECK(made.output.find("90 % interval") != std::string::npos);
  const auto law = profile_at(mine).at("collectives").at("node/all_reduce");
  CHECK(law.at("bus_GBps").at("value").get<double>() == Approx(400).epsilon(0.001));
  CHECK(law.at("low_latency_us").at("value").get<double>() == Approx(15).epsilon(0.001));
  CHECK(run_program({"simulate", shipped("llama-3-8b-one-node"), "--estimate", "--set", "calibration=" + mine})
            .exit_code == 0);
}

TEST_CASE("calibrate refuses logs of other GPUs, of columns that fit two programs, and options of another source") {
  const Scratch scratch;
  const std::string a100 = scratch.write("a100.log", nccl_log("NVIDIA A100-SXM4-80GB", "all_reduce_perf"));
  const Outcome other = run_program({"calibrate", "--nccl-tests", a100, "--cluster", "eos"});
  CHECK(other.exit_code == 3);
  CHECK(other.messages.find("A100") != std::string::npos);
  const std::string gather = scratch.write("gather.log", nccl_log("NVIDIA H100 80GB HBM3", "all_gather_perf"));
  const Outcome ratio = run_program({"calibrate", "--nccl-tests", gather, "--cluster", "eos"});
  CHECK(ratio.exit_code == 3);
  CHECK(ratio.messages.find("1.750") != std::string::npos);
  CHECK(run_program({"calibrate", "--nccl-tests", a100}).exit_code == 2);
  CHECK(run_program({"calibrate", "--nccl-tests", a100, "--cluster", "eos", "--steps", "2"}).exit_code == 2);
  CHECK(run_program({"calibrate", "--nccl-tests", a100, "--cluster", "eos", "--kineto", a100}).exit_code == 2);
  CHECK(run_program({"calibrate", "--kineto", a100}).exit_code == 2);
  CHECK(run_program({"calibrate", "--nccl-tests", a100, "--cluster", "eos", "--output", a100}).exit_code == 2);
}

TEST_CASE("calibrate takes a trace of torch.profiler and a table of nsys, and finds the same factors in both") {
  const Scratch scratch;
  const Step step = step_of(shipped("llama-3-8b-one-node"), {small_batch});
  const Calibration truth = slower(step.calibration);
  std::string events, rows = "Start (ns),Duration (ns),CorrId,Device,Strm,Name\n";
  play(step, truth, [&](const std::string& name, double begin_us, double us) {
    char line[512];
    std::snprintf(line, sizeof line,
                  R"(%s{"ph": "X", "cat": "kernel", "name": "%s", "pid": 0, "tid": 7, "ts": %.6f, "dur": %.6f})",
                  events.empty() ? "" : ",\n", name.c_str(), begin_us, us);
    events += line;
    std::snprintf(line, sizeof line, "%.3f,%.3f,1,H100 (0),7,%s\n", begin_us * 1e3, us * 1e3, name.c_str());
    rows += line;
  });
  const std::string trace = scratch.write("rank0.json", "{\"traceEvents\": [" + events + "]}");
  const std::string table = scratch.write("step.csv", rows);
  for (const auto& [option, file] : {std::pair{"--kineto", trace}, std::pair{"--nsys", table}}) {
    const std::string mine = scratch.file("mine.json");
    const Outcome made = run_program({"calibrate", option, file, "--scenario", shipped("llama-3-8b-one-node"), "--set",
                                      small_batch, "--output", mine});
    INFO(made.messages);
    REQUIRE(made.exit_code == 0);
    CHECK(made.output.find("GEMM") != std::string::npos);
    const auto profile = profile_at(mine);
    CHECK(profile.at("gemm").at("bf16").at("ceiling").at("value").get<double>() ==
          Approx(0.9 * step.calibration.gemm.at(Dtype::bf16).ceiling.value).epsilon(0.001));
    CHECK(profile.at("constants").at("memory_efficiency").at("value").get<double>() ==
          Approx(0.8 * step.calibration.constants.at("memory_efficiency").value).epsilon(0.001));
  }
  // A batch twice as large has twice the kernels.
  const std::vector<std::string> other{
      "calibrate", "--kineto", trace, "--scenario", shipped("llama-3-8b-one-node"), "--set", "batch.global=4"};
  const Outcome refused = run_program(other);
  CHECK(refused.exit_code == 3);
  CHECK(refused.messages.find("GEMM") != std::string::npos);
  std::vector<std::string> allowed = other;
  allowed.push_back("--allow-different-work");
  CHECK(run_program(allowed).exit_code == 0);
}

TEST_CASE("what stagecraft profile writes can be calibrated from, and the fitted laws then stand in for its shapes") {
  const Scratch scratch;
  const std::string scenario = shipped("tiny-gpt-2cores");
  const Step step = step_of(scenario, {});
  const KernelLaw law = kernel_law(step.plan.gpu, slower(step.calibration));
  nlohmann::json here = {{"kind", "hardware"},
                         {"extends", "host-cpu"},
                         {"description", "a core, measured for tiny-gpt-2cores by stagecraft profile"},
                         {"measured", nlohmann::json::array()}};
  std::set<MeasuredKernel, decltype(&comes_before)> known(&comes_before);
  for (const StepKernel& one : step.kernels) {
    if (one.kernel.kind != KernelKind::gemm && one.kernel.kind != KernelKind::memory) continue;
    const MeasuredKernel key = key_of(one);
    if (!known.insert(key).second) continue;
    here["measured"].push_back({{"segment", key.segment},
                                {"batch", key.batch},
                                {"m", key.m},
                                {"n", key.n},
                                {"k", key.k},
                                {"bytes", key.bytes},
                                {"time_s", kernel_time(one.kernel, law).expected.value},
                                {"relative_error", 0.01}});
  }
  const std::string profile = scratch.write("here.json", here.dump()), laws = scratch.file("laws.json");
  const Outcome made = run_program({"calibrate", "--profile", profile, "--scenario", scenario, "--output", laws});
  INFO(made.messages);
  REQUIRE(made.exit_code == 0);
  const auto fitted = profile_at(laws);
  CHECK(fitted.at("gemm").at("fp32").at("ceiling").at("value").get<double>() ==
        Approx(0.9 * step.calibration.gemm.at(Dtype::fp32).ceiling.value).epsilon(0.001));
  CHECK(fitted.at("constants").at("memory_efficiency").at("value").get<double>() ==
        Approx(0.8 * step.calibration.constants.at("memory_efficiency").value).epsilon(0.001));
  // The step as the shapes predict it, and as the laws do on top of the profile that the file extends.
  const auto step_time = [&](const std::string& calibration) {
    const Outcome outcome =
        run_program({"simulate", scenario, "--estimate", "--format", "json", "--set", "calibration=" + calibration});
    INFO(outcome.messages);
    REQUIRE(outcome.exit_code == 0);
    return nlohmann::json::parse(outcome.output).at("step_time_s").get<double>();
  };
  nlohmann::json alone = fitted;
  alone["extends"] = "host-cpu";
  CHECK(step_time(scratch.write("alone.json", alone.dump())) == Approx(step_time(profile)).epsilon(0.001));
  CHECK(step_time(laws) == Approx(step_time(profile)).epsilon(0.001));
}
