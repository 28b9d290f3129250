#include "validate/kernel_fit.hpp"

#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>

#include "base/input_error.hpp"
#include "estimate/compute_schedule.hpp"
#include "schedule/lower.hpp"

using namespace stagecraft;

namespace {

const Library library{
    {std::string(STAGECRAFT_SOURCE_DIR) + "/scenarios", std::string(STAGECRAFT_SOURCE_DIR) + "/topologies"}};

/// One pipeline rank of a step of Llama 3 8B on one node.
struct Step {
  Scenario scenario =
      load_scenario(std::string(STAGECRAFT_SOURCE_DIR) + "/scenarios/llama-3-8b-one-node.json", {}, library);
  Topology topology = build_topology(scenario.cluster);
  Calibration calibration = calibration_of(scenario, library);
  Plan plan = make_plan(scenario);
  StepWork work;

  Step() {
    const CostModel costs = make_cost_model(plan, topology, calibration);
    Findings findings;
    const Schedule schedule = lower(compute_schedule(scenario, plan, costs, topology, findings), plan);
    work = step_work(plan, schedule, costs, topology, PipelineRank{0});
  }
};

std::string name_of(const Kernel& kernel) {
  if (kernel.kind == KernelKind::gemm) return "nvjet_hsh_128x256_NTN";
  if (kernel.kind == KernelKind::memory) return "vectorized_elementwise_kernel";
  return kernel.backward ? "flash_bwd_dq_dk_dv_loop_kernel" : "flash_fwd_kernel";
}

/// What a profiler would see of `steps` steps if the machine obeyed `truth`: kernels without their launches, and a gap
/// of one launch between them.
KernelTotals seen(const Step& step, const Calibration& truth, std::int64_t steps = 1) {
  const KernelLaw law = kernel_law(step.plan.gpu, truth);
  std::map<std::string, KernelTotal> totals;
  KernelTotals all;
  all.file = "step.json";
  for (const StepKernel& one : step.work.kernels) {
    const Kernel& kernel = one.kernel;
    if (kernel.kind != KernelKind::gemm && kernel.kind != KernelKind::memory && kernel.kind != KernelKind::attention)
      continue;
    KernelTotal& total = totals[name_of(kernel)];
    const double launches = law.launch_s.value * kernel.launches;
    total.count += static_cast<std::int64_t>(one.count) * kernel.launches * steps;
    total.seconds += one.count * (kernel_time(kernel, law).expected.value - launches) * static_cast<double>(steps);
  }
  for (auto& [name, total] : totals) {
    total.name = name;
    all.kernels.push_back(total);
  }
  all.gaps_s.assign(100, law.launch_s.value);
  all.gaps_s.push_back(0.02);  // a wait for the host
  return all;
}

const EfficiencyFit& named(const KernelFit& fit, const std::string& name) {
  for (const EfficiencyFit& one : fit.constants) {
    for (const std::string& each : one.names) {
      if (each == name) return one;
    }
  }
  throw std::invalid_argument(name);
}

KernelFit fit_of(const Step& step, const KernelTotals& totals, double steps = 1) {
  return fit_kernels(step.work, step.plan.gpu, false, step.calibration, measured_step(totals, steps));
}

}  // namespace

TEST_CASE("kernel times scaled by known factors give the factors back") {
  const Step step;
  Calibration truth = step.calibration;
  truth.constants.at("launch_us").value *= 1.5;
  truth.constants.at("memory_efficiency").value *= 0.9;
  for (auto& [dtype, law] : truth.gemm) law.ceiling.value *= 0.95;
  for (auto& [version, law] : truth.attention) {
    law.forward.value *= 0.8;
    law.backward.value *= 1.1;
  }
  const KernelFit fit = fit_of(step, seen(step, truth, 2), 2);
  CHECK(fit.other_work.empty());
  const auto factor = [&](const std::string& name) { return named(fit, name).after / named(fit, name).before; };
  CHECK(factor("constants/launch_us") == Approx(1.5).epsilon(1e-6));
  CHECK(factor("constants/memory_efficiency") == Approx(0.9).epsilon(1e-6));
  CHECK(factor("gemm/bf16/ceiling") == Approx(0.95).epsilon(1e-6));
  for (const EfficiencyFit& one : fit.constants) {
    if (one.names.front().ends_with("/forward")) CHECK(one.after / one.before == Approx(0.8).epsilon(1e-6));
    if (one.names.front().ends_with("/backward")) CHECK(one.after / one.before == Approx(1.1).epsilon(1e-6));
  }
  CHECK(fit.constants.size() == 5);
  for (const ClassFit& one : fit.classes) {
    if (one.measured.seconds > 0) CHECK(one.fitted_s == Approx(one.measured.seconds).epsilon(1e-6));
  }
}

TEST_CASE("a profile fitted to kernels names the shapes seen, keeps the doubt of the law, and extends the old one") {
  const Step step;
  const KernelFit fit = fit_of(step, seen(step, step.calibration));
  const auto profile = nlohmann::json::parse(to_json(fit.profile));
  CHECK(profile.at("extends") == step.calibration.hardware);
  CHECK(profile.at("gpus") == nlohmann::json::array({step.plan.gpu.name}));
  const auto& law = profile.at("gemm").at("bf16");
  CHECK(law.at("ceiling").at("evidence") == "measured");
  CHECK(law.at("ceiling").at("relative_error") >= step.calibration.gemm.at(Dtype::bf16).ceiling.relative_error);
  std::int64_t least = 1 << 30, most = 0;
  for (const StepKernel& one : step.work.kernels) {
    if (one.kernel.kind != KernelKind::gemm) continue;
    least = std::min(least, one.kernel.k);
    most = std::max(most, one.kernel.k);
  }
  CHECK(law.at("measured_k") == nlohmann::json({static_cast<double>(least), static_cast<double>(most)}));
}

TEST_CASE("kernels of another amount of work are named") {
  const Step step;
  KernelTotals totals = seen(step, step.calibration);
  CHECK(fit_of(step, totals).other_work.empty());
  CHECK(fit_of(step, totals, 2).other_work.size() == 3);  // half of each
  for (KernelTotal& total : totals.kernels) {
    if (total.name.starts_with("nvjet")) total.count += total.count / 10;
  }
  const KernelFit fit = fit_of(step, totals);
  REQUIRE(fit.other_work.size() == 1);
  CHECK(fit.other_work.front().starts_with("GEMM"));
}

TEST_CASE("a constant is kept where nothing was measured of it or no value explains it") {
  const Step step;
  KernelTotals totals = seen(step, step.calibration);
  totals.gaps_s.clear();
  for (KernelTotal& total : totals.kernels) {
    if (total.name.starts_with("nvjet")) total.seconds /= 10;       // no GEMM is so fast
    if (total.name.starts_with("flash_fwd")) total.seconds = 0;     // none was recorded
    if (total.name.starts_with("vectorized")) total.seconds /= 50;  // beyond the memory's bandwidth
  }
  totals.kernels.push_back({"saxpy", 3, 0.5, 0});
  const MeasuredStep measured = measured_step(totals, 1);
  CHECK(measured.unknown == std::vector<std::pair<std::string, double>>{{"saxpy", 0.5}});
  const KernelFit fit = fit_kernels(step.work, step.plan.gpu, false, step.calibration, measured);
  std::size_t kept = 0;
  for (const EfficiencyFit& one : fit.constants) {
    if (one.kept.empty()) continue;
    ++kept;
    CHECK(one.after == one.before);
  }
  CHECK(kept == 4);
  CHECK(fit.profile.constants.size() == 1);  // attention backward
}

TEST_CASE("the spread of kernels gives the interval, the median of the gaps the launch") {
  // 100 kernels of 10 us, half of them 9, half 11: the sum's standard deviation is sqrt(100 * 100 / 99) us = 10.05 us,
  // its 90 % half width 1.645 times that, 1.653 % of 1 ms.
  KernelTotals totals;
  totals.file = "a";
  totals.kernels = {{"gemm", 100, 1e-3, 100e-12}};
  totals.gaps_s = {3e-6, 1e-6, 2e-6, 1};
  const MeasuredStep step = measured_step(totals, 1);
  CHECK(step.classes[static_cast<std::size_t>(KernelClass::gemm)].error == Approx(0.01653).epsilon(1e-3));
  CHECK(step.launch_s == Approx(2e-6));
}

TEST_CASE("kernel times of the executor's profile are a step's measurement too") {
  Step step;
  Calibration profile = step.calibration;
  Calibration truth = step.calibration;
  for (auto& [dtype, law] : truth.gemm) law.ceiling.value *= 0.7;
  const KernelLaw law = kernel_law(step.plan.gpu, truth);
  for (const StepKernel& one : step.work.kernels) {
    if (one.kernel.kind != KernelKind::gemm) continue;
    MeasuredKernel measured = key_of(one);
    measured.seconds = kernel_time(one.kernel, law).expected.value;
    measured.relative_error = 0.02;
    profile.measured.push_back(measured);
  }
  std::sort(profile.measured.begin(), profile.measured.end(), comes_before);
  const MeasuredStep measured = measured_step(step.work, step.plan.gpu, profile);
  const KernelFit fit = fit_kernels(step.work, step.plan.gpu, false, profile, measured);
  const EfficiencyFit& ceiling = named(fit, "gemm/bf16/ceiling");
  CHECK(ceiling.after / ceiling.before == Approx(0.7).epsilon(1e-6));
  CHECK(fit.profile.constants.size() == ceiling.names.size());  // nothing else was measured
  profile.measured.clear();
  CHECK_THROWS_AS(measured_step(step.work, step.plan.gpu, profile), InputError);
}
