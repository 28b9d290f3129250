// --progress: lines with rate and time left for programs that watch, wherever standard error goes.

#include <sys/wait.h>
#include <unistd.h>

#include <catch2/catch.hpp>
#include <csignal>
#include <regex>
#include <string>

#include "run_program.hpp"

using namespace stagecraft;
using Words = std::vector<std::string>;

namespace {

/// What the program writes to standard error, a pipe, until that has so many lines; then it is killed.
std::vector<std::string> first_lines(const Words& words, std::size_t count) {
  int ends[2] = {-1, -1};
  REQUIRE(::pipe(ends) == 0);
  const pid_t child = ::fork();
  if (child == 0) {
    ::close(ends[0]);
    ::dup2(ends[1], STDERR_FILENO);
    std::freopen("/dev/null", "w", stdout);
    become_program(words);
  }
  ::close(ends[1]);
  std::vector<std::string> lines;
  std::string line;
  for (char letter = 0; lines.size() < count && ::read(ends[0], &letter, 1) == 1;) {
    if (letter != '\n') {
      line += letter;
      continue;
    }
    lines.push_back(line);
    line.clear();
  }
  ::close(ends[0]);
  ::kill(child, SIGKILL);
  ::waitpid(child, nullptr, 0);
  return lines;
}

struct Seen {
  double done = 0, total = 0, per_second = 0;
  std::string what;
};

Seen read_line(const std::string& line) {
  const std::regex form(R"(stagecraft: (\d+) of (\d+) ([a-z ]+), (\S+) per second, [\dhmins ]+ left)");
  std::smatch parts;
  INFO(line);
  REQUIRE(std::regex_match(line, parts, form));
  return {std::stod(parts[1]), std::stod(parts[2]), std::stod(parts[4]), parts[3]};
}

/// Two lines as they should be, the first of the first seconds: without --progress a pipe waits ten of them.
void check_lines(const Words& words, const char* what, double total) {
  const std::vector<std::string> lines = first_lines(words, 2);
  REQUIRE(lines.size() == 2);
  const Seen first = read_line(lines[0]), second = read_line(lines[1]);
  CHECK(first.what == what);
  CHECK(first.total == total);
  CHECK(first.done / first.per_second < 8);
  CHECK(second.done >= first.done);
  CHECK(second.done <= total);
}

}  // namespace

TEST_CASE("a sweep with --progress says every second how far it is, also into a pipe") {
  check_lines({"sweep", shipped("gpt-1.7b-selene"), "--estimate", "--vary", "batch.global=512..400000+512", "--vary",
               "sequence_length=512..65536+512", "--workers", "1", "--progress"},
              "points", 781 * 128);
}

TEST_CASE("a search with --progress says every second how many candidates are judged, also into a pipe") {
  check_lines({"search", shipped("gpt-145b-selene"), "--estimate", "--threads", "1", "--progress"}, "candidates judged",
              66072);
}

TEST_CASE("work that is done within a second has no progress to tell") {
  const Words sweep{"sweep", shipped("gpt-1.7b-selene"), "--estimate", "--vary", "batch.micro=1,2"};
  Words watched = sweep;
  watched.push_back("--progress");
  const Outcome plain = run_program(sweep), told = run_program(watched);
  CHECK(plain.exit_code == 0);
  CHECK(plain.messages.empty());
  CHECK(told.output == plain.output);
}
