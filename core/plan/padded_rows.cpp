#include "plan/padded_rows.hpp"

namespace stagecraft {

bool asks_for_padded_rows(const MoeSpec& moe, const RunSpec& run) {
  const bool dispatcher_pads = run.parallel.expert > 1 && run.experts.dispatcher == Dispatcher::deduplicated;
  return moe.experts > 0 && moe.capacity_factor <= 0 && run.precision == Precision::fp8_mixed &&
         runs_expert_by_expert(run) && !dispatcher_pads;
}

}  // namespace stagecraft
