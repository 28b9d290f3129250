#include "sim/live_flows.hpp"

#include <algorithm>
#include <cmath>

namespace stagecraft {

LiveFlows::LiveFlows(const Playbook& book, FlowNetwork& network, std::vector<FlowStretch>* stretches)
    : book_(book), network_(network), links_(book.links.size()) {
  if (stretches != nullptr) record_.emplace(network, *stretches);
}

bool LiveFlows::has_company(std::int32_t path) const {
  const std::vector<Crossing>& crossings = path_at(path).crossings;
  return std::any_of(crossings.begin(), crossings.end(), [&](const Crossing& crossing) {
    return links_[static_cast<std::size_t>(crossing.link)].live > 0;
  });
}

LoneEnd LiveFlows::start(std::int32_t path, std::uint64_t units, std::uint64_t flow, double now_s) {
  if (has_company(path)) {
    if (record_) record_->advance(now_s);
    for (const Crossing& crossing : path_at(path).crossings) {
      const std::uint32_t lone = links_[static_cast<std::size_t>(crossing.link)].lone;
      if (lone != nobody) hand_over(lone, now_s);
    }
    enter(path, nobody);
    send(path, units, flow, now_s);
    return {};
  }
  if (free_.empty()) {
    free_.push_back(static_cast<std::uint32_t>(lone_.size()));
    lone_.emplace_back();
  }
  const std::uint32_t slot = free_.back();
  free_.pop_back();
  Lone& lone = lone_[slot];
  lone = {now_s, units, flow, path, lone.serial};
  enter(path, slot);
  return {true, now_s + static_cast<double>(units) / path_at(path).cap, slot, lone.serial};
}

void LiveFlows::finish_lone(const LoneEnd& end) {
  const Lone& lone = lone_[end.slot];
  if (record_) record_->add({lone.begin_s, end.time_s, static_cast<double>(lone.units), lone.path});
  leave(lone.path);
  free_slot(end.slot);
}

void LiveFlows::finish(std::int32_t path, std::uint64_t flow, double now_s) {
  if (record_) record_->end(flow, now_s);
  leave(path);
}

void LiveFlows::send(std::int32_t path, std::uint64_t units, std::uint64_t flow, double now_s) {
  const FlowHandle handle = network_.start_flow(path, units, flow);
  if (record_) record_->follow(flow, handle, path, units, now_s);
}

void LiveFlows::leave(std::int32_t path) {
  for (const Crossing& crossing : path_at(path).crossings) {
    LinkState& link = links_[static_cast<std::size_t>(crossing.link)];
    --link.live;
    link.lone = nobody;
  }
}

void LiveFlows::enter(std::int32_t path, std::uint32_t lone_slot) {
  for (const Crossing& crossing : path_at(path).crossings) {
    LinkState& link = links_[static_cast<std::size_t>(crossing.link)];
    ++link.live;
    link.lone = lone_slot;
  }
}

/// Gives what is left of a lone flow to SimGrid; it stays on its links.
void LiveFlows::hand_over(std::uint32_t slot, double now_s) {
  const Lone lone = lone_[slot];
  const double sent = path_at(lone.path).cap * (now_s - lone.begin_s);
  const double left = std::max(1.0, std::round(static_cast<double>(lone.units) - sent));
  for (const Crossing& crossing : path_at(lone.path).crossings) {
    links_[static_cast<std::size_t>(crossing.link)].lone = nobody;
  }
  free_slot(slot);
  if (record_) record_->add({lone.begin_s, now_s, sent, lone.path});
  send(lone.path, static_cast<std::uint64_t>(left), lone.flow, now_s);
}

void LiveFlows::free_slot(std::uint32_t slot) {
  ++lone_[slot].serial;
  free_.push_back(slot);
}

}  // namespace stagecraft
