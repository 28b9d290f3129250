#include "command_line.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "base/input_error.hpp"

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
  if (at == std::string::npos) return "";
  const std::string word = message.substr(at, message.find_first_of(" =,", at) - at);
  std::vector<std::string> known;
  for (const CLI::Option* option : app.get_options()) {
    for (const std::string& name : option->get_lnames()) known.push_back("--" + name);
  }
  const std::string nearest = nearest_word(word, known);
  return nearest.empty() || nearest == word ? "" : fmt::format("; did you mean {}?", nearest);
}

}  // namespace

std::unique_ptr<CLI::App> make_app(const std::string& verb, const std::string& summary, std::vector<Example> examples) {
  auto app = std::make_unique<CLI::App>(summary, "stagecraft " + verb);
  app->formatter(std::make_shared<HelpFormatter>(std::move(examples)));
  return app;
}

std::optional<std::string> parse(CLI::App& app, std::vector<std::string> words) {
  try {
    std::reverse(words.begin(), words.end());
    app.parse(std::move(words));
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
