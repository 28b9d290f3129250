#pragma once
// What the command lines of all verbs have in common: help that leads with examples, errors that name the nearest
// option.

#include <CLI/CLI.hpp>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <vector>

#include "console.hpp"

namespace stagecraft::cli {

/// A command line that makes no sense; exit code 2.
class UsageError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

struct Example {
  const char* command;  // without the program's name
  const char* meaning;
};

/// An empty command line for "stagecraft VERB".
std::unique_ptr<CLI::App> make_app(const std::string& verb, const std::string& summary, std::vector<Example> examples);

/// Parses `words` (what follows the verb). Returns the text to print if help was asked for. Throws UsageError.
std::optional<std::string> parse(CLI::App& app, std::vector<std::string> words);

/// `--set PATH=VALUE`, any number of times, one value each.
void add_overrides(CLI::App& app, std::vector<std::string>& overrides);

/// `--format`, one of `choices`; the first is the default.
void add_format(CLI::App& app, std::string& format, const std::vector<std::string>& choices);

void add_output(CLI::App& app, std::string& path);

}  // namespace stagecraft::cli
