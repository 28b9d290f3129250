// Fits constants of a profile to measurements and writes the profile.

#include "validate/calibrate.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>

#include "base/file_io.hpp"
#include "base/input_error.hpp"
#include "calibrate_sources.hpp"
#include "command_line.hpp"
#include "cost/nccl.hpp"
#include "exit_code.hpp"
#include "spec/library.hpp"
#include "verb.hpp"

namespace stagecraft::cli {
namespace {

std::string row(const ErrorStatistics& errors, const char* when) {
  return fmt::format(
      "  {:<10} {:>4} step times: mean {:.1f} %, median {:.1f} %, p90 {:.1f} %, worst {:.1f} %, bias {:+.1f} %\n", when,
      errors.n, 100 * errors.mean, 100 * errors.median, 100 * errors.p90, 100 * errors.worst, 100 * errors.bias);
}

std::string to_text(const FittedProfile& fitted) {
  std::string out = fmt::format("{} fitted to {} step times\n\n", fitted.calibration, fitted.residuals.size());
  for (const FittedConstant& constant : fitted.constants) {
    std::string names;
    for (const std::string& name : constant.names) names += (names.empty() ? "" : ", ") + name;
    out += fmt::format("  {:<44} {:.4g} -> {:.4g}   90 % interval {:.4g} to {:.4g}{}\n", names, constant.before,
                       constant.after, constant.interval.low, constant.interval.high,
                       constant.at_the_edge ? "   not determined by these records" : "");
  }
  out += "\n" + row(fitted.before, "before") + row(fitted.after, "after") + "\nResiduals\n";
  for (const Residual& residual : fitted.residuals) {
    out += fmt::format("  {:<64} {:+7.1f} % -> {:+7.1f} %\n", residual.id, 100 * residual.before, 100 * residual.after);
  }
  for (const std::string& id : fitted.left_out) out += fmt::format("  {:<64} left out\n", id);
  return out;
}

/// A name of the list, or every name that ends with it: "ceiling" stands for that of every dtype.
std::vector<std::string> chosen_constants(const std::vector<std::string>& words, const Calibration& calibration) {
  std::vector<std::string> names, chosen;
  for (const ConstantLine& line : list_constants(calibration)) names.push_back(line.name);
  for (const std::string& word : words) {
    const std::size_t before = chosen.size();
    for (const std::string& name : names) {
      if (name == word || name.ends_with("/" + word)) chosen.push_back(name);
    }
    if (chosen.size() > before) continue;
    const std::string nearest = nearest_word(word, names);
    throw UsageError(fmt::format("--fit {}: no constant of {}; the nearest is {}", word, calibration.name,
                                 nearest.empty() ? names.front() : nearest));
  }
  return chosen;
}

/// The profile that is extended, as the new file names it: a path starts at the folder of that file.
std::string extended_from(const std::string& profile, const std::string& output) {
  namespace fs = std::filesystem;
  if (!is_path(profile) || fs::path(profile).is_absolute()) return profile;
  std::error_code ignored;
  const fs::path there = fs::absolute(profile).lexically_normal();
  const fs::path relative = there.lexically_relative(fs::absolute(output).lexically_normal().parent_path());
  return relative.empty() ? there.string() : relative.string();
}

struct Options {
  std::string file, calibration, group, output;
  std::vector<std::string> fit;
  NetworkSource network;
  KernelSource kernels;
};

void add_options(CLI::App& app, Options& options) {
  app.add_option("FILE", options.file, "Records: a list of measured runs; see docs/calibration.md");
  app.add_option("--nccl-tests", options.network.logs, "Instead: what programs of nccl-tests printed")
      ->type_name("LOG");
  app.add_option("--kineto", options.kernels.kineto, "Instead: torch.profiler's JSON of a step")->type_name("TRACE");
  app.add_option("--nsys", options.kernels.nsys, "Instead: nsys stats --format csv --report cuda_gpu_trace of a step")
      ->type_name("CSV");
  app.add_option("--profile", options.kernels.profile, "Instead: what `stagecraft profile` wrote")->type_name("JSON");
  app.add_option("--calibration", options.calibration,
                 "HARDWARE+SOFTWARE to start from (records: only those that use both are fitted to; else the cluster's "
                 "or the scenario's)")
      ->type_name("NAME");
  app.add_option("--group", options.group, "Records: only those of this group")->type_name("NAME");
  app.add_option("--fit", options.fit,
                 "Records: a constant by its name, or its last part; the fitted ones of the profile if left out")
      ->type_name("CONSTANT")
      ->allow_extra_args(false);
  app.add_option("--cluster", options.network.cluster,
                 "nccl-tests: where it ran; a name of `topology list`, or a file");
  app.add_option("--op", options.network.op, "nccl-tests: what ran, where a log does not say")
      ->check(CLI::IsMember(nccl_op_names()));
  app.add_option("--scenario", options.kernels.scenario, "Kernels: the scenario that the step ran")->type_name("FILE");
  add_overrides(app, options.kernels.overrides);
  app.add_option("--pipeline-rank", options.kernels.pipeline_rank,
                 "Kernels: whose they are (as the trace says, else 0)")
      ->check(CLI::Range(0, 1 << 20));
  app.add_option("--steps", options.kernels.steps, "Kernels: training steps in the file (as the trace marks, else 1)")
      ->check(CLI::Range(1, 1 << 20));
  app.add_flag("--allow-different-work", options.kernels.other_work,
               "Kernels: fit though the file covers another number of GEMMs or of attention than the scenario");
  add_output(app, options.output);
}

/// Exactly one source, and no option of another one's.
void check_source(const CLI::App& app, const Options& options) {
  const int kernels =
      int(!options.kernels.kineto.empty()) + int(!options.kernels.nsys.empty()) + int(!options.kernels.profile.empty());
  const bool network = !options.network.logs.empty();
  if (kernels + int(network) + int(!options.file.empty()) != 1)
    throw UsageError("calibrate: give one of FILE, --nccl-tests, --kineto, --nsys, --profile");
  std::vector<std::string> idle;
  const auto of_others = [&](bool used, std::vector<std::string> names) {
    if (!used) idle.insert(idle.end(), names.begin(), names.end());
  };
  of_others(!options.file.empty(), {"--group", "--fit"});
  of_others(network, {"--cluster", "--op"});
  of_others(kernels == 1, {"--scenario", "--set", "--allow-different-work", "--pipeline-rank"});
  of_others(kernels == 1 && options.kernels.profile.empty(), {"--steps"});
  of_others(options.kernels.profile.empty(), {"--calibration"});  // the profile itself is what is started from
  const std::string given = given_options(app, idle);
  if (!given.empty()) throw UsageError(fmt::format("calibrate: {} means nothing for this source", given));
  if (network && options.network.cluster.empty()) throw UsageError("calibrate: --nccl-tests needs --cluster");
  if (kernels == 1 && options.kernels.scenario.empty()) throw UsageError("calibrate: kernel times need --scenario");
  if (!options.file.empty() && options.calibration.empty()) throw UsageError("calibrate: records need --calibration");
}

int calibrate_from_records(const Options& options, const Console& console) {
  keep_apart({options.file}, {{"--output", options.output}});
  const Library library = default_library(console.executable);
  const Calibration calibration = load_calibration(options.calibration, library);
  const CalibrateRequest request{calibration.name, options.group, chosen_constants(options.fit, calibration)};
  const FittedProfile fitted = calibrate(read_records(options.file), request, library);
  console.print(to_text(fitted));
  if (!options.output.empty()) write_file_whole(options.output, profile_json(fitted));
  return ok;
}

int calibrate_from_measurements(Options options, const Console& console) {
  std::vector<std::string> read = options.network.logs;
  for (const std::string* file : {&options.kernels.kineto, &options.kernels.nsys, &options.kernels.profile,
                                  &options.kernels.scenario, &options.network.cluster, &options.calibration}) {
    if (!file->empty()) read.push_back(*file);
  }
  keep_apart(read, {{"--output", options.output}});
  options.network.calibration = options.kernels.calibration = options.calibration;
  Calibrated found = options.network.logs.empty() ? calibrate_kernels(options.kernels, console)
                                                  : calibrate_network(options.network, console);
  console.print(found.text);
  if (options.output.empty()) return ok;
  if (found.profile.constants.empty()) {
    throw InputError(InputProblem{options.output, 0, 0, "", "no constant that these measurements determine",
                                  "at least one: a profile without any would say nothing", ""});
  }
  found.profile.extends = extended_from(found.profile.extends, options.output);
  write_file_whole(options.output, to_json(found.profile));
  return ok;
}

}  // namespace

int run_calibrate(const Words& words, const Console& console) {
  Options options;
  const auto app = make_app(
      "calibrate", "Fits constants of a calibration to measurements and writes a profile that extends it.",
      {{"calibrate my-runs.json --calibration a100-hgx+pytorch-2023 --fit ceiling --output mine.json",
        "to step times of runs; for \"calibration\": \"mine.json\""},
       {"calibrate scenarios/records/published.json --calibration h100-ndr+megatron-2024 --fit gemm/fp8/ceiling",
        "constants, their intervals and the residuals, nothing written"},
       {"calibrate --nccl-tests all_reduce.log all_gather.log --cluster eos --output mine.json",
        "latency and bandwidth of collectives, to what nccl-tests measured"},
       {"calibrate --kineto rank0.json --scenario my.json --output mine.json",
        "efficiencies of kernels, to torch.profiler's trace of a step"},
       {"calibrate --nsys step.csv --scenario my.json --pipeline-rank 1 --steps 2", "the same from nsys stats"},
       {"calibrate --profile here.json --scenario my.json --output laws.json",
        "the same from what `stagecraft profile` measured, for other shapes too"}});
  add_options(*app, options);
  if (const auto help = parse(*app, words)) return console.print(*help), ok;
  check_source(*app, options);
  return options.file.empty() ? calibrate_from_measurements(std::move(options), console)
                              : calibrate_from_records(options, console);
}

}  // namespace stagecraft::cli
