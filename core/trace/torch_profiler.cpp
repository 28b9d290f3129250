#include "trace/torch_profiler.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <charconv>
#include <filesystem>
#include <limits>
#include <map>
#include <set>

#include "base/input_error.hpp"
#include "trace/torch_events.hpp"

namespace stagecraft {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t most_actions = std::size_t{1} << 24;
constexpr std::int32_t most_steps = 255;

[[noreturn]] void fail(const std::string& path, std::string got, std::string expected) {
  throw InputError(InputProblem{path, 0, 0, "", std::move(got), std::move(expected), ""});
}

/// "trace_rank12.json" -> 12.
std::optional<std::int32_t> rank_in_name(const std::string& name) {
  const std::size_t word = name.rfind("rank");
  if (word == std::string::npos) return {};
  const std::size_t digits = name.find_first_of("0123456789", word);
  if (digits == std::string::npos || digits > word + 5) return {};
  std::int32_t rank = 0;
  const auto [end, error] = std::from_chars(name.data() + digits, name.data() + name.size(), rank);
  return error == std::errc() ? std::optional(rank) : std::nullopt;
}

std::vector<fs::path> files_of(const std::string& folder) {
  std::vector<fs::path> files;
  std::error_code error;
  for (const fs::directory_entry& entry : fs::directory_iterator(folder, error)) {
    if (entry.is_regular_file() && entry.path().extension() == ".json") files.push_back(entry.path());
    if (entry.path().extension() == ".gz") {
      fail(entry.path().string(), "a compressed file", "files of torch.profiler, unpacked (gunzip)");
    }
  }
  if (error) fail(folder, error.message(), "a folder with one file of torch.profiler per rank");
  std::sort(files.begin(), files.end());
  if (files.empty()) fail(folder, "no *.json file", "a folder with one file of torch.profiler per rank");
  return files;
}

/// Annotations of one action on several streams of a GPU overlap and count as one.
std::vector<TorchAction> without_repeats(std::vector<TorchAction> actions) {
  std::stable_sort(actions.begin(), actions.end(), [](const TorchAction& a, const TorchAction& b) {
    return std::pair(a.begin_ns, a.name) < std::pair(b.begin_ns, b.name);
  });
  std::map<OpName, std::size_t> latest;
  std::vector<TorchAction> result;
  for (const TorchAction& action : actions) {
    const auto [known, fresh] = latest.try_emplace(action.name, result.size());
    if (!fresh && action.begin_ns < result[known->second].end_ns) {
      result[known->second].end_ns = std::max(result[known->second].end_ns, action.end_ns);
      continue;
    }
    known->second = result.size();
    result.push_back(action);
  }
  return result;
}

void add_rank(const std::string& path, std::int32_t rank, const std::vector<TorchAction>& actions, double origin_ns,
              Trace& trace, std::vector<double>& step_ends) {
  std::set<OpName> seen;
  std::int32_t step = 0;
  for (const TorchAction& action : actions) {
    if (is_compute(action.name.kind) && !seen.insert(action.name).second) {
      seen = {action.name};
      if (++step >= most_steps) fail(path, "more than 255 steps", "at most 255 steps under the profiler");
    }
    Span span;
    span.begin_s = (action.begin_ns - origin_ns) * 1e-9;
    span.end_s = (action.end_ns - origin_ns) * 1e-9;
    span.rank = rank;
    span.stage = action.name.stage.value;
    span.micro_batch = action.name.micro_batch.value;
    span.kind = action.name.kind;
    span.lane = usual_lane(action.name.kind);
    span.step = static_cast<std::uint8_t>(step);
    trace.spans.push_back(span);
    step_ends.resize(std::max(step_ends.size(), static_cast<std::size_t>(step) + 1), 0);
    step_ends[static_cast<std::size_t>(step)] = std::max(step_ends[static_cast<std::size_t>(step)], span.end_s);
  }
}

}  // namespace

Trace read_torch_profiler_folder(const std::string& path) {
  std::map<std::int32_t, std::vector<TorchAction>> ranks;
  std::optional<std::int64_t> base_ns;
  double origin_ns = std::numeric_limits<double>::infinity();
  std::size_t left = most_actions;
  for (const fs::path& name : files_of(path)) {
    TorchFile file = read_torch_file(name.string(), left);
    if (!file.rank) file.rank = rank_in_name(name.filename().string());
    if (!file.rank) fail(name.string(), "no rank", "\"distributedInfo\" with a rank, or rankN in the file's name");
    std::vector<TorchAction> actions = without_repeats(std::move(file.gpu.empty() ? file.host : file.gpu));
    if (actions.empty()) fail(name.string(), "no PP: annotation", "a profile of torch.distributed.pipelining");
    if (!base_ns) base_ns = file.base_ns;
    const double shift_ns = static_cast<double>(file.base_ns - *base_ns);
    for (TorchAction& action : actions) {
      action.begin_ns += shift_ns;
      action.end_ns += shift_ns;
      origin_ns = std::min(origin_ns, action.begin_ns);
    }
    left -= actions.size();
    if (!ranks.emplace(*file.rank, std::move(actions)).second) {
      fail(name.string(), fmt::format("a second file of rank {}", *file.rank), "one file per rank");
    }
  }
  Trace trace;
  trace.producer = "torch.profiler";
  trace.kind = "measured";
  trace.labels = {""};
  trace.provenance = {{"files", path}};
  for (const auto& [rank, actions] : ranks) {
    add_rank(path, rank, actions, origin_ns, trace, trace.step_end_s);
    trace.ranks.push_back({rank, rank, 0, 1});
  }
  trace.steps = static_cast<std::int32_t>(trace.step_end_s.size());
  trace.end_s = *std::max_element(trace.step_end_s.begin(), trace.step_end_s.end());
  sort_spans(trace);
  return trace;
}

}  // namespace stagecraft
