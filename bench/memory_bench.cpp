// The memory model: speed of a verdict, and its error against published readings and outcomes, per group of records and
// kind of reading. Records become scenarios by the rule of core/validate, as in `stagecraft validate`.
#include <fmt/core.h>

#include <iostream>
#include <stdexcept>

#include "figure.hpp"
#include "memory/allocator.hpp"
#include "schedule/family.hpp"
#include "schedule/lower.hpp"
#include "validate/memory_words.hpp"
#include "validate/validate.hpp"

using namespace stagecraft;

namespace {

constexpr double GiB = 1073741824.0;

struct Target {
  double mean = 0, worst = 0;  // 0: none
};

/// Exact readings within 3 % on average and 8 % at worst, coarse ones within 8 % on average.
Target target_of(const std::string& group, MemoryReading kind) {
  const bool exact = group == "megatron-ci" || group == "simumax" || group == "bigscience-v100";
  if (exact && kind == MemoryReading::allocated) return {3, 8};
  for (const char* coarse : {"vocab-parallel", "bloom-a100", "torchtitan", "zero-bubble"}) {
    if (group == coarse) return {8, 0};
  }
  return {};
}

void print_errors(const std::string& group, MemoryReading kind, const ErrorStatistics& errors, bool json) {
  const std::string name = "memory/" + group + "/" + word_of(kind) + "/";
  const Target target = target_of(group, kind);
  const auto limit = [](double value) { return value > 0 ? std::optional<double>(value) : std::nullopt; };
  bench::print(
      {name + "mean-error", 100 * errors.mean, "%", limit(target.mean), fmt::format("target, {} readings", errors.n)},
      json);
  bench::print({name + "median-error", 100 * errors.median, "%", {}, ""}, json);
  bench::print({name + "p90-error", 100 * errors.p90, "%", {}, ""}, json);
  bench::print({name + "worst-error", 100 * errors.worst, "%", limit(target.worst), "target"}, json);
  bench::print({name + "bias", 100 * errors.bias, "%", {}, ""}, json);
}

void print_outcomes(const GroupResult& group, bool json) {
  const OomCounts& counts = group.oom;
  if (counts.all() == 0) return;
  const std::string name = "memory/" + group.name + "/";
  const bool judged = group.name == "hagemann";
  const auto target = [&](double value) { return judged ? std::optional<double>(value) : std::nullopt; };
  if (group.balanced_accuracy) {
    bench::print({name + "balanced-accuracy", 100 * *group.balanced_accuracy, "%", target(96), "at least"}, json);
  }
  const double share = static_cast<double>(counts.close) / static_cast<double>(counts.all());
  bench::print({name + "close-to-limit", 100 * share, "%", target(10), "at most"}, json);
  bench::print({name + "ran-predicted-oom", static_cast<double>(counts.only_predicted), "records", {}, ""}, json);
  bench::print({name + "oom-predicted-fit", static_cast<double>(counts.only_measured), "records", {}, ""}, json);
}

/// Every reading and every wrong verdict, on stderr.
void print_records(const Validation& validation) {
  for (const Outcome& outcome : validation.outcomes) {
    for (const MemoryComparison& reading : outcome.memory) {
      fmt::print(stderr, "{:<70} {:>9} {:>6} {:>8.3f} {:>8.3f} GiB {:>+7.2f} %\n", outcome.record.id,
                 word_of(reading.kind), word_of(reading.rank), reading.predicted / GiB, reading.measured / GiB,
                 100 * reading.error);
    }
    if (!outcome.oom || outcome.oom->predicted == outcome.oom->measured) continue;
    fmt::print(stderr, "{}: {}, predicted {}{}\n", outcome.record.id, outcome.oom->measured ? "ran out" : "ran",
               outcome.oom->predicted ? "not to fit" : "to fit", outcome.oom->close ? ", close to the limit" : "");
  }
}

void measure_records(const std::string& root, bool json, bool each) {
  const Library library{{root + "/scenarios", root + "/topologies"}};
  const Validation validation = validate(read_records(root + "/scenarios/records/published.json"), library);
  if (each) print_records(validation);
  for (const GroupResult& group : validation.groups) {
    for (const auto& [kind, errors] : group.memory_by_kind) print_errors(group.name, kind, errors, json);
    print_outcomes(group, json);
  }
}

/// The 145.6B row of arXiv 2104.04473, table 1: p = 8, m = 48, v = 2 on 1536 GPUs.
void measure_speed(const std::string& root, bool json) {
  const Library library{{root + "/scenarios", root + "/topologies"}};
  const Plan plan = make_plan(load_scenario(root + "/scenarios/gpt-145b-selene.json", {}, library));
  ScheduleRequest request;
  request.shape = {plan.degrees.pipeline, plan.micro_batches,
                   static_cast<std::int32_t>(plan.run.parallel.virtual_stages)};
  const Schedule schedule = lower(find_schedule(plan.run.schedule.name)->generate(request), plan);
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
  const std::string root = STAGECRAFT_SOURCE_DIR;
  measure_speed(root, json);
  measure_records(root, json, each);
  return 0;
} catch (const std::exception& error) {
  std::cerr << error.what() << '\n';
  return 1;
}
