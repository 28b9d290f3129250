// TOML by toml11 (Debian: libtoml11-dev), where it was found.

#include "exchange/foreign_config.hpp"

#ifdef STAGECRAFT_HAVE_TOML
#include <nlohmann/json.hpp>
#include <sstream>
#include <toml.hpp>
#endif

namespace stagecraft {

#ifdef STAGECRAFT_HAVE_TOML
namespace {

constexpr int deepest = 16;

ForeignValue scalar(const toml::value& value) {
  ForeignValue entry;
  entry.line = static_cast<int>(value.location().line());
  if (value.is_string()) {
    entry.kind = ForeignKind::string;
    entry.text = value.as_string().str;
    return entry;
  }
  std::ostringstream text;
  text << value;
  entry.text = text.str();
  entry.kind = value.is_boolean()                          ? ForeignKind::boolean
               : value.is_integer() || value.is_floating() ? ForeignKind::number
                                                           : ForeignKind::list;
  return entry;
}

void flatten(const toml::table& table, const std::string& prefix, int depth, ForeignConfig& config) {
  if (depth > deepest) throw InputError({config.file(), 0, 0, prefix, "a deeper level", "at most 16 levels", ""});
  const std::map<std::string, toml::value> ordered(table.begin(), table.end());
  for (const auto& [name, value] : ordered) {
    const std::string key = prefix.empty() ? name : prefix + "." + name;
    if (value.is_table()) {
      flatten(value.as_table(), key, depth + 1, config);
    } else {
      config.set(key, scalar(value));
    }
  }
}

bool is_utf8(std::string_view text) {
  try {
    static_cast<void>(nlohmann::json(text).dump());  // which is strict
    return true;
  } catch (const nlohmann::json::type_error&) {
    return false;
  }
}

}  // namespace

ForeignConfig foreign_from_toml(std::string_view text, const std::string& file) {
  ForeignConfig config(file);
  if (text.size() > largest_foreign_text || nests_too_deep(text)) {
    throw InputError(
        {file, 0, 0, "", "a TOML text with deep nesting or of more than 1 MiB", "a plain configuration", ""});
  }
  // toml11 3.7 reads beyond the end of what is not.
  if (!is_utf8(text)) throw InputError({file, 0, 0, "", "text that is not UTF-8", "TOML, which is UTF-8", ""});
  try {
    std::istringstream stream{std::string(text)};
    const toml::value root = toml::parse(stream, file);
    if (root.is_table()) flatten(root.as_table(), "", 0, config);
  } catch (const toml::exception& error) {
    throw InputError({file, static_cast<int>(error.location().line()), 0, "", error.what(), "TOML", ""});
  } catch (const std::out_of_range& error) {
    throw InputError({file, 0, 0, "", error.what(), "TOML", ""});
  }
  return config;
}
#else
ForeignConfig foreign_from_toml(std::string_view, const std::string& file) {
  throw InputError({file, 0, 0, "", "TOML", "another form: this program was built without toml11", ""});
}
#endif

}  // namespace stagecraft
