// The closed form of NCCL's collectives against their flows on the links of a cluster on which nothing else runs.

#include <catch2/catch.hpp>
#include <map>

#include "cost/nccl.hpp"
#include "sim/flow_network.hpp"
#include "topology/ring.hpp"
#include "topology/topology.hpp"

using namespace stagecraft;

namespace {

struct Flow {
  GpuId from, to;
  double share = 1;  // of what a rank sends
};

/// Starts all flows at once; the last end counts.
struct AllAtOnce final : FlowListener {
  FlowNetwork& network;
  std::vector<std::uint64_t> units;
  double end_s = 0;

  explicit AllAtOnce(FlowNetwork& of) : network(of) {}
  void on_alarm() override {
    for (std::size_t i = 0; i < units.size(); ++i) network.start_flow(static_cast<std::int32_t>(i), units[i], i);
  }
  void on_flow_end(std::uint64_t) override { end_s = std::max(end_s, network.now()); }
};

/// Seconds until all flows are through if a rank sends `bytes` at no more than `rate` bytes/s, on links that carry what
/// they achieve.
double played_s(const Topology& topology, const std::vector<Flow>& flows, double bytes, double rate) {
  FlowNetwork network;
  AllAtOnce listener(network);
  std::map<LinkId, std::int32_t> known;
  Route route;
  for (const Flow& flow : flows) {
    find_route(topology, flow.from, flow.to, route);
    std::map<std::int32_t, std::int32_t> crossed;
    for (const LinkId id : route.links) {
      const auto found = known.find(id);
      const std::int32_t number =
          found != known.end() ? found->second
                               : network.add_shared_link(link(topology, id).name, link(topology, id).achieved.value);
      known.emplace(id, number);
      ++crossed[number];
    }
    std::vector<Crossing> crossings;
    for (const auto& [number, times] : crossed) crossings.push_back({number, times});
    network.add_path(rate * flow.share, crossings);
    listener.units.push_back(static_cast<std::uint64_t>(bytes * flow.share));
  }
  network.run(listener);
  return listener.end_s;
}

std::vector<Flow> flows_of(NcclOp op, const Topology& topology, const std::vector<GpuId>& members) {
  std::vector<Flow> flows;
  const std::size_t count = members.size();
  if (op == NcclOp::sendrecv) {
    for (std::size_t i = 0; i < count; ++i) flows.push_back({members[i], members[(i + 1) % count], 1});
  } else if (op == NcclOp::all_to_all) {
    for (const GpuId from : members) {
      for (const GpuId to : members) {
        if (from != to) flows.push_back({from, to, 1 / static_cast<double>(count - 1)});
      }
    }
  } else {
    const Ring ring = make_ring(topology, members);
    for (const RingEdge& edge : ring.edges)
      flows.push_back({edge.from, edge.to, static_cast<double>(edge.weight) / static_cast<double>(ring.units)});
  }
  return flows;
}

Calibration plain_calibration() {
  Calibration calibration;
  for (const ConstantMeaning& meaning : constant_meanings())
    calibration.constants[meaning.name] = {1, 0, Evidence::measured, "round figure"};
  return calibration;
}

}  // namespace

TEST_CASE("every collective takes as long in flows as in closed form while nothing else runs", "[sim]") {
  const std::string root = STAGECRAFT_SOURCE_DIR;
  const Library library{{root + "/scenarios", root + "/topologies"}};
  const NcclTuner tuner = load_nccl_tuner(library);
  for (const char* name : {"selene", "eos", "dgx-1-v100"}) {
    const Topology topology = build_topology(load_cluster(name, library));
    for (const std::int64_t gpus : {8, 16, 32}) {
      const NcclMachine machine = nccl_machine(topology, gpus, tuner, plain_calibration());
      std::vector<GpuId> members;
      for (std::int32_t gpu = 0; gpu < gpus; ++gpu) members.emplace_back(gpu);
      for (const NcclOp op : {NcclOp::all_reduce, NcclOp::all_gather, NcclOp::reduce_scatter, NcclOp::broadcast,
                              NcclOp::reduce, NcclOp::all_to_all, NcclOp::sendrecv}) {
        const bool peers = op == NcclOp::all_to_all || op == NcclOp::sendrecv;
        const std::vector<NcclAlgorithm> only = {peers ? NcclAlgorithm::p2p : NcclAlgorithm::ring};
        const Bytes bytes{64 * 0x1p20};
        const NcclTime closed = nccl_time(op, bytes, machine, tuner, {}, only);
        const double wire = bytes.value * nccl_bus_factor(op, machine.ranks);
        const double flows_s = played_s(topology, flows_of(op, topology, members), wire, closed.ran.bus * 1e9);
        INFO(name << ", " << gpus << " GPUs, " << to_text(op));
        CHECK(closed.ran.latency_us * 1e-6 + flows_s == Approx(closed.total.value).epsilon(1e-5));
      }
    }
  }
}
