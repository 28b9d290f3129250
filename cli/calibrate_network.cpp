// Network constants from logs of nccl-tests.

#include <fmt/format.h>

#include <algorithm>
#include <cctype>

#include "base/file_io.hpp"
#include "base/input_error.hpp"
#include "calibrate_sources.hpp"
#include "exchange/nccl_tests_log.hpp"
#include "validate/network_fit.hpp"

namespace stagecraft::cli {
namespace {

struct Run {
  NcclTestsRun log;
  NcclOp op;
  const char* told_by;
};

/// "H100" of "H100-SXM5-80GB", "4090" of "RTX 4090", "MI300X": the word with two digits or more, without what follows.
std::string model_of(const std::string& gpu) {
  std::string word;
  for (const char c : gpu + " ") {
    if (std::isalnum(static_cast<unsigned char>(c)) != 0) {
      word += static_cast<char>(std::toupper(static_cast<unsigned char>(c)));
      continue;
    }
    const auto digits = std::count_if(word.begin(), word.end(), [](unsigned char d) { return std::isdigit(d) != 0; });
    if (digits >= 2) return word.starts_with("RTX") ? word.substr(3) : word;
    word.clear();
  }
  return gpu;
}

void check_gpu(const NcclTestsRun& run, const ClusterSpec& cluster) {
  const std::string model = model_of(cluster.gpu.name);
  if (run.gpu.empty() || run.gpu.find(model) != std::string::npos) return;
  throw InputError(InputProblem{run.file, run.line, 0, "", "a run on " + run.gpu,
                                fmt::format("one on {}, the GPUs of {}", cluster.gpu.name, cluster.name), ""});
}

std::vector<Run> read_runs(const NetworkSource& source, const ClusterSpec& cluster) {
  std::vector<Run> runs;
  for (const std::string& file : source.logs) {
    for (NcclTestsRun& run : read_nccl_tests(read_file(file), file)) {
      check_gpu(run, cluster);
      const PrintedColumns printed{run.program,     run.reduction, run.root,    run.bus_over_algorithm,
                                   run.ratio_error, run.ranks,     run.checked, run.checked_in_place};
      const ToldCollective told = collective_of(printed, source.op);
      if (!told.op) throw InputError(InputProblem{file, run.line, 0, "", told.got, told.expected, ""});
      const char* const by = !source.op.empty()    ? "--op"
                             : run.program.empty() ? "told by its columns"
                                                   : "named by the log";
      runs.push_back({std::move(run), *told.op, by});
    }
  }
  return runs;
}

std::vector<TimedCollective> times_of(const std::vector<Run>& runs) {
  std::vector<TimedCollective> times;
  for (const Run& run : runs) {
    for (const NcclTestsRow& row : run.log.rows) {
      times.push_back({run.op, row.bytes, row.seconds, run.log.nodes, run.log.ranks_per_node, run.log.file});
    }
  }
  return times;
}

std::string size_text(double bytes) {
  const char* const units[] = {"B", "KiB", "MiB", "GiB", "TiB"};
  std::size_t unit = 0;
  while (bytes >= 1024 && unit + 1 < std::size(units)) {
    bytes /= 1024;
    ++unit;
  }
  return fmt::format("{:.4g} {}", bytes, units[unit]);
}

std::string runs_text(const std::vector<Run>& runs) {
  std::string out = "\nRuns\n";
  for (const Run& run : runs) {
    const auto by_bytes = [](const NcclTestsRow& a, const NcclTestsRow& b) { return a.bytes < b.bytes; };
    const auto [least, most] = std::minmax_element(run.log.rows.begin(), run.log.rows.end(), by_bytes);
    out += fmt::format("  {:<14} {} x {} GPUs, {} to {}, {} times: {}, {}\n", to_text(run.op), run.log.nodes,
                       run.log.ranks_per_node, size_text(least->bytes), size_text(most->bytes), run.log.rows.size(),
                       run.log.file, run.told_by);
  }
  return out;
}

std::string constants_text(const NetworkFit& fit) {
  std::string out = "\nConstants\n";
  for (const NetworkConstant& one : fit.constants) {
    if (!one.determined) continue;
    out += fmt::format("  {:<52} {:>10} -> {:<10.4g} 90 % interval {:.4g} to {:.4g}\n", one.name,
                       one.before > 0 ? fmt::format("{:.4g}", one.before) : "none", one.after, one.interval.low,
                       one.interval.high);
  }
  for (const std::string& note : fit.notes) out += "  " + note + "\n";
  return out;
}

std::string errors_text(const NetworkFit& fit) {
  std::string out = "\nErrors by size: predicted over measured, mean of the absolute ones and bias, before -> after\n";
  for (const SizeErrors& errors : fit.errors) {
    const std::string range = errors.to >= 0x1p60 ? "above " + size_text(errors.from) : "up to " + size_text(errors.to);
    out += fmt::format(
        "  {:<14} {} x {} GPUs {:<14} {:>4} times: {:5.1f} % -> {:5.1f} %, bias {:+6.1f} % -> {:+6.1f} %\n",
        to_text(errors.op), errors.nodes, errors.ranks_per_node, range, errors.after.n, 100 * errors.before.mean,
        100 * errors.after.mean, 100 * errors.before.bias, 100 * errors.after.bias);
  }
  return out + "Sizes and GPUs outside these were not measured; reports name what lies outside.\n";
}

}  // namespace

Calibrated calibrate_network(const NetworkSource& source, const Console& console) {
  const Library library = default_library(console.executable);
  const ClusterSpec cluster = load_cluster(source.cluster, library);
  const Calibration calibration =
      load_calibration(source.calibration.empty() ? cluster.calibration : source.calibration, library);
  const std::vector<Run> runs = read_runs(source, cluster);
  const NetworkFit fit = fit_network(times_of(runs), build_topology(cluster), calibration);
  std::string text = fmt::format("{} on {}: network constants fitted to {} run{} of nccl-tests\n", calibration.hardware,
                                 cluster.name, runs.size(), runs.size() == 1 ? "" : "s");
  text += runs_text(runs) + constants_text(fit) + errors_text(fit);
  return {std::move(text), fit.profile};
}

}  // namespace stagecraft::cli
