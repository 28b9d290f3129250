#pragma once
// How the model is trained: degrees, batch, schedule, precision, recompute, overlap. Knows nothing of hardware.

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace stagecraft {

struct ParallelSpec {
  std::int64_t tensor = 1;
  std::int64_t context = 1;
  std::int64_t pipeline = 1;
  std::int64_t data = 1;
  std::int64_t virtual_stages = 1;  // chunks per pipeline rank
  bool sequence_parallel = false;   // Megatron sequence parallelism over the tensor group
};

struct BatchSpec {
  std::int64_t global = 1;  // sequences per step over all data ranks
  std::int64_t micro = 1;   // sequences per micro-batch of one data rank
};

enum class PartitionRule : std::uint8_t { uniform, parameters, explicit_list };

struct PartitionSpec {
  PartitionRule rule = PartitionRule::uniform;
  std::vector<std::int64_t> blocks_per_stage;  // for explicit_list, one entry per stage (pipeline * virtual_stages)
};

struct ScheduleSpec {
  std::string name = "1f1b";               // a generator of schedule/family.hpp
  std::string csv;                         // path of a PyTorch pipelining CSV instead of a name
  std::optional<std::int64_t> group_size;  // micro-batch group of interleaved schedules
  std::optional<double> memory_limit;      // zb-auto: in units of one stage's activations
  std::int64_t waves = 1;                  // hanayo
};

/// Which tensors exist in which dtype: spec/precision.hpp; memory/recipe.hpp has the bytes of a parameter.
enum class Precision : std::uint8_t { fp32, tf32, fp16_mixed, bf16_mixed, bf16_pure, fp8_mixed };

enum class Recompute : std::uint8_t {
  none,
  selective,
  full
};  // selective: core attention (arXiv 2205.05198, section 5)

enum class AttentionKernel : std::uint8_t { unfused, fused_softmax, flash_1, flash_2, flash_3 };

enum class ReceivePlacement : std::uint8_t { at_sender, before_consumer };

/// What a framework hides behind compute. All false is Megatron-LM of 2021.
struct OverlapSpec {
  bool gradient_reduce = false;   // reduce buckets while the last backward still runs
  bool parameter_gather = false;  // gather sharded parameters behind the next forward
  bool pipeline = true;           // sends leave the compute lane free
  bool tensor = false;            // tensor-parallel collectives behind GEMMs
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
  std::int64_t zero_stage =
      0;  // 0, or 1: optimizer states sharded over the data group (Megatron's distributed optimizer)
  OverlapSpec overlap;
  bool scatter_gather = true;  // a pipeline send is split over the tensor group (arXiv 2104.04473, section 4.1)
  bool fused_kernels = true;   // bias+activation and bias+dropout+add in one kernel (arXiv 2104.04473, section 4.2)
  bool gradient_accumulation_fusion = true;  // weight-gradient GEMMs add into the gradient buffer in their epilogue
  ReceivePlacement receive_placement = ReceivePlacement::at_sender;
  double gradient_bucket_bytes = 160e6;
  std::int64_t steps = 1;  // simulated in a row; the last one is reported
};

/// As a scenario writes them: "bf16_mixed", "selective", "flash_2", "at_sender", "uniform".
std::string to_text(Precision precision);
std::string to_text(Recompute recompute);
std::string to_text(AttentionKernel kernel);
std::string to_text(ReceivePlacement placement);
std::string to_text(PartitionRule rule);

}  // namespace stagecraft
