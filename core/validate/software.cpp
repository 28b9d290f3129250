#include "validate/software.hpp"

#include <array>
#include <string_view>

namespace stagecraft {
namespace {

constexpr std::array periods{
    SoftwarePeriod{.name = "megatron-2021",
                   .groups = "sc21 megatron-readme",
                   .from = "",
                   .until = "",
                   .profile = "megatron-2021",
                   .dropout = 0.1,
                   .why = "Megatron-LM as of arXiv 2104.04473"},
    SoftwarePeriod{.name = "megatron-2022",
                   .groups = "korthikanti22",
                   .from = "",
                   .until = "",
                   .profile = "megatron-2022",
                   .overlaps_tensor = true,
                   .accumulation_fusion = true,
                   .dropout = 0.1,
                   .why = "Megatron-LM as of arXiv 2205.05198"},
    SoftwarePeriod{.name = "megatron-deepspeed-2022-02-slow",
                   .groups = "bloom-a100",
                   .from = "2022-02-01",
                   .until = "2022-02-25",
                   .profile = "megatron-deepspeed-2022",
                   .dropout = 0.1,
                   .why = "BigScience's Megatron-DeepSpeed before the nodes' PCIe and NUMA settings were repaired"},
    SoftwarePeriod{.name = "megatron-deepspeed-2022-02",
                   .groups = "bloom-a100",
                   .from = "2022-02-25",
                   .until = "2022-02-28",
                   .profile = "megatron-deepspeed-2022",
                   .dropout = 0.1,
                   .why = "BigScience's Megatron-DeepSpeed in fp16, nodes repaired"},
    SoftwarePeriod{.name = "megatron-deepspeed-2022",
                   .groups = "bloom-a100 bigscience deepspeed megatron-deepspeed mt-nlg",
                   .from = "",
                   .until = "",
                   .profile = "megatron-deepspeed-2022",
                   .dropout = 0.1,
                   .why = "Megatron-DeepSpeed of 2021 and 2022"},
    SoftwarePeriod{
        .name = "fsdp-2023",
        .groups = "mosaic",
        .from = "",
        .until = "",
        .profile = "pytorch-2023",
        .overlaps_gradients = true,
        .overlaps_parameters = true,
        .fused_kernels = false,
        .ampere_flash = "flash_1",
        .hopper_flash = "flash_1",
        .loss = "fused",
        .why =
            "llm-foundry of 2023: PyTorch FSDP, fused cross-entropy; Triton's flash attention with ALiBi, of the first "
            "generation's speed"},
    SoftwarePeriod{.name = "fms-fsdp-2024",
                   .groups = "ibm-fsdp",
                   .from = "",
                   .until = "",
                   .profile = "pytorch-2023",
                   .overlaps_gradients = true,
                   .overlaps_parameters = true,
                   .why = "fms-fsdp: PyTorch FSDP with FlashAttention-2, compiled"},
    SoftwarePeriod{.name = "fsdp-2024",
                   .groups = "litgpt",
                   .from = "",
                   .until = "",
                   .profile = "pytorch-2023",
                   .overlaps_gradients = true,
                   .overlaps_parameters = true,
                   .fused_kernels = false,
                   .why = "PyTorch FSDP with FlashAttention-2"},
    SoftwarePeriod{.name = "torchtitan-2024",
                   .groups = "torchtitan",
                   .from = "",
                   .until = "",
                   .profile = "pytorch-2023",
                   .overlaps_gradients = true,
                   .overlaps_parameters = true,
                   .selective_is_per_op = true,
                   .sequence_parallel = true,
                   .why = "torchtitan with FSDP2, compiled; its tensor parallelism divides the sequence too"},
    SoftwarePeriod{
        .name = "internevo-2024",
        .groups = "internevo",
        .from = "",
        .until = "",
        .profile = "internevo-2024",
        .overlaps_gradients = true,
        .fused_kernels = false,
        .why =
            "InternEvo: flash attention, other kernels of the framework; Hybrid Zero, gradients in overlapped buckets, "
            "parameters broadcast after the step"},
    SoftwarePeriod{
        .name = "aleph-alpha-2023",
        .groups = "hagemann",
        .from = "",
        .until = "",
        .profile = "pytorch-2023",
        .fused_kernels = false,
        .recipe = "mixed_16bit_gradients",
        .loss = "full_fp32",
        .machines = "DGX A100",
        .node_gbit_s = 200,
        .leaf_nodes = 8,
        .sends_whole = true,
        .reduces_in = "fp32",
        .all_reduces = true,
        .run_ahead = 1,
        .attention_waits = true,
        .why = "the layouts paper's PyTorch code (arXiv 2311.05610), as Aleph-Alpha/scaling has it: 16-bit "
               "gradients all-reduced in fp32, fp32 cross-entropy of gathered logits, whole sends; assumed: DGX A100 "
               "machines; from its step times and outcomes: 200 Gb/s per node beyond 8 nodes, one micro-batch more in "
               "flight than 1F1B needs"},
    SoftwarePeriod{
        .name = "nemo-2022",
        .groups = "nemo-a100",
        .from = "",
        .until = "",
        .profile = "megatron-2022",
        .overlaps_gradients = true,
        .overlaps_parameters = true,
        .overlaps_in_pipelines = false,
        .dropout = 0.1,
        .trusts_inferred_recompute = false,
        .trusts_inferred_flash = false,
        .before_sequence_parallel = true,
        .why = "NeMo Megatron before 22.06: 175B on 1024 GPUs as in the table takes 32 days for 300B tokens; "
               "sequence parallelism and selective recompute then brought it to 24 "
               "(NVIDIA's announcement of July 2022); gradients are reduced behind the backward pass only with one "
               "pipeline rank (NVIDIA/NeMo, megatron_base_model.py)"},
    SoftwarePeriod{.name = "zero-bubble-2023",
                   .groups = "zero-bubble",
                   .from = "",
                   .until = "",
                   .profile = "megatron-2022",
                   .overlaps_pipeline = true,
                   .accumulation_fusion = true,
                   .dropout = 0.1,
                   .vocabulary = 32000,
                   .recipe = "mixed_16bit_gradients",
                   .why =
                       "sail-sg/zero-bubble-pipeline-parallelism, examples/pretrain_zbh1.sh: fp16 without fp32 "
                       "gradients, no flash attention, dropout as usual, a SentencePiece vocabulary (its size is the "
                       "usual one, which the step times show)"},
    SoftwarePeriod{.name = "vocab-parallel-2024",
                   .groups = "vocab-parallel",
                   .from = "",
                   .until = "",
                   .profile = "megatron-2022",
                   .overlaps_pipeline = true,
                   .accumulation_fusion = true,
                   .dropout = 0.1,
                   .recipe = "mixed_16bit_gradients",
                   .why =
                       "sail-sg/zero-bubble-pipeline-parallelism, examples/pretrain_zero_bubble.sh, which vocabulary "
                       "parallelism builds on: fp16 without fp32 gradients, flash attention"},
    SoftwarePeriod{.name = "megatron-2023",
                   .groups = "megascale",
                   .from = "",
                   .until = "",
                   .profile = "megatron-2022",
                   .overlaps_pipeline = true,
                   .accumulation_fusion = true,
                   .dropout = 0.1,
                   .why = "forks of Megatron-LM of 2023 and 2024"},
    SoftwarePeriod{.name = "nanotron-2025",
                   .groups = "nanotron",
                   .from = "",
                   .until = "",
                   .profile = "pytorch-2023",
                   .overlaps_tensor = true,
                   .framework = "nanotron",
                   .cuts_by_weights = true,
                   .why = "nanotron's benchmark of the Ultra-Scale Playbook: fused norms and rotary positions"},
    SoftwarePeriod{.name = "simumax-2025",
                   .groups = "simumax",
                   .from = "",
                   .until = "",
                   .profile = "megatron-2024",
                   .accumulation_fusion = true,
                   .hopper_flash = "flash_3",
                   .sequence_parallel = true,
                   .why = "Megatron-LM with Transformer Engine; SimuMax runs tensor parallelism with sequence "
                          "parallelism"},
    SoftwarePeriod{.name = "megatron-2024-no-overlap",
                   .groups = "megatron-ci",
                   .from = "",
                   .until = "",
                   .profile = "megatron-2024",
                   .accumulation_fusion = true,
                   .dropout = 0.1,
                   .hopper_flash = "flash_3",
                   .why = "Megatron-LM with Transformer Engine, its arguments' defaults"},
    SoftwarePeriod{.name = "liger-2025",
                   .groups = "ml-engineering",
                   .from = "",
                   .until = "",
                   .profile = "pytorch-2023",
                   .overlaps_gradients = true,
                   .overlaps_parameters = true,
                   .hopper_flash = "flash_3",
                   .loss = "chunked",
                   .why = "Hugging Face's trainer with DeepSpeed and Liger kernels: cross-entropy fused with the head"},
    SoftwarePeriod{.name = "megatron-2023-fp8",
                   .groups = "mlperf",
                   .from = "",
                   .until = "",
                   .profile = "megatron-2024",
                   .overlaps_gradients = true,
                   .overlaps_parameters = true,
                   .overlaps_pipeline = true,
                   .accumulation_fusion = true,
                   .dropout = 0.1,
                   .cites = "Training v3.0",
                   .why = "NeMo of MLPerf Training v3.0: tensor-parallel overlap came with v3.1"},
    SoftwarePeriod{.name = "megatron-2025",
                   .groups = "mbridge",
                   .from = "",
                   .until = "",
                   .profile = "megatron-2024",
                   .overlaps_gradients = true,
                   .overlaps_parameters = true,
                   .overlaps_pipeline = true,
                   .overlaps_tensor = true,
                   .accumulation_fusion = true,
                   .hopper_flash = "flash_3",
                   .recipe = "mixed_16bit_and_fp32_gradients",
                   .fp8_scaling = "current",
                   .why = "Megatron Bridge of 2025 and 2026, overlaps on as in NVIDIA's recipes, which keep gradients "
                          "in 16 bits (scripts/performance/configs: grad_reduce_in_fp32 is off)"},
    SoftwarePeriod{.name = "megatron-2025",
                   .groups = "mlperf",
                   .from = "",
                   .until = "",
                   .profile = "megatron-2024",
                   .overlaps_gradients = true,
                   .overlaps_parameters = true,
                   .overlaps_pipeline = true,
                   .overlaps_tensor = true,
                   .accumulation_fusion = true,
                   .cites = "Training v5",
                   .hopper_flash = "flash_3",
                   .why = "NeMo of MLPerf Training v5"},
    SoftwarePeriod{.name = "meta-2024",
                   .groups = "llama3",
                   .from = "",
                   .until = "",
                   .profile = "megatron-2024",
                   .overlaps_gradients = true,
                   .overlaps_parameters = true,
                   .overlaps_pipeline = true,
                   .accumulation_fusion = true,
                   .why = "Meta's own code on PyTorch (arXiv 2407.21783, section 3.3.2): FSDP prefetches, sends of the "
                          "pipeline are asynchronous; nothing hides tensor parallelism; before FlashAttention-3"},
    SoftwarePeriod{.name = "megatron-2024",
                   .groups = "nemo mbridge mlperf megatron-h100",
                   .from = "",
                   .until = "",
                   .profile = "megatron-2024",
                   .overlaps_gradients = true,
                   .overlaps_parameters = true,
                   .overlaps_pipeline = true,
                   .overlaps_tensor = true,
                   .accumulation_fusion = true,
                   .why = "NeMo and Megatron Core with Transformer Engine, overlaps on as in NVIDIA's recipes; before "
                          "FlashAttention-3 (July 2024)"},
};

constexpr SoftwarePeriod any_fsdp{.name = "fsdp",
                                  .groups = "",
                                  .from = "",
                                  .until = "",
                                  .profile = "pytorch-2023",
                                  .overlaps_gradients = true,
                                  .overlaps_parameters = true,
                                  .fused_kernels = false,
                                  .why = "the record names FSDP and no software that is known"};

constexpr SoftwarePeriod any_flash{.name = "megatron-core",
                                   .groups = "",
                                   .from = "",
                                   .until = "",
                                   .profile = "megatron-2024",
                                   .overlaps_pipeline = true,
                                   .accumulation_fusion = true,
                                   .hopper_flash = "flash_3",
                                   .why = "the record names no software that is known; it has flash attention or fp8"};

constexpr SoftwarePeriod any_other{.name = "megatron",
                                   .groups = "",
                                   .from = "",
                                   .until = "",
                                   .profile = "megatron-2022",
                                   .accumulation_fusion = true,
                                   .dropout = 0.1,
                                   .why = "the record names no software that is known"};

bool begins_with_one_of(std::string_view group, std::string_view prefixes) {
  while (!prefixes.empty()) {
    const std::size_t end = std::min(prefixes.find(' '), prefixes.size());
    if (group.starts_with(prefixes.substr(0, end))) return true;
    prefixes.remove_prefix(std::min(end + 1, prefixes.size()));
  }
  return false;
}

bool covers(const SoftwarePeriod& period, const Record& record) {
  if (!begins_with_one_of(record.group, period.groups)) return false;
  if (record.cite.find(period.cites) == std::string::npos) return false;
  const std::string_view from = period.from, until = period.until;
  if (from.empty() && until.empty()) return true;
  return !record.date.empty() && record.date >= from && (until.empty() || record.date < until);
}

}  // namespace

std::span<const SoftwarePeriod> software_periods() {
  return periods;
}

const SoftwarePeriod& software_of(const Record& record) {
  for (const SoftwarePeriod& period : periods) {
    if (covers(period, record)) return period;
  }
  if (!record.parallel.fsdp.empty()) return any_fsdp;
  const bool fp8 = record.precision.find("8") != std::string::npos;
  return fp8 || record.flash_attention.value_or(false) ? any_flash : any_other;
}

}  // namespace stagecraft
