#include "report/explain.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <cctype>
#include <cmath>
#include <nlohmann/json.hpp>

#include "base/input_error.hpp"
#include "report/formats.hpp"
#include "report/keys.hpp"
#include "report/number_text.hpp"

namespace stagecraft {
namespace {

using Json = nlohmann::ordered_json;
constexpr std::size_t most_values = 8;

std::vector<std::string> parts_of(const std::string& path) {
  std::vector<std::string> parts(1);
  for (const char c : path) {
    if (c == '.') {
      parts.emplace_back();
    } else {
      parts.back() += c;
    }
  }
  return parts;
}

bool is_number(const std::string& text) {
  return !text.empty() && text.size() < 9 &&
         std::all_of(text.begin(), text.end(), [](unsigned char c) { return std::isdigit(c); });
}

/// "stages[3].fits" is the same as "stages.3.fits".
std::string with_dots(const std::string& key) {
  std::string dotted;
  for (std::size_t i = 0; i < key.size(); ++i) {
    const std::size_t close = key[i] == '[' ? key.find(']', i) : std::string::npos;
    if (close != std::string::npos && is_number(key.substr(i + 1, close - i - 1))) {
      dotted += '.' + key.substr(i + 1, close - i - 1);
      i = close;
    } else {
      dotted += key[i];
    }
  }
  return dotted;
}

/// "stages.3.fits" -> "stages[].fits", the form of the table.
std::string pattern_of(const std::string& key) {
  std::string pattern;
  for (const std::string& part : parts_of(key)) {
    if (is_number(part) && !pattern.empty()) {
      pattern += "[]";
    } else {
      if (!pattern.empty()) pattern += '.';
      pattern += part;
    }
  }
  return pattern;
}

ReportKey find(const std::string& key) {
  const std::string pattern = pattern_of(key);
  std::vector<std::string> paths;
  for (const ReportKey& known : report_keys()) {
    if (known.path == pattern) return known;
    paths.push_back(known.path);
  }
  throw InputError(InputProblem{"explain", 0, 0, "", key, "a key of the report; `stagecraft explain` lists them",
                                nearest_word(pattern, paths)});
}

std::string number(double value) {
  const bool whole = value == std::floor(value) && std::abs(value) < 1e7;
  return whole ? fmt::format("{:.0f}", value) : fmt::format("{:.6g}", value);
}

std::string shown(const Json& value) {
  if (value.is_string()) return value.get<std::string>();
  return value.is_number() ? number(value.get<double>()) : value.dump();
}

/// The values at `path`; "[]" takes every entry, a number that entry.
void collect(const Json& at, const std::vector<std::string>& parts, std::size_t depth, std::vector<std::string>& out) {
  if (depth == parts.size()) return out.push_back(shown(at));
  std::string name = parts[depth];
  const bool every = name.ends_with("[]");
  if (every) name.resize(name.size() - 2);
  const Json* inner = nullptr;
  if (at.is_object() && at.contains(name)) inner = &at.at(name);
  if (at.is_array() && is_number(name) && std::stoul(name) < at.size()) inner = &at.at(std::stoul(name));
  if (inner == nullptr) return;
  if (!every) return collect(*inner, parts, depth + 1, out);
  for (const Json& entry : *inner) collect(entry, parts, depth + 1, out);
}

/// A key that names an entry beyond the end of its list.
void refuse_missing_entry(const Json& root, const std::string& key) {
  const Json* at = &root;
  std::string path;
  for (const std::string& part : parts_of(key)) {
    path += (path.empty() ? "" : ".") + part;
    if (at->is_array() && is_number(part)) {
      if (std::stoul(part) >= at->size()) {
        const std::string last = std::to_string(at->size() - 1);
        throw InputError(InputProblem{
            "explain", 0, 0, "", path,
            at->empty() ? "another key: this list is empty" : fmt::format("an entry of the list, 0 to {}", last),
            at->empty() ? "" : last});
      }
      at = &at->at(std::stoul(part));
    } else if (at->is_object() && at->contains(part)) {
      at = &at->at(part);
    } else {
      return;
    }
  }
}

std::string values_at(const Json& root, const std::string& path) {
  std::vector<std::string> values;
  collect(root, parts_of(path), 0, values);
  if (values.empty()) return "none";
  std::string text;
  for (std::size_t i = 0; i < std::min(values.size(), most_values); ++i)
    text += fmt::format("{}{}", i == 0 ? "" : ", ", values[i]);
  return values.size() > most_values ? text + fmt::format(", ... ({} in all)", values.size()) : text;
}

/// An input of "stages.3.x" that is written "stages[].y" is meant of the same entry.
std::string of_same_entry(const std::string& input, const std::string& key) {
  const std::vector<std::string> parts = parts_of(key);
  const bool one = parts.size() > 1 && is_number(parts[1]) && input.starts_with(parts[0] + "[].");
  return one ? parts[0] + "." + parts[1] + input.substr(parts[0].size() + 2) : input;
}

Explanation pieces_of(const std::string& wanted, const Json* root) {
  Explanation out;
  out.key = with_dots(wanted);
  const ReportKey entry = find(out.key);
  out.meaning = entry.meaning;
  out.formula = entry.formula;
  if (root != nullptr) {
    refuse_missing_entry(*root, out.key);
    out.value = values_at(*root, out.key);
    std::vector<std::string> low;
    collect(*root, parts_of(out.key + "_low"), 0, low);
    if (low.size() == 1) {
      out.low = low[0];
      out.high = values_at(*root, out.key + "_high");
      out.evidence = values_at(*root, out.key + "_evidence");
    }
    out.source =
        fmt::format("{} run of {} by {}, calibration {}", root->at("kind").get<std::string>(),
                    root->at("scenario").at("file").get<std::string>(), root->at("producer").get<std::string>(),
                    root->at("calibration").at("name").get<std::string>());
  }
  for (const std::string& input : entry.inputs) {
    const std::string path = of_same_entry(input, out.key);
    const ReportKey source = find(path);
    out.inputs.push_back(
        {path, origin_of(source), root == nullptr ? std::string() : values_at(*root, path), source.meaning});
  }
  return out;
}

std::string text_of(const Explanation& about) {
  std::string out = about.key;
  const bool of_report = !about.source.empty();
  if (of_report) out += fmt::format(" = {}", about.value);
  if (!about.low.empty()) out += fmt::format("   ({} to {}, {})", about.low, about.high, about.evidence);
  out += fmt::format("\n  {}\n", wrapped(about.meaning, 96, 2));
  if (!about.formula.empty()) out += fmt::format("  formula: {}\n", wrapped(about.formula, 87, 11));
  for (const ExplainedInput& input : about.inputs) {
    const std::string value = of_report ? input.value + "  " : "";
    out +=
        fmt::format("    {} {:<12}{}\n", padded(input.path, 42), input.origin, wrapped(value + input.meaning, 40, 59));
  }
  if (of_report) out += fmt::format("  source: {}\n", about.source);
  return out;
}

}  // namespace

std::vector<std::string> explainable_keys() {
  std::vector<std::string> paths;
  for (const ReportKey& key : report_keys()) paths.push_back(key.path);
  return paths;
}

std::string explain(const std::string& key) {
  return text_of(pieces_of(key, nullptr));
}

std::string explain(const std::string& key, const Report& report) {
  return text_of(explanation(key, report));
}

Explanation explanation(const std::string& key, const Report& report) {
  const Json root = Json::parse(to_json(report));
  return pieces_of(key, &root);
}

}  // namespace stagecraft
