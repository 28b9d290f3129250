#pragma once
// What the verbs that run things for real share: the lowered schedule as a file, and the program stagecraft-exec.

#include <string>
#include <vector>

#include "base/findings.hpp"
#include "console.hpp"
#include "interrupt.hpp"
#include "schedule/schedule.hpp"
#include "spec/scenario.hpp"

namespace stagecraft::cli {

/// A scenario with its schedule lowered and proved, as the simulator would time it.
struct Prepared {
  Scenario scenario;
  Schedule schedule;
  Findings notes;
  std::vector<std::string> files;      // that were read
  std::vector<std::string> overrides;  // as --set takes them: the caller's, and the stages if times decided them
};

/// Throws InputError, or a Refusal with every reason.
Prepared prepare_schedule(const std::string& file, const std::vector<std::string>& overrides, const Console& console);

/// Path of stagecraft-exec: beside this program, else on the PATH. Throws UsageError if it is not built.
std::string executor_program();

/// Starts a program with these words, waits for it and returns its exit code (128 + N if signal N ended it).
int run_program(const std::vector<std::string>& words, Interrupt& interrupt);

/// A file that is removed with the object.
class TemporaryFile {
 public:
  explicit TemporaryFile(const std::string& text);
  ~TemporaryFile();
  TemporaryFile(const TemporaryFile&) = delete;
  TemporaryFile& operator=(const TemporaryFile&) = delete;
  const std::string& path() const { return path_; }

 private:
  std::string path_;
};

}  // namespace stagecraft::cli
