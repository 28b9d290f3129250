#include "report/keys.hpp"

namespace stagecraft {

std::vector<ReportKey> keys_of_costs() {
  const auto key = [](const char* name, const char* meaning, const char* formula) {
    return ReportKey{
        std::string("costs.") + name,
        "number",
        std::string(meaning) + "; seconds of a step, mean over the pipeline ranks, contained in the breakdown.",
        formula,
        {}};
  };
  return {
      key("optimizer_s", "Update of the parameters", "its bytes over the memory's rate, or the host's Adam"),
      key("gradient_clipping_s", "Norm of the gradients and their scaling by it", "its bytes over the memory's rate"),
      key("host_s", "The framework's host work once per step", "host_step_ms of the calibration"),
      key("data_loading_s", "Waiting for the next batch", "data_loading of the scenario"),
      key("garbage_collection_s", "The GPU has run out of launched kernels while Python collects garbage",
          "pauses that a step waits for x what is left of one once the queue of launches is empty "
          "(docs/cost-model.md)"),
      key("slowest_rank_s", "Waiting for the slowest of the ranks that do the same",
          "rank_spread x expected maximum over the ranks, block_spread likewise between collectives of the sharding "
          "group (docs/cost-model.md)"),
      key("kernel_launches_s", "The GPU waits for the host to launch its kernels",
          "of each operation: host_launch_us x launches over the time of its kernels, where that is more")};
}

}  // namespace stagecraft
