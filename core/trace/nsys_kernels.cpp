// Kernels of nsys' CSV reports.

#include <fmt/core.h>

#include <algorithm>
#include <charconv>
#include <optional>

#include "base/input_error.hpp"
#include "base/lines.hpp"
#include "trace/kernel_totals.hpp"

namespace stagecraft {
namespace {

using Cells = std::vector<std::string>;

constexpr std::size_t most_cells = 64, longest_line = std::size_t{1} << 20;

/// RFC 4180: cells in double quotes may hold commas; two double quotes stand for one. Nothing if a quote stays open.
std::optional<Cells> cells_of(std::string_view line) {
  Cells cells(1);
  bool quoted = false;
  for (std::size_t i = 0; i < line.size(); ++i) {
    const char c = line[i];
    if (quoted && c == '"' && i + 1 < line.size() && line[i + 1] == '"') {
      cells.back() += '"';
      ++i;
    } else if (c == '"') {
      quoted = !quoted;
    } else if (c == ',' && !quoted) {
      if (cells.size() == most_cells) return std::nullopt;
      cells.emplace_back();
    } else {
      cells.back() += c;
    }
  }
  return quoted ? std::nullopt : std::optional<Cells>(std::move(cells));
}

/// "Start (ns)" or, before 2022, "Start(nsec)": the words without the unit, and the unit's seconds.
struct Column {
  std::string name;
  double unit_s = 0;  // 0: none of time
};

Column column_of(std::string cell) {
  const std::size_t open = cell.find('(');
  if (open == std::string::npos) return {cell, 0};
  const std::string unit = cell.substr(open + 1, cell.find(')', open) - open - 1);
  cell.resize(open);
  while (!cell.empty() && cell.back() == ' ') cell.pop_back();
  const bool nano = unit == "ns" || unit == "nsec", micro = unit == "us" || unit == "usec";
  const bool milli = unit == "ms" || unit == "msec", whole = unit == "s" || unit == "sec";
  return {cell, nano ? 1e-9 : micro ? 1e-6 : milli ? 1e-3 : whole ? 1 : 0};
}

class Reader {
 public:
  explicit Reader(const std::string& file) : file_(file), kernels_(file) {}

  void read(std::string_view line, int number) {
    line_ = number;
    if (!line.empty() && line.back() == '\r') line.remove_suffix(1);
    if (line.size() > longest_line) refuse("a longer line", fmt::format("at most {} bytes", longest_line));
    if (columns_.empty()) return head(line);
    if (line.find_first_not_of(" \t") == std::string_view::npos) return;
    const std::optional<Cells> cells = cells_of(line);
    if (!cells || cells->size() != columns_.size()) {
      refuse(cells ? fmt::format("{} cells", cells->size()) : "a quote that stays open",
             fmt::format("{}, as many as there are column names", columns_.size()));
    }
    one_by_one_ ? kernel(*cells) : sum(*cells);
  }

  KernelTotals finish() {
    if (columns_.empty()) {
      line_ = 0;
      refuse("no column names of nsys", "nsys stats --format csv --report cuda_gpu_trace, or cuda_gpu_kern_sum");
    }
    return kernels_.finish();
  }

 private:
  [[noreturn]] void refuse(const std::string& got, const std::string& expected) const {
    throw InputError(InputProblem{file_, line_, 0, "", got, expected, ""});
  }

  std::optional<std::size_t> find(std::string_view name) const {
    for (std::size_t i = 0; i < columns_.size(); ++i) {
      if (columns_[i].name == name) return i;
    }
    return std::nullopt;
  }
  std::size_t at(std::string_view name) const {
    const std::optional<std::size_t> found = find(name);
    if (!found) refuse(fmt::format("no column \"{}\"", name), "the columns of cuda_gpu_trace or cuda_gpu_kern_sum");
    return *found;
  }

  void head(std::string_view line) {
    const std::optional<Cells> cells = cells_of(line);
    if (!cells || cells->size() < 4 || cells->back() != "Name") return;
    for (const std::string& cell : *cells) columns_.push_back(column_of(cell));
    one_by_one_ = find("Start").has_value();
    for (const char* name : {"Name", one_by_one_ ? "Duration" : "Total Time", one_by_one_ ? "Strm" : "Instances"})
      at(name);
    for (const char* name : {"Start", "Duration", "Total Time"}) {
      const std::optional<std::size_t> found = find(name);
      if (found && columns_[*found].unit_s == 0) refuse(fmt::format("\"{}\" without a unit of time", name), "(ns)");
    }
  }

  double value(const Cells& cells, std::size_t column, double most) const {
    const std::string& cell = cells[column];
    double number = 0;
    const auto [end, error] = std::from_chars(cell.data(), cell.data() + cell.size(), number);
    if (error != std::errc{} || end != cell.data() + cell.size() || !(number >= 0 && number <= most)) {
      refuse(fmt::format("{} \"{}\"", columns_[column].name, cell.substr(0, 40)),
             fmt::format("a number from 0 to {:g}", most));
    }
    return number;
  }
  double seconds(const Cells& cells, const char* name) const {
    const std::size_t column = at(name);
    return value(cells, column, 1e19) * columns_[column].unit_s;
  }

  /// Numbers from 0 on, in the order in which words come up.
  static std::int64_t number_of(std::vector<std::string>& known, const std::string& word) {
    const auto found = std::find(known.begin(), known.end(), word);
    if (found != known.end()) return found - known.begin();
    known.push_back(word);
    return static_cast<std::int64_t>(known.size()) - 1;
  }

  void kernel(const Cells& cells) {
    const std::optional<std::size_t> device = find("Device");
    const std::int64_t on = device ? number_of(devices_, cells[*device]) : 0;
    if (devices_.size() > 1) {
      refuse(fmt::format("kernels of \"{}\" and of \"{}\"", devices_[0].substr(0, 80), devices_[1].substr(0, 80)),
             "the profile of one rank");
    }
    const auto stream = static_cast<std::int64_t>(value(cells, at("Strm"), 1e15));
    if (!kernels_.add(cells[at("Name")], on, stream, seconds(cells, "Start"), seconds(cells, "Duration")))
      refuse(kernels_.problem(), "the profile of a step or two");
  }

  void sum(const Cells& cells) {
    const double count = value(cells, at("Instances"), 1e12), total_s = seconds(cells, "Total Time");
    const std::optional<std::size_t> spread = find("StdDev");
    double squares = 0;
    if (spread && count > 1) {
      const double deviation_s = value(cells, *spread, 1e19) * columns_[*spread].unit_s;
      squares = deviation_s * deviation_s * (count - 1);
    }
    if (!kernels_.add_sum(cells[at("Name")], static_cast<std::int64_t>(count), total_s, squares))
      refuse(kernels_.problem(), "the profile of a step or two");
  }

  const std::string& file_;
  int line_ = 0;
  std::vector<Column> columns_;
  bool one_by_one_ = false;  // a line per kernel; else per name
  std::vector<std::string> devices_;
  KernelCollector kernels_;
};

}  // namespace

KernelTotals read_nsys_kernels(std::string_view text, const std::string& file) {
  Reader reader(file);
  for_each_line(text, [&](std::string_view line, int number) { reader.read(line, number); });
  return reader.finish();
}

}  // namespace stagecraft
