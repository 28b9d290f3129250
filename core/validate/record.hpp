#pragma once
// A published measurement of a training step, as a file of records holds it: a list of objects, one per run, with what
// the source prints. docs/validation.md describes the form. Keys that are not read here are ignored.

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace stagecraft {

struct RecordModel {
  std::string name;
  std::optional<std::int64_t> layers, hidden, ffn, heads, kv_heads, head_dim, vocabulary, sequence;
  std::optional<bool> gated, tied_embeddings, linear_bias;
  std::string activation, attention, position, normalization;
  bool experts = false;
};

struct RecordParallel {
  std::optional<std::int64_t> tensor, pipeline, virtual_stages, data, context, expert, expert_tensor, zero_stage;
  std::optional<bool> sequence_parallel;
  std::string fsdp, schedule;
};

/// Times of one micro-batch on one stage, as a source profiled them.
struct RecordProfile {
  double forward_s = 0, input_grad_s = 0, weight_grad_s = 0, send_s = 0;
};

struct RecordMeasured {
  std::optional<double> step_time_s;  // printed, or worked out by the collector from a printed rate
  bool step_time_derived = false;
  std::optional<double> memory_bytes;
  std::string memory_kind, memory_scope;
  std::optional<bool> oom;
  std::optional<double> bubble;
  std::optional<RecordProfile> profile;
  std::vector<double> stage_forward_s, stage_backward_s;  // per stage, one micro-batch
};

struct Record {
  std::string id, group, date, cite, kind;
  std::string gpu, interconnect, precision, recompute, offload, kernel, overlap;
  std::optional<double> gpu_memory_gb;
  std::optional<std::int64_t> gpus, nodes, micro_batch, global_batch, layers_last_stage;
  std::optional<bool> flash_attention;
  RecordModel model;
  RecordParallel parallel;
  RecordMeasured measured;
  std::vector<std::string> uses;      // "throughput", "memory", "bubble", ...
  std::vector<std::string> inferred;  // what the collector did not find in the source: "flash_attention"
  std::vector<std::string> problems;  // what could not be read: the record cannot be used
};

/// Records in the order of the file. Throws InputError if the file is no list of objects or no JSON; a record with a
/// value of the wrong type is kept with its problems.
std::vector<Record> read_records(const std::string& path);

}  // namespace stagecraft
