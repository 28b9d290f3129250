#include "cost/measured_range.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <set>

#include "cost/cost_model.hpp"
#include "cost/kernel_law.hpp"

namespace stagecraft {
namespace {

void check_kernel(const Kernel& kernel, const char* name, const CostModel& model, std::set<std::string>& found) {
  const bool is_gemm = kernel.kind == KernelKind::gemm;
  if (is_gemm && model.calibration.gemm.find(kernel.dtype) == model.calibration.gemm.end()) {
    found.insert(
        fmt::format("{} GEMMs have no measured law here; that of a neighbouring dtype is used", to_text(kernel.dtype)));
  }
  if (!outside_range(kernel, model.calibration)) return;
  if (is_gemm) {
    const MeasuredRange& k = model.calibration.gemm.at(kernel.dtype).k;
    found.insert(fmt::format("GEMM {} has k = {}, the {} law was measured from {:.0f} to {:.0f}", name, kernel.k,
                             to_text(kernel.dtype), k.min, k.max));
    return;
  }
  const MeasuredRange& length = model.calibration.attention.at(kernel.flash_version).length;
  found.insert(
      fmt::format("attention over {} tokens, measured from {:.0f} to {:.0f}", kernel.n, length.min, length.max));
}

/// Inside a node, by a law that was measured over these links.
void check_law(const Segment& segment, const GroupShape& shape, const CostModel& model, std::set<std::string>& found) {
  const CollectiveProfile* const law = law_inside(segment.collective.kind, model.calibration);
  if (law == nullptr || law->links != shape.inside) return;
  if (!law->ranks.holds(shape.ranks)) {
    found.insert(fmt::format("{} over {} GPUs of a node, measured over {:.0f} to {:.0f}", segment.name, shape.ranks,
                             law->ranks.min, law->ranks.max));
  }
  if (!law->bytes.holds(segment.collective.bytes.value)) {
    found.insert(fmt::format("{} moves {:.0f} B, measured from {:.0f} to {:.0f}", segment.name,
                             segment.collective.bytes.value, law->bytes.min, law->bytes.max));
  }
}

void check_collective(const Segment& segment, const CostModel& model, std::set<std::string>& found) {
  if (is_host_copy(segment.collective.kind)) {
    found.insert(
        fmt::format("{}: derived from the PCIe rate, with all GPUs of the node copying at once", segment.name));
    return;
  }
  const GroupShape& shape = shape_of(model, segment.collective.group);
  if (shape.ranks < 2) return;
  if (shape.nodes > 1) {
    found.insert(fmt::format("{} across {} nodes: derived from the NICs' rate", segment.name, shape.nodes));
    return;
  }
  const bool measured = std::any_of(model.calibration.collectives.begin(), model.calibration.collectives.end(),
                                    [&](const auto& law) { return law.second.links == shape.inside; });
  if (!measured) {
    found.insert(fmt::format("{}: no measured collective for these links, derived from their rates", segment.name));
  }
  check_law(segment, shape, model, found);
}

}  // namespace

bool outside_range(const Kernel& kernel, const Calibration& calibration) {
  if (kernel.kind == KernelKind::gemm) {
    const auto law = calibration.gemm.find(kernel.dtype);
    return law != calibration.gemm.end() && kernel.k > 0 && !law->second.k.holds(static_cast<double>(kernel.k));
  }
  if (kernel.kind != KernelKind::attention) return false;
  const auto law = calibration.attention.find(kernel.flash_version);
  return law != calibration.attention.end() && !law->second.length.holds(static_cast<double>(kernel.n));
}

namespace {

void check_bodies(const CostModel& model, const Schedule& schedule, std::set<std::string>& found) {
  for (const Body& body : schedule.bodies.bodies) {
    for (const BodyPart& part : body.parts) {
      for (const Segment& segment : part.segments) {
        if (segment.is_collective) {
          check_collective(segment, model, found);
        } else if (find_measured(model.calibration, segment) == nullptr) {
          check_kernel(segment.kernel, segment.name, model, found);
        }
      }
    }
  }
}

}  // namespace

std::vector<std::string> outside_measured_range(const CostModel& model, const Schedule& schedule, const Plan& plan) {
  std::set<std::string> found;
  check_bodies(model, schedule, found);
  for (const CostModel& other : model.other_kinds) check_bodies(other, schedule, found);
  if (is_of_another_gpu(plan.gpu, model.calibration)) {
    found.insert(fmt::format("no profile of {}: fractions of its peaks as on {}", plan.gpu.name,
                             fmt::join(model.calibration.gpus, ", ")));
  }
  const GroupShape& data = shape_of(model, Axis::data);
  if (group_size(plan.degrees, Axis::data) > 1 && data.nodes > 2) {
    found.insert(
        fmt::format("the data group spans {} nodes; all-reduce by size was measured on one and two", data.nodes));
  }
  return {found.begin(), found.end()};
}

}  // namespace stagecraft
