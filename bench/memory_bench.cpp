// The memory model: speed of a verdict, and its error against published readings and outcomes, per group of records.
#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <iostream>
#include <map>
#include <stdexcept>

#include "figure.hpp"
#include "memory/allocator.hpp"
#include "memory_records.hpp"

using namespace stagecraft;
using bench::MemoryReading;
using bench::MemoryRecord;

namespace {

/// The peak of the rank that a reading names.
const MemoryPeak& peak_of(const std::vector<MemoryPeak>& peaks, const std::string& rank) {
  std::size_t chosen = rank == "last" ? peaks.size() - 1 : rank == "middle" ? peaks.size() / 2 : 0;
  for (std::size_t r = 0; r < peaks.size() && (rank == "max" || rank == "min"); ++r) {
    if (rank == "max" ? peaks[r].peak > peaks[chosen].peak : peaks[r].peak < peaks[chosen].peak) chosen = r;
  }
  return peaks[chosen];
}

/// The figure that a reading of this kind shows.
double predicted_bytes(const MemoryRecord& record, const Plan& plan, const MemoryPeak& peak, const std::string& kind) {
  const AllocatorView view = allocator_view(plan, peak);
  const Bytes shown = kind == "allocated" ? view.allocated : kind == "reserved" ? view.reserved : view.device;
  return shown.value + record.more_workspace;
}

struct Errors {
  std::vector<double> signed_percent;
  double mean_target = 0, worst_target = 0;  // 0: none
};

void print_errors(const std::string& name, Errors errors, bool json) {
  double mean = 0, bias = 0;
  const double count = static_cast<double>(errors.signed_percent.size());
  for (double& error : errors.signed_percent) {
    bias += error / count;
    error = std::abs(error);
    mean += error / count;
  }
  std::sort(errors.signed_percent.begin(), errors.signed_percent.end());
  const auto quantile = [&](double q) {
    return errors.signed_percent[static_cast<std::size_t>(std::ceil(q * count)) - 1];
  };
  const auto target = [](double value) { return value > 0 ? std::optional<double>(value) : std::nullopt; };
  bench::print({name + "mean-error", mean, "%", target(errors.mean_target),
                fmt::format("target, {} readings", errors.signed_percent.size())},
               json);
  bench::print({name + "median-error", quantile(0.5), "%", {}, ""}, json);
  bench::print({name + "p90-error", quantile(0.9), "%", {}, ""}, json);
  bench::print({name + "worst-error", errors.signed_percent.back(), "%", target(errors.worst_target), "target"}, json);
  bench::print({name + "bias", bias, "%", {}, ""}, json);
}

/// Outcomes of one group: [ran][predicted].
struct Outcomes {
  double fit_as_fit = 0, fit_as_oom = 0, oom_as_fit = 0, oom_as_oom = 0, close = 0;
  std::vector<std::string> wrong;
  double all() const { return fit_as_fit + fit_as_oom + oom_as_fit + oom_as_oom + close; }
};

void count(const MemoryRecord& record, const Plan& plan, const MemoryPeak& peak, Outcomes& outcomes) {
  const bool ran = record.verdict == "fits";
  const AllocatorView view = allocator_view(plan, peak);
  const FitVerdict verdict = verdict_of(view, peak.limit);
  if (verdict == FitVerdict::close) {
    ++outcomes.close;
    return;
  }
  const bool says_fits = verdict == FitVerdict::fits;
  ++(ran         ? says_fits ? outcomes.fit_as_fit : outcomes.fit_as_oom
     : says_fits ? outcomes.oom_as_fit
                 : outcomes.oom_as_oom);
  if (ran != says_fits) {
    outcomes.wrong.push_back(fmt::format("{}: {}, predicted {:.2f} of {:.2f} GiB", record.id,
                                         ran ? "ran" : "ran out of memory", view.wanted.value / 1073741824.0,
                                         peak.limit.value / 1073741824.0));
  }
}

void print_outcomes(const std::string& group, const Outcomes& outcomes, bool json) {
  const std::string name = "memory/" + group + "/";
  const double ran = outcomes.fit_as_fit + outcomes.fit_as_oom, oom = outcomes.oom_as_fit + outcomes.oom_as_oom;
  const bool judged = group == "hagemann";
  const auto target = [&](double value) { return judged ? std::optional<double>(value) : std::nullopt; };
  if (ran > 0 && oom > 0) {
    bench::print({name + "balanced-accuracy", 50 * (outcomes.fit_as_fit / ran + outcomes.oom_as_oom / oom), "%",
                  target(96), "at least"},
                 json);
  }
  bench::print({name + "close-to-limit", 100 * outcomes.close / outcomes.all(), "%", target(10), "at most"}, json);
  bench::print({name + "ran-predicted-oom", outcomes.fit_as_oom, "records", {}, ""}, json);
  bench::print({name + "oom-predicted-fit", outcomes.oom_as_fit, "records", {}, ""}, json);
  for (const std::string& line : outcomes.wrong) fmt::print(stderr, "{}\n", line);
}

Errors targets_of(const std::string& group) {
  if (group == "megatron-ci" || group == "simumax" || group == "bigscience-v100") return {{}, 3, 8};
  if (group == "bigscience-v100-nvidia-smi") return {};
  return {{}, 8, 0};
}

void measure_records(bool json, bool each) {
  const std::vector<MemoryRecord> records =
      bench::memory_records(std::string(STAGECRAFT_SOURCE_DIR) + "/scenarios/records/published.json");
  std::map<std::string, Errors> errors;
  std::map<std::string, Outcomes> outcomes;
  for (const MemoryRecord& record : records) {
    const Plan plan = make_plan(record.scenario);
    const std::vector<MemoryPeak> peaks = memory_peaks(plan, schedule_of(record, plan));
    if (!record.verdict.empty()) count(record, plan, peak_of(peaks, "max"), outcomes[record.group]);
    for (const MemoryReading& reading : record.readings) {
      const double predicted = predicted_bytes(record, plan, peak_of(peaks, reading.rank), reading.kind);
      const double error = 100 * (predicted / reading.bytes - 1);
      const std::string group =
          record.group + (record.group == "vocab-parallel" && reading.kind == "allocated" ? "-allocated"
                          : record.group == "bigscience-v100" && reading.kind == "device" ? "-nvidia-smi"
                                                                                          : "");
      Errors& of_group = errors.try_emplace(group, targets_of(group)).first->second;
      of_group.signed_percent.push_back(error);
      if (each) {
        fmt::print(stderr, "{:<70} {:>9} {:>6} {:>8.3f} {:>8.3f} GiB {:>+7.2f} %\n", record.id, reading.kind,
                   reading.rank, predicted / 1073741824.0, reading.bytes / 1073741824.0, error);
      }
    }
  }
  for (const auto& [group, values] : errors) print_errors("memory/" + group + "/", values, json);
  for (const auto& [group, values] : outcomes) print_outcomes(group, values, json);
}

/// The 145.6B row of arXiv 2104.04473, table 1: p = 8, m = 48, v = 2 on 1536 GPUs.
MemoryRecord largest_example() {
  MemoryRecord record;
  ModelSpec& model = record.scenario.model;
  model.name = "gpt-145b";
  model.hidden = 12288;
  model.blocks = 80;
  model.vocabulary = 51200;
  model.sequence_length = 2048;
  model.attention.heads = model.attention.kv_heads = 96;
  model.attention.head_dim = 128;
  model.mlp.ffn_hidden = 49152;
  model.dropout = 0.1;
  RunSpec& run = record.scenario.run;
  run.parallel.tensor = run.parallel.pipeline = 8;
  run.parallel.data = 24;
  run.parallel.virtual_stages = 2;
  run.batch = {2304, 2};
  run.sequence_length = 2048;
  run.recompute = Recompute::full;
  run.attention_kernel = AttentionKernel::fused_softmax;
  run.schedule.name = "interleaved-1f1b";
  GpuSpec& gpu = record.scenario.cluster.gpu;
  gpu.architecture = "ampere";
  gpu.memory = {80e9};
  for (const Dtype dtype : {Dtype::fp16, Dtype::bf16}) gpu.peak[dtype] = {312e12};
  record.scenario.cluster.node.devices.assign(8, DeviceSpec{});
  record.scenario.cluster.nodes = 192;
  return record;
}

void measure_speed(bool json) {
  const MemoryRecord record = largest_example();
  const Plan plan = make_plan(record.scenario);
  const Schedule schedule = schedule_of(record, plan);
  double guard = 0;
  const double seconds = bench::median_seconds(201, [&] { guard += memory_peaks(plan, schedule)[0].peak.value; });
  bench::print({"memory/verdict-145b-p8-m48-v2", seconds * 1e3, "ms", 0.2, "limit"}, json);
  if (!(guard > 0)) throw std::runtime_error("no memory predicted");
}

}  // namespace

int main(int argc, char** argv) try {
  // `--each` prints every record to stderr.
  const bool each = argc > 1 && std::string(argv[argc - 1]) == "--each";
  const bool json = bench::wants_json(each ? argc - 1 : argc, argv);
  measure_speed(json);
  measure_records(json, each);
  return 0;
} catch (const std::exception& error) {
  std::cerr << error.what() << '\n';
  return 1;
}
