#include "report/schema.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "base/input_error.hpp"
#include "command_line.hpp"
#include "exit_code.hpp"
#include "report/keys.hpp"
#include "spec/scenario.hpp"
#include "spec/schema.hpp"
#include "verb.hpp"

namespace stagecraft::cli {
namespace {

std::vector<std::string> all_names() {
  const std::vector<std::string> of_input = schema_names();
  std::set<std::string> names(of_input.begin(), of_input.end());
  names.insert("report");
  return {names.begin(), names.end()};
}

std::string text_of(const std::string& name) {
  return name == "report" ? report_schema_text() : schema_text(name);
}

std::string table_of(const std::string& name) {
  return name == "report" ? report_keys_markdown() : schema_markdown(name);
}

}  // namespace

int run_schema(const Words& words, const Console& console) {
  std::string name, format, output;
  const auto app = make_app("schema", "Prints a JSON Schema (draft 7), or the names of all.",
                            {{"schema", "the names"},
                             {"schema scenario > scenario.schema.json",
                              "for \"$schema\" in your scenarios: editors then complete and underline"}});
  app->add_option("NAME", name, "Which schema");
  add_format(*app, format, {"json", "md"});
  add_output(*app, output);
  if (const auto help = parse(*app, words)) return console.print(*help), ok;

  const std::vector<std::string> names = all_names();
  if (name.empty()) {
    if (app->get_option("--format")->count() > 0)
      throw UsageError("schema: --format needs a NAME; see: stagecraft schema");
    std::string list;
    for (const std::string& known : names) list += known + "\n";
    return write_output(console, output, list), ok;
  }
  if (std::find(names.begin(), names.end(), name) == names.end()) {
    throw InputError(InputProblem{"schema", 0, 0, "", name, fmt::format("one of {}", fmt::join(names, ", ")),
                                  nearest_word(name, names)});
  }
  return write_output(console, output, format == "md" ? table_of(name) : text_of(name)), ok;
}

}  // namespace stagecraft::cli
