// YAML by yaml-cpp (Debian: libyaml-cpp-dev), where it was found.

#include "exchange/foreign_config.hpp"

#ifdef STAGECRAFT_HAVE_YAML
#include <yaml-cpp/yaml.h>
#endif

namespace stagecraft {

#ifdef STAGECRAFT_HAVE_YAML
namespace {

constexpr int deepest = 16;

void flatten(const YAML::Node& node, const std::string& prefix, int depth, ForeignConfig& config) {
  if (depth > deepest) {
    throw InputError({config.file(), node.Mark().line + 1, 0, prefix, "a deeper level", "at most 16 levels", ""});
  }
  for (const auto& member : node) {
    if (!member.first.IsScalar()) continue;
    const std::string key = prefix.empty() ? member.first.Scalar() : prefix + "." + member.first.Scalar();
    const YAML::Node& value = member.second;
    if (value.IsMap()) {
      flatten(value, key, depth + 1, config);
      continue;
    }
    ForeignValue entry;
    entry.line = value.Mark().line + 1;
    if (value.IsScalar()) {
      entry.kind = value.Scalar() == "null" || value.Scalar() == "~" ? ForeignKind::null : ForeignKind::string;
      entry.text = value.Scalar();
    } else if (value.IsSequence()) {
      entry.kind = ForeignKind::list;
      for (const auto& element : value) {
        if (element.IsScalar()) entry.text += (entry.text.empty() ? "" : " ") + element.Scalar();
      }
    }
    config.set(key, entry);
  }
}

/// Aliases can make a small text endlessly large.
bool has_alias(std::string_view text) {
  for (std::size_t i = 0; i + 1 < text.size(); ++i) {
    const bool starts = i == 0 || text[i - 1] == ' ' || text[i - 1] == '\n' || text[i - 1] == '[' || text[i - 1] == ',';
    if (starts && text[i] == '*' && text[i + 1] != ' ') return true;
  }
  return false;
}

}  // namespace

ForeignConfig foreign_from_yaml(std::string_view text, const std::string& file) {
  ForeignConfig config(file);
  if (text.size() > largest_foreign_text || has_alias(text) || nests_too_deep(text)) {
    throw InputError(
        {file, 0, 0, "", "a YAML text with aliases, deep nesting or of more than 1 MiB", "a plain configuration", ""});
  }
  try {
    const YAML::Node root = YAML::Load(std::string(text));
    if (!root.IsMap()) throw InputError({file, 1, 0, "", "no mapping", "keys and values", ""});
    flatten(root, "", 0, config);
  } catch (const YAML::Exception& error) {
    throw InputError({file, error.mark.line + 1, error.mark.column + 1, "", error.msg, "YAML", ""});
  }
  return config;
}
#else
ForeignConfig foreign_from_yaml(std::string_view, const std::string& file) {
  throw InputError({file, 0, 0, "", "YAML", "another form: this program was built without yaml-cpp", ""});
}
#endif

}  // namespace stagecraft
