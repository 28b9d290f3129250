// Slices of the sequence, and what a pipeline message is cut into.
#include <fmt/format.h>

#include "plan/feasibility_checks.hpp"

namespace stagecraft {

void check_sequence(const Scenario& scenario, Findings& findings) {
  const ModelSpec& model = scenario.model;
  const RunSpec& run = scenario.run;
  const ParallelSpec& parallel = run.parallel;
  if (!model.plain_layers.empty()) return;

  const std::int64_t slices = parallel.context * (parallel.sequence_parallel ? parallel.tensor : 1);
  if (run.sequence_length % slices != 0) {
    const std::int64_t below = run.sequence_length / slices * slices;
    findings.push_back({Severity::error, "sequence-not-divisible", "/sequence_length",
                        fmt::format("{} tokens cannot be split into {} slices: context parallelism takes {}, sequence "
                                    "parallelism over the tensor group {}",
                                    run.sequence_length, slices, parallel.context, slices / parallel.context),
                        below == 0 ? fmt::format("{}", slices) : fmt::format("{} or {}", below, below + slices)});
  }
  if (model.positions == Positions::learned && run.sequence_length > model.sequence_length) {
    findings.push_back(
        {Severity::error, "sequence-beyond-positions", "/sequence_length",
         fmt::format("{} tokens, but the model has {} learned positions", run.sequence_length, model.sequence_length),
         fmt::format("{}", model.sequence_length)});
  }
  const bool cuts_messages = run.scatter_gather && !parallel.sequence_parallel && parallel.pipeline > 1;
  const auto message_divides = [&](std::int64_t tensor) {
    // Remainders first: the product of the three sizes may exceed 64 bits.
    return run.sequence_length / parallel.context % tensor * (model.hidden % tensor) % tensor *
               (run.batch.micro % tensor) % tensor ==
           0;
  };
  if (cuts_messages && !message_divides(parallel.tensor)) {
    findings.push_back(
        {Severity::error, "message-not-divisible", "/scatter_gather",
         fmt::format("an activation of {} x {} x {} elements cannot be cut into {} equal parts for the tensor ranks",
                     run.sequence_length / parallel.context, run.batch.micro, model.hidden, parallel.tensor),
         "false"});
  }
}

}  // namespace stagecraft
