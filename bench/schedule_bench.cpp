// How long a schedule takes from nothing to a checked program and its graph.

#include <optional>
#include <string>

#include "figure.hpp"
#include "schedule/check.hpp"
#include "schedule/family.hpp"
#include "schedule/graph.hpp"
#include "schedule/lower.hpp"

using namespace stagecraft;

namespace {

LoweringPolicy usual_policy() {
  LoweringPolicy policy;
  policy.reduce_grad = policy.reduce_tied = policy.gather_params = true;
  return policy;
}

std::size_t operations_of(const Schedule& schedule) {
  std::size_t operations = 0;
  for (const auto& program : schedule.programs) operations += program.size();
  return operations;
}

/// generate + lower + check of one request, and the graph and longest path apart.
void measure(const char* label, const char* schedule_name, const PipelineShape& shape, bool recompute,
             std::optional<double> limit_s, int runs, bool json) {
  const FamilyEntry* entry = find_schedule(schedule_name);
  ScheduleRequest request;
  request.shape = shape;
  LoweringPolicy policy = usual_policy();
  policy.recompute = recompute;
  const std::string prefix = std::string("schedule/") + label;
  std::size_t findings = 0;
  const double checked = bench::median_seconds(runs, [&] {
    const Schedule schedule = lower(entry->generate(request), policy);
    findings += check_schedule(schedule).size();
  });
  bench::print({prefix + "/generate-lower-check", checked, "s", limit_s, "limit"}, json);
  bench::print({prefix + "/findings", static_cast<double>(findings), "findings", {}, ""}, json);
  const double lowered = bench::median_seconds(runs, [&] { lower(entry->generate(request), policy); });
  bench::print({prefix + "/generate-lower", lowered, "s", {}, ""}, json);

  const Schedule schedule = lower(entry->generate(request), policy);
  bench::print({prefix + "/operations", static_cast<double>(operations_of(schedule)), "operations", {}, ""}, json);
  bench::print({prefix + "/graph", bench::median_seconds(runs, [&] { make_graph(schedule); }), "s", {}, ""}, json);
  const Graph graph = make_graph(schedule);
  const std::vector<double> durations(node_count(graph), 1.0);
  NodeTimes times;
  const double path = bench::median_seconds(runs, [&] { longest_path(graph, durations, times); });
  bench::print({prefix + "/longest-path", path, "s", {}, ""}, json);
}

void measure_family(bool json) {
  const double seconds = bench::median_seconds(20, [] {
    for (const FamilyEntry& entry : schedule_family()) {
      ScheduleRequest request;
      request.shape = {8, 32, usual_chunks(entry)};
      if (entry.refuse(request).empty()) lower(entry.generate(request), usual_policy());
    }
  });
  bench::print({"schedule/family-p8-m32/generate-lower", seconds, "s", 0.02, "limit"}, json);
}

}  // namespace

int main(int argc, char** argv) {
  const bool json = bench::wants_json(argc, argv);
  measure("p64-m1024-v2", "interleaved-1f1b", {64, 1024, 2}, false, 0.5, 5, json);
  measure("p16-m192-recompute", "1f1b", {16, 192, 1}, true, {}, 200, json);
  measure_family(json);
  return 0;
}
