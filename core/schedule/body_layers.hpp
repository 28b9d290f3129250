#pragma once
// The segments of each kind of layer, for one rank and one micro-batch; one .cpp file per kind.

#include "schedule/body_segments.hpp"

namespace stagecraft {

// body_block.cpp: one transformer block.
void add_block_forward(std::vector<Segment>& out, const BodyShape& shape, const Plan& plan, const BlockKind& kind);
void add_block_backward(const BackwardList& list, const BodyShape& shape, const Plan& plan, const BlockKind& kind);

// body_beside.cpp: a block's forward pass beside a backward pass of another micro-batch.
/// Both passes in the order in which they run together; empty unless the block's experts overlap (overlap.expert).
/// Without `weight` weight gradients are left to a pass of their own.
std::vector<Segment> beside_another_pass(const BodyShape& shape, const Plan& plan, const BlockKind& kind, bool weight);

// body_mlp.cpp: up (and gate) projection, activation, down projection, without the norm and residual around them.
void add_mlp_forward(std::vector<Segment>& out, const BodyShape& shape, const Plan& plan);
void add_mlp_backward(const BackwardList& list, const BodyShape& shape, const Plan& plan);

// body_residual.cpp: norms, bias + dropout + residual, and the collectives between regions of a tensor-parallel block.
void add_norm_forward(std::vector<Segment>& out, const char* name, const BodyShape& shape);
void add_norm_backward(const BackwardList& list, const char* name, const char* weight_name, const BodyShape& shape);
void add_residual_forward(std::vector<Segment>& out, const char* name, const BodyShape& shape, double dropout,
                          bool bias);
void add_residual_backward(const BackwardList& list, const char* name, const char* bias_name, const BodyShape& shape,
                           double dropout, bool bias);
/// Before a column-parallel layer: all-gather of the sequence under sequence parallelism, nothing otherwise.
void enter_tensor_region(std::vector<Segment>& out, const char* name, const BodyShape& shape);
/// After a row-parallel layer: all-reduce, or reduce-scatter under sequence parallelism.
void leave_tensor_region(std::vector<Segment>& out, const char* name, const BodyShape& shape);

// body_offload.cpp: what of an MLP's two products stays for the backward pass, in tensors of its inner width.
double kept_inner_tensors(const BodyShape& shape, const Plan& plan);

// body_clamp.cpp: limits on what enters an activation, where kernels of their own set them.
/// `elements` enter the activation, gate included.
void add_clamp_forward(std::vector<Segment>& out, const char* name, const BodyShape& shape, const MlpSpec& mlp,
                       double elements);
void add_clamp_backward(const BackwardList& list, const char* name, const BodyShape& shape, const MlpSpec& mlp,
                        double elements);

// body_embedding.cpp, body_head.cpp, body_plain.cpp.
void add_embedding_forward(std::vector<Segment>& out, const BodyShape& shape, const Plan& plan);
void add_embedding_backward(const BackwardList& list, const BodyShape& shape, const Plan& plan);
/// Rows that the projection and the loss see: a classifier projects the first token of each sequence.
BodyShape projected_rows(BodyShape shape, const HeadSpec& head);
void add_head_forward(std::vector<Segment>& out, const BodyShape& shape, const ModelSpec& model);
void add_head_backward(const BackwardList& list, const BodyShape& shape, const ModelSpec& model);
void add_loss_forward(std::vector<Segment>& out, const BodyShape& shape, LossKernel kernel);
void add_loss_backward(const BackwardList& list, const BodyShape& shape, LossKernel kernel);
void add_plain_forward(std::vector<Segment>& out, const BodyShape& shape, const PlainLayerSpec& layer);
void add_plain_backward(const BackwardList& list, const BodyShape& shape, const PlainLayerSpec& layer);

// body_sharding.cpp: ZeRO 2 and 3 block by block.
bool shards_by_block(const Plan& plan);
/// What one rank holds of a unit of sharding: experts are sharded over their own group.
struct UnitParameters {
  double dense = 0, expert = 0;
};
/// Whether a pass gathers parameters, and whether they were gathered before in this micro-batch.
enum class Gathers : std::uint8_t { no, first, again };
/// `blocks` times `block`, each of `parameters` per rank, with the gathers and reductions of a pass.
void add_sharded_blocks(Body& body, const Plan& plan, const std::vector<Segment>& block, std::int32_t blocks,
                        const UnitParameters& parameters, Gathers gathers, bool reduces);
/// The same for what is no block: embedding, final norm, head.
void add_sharded_ends(std::vector<Segment>& out, const Plan& plan, double parameters, bool gathers, bool reduces);

// body_offload.cpp: what offload adds to bodies; other copies are operations (schedule/lower.hpp).
/// Parameters of one block from the host, before they are gathered; nothing if they lie on the GPU.
void add_parameter_copy(std::vector<Segment>& out, const Plan& plan, const UnitParameters& parameters,
                        std::int32_t hides_behind);
/// Adam on the host, and its states on drives around it.
void add_host_optimizer(std::vector<Segment>& out, const Plan& plan, const UnitParameters& parameters);
/// Updated parameters that lie elsewhere than where the optimizer stepped.
void add_parameters_to_host(std::vector<Segment>& out, const Plan& plan, const UnitParameters& parameters);

// body_again.cpp: what selective recompute runs again, before the backward of the part that needs it.
bool runs_again(const Plan& plan, bool RecomputeModules::*module);
/// Forward segments in a backward pass.
void add_again(const BackwardList& list, const std::vector<Segment>& forward);

// body_recompute.cpp: the part of a block's forward that per-operation recompute runs again.
std::vector<Segment> recomputed_per_op(const std::vector<Segment>& block, const BodyShape& shape, const Plan& plan);

// body_optimizer.cpp: norm, clip and Adam over the parameters that a rank updates.
void add_optimizer(std::vector<Segment>& out, const Plan& plan, const UnitParameters& parameters);
/// Of what a rank holds, the part that its optimizer updates: a share under ZeRO.
double updated_parameters(const Plan& plan, const UnitParameters& parameters);

/// Bytes that one optimizer step moves per parameter held and per parameter updated (they differ under ZeRO 1).
struct OptimizerTraffic {
  double per_held = 0, per_updated = 0;
  double per_clipped = 0;  // norm and clip, per updated parameter
  std::int32_t launches = 1, clip_launches = 2;
};
OptimizerTraffic optimizer_traffic(const RunSpec& run);

}  // namespace stagecraft
