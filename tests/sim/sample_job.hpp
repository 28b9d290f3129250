#pragma once
// Everything between a scenario and a simulation, with a calibration in which links reach their rates and nothing has
// latency.

#include <optional>

#include "../plan/sample_scenarios.hpp"
#include "cost/cost_model.hpp"
#include "plan/plan.hpp"
#include "schedule/family.hpp"
#include "schedule/graph.hpp"
#include "schedule/lower.hpp"
#include "topology/topology.hpp"

namespace stagecraft::samples {

inline Constant exactly(double value) {
  return {value, 0, Evidence::measured, "round figure"};
}

inline Calibration ideal_calibration() {
  Calibration calibration;
  calibration.name = "ideal";
  for (const ConstantMeaning& meaning : constant_meanings()) {
    const bool is_time = std::string(meaning.unit).ends_with("s");
    const bool is_spread = std::string(meaning.name).ends_with("_spread");
    calibration.constants[meaning.name] = exactly(is_time || is_spread ? 0 : 1);
  }
  for (const Dtype dtype : {Dtype::fp32, Dtype::tf32, Dtype::fp16, Dtype::bf16}) {
    calibration.gemm[dtype] = {exactly(1), exactly(0), exactly(1), exactly(0), exactly(1), {}};
  }
  for (const int version : {1, 2, 3}) {
    calibration.attention[version] = {exactly(1), exactly(1), exactly(0), exactly(0), exactly(0), {}};
  }
  return calibration;
}

struct Job {
  Topology topology;
  Plan plan;
  Schedule schedule;
  Graph graph;
  CostModel model;
};

inline Job job_of(const Scenario& scenario, const char* schedule_name,
                  const Calibration& calibration = ideal_calibration()) {
  Job job;
  job.topology = build_topology(scenario.cluster);
  job.plan = make_plan(scenario);
  ScheduleRequest request;
  request.shape = {job.plan.degrees.pipeline, job.plan.micro_batches,
                   static_cast<std::int32_t>(scenario.run.parallel.virtual_stages)};
  job.schedule = lower(find_schedule(schedule_name)->generate(request), job.plan);
  job.graph = make_graph(job.schedule);
  job.model = make_cost_model(job.plan, job.topology, calibration);
  return job;
}

/// p equal layers of F = B = 1 ms that send nothing.
inline Scenario silent_layers(std::int64_t pipeline, std::int64_t micro_batches) {
  Scenario sample = scenario(1, pipeline, 1, 1);
  PlainLayerSpec layer;
  layer.name = "layer";
  layer.forward_flops_per_sample = {312e9};  // of 312 TFLOP/s
  sample.model = {};
  sample.model.name = "layers";
  sample.model.plain_layers.assign(static_cast<std::size_t>(pipeline), layer);
  sample.run.batch = {micro_batches, 1};
  return sample;
}

}  // namespace stagecraft::samples
