#include <catch2/catch.hpp>

#include "run_program.hpp"

using namespace stagecraft;
using Catch::Contains;

TEST_CASE("topology show draws a picture into a file that ends in .svg") {
  const Scratch scratch;
  const std::string path = scratch.file("selene.svg");
  const Outcome run = run_program({"topology", "show", "selene", "-o", path});
  CHECK(run.exit_code == 0);
  CHECK(run.output.empty());
  CHECK(text_of_file(path).starts_with("<svg "));
}

TEST_CASE("topology check ends with 3 on an error, and with 0 on warnings") {
  const Scratch scratch;
  const Outcome sound = run_program({"topology", "check", "selene"});
  CHECK(sound.exit_code == 0);
  CHECK(sound.output == "selene: 0 errors, 0 warnings\n");
  const std::string fast =
      scratch.write("fast.json", R"({"extends": "selene", "fabric": {"nic_achieved": "30 GB/s"}})");
  const Outcome wrong = run_program({"topology", "check", fast});
  CHECK(wrong.exit_code == 3);
  CHECK_THAT(wrong.output, Contains("achieved-above-nominal") && Contains("/fabric/nic_achieved") &&
                               Contains("nearest: \"25 GB/s\""));
  const std::string slots =
      scratch.write("slots.json", R"({"extends": "selene", "fabric": {"nic_nominal": "800 Gb/s"}})");
  const Outcome odd = run_program({"topology", "check", slots});
  CHECK(odd.exit_code == 0);
  CHECK_THAT(odd.output, Contains("nic-above-slot") && Contains("0 errors, 1 warnings"));
  CHECK(run_program({"topology", "check"}).exit_code == 2);
  CHECK(run_program({"topology", "check", "selen"}).exit_code == 3);
}

TEST_CASE("topology import writes a cluster that can be shown, checked and used") {
  const Scratch scratch;
  const std::string hosts = scratch.write("hosts", "a slots=8\nb slots=8\n");
  const std::string path = scratch.file("mine.json");
  const Outcome run = run_program({"topology", "import", hosts, "--base", "eos", "-o", path});
  CHECK(run.exit_code == 0);
  CHECK_THAT(run.messages, Contains("assumed"));
  CHECK_THAT(run_program({"topology", "show", path}).output, Contains("2 nodes of 8 GPUs"));
  CHECK(run_program({"topology", "check", path}).exit_code == 0);
}

TEST_CASE("topology import says in one message what is wrong with a dump, and writes nothing") {
  const Scratch scratch;
  const std::string path = scratch.file("mine.json");
  for (const char* text : {"<system><cpu", "GPU0\tGPU1\nGPU0\tX\n", "SwitchName=a Nodes=n[1-", "", "\xff\xfe\x01"}) {
    const std::string dump = scratch.write("dump", text);
    const Outcome run = run_program({"topology", "import", dump, "--base", "eos", "-o", path});
    INFO(text);
    CHECK(run.exit_code == 3);
    CHECK_THAT(run.messages, Contains("expected"));
  }
  CHECK(scratch.entries() == std::vector<std::string>{"dump"});
}

TEST_CASE("the report says what each fault does to which link, and what it costs") {
  const std::string fault = R"(cluster.faults=[{"kind": "nic", "device": "nic2", "nodes": [1], "rate": 0.25}])";
  const Outcome run = run_program({"simulate", shipped("gpt-1.7b-selene"), "--set", fault});
  CHECK(run.exit_code == 0);
  CHECK_THAT(run.output, Contains("nic2 of node 1 at 25 %") && Contains("node1/nic2/up carries 6 GB/s instead of"));
  CHECK_THAT(run.output, Contains("all faults together") && Contains("each is played on its own"));
  const Outcome closed = run_program({"simulate", shipped("gpt-1.7b-selene"), "--estimate", "--set", fault});
  CHECK_THAT(closed.output, Contains("all faults together") && !Contains("each is played"));
  CHECK(run_program({"simulate", shipped("gpt-1.7b-selene")}).output.find("fault") == std::string::npos);
  const Outcome wrong = run_program({"simulate", shipped("gpt-1.7b-selene"), "--set",
                                     R"(cluster.faults=[{"kind": "nic", "device": "nic8", "rate": 0.25}])"});
  CHECK(wrong.exit_code == 3);
  CHECK_THAT(wrong.messages, Contains("/faults/0/device"));
}
