#include "exec/launch/under_mpirun.hpp"

#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <stdexcept>

#include "base/input_error.hpp"

namespace stagecraft {

namespace {

std::vector<std::string> mpirun_words(std::int64_t ranks) {
  std::vector<std::string> words{"mpirun"};
  if (::geteuid() == 0) words.emplace_back("--allow-run-as-root");
  for (const char* word : {"--oversubscribe", "--bind-to", "none", "--mca", "btl", "self,vader", "--mca",
                           "odls_base_sigkill_timeout", "5", "--quiet", "-np"}) {
    words.emplace_back(word);
  }
  words.push_back(std::to_string(ranks));
  return words;
}

int run_child(const std::vector<std::string>& words) {
  std::vector<char*> arguments;
  for (const std::string& word : words) arguments.push_back(const_cast<char*>(word.c_str()));
  arguments.push_back(nullptr);
  const pid_t self = ::getpid(), child = ::fork();
  if (child < 0) throw std::runtime_error("cannot start a process");
  if (child == 0) {
    ::prctl(PR_SET_PDEATHSIG, SIGTERM);  // whatever ends this program ends the job
    if (::getppid() != self) ::_exit(127);
    ::execvp(arguments[0], arguments.data());
    ::_exit(127);
  }
  int status = 0;
  while (::waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

}  // namespace

int run_under_mpirun(std::int64_t ranks, const std::vector<std::string>& words) {
  std::vector<std::string> command = mpirun_words(ranks);
  command.insert(command.end(), words.begin(), words.end());
  const int status = run_child(command);
  if (status == 127) {
    throw InputError(
        InputProblem{"mpirun", 0, 0, "", "no such program", "Open MPI's mpirun on the PATH, or --in-process", ""});
  }
  return status;
}

}  // namespace stagecraft
