#include "spec/words.hpp"

namespace stagecraft {

std::string to_text(Dtype dtype) {
  return word_for(dtype_words, dtype);
}
std::string to_text(Norm norm) {
  return word_for(norm_words, norm);
}
std::string to_text(Activation activation) {
  return word_for(activation_words, activation);
}
std::string to_text(Positions positions) {
  return word_for(positions_words, positions);
}
std::string to_text(DeviceKind kind) {
  return word_for(device_kind_words, kind);
}
std::string to_text(LinkKind kind) {
  return word_for(link_kind_words, kind);
}
std::string to_text(FabricKind kind) {
  return word_for(fabric_kind_words, kind);
}
std::string to_text(Routing routing) {
  return word_for(routing_words, routing);
}
std::string to_text(FaultKind kind) {
  return word_for(fault_kind_words, kind);
}
std::string to_text(Precision precision) {
  return word_for(precision_words, precision);
}
std::string to_text(Recompute recompute) {
  return word_for(recompute_words, recompute);
}
std::string to_text(AttentionKernel kernel) {
  return word_for(attention_kernel_words, kernel);
}
std::string to_text(ReceivePlacement placement) {
  return word_for(receive_placement_words, placement);
}

std::string to_text(RecomputeScope scope) {
  return word_for(recompute_scope_words, scope);
}
std::string to_text(StateRecipe recipe) {
  return word_for(state_recipe_words, recipe);
}
std::string to_text(Optimizer optimizer) {
  return word_for(optimizer_words, optimizer);
}
std::string to_text(ShardUnit unit) {
  return word_for(shard_unit_words, unit);
}
std::string to_text(Home home) {
  return word_for(home_words, home);
}
std::string to_text(Framework framework) {
  return word_for(framework_words, framework);
}
std::string to_text(LossKernel kernel) {
  return word_for(loss_kernel_words, kernel);
}

std::string to_text(PartitionRule rule) {
  if (rule == PartitionRule::explicit_list) return "an explicit list";
  return rule == PartitionRule::count ? "a count of layers" : word_for(partition_words, rule);
}

std::string to_text(ContextMethod choice) {
  return word_for(context_method_words, choice);
}
std::string to_text(Dispatcher choice) {
  return word_for(dispatcher_words, choice);
}
std::string to_text(GradientCompression choice) {
  return word_for(gradient_compression_words, choice);
}
std::string to_text(Fp8Scaling choice) {
  return word_for(fp8_scaling_words, choice);
}

}  // namespace stagecraft
