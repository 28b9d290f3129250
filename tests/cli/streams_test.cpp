// Standard streams that are closed or full, and signals that are ignored.

#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <catch2/catch.hpp>
#include <chrono>
#include <cstdlib>
#include <thread>

#include "run_program.hpp"

using namespace stagecraft;
using Clock = std::chrono::steady_clock;

namespace {

/// Exit code of a shell command; "PROGRAM" stands for stagecraft.
int shell(std::string command) {
  const std::string word = "PROGRAM";
  for (std::size_t at; (at = command.find(word)) != std::string::npos;)
    command.replace(at, word.size(), program_path());
  const int status = std::system(command.c_str());
  return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

/// A simulation of about a second.
std::vector<std::string> long_simulation() {
  return {"simulate", shipped("gpt-1.7b-selene"), "--set", "batch.micro=1", "--set", "batch.global=16777216"};
}

pid_t start(const std::vector<std::string>& words, bool ignore_interrupt) {
  const pid_t child = ::fork();
  if (child != 0) return child;
  if (ignore_interrupt) ::signal(SIGINT, SIG_IGN);
  if (::freopen("/dev/null", "w", stdout) == nullptr) std::_Exit(98);
  become_program(words);
}

}  // namespace

TEST_CASE("closed and full standard streams end with a documented code") {
  struct Row {
    const char* words;
    int exit_code;
    bool prints;  // on standard output, if all is well
  };
  const std::string scenario = shipped("gpt-1.7b-selene");
  for (const Row& row :
       {Row{"models", 0, true}, Row{"simulate SCENARIO --estimate", 0, true}, Row{"check SCENARIO", 0, true},
        Row{"models show none-such", 3, false}, Row{"simulate SCENARIO --set parallel.tensor=7", 3, false},
        Row{"simulate", 2, false}, Row{"nonsense", 2, false}, Row{"--help", 0, true}}) {
    std::string words = row.words;
    if (const std::size_t at = words.find("SCENARIO"); at != std::string::npos) words.replace(at, 8, scenario);
    for (const char* lost : {"2>&-", "2>/dev/full", "2>/dev/full <&-", "2>&- <&-"}) {
      INFO(words << " >/dev/null " << lost);
      CHECK(shell("PROGRAM " + words + " >/dev/null " + lost) == row.exit_code);
    }
    for (const char* lost :
         {">&- 2>/dev/null", ">/dev/full 2>/dev/null", ">&- 2>&-", ">/dev/full 2>/dev/full", "<&- >&- 2>&-"}) {
      INFO(words << " " << lost);
      CHECK(shell("PROGRAM " + words + " " + lost) == (row.prints ? 1 : row.exit_code));
    }
  }
}

TEST_CASE("a file that is written does not take the place of a closed stream") {
  const Scratch scratch;
  const std::string words = " schedule 1f1b -p 2 -m 2 -o ";
  REQUIRE(shell("PROGRAM" + words + scratch.file("a")) == 0);
  for (const char* closed : {"2>&-", ">&-", "<&-", ">&- 2>&- <&-"}) {
    REQUIRE(shell("PROGRAM" + words + scratch.file("b") + " " + closed) == 0);
    CHECK(text_of_file(scratch.file("b")) == text_of_file(scratch.file("a")));
  }
  CHECK(shell("PROGRAM simulate " + shipped("gpt-1.7b-selene") + " --set parallel.tensor=7 --trace " +
              scratch.file("c") + " >&- 2>&-") == 3);
  CHECK(scratch.entries() == std::vector<std::string>{"a", "b"});
}

TEST_CASE("Ctrl+C ends a simulation at once") {
  const pid_t child = start(long_simulation(), false);
  std::this_thread::sleep_for(std::chrono::milliseconds(500));
  const auto asked = Clock::now();
  ::kill(child, SIGINT);
  int status = 0;
  ::waitpid(child, &status, 0);
  REQUIRE(WIFEXITED(status));
  CHECK(WEXITSTATUS(status) == 130);
  CHECK(Clock::now() - asked < std::chrono::seconds(5));
}

TEST_CASE("Ctrl+C that is ignored at the start is ignored to the end") {
  const pid_t child = start(long_simulation(), true);
  int status = 0;
  std::this_thread::sleep_for(std::chrono::milliseconds(20));  // until the child ignores it
  while (::waitpid(child, &status, WNOHANG) == 0) {
    ::kill(child, SIGINT);
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  }
  REQUIRE(WIFEXITED(status));
  CHECK((WEXITSTATUS(status) == 0 || WEXITSTATUS(status) == 4));
}

TEST_CASE("what cannot be written is refused before anything else is") {
  const Scratch scratch;
  const std::string good = scratch.file("w.json"), bad = "/nonexistent/o", base = shipped("gpt-1.7b-selene");
  for (const std::vector<std::string>& words : std::vector<std::vector<std::string>>{
           {"suggest", "gpt-1.7b", "--gpus", "8", "--cluster", "selene", "--estimate", "--write", good, "-o", bad},
           {"search", base, "--estimate", "--write", good, "-o", bad},
           {"validate", STAGECRAFT_SOURCE_DIR "/scenarios/records/published.json", "--svg", good, "-o", bad},
           {"simulate", base, "--estimate", "--trace", good, "-o", bad}}) {
    CAPTURE(words.front());
    const Outcome outcome = run_program(words);
    CHECK(outcome.exit_code == 3);
    CHECK(outcome.output.empty());
    CHECK_THAT(outcome.messages, Catch::Contains(bad));
    CHECK(scratch.entries().empty());
  }
}
