#pragma once
// Thrown by loaders and parsers, caught once in main and once in the GUI's open action.

#include <stdexcept>
#include <string>
#include <vector>

namespace stagecraft {

struct InputProblem {
  std::string file;      // as the user named it, or "--set" for the command line
  int line = 0;          // 1-based; 0 if there is none
  int column = 0;        // 1-based; 0 if there is none
  std::string pointer;   // JSON pointer, "" for the whole document
  std::string got;       // what stands there
  std::string expected;  // what would be accepted
  std::string nearest;   // the nearest valid value, "" if there is none
};

/// `what()` is one message: "file:12:7: /parallel/tensor: got ..., expected ...; nearest: ...".
class InputError : public std::runtime_error {
 public:
  explicit InputError(InputProblem problem);
  explicit InputError(std::vector<InputProblem> problems);  // several at once, one line each
  const std::vector<InputProblem>& problems() const { return problems_; }

 private:
  std::vector<InputProblem> problems_;
};

/// The candidate nearest to `word` by edit distance, or "" if none is near enough to be a likely misspelling.
std::string nearest_word(const std::string& word, const std::vector<std::string>& candidates);

}  // namespace stagecraft
