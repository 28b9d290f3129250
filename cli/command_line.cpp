#include "command_line.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>

#include "base/file_io.hpp"
#include "base/input_error.hpp"
#include "base/number_text.hpp"

namespace stagecraft::cli {
namespace {

/// Examples first, then usage and options.
class HelpFormatter : public CLI::Formatter {
 public:
  explicit HelpFormatter(std::vector<Example> examples) : examples_(std::move(examples)) {
    column_width(34);
    label("TEXT", "TEXT");
    label("REQUIRED", "");
  }

  std::string make_help(const CLI::App* app, std::string name, CLI::AppFormatMode mode) const override {
    std::string out = app->get_description() + "\n\nExamples:\n";
    for (const Example& example : examples_) {
      out += fmt::format("  stagecraft {}\n", example.command);
      if (*example.meaning != '\0') out += fmt::format("      {}\n", example.meaning);
    }
    CLI::App* const quiet = const_cast<CLI::App*>(app);
    const std::string description = app->get_description();
    quiet->description("");
    out += "\n";
    out += CLI::Formatter::make_help(app, std::move(name), mode);
    quiet->description(description);
    return out;
  }

 private:
  std::vector<Example> examples_;
};

/// The option that an unexpected word was probably meant to be.
std::string suggestion(const CLI::App& app, const std::string& message) {
  const std::size_t at = message.find("--");
  if (at == std::string::npos || message.find("not expected") == std::string::npos) return "";
  const std::string word = message.substr(at, message.find_first_of(" =,", at) - at);
  std::vector<std::string> known;
  for (const CLI::Option* option : app.get_options()) {
    for (const std::string& name : option->get_lnames()) known.push_back("--" + name);
  }
  const std::string nearest = nearest_word(word, known);
  return nearest.empty() || nearest == word ? "" : fmt::format("; did you mean {}?", nearest);
}

/// "" would count as not given, so an option with it would do nothing.
void refuse_empty_values(const CLI::App& app) {
  for (const CLI::Option* option : app.get_options()) {
    const auto& values = option->results();
    if (std::find(values.begin(), values.end(), "") != values.end())
      throw UsageError(
          fmt::format("{}: got \"\", expected a value\n  see: {} --help", option->get_name(), app.get_name()));
  }
}

/// Whether it is, or would become, a regular file: a device or a pipe takes several outputs one after the other.
bool is_ordinary_place(const std::string& path) {
  std::error_code ignored;
  const auto status = std::filesystem::status(path, ignored);
  return !std::filesystem::exists(status) || std::filesystem::is_regular_file(status);
}

}  // namespace

CLI::Validator number_between(double least, double most) {
  CLI::Validator validator;
  validator.operation([least, most](std::string& text) { return refuse_number(text, least, most); });
  return validator;
}

void keep_apart(const std::vector<std::string>& read, const std::vector<Written>& written) {
  const auto same = [](const std::string& a, const std::string& b) {
    const bool given = !a.empty() && !b.empty();
    return given && (std::filesystem::path(a).lexically_normal() == std::filesystem::path(b).lexically_normal() ||
                     same_file(a, b));
  };
  for (std::size_t i = 0; i < written.size(); ++i) {
    for (std::size_t j = 0; j < i; ++j) {
      if (!is_ordinary_place(written[i].path) || !same(written[i].path, written[j].path)) continue;
      throw UsageError(
          fmt::format("{} and {} name the same file, {}", written[j].option, written[i].option, written[i].path));
    }
    for (const std::string& input : read) {
      if (!same(input, written[i].path)) continue;
      throw UsageError(fmt::format("{} would write over {}, which is read", written[i].option, written[i].path));
    }
  }
  for (const Written& each : written) {
    if (!each.path.empty()) check_can_write(each.path);
  }
}

std::string given_options(const CLI::App& app, const std::vector<std::string>& options) {
  std::vector<std::string> given;
  for (const std::string& name : options) {
    if (app.get_option(name)->count() > 0) given.push_back(name);
  }
  return fmt::format("{}", fmt::join(given, " and "));
}

void check_list_or_show(const char* verb, const std::string& action, const std::string& name) {
  if (action == "show" && name.empty())
    throw UsageError(fmt::format("{} show: which one? see: stagecraft {} list", verb, verb));
  if (action == "list" && !name.empty())
    throw UsageError(fmt::format("{} list takes no name; did you mean: {} show {}", verb, verb, name));
  if (action == "list" || action == "show") return;
  const std::string nearest = nearest_word(action, {"list", "show"});
  throw UsageError(fmt::format("{}: {} is neither list nor show; did you mean: {} {}", verb, action, verb,
                               nearest.empty() ? "show " + action : nearest + (name.empty() ? "" : " " + name)));
}

std::unique_ptr<CLI::App> make_app(const std::string& verb, const std::string& summary, std::vector<Example> examples) {
  auto app = std::make_unique<CLI::App>(summary, "stagecraft " + verb);
  app->formatter(std::make_shared<HelpFormatter>(std::move(examples)));
  return app;
}

std::optional<std::string> parse(CLI::App& app, std::vector<std::string> words) {
  try {
    std::reverse(words.begin(), words.end());
    app.parse(std::move(words));
    refuse_empty_values(app);
  } catch (const CLI::CallForHelp&) {
    return app.help();
  } catch (const CLI::ParseError& error) {
    throw UsageError(
        fmt::format("{}{}\n  see: {} --help", error.what(), suggestion(app, error.what()), app.get_name()));
  }
  return std::nullopt;
}

void add_overrides(CLI::App& app, std::vector<std::string>& overrides) {
  app.add_option("--set", overrides, "Override one value of the scenario, e.g. parallel.tensor=8; may be repeated")
      ->type_name("PATH=VALUE")
      ->allow_extra_args(false);
}

void add_format(CLI::App& app, std::string& format, const std::vector<std::string>& choices) {
  format = choices.front();
  CLI::IsMember one_of(choices);
  one_of.description("");
  app.add_option("--format", format, fmt::format("How to print it: {}; default {}", fmt::join(choices, ", "), format))
      ->type_name("NAME")
      ->check(one_of);
}

void add_output(CLI::App& app, std::string& path) {
  app.add_option("--output,-o", path, "Write to a file instead of standard output")->type_name("FILE");
}

}  // namespace stagecraft::cli
