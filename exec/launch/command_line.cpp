#include "exec/launch/command_line.hpp"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <charconv>

#include "base/input_error.hpp"
#include "base/number_text.hpp"

namespace stagecraft {

namespace {

[[noreturn]] void refuse(const char* option, const std::string& got, const char* expected,
                         const std::string& nearest = "") {
  throw InputError(InputProblem{option, 0, 0, "", "\"" + got + "\"", expected, nearest});
}

bool read_number(std::string_view text, std::int32_t& value) {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  return error == std::errc() && end == text.data() + text.size() && value >= 0;
}

std::vector<std::string> split(const std::string& text) {
  std::vector<std::string> parts{""};
  for (const char letter : text) {
    if (letter == ':') {
      parts.emplace_back();
    } else {
      parts.back() += letter;
    }
  }
  return parts;
}

/// A number, finite and within the bounds (CLI::Range lets "nan" pass).
CLI::Validator number_between(double least, double most) {
  CLI::Validator validator;
  validator.operation([least, most](std::string& text) { return refuse_number(text, least, most); });
  return validator;
}

}  // namespace

Drill parse_drill(const std::string& text) {
  const std::vector<std::string> parts = split(text);
  Drill drill;
  if (parts.size() != 4 || !read_number(parts[1], drill.rank) || !read_number(parts[2], drill.step) ||
      !read_number(parts[3], drill.position)) {
    refuse("--drill", text, "KIND:RANK:STEP:POSITION, for example raise:1:0:7");
  }
  if (parts[0] == "raise") {
    drill.kind = Drill::Kind::raise;
  } else if (parts[0] == "stall") {
    drill.kind = Drill::Kind::stall;
  } else if (parts[0] == "stop") {
    drill.kind = Drill::Kind::stop;
  } else if (parts[0] == "die") {
    drill.kind = Drill::Kind::die;
  } else {
    refuse("--drill", text, "raise, stall, stop or die before the first colon",
           nearest_word(parts[0], {"raise", "stall", "stop", "die"}));
  }
  return drill;
}

at::Device parse_device(const std::string& text) {
  if (text == "cpu") return at::kCPU;
  if (text == "cuda") return {at::kCUDA, 0};
  std::int32_t index = 0;
  const std::vector<std::string> parts = split(text);
  if (parts.size() == 2 && parts[0] == "cuda" && read_number(parts[1], index) && index < 128) {
    return {at::kCUDA, static_cast<at::DeviceIndex>(index)};
  }
  refuse("--device", text, "cpu, cuda or cuda:N", nearest_word(text, {"cpu", "cuda"}));
}

void add_job_options(CLI::App& app, JobArguments& arguments) {
  ExecuteOptions& options = arguments.options;
  app.add_option("--scenario", arguments.scenario, "Scenario file")->required();
  app.add_option("--set", arguments.overrides, "PATH=VALUE, overrides a field of the scenario")
      ->allow_extra_args(false);
  app.add_option("--schedule", arguments.schedule, "Lowered schedule, as `stagecraft execute` and `bundle` write it")
      ->required();
  app.add_option("--schedule-hash", arguments.schedule_hash, "Hash that the schedule file must have");
  app.add_option("--expect-version", arguments.expected_version, "Version that this program must have");
  app.add_option("--steps", options.steps, "Measured steps")->check(number_between(1, 255));
  app.add_option("--warmup", options.warmup, "Steps before them that are not measured")
      ->check(number_between(0, 1000000));
  app.add_option("--seed", options.seed, "Seed of initial weights and synthetic tokens")
      ->check(number_between(0, 0x1p64));
  app.add_option("--data", options.data,
                 "Token file (16-bit little-endian, 32-bit if it ends in .u32) instead of synthetic tokens");
  app.add_option("--learning-rate", options.optimizer.learning_rate, "Of AdamW")->check(number_between(0, 1e6));
  app.add_option("--weight-decay", options.optimizer.weight_decay, "Of AdamW, for matrices")
      ->check(number_between(0, 1e6));
  app.add_option("--clip-norm", options.optimizer.clip_norm, "Largest global norm of the gradient; 0 does not clip")
      ->check(number_between(0, 1e12));
  app.add_option_function<std::string>(
      "--device", [&options](const std::string& text) { options.device = parse_device(text); }, "cpu, cuda or cuda:N");
  app.add_flag("--in-process", arguments.in_process, "Ranks as threads of one process");
  app.add_flag("--pin", arguments.pin, "Pin every rank to a core of its own");
  app.add_option("--timeout", arguments.timeout_s, "Seconds after which a wait ends the job")
      ->check(number_between(0.1, 86400));
  app.add_option("--trace", arguments.trace,
                 "Where the measured trace goes: Chrome JSON if it ends in .json, else native");
  app.add_option("--profile", arguments.profile, "Where a calibration goes that is measured in turn with the steps");
  app.add_flag("--json", arguments.json, "Results on standard output as JSON");
  app.add_option("--report-folder", arguments.report_folder, "Where ranks leave failure reports for their launcher");
  app.add_flag("--on-terminal", arguments.on_terminal, "Show progress in place: a terminal shows standard error");
  app.add_option_function<std::string>(
      "--drill", [&options](const std::string& text) { options.drill = parse_drill(text); },
      "Fault on purpose: raise, stall, stop or die, as KIND:RANK:STEP:POSITION");
}

}  // namespace stagecraft
