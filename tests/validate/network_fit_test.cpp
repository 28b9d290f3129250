#include "validate/network_fit.hpp"

#include <catch2/catch.hpp>
#include <cmath>
#include <nlohmann/json.hpp>

#include "base/input_error.hpp"
#include "validate/collective_law_fit.hpp"
#include "validate/least_squares.hpp"

using namespace stagecraft;

namespace {

const Library library{
    {std::string(STAGECRAFT_SOURCE_DIR) + "/scenarios", std::string(STAGECRAFT_SOURCE_DIR) + "/topologies"}};

/// Sizes of nccl-tests -b 8 -e 8G -f 2.
template <class Time>
void add_times(std::vector<TimedCollective>& times, NcclOp op, std::int32_t nodes, std::int32_t per_node, Time&& us) {
  int row = 0;
  for (double bytes = 8; bytes <= 0x1p33; bytes *= 2) {
    times.push_back({op, bytes, us(bytes, row++) * 1e-6, nodes, per_node, "a.log"});
  }
}

/// 15 us + 40 us per MB for small sizes; 50 us + 0.02 us sqrt(S) + S * 2 (8 - 1) / 8 / (400 GB/s) for large ones.
double all_reduce_us(double bytes) {
  return std::min(15 + 40e-6 * bytes, 50 + 0.02 * std::sqrt(bytes) + bytes * 1.75 / 400e3);
}

double fitted(const NetworkFit& fit, const std::string& name) {
  for (const NetworkConstant& one : fit.constants) {
    if (one.name == name) return one.after;
  }
  FAIL("no constant " + name);
  return 0;
}

const NetworkConstant& constant_named(const NetworkFit& fit, const std::string& name) {
  for (const NetworkConstant& one : fit.constants) {
    if (one.name == name) return one;
  }
  throw std::invalid_argument(name);
}

struct Machine {
  Topology topology = build_topology(load_cluster("eos", library));
  Calibration calibration = load_calibration("h100-ndr+megatron-2024", library);
};

}  // namespace

TEST_CASE("Student's t is that of the tables") {
  CHECK(student_t95(1) == Approx(6.314).epsilon(0.001));
  CHECK(student_t95(5) == Approx(2.015).epsilon(0.002));
  CHECK(student_t95(30) == Approx(1.697).epsilon(0.001));
}

TEST_CASE("relative least squares find a line, keep what would be negative at 0, and give no answer to no equation") {
  // t = 3 + 2 x at x = 1, 2, 4: rows divided by t.
  const auto line = fit_relative({{1 / 5.0, 1 / 5.0}, {1 / 7.0, 2 / 7.0}, {1 / 11.0, 4 / 11.0}});
  REQUIRE(line);
  CHECK(line->values[0] == Approx(3));
  CHECK(line->values[1] == Approx(2));
  // t = 2 x - 1 at x = 1, 2: only the slope is left. The least of (a - 1)^2 + (2a/3 - 1)^2 is at a = (1 + 2/3) / (1 +
  // 4/9).
  const auto bent = fit_relative({{1, 1}, {1 / 3.0, 2 / 3.0}});
  REQUIRE(bent);
  CHECK(bent->values[0] == 0);
  CHECK(bent->values[1] == Approx(15 / 13.0));
  CHECK_FALSE(fit_relative({}));
}

TEST_CASE("a log made from known constants of a node gives them back") {
  const Machine eos;
  std::vector<TimedCollective> times;
  add_times(times, NcclOp::all_reduce, 1, 8, [](double bytes, int) { return all_reduce_us(bytes); });
  const NetworkFit fit = fit_network(times, eos.topology, eos.calibration);
  const std::string law = "collectives/node/all_reduce/";
  CHECK(fitted(fit, law + "latency_us") == Approx(50).epsilon(1e-6));
  CHECK(fitted(fit, law + "sqrt_us_per_byte") == Approx(0.02).epsilon(1e-6));
  CHECK(fitted(fit, law + "bus_GBps") == Approx(400).epsilon(1e-6));
  CHECK(fitted(fit, law + "low_latency_us") == Approx(15).epsilon(1e-6));
  CHECK(fitted(fit, law + "low_latency_us_per_MB") == Approx(40).epsilon(1e-6));
  for (const SizeErrors& errors : fit.errors) {
    CHECK(errors.after.worst < 1e-6);
    CHECK(errors.before.worst > 0.01);
  }
}

TEST_CASE("a machine with one protocol has no law of its own for small sizes, not even by accident") {
  const Machine eos;
  std::vector<TimedCollective> times;
  add_times(times, NcclOp::all_gather, 1, 8, [](double bytes, int) { return 20 + bytes * 0.875 / 300e3; });
  const NetworkFit fit = fit_network(times, eos.topology, eos.calibration);
  CHECK(fitted(fit, "collectives/node/all_gather/latency_us") == Approx(20).epsilon(1e-6));
  CHECK(fitted(fit, "collectives/node/all_gather/bus_GBps") == Approx(300).epsilon(1e-6));
  CHECK(fit.notes.size() == 1);
  for (const SizeErrors& errors : fit.errors) CHECK(errors.after.worst < 1e-6);
}

TEST_CASE("times that scatter give an interval that holds the truth, and an error as large as theirs") {
  const Machine eos;
  std::vector<TimedCollective> times;
  // 3 % up and down in turn.
  add_times(times, NcclOp::all_reduce, 1, 8,
            [](double bytes, int row) { return all_reduce_us(bytes) * (row % 2 == 0 ? 1.03 : 0.97); });
  const NetworkFit fit = fit_network(times, eos.topology, eos.calibration);
  const NetworkConstant& bus = constant_named(fit, "collectives/node/all_reduce/bus_GBps");
  CHECK(bus.after == Approx(400).epsilon(0.03));
  CHECK(bus.interval.low < 400);
  CHECK(bus.interval.high > 400);
  CHECK(bus.interval.high - bus.interval.low > 0.005 * 400);
  CHECK(bus.relative_error >= 0.025);
  CHECK(bus.relative_error < 0.05);
}

TEST_CASE("logs across nodes give the NICs' share and the latencies back, and leave what they say nothing of") {
  const Machine eos;
  Calibration truth = eos.calibration;
  truth.constants.at("nic_ring_efficiency").value = 0.85;
  truth.constants.at("inter_hop_us").value = 12;
  truth.constants.at("inter_level_us").value = 40;
  truth.constants.at("inter_level_small_us").value = 20;
  truth.constants.at("inter_small_bus_fraction").value = 0.2;
  std::vector<TimedCollective> gathers, all;
  for (const std::int32_t nodes : {2, 4, 8}) {
    add_times(gathers, NcclOp::all_gather, nodes, 8, [](double, int) { return 1.0; });
    add_times(all, NcclOp::all_gather, nodes, 8, [](double, int) { return 1.0; });
    add_times(all, NcclOp::all_reduce, nodes, 8, [](double, int) { return 1.0; });
  }
  const NetworkPlaces places = places_of(all, eos.topology);
  for (TimedCollective& time : gathers) time.seconds = predicted_time(time, places, truth);
  for (TimedCollective& time : all) time.seconds = predicted_time(time, places, truth);

  const NetworkFit whole = fit_network(all, eos.topology, eos.calibration);
  CHECK(fitted(whole, "constants/nic_ring_efficiency") == Approx(0.85).epsilon(0.005));
  CHECK(fitted(whole, "constants/inter_hop_us") == Approx(12).epsilon(0.005));
  CHECK(fitted(whole, "constants/inter_level_us") == Approx(40).epsilon(0.005));
  CHECK(fitted(whole, "constants/inter_level_small_us") == Approx(20).epsilon(0.005));
  CHECK(fitted(whole, "constants/inter_small_bus_fraction") == Approx(0.2).epsilon(0.005));

  const NetworkFit part = fit_network(gathers, eos.topology, eos.calibration);
  CHECK(fitted(part, "constants/nic_ring_efficiency") == Approx(0.85).epsilon(0.005));
  CHECK(fitted(part, "constants/inter_hop_us") == Approx(12).epsilon(0.005));
  for (const char* name : {"inter_level_us", "inter_level_small_us", "inter_small_bus_fraction"}) {
    const NetworkConstant& open = constant_named(part, std::string("constants/") + name);
    CHECK_FALSE(open.determined);
    CHECK(open.after == eos.calibration.constants.at(name).value);
  }
  CHECK(part.profile.constants.size() == 2);
}

TEST_CASE("a latency that times leave no room for is brought down to an upper bound, not put back") {
  const Machine eos;
  Calibration truth = eos.calibration;
  truth.constants.at("inter_hop_us").value = 0;
  std::vector<TimedCollective> times;
  for (const std::int32_t nodes : {2, 8}) {
    add_times(times, NcclOp::all_gather, nodes, 8, [](double, int) { return 1.0; });
  }
  const NetworkPlaces places = places_of(times, eos.topology);
  double scatter = 1.01;
  for (TimedCollective& time : times) time.seconds = predicted_time(time, places, truth) * (scatter = 2.0 - scatter);
  const NetworkFit fit = fit_network(times, eos.topology, eos.calibration);
  const NetworkConstant& hop = constant_named(fit, "constants/inter_hop_us");
  CHECK(hop.determined);
  CHECK(hop.after < 0.5);
  CHECK(hop.interval.low == 0);
  CHECK(hop.interval.high < 1);
}

TEST_CASE("sends give their rate and their fixed time") {
  const Machine eos;
  Route way;
  find_route(eos.topology, GpuId{0}, GpuId{1}, way);
  std::vector<TimedCollective> times;
  // Nine tenths of the slowest wire, 11 us beside the wires' own latency.
  add_times(times, NcclOp::sendrecv, 1, 2,
            [&](double bytes, int) { return 11 + (way.latency.value + bytes / (0.9 * way.bottleneck.value)) * 1e6; });
  const NetworkFit fit = fit_network(times, eos.topology, eos.calibration);
  CHECK(fitted(fit, "constants/transfer_efficiency") == Approx(0.9).epsilon(1e-6));
  CHECK(fitted(fit, "constants/transfer_latency_us") == Approx(11).epsilon(1e-6));
}

TEST_CASE("the profile of a network is measured, names the logs and the range, and extends the one it came from") {
  const Machine eos;
  std::vector<TimedCollective> times;
  add_times(times, NcclOp::all_reduce, 1, 8, [](double bytes, int) { return all_reduce_us(bytes); });
  const auto profile = nlohmann::json::parse(to_json(fit_network(times, eos.topology, eos.calibration).profile));
  CHECK(profile.at("extends") == "h100-ndr");
  const auto& law = profile.at("collectives").at("node/all_reduce");
  CHECK(law.at("bus_GBps").at("evidence") == "measured");
  CHECK(law.at("bus_GBps").at("source").get<std::string>().find("a.log") != std::string::npos);
  CHECK(law.at("measured_bytes") == nlohmann::json({8.0, 0x1p33}));
  CHECK(law.at("measured_ranks") == nlohmann::json({8.0, 8.0}));
  CHECK(law.at("measured_links") == "nvlink");
  CHECK(law.at("measured_link_GBps") == 376.0);
}

TEST_CASE("measurements that no law of this cluster can have are refused") {
  const Machine eos;
  const auto refused = [&](const std::vector<TimedCollective>& times) {
    CHECK_THROWS_AS(fit_network(times, eos.topology, eos.calibration), InputError);
  };
  refused({});
  refused({{NcclOp::all_reduce, 8, 1e-5, 1, 8, "a.log"}});  // one size
  std::vector<TimedCollective> times;
  add_times(times, NcclOp::all_reduce, 1, 9, [](double bytes, int) { return all_reduce_us(bytes); });
  refused(times);  // nodes of 8
  times.clear();
  add_times(times, NcclOp::reduce, 1, 8, [](double bytes, int) { return all_reduce_us(bytes); });
  refused(times);
  times.clear();
  add_times(times, NcclOp::all_reduce, 1, 8, [](double, int) { return 10.0; });
  refused(times);  // does not grow
  times.clear();
  add_times(times, NcclOp::sendrecv, 1, 2, [](double bytes, int) { return 1 + bytes / 1e9; });
  refused(times);  // 1 PB/s
}

TEST_CASE("a program is told by its name, and by its columns where only one has them") {
  PrintedColumns printed{"", "sum", -1, 1.75, 0.001, 8, true, true};
  CHECK(collective_of(printed, "").op == NcclOp::all_reduce);
  printed.bus_over_algorithm = 0.875;
  CHECK(collective_of(printed, "").op == NcclOp::reduce_scatter);
  printed.reduction = "none";
  CHECK(collective_of(printed, "").op == NcclOp::all_gather);
  printed.checked_in_place = false;  // exchanges in place are not checked
  CHECK(collective_of(printed, "").op == NcclOp::all_to_all);
  printed.checked = false;  // nothing is
  CHECK_FALSE(collective_of(printed, "").op);
  CHECK(collective_of(printed, "all_gather").op == NcclOp::all_gather);
  CHECK_FALSE(collective_of(printed, "all_reduce").op);  // another ratio of the bandwidths
  printed.program = "alltoall_perf";
  CHECK(collective_of(printed, "").op == NcclOp::all_to_all);
  printed.program = "hypercube_perf";
  CHECK_FALSE(collective_of(printed, "").op);
}
