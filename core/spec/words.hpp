#pragma once
// How the choices of a scenario are written in its files: one table per enumeration, shared by readers, printers and
// tests.

#include <array>
#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "spec/cluster_spec.hpp"
#include "spec/model_spec.hpp"
#include "spec/run_spec.hpp"

namespace stagecraft {

template <class Choice, std::size_t Count>
using Words = std::array<std::pair<Choice, const char*>, Count>;

inline constexpr Words<Dtype, 8> dtype_words{{{Dtype::fp32, "fp32"},
                                              {Dtype::tf32, "tf32"},
                                              {Dtype::fp16, "fp16"},
                                              {Dtype::bf16, "bf16"},
                                              {Dtype::fp8, "fp8"},
                                              {Dtype::int8, "int8"},
                                              {Dtype::int32, "int32"},
                                              {Dtype::int64, "int64"}}};
inline constexpr Words<Norm, 2> norm_words{{{Norm::layer_norm, "layer_norm"}, {Norm::rms_norm, "rms_norm"}}};
inline constexpr Words<Activation, 3> activation_words{
    {{Activation::gelu, "gelu"}, {Activation::relu, "relu"}, {Activation::silu, "silu"}}};
inline constexpr Words<Positions, 5> positions_words{{{Positions::none, "none"},
                                                      {Positions::learned, "learned"},
                                                      {Positions::rotary, "rotary"},
                                                      {Positions::yarn, "yarn"},
                                                      {Positions::relative, "relative"}}};
inline constexpr Words<DeviceKind, 5> device_kind_words{{{DeviceKind::gpu, "gpu"},
                                                         {DeviceKind::nvswitch, "nvswitch"},
                                                         {DeviceKind::pcie_switch, "pcie_switch"},
                                                         {DeviceKind::cpu, "cpu"},
                                                         {DeviceKind::nic, "nic"}}};
inline constexpr Words<LinkKind, 4> link_kind_words{{{LinkKind::nvlink, "nvlink"},
                                                     {LinkKind::pcie, "pcie"},
                                                     {LinkKind::socket, "socket"},
                                                     {LinkKind::network, "network"}}};
inline constexpr Words<FabricKind, 5> fabric_kind_words{{{FabricKind::none, "none"},
                                                         {FabricKind::single_switch, "single_switch"},
                                                         {FabricKind::fat_tree, "fat_tree"},
                                                         {FabricKind::rail_optimised, "rail_optimised"},
                                                         {FabricKind::dragonfly, "dragonfly"}}};
inline constexpr Words<ParallelAxis, 4> parallel_axis_words{{{ParallelAxis::tensor, "tensor"},
                                                             {ParallelAxis::context, "context"},
                                                             {ParallelAxis::data, "data"},
                                                             {ParallelAxis::pipeline, "pipeline"}}};
inline constexpr Words<Routing, 2> routing_words{{{Routing::adaptive, "adaptive"}, {Routing::fixed, "fixed"}}};
inline constexpr Words<FaultKind, 8> fault_kind_words{{{FaultKind::wire, "wire"},
                                                       {FaultKind::nic, "nic"},
                                                       {FaultKind::gpu, "gpu"},
                                                       {FaultKind::leaf, "leaf"},
                                                       {FaultKind::background, "background"},
                                                       {FaultKind::gpudirect_off, "gpudirect_off"},
                                                       {FaultKind::access_control, "access_control"},
                                                       {FaultKind::nic_moved, "nic_moved"}}};
inline constexpr Words<Precision, 6> precision_words{{{Precision::fp32, "fp32"},
                                                      {Precision::tf32, "tf32"},
                                                      {Precision::fp16_mixed, "fp16_mixed"},
                                                      {Precision::bf16_mixed, "bf16_mixed"},
                                                      {Precision::bf16_pure, "bf16_pure"},
                                                      {Precision::fp8_mixed, "fp8_mixed"}}};
inline constexpr Words<Recompute, 4> recompute_words{{{Recompute::none, "none"},
                                                      {Recompute::selective, "selective"},
                                                      {Recompute::full, "full"},
                                                      {Recompute::per_op, "per_op"}}};
inline constexpr Words<AttentionKernel, 6> attention_kernel_words{{{AttentionKernel::unfused, "unfused"},
                                                                   {AttentionKernel::fused_softmax, "fused_softmax"},
                                                                   {AttentionKernel::flash_1, "flash_1"},
                                                                   {AttentionKernel::flash_2, "flash_2"},
                                                                   {AttentionKernel::flash_3, "flash_3"},
                                                                   {AttentionKernel::flash_4, "flash_4"}}};
inline constexpr Words<ReceivePlacement, 2> receive_placement_words{
    {{ReceivePlacement::at_sender, "at_sender"}, {ReceivePlacement::before_consumer, "before_consumer"}}};
inline constexpr Words<bool RecomputeModules::*, 5> recompute_module_words{
    {{&RecomputeModules::core_attention, "core_attention"},
     {&RecomputeModules::norms, "norms"},
     {&RecomputeModules::activation, "activation"},
     {&RecomputeModules::mlp, "mlp"},
     {&RecomputeModules::latent_up_projection, "latent_up_projection"}}};
inline constexpr Words<RecomputeScope, 5> recompute_scope_words{{{RecomputeScope::every_block, "every_block"},
                                                                 {RecomputeScope::every_kth, "every_kth"},
                                                                 {RecomputeScope::first_blocks, "first_blocks"},
                                                                 {RecomputeScope::groups, "groups"},
                                                                 {RecomputeScope::square_root, "square_root"}}};
inline constexpr Words<StateRecipe, 8> state_recipe_words{
    {{StateRecipe::fp32, "fp32"},
     {StateRecipe::fp32_autocast, "fp32_autocast"},
     {StateRecipe::mixed_fp32_gradients, "mixed_fp32_gradients"},
     {StateRecipe::mixed_16bit_gradients, "mixed_16bit_gradients"},
     {StateRecipe::mixed_16bit_and_fp32_gradients, "mixed_16bit_and_fp32_gradients"},
     {StateRecipe::pure_bf16, "pure_bf16"},
     {StateRecipe::fp8_mixed, "fp8_mixed"},
     {StateRecipe::pure_bf16_fp32_gradients, "pure_bf16_fp32_gradients"}}};
inline constexpr Words<Optimizer, 5> optimizer_words{{{Optimizer::adam, "adam"},
                                                      {Optimizer::sgd, "sgd"},
                                                      {Optimizer::sgd_momentum, "sgd_momentum"},
                                                      {Optimizer::adafactor, "adafactor"},
                                                      {Optimizer::adam_8bit, "adam_8bit"}}};
inline constexpr Words<Framework, 7> framework_words{{{Framework::megatron, "megatron"},
                                                      {Framework::transformer_engine, "transformer_engine"},
                                                      {Framework::megatron_2021, "megatron_2021"},
                                                      {Framework::torch_ddp, "torch_ddp"},
                                                      {Framework::deepspeed, "deepspeed"},
                                                      {Framework::fsdp, "fsdp"},
                                                      {Framework::nanotron, "nanotron"}}};
inline constexpr Words<ShardUnit, 2> shard_unit_words{{{ShardUnit::stage, "stage"}, {ShardUnit::block, "block"}}};
inline constexpr Words<Home, 3> home_words{{{Home::gpu, "gpu"}, {Home::host, "host"}, {Home::nvme, "nvme"}}};
inline constexpr Words<LossKernel, 4> loss_kernel_words{{{LossKernel::vocabulary_parallel, "vocabulary_parallel"},
                                                         {LossKernel::fused, "fused"},
                                                         {LossKernel::full_fp32, "full_fp32"},
                                                         {LossKernel::chunked, "chunked"}}};
inline constexpr Words<PartitionRule, 5> partition_words{
    {{PartitionRule::uniform, "uniform"},
     {PartitionRule::parameters, "parameters"},
     {PartitionRule::work, "work"},
     {PartitionRule::time, "time"},
     {PartitionRule::time_and_memory, "time_and_memory"}}};  // lists need no word
inline constexpr Words<ContextMethod, 4> context_method_words{{{ContextMethod::ring, "ring"},
                                                               {ContextMethod::ulysses, "ulysses"},
                                                               {ContextMethod::all_gather, "all_gather"},
                                                               {ContextMethod::combined, "combined"}}};
inline constexpr Words<Dispatcher, 2> dispatcher_words{
    {{Dispatcher::all_to_all, "all_to_all"}, {Dispatcher::deduplicated, "deduplicated"}}};
inline constexpr Words<GradientCompression, 4> gradient_compression_words{{{GradientCompression::none, "none"},
                                                                           {GradientCompression::fp32, "fp32"},
                                                                           {GradientCompression::fp16, "fp16"},
                                                                           {GradientCompression::int8, "int8"}}};
inline constexpr Words<Fp8Scaling, 4> fp8_scaling_words{{{Fp8Scaling::per_tensor, "per_tensor"},
                                                         {Fp8Scaling::current, "current"},
                                                         {Fp8Scaling::per_row, "per_row"},
                                                         {Fp8Scaling::per_block, "per_block"}}};

template <class Choice, std::size_t Count>
std::vector<std::string> list_of(const Words<Choice, Count>& words) {
  std::vector<std::string> list;
  for (const auto& [choice, word] : words) list.emplace_back(word);
  return list;
}

/// The choice that a word stands for, or none.
template <class Choice, std::size_t Count>
std::optional<Choice> choice_for(const Words<Choice, Count>& words, std::string_view wanted) {
  for (const auto& [choice, word] : words)
    if (wanted == word) return choice;
  return std::nullopt;
}

template <class Choice, std::size_t Count>
std::string word_for(const Words<Choice, Count>& words, Choice wanted) {
  for (const auto& [choice, word] : words)
    if (choice == wanted) return word;
  return "";
}

}  // namespace stagecraft
