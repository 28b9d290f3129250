#include "spec/read_placement.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <string_view>

#include "base/file_io.hpp"
#include "base/input_error.hpp"
#include "base/lines.hpp"
#include "spec/library.hpp"
#include "spec/words.hpp"

namespace stagecraft {
namespace {

constexpr std::size_t most_bytes = std::size_t{32} << 20;  // a million ranks with room for comments

std::array<ParallelAxis, 4> read_order(const JsonNode& node) {
  const auto order = parse_order(read_string(node));
  if (!order) {
    node.fail("the axes tensor, context, data and pipeline, each once and joined by \"-\", innermost first",
              to_text(PlacementSpec{}));
  }
  return *order;
}

/// A whole number at the front of `text`, which loses it.
bool take_number(std::string_view& text, std::int64_t& number) {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || number < 0) return false;
  text.remove_prefix(static_cast<std::size_t>(end - text.data()));
  return true;
}

std::string_view trimmed(std::string_view line) {
  line = line.substr(0, line.find('#'));
  const std::size_t first = line.find_first_not_of(" \t\r");
  if (first == std::string_view::npos) return {};
  return line.substr(first, line.find_last_not_of(" \t\r") - first + 1);
}

std::vector<PlacementSpec::Place> read_rank_file(const std::string& path) {
  const std::string text = read_file(path, most_bytes);
  std::vector<PlacementSpec::Place> places;
  for_each_line(text, [&](std::string_view written, int number) {
    const std::string_view line = trimmed(written);
    if (line.empty()) return;
    std::string_view rest = line;
    PlacementSpec::Place place;
    const bool good = take_number(rest, place.node) && rest.starts_with(':') && (rest.remove_prefix(1), true) &&
                      take_number(rest, place.gpu) && rest.empty();
    if (!good) {
      throw InputError({path, number, 0, "", fmt::format("\"{:.40}\"", line), "NODE:GPU, both counted from 0", "0:0"});
    }
    places.push_back(place);
  });
  if (places.empty()) throw InputError({path, 0, 0, "", "no line", "a line NODE:GPU for each rank", "0:0"});
  return places;
}

}  // namespace

PlacementSpec read_placement(const JsonNode& node, Reading& reading) {
  PlacementSpec placement;
  if (!node.is(JsonKind::object)) {
    placement.order = read_order(node);
    return placement;
  }
  ObjectReader fields(node, "/parallel/placement", reading);
  fields.required("rank_file", placement.rank_file, [](const JsonNode& value) {
    const std::string path = beside(value, read_nonempty_string(value));
    if (!file_exists(path)) value.fail("a file that exists", "", fmt::format("no file \"{}\"", path));
    return path;
  });
  fields.finish();
  if (!placement.rank_file.empty()) placement.places = read_rank_file(placement.rank_file);
  return placement;
}

std::optional<std::array<ParallelAxis, 4>> parse_order(std::string_view text) {
  std::array<ParallelAxis, 4> order{};
  std::array<bool, 4> seen{};
  for (std::size_t i = 0; i < order.size(); ++i) {
    const std::size_t end = std::min(text.find('-'), text.size());
    const auto found = std::find_if(parallel_axis_words.begin(), parallel_axis_words.end(),
                                    [&](const auto& word) { return text.substr(0, end) == word.second; });
    if (found == parallel_axis_words.end()) return std::nullopt;
    bool& used = seen[static_cast<std::size_t>(found->first)];
    if (used) return std::nullopt;
    used = true;
    order[i] = found->first;
    const bool last = i + 1 == order.size();
    if (last != (end == text.size())) return std::nullopt;
    if (!last) text.remove_prefix(end + 1);
  }
  return order;
}

std::string to_text(const PlacementSpec& placement) {
  if (!placement.rank_file.empty()) return placement.rank_file;
  std::string text;
  for (const ParallelAxis axis : placement.order) {
    if (!text.empty()) text += '-';
    for (const auto& [each, name] : parallel_axis_words) {
      if (each == axis) text += name;
    }
  }
  return text;
}

}  // namespace stagecraft
