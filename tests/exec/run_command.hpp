#pragma once
// A command line run by the shell.

#include <string>

namespace stagecraft {

struct Ran {
  int code = 0;
  std::string output;  // standard output and standard error
  double seconds = 0;
};

Ran run_command(const std::string& command);

}  // namespace stagecraft
