#include "spec/read_placement.hpp"

#include <fmt/format.h>

#include <charconv>
#include <string_view>

#include "base/file_io.hpp"
#include "base/input_error.hpp"
#include "spec/library.hpp"
#include "spec/words.hpp"

namespace stagecraft {
namespace {

constexpr std::size_t most_bytes = std::size_t{32} << 20;  // a million ranks with room for comments
constexpr const char* usual_order = "tensor-context-data-pipeline";

std::array<ParallelAxis, 4> read_order(const JsonNode& node) {
  const std::string text(read_string(node));
  const auto refuse = [&] {
    node.fail("the axes tensor, context, data and pipeline, each once and joined by \"-\", innermost first",
              usual_order);
  };
  std::array<ParallelAxis, 4> order{};
  std::array<bool, 4> seen{};
  std::size_t count = 0;
  std::string_view left = text;
  while (true) {
    const std::size_t dash = left.find('-');
    const std::string_view word = left.substr(0, dash);
    bool known = false;
    for (const auto& [axis, name] : parallel_axis_words) {
      if (word != name) continue;
      bool& used = seen[static_cast<std::size_t>(axis)];
      if (used || count == order.size()) refuse();
      used = known = true;
      order[count++] = axis;
    }
    if (!known) refuse();
    if (dash == std::string_view::npos) break;
    left.remove_prefix(dash + 1);
  }
  if (count != order.size()) refuse();
  return order;
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
  int number = 0;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t end = std::min(text.find('\n', at), text.size());
    ++number;
    const std::string_view line = trimmed(std::string_view(text).substr(at, end - at));
    at = end + 1;
    if (line.empty()) continue;
    std::string_view rest = line;
    PlacementSpec::Place place;
    const bool good = take_number(rest, place.node) && rest.starts_with(':') && (rest.remove_prefix(1), true) &&
                      take_number(rest, place.gpu) && rest.empty();
    if (!good) {
      throw InputError({path, number, 0, "", fmt::format("\"{:.40}\"", line), "NODE:GPU, both counted from 0", "0:0"});
    }
    places.push_back(place);
  }
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
