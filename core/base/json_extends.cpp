// Chains of "extends", and --set.

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <utility>

#include "base/json_merge.hpp"
#include "base/json_tree.hpp"

namespace stagecraft {
namespace {

using Locate = std::function<std::string(const JsonNode&)>;

constexpr std::size_t longest_chain = 32;

std::string canonical(const std::string& path) {
  std::error_code ignored;
  const std::filesystem::path found = std::filesystem::weakly_canonical(path, ignored);
  return found.empty() ? path : found.string();
}

std::string shown(const std::vector<std::string>& chain) {
  std::string text;
  for (const std::string& path : chain) text += (text.empty() ? "" : " -> ") + path;
  return text;
}

JsonDocument load_chain(const std::string& path, const Locate& locate, const std::vector<ShortForm>& forms,
                        std::vector<std::string> chain);

// `chain` holds the files that led here.
JsonDocument resolve(const JsonNode& node, const Locate& locate, const std::vector<ShortForm>& forms,
                     std::vector<std::string> chain) {
  const std::optional<JsonNode> extends = node.is(JsonKind::object) ? node.find("extends") : std::nullopt;
  if (!extends && !node.is(JsonKind::string)) return copy_of(node);
  const JsonNode& name = extends ? *extends : node;
  if (!name.is(JsonKind::string)) name.fail("a string that names what is extended");
  const std::string base = locate(name);
  const std::string base_path = canonical(base);
  const bool cyclic =
      std::any_of(chain.begin(), chain.end(), [&](const std::string& file) { return canonical(file) == base_path; });
  if (cyclic) {
    chain.push_back(base);
    name.fail("a chain of \"extends\" that ends", "", fmt::format("the cycle {}", shown(chain)));
  }
  if (chain.size() >= longest_chain)
    name.fail(fmt::format("at most {} files that extend each other", longest_chain), "", "a longer chain");
  JsonDocument below = load_chain(base, locate, forms, chain);
  if (!extends) return below;
  const JsonDocument above = copy_of(node, {"extends"});
  return merge(below.root(), above.root(), forms);
}

JsonDocument load_chain(const std::string& path, const Locate& locate, const std::vector<ShortForm>& forms,
                        std::vector<std::string> chain) {
  const JsonDocument document = JsonDocument::from_file(path);
  if (!document.root().is(JsonKind::object)) document.root().fail("an object");
  chain.push_back(path);
  return resolve(document.root(), locate, forms, std::move(chain));
}

// "a[2].b" is "a.2.b".
std::string with_dots(const std::string& path) {
  std::string out;
  for (std::size_t i = 0; i < path.size(); ++i) {
    const std::size_t end = path[i] == '[' ? path.find_first_not_of("0123456789", i + 1) : std::string::npos;
    if (end == std::string::npos || path[end] != ']' || end == i + 1) {
      out += path[i];
      continue;
    }
    out += '.' + path.substr(i + 1, end - i - 1);
    i = end;
  }
  return out;
}

// "/a/b~1c", "a.b" or "a[2].b" as keys.
std::vector<std::string> path_keys(const std::string& written) {
  const bool pointer = written.starts_with("/");
  const std::string path = pointer ? written : with_dots(written);
  std::vector<std::string> keys(1);
  for (std::size_t i = pointer ? 1 : 0; i < path.size(); ++i) {
    if (path[i] == (pointer ? '/' : '.')) {
      keys.emplace_back();
    } else if (pointer && path[i] == '~' && i + 1 < path.size() && (path[i + 1] == '0' || path[i + 1] == '1')) {
      keys.back() += path[++i] == '0' ? '~' : '/';
    } else {
      keys.back() += path[i];
    }
  }
  return keys;
}

void put(JsonTree& tree, JsonKind kind, std::int32_t parent, const std::string& key) {
  JsonValue value;
  value.kind = kind;
  value.parent = parent;
  value.key = tree.keep(key);
  tree.values.push_back(value);
}

JsonDocument value_of(const std::string& text) {
  constexpr const char* origin = "--set";
  const std::size_t first = text.find_first_not_of(' ');
  const bool must_be_json = first != std::string::npos && std::string("{[\"").find(text[first]) != std::string::npos;
  try {
    return JsonDocument::from_text(text, origin);
  } catch (const InputError&) {
    if (must_be_json) throw;
  }
  auto tree = std::make_unique<JsonTree>();
  tree->origins.push_back({origin, ""});
  put(*tree, JsonKind::string, -1, "");
  tree->values.front().text = tree->keep(text);
  tree->values.front().end = 1;
  return JsonDocument(std::move(tree));
}

}  // namespace

JsonDocument load_extended(const std::string& path, const Locate& locate, const std::vector<ShortForm>& short_forms) {
  return load_chain(path, locate, short_forms, {});
}

JsonDocument load_extended(const JsonNode& node, const Locate& locate, const std::vector<ShortForm>& short_forms) {
  return resolve(node, locate, short_forms, {});
}

JsonDocument parse_override(const std::string& text) {
  const std::size_t equals = text.find('=');
  const std::vector<std::string> keys = path_keys(text.substr(0, equals));
  const bool complete = equals != std::string::npos && std::find(keys.begin(), keys.end(), "") == keys.end();
  if (!complete || keys.size() > static_cast<std::size_t>(json_deepest) / 2 || text.find('\0') != std::string::npos)
    throw InputError(InputProblem{"--set", 0, 0, "", fmt::format("\"{}\"", text.substr(0, 60)),
                                  "PATH=VALUE, such as parallel.tensor=8 or cluster.nodes=4", ""});
  const JsonDocument value = value_of(text.substr(equals + 1));

  auto tree = std::make_unique<JsonTree>();
  tree->origins.push_back({"--set", ""});
  for (std::size_t i = 0; i < keys.size(); ++i)
    put(*tree, JsonKind::object, static_cast<std::int32_t>(i) - 1, i == 0 ? "" : keys[i - 1]);
  const auto offset = static_cast<std::int32_t>(keys.size());
  const auto root = value.root();
  const JsonTree& source = root.tree();
  for (JsonValue copied : source.values) {
    copied.key = copied.parent < 0 ? tree->keep(keys.back()) : tree->keep(source.view(copied.key));
    if (copied.kind == JsonKind::string) copied.text = tree->keep(source.view(copied.text));
    copied.parent = copied.parent < 0 ? offset - 1 : copied.parent + offset;
    copied.end += offset;
    copied.line = 0;
    copied.column = 0;
    tree->values.push_back(copied);
  }
  for (std::int32_t i = 0; i < offset; ++i) tree->at(i).end = tree->next_index();
  return JsonDocument(std::move(tree));
}

}  // namespace stagecraft
