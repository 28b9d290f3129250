// What selective recompute runs again in the backward pass: the forward's own segments, under their names.

#include "schedule/body_layers.hpp"

namespace stagecraft {

bool runs_again(const Plan& plan, bool RecomputeModules::*module) {
  return plan.run.recompute == Recompute::selective && plan.run.recompute_modules.*module;
}

void add_again(const BackwardList& list, const std::vector<Segment>& forward) {
  if (list.input) list.out->insert(list.out->end(), forward.begin(), forward.end());
}

}  // namespace stagecraft
