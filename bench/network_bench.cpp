// What the model of NCCL says against published nccl-tests tables, one calibration per system, and against a published
// scaling curve; where two tables of one hardware disagree, by how much. Platforms of large clusters.

#include <algorithm>
#include <cmath>
#include <cstdio>

#include "cost/nccl.hpp"
#include "figure.hpp"
#include "network_records.hpp"

using namespace stagecraft;

namespace {

struct Means {
  double below = 0, above = 0, worst = 0, peak = 0;
  int tables_below = 0, tables_above = 0;
  std::string worst_table, worst_peak;
};

const NcclSystem& system_of(const std::vector<NcclSystem>& systems, const std::string& name) {
  const auto found =
      std::find_if(systems.begin(), systems.end(), [&](const NcclSystem& system) { return system.name == name; });
  if (found == systems.end()) throw std::runtime_error("no calibration of " + name);
  return *found;
}

std::vector<NcclAlgorithm> only(const std::string& algorithm) {
  if (algorithm.empty()) return {};
  return {nccl_algorithm_of(algorithm)};
}

void hold(const bench::NetworkTable& table, const NcclTuner& tuner, const NcclSystem& system, bool json, Means& means) {
  NcclMachine machine = system.machine;
  machine.nodes = table.nodes;
  machine.ranks = table.gpus;
  const auto gpu = tuner.architectures.find(machine.architecture);
  if (machine.ranks / machine.nodes < gpu->second.nvls_from_ranks) machine.nvls = 0;
  const NcclOp op = nccl_op_of(table.collective);
  double below = 0, above = 0, peak = 0, measured_peak = 0;
  int small = 0, large = 0;
  for (const auto& [bytes, us] : table.rows) {
    const NcclTime time = nccl_time(op, {bytes}, machine, tuner, system, only(table.algorithm));
    const double error = std::abs(time.total.value * 1e6 / us - 1);
    (bytes <= 0x1p20 ? below : above) += error;
    ++(bytes <= 0x1p20 ? small : large);
    peak = std::max(peak, time.bus_GBps);
    measured_peak = std::max(measured_peak, bytes / us * 1e-3 * nccl_bus_factor(op, machine.ranks));
  }
  const std::string name = "network/" + table.id;
  if (small > 0) {
    means.below += below / small;
    ++means.tables_below;
    bench::print({name + "/to-1-MiB", 100 * below / small, "%", 20.0, "target of the mean"}, json);
  }
  if (large > 0) {
    means.above += above / large;
    ++means.tables_above;
    if (above / large > means.worst) means.worst = above / large, means.worst_table = table.id;
    bench::print({name + "/above-1-MiB", 100 * above / large, "%", 8.0, "target of the mean"}, json);
  }
  const double off = peak / measured_peak - 1;
  if (std::abs(off) > std::abs(means.peak)) means.peak = off, means.worst_peak = table.id;
  bench::print({name + "/peak", peak, "GB/s", measured_peak, "measured"}, json);
}

// Mean difference of two tables of one hardware, collective and number of GPUs, over the sizes that both have.
void print_disagreements(const std::vector<bench::NetworkTable>& tables, bool json) {
  for (std::size_t i = 0; i < tables.size(); ++i) {
    for (std::size_t j = i + 1; j < tables.size(); ++j) {
      const bench::NetworkTable &a = tables[i], &b = tables[j];
      if (a.collective != b.collective || a.nodes != b.nodes || a.gpus != b.gpus || a.hardware != b.hardware) continue;
      double sum = 0;
      int rows = 0;
      for (const auto& [bytes, us] : a.rows) {
        for (const auto& [other_bytes, other_us] : b.rows) {
          if (bytes != other_bytes || bytes <= 0x1p20) continue;
          sum += std::abs(us / other_us - 1);
          ++rows;
        }
      }
      if (rows >= 5) bench::print({"network/disagree/" + a.id + "/" + b.id, 100 * sum / rows, "%", {}, ""}, json);
    }
  }
}

void hold_curve(const bench::NetworkCurve& curve, const NcclTuner& tuner, const NcclSystem& system, bool json) {
  double sum = 0, worst = 0;
  int points = 0, within = 0;
  for (const auto& point : curve.points) {
    if (point.bus_GBps < 40) continue;
    NcclMachine machine = system.machine;
    machine.nodes = point.nodes;
    machine.ranks = point.gpus;
    const double bus =
        nccl_time(NcclOp::all_reduce, {point.bytes}, machine, tuner, system, {NcclAlgorithm::nvls_tree}).bus_GBps;
    const double error = std::abs(bus / point.bus_GBps - 1);
    sum += error;
    worst = std::max(worst, error);
    ++points;
    if (error <= 0.1) ++within;
  }
  bench::print({"network/h100-32-to-8192-gpus/mean", 100 * sum / points, "%", 10.0, "target"}, json);
  bench::print({"network/h100-32-to-8192-gpus/worst", 100 * worst, "%", 10.0, "target"}, json);
  bench::print({"network/h100-32-to-8192-gpus/within-10-%", 1.0 * within, "points", 1.0 * points, "all"}, json);
}

void measure_platform(const Library& library, std::int64_t nodes, double limit, bool json) {
  ClusterSpec cluster = load_cluster("selene", library);
  cluster.nodes = nodes;
  const double seconds = bench::median_seconds(3, [&] { build_topology(cluster); });
  bench::print({"network/platform-" + std::to_string(nodes) + "-nodes", seconds, "s", limit, "limit"}, json);
}

}  // namespace

int main(int argc, char** argv) {
  const bool json = bench::wants_json(argc, argv);
  const std::string root = STAGECRAFT_SOURCE_DIR;
  const Library library{{root + "/scenarios", root + "/topologies"}};
  const NcclTuner tuner = load_nccl_tuner(library);
  const std::vector<NcclSystem> systems = load_nccl_systems(library);
  const bench::NetworkRecords records = bench::load_network_records(root + "/scenarios/records/network.json");
  Means means;
  std::vector<bench::NetworkTable> held;
  for (const bench::NetworkTable& table : records.tables) {
    if (table.rows.size() < 5) continue;
    held.push_back(table);
    held.back().hardware = system_of(systems, table.system).hardware;
    hold(table, tuner, system_of(systems, table.system), json, means);
  }
  print_disagreements(held, json);
  hold_curve(records.curve, tuner, system_of(systems, records.curve.system), json);
  measure_platform(library, 1024, 0.1, json);
  bench::print({"network/tables/to-1-MiB", 100 * means.below / means.tables_below, "%", 20.0, "target"}, json);
  bench::print({"network/tables/above-1-MiB", 100 * means.above / means.tables_above, "%", 8.0, "target"}, json);
  bench::print({"network/worst-table/" + means.worst_table, 100 * means.worst, "%", {}, ""}, json);
  bench::print({"network/worst-peak/" + means.worst_peak, 100 * means.peak, "%", 5.0, "target"}, json);
  return 0;
}
