// Experts, laid over what the other rules set: shapes, degrees, dispatcher.

#include <fmt/format.h>

#include "validate/rules.hpp"

namespace stagecraft {
namespace {

std::int64_t shared_width(const RecordExperts& experts, std::int64_t ffn) {
  if (experts.shared_ffn) return *experts.shared_ffn;
  return experts.shared_experts.value_or(0) * ffn;
}

void map_dispatcher(Draft& draft) {
  const std::string& text = draft.record.overlap;
  const bool deduplicates = contains(text, "HybridEP") || contains(text, "DeepEP");
  const bool overlaps = contains(text, "EP overlap") && !contains(text, "no EP overlap");
  set(draft, "/experts/dispatcher", deduplicates ? "deduplicated" : "all_to_all");
  set(draft, "/overlap/expert", overlaps);
  if (deduplicates || overlaps) return;
  infer(draft, "/experts/dispatcher", "all_to_all", "no other dispatcher is named");
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
  set(draft, "/parallel/expert_tensor", parallel.expert_tensor.value_or(tensor));
  if (tensor > 1) set(draft, "/parallel/sequence_parallel", true);
  if (parallel.expert.value_or(1) > 1) map_dispatcher(draft);
}

}  // namespace stagecraft
