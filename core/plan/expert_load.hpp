#pragma once
// How unevenly tokens fall on experts.

#include "plan/plan.hpp"

namespace stagecraft {

/// Rows of the busiest rank of an expert group over the even share, on average over the blocks with experts: each
/// expert's load is drawn from a lognormal distribution with the run's spread (seeded, the same on every machine), a
/// rank has the sum of its experts, and the group waits for the largest. 1 if the loads are even. With a capacity no
/// expert takes more than it.
double busiest_expert_rank(const Plan& plan);

}  // namespace stagecraft
