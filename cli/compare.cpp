// Lays a measured trace over a predicted one.

#include <fmt/core.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <filesystem>
#include <limits>
#include <nlohmann/json.hpp>
#include <optional>

#include "base/input_error.hpp"
#include "base/units.hpp"
#include "command_line.hpp"
#include "compare_record.hpp"
#include "exit_code.hpp"
#include "schedule/op.hpp"
#include "trace/align.hpp"
#include "trace/native_format.hpp"
#include "trace/share_devices.hpp"
#include "trace/torch_profiler.hpp"
#include "verb.hpp"

namespace stagecraft::cli {
namespace {

struct Tolerances {
  std::optional<double> step, bubble, memory;
};

struct Judged {
  Alignment alignment;
  double step_error = 0, bubble_error = 0,
         memory_error = 0;  // signed fraction, absolute difference, largest signed fraction
  bool outside = false;
  std::int32_t shared_devices = 0;  // that the measured ranks shared; 0: each had its own
};

std::string kind_name(OpKind kind) {
  return std::string(word_of(kind));
}

/// Infinite where something was predicted and nothing measured.
double fraction(double predicted, double measured) {
  if (measured > 0) return predicted / measured - 1;
  return predicted > 0 ? std::numeric_limits<double>::infinity() : 0;
}

/// A tolerance that nothing is held against would always be met.
void check_comparable(const Alignment& alignment, const Tolerances& limits, const std::string& measured) {
  const auto refuse = [&](const char* got, const char* expected) {
    throw InputError(InputProblem{measured, 0, 0, "", got, expected, ""});
  };
  if (alignment.pairs.empty())
    refuse("no operation that the prediction has too", "a measured trace of the same scenario and schedule");
  if (limits.memory && alignment.memory.empty())
    refuse("no rank whose memory both traces have", "traces with memory counters, for --memory");
}

Judged judge(Alignment alignment, const Tolerances& limits) {
  Judged judged;
  judged.step_error = fraction(alignment.predicted_step_s, alignment.measured_step_s);
  judged.bubble_error = alignment.predicted_bubble - alignment.measured_bubble;
  for (const RankMemory& rank : alignment.memory) {
    const double error = fraction(rank.predicted_bytes, rank.measured_bytes);
    if (std::abs(error) > std::abs(judged.memory_error)) judged.memory_error = error;
  }
  const auto beyond = [](double error, const std::optional<double>& limit) {
    return limit && std::abs(error) > *limit;
  };
  judged.outside = beyond(judged.step_error, limits.step) || beyond(judged.bubble_error, limits.bubble) ||
                   beyond(judged.memory_error, limits.memory);
  judged.alignment = std::move(alignment);
  return judged;
}

std::string text_of(const Judged& judged) {
  const Alignment& a = judged.alignment;
  std::string out;
  if (judged.shared_devices > 0)
    out += fmt::format("the measured ranks shared {} device(s), and are predicted as sharing them\n\n",
                       judged.shared_devices);
  out += fmt::format("{:<16} {:>12} {:>12} {:>9}\n", "", "predicted", "measured", "error");
  out += fmt::format("{:<16} {:>12} {:>12} {:>+8.1f}%\n", "step time", to_text(Seconds{a.predicted_step_s}),
                     to_text(Seconds{a.measured_step_s}), 100 * judged.step_error);
  out += fmt::format("{:<16} {:>12.3f} {:>12.3f} {:>+9.3f}\n", "bubble", a.predicted_bubble, a.measured_bubble,
                     judged.bubble_error);
  for (const RankMemory& rank : a.memory) {
    out += fmt::format("{:<16} {:>12} {:>12} {:>+8.1f}%\n", fmt::format("memory, rank {}", rank.rank),
                       to_text(Bytes{rank.predicted_bytes}), to_text(Bytes{rank.measured_bytes}),
                       100 * fraction(rank.predicted_bytes, rank.measured_bytes));
  }
  out += fmt::format("\n{:<16} {:>8} {:>12} {:>12} {:>9} {:>9} {:>12}\n", "operation", "count", "predicted", "measured",
                     "mean", "p95", "explains");
  for (const KindError& kind : a.kinds) {
    out += fmt::format("{:<16} {:>8} {:>12} {:>12} {:>+8.1f}% {:>8.1f}% {:>+11.3f}ms\n", kind_name(kind.kind),
                       kind.operations, to_text(Seconds{kind.predicted_s}), to_text(Seconds{kind.measured_s}),
                       100 * kind.mean_error, 100 * kind.p95_error, 1e3 * kind.explains_s);
  }
  out +=
      "\"explains\": change of the predicted time of all steps when the operations of a kind take their measured "
      "time\n";
  if (a.only_predicted + a.only_measured > 0) {
    out += fmt::format("{} operations are in the prediction only, {} in the measurement only\n", a.only_predicted,
                       a.only_measured);
  }
  return out;
}

std::string json_of(const Judged& judged) {
  const Alignment& a = judged.alignment;
  nlohmann::ordered_json root;
  root["version"] = 1;
  root["predicted_step_time_s"] = a.predicted_step_s;
  root["measured_step_time_s"] = a.measured_step_s;
  root["step_time_error"] = judged.step_error;
  root["predicted_bubble_fraction"] = a.predicted_bubble;
  root["measured_bubble_fraction"] = a.measured_bubble;
  root["bubble_fraction_difference"] = judged.bubble_error;
  root["outside_tolerance"] = judged.outside;
  root["shared_devices"] = judged.shared_devices;
  root["operations_joined"] = a.pairs.size();
  root["operations_predicted_only"] = a.only_predicted;
  root["operations_measured_only"] = a.only_measured;
  root["memory"] = nlohmann::ordered_json::array();
  for (const RankMemory& rank : a.memory) {
    root["memory"].push_back({{"rank", rank.rank},
                              {"predicted_peak_bytes", rank.predicted_bytes},
                              {"measured_peak_bytes", rank.measured_bytes},
                              {"error", fraction(rank.predicted_bytes, rank.measured_bytes)}});
  }
  root["kinds"] = nlohmann::ordered_json::array();
  for (const KindError& kind : a.kinds) {
    root["kinds"].push_back({{"kind", kind_name(kind.kind)},
                             {"operations", kind.operations},
                             {"predicted_s", kind.predicted_s},
                             {"measured_s", kind.measured_s},
                             {"mean_error", kind.mean_error},
                             {"p95_error", kind.p95_error},
                             {"explains_s", kind.explains_s}});
  }
  return root.dump(2) + "\n";
}

/// Devices that the ranks of a measured trace shared, as the executor states them; 0 if each had its own.
std::int32_t shared_devices(const Trace& measured) {
  for (const Provenance& one : measured.provenance) {
    std::int32_t devices = 0;
    const char* const end = one.value.data() + one.value.size();
    if (one.key == "shared_devices" && std::from_chars(one.value.data(), end, devices).ptr == end)
      return std::max(devices, 0);
  }
  return 0;
}

/// A trace file, or a folder of torch.profiler's files.
Trace read_any(const std::string& path) {
  std::error_code ignored;
  return std::filesystem::is_directory(path, ignored) ? read_torch_profiler_folder(path) : read_trace(path);
}

/// Traces end in .sgt; what else ends in .json is a record, as `observe` writes it.
bool is_record(const std::string& path) {
  std::error_code ignored;
  return std::filesystem::path(path).extension() == ".json" && !std::filesystem::is_directory(path, ignored);
}

int run_against_record(const std::string& predicted, const std::string& measured, const Tolerances& limits,
                       const std::string& format, const std::string& output, const Console& console) {
  if (limits.bubble) throw UsageError("compare: a record tells no bubble; --bubble needs a measured trace");
  const RecordComparison comparison = compare_with_record(read_trace(predicted), read_one_record(measured));
  const auto beyond = [&](const std::optional<double>& error, const std::optional<double>& limit, const char* what) {
    if (!limit) return false;
    if (!error) throw InputError(InputProblem{measured, 0, 0, "", fmt::format("no {} on both sides", what), what, ""});
    return std::abs(*error) > *limit;
  };
  const bool step = beyond(step_error(comparison), limits.step, "step time");
  const bool memory = beyond(memory_error(comparison), limits.memory, "peak memory");
  write_output(console, output, format == "json" ? json_of(comparison, step || memory) : text_of(comparison));
  return step || memory ? outside_tolerance : ok;
}

}  // namespace

int run_compare(const Words& words, const Console& console) {
  std::string predicted, measured, format, output;
  Tolerances limits;
  const auto app = make_app(
      "compare", "Lays a measured trace over a predicted one: step time, bubble, memory, error by kind of operation.",
      {{"compare predicted.sgt measured.sgt", ""},
       {"compare predicted.sgt measured.sgt --step 0.05 --bubble 0.03", "exit code 5 if either is missed"},
       {"compare predicted.sgt profiles/",
        "files of torch.profiler with the PP: names of torch.distributed.pipelining"},
       {"compare predicted.sgt run.json", "a record that `observe` wrote from a training log"}});
  app->add_option("PREDICTED", predicted, "A trace in the native format, as `simulate --trace` writes it")->required();
  app->add_option("MEASURED", measured,
                  "A trace in the native format, as `execute --trace` writes it, a folder of "
                  "torch.profiler's files, one per rank, or a record (.json) as `observe` writes it")
      ->required();
  app->add_option("--step", limits.step, "Largest error of the step time, as a fraction")
      ->check(number_between(0, 1e6));
  app->add_option("--bubble", limits.bubble, "Largest difference of the bubble fractions")->check(number_between(0, 1));
  app->add_option("--memory", limits.memory, "Largest error of a rank's peak memory, as a fraction")
      ->check(number_between(0, 1e6));
  add_format(*app, format, {"text", "json"});
  add_output(*app, output);
  if (const auto help = parse(*app, words)) return console.print(*help), ok;
  keep_apart({predicted, measured}, {{"--output", output}});
  if (is_record(measured)) return run_against_record(predicted, measured, limits, format, output, console);
  const Trace as_measured = read_any(measured);
  Trace as_predicted = read_trace(predicted);
  const std::int32_t devices = shared_devices(as_measured);
  if (devices > 0) as_predicted = share_devices(as_predicted, devices);
  Alignment alignment = align(as_predicted, as_measured);
  check_comparable(alignment, limits, measured);
  Judged judged = judge(std::move(alignment), limits);
  judged.shared_devices = devices;
  write_output(console, output, format == "json" ? json_of(judged) : text_of(judged));
  return judged.outside ? outside_tolerance : ok;
}

}  // namespace stagecraft::cli
