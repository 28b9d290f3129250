#include "spec/library.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <set>

#include "base/file_io.hpp"

namespace stagecraft {
namespace {

namespace fs = std::filesystem;

std::string found_in(const Library& library, const std::string& kind, const std::string& name) {
  for (const std::string& directory : library.directories) {
    const std::string path = (fs::path(directory) / kind / (name + ".json")).string();
    if (file_exists(path)) return path;
  }
  return "";
}

std::string kind_word(const std::string& kind) {  // "models" -> "model"
  return kind.ends_with("s") ? kind.substr(0, kind.size() - 1) : kind;
}

std::string expectation(const std::string& kind) {
  return fmt::format("the name of a {} of the library or the path of a .json file", kind_word(kind));
}

std::string quoted(const std::string& word) {
  return word.empty() ? "" : fmt::format("\"{}\"", word);
}

}  // namespace

bool is_path(const std::string& name_or_path) {
  return name_or_path.find('/') != std::string::npos || name_or_path.ends_with(".json");
}

std::string beside(const JsonNode& node, const std::string& path) {
  if (fs::path(path).is_absolute() || node.file() == "--set") return path;
  return (fs::path(node.file()).parent_path() / path).string();
}

std::string locate(const JsonNode& node, const std::string& kind, const Library& library) {
  if (!node.is(JsonKind::string) || node.raw_string().empty() || node.raw_string().find('\0') != std::string_view::npos)
    node.fail(expectation(kind));
  const std::string name(node.raw_string());
  if (is_path(name)) {
    std::string path = beside(node, name);
    if (!file_exists(path)) node.fail("a file that exists", "", fmt::format("no file \"{}\"", path));
    return path;
  }
  std::string path = found_in(library, kind, name);
  if (path.empty()) {
    const std::vector<std::string> names = names_of(kind, library);
    node.fail(expectation(kind), quoted(nearest_word(name, names)),
              fmt::format("the unknown {} \"{}\"", kind_word(kind), name));
  }
  return path;
}

std::string locate(const std::string& name_or_path, const std::string& kind, const Library& library) {
  if (is_path(name_or_path)) return name_or_path;
  std::string path = found_in(library, kind, name_or_path);
  if (path.empty())
    throw InputError(InputProblem{"", 0, 0, "", fmt::format("the unknown {} \"{}\"", kind_word(kind), name_or_path),
                                  expectation(kind), quoted(nearest_word(name_or_path, names_of(kind, library)))});
  return path;
}

std::vector<std::string> names_of(const std::string& kind, const Library& library) {
  std::set<std::string> names;
  for (const std::string& directory : library.directories) {
    std::error_code error;
    for (fs::directory_iterator entry(fs::path(directory) / kind, error), end; !error && entry != end;
         entry.increment(error))
      if (entry->path().extension() == ".json") names.insert(entry->path().stem().string());
  }
  return {names.begin(), names.end()};
}

std::vector<std::string> model_names(const Library& library) {
  return names_of("models", library);
}
std::vector<std::string> cluster_names(const Library& library) {
  return names_of("clusters", library);
}

Library default_library(const std::string& executable_path) {
  std::vector<fs::path> roots;
  std::error_code ignored;
  if (const char* data = std::getenv("STAGECRAFT_DATA"); data != nullptr && *data != '\0') {
    roots.emplace_back(data);
    if (!fs::is_directory(roots.back() / "scenarios", ignored) &&
        !fs::is_directory(roots.back() / "topologies", ignored))
      throw InputError(InputProblem{"STAGECRAFT_DATA", 0, 0, "",
                                    fmt::format("\"{}\"", std::string(data).substr(0, 200)),
                                    "a directory with scenarios/ or topologies/ in it", ""});
  }
  const fs::path executable = fs::weakly_canonical(executable_path, ignored);
  if (!executable.empty()) roots.push_back(executable.parent_path().parent_path() / "share" / "stagecraft");
  roots.emplace_back(STAGECRAFT_SOURCE_TREE);
  Library library;
  for (const fs::path& root : roots)
    for (const char* part : {"scenarios", "topologies"})
      if (fs::is_directory(root / part, ignored)) library.directories.push_back((root / part).string());
  return library;
}

}  // namespace stagecraft
