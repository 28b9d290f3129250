// Ranks as processes: the program as its users start it.

#include <unistd.h>

#include <array>
#include <catch2/catch.hpp>
#include <cstdlib>
#include <filesystem>
#include <random>
#include <sstream>

#include "base/file_io.hpp"
#include "exec/launch/progress.hpp"
#include "exec/launch/rank_report.hpp"
#include "exec/transport/transport.hpp"
#include "run_command.hpp"
#include "schedule/json_text.hpp"
#include "schedule/lower.hpp"
#include "spec/scenario.hpp"
#include "tiny_model.hpp"
#include "trace/native_format.hpp"

using namespace stagecraft;

namespace {

namespace fs = std::filesystem;

/// A folder with the lowered schedule of a shipped scenario made smaller, and the words that run it.
struct Prepared {
  fs::path folder;
  std::string scenario = STAGECRAFT_SOURCE_DIR "/scenarios/tiny-gpt-2cores.json";
  Schedule schedule;
  std::string words;

  explicit Prepared(const std::string& name) {
    folder = fs::temp_directory_path() / ("stagecraft-processes-" + std::to_string(::getpid()));
    fs::create_directories(folder);
    schedule = parse_json_schedule(read_file(schedule_of(name, 8)), "");
    words = words_for(name, 8) + " --steps 2 --warmup 0";
  }
  /// Without --steps and --warmup.
  std::string words_for(const std::string& name, int sequences) const {
    return std::string(STAGECRAFT_BINARY_DIR) + "/bin/stagecraft-exec run --scenario " + scenario +
           " --set batch.global=" + std::to_string(sequences) + " --set schedule=" + name + " --schedule " +
           schedule_of(name, sequences);
  }
  /// Path of the lowered schedule, which is written.
  std::string schedule_of(const std::string& name, int sequences) const {
    const Scenario loaded =
        load_scenario(scenario, {"batch.global=" + std::to_string(sequences), "schedule=" + name},
                      Library{{STAGECRAFT_SOURCE_DIR "/topologies", STAGECRAFT_SOURCE_DIR "/scenarios"}});
    const std::string path = (folder / ("schedule-" + std::to_string(sequences) + ".json")).string();
    write_file_whole(path, to_json(lowered_schedule(name, make_plan(loaded))));
    return path;
  }
  ~Prepared() { fs::remove_all(folder); }
};

/// Losses of the printed steps: second column of the table.
std::vector<std::string> losses(const std::string& output) {
  std::vector<std::string> found;
  std::istringstream lines(output);
  for (std::string line; std::getline(lines, line);) {
    std::istringstream words(line);
    std::string step, loss;
    if (words >> step >> loss && !step.empty() && step.find_first_not_of("0123456789") == std::string::npos)
      found.push_back(loss);
  }
  return found;
}

}  // namespace

TEST_CASE("Processes and threads train alike, and their traces have the same operations") {
  const Prepared prepared("zb-h1");
  const std::string a = (prepared.folder / "threads.sgt").string(), b = (prepared.folder / "processes.sgt").string();
  const Ran threads = run_command(prepared.words + " --in-process --trace " + a);
  INFO(threads.output);
  REQUIRE(threads.code == 0);
  const Ran processes = run_command(prepared.words + " --trace " + b);
  INFO(processes.output);
  REQUIRE(processes.code == 0);
  CHECK(losses(threads.output).size() == 2);
  CHECK(losses(threads.output) == losses(processes.output));
  CHECK(read_trace(a).spans.size() == read_trace(b).spans.size());
  CHECK(read_trace(b).ranks.size() == 2);
}

TEST_CASE("Ranks end with the program that started them") {
  const Prepared prepared("1f1b");
  const std::string folder = prepared.folder.string();
  const std::string script =
      "count() { n=0; for p in /proc/[0-9]*; do"
      " test \"$(cat $p/comm 2> /dev/null)\" = stagecraft-exec && grep -q '" +
      folder + "' $p/cmdline 2> /dev/null && n=$((n+1)); done; echo $n; }\n" + prepared.words_for("1f1b", 8) +
      " --steps 255 --warmup 0 > /dev/null 2>&1 & program=$!\n" +
      "for i in $(seq 200); do test $(count) -ge 3 && break; sleep 0.1; done\n"
      "echo started $(count)\nkill -TERM $program\nwait $program\n"
      "for i in $(seq 200); do test $(count) -eq 0 && break; sleep 0.1; done\n"
      "echo left $(count)";
  const Ran ran = run_command(script);
  INFO(ran.output);
  CHECK_THAT(ran.output, Catch::Contains("started 3"));  // it and its two ranks
  CHECK_THAT(ran.output, Catch::Contains("left 0"));
}

TEST_CASE("A process that throws, stalls, is stopped or is killed ends the job in time, with the cell named") {
  const Prepared prepared("1f1b");
  std::mt19937 random(11);
  const std::vector<std::string> kinds = {"raise", "stall", "stop", "die"};
  // STAGECRAFT_FAULT_ROUNDS asks for more than the few of every day.
  const char* const asked = std::getenv("STAGECRAFT_FAULT_ROUNDS");
  const std::size_t rounds = asked == nullptr ? 2 * kinds.size() : std::stoul(asked);
  for (std::size_t round = 0; round < rounds; ++round) {
    const std::string& kind = kinds[round % kinds.size()];
    const bool local = round / kinds.size() % 2 == 0;  // else the user's own mpirun has started the ranks
    const std::size_t rank = random() % 2;
    const std::size_t step = random() % 2;
    // Any operation; the last one; behind the last one, where the others wait for what this rank would report.
    const std::vector<Op>& program = prepared.schedule.programs[rank];
    const std::vector<std::size_t> positions = {random() % program.size(), program.size() - 1, program.size()};
    const std::size_t position = positions[(round + round / kinds.size()) % positions.size()];
    const std::string cell =
        position < program.size() ? "--> " + to_text(program[position]) + " <--" : "--> end of step <--";
    const std::string drill =
        kind + ":" + std::to_string(rank) + ":" + std::to_string(step) + ":" + std::to_string(position);
    const std::string partial = (prepared.folder / "partial.sgt").string();
    // A rank that throws or is gone is found without it; on a busy machine two seconds pass with nothing wrong.
    const char* const timeout = kind == "raise" || kind == "die" ? "60" : "2";
    const Ran ran = run_command((local ? "" : STAGECRAFT_SOURCE_DIR "/tools/lib/mpirun 2 ") + prepared.words +
                                " --timeout " + timeout + " --trace " + partial + " --drill " + drill);
    CAPTURE(drill, local, ran.output);
    CHECK(ran.seconds < 90);                    // most of it is two processes starting on a busy machine
    const int of_killed = local ? 6 : 128 + 9;  // mpirun ends as the first process did
    CHECK(ran.code == (kind == "raise" ? 6 : kind == "die" ? of_killed : 7));
    CHECK_THAT(ran.output, Catch::Contains("-->"));
    if (kind == "raise" || (kind == "die" && local)) CHECK_THAT(ran.output, Catch::Contains(cell));
    if (!local) continue;
    if (kind == "die") {
      CHECK_THAT(ran.output, Catch::Contains("rank " + std::to_string(rank) + " (pipeline rank"));
      CHECK_THAT(ran.output, Catch::Contains("ended without a report"));
    }
    CHECK_NOTHROW(read_trace(partial));
  }
}

TEST_CASE("A drill that no rank would come to is refused before start, with the nearest one that is") {
  const Prepared prepared("1f1b");  // two ranks, two steps
  const std::string length = std::to_string(prepared.schedule.programs[1].size());
  const std::vector<std::array<std::string, 2>> cases = {{"raise:2:0:0", "raise:1:0:0"},
                                                         {"stall:0:2:0", "stall:0:1:0"},
                                                         {"die:1:1:99999", "die:1:1:" + length},
                                                         {"stop:7:7:99999", "stop:1:1:" + length}};
  for (const auto& [drill, nearest] : cases) {
    const Ran ran = run_command(prepared.words + " --drill " + drill);
    INFO(drill << '\n' << ran.output);
    CHECK(ran.code == 3);
    CHECK_THAT(ran.output, Catch::Contains("\"" + drill + "\", which no rank comes to"));
    CHECK_THAT(ran.output, Catch::Contains(nearest));
  }
}

TEST_CASE("Steps that take longer than a second tell how far they are") {
  const Prepared prepared("1f1b");
  // Enough sequences for two seconds of a fast machine.
  const std::string words = prepared.words_for("1f1b", 32) + " --steps 8 --warmup 1";
  for (const char* const how : {" --in-process", ""}) {
    const Ran ran = run_command(words + how);
    INFO(ran.output);
    REQUIRE(ran.code == 0);
    CHECK_THAT(ran.output, Catch::Contains("stagecraft-exec: step 9 of 9, "));
    CHECK_THAT(ran.output, Catch::Contains(", 0 s left"));
  }
}

TEST_CASE("The line of progress gives the rate and the time left") {
  CHECK(progress_line(5, 14, 2.5) == "stagecraft-exec: step 5 of 14, 2 steps per second, 5 s left");
  CHECK(progress_line(1, 3, 90) == "stagecraft-exec: step 1 of 3, 90 s per step, 3 min 0 s left");
  CHECK(progress_line(2, 100, 3600) == "stagecraft-exec: step 2 of 100, 1.8e+03 s per step, 49 h 0 min left");
}

TEST_CASE("A rank that was only stopped ends with the exit code of what stopped the job") {
  RankReport report;
  report.kind = FailureKind::stopped_by_failure;
  CHECK(exit_code({report}, {}) == 6);
  report.kind = FailureKind::stopped_by_timeout;
  CHECK(exit_code({report}, {}) == 7);
  CHECK(exit_code({report}, {SilentRank{1, {}}}) == 6);
}

TEST_CASE("A job whose ranks were all killed is told of nevertheless, with their cells") {
  const Prepared prepared("1f1b");
  FailurePlace place;
  place.rank = 1;
  place.step = 3;
  place.pipeline = PipelineRank(1);
  place.position = 2;
  const std::string message = failure_message(prepared.schedule, {}, {SilentRank{0, {}}, SilentRank{1, place}});
  CHECK_THAT(message, Catch::Contains("rank 0, before its first operation: ended without a report"));
  CHECK_THAT(message, Catch::Contains("rank 1 (pipeline rank 1), step 3, operation " +
                                      to_text(prepared.schedule.programs[1][2]) + " (3 of"));
  CHECK_THAT(message, Catch::Contains("--> " + to_text(prepared.schedule.programs[1][2]) + " <--"));
}

TEST_CASE("A token file that is missing, cut short or of another vocabulary is refused before start") {
  const Prepared prepared("1f1b");
  const std::string tokens = (prepared.folder / "tokens.u16").string();
  const auto code_with = [&](const std::string& bytes) {
    write_file_whole(tokens, bytes);
    const Ran ran = run_command(prepared.words + " --data " + tokens);
    INFO(ran.output);
    CHECK_THAT(ran.output, Catch::Contains(tokens));
    return ran.code;
  };
  CHECK(code_with("") == 3);
  CHECK(code_with(std::string(4097, '\1')) == 3);
  CHECK(code_with(std::string(4096, '\xff')) == 3);
  CHECK(code_with(std::string(200, '\0')) == 3);
  CHECK(run_command(prepared.words + " --data " + tokens + "-none").code == 3);
}

TEST_CASE("A schedule that is not the frozen one, or not for this scenario, is refused") {
  const Prepared prepared("1f1b");
  const Ran other_hash = run_command(prepared.words + " --in-process --schedule-hash 0123456789abcdef");
  CHECK(other_hash.code == 3);
  CHECK_THAT(other_hash.output, Catch::Contains("hash"));
  const Ran other_size = run_command(prepared.words + " --in-process --set batch.global=16");
  CHECK(other_size.code == 3);
  CHECK_THAT(other_size.output, Catch::Contains("micro-batches"));
  const Ran refused = run_command(prepared.words + " --in-process --set model.dropout=0.1");
  CHECK(refused.code == 3);
  CHECK_THAT(refused.output, Catch::Contains("execute-dropout"));
}
