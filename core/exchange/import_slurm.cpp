// Slurm's topology.conf: switches with nodes are leaves, switches of switches the levels above; blocks count as leaves
// (slurm.schedmd.com/topology.conf.html).

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <set>

#include "base/input_error.hpp"
#include "exchange/topology_draft.hpp"

namespace stagecraft {
namespace {

constexpr std::size_t most_names = std::size_t{1} << 20;

struct Reader {
  const std::string& file;
  int line = 0;

  [[noreturn]] void refuse(const std::string& got, const std::string& expected) const {
    refuse_dump(file, line, got, expected);
  }

  /// "[001-003,7]" -> 001, 002, 003, 7.
  std::vector<std::string> numbers(std::string_view inside) const {
    std::vector<std::string> found;
    const std::string all(inside);
    while (true) {
      const std::size_t comma = std::min(inside.find(','), inside.size());
      const std::string_view part = inside.substr(0, comma);
      const std::size_t dash = std::min(part.find('-'), part.size());
      const std::string_view first = part.substr(0, dash), last = dash < part.size() ? part.substr(dash + 1) : first;
      std::int64_t from = 0, to = 0;
      for (const auto& [word, number] : {std::pair{first, &from}, std::pair{last, &to}}) {
        const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), *number);
        if (word.empty() || word.size() > 9 || error != std::errc{} || end != word.data() + word.size() || *number < 0)
          refuse(fmt::format("\"[{}]\"", all), "numbers and ranges, \"[1-32,40]\"");
      }
      if (to < from || static_cast<std::size_t>(to - from) + found.size() >= most_names)
        refuse(fmt::format("\"[{}]\"", all), fmt::format("ranges that rise and hold at most {} numbers", most_names));
      for (std::int64_t i = from; i <= to; ++i) found.push_back(fmt::format("{:0{}}", i, first.size()));
      if (comma == inside.size()) return found;
      inside.remove_prefix(comma + 1);
    }
  }

  /// A host list to its names: "rack[1-2]n[1-4],login".
  std::vector<std::string> expand(std::string_view list) const {
    std::vector<std::string> names, ends{""};
    std::string plain;
    const auto flush = [&] {
      for (std::string& end : ends) end += plain;
      plain.clear();
    };
    const auto finish = [&] {
      flush();
      for (const std::string& end : ends) {
        if (end.empty()) refuse(fmt::format("\"{}\"", std::string(list)), "names with commas between them");
        names.push_back(end);
      }
      ends.assign(1, "");
      if (names.size() > most_names) refuse("more names", fmt::format("at most {} names", most_names));
    };
    for (std::size_t i = 0; i < list.size(); ++i) {
      if (list[i] == ',') {
        finish();
      } else if (list[i] == '[') {
        const std::size_t close = list.find(']', i);
        if (close == std::string_view::npos) refuse(fmt::format("\"{}\"", std::string(list)), "a \"]\" after \"[\"");
        flush();
        const std::vector<std::string> middle = numbers(list.substr(i + 1, close - i - 1));
        if (ends.size() * middle.size() > most_names) refuse("more names", fmt::format("at most {} names", most_names));
        std::vector<std::string> longer;
        for (const std::string& end : ends) {
          for (const std::string& number : middle) longer.push_back(end + number);
        }
        ends = std::move(longer);
        i = close;
      } else {
        plain += list[i];
      }
    }
    finish();
    return names;
  }
};

std::string lower(std::string word) {
  for (char& c : word) c = static_cast<char>(c >= 'A' && c <= 'Z' ? c - 'A' + 'a' : c);
  return word;
}

struct Switch {
  std::vector<std::string> nodes, switches;
  int line = 0;
};

}  // namespace

ImportedTopology import_slurm_topology(std::string_view text, const std::string& file, const TopologyRequest& request) {
  Reader reader{file};
  std::set<std::string> names, nodes;
  std::vector<Switch> leaves, above;
  for (const DumpLine& line : dump_lines(text)) {
    reader.line = line.number;
    Switch entry;
    entry.line = line.number;
    std::string name;
    for (const std::string& word : words_of(line.text)) {
      const std::size_t equals = word.find('=');
      const std::string key = lower(word.substr(0, equals));
      if (equals == std::string::npos) reader.refuse(fmt::format("\"{}\"", word), "KEY=VALUE, \"SwitchName=leaf1\"");
      const std::string value = word.substr(equals + 1);
      if (key == "switchname" || key == "blockname") {
        name = value;
      } else if (key == "nodes") {
        entry.nodes = reader.expand(value);
      } else if (key == "switches") {
        entry.switches = reader.expand(value);
      } else if (key != "linkspeed" && key != "blocksizes") {
        const std::string nearest =
            nearest_word(key, {"switchname", "blockname", "nodes", "switches", "linkspeed", "blocksizes"});
        refuse_dump(file, line.number, fmt::format("the unknown key \"{}\"", key),
                    "SwitchName, BlockName, Nodes, Switches, LinkSpeed or BlockSizes", nearest);
      }
    }
    if (name.empty() && entry.nodes.empty() && entry.switches.empty()) continue;  // BlockSizes
    if (name.empty()) reader.refuse("a switch without a name", "SwitchName=NAME");
    if (!names.insert(name).second)
      reader.refuse(fmt::format("\"{}\" a second time", name), "switches with their own names");
    for (const std::string& node : entry.nodes) {
      if (!nodes.insert(node).second)
        reader.refuse(fmt::format("node \"{}\" a second time", node), "every node below one switch");
      if (nodes.size() > most_names) reader.refuse("more nodes", fmt::format("at most {} nodes", most_names));
    }
    if (!entry.nodes.empty()) leaves.push_back(entry);
    if (!entry.switches.empty()) above.push_back(entry);
  }
  if (nodes.empty()) refuse_dump(file, 0, "no node", "a line per leaf switch, \"SwitchName=leaf1 Nodes=node[1-32]\"");
  for (const Switch& each : above) {
    reader.line = each.line;
    for (const std::string& below : each.switches) {
      if (names.count(below) == 0)
        refuse_dump(file, each.line, fmt::format("the unknown switch \"{}\"", below), "a SwitchName of the file",
                    nearest_word(below, {names.begin(), names.end()}));
    }
  }
  std::size_t largest = 0, smallest = nodes.size();
  for (const Switch& leaf : leaves) {
    largest = std::max(largest, leaf.nodes.size());
    smallest = std::min(smallest, leaf.nodes.size());
  }
  std::vector<std::string> assumed;
  if (smallest != largest)
    assumed.push_back(fmt::format("leaves hold {} to {} nodes; each is taken to hold {}", smallest, largest, largest));
  return resized_base(request, file, static_cast<std::int64_t>(nodes.size()), static_cast<std::int64_t>(largest),
                      std::move(assumed));
}

}  // namespace stagecraft
