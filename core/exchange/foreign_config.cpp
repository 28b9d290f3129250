#include "exchange/foreign_config.hpp"

#include <fmt/format.h>

#include <charconv>
#include <cmath>

namespace stagecraft {
namespace {

constexpr std::size_t most_keys = 65536;

std::vector<std::string> words_of(std::string_view text) {
  std::vector<std::string> words;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find(' '), text.size());
    if (end > 0) words.emplace_back(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return words;
}

std::optional<double> as_number(const std::string& text) {
  double value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc{} || end != text.data() + text.size() || !std::isfinite(value)) return std::nullopt;
  return value;
}

}  // namespace

void ForeignConfig::set(const std::string& key, ForeignValue value) {
  if (values_.size() >= most_keys) {
    throw InputError({file_, value.line, 0, "", fmt::format("more than {} keys", most_keys), "fewer keys", ""});
  }
  values_[key] = std::move(value);
}

std::optional<std::string> ForeignConfig::find(std::string_view keys) {
  std::optional<std::string> found;
  for (const std::string& key : words_of(keys)) {
    const auto at = values_.find(key);
    if (at == values_.end()) continue;
    taken_.insert(key);
    if (!found && at->second.kind != ForeignKind::null) found = key;
  }
  return found;
}

void ForeignConfig::refuse(const std::string& key, const std::string& expected, const std::string& nearest) const {
  const auto at = values_.find(key);
  const bool there = at != values_.end();
  throw InputError(
      {file_, there ? at->second.line : 0, 0, key, there ? at->second.text : "nothing", expected, nearest});
}

std::optional<std::int64_t> ForeignConfig::integer(std::string_view keys, std::int64_t least, std::int64_t most) {
  const auto key = find(keys);
  if (!key) return std::nullopt;
  const auto value = as_number(values_[*key].text);
  const bool whole = value && *value == std::floor(*value);
  if (!whole || *value < static_cast<double>(least) || *value > static_cast<double>(most)) {
    refuse(*key, fmt::format("an integer from {} to {}", least, most));
  }
  return static_cast<std::int64_t>(*value);
}

std::optional<double> ForeignConfig::number(std::string_view keys, double least, double most) {
  const auto key = find(keys);
  if (!key) return std::nullopt;
  const auto value = as_number(values_[*key].text);
  if (!value || *value < least || *value > most) refuse(*key, fmt::format("a number from {:g} to {:g}", least, most));
  return value;
}

std::optional<bool> ForeignConfig::flag(std::string_view keys) {
  const auto key = find(keys);
  if (!key) return std::nullopt;
  const std::string& text = values_[*key].text;
  if (text == "true" || text == "True" || text == "1" || text.empty()) return true;
  if (text == "false" || text == "False" || text == "0") return false;
  refuse(*key, "true or false");
}

std::optional<std::string> ForeignConfig::text(std::string_view keys) {
  const auto key = find(keys);
  if (!key) return std::nullopt;
  return values_[*key].text;
}

void ForeignConfig::ignore(std::string_view keys) {
  for (const std::string& key : words_of(keys)) taken_.insert(key);
}

std::vector<std::string> ForeignConfig::left() const {
  std::vector<std::string> left;
  for (const auto& [key, value] : values_) {
    if (taken_.find(key) == taken_.end()) left.push_back(fmt::format("{} = {}", key, value.text.substr(0, 80)));
  }
  return left;
}

}  // namespace stagecraft
