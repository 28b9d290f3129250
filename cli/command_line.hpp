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

/// A check for options: a number, finite and within the bounds (CLI::Range lets "nan" pass).
CLI::Validator number_between(double least, double most);

/// Nothing that is read may be written over, nor a file be written twice. Paths that are "" count as not given. Throws
/// UsageError; `option` is how the command line names a place to write to, as in "--output".
struct Written {
  const char* option;
  std::string path;
};
void keep_apart(const std::vector<std::string>& read, const std::vector<Written>& written);

/// Names of options among `options` that the command line gives, "--stages and --send"; "" if none.
std::string given_options(const CLI::App& app, const std::vector<std::string>& options);

/// The arguments of a verb with the actions "list" and "show NAME". Throws UsageError that says what was meant.
void check_list_or_show(const char* verb, const std::string& action, const std::string& name);

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
