#include "gui/models/trace_open.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <set>

#include "base/input_error.hpp"
#include "trace/chrome_json_reader.hpp"
#include "trace/native_format.hpp"

namespace stagecraft::gui {
namespace {

constexpr std::string_view native_magic = "STGTRACE";

bool is_native(const std::string& path) {
  std::error_code problem;
  if (!std::filesystem::is_regular_file(path, problem)) return true;  // whose reader says what is wrong
  std::ifstream file(path, std::ios::binary);
  std::array<char, native_magic.size()> bytes{};
  file.read(bytes.data(), static_cast<std::streamsize>(bytes.size()));
  const auto count = static_cast<std::size_t>(file.gcount());
  const char first = count > 0 ? bytes[0] : '\0';
  const bool json = first == '{' || first == '[' || first == ' ' || first == '\n' || first == '\t' || first == '\r';
  return std::string_view(bytes.data(), count) == native_magic || !json;
}

/// When each trace begins after the earliest of them, by their clocks; 0 for all if one of them has none.
std::vector<double> begins_of(const std::vector<Trace>& parts) {
  std::vector<std::int64_t> clocks;
  for (const Trace& part : parts) {
    for (const Provenance& entry : part.provenance) {
      if (entry.key == clock_begin_key) clocks.push_back(std::strtoll(entry.value.c_str(), nullptr, 10));
    }
  }
  std::vector<double> begins(parts.size(), 0);
  if (clocks.size() != parts.size()) return begins;
  const std::int64_t first = *std::min_element(clocks.begin(), clocks.end());
  for (std::size_t i = 0; i < parts.size(); ++i) {
    begins[i] = static_cast<double>(static_cast<std::uint64_t>(clocks[i]) - static_cast<std::uint64_t>(first)) * 1e-9;
  }
  return begins;
}

/// Adds the ranks of `part`, which begins at `begin_s` of `whole`.
void append(Trace& whole, Trace part, double begin_s, const std::string& path) {
  const double shift = begin_s - part.begin_s;
  std::set<std::int32_t> known;
  for (const TraceRank& rank : whole.ranks) known.insert(rank.rank);
  for (const TraceRank& rank : part.ranks) {
    if (!known.insert(rank.rank).second) {
      throw InputError(
          InputProblem{path, 0, 0, "", fmt::format("rank {} once more", rank.rank), "one file for every rank", ""});
    }
  }
  const auto first_span = static_cast<std::uint32_t>(whole.spans.size());
  const auto first_label = whole.labels.size(), first_inner = whole.inner.size();
  if (first_label + part.labels.size() > 65'536) {
    throw InputError(InputProblem{path, 0, 0, "", "more than 65536 names of segments together", "fewer", ""});
  }
  if (first_inner + part.inner.size() > 65'536) {
    throw InputError(InputProblem{path, 0, 0, "", "more than 65536 mixtures of communication together", "fewer", ""});
  }
  for (Span& span : part.spans) {
    span.begin_s += shift;
    span.end_s += shift;
    if (span.label != 0) span.label = static_cast<std::uint16_t>(span.label + first_label);
    if (span.inner != 0) span.inner = static_cast<std::uint16_t>(span.inner + first_inner);
    whole.spans.push_back(span);
  }
  whole.labels.insert(whole.labels.end(), part.labels.begin(), part.labels.end());
  whole.inner.insert(whole.inner.end(), part.inner.begin(), part.inner.end());
  for (const Dependency& edge : part.dependencies) {
    whole.dependencies.push_back({edge.from + first_span, edge.to + first_span});
  }
  for (CounterSeries& series : part.counters) {
    for (double& time : series.time_s) time += shift;
    whole.counters.push_back(std::move(series));
  }
  whole.ranks.insert(whole.ranks.end(), part.ranks.begin(), part.ranks.end());
  whole.steps = std::max(whole.steps, part.steps);
  whole.step_end_s.resize(static_cast<std::size_t>(whole.steps), 0);
  for (std::size_t i = 0; i < whole.step_end_s.size(); ++i) {
    const double end = i < part.step_end_s.size() ? part.step_end_s[i] + shift : 0;
    whole.step_end_s[i] = std::max({whole.step_end_s[i], end, i > 0 ? whole.step_end_s[i - 1] : 0});
  }
  whole.end_s = std::max({whole.end_s, part.end_s + shift, whole.step_end_s.back()});
}

}  // namespace

Trace read_any_trace(const std::string& path) {
  std::error_code problem;
  if (std::filesystem::is_directory(path, problem)) return read_trace_folder(path);
  if (!is_native(path)) return read_chrome_json(path);
  Trace trace = read_trace(path);
  const auto key = [](const Span& span) { return std::tuple(span.rank, span.lane, span.begin_s); };
  const bool sorted = std::is_sorted(trace.spans.begin(), trace.spans.end(),
                                     [&](const Span& a, const Span& b) { return key(a) < key(b); });
  if (!sorted) sort_spans(trace);
  return trace;
}

Trace read_trace_folder(const std::string& path) {
  std::vector<std::string> files;
  std::error_code problem;
  for (const auto& entry : std::filesystem::directory_iterator(path, problem)) {
    const std::string extension = entry.path().extension().string();
    if (extension == ".trace" || extension == ".json") files.push_back(entry.path().string());
  }
  std::sort(files.begin(), files.end());
  if (files.empty()) {
    throw InputError(InputProblem{path, 0, 0, "", "a folder without traces", "files *.trace or *.json", ""});
  }
  std::vector<Trace> parts;
  for (const std::string& file : files) parts.push_back(read_any_trace(file));
  if (parts.size() == 1) return std::move(parts.front());
  const std::vector<double> begins = begins_of(parts);
  const Trace& first = parts.front();
  Trace whole{first.producer, first.scenario, first.kind, 1, 0, 0, {0}, first.provenance, {}, {}, {}, {}, {}, {}};
  for (std::size_t i = 0; i < parts.size(); ++i) append(whole, std::move(parts[i]), begins[i], files[i]);
  sort_spans(whole);
  return whole;
}

}  // namespace stagecraft::gui
