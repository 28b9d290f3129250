// Fits constants of a profile to measured runs and writes the profile.

#include "validate/calibrate.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "base/file_io.hpp"
#include "base/input_error.hpp"
#include "command_line.hpp"
#include "exit_code.hpp"
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

}  // namespace

int run_calibrate(const Words& words, const Console& console) {
  std::string file, profile, group, output;
  std::vector<std::string> fit;
  const auto app = make_app(
      "calibrate", "Fits constants of a calibration to the step times of measured runs.",
      {{"calibrate my-runs.json --calibration a100-hgx+pytorch-2023 --fit ceiling --output mine.json",
        "a profile that extends the shipped one, for \"calibration\": \"mine.json\""},
       {"calibrate scenarios/records/published.json --calibration h100-ndr+megatron-2024 --fit gemm/fp8/ceiling",
        "constants, their intervals and the residuals, nothing written"}});
  app->add_option("FILE", file, "Records: a list of measured runs; see docs/validation.md")->required();
  app->add_option("--calibration", profile, "HARDWARE+SOFTWARE; only records that use both are fitted to")
      ->type_name("NAME")
      ->required();
  app->add_option("--group", group, "Only records of this group")->type_name("NAME");
  app->add_option("--fit", fit, "A constant by its name, or its last part; the fitted ones of the profile if left out")
      ->type_name("CONSTANT")
      ->allow_extra_args(false);
  add_output(*app, output);
  if (const auto help = parse(*app, words)) return console.print(*help), ok;
  keep_apart({file}, {{"--output", output}});

  const Library library = default_library(console.executable);
  const Calibration calibration = load_calibration(profile, library);
  CalibrateRequest request{calibration.name, group, chosen_constants(fit, calibration)};
  const FittedProfile fitted = calibrate(read_records(file), request, library);
  console.print(to_text(fitted));
  if (!output.empty()) write_file_whole(output, profile_json(fitted));
  return ok;
}

}  // namespace stagecraft::cli
