#include <unistd.h>

#include <catch2/catch.hpp>
#include <filesystem>
#include <fstream>

#include "base/input_error.hpp"
#include "machines.hpp"

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
  for (const char* name : {"a100-hdr", "a100-pcie", "h100-ndr", "v100-edr", "rtx4090-pcie", "host-cpu"}) {
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
