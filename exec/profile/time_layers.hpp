#pragma once
// Seconds of the layers of a scenario, each kind run alone on the ranks of one tensor group.

#include "exec/profile/measured_segment.hpp"
#include "exec/run/options.hpp"
#include "exec/transport/transport.hpp"
#include "plan/plan.hpp"

namespace stagecraft {

/// Called by every member of `tensor` at the same time. Embedding, blocks, head with loss are run as stages of their
/// own: forward, backward, and backward in two halves, with the exchanges of the tensor group taken out. A stage's time
/// is divided over the segments of its body in proportion to a roofline of 5 FLOP per byte, so that their sum is what
/// was measured.
void time_layers(const Plan& plan, const ExecuteOptions& options, Transport& transport, const Group& tensor,
                 std::int32_t repetitions, Profile& profile);

/// Seconds of the optimizer per parameter: zeroing, norm, update.
void time_optimizer(const Plan& plan, const ExecuteOptions& options, Transport& transport, const Group& self,
                    std::int32_t repetitions, Profile& profile);

}  // namespace stagecraft
