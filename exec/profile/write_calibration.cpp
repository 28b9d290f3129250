#include "exec/profile/write_calibration.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

namespace stagecraft {

namespace {

using Json = nlohmann::ordered_json;

Json constant(double value, double relative_error, const std::string& source) {
  return {{"value", value},
          {"relative_error", std::clamp(relative_error, 0.001, 1.0)},
          {"evidence", "measured"},
          {"source", source}};
}

/// Rate of the slowest wire inside a node, which transfer_efficiency is a fraction of.
double wire_rate(const Scenario& scenario) {
  double rate = 0;
  for (const WireSpec& wire : scenario.cluster.node.wires) {
    if (rate == 0 || wire.achieved.value < rate) rate = wire.achieved.value;
  }
  return rate;
}

/// The slowest kind of wire inside a node, which is what a group's links count as.
std::string link_word(const Scenario& scenario) {
  LinkKind kind = LinkKind::nvlink;
  for (const WireSpec& wire : scenario.cluster.node.wires) kind = std::max(kind, wire.kind);
  return to_text(kind);
}

Json collective(const TimedTransfer& one, const std::string& source) {
  Json law;
  law["latency_us"] = constant(one.latency_s * 1e6, one.relative_error, source);
  law["sqrt_us_per_byte"] = constant(0, one.relative_error, source);
  law["bus_GBps"] = constant(one.bytes_per_s * 1e-9, one.relative_error, source);
  // One protocol: the small-size law is never the faster one.
  law["low_latency_us"] = constant(one.latency_s * 1e6, one.relative_error, source);
  law["low_latency_us_per_MB"] = constant(1e12 / one.bytes_per_s * 10, one.relative_error, source);
  law["measured_bytes"] = {one.smallest, one.largest};
  law["measured_ranks"] = {one.ranks, one.ranks};
  return law;
}

}  // namespace

std::string calibration_text(const Profile& profile, const Scenario& scenario, const std::string& measured_on) {
  const std::string base = scenario.calibration.substr(0, scenario.calibration.find('+'));
  const std::string source = "measured on " + measured_on;
  Json document;
  document["kind"] = "hardware";
  document["extends"] = base;
  document["description"] = fmt::format("{}, measured for {} by stagecraft profile", measured_on, scenario.name);
  Json collectives = Json::object();
  Json constants = Json::object();
  for (const TimedTransfer& one : profile.transfers) {
    if (one.name != "send") {
      Json& law = collectives["node/" + one.name] = collective(one, source);
      law["measured_links"] = link_word(scenario);
      continue;
    }
    const double rate = wire_rate(scenario);
    if (rate <= 0) continue;
    constants["transfer_efficiency"] =
        constant(std::clamp(one.bytes_per_s / rate, 0.001, 1.0), one.relative_error, source);
    constants["transfer_latency_us"] = constant(one.latency_s * 1e6, one.relative_error, source);
  }
  if (profile.rank_spread) constants["rank_spread"] = constant(*profile.rank_spread, 0.3, source);
  if (!collectives.empty()) document["collectives"] = std::move(collectives);
  if (!constants.empty()) document["constants"] = std::move(constants);
  Json measured = Json::array();
  for (const TimedSegment& one : profile.segments) {
    measured.push_back({{"segment", one.segment},
                        {"batch", one.batch},
                        {"m", one.m},
                        {"n", one.n},
                        {"k", one.k},
                        {"bytes", one.bytes},
                        {"time_s", one.seconds},
                        {"relative_error", std::clamp(one.relative_error, 0.001, 1.0)}});
  }
  document["measured"] = std::move(measured);
  return document.dump(2) + "\n";
}

}  // namespace stagecraft
