#pragma once
// Pure passes from a compute-only schedule to one that can be timed and executed.
//
// What a rank waits for is said by lanes: an operation on Lane::compute holds the rank's compute until it has ended. A
// send on Lane::pipeline leaves at once and the rank goes on; a send on Lane::compute (overlap.pipeline = false, as
// Megatron-LM's blocking batch_isend_irecv) holds the sender until the message has left. The same goes for
// gather_params. A receive on Lane::compute is posted when its rank gets to it; one on Lane::pipeline has been posted
// ahead. Reductions and (un)shards never hold the compute lane; their consumers wait for them.

#include "plan/plan.hpp"
#include "schedule/schedule.hpp"

namespace stagecraft {

/// What the passes are asked to do.
struct LoweringPolicy {
  bool recompute = false;             // full recompute: an operation of its own before each B or I
  bool shard_parameters = false;      // ZeRO-3
  std::int32_t unshard_prefetch = 3;  // stages held gathered at once; PyTorch's max_active_stages
  bool reduce_grad = false;           // there is a data group to reduce over
  bool overlap_reduce = false;        // a stage's reduction may start behind its last W or B
  bool reduce_tied = false;           // embeddings tied and held by two ranks
  bool optimizer = true;              // end the step with one optimizer step per rank
  bool gather_params = false;         // ZeRO-1 and 2
  bool overlap_gather = false;        // behind the next step's first forwards
  bool offload_activations = false;   // to the host behind each F, back behind each backward
  bool offload_optimizer = false;     // the optimizer steps on the host
  bool offload_parameters = false;    // they lie on the host and come for each unshard
  ReceivePlacement receive_placement = ReceivePlacement::at_sender;
  bool overlap_pipeline = true;  // false: a send holds the compute lane until it has left
};
LoweringPolicy lowering_policy(const Plan& plan);

/// All passes with the policies of plan.run, then bodies and message sizes from the plan. A bidirectional schedule
/// always reduces gradients, since two ranks hold each stage. Preconditions: check_schedule(compute) has no errors
/// (schedules from files are to be checked first), and the plan has as many stages as the schedule.
Schedule lower(Schedule compute, const Plan& plan);

/// The passes alone, for schedules without a model too: bodies none, bytes 0. A schedule that has its messages already,
/// as a file may give it, keeps them, and keeps whatever else a pass would add.
Schedule lower(Schedule compute, const LoweringPolicy& policy);

/// The bytes of an activation or gradient that passes the boundary behind `producer`, per rank of the tensor group:
/// b * s/cp * h * (bytes per activation), divided by the tensor degree if the message is scattered over the tensor
/// group (arXiv 2104.04473, section 4.1) or the sequence is split over it (arXiv 2205.05198, section 4.2). Plain
/// layers: output_per_sample * b, whole.
Bytes message_bytes(const Plan& plan, Stage producer);

/// Adjacent I and W of one stage and micro-batch become B. Only for schedules that ask for it: it delays the gradient.
Schedule fuse_backward(Schedule schedule);

/// A recompute before each B or I (before the F of an overlapped pair). Like the backward it starts when the output
/// gradient is there, as checkpointed backwards do (Megatron-LM, tensor_parallel/random.py, CheckpointFunction).
Schedule add_recompute(Schedule schedule);

/// ZeRO-3: before each operation the next `prefetch` distinct stages that will compute are unsharded, others resharded;
/// PyTorch's _add_unshard_reshard (torch/distributed/pipelining/schedules.py). Precondition: prefetch >= 1.
Schedule add_unshard(Schedule schedule, std::int32_t prefetch);

/// One reduction per stage and replica: right after the stage's last W or B if it may overlap, else after all compute
/// of the rank, by ascending stage. The two copies of a bidirectional schedule are always reduced at the end, so that
/// both holders issue their reductions in the same order.
Schedule add_reduce_grad(Schedule schedule, bool overlap);

/// One reduction between the ranks of the first and the last stage, after all others. Nothing if one rank holds both.
Schedule add_reduce_tied(Schedule schedule);

/// One optimizer step per rank at the end of its program; an asynchronous schedule gets no global synchronisation.
Schedule add_optimizer(Schedule schedule);

/// One gather per stage of a rank behind its optimizer step, ascending; on Lane::compute unless it may overlap.
Schedule add_gather_params(Schedule schedule, bool overlap);

/// Copies between GPU and host of a lowered schedule, on Lane::copy. Activations: an offload stands before each F, a
/// reload before each B or I, or before its recompute; schedule/graph.hpp says how they run beside those. Optimizer:
/// an offload_grad behind the last gradient or reduction of each stage, and, unless parameters lie on the host, a
/// reload_param of each stage of the rank behind its optimizer step. Parameters: a reload_param before each unshard.
Schedule add_activation_copies(Schedule schedule);
Schedule add_optimizer_copies(Schedule schedule, bool parameters_stay);
Schedule add_parameter_copies(Schedule schedule);

/// Bytes of a copy of one rank: what the blocks of a stage keep of a micro-batch (offload, reload), gradients of the
/// parameters that the rank updates (offload_grad), these parameters (reload_param).
Bytes copied_bytes(const Plan& plan, OpKind kind, Stage stage);

/// Sends and receives where neighbouring stages lie on different ranks.
/// at_sender: a receive stands where its sender ran, in one global order of all ranks; action for action PyTorch's
/// _add_send_recv. It is posted before the message comes. before_consumer: a receive stands right before the operation
/// that needs it, on Lane::compute: it is posted when the rank has nothing else to do, and a message that needs its
/// receiver (rendezvous) cannot start earlier. A program whose ranks wait for each other in a cycle gets the receives
/// of the blocked part before their consumers; check_schedule then shows the cycle.
Schedule add_send_receive(Schedule schedule, ReceivePlacement placement, bool overlap = true);

/// One channel per (source rank, destination rank, activation | gradient), ascending.
Schedule assign_channels(Schedule schedule);

/// One channel per message, for schedules that would block or mix up messages on the coarser channels.
Schedule assign_channels_per_tag(Schedule schedule);

/// assign_channels, or one channel per message if that runs where the coarser channels block or mix up messages. A
/// schedule that blocks either way keeps the coarser ones; check_schedule tells why.
Schedule assign_safe_channels(Schedule schedule);

/// Bodies of operations and bytes of messages. Precondition: stage_count(schedule) == plan.stages.size().
Schedule attach_bodies(Schedule schedule, const Plan& plan);
/// The same with bodies that make_bodies gave for this placement.
Schedule attach_bodies(Schedule schedule, const Plan& plan, Bodies bodies);

}  // namespace stagecraft
