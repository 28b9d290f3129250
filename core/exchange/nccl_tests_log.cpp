#include "exchange/nccl_tests_log.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <map>
#include <optional>
#include <set>
#include <utility>

#include "base/input_error.hpp"
#include "base/lines.hpp"

namespace stagecraft {
namespace {

constexpr std::size_t most_rows = 1'000'000, most_ranks = 100'000, most_columns = 64;
constexpr double most_bytes = 0x1p50, most_seconds = 1e5;

using Words = std::vector<std::string_view>;

Words words_of(std::string_view line) {
  Words words;
  std::size_t at = 0;
  while (at < line.size() && words.size() < 2 * most_columns) {
    const std::size_t begin = line.find_first_not_of(" \t", at);
    if (begin == std::string_view::npos) break;
    at = std::min(line.find_first_of(" \t", begin), line.size());
    words.push_back(line.substr(begin, at - begin));
  }
  return words;
}

bool is_whole(std::string_view word) {
  return !word.empty() && std::all_of(word.begin(), word.end(), [](char c) { return c >= '0' && c <= '9'; });
}

std::optional<double> number(std::string_view word) {
  double value = 0;
  const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), value);
  if (error != std::errc{} || end != word.data() + word.size() || !std::isfinite(value)) return std::nullopt;
  return value;
}

std::string_view without_indent(std::string_view line) {
  return line.substr(std::min(line.find_first_not_of(" \t"), line.size()));
}

/// Without the label of the process that printed the line: "3: " of srun, "[1,3]<stdout>: " of mpirun.
std::string_view without_label(std::string_view line) {
  line = without_indent(line);
  if (line.starts_with("[")) {
    constexpr std::string_view tag = "<stdout>:";
    const std::size_t end = line.find(tag);
    return end == std::string_view::npos ? line : without_indent(line.substr(end + tag.size()));
  }
  const std::size_t colon = line.find(':');
  if (colon == std::string_view::npos || !is_whole(line.substr(0, colon))) return line;
  return without_indent(line.substr(colon + 1));
}

/// The name of a program of nccl-tests in a line: a word that ends with "_perf", its folder aside.
std::string program_in(std::string_view line) {
  constexpr std::string_view ending = "_perf";
  const auto is_name = [](char c) { return (c >= 'a' && c <= 'z') || c == '_'; };
  for (std::size_t at = line.find(ending); at != std::string_view::npos; at = line.find(ending, at + 1)) {
    const std::size_t end = at + ending.size();
    if (end < line.size() && (is_name(line[end]) || line[end] == '.')) continue;
    std::size_t begin = at;
    while (begin > 0 && is_name(line[begin - 1])) --begin;
    if (begin < at && end - begin <= 32) return std::string(line.substr(begin, end - begin));
  }
  return "";
}

/// Where the values of one half of a row stand among its words.
struct Half {
  std::size_t time = 0, algorithm = 0, bus = 0, wrong = 0;
  bool in_place = false;
};

struct Columns {
  std::vector<Half> halves;
  std::optional<std::size_t> reduction, root;
  std::size_t count = 0;
};

class Reader {
 public:
  explicit Reader(const std::string& file) : file_(file) {}

  void read(std::string_view line, int number) {
    line_ = number;
    if (!line.empty() && line.back() == '\r') line.remove_suffix(1);
    line = without_label(line);
    if (line.empty()) return;
    if (line.front() == '#') line.remove_prefix(1);
    const Words words = words_of(line);
    if (words.empty()) return;
    if (words.front() == "Rank" && words.size() > 4) return rank(words, line);
    if (words.size() > 4 && words[0] == "size" && words[1] == "count") return columns(words);
    if (words.size() > 2 && is_whole(words[0]) && is_whole(words[1])) return row(words);
    if (line.find("concluded") != std::string_view::npos) return;
    const std::string program = program_in(line);
    if (program.empty()) return;
    if (columns_) finish();
    run_.program = program;
  }

  std::vector<NcclTestsRun> all() {
    finish();
    if (runs_.empty()) {
      throw InputError(InputProblem{file_, 0, 0, "", "no row of nccl-tests",
                                    "what all_reduce_perf or another program of nccl-tests printed", ""});
    }
    return std::move(runs_);
  }

 private:
  [[noreturn]] void refuse(const std::string& got, const std::string& expected) const {
    throw InputError(InputProblem{file_, line_, 0, "", got, expected, ""});
  }

  /// "Rank  3 Group  0 Pid  1711 on HOST device  3 [0000:69:00] NAME"; older programs print no group.
  void rank(const Words& words, std::string_view line) {
    if (columns_) finish();
    const auto at = [&](std::string_view word) {
      return static_cast<std::size_t>(std::find(words.begin(), words.end(), word) - words.begin());
    };
    const std::size_t on = at("on"), device = at("device"), group = at("Group");
    if (on + 1 >= words.size() || device + 2 >= words.size() || device < on) {
      refuse(fmt::format("\"{}\"", line.substr(0, 80)), "\"Rank N Pid N on HOST device N [BUS] NAME\"");
    }
    if (group + 1 < words.size() && group < on && words[group + 1] != "0") {
      refuse(fmt::format("group {}", words[group + 1].substr(0, 20)),
             "one group: several at once share the wires, and no row says what each had of them");
    }
    if (devices_.size() >= most_ranks) refuse("more ranks", fmt::format("at most {}", most_ranks));
    const std::string host(words[on + 1].substr(0, 256)), number(words[device + 1].substr(0, 32));
    if (!devices_.insert({host, number}).second) {
      refuse(fmt::format("device {} of {} twice", number, host), "one rank per GPU, and hosts with names of their own");
    }
    ++hosts_[host];
    if (!run_.gpu.empty()) return;
    for (std::size_t i = device + 2; i < words.size() && run_.gpu.size() < 256; ++i) {
      if (words[i].front() == '[' && run_.gpu.empty()) continue;
      run_.gpu += (run_.gpu.empty() ? "" : " ") + std::string(words[i]);
    }
  }

  void columns(const Words& words) {
    if (columns_) finish();
    if (words.size() > most_columns) refuse("more columns", fmt::format("at most {}", most_columns));
    Columns found;
    found.count = words.size();
    for (std::size_t i = 0; i < words.size(); ++i) {
      if (words[i] == "redop") found.reduction = i;
      if (words[i] == "root") found.root = i;
      const bool half =
          i + 2 < words.size() && words[i] == "time" && words[i + 1] == "algbw" && words[i + 2] == "busbw";
      if (half) found.halves.push_back({i, i + 1, i + 2, i + 3, !found.halves.empty()});
    }
    if (found.halves.empty() || found.halves.size() > 2)
      refuse("these columns", "time, algbw and busbw, once or twice");
    for (Half& half : found.halves) {
      if (half.wrong >= words.size() || words[half.wrong] == "time") half.wrong = words.size();  // not printed
    }
    columns_ = std::move(found);
    run_.line = line_;
  }

  double value(const Words& words, std::size_t at, double most, const char* what) const {
    const std::optional<double> found = number(words[at]);
    if (!found || *found < 0 || *found > most) {
      refuse(fmt::format("{} \"{}\"", what, words[at].substr(0, 40)), fmt::format("a number from 0 to {:g}", most));
    }
    return *found;
  }

  void row(const Words& words) {
    if (!columns_) refuse("a row of numbers", "the line of column names (size, count, type, ...) before it");
    if (words.size() < columns_->count) {
      refuse(fmt::format("{} words", words.size()),
             fmt::format("{}, one per column: the row is cut off", columns_->count));
    }
    const double bytes = value(words, 0, most_bytes, "size");
    if (columns_->reduction) run_.reduction = words[*columns_->reduction].substr(0, 32);
    if (columns_->root) run_.root = static_cast<std::int32_t>(number(words[*columns_->root]).value_or(-1) < 0 ? -1 : 0);
    for (const Half& half : columns_->halves) {
      if (half.wrong < columns_->count) {
        const std::string_view wrong = words[half.wrong];
        const bool counts = is_whole(wrong);
        if ((counts && wrong.find_first_not_of('0') != std::string_view::npos) || wrong.ends_with("*"))
          refuse(fmt::format("wrong results ({})", wrong.substr(0, 40)), "a run without any");
        (half.in_place ? run_.checked_in_place : run_.checked) = wrong != "N/A";
      }
      if (words[half.time] == "N/A" || bytes == 0) continue;
      const double seconds = value(words, half.time, most_seconds * 1e6, "time") * 1e-6;
      if (seconds <= 0) refuse("time 0", "microseconds above 0");
      const double algorithm = value(words, half.algorithm, 1e6, "algbw"), bus = value(words, half.bus, 1e6, "busbw");
      if (algorithm > fastest_) {
        fastest_ = algorithm;
        run_.bus_over_algorithm = bus / algorithm;
        run_.ratio_error = 0.005 / algorithm + (bus > 0 ? 0.005 / bus : 1);
      }
      if (run_.rows.size() >= most_rows) refuse("more rows", fmt::format("at most {}", most_rows));
      run_.rows.push_back({line_, bytes, seconds, half.in_place});
    }
  }

  void finish() {
    if (columns_ && !run_.rows.empty()) {
      line_ = run_.line;
      if (devices_.empty())
        refuse("columns without ranks", "a line \"#  Rank  0 ... on HOST device  0 ...\" per rank before them");
      run_.file = file_;
      run_.ranks = static_cast<std::int32_t>(devices_.size());
      run_.nodes = static_cast<std::int32_t>(hosts_.size());
      run_.ranks_per_node = hosts_.begin()->second;
      for (const auto& [host, count] : hosts_) {
        if (count != run_.ranks_per_node)
          refuse(fmt::format("{} GPUs on {} and {} on {}", run_.ranks_per_node, hosts_.begin()->first, count, host),
                 "as many on every host");
      }
      runs_.push_back(std::move(run_));
    }
    run_ = {};
    columns_.reset();
    devices_.clear();
    hosts_.clear();
    fastest_ = 0;
  }

  const std::string& file_;
  int line_ = 0;
  NcclTestsRun run_;
  std::optional<Columns> columns_;
  std::set<std::pair<std::string, std::string>> devices_;
  std::map<std::string, std::int32_t> hosts_;
  double fastest_ = 0;  // algbw of the rows so far
  std::vector<NcclTestsRun> runs_;
};

}  // namespace

std::vector<NcclTestsRun> read_nccl_tests(std::string_view text, const std::string& file) {
  Reader reader(file);
  for_each_line(text, [&](std::string_view line, int number) { reader.read(line, number); });
  return reader.all();
}

}  // namespace stagecraft
