#pragma once
// Which training software a record was run with, and what that software does unless told otherwise. One entry per
// framework generation, none per record.

#include <span>

#include "validate/record.hpp"

namespace stagecraft {

inline constexpr std::int64_t gpt_2_vocabulary = 50257;

struct SoftwarePeriod {
  const char* name;    // "megatron-2021": parts the sets in which layouts are ranked
  const char* groups;  // groups of records, parted by blanks; a group matches if it begins with one of them
  const char* from;    // dates, inclusive and exclusive; "": open
  const char* until;
  const char* profile;  // of topologies/calibrations
  bool overlaps_gradients = false, overlaps_parameters = false, overlaps_pipeline = false, overlaps_tensor = false;
  bool overlaps_in_pipelines = true;  // false: what reduces gradients or gathers parameters hides only with one rank
  bool accumulation_fusion = false;   // weight-gradient GEMMs add into the gradient buffer
  bool fused_kernels = true;
  double dropout = 0;                     // of models that are not of the LLaMA kind
  const char* cites = "";                 // part of the citation that must occur
  bool trusts_inferred_recompute = true;  // else: as few blocks as make the run fit
  bool selective_is_per_op = false;       // "selective" means torchtitan's per-operation recompute
  bool trusts_inferred_flash = true;      // flash attention that a record only infers is believed
  const char* ampere_flash = "flash_2";
  const char* hopper_flash = "flash_2";
  const char* without_flash = "fused_softmax";
  std::int64_t vocabulary = gpt_2_vocabulary;  // of records that state none
  const char* framework = "";                  // whose habits it has; "": by profile and ZeRO stage
  const char* recipe = "";                     // of the model states; "": the usual one of the precision
  bool sequence_parallel = false;              // goes with tensor parallelism, whatever a record says
  bool before_sequence_parallel = false;       // older than it: a record that only infers it is wrong
  const char* fp8_scaling = "per_tensor";      // of fp8 that says no more
  const char* loss = "";                       // kernel of the loss; "": the usual one of the framework
  const char* machines = "";                   // that its runs used, where the records do not say
  double node_gbit_s = 0;        // between nodes where the record does not say; 0: as in the cluster's file
  double leaf_nodes = 0;         // jobs of so many nodes stay under one leaf, where node_gbit_s does not apply
  bool cuts_by_weights = false;  // a stage takes blocks until it holds more than its share of the weights
  bool sends_whole = false;      // every tensor rank sends all of an activation to its next stage
  const char* reduces_in = "";   // format that gradients are turned into for their sum; "": their own
  bool all_reduces = false;      // sharded gradients are all-reduced
  std::int64_t run_ahead = 0;    // micro-batches that a 1F1B pipeline keeps in flight beyond p - r
  bool attention_waits = false;  // the host reads lengths back before each attention
  const char* why;
};

std::span<const SoftwarePeriod> software_periods();

/// The first entry that the record's group and date match; entries without groups at the end of the table match by
/// what the record says of its run (FSDP, fp8, flash attention).
const SoftwarePeriod& software_of(const Record& record);

}  // namespace stagecraft
