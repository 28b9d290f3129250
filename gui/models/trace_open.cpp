#include "gui/models/trace_open.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <array>
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

/// Adds the ranks of `part` to `whole`, both beginning at 0.
void append(Trace& whole, Trace part, const std::string& path) {
  std::set<std::int32_t> known;
  for (const TraceRank& rank : whole.ranks) known.insert(rank.rank);
  for (const TraceRank& rank : part.ranks) {
    if (!known.insert(rank.rank).second) {
      throw InputError(
          InputProblem{path, 0, 0, "", fmt::format("rank {} once more", rank.rank), "one file for every rank", ""});
    }
  }
  const auto first_span = static_cast<std::uint32_t>(whole.spans.size());
  const auto first_label = whole.labels.size();
  if (first_label + part.labels.size() > 65'536) {
    throw InputError(InputProblem{path, 0, 0, "", "more than 65536 names of segments together", "fewer", ""});
  }
  for (Span& span : part.spans) {
    span.begin_s -= part.begin_s;
    span.end_s -= part.begin_s;
    if (span.label != 0) span.label = static_cast<std::uint16_t>(span.label + first_label);
    whole.spans.push_back(span);
  }
  whole.labels.insert(whole.labels.end(), part.labels.begin(), part.labels.end());
  for (const Dependency& edge : part.dependencies) {
    whole.dependencies.push_back({edge.from + first_span, edge.to + first_span});
  }
  for (CounterSeries& series : part.counters) {
    for (double& time : series.time_s) time -= part.begin_s;
    whole.counters.push_back(std::move(series));
  }
  whole.ranks.insert(whole.ranks.end(), part.ranks.begin(), part.ranks.end());
  whole.steps = std::max(whole.steps, part.steps);
  whole.step_end_s.resize(static_cast<std::size_t>(whole.steps), 0);
  for (std::size_t i = 0; i < whole.step_end_s.size(); ++i) {
    const double end = i < part.step_end_s.size() ? part.step_end_s[i] - part.begin_s : 0;
    whole.step_end_s[i] = std::max({whole.step_end_s[i], end, i > 0 ? whole.step_end_s[i - 1] : 0});
  }
  whole.end_s = std::max({whole.end_s, part.end_s - part.begin_s, whole.step_end_s.back()});
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
  Trace whole = read_any_trace(files.front());
  if (files.size() == 1) return whole;
  Trace first = std::move(whole);
  whole = Trace{first.producer, first.scenario, first.kind, 1, 0, 0, {0}, first.provenance, {}, {}, {}, {}, {}};
  append(whole, std::move(first), files.front());
  for (std::size_t i = 1; i < files.size(); ++i) append(whole, read_any_trace(files[i]), files[i]);
  sort_spans(whole);
  return whole;
}

}  // namespace stagecraft::gui
