#include "schedule/csv_text.hpp"

#include <fmt/format.h>

#include <array>

#include "base/file_io.hpp"
#include "base/input_error.hpp"
#include "schedule/refusals.hpp"
#include "schedule/stage_placement.hpp"

namespace stagecraft {

namespace {

constexpr std::string_view pair_word = "OVERLAP_F_B";

std::string_view trimmed(std::string_view text) {
  const auto first = text.find_first_not_of(" \t");
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(" \t") - first + 1);
}

/// A cell for a message: printable and short.
std::string shown(std::string_view cell) {
  std::string out = "'";
  for (const char c : cell.substr(0, 40)) out += c >= ' ' && c <= '~' ? c : '?';
  return out + (cell.size() > 40 ? "...'" : "'");
}

bool has_csv_word(OpKind kind) {
  return kind != OpKind::recompute && kind != OpKind::reduce_tied && kind != OpKind::optimizer_step &&
         kind != OpKind::gather_params && !is_copy(kind);
}

/// One operation outside parentheses; none if it is not one of the format.
std::optional<Op> parse_op(std::string_view text, bool legacy_letters) {
  std::string renamed;
  if (legacy_letters) {
    const auto letter = text.find_first_not_of("0123456789");
    if (letter != std::string_view::npos && text[letter] == 'B') {
      const bool full = text.substr(letter).starts_with("BW");
      renamed.append(text.substr(0, letter)).append(full ? "B" : "I").append(text.substr(letter + (full ? 2 : 1)));
      text = renamed;
    }
  }
  const auto name = parse_op_name(text);
  if (!name || !has_csv_word(name->kind)) return std::nullopt;
  Op op;
  op.kind = name->kind;
  op.lane = usual_lane(op.kind);
  op.stage = name->stage;
  op.micro_batch = name->micro_batch;
  return op;
}

class Reader {
 public:
  explicit Reader(const CsvOptions& options) : options_(options) {}

  Schedule read(std::string_view text) {
    schedule_.name = "csv";
    while (!text.empty() && problems_.size() < options_.most_problems) {
      const auto end = text.find('\n');
      std::string_view row = text.substr(0, end);
      text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
      if (row.ends_with('\r')) row.remove_suffix(1);
      read_row(row);
    }
    const CsvForm form = options_.form.value_or(has_communication_ ? CsvForm::compute_comms : CsvForm::compute_only);
    if (form == CsvForm::compute_comms && blank_) problems_.push_back(*blank_);
    if (form == CsvForm::compute_only && communication_) problems_.push_back(*communication_);
    if (!problems_.empty()) throw InputError(std::move(problems_));
    if (schedule_.programs.empty()) throw InputError({options_.file, 0, 0, "", "nothing", "one row per rank", ""});
    const std::string problem = infer_placement(schedule_);
    if (!problem.empty())
      throw InputError({options_.file, 0, 0, "", problem, "a schedule in which every stage has its rank", ""});
    schedule_.lowered = form == CsvForm::compute_comms;
    return std::move(schedule_);
  }

 private:
  void read_row(std::string_view row) {
    schedule_.programs.emplace_back();
    column_ = 1;
    if (schedule_.programs.size() > static_cast<std::size_t>(most_ranks)) {
      throw InputError(problem_at(fmt::format("more than {} rows", most_ranks), "one row per rank"));
    }
    const std::size_t problems_before = problems_.size();
    for (std::string_view rest = row;;) {
      const auto comma = rest.find(',');
      read_cell(rest.substr(0, comma));
      if (comma == std::string_view::npos || problems_.size() >= options_.most_problems) break;
      rest.remove_prefix(comma + 1);
      column_ += static_cast<int>(comma) + 1;
    }
    if (schedule_.programs.back().empty() && problems_.size() == problems_before) {
      problems_.push_back(problem_at("a row without operations", "at least one operation per rank"));
    }
  }

  void read_cell(std::string_view cell) {
    const std::string_view text = trimmed(cell);
    if (text.empty()) {
      if (!blank_) blank_ = problem_at("a blank cell", "an operation, since the table holds communication");
      return;
    }
    if (text.front() == '(') {
      read_pair(text);
    } else if (auto op = parse_op(text, options_.legacy_letters)) {
      if (!is_compute(op->kind)) {
        has_communication_ = true;
        if (!communication_) communication_ = problem_at(shown(text), "compute only: F, I, W, B or OVERLAP_F_B");
      }
      push(*op);
    } else {
      problems_.push_back(problem_at(shown(text), expected_for(text)));
    }
  }

  /// "(0F7;7B3)OVERLAP_F_B"
  void read_pair(std::string_view text) {
    const auto close = text.find(')');
    const auto semicolon = text.find(';');
    if (close != std::string_view::npos && text.substr(close + 1) == pair_word && semicolon < close) {
      auto first = parse_op(trimmed(text.substr(1, semicolon - 1)), options_.legacy_letters);
      const auto second = parse_op(trimmed(text.substr(semicolon + 1, close - semicolon - 1)), options_.legacy_letters);
      if (first && second && first->kind == OpKind::forward && second->kind == OpKind::backward) {
        first->overlaps_next = true;
        push(*first);
        push(*second);
        return;
      }
    }
    problems_.push_back(problem_at(shown(text), "a forward and a full backward, \"(0F7;7B3)OVERLAP_F_B\""));
  }

  void push(const Op& op) {
    if (static_cast<double>(++operations_) > most_operations) {
      throw InputError(problem_at(fmt::format("more than {:.0f} operations", most_operations), "a smaller table"));
    }
    schedule_.programs.back().push_back(op);
  }

  std::string expected_for(std::string_view text) const {
    if (text.find("BW") != std::string_view::npos && !options_.legacy_letters) {
      return "B for a full backward (BW is read only with legacy letters, where B is the input gradient)";
    }
    return "an operation such as 0F0, 0I0, 0W0, 0B0, (0F7;7B3)OVERLAP_F_B, 0SEND_F0, 0UNSHARD";
  }

  InputProblem problem_at(std::string got, std::string expected) const {
    const auto rank = schedule_.programs.size() - 1;
    return {options_.file,  static_cast<int>(rank) + 1, column_, fmt::format("rank {}", rank),
            std::move(got), std::move(expected),        ""};
  }

  const CsvOptions& options_;
  Schedule schedule_;
  std::vector<InputProblem> problems_;
  std::optional<InputProblem> blank_, communication_;  // the first of each
  bool has_communication_ = false;
  std::size_t operations_ = 0;
  int column_ = 1;
};

}  // namespace

Schedule parse_csv_schedule(std::string_view text, const CsvOptions& options) {
  return Reader(options).read(text);
}

Schedule load_csv_schedule(const std::string& path, CsvOptions options) {
  options.file = path;
  return parse_csv_schedule(read_file(path), options);
}

Findings refuse_csv(const Schedule& schedule) {
  std::array<std::size_t, op_kind_count> counts{};
  for (const auto& program : schedule.programs) {
    for (const Op& op : program) ++counts[static_cast<std::size_t>(op.kind)];
  }
  Findings findings;
  for (std::size_t k = 0; k < op_kind_count; ++k) {
    const auto kind = static_cast<OpKind>(k);
    if (counts[k] == 0 || has_csv_word(kind)) continue;
    findings.push_back({Severity::error, "csv-no-word", "",
                        fmt::format("PyTorch's CSV has no word for {} ({} operations)", word_of(kind), counts[k]),
                        "the JSON form"});
  }
  return findings;
}

std::string to_csv(const Schedule& schedule) {
  std::string out;
  for (const auto& program : schedule.programs) {
    for (std::size_t k = 0; k < program.size(); ++k) {
      if (k > 0) out += ',';
      if (program[k].overlaps_next && k + 1 < program.size()) {
        out.append("(")
            .append(to_text(program[k]))
            .append(";")
            .append(to_text(program[k + 1]))
            .append(")")
            .append(pair_word);
        ++k;
      } else {
        out += to_text(program[k]);
      }
    }
    out += "\r\n";
  }
  return out;
}

}  // namespace stagecraft
