#include "validate/software.hpp"

#include <array>
#include <string_view>

namespace stagecraft {
namespace {

constexpr std::array periods{
    SoftwarePeriod{.name = "megatron-2021",
                   .groups = "sc21 megatron-readme mt-nlg",
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
                   .groups = "bloom-a100 bigscience deepspeed megatron-deepspeed",
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
    SoftwarePeriod{.name = "fsdp-2024",
                   .groups = "ibm-fsdp litgpt",
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
                   .why = "torchtitan with FSDP2, compiled"},
    SoftwarePeriod{
        .name = "internevo-2024",
        .groups = "internevo",
        .from = "",
        .until = "",
        .profile = "pytorch-2023",
        .overlaps_gradients = true,
        .fused_kernels = false,
        .why =
            "InternEvo: flash attention, other kernels of the framework; Hybrid Zero, gradients in overlapped buckets, "
            "parameters broadcast after the step"},
    SoftwarePeriod{.name = "aleph-alpha-2023",
                   .groups = "hagemann",
                   .from = "",
                   .until = "",
                   .profile = "aleph-alpha-2023",
                   .fused_kernels = false,
                   .node_gbit_s = 200,
                   .why = "the layouts paper's PyTorch code (arXiv 2311.05610); one 200 Gb/s adapter per node, "
                          "which its layouts with large gradients show"},
    SoftwarePeriod{.name = "nemo-2023",
                   .groups = "nemo-a100",
                   .from = "",
                   .until = "",
                   .profile = "megatron-2022",
                   .overlaps_gradients = true,
                   .overlaps_parameters = true,
                   .accumulation_fusion = true,
                   .dropout = 0.1,
                   .trusts_inferred_flash = false,
                   .why = "NeMo Megatron of 2023: no flash attention, no overlap of pipeline sends "
                          "(NVIDIA/NeMo-Framework-Launcher, conf/training/gpt3)"},
    SoftwarePeriod{.name = "megatron-2023",
                   .groups = "zero-bubble vocab-parallel megascale",
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
                   .fused_kernels = false,
                   .why = "nanotron's benchmark of the Ultra-Scale Playbook"},
    SoftwarePeriod{.name = "megatron-2024-no-overlap",
                   .groups = "simumax megatron-ci",
                   .from = "",
                   .until = "",
                   .profile = "megatron-2024",
                   .accumulation_fusion = true,
                   .hopper_flash = "flash_3",
                   .why = "Megatron-LM with Transformer Engine"},
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
                   .hopper_flash = "flash_3",
                   .why = "NeMo of MLPerf Training v3.0: tensor-parallel overlap came with v3.1"},
    SoftwarePeriod{.name = "megatron-2024",
                   .groups = "nemo mbridge mlperf megatron-h100 llama3",
                   .from = "",
                   .until = "",
                   .profile = "megatron-2024",
                   .overlaps_gradients = true,
                   .overlaps_parameters = true,
                   .overlaps_pipeline = true,
                   .overlaps_tensor = true,
                   .accumulation_fusion = true,
                   .hopper_flash = "flash_3",
                   .why = "NeMo and Megatron Core with Transformer Engine, overlaps on as in NVIDIA's recipes"},
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
