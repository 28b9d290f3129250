#include "base/input_error.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <cstddef>
#include <numeric>
#include <utility>

namespace stagecraft {
namespace {

std::string message_of(const InputProblem& problem) {
  std::string text = problem.file;
  if (problem.line > 0) text += fmt::format(":{}", problem.line);
  if (problem.line > 0 && problem.column > 0) text += fmt::format(":{}", problem.column);
  if (!text.empty()) text += ": ";
  if (!problem.pointer.empty()) text += problem.pointer + ": ";
  if (!problem.got.empty()) text += fmt::format("got {}", problem.got);
  if (!problem.got.empty() && !problem.expected.empty()) text += ", ";
  if (!problem.expected.empty()) text += fmt::format("expected {}", problem.expected);
  if (!problem.nearest.empty()) text += fmt::format("; nearest: {}", problem.nearest);
  return text;
}

std::string message_of(const std::vector<InputProblem>& problems) {
  std::string text;
  for (const InputProblem& problem : problems) {
    if (!text.empty()) text += "\n";
    text += message_of(problem);
  }
  return text;
}

char lower(char letter) {
  return static_cast<char>(std::tolower(static_cast<unsigned char>(letter)));
}

// Optimal string alignment: insertions, deletions, replacements and swaps of neighbours cost 1 each; case and the
// choice between '-', '_' and ' ' cost nothing.
std::size_t distance(const std::string& a, const std::string& b) {
  const auto plain = [](char letter) { return letter == '_' || letter == ' ' ? '-' : lower(letter); };
  std::vector<std::size_t> before_last(b.size() + 1), last(b.size() + 1), row(b.size() + 1);
  std::iota(last.begin(), last.end(), std::size_t{0});
  for (std::size_t i = 1; i <= a.size(); ++i) {
    row[0] = i;
    for (std::size_t j = 1; j <= b.size(); ++j) {
      const bool same = plain(a[i - 1]) == plain(b[j - 1]);
      row[j] = std::min({last[j] + 1, row[j - 1] + 1, last[j - 1] + (same ? 0u : 1u)});
      if (i > 1 && j > 1 && plain(a[i - 1]) == plain(b[j - 2]) && plain(a[i - 2]) == plain(b[j - 1]))
        row[j] = std::min(row[j], before_last[j - 2] + 1);
    }
    before_last = last;
    last = row;
  }
  return last[b.size()];
}

// "batchsize" for "batch", "sequence" for "sequence_length".
bool extends_other(const std::string& a, const std::string& b) {
  constexpr std::size_t shortest = 4;
  return std::min(a.size(), b.size()) >= shortest && (a.starts_with(b) || b.starts_with(a));
}

}  // namespace

InputError::InputError(InputProblem problem) : InputError(std::vector<InputProblem>{std::move(problem)}) {}

InputError::InputError(std::vector<InputProblem> problems)
    : std::runtime_error(message_of(problems)), problems_(std::move(problems)) {}

std::string nearest_word(const std::string& word, const std::vector<std::string>& candidates) {
  constexpr std::size_t longest = 200;  // nobody misspells longer words, and the distance is quadratic
  if (word.empty() || word.size() > longest) return "";
  std::string best;
  std::size_t best_distance = std::max<std::size_t>(1, word.size() / 3) + 1;
  for (const std::string& candidate : candidates) {
    if (candidate.size() > longest) continue;
    const std::size_t candidate_distance = extends_other(word, candidate) ? 1 : distance(word, candidate);
    if (candidate_distance < best_distance) {
      best = candidate;
      best_distance = candidate_distance;
    }
  }
  return best;
}

}  // namespace stagecraft
