#pragma once
// Runs the real binary as a child process.

#include <chrono>
#include <string>
#include <vector>

namespace stagecraft {

struct Outcome {
  int exit_code = -1;  // 128 + signal if one ended it
  std::string output, messages;
};

/// Runs stagecraft with `words`, standard input closed, `environment` ("NAME=VALUE") added.
/// `standard_output`: where it goes instead of a pipe ("" for the pipe).
Outcome run_program(const std::vector<std::string>& words, const std::vector<std::string>& environment = {},
                    const std::string& standard_output = "");

std::string program_path();

/// Turns this process, a child, into stagecraft with `words`; ends with code 99 if that fails.
[[noreturn]] void become_program(const std::vector<std::string>& words);

/// Starts the program and kills it, and nothing but it, after `delay`. Whether it was still running.
bool start_and_kill(const std::vector<std::string>& words, std::chrono::microseconds delay);

/// How often a test kills: a few times, or STAGECRAFT_KILL_ROUNDS.
int kill_rounds();

std::size_t lines_of(const std::string& text);

/// A scenario of the source tree: "gpt-145b-selene".
std::string shipped(const std::string& name);

/// A directory of its own, removed at the end.
class Scratch {
 public:
  Scratch();
  ~Scratch();
  Scratch(const Scratch&) = delete;
  Scratch& operator=(const Scratch&) = delete;

  std::string file(const std::string& name) const;
  std::string write(const std::string& name, const std::string& text) const;  // returns the path
  std::vector<std::string> entries() const;

 private:
  std::string path_;
};

std::string text_of_file(const std::string& path);

}  // namespace stagecraft
