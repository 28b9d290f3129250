#pragma once
// How the model is trained: degrees, batch, schedule, precision, recompute, overlap. Knows nothing of hardware.

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "spec/training_spec.hpp"

namespace stagecraft {

/// How the ranks of a context group let every query meet every key.
enum class ContextMethod : std::uint8_t {
  ring,        // keys and values go round, one neighbour at a time (arXiv 2310.01889)
  ulysses,     // all-to-all from slices of the sequence to slices of the heads (arXiv 2309.14509)
  all_gather,  // every rank gathers all keys and values (arXiv 2407.21783, section 3.3.2)
  combined     // heads among `ulysses` neighbours, a ring across them (arXiv 2405.07719)
};

enum class ParallelAxis : std::uint8_t { tensor, context, data, pipeline };

/// Which GPU a rank runs on. Ranks themselves are always numbered tensor fastest, then context, data, pipeline.
struct PlacementSpec {
  /// The axis whose neighbours fill the machines first, then the next ones (Megatron-LM: --order).
  std::array<ParallelAxis, 4> order{ParallelAxis::tensor, ParallelAxis::context, ParallelAxis::data,
                                    ParallelAxis::pipeline};
  /// From a rank file, one entry per rank: node and GPU of the node. Empty: by `order`.
  struct Place {
    std::int64_t node = 0, gpu = 0;
  };
  std::vector<Place> places = {};
  std::string rank_file = {};
};

struct ParallelSpec {
  std::int64_t tensor = 1;
  std::int64_t context = 1;
  std::int64_t pipeline = 1;
  std::int64_t data = 1;
  std::int64_t virtual_stages = 1;  // chunks per pipeline rank
  bool sequence_parallel = false;   // Megatron sequence parallelism over the tensor group
  std::int64_t expert = 1;          // ranks among which the experts of a block are spread
  std::int64_t expert_tensor = 0;   // ranks that share one expert; 0: as many as tensor
  ContextMethod context_method = ContextMethod::ring;
  std::int64_t ulysses = 1;  // of a combined method: ranks that exchange heads
  bool zig_zag = true;       // a rank has the i-th slice from both ends, which evens out a causal mask
  PlacementSpec placement = {};
};

/// How tokens travel to their experts.
enum class Dispatcher : std::uint8_t {
  all_to_all,   // every routed copy of a token travels (Megatron-LM, MoEAlltoAllTokenDispatcher)
  deduplicated  // one copy per node crosses the network and is copied there (DeepEP)
};

struct ExpertsSpec {
  Dispatcher dispatcher = Dispatcher::all_to_all;
  bool fp8_dispatch = false;    // dispatched in fp8 with a scale per 128 numbers; combined in 16 bits
  bool router_padding = false;  // the router fills experts' rows up to what fp8 products ask for; else rows are copied
  double imbalance = 0;         // spread of the experts' loads, standard deviation of their logarithm; 0: even
  std::int64_t seed = 0;        // of the loads
};

/// Sequences of one length in the data, and how much of all tokens they hold.
struct LengthShare {
  std::int64_t length = 1;
  double share = 1;
};

/// The global batch at the start of a training run (Megatron-LM: --rampup-batch-size): `start` sequences, `increment`
/// more after each equal share of `samples`, until it is whole.
struct RampUpSpec {
  std::int64_t start = 1, increment = 1, samples = 1;
};

/// Ranks that share one expert: the tensor group unless stated.
inline std::int64_t expert_tensor_of(const ParallelSpec& parallel) {
  return parallel.expert_tensor > 0 ? parallel.expert_tensor : parallel.tensor;
}

struct BatchSpec {
  std::int64_t global = 1;  // sequences per step over all data ranks
  std::int64_t micro = 1;   // sequences per micro-batch of one data rank
  std::vector<LengthShare> lengths =
      {};  // documents packed into sequences; a token sees its document only. Empty: one each
  std::optional<RampUpSpec> ramp_up = std::nullopt;  // none: whole from the first step on
};

enum class PartitionRule : std::uint8_t {
  uniform,
  parameters,
  explicit_list,
  work,             // FLOPs of a forward pass
  time,             // of forward and backward, by the cost model (estimate/balance.hpp)
  time_and_memory,  // the same, of the partitions that fit the GPU
  count             // layers of the listed types
};

struct PartitionSpec {
  PartitionRule rule = PartitionRule::uniform;
  std::vector<std::int64_t> blocks_per_stage;  // for explicit_list, one entry per stage (pipeline * virtual_stages)
  std::vector<std::string> types = {};         // for count, words of types_of
};

struct ScheduleSpec {
  std::string name = "1f1b";               // a generator of schedule/family.hpp
  std::string csv;                         // path of a PyTorch pipelining CSV instead of a name
  std::optional<std::int64_t> group_size;  // micro-batch group of interleaved schedules
  std::optional<double> memory_limit;      // zb-auto: in units of one stage's activations
  std::int64_t waves = 1;                  // hanayo
  std::int64_t run_ahead = 0;              // 1f1b: micro-batches in flight beyond p - r on all ranks but the last
  std::int64_t flushes = 1;                // times per step that the pipeline drains: accumulation around it
};

/// Which tensors exist in which dtype: spec/precision.hpp; memory/recipe.hpp has the bytes of a parameter.
enum class Precision : std::uint8_t { fp32, tf32, fp16_mixed, bf16_mixed, bf16_pure, fp8_mixed };

enum class Recompute : std::uint8_t {
  none,
  selective,  // named modules, core attention unless told otherwise (arXiv 2205.05198, section 5)
  full,       // whole blocks
  per_op      // all but attention and every other matrix product (torchtitan, selective per-op checkpointing)
};

/// What selective recompute drops.
struct RecomputeModules {
  bool core_attention = true;
  bool norms = false;                 // outputs of the norms
  bool activation = false;            // output of the MLP's activation
  bool mlp = false;                   // all of the MLP but its input
  bool latent_up_projection = false;  // queries, keys and values of latent attention
};

/// Which blocks of a stage full recompute covers, and what one recomputed piece is.
enum class RecomputeScope : std::uint8_t {
  every_block,   // each block keeps its input
  every_kth,     // of k blocks in a row the first is recomputed, the others keep all
  first_blocks,  // the first n blocks of each stage, the others keep all (Megatron-LM: method "block")
  groups,        // n blocks in a row keep one input and are computed again together (Megatron-LM: method "uniform")
  square_root    // groups of the square root of the stage's blocks (arXiv 1604.06174, section 4.3), rounded up
};

/// The model's states: how many bytes a parameter costs as weight, gradient and master copy. The table of bytes is
/// spec/recipe.hpp.
enum class StateRecipe : std::uint8_t {
  fp32,
  fp32_autocast,
  mixed_fp32_gradients,
  mixed_16bit_gradients,
  mixed_16bit_and_fp32_gradients,
  pure_bf16,
  fp8_mixed,
  pure_bf16_fp32_gradients
};

enum class Optimizer : std::uint8_t { adam, sgd, sgd_momentum, adafactor, adam_8bit };

/// What a sharded gradient or parameter (ZeRO 2 and 3) is gathered and reduced by.
enum class ShardUnit : std::uint8_t {
  stage,  // a whole stage around its use; gradients are kept whole until the step's one reduction (PyTorch pipelining)
  block   // block by block within every pass, reduced in every micro-batch (FSDP, DeepSpeed)
};

struct ShardingSpec {
  std::int64_t group = 0;  // ranks that share one copy; 0: all of the data and context group. Fewer: copies
                           // are replicated across groups (hybrid sharding)
  ShardUnit unit = ShardUnit::stage;
  std::int64_t prefetch = 1;            // units gathered ahead of the one in use
  bool reshard_after_forward = true;    // false: gathered once per micro-batch (unit block) and kept until its backward
  bool reduce_each_micro_batch = true;  // of unit block; false: gradients add up whole until the last one (no_sync)
  std::int64_t secondary = 0;  // ZeRO++: ranks over which a second shard serves the backward's gathers; 0: none
  bool int8_gather = false;    // ZeRO++: weights are gathered as int8 with a scale per 2048 numbers
  bool int4_reduce = false;    // ZeRO++: gradients are reduced by all-to-all in int4, then int8
  bool reduce_scatter = true;  // ZeRO 1; false: every rank gets the whole sum and takes its share of it
};

/// Whether gradients are reduced and sharded within every backward pass.
inline bool reduces_in_backward(std::int64_t zero_stage, const ShardingSpec& sharding) {
  return zero_stage >= 2 && sharding.unit == ShardUnit::block && sharding.reduce_each_micro_batch;
}

/// What gradients are turned into before they are reduced: a smaller format, or fp32 for the sake of the sum.
enum class GradientCompression : std::uint8_t { none, fp32, fp16, int8 };

/// How finely fp8 tensors are scaled.
enum class Fp8Scaling : std::uint8_t {
  per_tensor,  // one scale from earlier steps (delayed)
  current,     // one scale of this very tensor: a pass for its largest value
  per_row,     // the same, a scale per row of either operand of a product (torchao's recipe "rowwise")
  per_block    // a scale per 128 numbers of activations and 128 x 128 of weights (arXiv 2412.19437, section 3.3.2)
};

enum class Home : std::uint8_t { gpu, host, nvme };

/// What lives outside the GPU between its uses.
struct OffloadSpec {
  Home optimizer = Home::gpu;          // the optimizer then steps on the host's cores (ZeRO-Offload, arXiv 2101.06840)
  Home parameters = Home::gpu;         // sharded ones only (ZeRO-Infinity, arXiv 2104.07857)
  Home activations = Home::gpu;        // what blocks keep for the backward pass
  std::int64_t activation_blocks = 0;  // of each stage's first blocks, how many send theirs away; 0: all
  double host_adam_s = 0.25e-9;        // seconds per parameter of the host's Adam, all GPUs of a node together
};

/// Of a stage's `blocks` blocks, the part whose activations leave the GPU.
inline double offloaded_share(const OffloadSpec& offload, std::int64_t blocks) {
  if (offload.activations == Home::gpu || blocks == 0) return 0;
  if (offload.activation_blocks == 0 || offload.activation_blocks >= blocks) return 1;
  return static_cast<double>(offload.activation_blocks) / static_cast<double>(blocks);
}

/// How the loss keeps its softmax.
enum class LossKernel : std::uint8_t {
  vocabulary_parallel,  // fp32 softmax of the logits (Megatron-LM, core/tensor_parallel/cross_entropy.py)
  fused,                // fused cross-entropy: the gradient takes the place of the logits, in their dtype
  full_fp32,            // logits gathered and cast to fp32, as torch.nn.functional.cross_entropy wants them
  chunked               // head and loss of one eighth of the tokens at a time
};

/// flash_4 stands for FlashAttention 4 and for cuDNN's kernels of Blackwell.
enum class AttentionKernel : std::uint8_t { unfused, fused_softmax, flash_1, flash_2, flash_3, flash_4 };

enum class ReceivePlacement : std::uint8_t { at_sender, before_consumer };

/// What a framework hides behind compute. All false is Megatron-LM of 2021.
struct OverlapSpec {
  bool gradient_reduce = false;   // reduce buckets while the last backward still runs
  bool parameter_gather = false;  // gather sharded parameters behind the next forward
  bool pipeline = true;           // sends leave the compute lane free
  bool tensor = false;            // tensor-parallel collectives behind GEMMs
  bool context = true;            // keys and values go round while attention runs
  bool expert = false;            // dispatch and combine run beside another micro-batch's kernels
  bool delay_weight_grad =
      false;            // with `expert`: weight gradients of experts run behind the exchange of their input's
  double slowdown = 0;  // how much longer kernels take while a collective runs beside them, as a fraction:
                        // its channels hold multiprocessors and share the memory
};

/// What holds up the host, which launches kernels ahead of the GPU.
struct HostSpec {
  bool attention_waits = false;    // it reads a value back before attention (the longest of packed sequences)
  double collection_pause_s = 0;   // a full garbage collection of Python; 0: none
  double collection_every = 1;     // steps from one to the next, of each rank
  bool collects_together = false;  // all ranks in the same step, between two steps (Megatron-LM: --manual-gc)
};

/// Whose habits with memory the run follows where frameworks differ (memory/framework.hpp has the table).
enum class Framework : std::uint8_t {
  megatron,            // Megatron-LM with its own layers and gradient buffers
  transformer_engine,  // Megatron-LM with TransformerEngine's layers
  megatron_2021,       // Megatron-LM before gradient buffers: the reduction copies all gradients into one flat array
  torch_ddp,           // PyTorch's DistributedDataParallel: buckets beside the gradients
  deepspeed,           // DeepSpeed's ZeRO and pipeline engine
  fsdp,                // PyTorch's fully sharded data parallelism
  nanotron             // Hugging Face's nanotron: 16-bit buckets beside fp32 gradients, a gate of elementary operations
};

/// What the scenario does not say and the layout decides (spec/usual_choices.hpp).
struct LeftToLayout {
  bool shard_unit = false, gradient_reduce = false, parameter_gather = false, slowdown = false;
};

struct RunSpec {
  ParallelSpec parallel;
  BatchSpec batch;
  std::int64_t sequence_length = 0;  // tokens; set to the model's if the user gave none
  PartitionSpec partition;
  ScheduleSpec schedule;
  Precision precision = Precision::bf16_mixed;
  bool fp32_gradients = true;  // weight gradients are added up, kept and reduced in fp32, not in the weights' format
  Recompute recompute = Recompute::none;
  AttentionKernel attention_kernel = AttentionKernel::flash_2;
  RecomputeScope recompute_scope = RecomputeScope::every_block;
  RecomputeModules recompute_modules;
  std::int64_t recompute_blocks = 1;  // k of every_kth, n of first_blocks and groups
  std::optional<StateRecipe> recipe;  // none: the usual one of the precision (spec/recipe.hpp)
  Optimizer optimizer = Optimizer::adam;
  Framework framework = Framework::megatron;
  LossKernel loss_kernel = LossKernel::vocabulary_parallel;
  std::int64_t zero_stage = 0;  // sharded over the data group: 1 optimizer states, 2 gradients too, 3 parameters too
  ShardingSpec sharding;
  ExpertsSpec experts;
  GradientCompression gradient_compression = GradientCompression::none;
  Fp8Scaling fp8_scaling = Fp8Scaling::per_tensor;
  OffloadSpec offload;
  bool expandable_segments = false;  // of PyTorch's allocator: little fragmentation
  OverlapSpec overlap;
  bool scatter_gather = true;  // a pipeline send is split over the tensor group (arXiv 2104.04473, section 4.1)
  bool fused_kernels = true;   // bias+activation and bias+dropout+add in one kernel (arXiv 2104.04473, section 4.2)
  bool gradient_accumulation_fusion = true;  // weight-gradient GEMMs add into the gradient buffer in their epilogue
  bool cuda_graphs = false;                  // the kernels of an operation are launched as one captured graph
  HostSpec host;
  double data_loading_s = 0;  // of a step, that every rank waits for its next batch
  ReceivePlacement receive_placement = ReceivePlacement::at_sender;
  double gradient_bucket_bytes = 160e6;
  std::int64_t steps = 1;  // simulated in a row; the last one is reported
  TrainingSpec training;   // the run around the step
  LeftToLayout left_to_layout;
};

/// Times that the pipeline drains in a step: one rank has nothing to drain between its micro-batches.
inline std::int32_t drains_of(const RunSpec& run) {
  return run.parallel.pipeline > 1 ? static_cast<std::int32_t>(run.schedule.flushes) : 1;
}

/// Whether the product with the gate of an MLP is part of the activation's kernel.
inline bool has_fused_gate(const RunSpec& run) {
  return run.fused_kernels && run.framework != Framework::nanotron;
}

/// Whether the clamp before an activation is part of its kernel: where PyTorch's compiler makes the kernel. Megatron-LM
/// clamps both halves, copies them together and then calls its kernel (core/fusions/fused_bias_geglu.py).
inline bool has_fused_clamp(const RunSpec& run) {
  return run.fused_kernels && (run.framework == Framework::fsdp || run.framework == Framework::torch_ddp);
}

/// TransformerEngine casts and multiplies expert by expert (pytorch/module/grouped_linear.py), others all at once.
inline bool runs_expert_by_expert(const RunSpec& run) {
  return run.framework == Framework::transformer_engine;
}

/// As a scenario writes them: "bf16_mixed", "selective", "flash_2", "at_sender", "uniform".
std::string to_text(Precision precision);
std::string to_text(Recompute recompute);
std::string to_text(AttentionKernel kernel);
std::string to_text(ReceivePlacement placement);
std::string to_text(PartitionRule rule);
std::string to_text(RecomputeScope scope);
std::string to_text(StateRecipe recipe);
std::string to_text(Optimizer optimizer);
std::string to_text(ShardUnit unit);
std::string to_text(Home home);
std::string to_text(Framework framework);
std::string to_text(LossKernel kernel);
std::string to_text(ContextMethod method);
std::string to_text(Dispatcher dispatcher);
std::string to_text(GradientCompression compression);
std::optional<std::array<ParallelAxis, 4>> parse_order(std::string_view text);  // what to_text writes of an order
std::string to_text(const PlacementSpec& placement);  // "tensor-context-data-pipeline", or the path of the rank file
std::string to_text(Fp8Scaling scaling);

}  // namespace stagecraft
