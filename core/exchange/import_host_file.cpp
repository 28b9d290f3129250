// Host files: "host slots=8" (Open MPI, DeepSpeed), "host:8" (MPICH), or a name per line, as often as it has GPUs.

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <map>

#include "exchange/topology_draft.hpp"

namespace stagecraft {
namespace {

constexpr std::int64_t most_slots = 1024, most_hosts = std::int64_t{1} << 20;

std::int64_t slots_of(const std::string& word, const std::string& file, int line) {
  std::int64_t slots = 0;
  const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), slots);
  if (error != std::errc{} || end != word.data() + word.size() || slots < 1 || slots > most_slots)
    refuse_dump(file, line, fmt::format("\"{}\" slots", word),
                fmt::format("a number of slots from 1 to {}", most_slots));
  return slots;
}

}  // namespace

ImportedTopology import_host_file(std::string_view text, const std::string& file, const TopologyRequest& request) {
  std::map<std::string, std::int64_t> slots;
  for (const DumpLine& line : dump_lines(text)) {
    const std::vector<std::string> words = words_of(line.text);
    std::string host = words.front();
    std::int64_t of_host = 1;
    if (const std::size_t colon = host.find(':'); colon != std::string::npos) {
      of_host = slots_of(host.substr(colon + 1), file, line.number);
      host.resize(colon);
    }
    for (std::size_t i = 1; i < words.size(); ++i) {
      if (words[i].starts_with("slots=")) {
        of_host = slots_of(words[i].substr(6), file, line.number);
      } else if (words[i].find('=') == std::string::npos) {
        refuse_dump(file, line.number, fmt::format("\"{}\"", words[i]), "a host and its slots, \"node1 slots=8\"");
      }
    }
    const bool named = std::all_of(host.begin(), host.end(), [](char c) {
      return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '.' || c == '-' ||
             c == '_';
    });
    if (host.empty() || !named)
      refuse_dump(file, line.number, fmt::format("\"{}\"", line.text), "a host and its slots, \"node1 slots=8\"");
    slots[host] += of_host;
    if (static_cast<std::int64_t>(slots.size()) > most_hosts)
      refuse_dump(file, line.number, "more hosts", fmt::format("at most {} hosts", most_hosts));
  }
  if (slots.empty()) refuse_dump(file, 0, "no host", "a line per host, \"node1 slots=8\"");
  std::vector<std::string> assumed;
  if (request.base != nullptr) {
    const std::int64_t gpus = gpus_per_node(request.base->node);
    for (const auto& [host, count] : slots) {
      if (count > gpus)
        refuse_dump(file, 0, fmt::format("{} slots on {}", count, host),
                    fmt::format("at most the {} GPUs of a node of {}", gpus, request.base->name),
                    fmt::format("slots={}", gpus));
      if (count < gpus && assumed.empty())
        assumed.push_back(
            fmt::format("{} of {} GPUs of {} have a slot; the others stay in the cluster, idle", count, gpus, host));
    }
  }
  return resized_base(request, file, static_cast<std::int64_t>(slots.size()), 0, std::move(assumed));
}

}  // namespace stagecraft
