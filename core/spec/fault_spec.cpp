#include "spec/fault_spec.hpp"

#include <fmt/format.h>

namespace stagecraft {
namespace {

std::string percent(double fraction) {
  return fmt::format("{:.4g} %", 100 * fraction);
}

std::string at(double left) {
  return left > 0 ? "at " + percent(left) : "down";
}

std::string of_nodes(const FaultSpec& fault) {
  if (fault.nodes.empty()) return "every node";
  std::string text = fmt::format("node{} {}", fault.nodes.size() > 1 ? "s" : "", fault.nodes.front());
  constexpr std::size_t most = 4;
  for (std::size_t i = 1; i < fault.nodes.size() && i < most; ++i) text += fmt::format(", {}", fault.nodes[i]);
  if (fault.nodes.size() > most) text += fmt::format(" and {} more", fault.nodes.size() - most);
  return text;
}

std::string leaves(const FaultSpec& fault) {
  std::string text = fault.leaf_group < 0 ? "every leaf group" : fmt::format("leaf group {}", fault.leaf_group);
  if (fault.rail >= 0) text = fmt::format("rail {} of {}", fault.rail, text);
  return text;
}

}  // namespace

bool is_even(const FaultSpec& fault) {
  switch (fault.kind) {
    case FaultKind::leaf:
      return fault.leaf_group < 0;
    case FaultKind::background:
      return fault.leaf_group < 0;
    case FaultKind::gpu:
      return false;
    default:
      return fault.nodes.empty();
  }
}

std::string describe(const FaultSpec& fault) {
  switch (fault.kind) {
    case FaultKind::wire:
      return fmt::format("the wire {}-{} of {} {}", fault.from, fault.to, of_nodes(fault), at(fault.left));
    case FaultKind::nic:
      return fmt::format("{} of {} {}", fault.device, of_nodes(fault), at(fault.left));
    case FaultKind::gpu:
      return fmt::format("{} of {} at {} of its speed", fault.device, of_nodes(fault), percent(fault.left));
    case FaultKind::leaf:
      return fmt::format("the cables to the spine of {} {}", leaves(fault), at(fault.left));
    case FaultKind::background:
      return fmt::format("other tenants take {} of the fabric of {}", percent(1 - fault.left), leaves(fault));
    case FaultKind::gpudirect_off:
      return fmt::format("GPUDirect off on {}", of_nodes(fault));
    case FaultKind::access_control:
      return fmt::format("PCIe access control on in {}", of_nodes(fault));
    case FaultKind::nic_moved:
      return fmt::format("{} of {} in a slot of {}", fault.device, of_nodes(fault), fault.to);
  }
  return "";
}

}  // namespace stagecraft
