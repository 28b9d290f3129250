#include "run_command.hpp"

#include <sys/wait.h>

#include <cstdio>
#include <stdexcept>

#include "exec/transport/transport.hpp"

namespace stagecraft {

Ran run_command(const std::string& command) {
  Ran ran;
  const double begin_s = now_s();
  FILE* const pipe = ::popen(("{ " + command + "; } 2>&1").c_str(), "r");
  if (pipe == nullptr) throw std::runtime_error("cannot start a shell");
  char buffer[4096];
  for (std::size_t n = 0; (n = std::fread(buffer, 1, sizeof(buffer), pipe)) > 0;) ran.output.append(buffer, n);
  const int status = ::pclose(pipe);
  ran.code = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
  ran.seconds = now_s() - begin_s;
  return ran;
}

}  // namespace stagecraft
