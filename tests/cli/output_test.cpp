// Where output goes, and that it is whole.

#include <signal.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <catch2/catch.hpp>
#include <chrono>
#include <cstdint>
#include <fstream>
#include <nlohmann/json.hpp>
#include <thread>

#include "run_program.hpp"
#include "trace/native_format.hpp"

using namespace stagecraft;

namespace {

std::vector<std::string> estimate(std::vector<std::string> more) {
  std::vector<std::string> words{"simulate", shipped("gpt-1.7b-selene"), "--estimate"};
  words.insert(words.end(), more.begin(), more.end());
  return words;
}

/// Whether the process takes SIGINT itself (it is blocked for its threads) within ten seconds.
bool waits_for_interrupt(pid_t process) {
  for (int i = 0; i < 1000; ++i) {
    const std::string status = text_of_file("/proc/" + std::to_string(process) + "/status");
    const std::size_t at = status.find("SigBlk:");
    const std::uint64_t blocked = at == std::string::npos ? 0 : std::stoull(status.substr(at + 7), nullptr, 16);
    if ((blocked & (std::uint64_t{1} << (SIGINT - 1))) != 0) return true;
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }
  return false;
}

}  // namespace

TEST_CASE("the same input gives the same bytes in every format") {
  for (const char* format : {"text", "json", "csv", "md"}) {
    const Outcome first = run_program(estimate({"--format", format}));
    CHECK(first.exit_code == 0);
    CHECK(!first.output.empty());
    CHECK(first.output == run_program(estimate({"--format", format})).output);
  }
}

TEST_CASE("a pipe gets no colour, whatever the environment says") {
  CHECK(run_program(estimate({}), {"TERM=xterm-256color"}).output.find('\x1b') == std::string::npos);
}

TEST_CASE("reports and traces are written to files, and nothing to standard output") {
  const Scratch scratch;
  const Outcome outcome =
      run_program(estimate({"--format", "json", "-o", scratch.file("r.json"), "--trace", scratch.file("t.json")}));
  CHECK(outcome.exit_code == 0);
  CHECK(outcome.output.empty());
  CHECK(scratch.entries() == std::vector<std::string>{"r.json", "t.json"});
  CHECK(nlohmann::json::parse(text_of_file(scratch.file("r.json"))).at("version") == 1);
  CHECK(nlohmann::json::parse(text_of_file(scratch.file("t.json"))).at("traceEvents").size() > 10);
}

TEST_CASE("the ending of the trace's name chooses its form") {
  const Scratch scratch;
  REQUIRE(run_program(estimate({"--trace", scratch.file("t.svg")})).exit_code == 0);
  REQUIRE(run_program(estimate({"--trace", scratch.file("t.trace")})).exit_code == 0);
  CHECK_THAT(text_of_file(scratch.file("t.svg")), Catch::StartsWith("<svg"));
  CHECK_THAT(text_of_file(scratch.file("t.trace")), Catch::StartsWith("STGTRACE"));
  const Trace trace = read_trace(scratch.file("t.trace"));
  CHECK(trace.kind == "estimated");
  CHECK(!trace.dependencies.empty());
  CHECK(!trace.counters.empty());
}

TEST_CASE("invalid input leaves no file behind") {
  const Scratch scratch;
  const Outcome outcome = run_program(
      estimate({"--set", "parallel.tensor=7", "-o", scratch.file("r.txt"), "--trace", scratch.file("t.trace")}));
  CHECK(outcome.exit_code == 3);
  CHECK(scratch.entries().empty());
}

TEST_CASE("a report that cannot be written leaves no trace behind, and the other way round") {
  const Scratch scratch;
  CHECK(run_program(estimate({"-o", "/nowhere/r.txt", "--trace", scratch.file("t.json")})).exit_code == 3);
  CHECK(run_program(estimate({"-o", scratch.file("r.txt"), "--trace", "/nowhere/t.json"})).exit_code == 3);
  CHECK(scratch.entries().empty());
}

TEST_CASE("a full disk is an error on standard output and in a file") {
  const Outcome out = run_program(estimate({}), {}, "/dev/full");
  CHECK(out.exit_code == 1);
  CHECK_THAT(out.messages, Catch::Contains("standard output"));
  CHECK(run_program(estimate({"-o", "/dev/full"})).exit_code == 3);
}

TEST_CASE("a reader that goes away is no error") {
  int ends[2] = {-1, -1};
  REQUIRE(::pipe(ends) == 0);
  const pid_t child = ::fork();
  if (child == 0) {
    ::close(ends[0]);
    ::dup2(ends[1], STDOUT_FILENO);
    ::close(ends[1]);
    const std::string program = program_path();
    ::execl(program.c_str(), program.c_str(), "schedule", "1f1b", "-p", "64", "-m", "512", "--format", "json", nullptr);
    std::_Exit(99);
  }
  ::close(ends[1]);
  ::close(ends[0]);  // before anything is read
  int status = 0;
  ::waitpid(child, &status, 0);
  REQUIRE(WIFEXITED(status));
  CHECK(WEXITSTATUS(status) == 0);
}

TEST_CASE("Ctrl+C ends it with 130 and without a file") {
  const Scratch scratch;
  // A FIFO that nobody reads keeps the program waiting for as long as it takes.
  const std::string path = scratch.file("fifo");
  REQUIRE(::mkfifo(path.c_str(), 0600) == 0);
  const pid_t child = ::fork();
  if (child == 0) {
    const std::string program = program_path();
    ::execl(program.c_str(), program.c_str(), "schedule", "1f1b", "-p", "2", "-m", "2", "-o", path.c_str(), nullptr);
    std::_Exit(99);
  }
  REQUIRE(waits_for_interrupt(child));
  ::kill(child, SIGINT);
  int status = 0;
  ::waitpid(child, &status, 0);
  REQUIRE(WIFEXITED(status));
  CHECK(WEXITSTATUS(status) == 130);
  CHECK(scratch.entries() == std::vector<std::string>{"fifo"});
}

TEST_CASE("a file that is read or written already is never written over") {
  const std::string folder = "/tmp/stagecraft-apart-" + std::to_string(::getpid());
  REQUIRE(::mkdir(folder.c_str(), 0700) == 0);
  const std::string copy = folder + "/scenario.json";
  const std::string before = text_of_file(shipped("gpt-1.7b-selene"));
  std::ofstream(copy) << before;
  for (const std::vector<std::string>& places :
       {std::vector<std::string>{"-o", copy}, {"--trace", copy}, {"--trace", folder + "/x", "-o", folder + "/x"}}) {
    std::vector<std::string> words{"simulate", copy, "--estimate"};
    words.insert(words.end(), places.begin(), places.end());
    CHECK(run_program(words).exit_code == 2);
  }
  CHECK(text_of_file(copy) == before);
  CHECK(text_of_file(folder + "/x").empty());
  ::unlink(copy.c_str());
  ::rmdir(folder.c_str());
}
