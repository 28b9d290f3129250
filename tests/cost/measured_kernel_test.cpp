// Times that were measured on the machine itself take the place of the laws.

#include <unistd.h>

#include <catch2/catch.hpp>
#include <filesystem>
#include <fstream>

#include "base/input_error.hpp"
#include "machines.hpp"

using namespace stagecraft;
using namespace stagecraft::testing;

namespace {

Segment gemm(const char* name, std::int64_t m) {
  Segment segment;
  segment.name = name;
  segment.kernel.kind = KernelKind::gemm;
  segment.kernel.dtype = Dtype::fp16;
  segment.kernel.m = m;
  segment.kernel.n = segment.kernel.k = 1024;
  segment.kernel.flops = Flops{2.0 * static_cast<double>(m) * 1024 * 1024};
  segment.kernel.bytes = {6e6};
  return segment;
}

MeasuredKernel measured(const char* name, std::int64_t m, double seconds) {
  return {name, 1, m, 1024, 1024, 6e6, seconds, 0.05};
}

struct File {
  std::filesystem::path path =
      std::filesystem::temp_directory_path() / ("stagecraft-measured-" + std::to_string(::getpid()) + ".json");
  explicit File(const std::string& text) { std::ofstream(path) << text; }
  ~File() { std::filesystem::remove(path); }
};

Calibration load(const std::string& measured_list) {
  const File file(R"({"kind": "hardware", "extends": "a100-hdr", "description": "d", "measured": )" + measured_list +
                  "}");
  return load_calibration(file.path.string(), Library{{std::string(STAGECRAFT_SOURCE_DIR) + "/topologies"}});
}

constexpr const char* entry =
    R"({"segment": "qkv", "batch": 1, "m": 2048, "n": 1024, "k": 1024, "bytes": 6e6, "time_s": 0.5, "relative_error": 0.1})";

}  // namespace

TEST_CASE("a measured kernel is found by its name and its whole shape") {
  Calibration calibration;
  calibration.measured = {measured("mlp-up", 512, 1), measured("qkv", 512, 2), measured("qkv", 1024, 3)};
  REQUIRE(find_measured(calibration, gemm("qkv", 1024)) != nullptr);
  CHECK(find_measured(calibration, gemm("qkv", 1024))->seconds == 3);
  CHECK(find_measured(calibration, gemm("qkv", 512))->seconds == 2);
  CHECK(find_measured(calibration, gemm("qkv", 2048)) == nullptr);
  CHECK(find_measured(calibration, gemm("mlp-down", 512)) == nullptr);
}

TEST_CASE("a body takes the measured time of a segment, and the host's pace leaves it alone") {
  CostModel model;
  model.calibration = shipped("a100-hdr");
  const std::map<Dtype, FlopsPerSecond> peak{{Dtype::fp16, {312e12}}};
  model.gpu.peak = peak;
  model.gpu.memory_bandwidth = {2e12};
  model.gpu.sms = 108;
  model.law = kernel_law(model.gpu, model.calibration);
  model.law.host_launch_s = 1;  // far above any kernel: laws are stretched to it
  Bodies bodies;
  bodies.bodies.push_back({{BodyPart{{gemm("qkv", 2048)}, 3}}});
  CHECK(time_bodies(model, bodies, Plan{})[0].total.expected.value == Approx(3.0));
  model.calibration.measured = {measured("qkv", 2048, 0.25)};
  const BodyTime timed = time_bodies(model, bodies, Plan{})[0];
  CHECK(timed.total.expected.value == Approx(3 * 0.25));
  CHECK(timed.total.low.value == Approx(3 * 0.25 * 0.95));
  CHECK(timed.total.high.value == Approx(3 * 0.25 * 1.05));
  CHECK(timed.total.evidence == Evidence::measured);
}

TEST_CASE("a list of measured kernels is read in any order, once per shape") {
  const Calibration calibration = load(std::string("[") + entry + R"(, {"segment": "norm", "batch": 1, "m": 0, "n": 0,
      "k": 0, "bytes": 100, "time_s": 1e-6, "relative_error": 0}])");
  REQUIRE(calibration.measured.size() == 2);
  CHECK(calibration.measured[0].segment == "norm");
  CHECK(calibration.measured[1].seconds == 0.5);
  CHECK_THROWS_WITH(load(std::string("[") + entry + ", " + entry + "]"), Catch::Contains("/measured/1"));
  CHECK_THROWS_WITH(load(R"([{"segment": "qkv"}])"), Catch::Contains("batch"));
  CHECK_THROWS_WITH(load(R"([{"segment": "qkv", "seconds": 1}])"), Catch::Contains("seconds"));
}

TEST_CASE("a measured collective counts for the links that it was measured over") {
  Calibration calibration = shipped("a100-hdr");
  CollectiveProfile law;
  law.latency_us.value = 100;
  law.bus_GBps.value = 1;
  law.links = LinkKind::socket;
  calibration.collectives["node/all_reduce"] = law;
  GroupShape shape;
  shape.ranks = shape.ranks_per_node = 2;
  shape.inside = LinkKind::socket;
  shape.intra_achieved = {10e9};
  // Two ranks: the bus factor of an all-reduce is 2 * 1 / 2 = 1, so 1 MB at 1 GB/s behind 100 us.
  CHECK(collective_time(CollectiveKind::all_reduce, {1e6}, shape, calibration).total.expected.value ==
        Approx(100e-6 + 1e-3));
  shape.inside = LinkKind::pcie;
  CHECK(collective_time(CollectiveKind::all_reduce, {1e6}, shape, calibration).total.expected.value < 1e-3);
}

TEST_CASE("times outside the range that a law was measured over are borrowed, whatever the law is") {
  CostModel model;
  model.calibration = ideal_calibration();
  model.calibration.gemm.at(Dtype::fp16).k = {512, 2048};
  model.gpu = round_gpu();
  model.law = kernel_law(model.gpu, model.calibration);
  const auto evidence_of = [&](std::int64_t k) {
    Segment segment = gemm("qkv", 2048);
    segment.kernel.k = k;
    Bodies bodies;
    bodies.bodies.push_back({{BodyPart{{segment}, 1}}});
    return time_bodies(model, bodies, Plan{})[0].total.evidence;
  };
  CHECK(evidence_of(511) == Evidence::borrowed);
  CHECK(evidence_of(512) == Evidence::measured);
  CHECK(evidence_of(2048) == Evidence::measured);
  CHECK(evidence_of(2049) == Evidence::borrowed);

  CollectiveProfile& law = model.calibration.collectives.at("node/all_gather");
  law.bytes = {1e3, 1e6};
  law.ranks = {4, 8};
  GroupShape shape;
  shape.ranks = shape.ranks_per_node = 4;
  const auto gathered = [&](double bytes) {
    return collective_time(CollectiveKind::all_gather, {bytes}, shape, model.calibration).total.evidence;
  };
  CHECK(gathered(999) == Evidence::borrowed);
  CHECK(gathered(1e3) == Evidence::measured);
  CHECK(gathered(1e6) == Evidence::measured);
  CHECK(gathered(1e6 + 1) == Evidence::borrowed);
  shape.ranks = shape.ranks_per_node = 2;
  CHECK(gathered(1e5) == Evidence::borrowed);
}
