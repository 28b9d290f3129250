#pragma once
// A published measurement of a training step, as a file of records holds it: a list of objects, one per run, with what
// the source prints. docs/validation.md describes the form. Keys that are not read here are ignored.

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace stagecraft {

/// Experts in the place of the MLP.
struct RecordExperts {
  std::optional<std::int64_t> count, top_k, ffn, shared_ffn, dense_layers, shared_experts;
  std::optional<double> capacity_factor;
};

struct RecordModel {
  std::string name;
  std::optional<std::int64_t> layers, hidden, ffn, heads, kv_heads, head_dim, vocabulary, sequence;
  std::optional<bool> gated, tied_embeddings, linear_bias;
  std::string activation, attention, position, normalization;
  std::optional<RecordExperts> experts;
};

struct RecordParallel {
  std::optional<std::int64_t> tensor, pipeline, virtual_stages, data, context, expert, expert_tensor, zero_stage;
  std::optional<std::int64_t> zero_group;  // ranks that share one copy of the optimizer states
  std::optional<bool> sequence_parallel;
  std::string fsdp, schedule;
};

/// What the command line of Megatron-LM says beyond the rest of the record.
struct RecordArguments {
  std::string transformer, attention;  // "local" or "transformer_engine"; "unfused", "flash", ...
  bool no_accumulation_fusion = false, deterministic = false;
  bool late_embedding_gradients = false, fused_cross_entropy = false;
  std::optional<std::int64_t> first_stage_layers, last_stage_layers;
};

/// Times of one micro-batch on one stage, as a source profiled them.
struct RecordProfile {
  double forward_s = 0, input_grad_s = 0, weight_grad_s = 0, send_s = 0;
};

/// Which figure of memory a reading shows: what tensors hold, with the allocator's cache, or all of the device.
enum class MemoryReading : std::uint8_t { allocated, reserved, device };

/// Whose memory: the fullest or emptiest of all pipeline ranks, or a certain one.
enum class MemoryOf : std::uint8_t { largest, smallest, first, middle, last };

struct RecordReading {
  MemoryReading kind = MemoryReading::allocated;
  MemoryOf rank = MemoryOf::largest;
  double bytes = 0;
};

struct RecordMeasured {
  std::optional<double> step_time_s;  // printed, or worked out by the collector from a printed rate
  bool step_time_derived = false;
  std::vector<RecordReading> memory;  // the one that the source calls the run's first
  std::string memory_kind;
  std::optional<bool> oom;
  std::optional<double> bubble;
  std::optional<RecordProfile> profile;
  std::vector<double> stage_forward_s, stage_backward_s;  // per stage, one micro-batch
};

struct Record {
  std::string id, group, date, cite, kind;
  std::string gpu, interconnect, precision, recompute, offload, kernel, overlap, notes;
  std::string calibration;  // instead of the one that the mapping chooses; empty: none
  std::optional<double> gpu_memory_gb;
  std::optional<std::int64_t> gpus, nodes, micro_batch, global_batch, layers_last_stage;
  std::optional<bool> flash_attention;
  RecordModel model;
  RecordParallel parallel;
  RecordArguments arguments;
  RecordMeasured measured;
  std::vector<std::string> uses;      // "throughput", "memory", "bubble", ...
  std::vector<std::string> inferred;  // what the collector did not find in the source: "flash_attention"
  std::vector<std::string> problems;  // what could not be read: the record cannot be used
};

/// Records in the order of the file. Throws InputError if the file is no list of objects or no JSON; a record with a
/// value of the wrong type is kept with its problems.
std::vector<Record> read_records(const std::string& path);

}  // namespace stagecraft
