#include <unistd.h>

#include <catch2/catch.hpp>
#include <filesystem>
#include <fstream>
#include <set>

#include "base/input_error.hpp"
#include "cost/kernel_law.hpp"
#include "machines.hpp"
#include "spec/library.hpp"

using namespace stagecraft;
using namespace stagecraft::testing;

namespace {

// A library of one profile, written for the test.
struct Folder {
  std::filesystem::path path =
      std::filesystem::temp_directory_path() / ("stagecraft-calibration-" + std::to_string(::getpid()));
  Folder() { std::filesystem::create_directories(path / "calibrations"); }
  ~Folder() { std::filesystem::remove_all(path); }
  void write(const std::string& name, const std::string& text) const {
    std::ofstream(path / "calibrations" / (name + ".json")) << text;
  }
  Library as_library() const { return {{path.string(), std::string(STAGECRAFT_SOURCE_DIR) + "/topologies"}}; }
};

std::string problem_of(const std::string& name, const Library& library) {
  try {
    load_calibration(name, library);
  } catch (const InputError& error) {
    return error.what();
  }
  return "";
}

}  // namespace

TEST_CASE("every shipped hardware profile loads and states evidence, interval and source for every constant") {
  for (const char* name : {"a100-hdr", "a100-hgx", "a100-opa", "a100-pcie", "b200-hgx", "h100-500w", "h100-ndr",
                           "v100-edr", "v100-opa", "rtx4090-pcie", "host-cpu"}) {
    const Calibration calibration = shipped(name);
    CHECK(calibration.hardware == name);
    CHECK(calibration.name == calibration.hardware + "+" + calibration.software);
    for (const ConstantLine& line : list_constants(calibration)) {
      INFO(name << " " << line.name);
      CHECK_FALSE(line.constant.source.empty());
      CHECK(line.constant.relative_error >= 0);
      CHECK(line.constant.relative_error <= 1);
    }
  }
}

TEST_CASE("a kernel without a law in the calibration is refused with those that have one") {
  const std::string root = STAGECRAFT_SOURCE_DIR;
  const Library library{{root + "/scenarios", root + "/topologies"}};
  const auto problem_with = [&](const std::vector<std::string>& overrides) -> std::string {
    const Scenario scenario = load_scenario(root + "/scenarios/gpt-1.7b-selene.json", overrides, library);
    try {
      calibration_of(scenario, library);
    } catch (const InputError& error) {
      return error.what();
    }
    return "";
  };
  CHECK(problem_with({}).empty());
  CHECK(problem_with({"cluster=hgx-b200"}).empty());
  CHECK(problem_with({"attention_kernel=flash_4", "calibration=h100-ndr"}) ==
        "/attention_kernel: got flash_4, for which the calibration h100-ndr+megatron-2024 has no law, expected one of "
        "unfused, fused_softmax, flash_1, flash_2, flash_3; nearest: flash_3");
  CHECK(problem_with({"attention_kernel=unfused", "calibration=host-cpu"}).find("/precision: got ") == 0);
}

TEST_CASE("laws of another GPU are borrowed, and the estimate says so") {
  const std::string root = STAGECRAFT_SOURCE_DIR;
  const Library library{{root + "/scenarios", root + "/topologies"}};
  const Calibration calibration = shipped("h100-ndr");
  const auto law_on = [&](const char* cluster) {
    const Scenario scenario =
        load_scenario(root + "/scenarios/gpt-1.7b-selene.json", {std::string("cluster=") + cluster}, library);
    return kernel_law(scenario.cluster.gpu, calibration);
  };
  const auto bf16 = static_cast<std::size_t>(Dtype::bf16);
  const KernelLaw own = law_on("eos"), others = law_on("mi300x-box");
  CHECK(own.gemm[bf16].rate.error < 0.1);
  CHECK(others.gemm[bf16].rate.error == 0.3);
  CHECK(others.streaming.error == 0.3);
  CHECK(others.gemm[bf16].rate.evidence == Evidence::borrowed);
  // The rate stays the same fraction of the peak.
  CHECK(others.gemm[bf16].rate.value / 1307e12 == Approx(own.gemm[bf16].rate.value / 989e12).epsilon(0.002));
}

TEST_CASE("every cluster of the library names a profile of its GPU, or is known to have none") {
  const std::string root = STAGECRAFT_SOURCE_DIR;
  const Library library{{root + "/scenarios", root + "/topologies"}};
  const std::set<std::string> without{"box-4x3090", "h100-pcie-pairs", "pcie-2-sockets", "pcie-2-sockets-staged"};
  for (const std::string& name : names_of("clusters", library)) {
    CAPTURE(name);
    const std::string text =
        R"({"model": "llama-3-8b", "parallel": {}, "batch": {"global": 8, "micro": 1}, "cluster": ")" + name + "\"}";
    const Scenario scenario = parse_scenario(text, "sample", {}, library);
    const Calibration calibration = load_calibration(scenario.calibration, library);
    CHECK_FALSE(calibration.gpus.empty());
    CHECK(is_of_another_gpu(scenario.cluster.gpu, calibration) == without.contains(name));
  }
}

TEST_CASE("hardware and software profiles combine by name") {
  const Calibration combined = shipped("h100-ndr+megatron-2021");
  CHECK(combined.software == "megatron-2021");
  CHECK(combined.gemm.at(Dtype::bf16).ceiling.value == shipped("h100-ndr").gemm.at(Dtype::bf16).ceiling.value);
}

TEST_CASE("a profile may extend another and change one constant") {
  const Folder folder;
  folder.write("mine", R"({"extends": "a100-hdr", "constants": {"launch_us":
      {"value": 9, "relative_error": 0.1, "evidence": "measured", "source": "here"}}})");
  const Calibration mine = load_calibration("mine+megatron-2021", folder.as_library());
  CHECK(constant(mine, "launch_us").value == 9);
  CHECK(mine.gemm.at(Dtype::fp16).ceiling.value == shipped("a100-hdr").gemm.at(Dtype::fp16).ceiling.value);
}

TEST_CASE("an unknown profile is refused with the nearest name") {
  CHECK(problem_of("a100-hdrr", shipped_library()).find("a100-hdr") != std::string::npos);
  CHECK(problem_of("a100-hdr+megatron-2020", shipped_library()).find("megatron-2021") != std::string::npos);
  CHECK_FALSE(problem_of("megatron-2021", shipped_library()).empty());      // no hardware
  CHECK_FALSE(problem_of("a100-hdr+a100-hdr", shipped_library()).empty());  // no software
  CHECK_FALSE(problem_of("", shipped_library()).empty());
}

TEST_CASE("a constant that is missing, misspelt or out of range is refused at its place") {
  const Folder folder;
  folder.write("bad", R"({"extends": "a100-hdr", "constants": {"launch_s": 1}})");
  CHECK(problem_of("bad", folder.as_library()).find("launch_us") != std::string::npos);
  folder.write("bad", R"({"extends": "a100-hdr", "gemm": {"fp16": {"ceiling":
      {"value": -1, "relative_error": 0.1, "evidence": "measured", "source": "here"}}}})");
  CHECK(problem_of("bad", folder.as_library()).find("/gemm/fp16/ceiling/value") != std::string::npos);
  folder.write("bad", R"({"extends": "a100-hdr", "gemm": {"fp16": {"ceiling":
      {"value": 1, "relative_error": 0.1, "evidence": "guessed", "source": "here"}}}})");
  CHECK(problem_of("bad", folder.as_library()).find("measured") != std::string::npos);
  folder.write("bad", R"({"kind": "hardware", "description": "empty", "default_software": "megatron-2021", "gemm": {},
      "constants": {}})");
  CHECK(problem_of("bad", folder.as_library()).find("memory_efficiency") != std::string::npos);
}
