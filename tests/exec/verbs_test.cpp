// The verbs that run things for real, end to end, as a user calls them.

#include <unistd.h>

#include <catch2/catch.hpp>
#include <filesystem>

#include "base/file_io.hpp"
#include "run_command.hpp"
#include "trace/native_format.hpp"

using namespace stagecraft;

namespace {

namespace fs = std::filesystem;

struct Workplace {
  fs::path folder = fs::temp_directory_path() / ("stagecraft-verbs-" + std::to_string(::getpid()));
  Workplace() { fs::create_directories(folder); }
  ~Workplace() { fs::remove_all(folder); }
  std::string file(const char* name) const { return (folder / name).string(); }
};

std::string stagecraft_with(const std::string& words) {
  return std::string(STAGECRAFT_BINARY_DIR) + "/bin/stagecraft " + words;
}

std::string scenario(const std::string& name) {
  return std::string(STAGECRAFT_SOURCE_DIR) + "/scenarios/" + name + ".json";
}

void check_ok(const std::string& words) {
  const Ran ran = run_command(stagecraft_with(words));
  INFO(words << '\n' << ran.output);
  REQUIRE(ran.code == 0);
}

}  // namespace

TEST_CASE("Profile, simulate, execute and compare work together on the shipped two-core scenarios") {
  const Workplace here;
  for (const std::string name : {"tiny-gpt-2cores", "mlp-2cores-checkpointed"}) {
    const std::string profile = here.file("here.json"), predicted = here.file("p.sgt"), measured = here.file("m.sgt");
    check_ok("profile " + scenario(name) + " --repetitions 3 --output " + profile);
    check_ok("simulate " + scenario(name) + " --set calibration=" + profile + " --trace " + predicted);
    check_ok("execute " + scenario(name) + " --steps 2 --trace " + measured);
    // A busy machine may be several times slower than the profile found it; what is held here is that all operations
    // find their partners and that the memory agrees.
    const Ran compared = run_command(stagecraft_with("compare " + predicted + " " + measured + " --memory 0.03"));
    INFO(name << '\n' << compared.output);
    CHECK(compared.code == 0);
    CHECK(compared.output.find("in the prediction only") == std::string::npos);
    CHECK(compared.output.find("memory, rank 1") != std::string::npos);
    const Ran strict = run_command(stagecraft_with("compare " + predicted + " " + measured + " --step 1e-9"));
    CHECK(strict.code == 5);
  }
}

TEST_CASE("A calibration measured in turn with the steps predicts them") {
  const Workplace here;
  const std::string profile = here.file("here.json"), predicted = here.file("p.sgt"), measured = here.file("m.sgt");
  for (const std::string& layout : {std::string("--set schedule=zb-h1"), std::string("--set parallel.pipeline=1 --set "
                                                                                     "parallel.tensor=2")}) {
    check_ok("execute " + scenario("tiny-gpt-2cores") + " " + layout + " --steps 3 --warmup 0 --profile " + profile +
             " --trace " + measured);
    check_ok("simulate " + scenario("tiny-gpt-2cores") + " " + layout + " --set calibration=" + profile + " --trace " +
             predicted);
    check_ok("compare " + predicted + " " + measured + " --memory 0.03");
  }
}

TEST_CASE("Ranks that share a core are predicted as sharing it") {
  const Workplace here;
  const std::string predicted = here.file("p.sgt"), measured = here.file("m.sgt");
  const std::string words = scenario("tiny-gpt-2cores") + " --set batch.global=4 ";
  check_ok("simulate " + words + " --trace " + predicted);
  const Ran ran = run_command("taskset -c 0 " +
                              stagecraft_with("execute " + words + " --in-process --steps 1 --trace " + measured));
  INFO(ran.output);
  REQUIRE(ran.code == 0);
  CHECK(ran.output.find("share 1 cores") != std::string::npos);
  const Ran compared = run_command(stagecraft_with("compare " + predicted + " " + measured));
  INFO(compared.output);
  CHECK(compared.code == 0);
  CHECK(compared.output.find("shared 1 device") != std::string::npos);
}

TEST_CASE("A bundle runs where it is carried to, and only with the schedule that was frozen") {
  const Workplace here;
  const std::string bundle = here.file("bundle");
  // What the scenario extends travels along.
  fs::create_directories(here.file("own"));
  write_file_whole(here.file("own/base.json"), read_file(scenario("tiny-gpt-2cores")));
  write_file_whole(here.file("mine.json"), "{\"extends\": \"own/base.json\", \"name\": \"mine\"}");
  check_ok("bundle " + here.file("mine.json") + " --set batch.global=4 --steps 1 --warmup 0 --output " + bundle);
  fs::remove_all(here.file("own"));
  fs::remove(here.file("mine.json"));
  const std::string launch = "STAGECRAFT_EXEC=" STAGECRAFT_BINARY_DIR
                             "/bin/stagecraft-exec OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 " +
                             bundle + "/launch_mpirun --oversubscribe --mca btl self,vader";
  const Ran ran = run_command(launch);
  INFO(ran.output);
  REQUIRE(ran.code == 0);
  CHECK(read_trace(bundle + "/measured.sgt").ranks.size() == 2);
  const Ran spoiled = run_command("echo >>" + bundle + "/schedule.json && " + launch);
  CHECK(spoiled.code == 3);
  CHECK(spoiled.output.find("hash") != std::string::npos);
}

TEST_CASE("A drill through the verb ends with the cell named, the exit code of a failed rank, and a partial trace") {
  const Workplace here;
  const std::string partial = here.file("partial.sgt");
  const Ran ran = run_command(stagecraft_with("execute " + scenario("tiny-gpt-2cores") +
                                              " --warmup 0 --timeout 5 --drill raise:1:0:9 --trace " + partial));
  INFO(ran.output);
  CHECK(ran.code == 6);
  CHECK(ran.output.find("-->") != std::string::npos);
  CHECK(read_trace(partial).spans.size() > 5);
}
