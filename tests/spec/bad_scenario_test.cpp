#include <chrono>
#include <filesystem>

#include "base/file_io.hpp"
#include "spec_test.hpp"

using namespace stagecraft;
using namespace stagecraft::test;

namespace {

struct Bad {
  const char* set;      // laid over the smallest scenario
  const char* pointer;  // where the refusal points
  const char* nearest;  // "" if there is none
};

}  // namespace

TEST_CASE("a value that cannot be is refused at its place with the nearest one that can") {
  const auto row = GENERATE(values<Bad>({
      {"parallel.tensor=0", "/parallel/tensor", "1"},
      {"parallel.tensor=-4", "/parallel/tensor", "1"},
      {"parallel.tensor=2.5", "/parallel/tensor", "2"},
      {"parallel.tensor=1000000000000", "/parallel/tensor", "1024"},
      {"parallel.tensor=99999999999999999999999", "/parallel/tensor", "1024"},
      {"parallel.tensor=eight", "/parallel/tensor", ""},
      {"parallel.tensor=null", "/parallel/tensor", ""},
      {"parallel.tensor=[8]", "/parallel/tensor", ""},
      {"parallel.data=1e9", "/parallel/data", "1048576"},
      {"parallel.tensr=8", "/parallel/tensr", "\"tensor\""},
      {"parallel.partition=uniformly", "/parallel/partition", "\"uniform\""},
      {"parallel.partition=[4,-1]", "/parallel/partition/1", "0"},
      {"parallel.partition=7", "/parallel/partition", ""},
      {"parallel.placement=tensor", "/parallel/placement", "tensor-context-data-pipeline"},
      {"parallel.placement=tensor-tensor-data-pipeline", "/parallel/placement", "tensor-context-data-pipeline"},
      {"parallel.placement=tensor-context-data-pipeline-", "/parallel/placement", "tensor-context-data-pipeline"},
      {"parallel.placement=tp-cp-dp-pp", "/parallel/placement", "tensor-context-data-pipeline"},
      {"parallel.placement={\"rank_file\":\"nowhere.txt\"}", "/parallel/placement/rank_file", ""},
      {"schedule={\"name\":\"1f1b\",\"run_ahead\":-1}", "/schedule/run_ahead", "0"},
      {"parallel=8", "/parallel", ""},
      {"batch.global=0", "/batch/global", "1"},
      {"batch=null", "/batch", ""},
      {"batchsize=3", "/batchsize", "\"batch\""},
      {"sequence_length=0", "/sequence_length", "1"},
      {"sequence_length=1e18", "/sequence_length", "16777216"},
      {"schedule=3", "/schedule", ""},
      {"schedule={}", "/schedule", ""},
      {"schedule={\"name\":\"1f1b\",\"csv\":\"x.csv\"}", "/schedule/csv", ""},
      {"schedule={\"csv\":\"no-such.csv\"}", "/schedule/csv", ""},
      {"schedule={\"name\":\"1f1b\",\"wavs\":2}", "/schedule/wavs", "\"waves\""},
      {"schedule.waves=0", "/schedule/waves", "1"},
      {"schedule={\"name\":\"zb-auto\",\"memory_limit\":0}", "/schedule/memory_limit", "0.001"},
      {"precision=bf16_mxed", "/precision", "\"bf16_mixed\""},
      {"precision=3", "/precision", ""},
      {"recompute=true", "/recompute", ""},
      {"attention_kernel=flash2", "/attention_kernel", "\"flash_2\""},
      {"zero_stage=4", "/zero_stage", "3"},
      {"overlap.pipelin=true", "/overlap/pipelin", "\"pipeline\""},
      {"overlap.pipeline=1", "/overlap/pipeline", ""},
      {"gradient_bucket=160", "/gradient_bucket", "\"160 GiB\" if GiB was meant"},
      {"gradient_bucket=160 MB/s", "/gradient_bucket", ""},
      {"gradient_bucket=0 B", "/gradient_bucket", "\"1 B\""},
      {"steps=256", "/steps", "255"},
      {"calibration=", "/calibration", ""},
      {"model=gpt-145", "/model", "\"gpt-145b\""},
      {"model=gpt-154b", "/model", "\"gpt-145b\""},
      {"model=3", "/model", ""},
      {"model=no-such.json", "/model", ""},
      {"model.blocks=0", "/model/blocks", "1"},
      {"model.hiden=64", "/model/hiden", "\"hidden\""},
      {"model.attention.kv_heads=7", "/model/attention/kv_heads", "6"},
      {R"(model.attention={"heads":4096,"kv_heads":4096,"head_dim":4096})", "/model/attention/heads", "128"},
      {"model.norm=rmsnorm", "/model/norm", "\"rms_norm\""},
      {"model.dropout=1.5", "/model/dropout", "0.999"},
      {R"(model={"name":"p","plain_layers":[]})", "/model/plain_layers", ""},
      {"cluster=selen", "/cluster", "\"selene\""},
      {"cluster.nodes=0", "/cluster/nodes", "1"},
      {"cluster.nodes=2", "/cluster/nodes", "1"},  // a box without a fabric
      {"cluster.gpu=A100", "/cluster/gpu", ""},
      {"cluster.gpu=A100-SXM-80GB", "/cluster/gpu", "\"A100-SXM4-80GB\""},
      {"cluster.gpu.memory=80", "/cluster/gpu/memory", "\"80 GiB\" if GiB was meant"},
      {"cluster.gpu.memory_usable=81 GiB", "/cluster/gpu/memory_usable", "\"85.9 GB\""},
      {"cluster.gpu.peak=3", "/cluster/gpu/peak", ""},
      {"cluster.gpu.peak.fp12=1 TFLOP/s", "/cluster/gpu/peak/fp12", "\"fp32\""},
      {"cluster.fabric.kind=fattree", "/cluster/fabric/kind", "\"fat_tree\""},
      {"cluster.fabric.nic_nominal=200", "/cluster/fabric/nic_nominal", ""},
      {"cluster.node.host_memory=2", "/cluster/node/host_memory", "\"2 GiB\" if GiB was meant"},
      {"published=[{\"key\":\"mfu\"}]", "/published/0/value", ""},
      {"name=", "/name", ""},
  }));
  CAPTURE(row.set);
  const InputProblem problem = refused([&] { small({row.set}); });
  CAPTURE(InputError(problem).what());
  CHECK(problem.file == "--set");
  CHECK(problem.pointer == row.pointer);
  CHECK_FALSE(problem.expected.empty());
  if (*row.nearest != '\0') CHECK(problem.nearest == row.nearest);
}

TEST_CASE("a refusal points at line and column of the file") {
  const InputProblem problem = refused([] {
    parsed(
        "{\n  \"model\": \"gpt-1.7b\",\n  \"cluster\": \"box-1gpu\",\n  \"parallel\": {\"tensor\": 0},\n"
        "  \"batch\": {\"global\": 8}\n}");
  });
  CHECK(problem.file == "run.json");
  CHECK(problem.line == 4);
  CHECK(problem.column == 26);
}

TEST_CASE("all problems of a scenario are reported at once") {
  const auto problems = problems_of([] {
    small({"parallel.tensor=0", "batch.global=0", "recompute=maybe", "stpes=2"});
  });
  REQUIRE(problems.size() == 4);
  CHECK(problems[0].pointer == "/parallel/tensor");
  CHECK(problems[1].pointer == "/batch/global");
  CHECK(problems[2].pointer == "/recompute");
  CHECK(problems[3].nearest == "\"steps\"");
}

TEST_CASE("missing fields are named") {
  const auto problems = problems_of([] { parsed("{}"); });
  REQUIRE(problems.size() == 4);
  CHECK(problems[0].pointer == "/model");
  CHECK(problems[0].expected == "the key \"model\"");
  CHECK(problems[1].pointer == "/cluster");
  CHECK(problems[2].pointer == "/parallel");
  CHECK(problems[3].pointer == "/batch");
}

TEST_CASE("a scenario that is no object is refused") {
  for (const char* text : {"3", "[]", "\"gpt-145b-selene\"", "null", "", "{", "{\"a\":1,\"a\":2}"}) {
    CAPTURE(text);
    CHECK(refused([&] { parsed(text); }).file == "run.json");
  }
}

TEST_CASE("a problem in a file that is extended points at that file") {
  namespace fs = std::filesystem;
  const fs::path directory = fs::path(STAGECRAFT_BINARY_DIR) / "bad_scenario";
  fs::create_directories(directory);
  const auto add = [&](const char* name, const std::string& text) {
    write_file_whole((directory / name).string(), text);
    return (directory / name).string();
  };
  add("base.json", "{\n \"batch\": {\"global\": 0},\n \"model\": \"gpt-1.7b\", \"cluster\": \"box-1gpu\"}");
  const std::string top = add("top.json", R"({"extends": "base", "parallel": {"tensor": -1}})");
  const auto problems = problems_of([&] { load_scenario(top, {}, shipped_library()); });
  REQUIRE(problems.size() == 2);
  CHECK(contains(problems[0].file, "top.json"));
  CHECK(contains(problems[1].file, "base.json"));
  CHECK(problems[1].line == 2);
  CHECK_NOTHROW(load_scenario(top, {"batch.global=8", "parallel.tensor=1"}, shipped_library()));

  const std::string lost = add("lost.json", R"({"extends": "nowhere.json"})");
  CHECK(refused([&] { load_scenario(lost, {}, shipped_library()); }).pointer == "/extends");
  const std::string loop = add("loop.json", R"({"extends": "loop.json"})");
  CHECK(contains(refused([&] { load_scenario(loop, {}, shipped_library()); }).got, "the cycle"));
  add("model-a.json", R"({"extends": "./model-b.json"})");
  add("model-b.json", R"({"extends": "./model-a.json"})");
  const std::string model_loop =
      add("model-loop.json",
          R"({"model": "./model-a.json", "cluster": "box-1gpu", "parallel": {}, "batch": {"global": 1}})");
  CHECK(contains(refused([&] { load_scenario(model_loop, {}, shipped_library()); }).got, "the cycle"));
  CHECK(contains(refused([&] { load_scenario((directory / "none.json").string(), {}, shipped_library()); }).got,
                 "No such file"));
  CHECK(refused([&] { load_scenario(directory.string(), {}, shipped_library()); }).got == "a directory");
}

TEST_CASE("names that are no names find no files") {
  for (const char* name : {"../models/gpt-1.7b", "/etc/no-such", "gpt-1.7b\\u0000.json", "", "."}) {
    CAPTURE(name);
    CHECK(refused([&] {
            parsed(std::string("{\"model\": \"") + name +
                   "\", \"cluster\": \"box-1gpu\", \"parallel\": {}, \"batch\": {\"global\": 8}}");
          }).pointer == "/model");
  }
}

TEST_CASE("a load of a hostile file ends quickly") {
  const auto begin = std::chrono::steady_clock::now();
  std::string wires = "[";
  for (int i = 0; i < 2000; ++i)
    wires += std::string(i == 0 ? "" : ",") +
             R"({"from":"gpu{0..4095}","to":"cpu","kind":"pcie","nominal":"1 GB/s","latency":"1 us","source":"x"})";
  wires += "]";
  CHECK_FALSE(problems_of([&] { small({"cluster.node.wires=" + wires}); }).empty());
  CHECK_FALSE(
      problems_of([&] { small({"cluster.node.devices=[{\"kind\":\"gpu\",\"name\":\"gpu{0..999999}\"}]"}); }).empty());
  const std::chrono::duration<double> took = std::chrono::steady_clock::now() - begin;
  CHECK(took.count() < 20.0);
}
