#pragma once
// Experts in the place of a block's MLP: sizes that time, bytes and tests share. Megatron-LM, core/transformer/moe
// (router.py, token_dispatcher.py, experts.py); DeepSeek-V3, arXiv 2412.19437, section 2.1.2.

#include "schedule/body_segments.hpp"

namespace stagecraft {

/// Rows of the micro-batch on one rank.
struct ExpertRows {
  double tokens = 0;    // that this rank routes: its slice under sequence parallelism
  double sent = 0;      // copies that it sends: top_k each, or experts * capacity
  double received = 0;  // that its experts work on, gathered over the expert-tensor group; of the busiest rank
  double average = 1;   // of the average rank over the busiest
  std::int64_t local_experts = 1;
  std::int32_t launches = 1;  // of a product or a cast over all of them
};

/// Of so many places, how many the copies of a token go to on average, each place as likely: M (1 - (1 - 1/M)^k).
double distinct_places(double places, double copies);

/// With a capacity each expert takes ceil(tokens * top_k / experts * capacity_factor) copies from every rank, padded;
/// dropless it takes what it is sent.
ExpertRows expert_rows(const BodyShape& shape, const Plan& plan);

/// Bytes of one rank's all-to-all to the experts (dispatch) and back (combine), its own part included.
double dispatch_bytes(const BodyShape& shape, const Plan& plan);
double combine_bytes(const BodyShape& shape, const Plan& plan);

/// Numbers that stay for the backward pass behind the router: rows of the experts and of the shared expert.
double kept_by_experts(const BodyShape& shape, const Plan& plan);

// experts_bias.cpp: what biases of the two products cost beside them.
void add_expert_bias_forward(std::vector<Segment>& out, const BodyShape& shape, const Plan& plan,
                             const ExpertRows& rows);
void add_expert_down_bias_backward(const BackwardList& list, const BodyShape& shape, const Plan& plan,
                                   const ExpertRows& rows);
void add_expert_up_bias_backward(const BackwardList& list, const BodyShape& shape, const Plan& plan,
                                 const ExpertRows& rows, std::int64_t up);

void add_experts_forward(std::vector<Segment>& out, const BodyShape& shape, const Plan& plan);
void add_experts_backward(const BackwardList& list, const BodyShape& shape, const Plan& plan);

}  // namespace stagecraft
