// Experts, laid over what the other rules set: shapes, degrees, dispatcher.

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "validate/rules.hpp"

namespace stagecraft {
namespace {

std::int64_t shared_width(const RecordExperts& experts, std::int64_t ffn) {
  if (experts.shared_ffn) return *experts.shared_ffn;
  return experts.shared_experts.value_or(0) * ffn;
}

// What NVIDIA's recipes do with experts (NVIDIA-NeMo/Megatron-Bridge, scripts/performance/configs: the files of
// workload_base_configs). None of them divides an expert over the tensor group.
struct ExpertRecipe {
  const char* model;
  const char* gpu;            // part of its name; a line above the next one that it would match too
  std::int64_t expert_ranks;  // 0: any number
  bool deduplicates, overlaps;
  const char* recomputes;  // modules in Megatron-LM's words; "": none
  bool overlaps_tensor = true;
};

constexpr std::array recipes{ExpertRecipe{"Qwen3_30B", "H100", 16, true, false, ""},
                             ExpertRecipe{"Qwen3_30B", "H100", 0, false, false, ""},
                             ExpertRecipe{"Qwen3_30B", "B200", 0, true, false, ""},
                             ExpertRecipe{"Qwen3_30B", "B300", 0, true, false, ""},
                             ExpertRecipe{"Qwen3_235B", "H100", 32, false, true, "", false},
                             ExpertRecipe{"Qwen3_235B", "GB200", 0, true, false, ""},
                             ExpertRecipe{"Qwen3_235B", "GB300", 0, true, false, ""},
                             ExpertRecipe{"Qwen3_235B", "B200", 0, false, false, ""},
                             ExpertRecipe{"Qwen3_235B", "B300", 0, false, false, ""},
                             ExpertRecipe{"DeepSeek", "H100", 64, true, true, "mla_up_proj", false},
                             ExpertRecipe{"DeepSeek", "GB200", 0, true, false, "mla_up_proj"},
                             ExpertRecipe{"DeepSeek", "GB300", 0, true, false, "mla_up_proj"},
                             ExpertRecipe{"DeepSeek", "B200", 32, true, true, "mla_up_proj"},
                             ExpertRecipe{"DeepSeek", "B200", 0, true, false, "mla_up_proj"},
                             ExpertRecipe{"DeepSeek", "B300", 0, true, false, "mla_up_proj"},
                             ExpertRecipe{"GPT_OSS", "H100", 0, false, false, "layernorm moe_act"},
                             ExpertRecipe{"GPT_OSS", "GB300", 0, false, false, ""},
                             ExpertRecipe{"GPT_OSS", "B300", 8, true, false, ""},
                             ExpertRecipe{"GPT_OSS", "B300", 0, false, false, ""},
                             ExpertRecipe{"GPT_OSS", "B200", 0, false, false, "layernorm moe_act"}};

const ExpertRecipe* recipe_for(const Record& record) {
  if (!contains(record.group, "mbridge")) return nullptr;
  std::string name = record.model.name;
  std::replace(name.begin(), name.end(), ' ', '_');
  const auto found = std::find_if(recipes.begin(), recipes.end(), [&](const ExpertRecipe& recipe) {
    const bool any = recipe.expert_ranks == 0;
    return contains(name, recipe.model) && contains(record.gpu, recipe.gpu) &&
           (any || record.parallel.expert == recipe.expert_ranks);
  });
  return found == recipes.end() ? nullptr : &*found;
}

void recompute_as_in(Draft& draft, const ExpertRecipe& recipe) {
  if (!draft.mapping.recompute_is_open) return;
  draft.mapping.recompute_is_open = false;
  const bool none = *recipe.recomputes == '\0';
  infer(draft, "/recompute", none ? "none" : fmt::format("selective: {}", recipe.recomputes), "NVIDIA's recipe");
  if (none) return;
  set(draft, "/recompute", "selective");
  set(draft, "/recompute_modules", recompute_modules_of(recipe.recomputes));
}

void map_dispatcher(Draft& draft) {
  const std::string& text = draft.record.overlap;
  const bool deep = contains(text, "HybridEP") || contains(text, "DeepEP"),
             named = deep || contains(text, "all-to-all");
  const ExpertRecipe* const recipe = recipe_for(draft.record);
  if (recipe != nullptr) recompute_as_in(draft, *recipe);
  const bool by_recipe = recipe != nullptr && !named;
  const bool deduplicates = by_recipe ? recipe->deduplicates : deep;
  const bool overlaps = by_recipe ? recipe->overlaps : contains(text, "EP overlap") && !contains(text, "no EP overlap");
  set(draft, "/experts/dispatcher", deduplicates ? "deduplicated" : "all_to_all");
  set(draft, "/overlap/expert", overlaps);
  if (recipe != nullptr && !recipe->overlaps_tensor) {
    set(draft, "/overlap/tensor", false);
    infer(draft, "/overlap/tensor", "false", "NVIDIA's recipe");
  }
  const bool delays = overlaps && (by_recipe || contains(text, "delayed weight gradients"));
  if (delays) set(draft, "/overlap/delay_weight_grad", true);
  if (delays && by_recipe) infer(draft, "/overlap/delay_weight_grad", "true", "NVIDIA's recipe");
  if (overlaps && contains(text, "32 SMs")) {
    const double all = contains(draft.record.gpu, "B200") || contains(draft.record.gpu, "B300") ? 148 : 132;
    set(draft, "/overlap/slowdown", 32 / (all - 32));
    infer(draft, "/overlap/slowdown", fmt::format("{:.2f}", 32 / (all - 32)),
          "32 multiprocessors that the dispatch holds");
  }
  if (named) return;
  infer(draft, "/experts/dispatcher", deduplicates ? "deduplicated" : "all_to_all",
        by_recipe ? "NVIDIA's recipe" : "no other dispatcher is named");
}

}  // namespace

void map_experts(Draft& draft) {
  const Record& record = draft.record;
  const RecordParallel& parallel = record.parallel;
  if (!record.model.experts) {
    if (parallel.expert.value_or(1) > 1) throw Unmapped("expert parallelism of a model whose experts are not stated");
    return;
  }
  const RecordExperts& experts = *record.model.experts;
  const std::int64_t ffn = stated(experts.ffn, "model.moe.expert_ffn");
  set(draft, "/model/moe/experts", stated(experts.count, "model.moe.experts"));
  set(draft, "/model/moe/top_k", stated(experts.top_k, "model.moe.topk"));
  set(draft, "/model/moe/ffn_hidden", ffn);
  set(draft, "/model/moe/shared_ffn_hidden", shared_width(experts, ffn));
  set(draft, "/model/moe/dense_blocks", experts.dense_layers.value_or(0));
  if (contains(record.notes, "(tokendrop)") && !experts.capacity_factor) {
    set(draft, "/model/moe/capacity_factor", 1.0);
    infer(draft, "/model/moe/capacity_factor", "1",
          "tokens beyond the even share are dropped; the factor is not stated");
  } else {
    set(draft, "/model/moe/capacity_factor", experts.capacity_factor.value_or(0));
  }
  set(draft, "/parallel/expert", parallel.expert.value_or(1));
  const std::int64_t tensor = parallel.tensor.value_or(1);
  const bool whole = !parallel.expert_tensor && tensor > 1 && recipe_for(record) != nullptr;
  set(draft, "/parallel/expert_tensor", whole ? 1 : parallel.expert_tensor.value_or(tensor));
  if (whole) infer(draft, "/parallel/expert_tensor", "1", "NVIDIA's recipe");
  if (tensor > 1) set(draft, "/parallel/sequence_parallel", true);
  if (parallel.expert.value_or(1) > 1) map_dispatcher(draft);
}

}  // namespace stagecraft
