#include "validate/network_fit.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <set>
#include <tuple>

#include "base/input_error.hpp"
#include "validate/collective_law_fit.hpp"

namespace stagecraft {
namespace {

using Times = std::vector<TimedCollective>;

constexpr std::array<double, 6> bounds{0, 0x1p15, 0x1p20, 0x1p25, 0x1p30, 0x1p60};

/// "all_reduce.log, reduce_scatter.log": where some times came from, each log once.
std::string sources(const Times& times) {
  std::set<std::string> names;
  for (const TimedCollective& time : times) names.insert(time.source);
  return fmt::format("{}", fmt::join(names, ", "));
}

std::string told(const Times& times) {
  const auto by_bytes = [](const TimedCollective& a, const TimedCollective& b) { return a.bytes < b.bytes; };
  const auto [least, most] = std::minmax_element(times.begin(), times.end(), by_bytes);
  std::set<std::string> places;
  for (const TimedCollective& time : times) {
    places.insert(fmt::format("{} x {} GPUs", time.nodes, time.ranks_per_node));
  }
  return fmt::format("nccl-tests on {}, {:.0f} B to {:.0f} B: {}; fitted by stagecraft calibrate",
                     fmt::join(places, " and "), least->bytes, most->bytes, sources(times));
}

void refuse_what_has_no_law(const Times& times, const Topology& topology) {
  if (times.empty()) throw InputError(InputProblem{"nccl-tests", 0, 0, "", "no times", "at least one log", ""});
  if (!topology.cluster.faults.empty()) {
    throw InputError(InputProblem{topology.cluster.name, 0, 0, "/faults", "faults", "the cluster without any", ""});
  }
  for (const TimedCollective& time : times) {
    if (time.nodes * time.ranks_per_node < 2)
      throw InputError(InputProblem{time.source, 0, 0, "", "one rank", "at least two", ""});
    if (time.op == NcclOp::reduce)
      throw InputError(InputProblem{time.source, 0, 0, "", "reduce_perf", "a collective of the cost model", ""});
  }
}

void add(NetworkFit& fit, const std::vector<NetworkConstant>& found, const std::string& source) {
  for (const NetworkConstant& one : found) {
    fit.constants.push_back(one);
    fit.constants.back().name = "constants/" + one.name;
    if (!one.determined) {
      fit.notes.push_back(fmt::format("{}: not determined by these times, stays as it was", one.name));
      continue;
    }
    const Constant constant{one.after, one.relative_error, Evidence::measured, source};
    fit.fitted.constants.at(one.name) = constant;
    fit.profile.constants.emplace_back("constants/" + one.name, constant);
  }
}

/// What the law was measured over: the slowest kind of links, and what all of a GPU achieve together.
struct MeasuredLinks {
  LinkKind kind = LinkKind::nvlink;
  double GBps = 0;
};

void add_law(NetworkFit& fit, const Times& times, const MeasuredLinks& links, const Calibration& before) {
  const std::string key = std::string("node/") + to_text(times.front().op), name = "collectives/" + key + "/";
  CollectiveLawFit found = fit_collective_law(times, links.kind);
  const auto known = before.collectives.find(key);
  const CollectiveProfile old = known == before.collectives.end() ? CollectiveProfile{} : known->second;
  CollectiveProfile& law = found.law;
  const std::string source = told(times);
  const std::array<std::tuple<const char*, Constant*, double>, 5> all{
      {{"latency_us", &law.latency_us, old.latency_us.value},
       {"sqrt_us_per_byte", &law.sqrt_us_per_byte, old.sqrt_us_per_byte.value},
       {"bus_GBps", &law.bus_GBps, old.bus_GBps.value},
       {"low_latency_us", &law.low_latency_us, old.low_latency_us.value},
       {"low_latency_us_per_MB", &law.low_latency_us_per_MB, old.low_latency_us_per_MB.value}}};
  for (std::size_t i = 0; i < all.size(); ++i) {
    const auto& [word, constant, was] = all[i];
    const bool unused = i >= 3 && !found.small_sizes;
    constant->source = unused ? "no protocol of its own for small sizes: " + source : source;
    fit.profile.constants.emplace_back(name + word, *constant);
    if (!unused) {
      fit.constants.push_back({name + word, was, constant->value, found.intervals[i], true, constant->relative_error});
    }
  }
  if (!found.small_sizes) fit.notes.push_back(key + ": small sizes follow the same law as large ones");
  fit.profile.ranges[name + "measured_bytes"] = law.bytes;
  fit.profile.ranges[name + "measured_ranks"] = law.ranks;
  fit.profile.words[name + "measured_links"] = to_text(links.kind);
  law.link_GBps = links.GBps;
  if (links.GBps > 0) fit.profile.numbers[name + "measured_link_GBps"] = links.GBps;
  fit.fitted.collectives[key] = law;
}

void add_errors(NetworkFit& fit, const Times& times, const NetworkPlaces& places, const Calibration& before) {
  std::set<std::tuple<NcclOp, std::int32_t, std::int32_t>> kinds;
  for (const TimedCollective& time : times) kinds.insert({time.op, time.nodes, time.ranks_per_node});
  for (const auto& [op, nodes, per_node] : kinds) {
    for (std::size_t i = 0; i + 1 < bounds.size(); ++i) {
      std::vector<double> old, now;
      for (const TimedCollective& time : times) {
        if (std::tuple{time.op, time.nodes, time.ranks_per_node} != std::tuple{op, nodes, per_node}) continue;
        if (time.bytes <= bounds[i] || time.bytes > bounds[i + 1]) continue;
        old.push_back(predicted_time(time, places, before) / time.seconds - 1);
        now.push_back(predicted_time(time, places, fit.fitted) / time.seconds - 1);
      }
      if (old.empty()) continue;
      fit.errors.push_back(
          {op, nodes, per_node, bounds[i], bounds[i + 1], *error_statistics(old), *error_statistics(now)});
    }
  }
}

}  // namespace

NetworkFit fit_network(const Times& times, const Topology& topology, const Calibration& calibration) {
  refuse_what_has_no_law(times, topology);
  const NetworkPlaces places = places_of(times, topology);
  NetworkFit fit;
  fit.hardware = calibration.hardware;
  fit.fitted = calibration;
  std::map<NcclOp, Times> inside;
  Times across, sends;
  for (const TimedCollective& time : times) {
    (time.op == NcclOp::sendrecv ? sends : time.nodes > 1 ? across : inside[time.op]).push_back(time);
  }
  for (const auto& [op, of_op] : inside) {
    MeasuredLinks links;
    for (const TimedCollective& time : of_op) {
      const GroupShape& shape = places.shapes.at({time.nodes, time.ranks_per_node});
      if (links.GBps > 0 && shape.inside < links.kind) continue;
      links = {shape.inside, shape.links_of_gpu.value / 1e9};
    }
    add_law(fit, of_op, links, calibration);
  }
  if (!across.empty()) add(fit, fit_across_nodes(across, places, fit.fitted), told(across));
  if (!sends.empty()) add(fit, fit_sends(sends, places, fit.fitted), told(sends));
  add_errors(fit, times, places, calibration);
  fit.profile.extends = calibration.hardware;
  fit.profile.description =
      fmt::format("{}, its network measured with nccl-tests: {}", calibration.hardware, sources(times));
  return fit;
}

}  // namespace stagecraft
