// What the executor measures on this machine beside what the simulator predicts of it from a profile of the same
// machine: two ranks pinned to two cores, five interleaved runs, medians. Steps and repetitions of the profile stand in
// turn, so that a machine whose speed wanders is the same for both. And what the interpreter costs. Runs the programs
// as a user does; nothing else should run on these cores.

#include <fmt/core.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <stdexcept>
#include <string_view>

#include "figure.hpp"
#include "trace/native_format.hpp"

using namespace stagecraft;

namespace {

namespace fs = std::filesystem;

constexpr int rounds = 5;

struct Case {
  const char* name;
  const char* overrides;
};

// zb-1p is searched for; its table is written once, so that what is simulated is what is executed.
constexpr std::array cases = {Case{"1f1b", "--set schedule=1f1b"}, Case{"zb-1p", "--set schedule.csv={}/zb-1p.csv"},
                              Case{"tensor-2", "--set parallel.pipeline=1 --set parallel.tensor=2"}};

struct Round {
  double predicted_s = 0, measured_s = 0, step = 0, bubble = 0, memory = 0;  // the last three: errors
};

std::string run(const std::string& command) {
  std::FILE* const pipe = ::popen(command.c_str(), "r");
  if (pipe == nullptr) throw std::runtime_error("cannot start " + command);
  std::string out;
  std::array<char, 4096> buffer;
  for (std::size_t n = 0; (n = std::fread(buffer.data(), 1, buffer.size(), pipe)) > 0;) out.append(buffer.data(), n);
  const int status = ::pclose(pipe);
  if (status != 0) throw std::runtime_error(fmt::format("exit status {}: {}", status, command));
  return out;
}

double median(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  return values[values.size() / 2];
}

template <class Field>
double median_of(const std::vector<Round>& all, Field field) {
  std::vector<double> values;
  for (const Round& round : all) values.push_back(round.*field);
  return median(std::move(values));
}

class Runs {
 public:
  Runs(std::string program, std::string scenario)
      : program_(std::move(program)),
        scenario_(std::move(scenario)),
        folder_(fs::temp_directory_path() / fmt::format("stagecraft-bench-{}", ::getpid())) {
    fs::create_directories(folder_);
    run(program_ + " schedule zb-1p --stages 2 --micro-batches 8 --format csv --output " + file("zb-1p.csv"));
  }
  ~Runs() {
    std::error_code ignored;
    fs::remove_all(folder_, ignored);
  }

  Round one(const Case& one) const {
    const std::string profile = file("here.json"), predicted = file("predicted.sgt"), measured = file("measured.sgt");
    const std::string set = fmt::format(fmt::runtime(one.overrides), folder_.string());
    run(words("execute", set) + " --pin --warmup 2 --steps 12 --profile " + profile + " --trace " + measured +
        " >/dev/null");
    run(words("simulate", set) + " --set calibration=" + profile + " --trace " + predicted + " >/dev/null");
    const auto told = nlohmann::json::parse(run(program_ + " compare --format json " + predicted + " " + measured));
    Round round;
    round.predicted_s = told.at("predicted_step_time_s");
    round.measured_s = told.at("measured_step_time_s");
    round.step = round.predicted_s / round.measured_s - 1;
    round.bubble = told.at("bubble_fraction_difference");
    for (const auto& rank : told.at("memory")) {
      const double error = rank.at("error");
      if (std::abs(error) > std::abs(round.memory)) round.memory = error;
    }
    return round;
  }

  /// What a step takes beyond its operations on a lone rank, as a fraction of these; and their mean time.
  std::pair<double, double> overhead() const {
    const std::string measured = file("alone.sgt");
    run(words("execute",
              "--set parallel.pipeline=1 --set model.blocks=1 --set batch.micro=1 --set sequence_length=16 --set "
              "model.hidden=128 --set model.attention.head_dim=32 --set model.mlp.ffn_hidden=512") +
        " --in-process --pin --warmup 5 --steps 20 --trace " + measured + " >/dev/null");
    const Trace trace = read_trace(measured);
    double busy = 0, operations = 0;
    for (const Span& span : trace.spans) {
      busy += span.end_s - span.begin_s;
      operations += span.kind == OpKind::forward || span.kind == OpKind::backward ? 1 : 0;
    }
    return {(trace.end_s - trace.begin_s - busy) / busy, busy / operations};
  }

 private:
  std::string file(const char* name) const { return (folder_ / name).string(); }
  std::string words(const char* verb, const std::string& overrides) const {
    return fmt::format("{} {} {} {}", program_, verb, scenario_, overrides);
  }

  std::string program_, scenario_;
  fs::path folder_;
};

/// The part that the command line names (`--part zb-1p`), taken out of it; "" if none.
std::string take_part(int& argc, char** argv) {
  if (argc < 3 || std::string_view(argv[1]) != "--part") return "";
  const std::string part = argv[2];
  for (int i = 3; i <= argc; ++i) argv[i - 2] = argv[i];  // the null pointer behind the last one too
  argc -= 2;
  const bool known =
      part == "overhead" || std::any_of(cases.begin(), cases.end(), [&](const Case& one) { return part == one.name; });
  if (!known) throw std::invalid_argument("bench executor: no part " + part + " (1f1b, zb-1p, tensor-2, overhead)");
  return part;
}

void print_case(const std::string& name, const std::vector<Round>& all, bool json) {
  const double predicted = median_of(all, &Round::predicted_s), measured = median_of(all, &Round::measured_s);
  bench::print({name + "/step-time", 1e3 * measured, "ms", 1e3 * predicted, "predicted"}, json);
  bench::print({name + "/step-time-error", 100 * std::abs(median_of(all, &Round::step)), "%", 5.0, "limit"}, json);
  bench::print({name + "/bubble-error", std::abs(median_of(all, &Round::bubble)), "", 0.03, "limit"}, json);
  bench::print({name + "/peak-memory-error", 100 * std::abs(median_of(all, &Round::memory)), "%", 3.0, "limit"}, json);
}

}  // namespace

int main(int argc, char** argv) {
  const std::string part = take_part(argc, argv);
  const bool json = bench::wants_json(argc, argv);
  const fs::path folder = fs::read_symlink("/proc/self/exe").parent_path();
  if (!fs::exists(folder / "stagecraft-exec") || !fs::exists(folder / "stagecraft")) {
    fmt::print(stderr,
               "bench executor: stagecraft and stagecraft-exec are not built beside this program (tools/test)\n");
    return 1;
  }
  const Runs runs((folder / "stagecraft").string(), STAGECRAFT_SOURCE_DIR "/scenarios/tiny-gpt-2cores.json");
  std::array<std::vector<Round>, cases.size()> all;
  for (int round = 0; round < rounds; ++round) {
    for (std::size_t i = 0; i < cases.size(); ++i) {
      if (part.empty() || part == cases[i].name) all[i].push_back(runs.one(cases[i]));
    }
  }
  for (std::size_t i = 0; i < cases.size(); ++i) {
    if (!all[i].empty()) print_case(std::string("executor/") + cases[i].name, all[i], json);
  }
  if (!part.empty() && part != "overhead") return 0;
  const auto [share, operation_s] = runs.overhead();
  bench::print({"executor/interpreter-overhead", 100 * share, "%", 2.0, "limit"}, json);
  bench::print({"executor/interpreter-overhead/operation", 1e3 * operation_s, "ms", 1.0, "where the limit holds"},
               json);
}
