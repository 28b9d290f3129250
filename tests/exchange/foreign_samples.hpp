#pragma once
// Configurations of other frameworks, and what a scenario becomes of them.

#include <string>

#include "exchange/exchange.hpp"
#include "spec/scenario.hpp"

namespace stagecraft::testing {

inline Library shipped() {
  return {{STAGECRAFT_SOURCE_DIR "/scenarios", STAGECRAFT_SOURCE_DIR "/topologies"}};
}

inline Scenario read(const Imported& imported) {
  return parse_scenario(imported.scenario, "imported", {}, shipped());
}

/// huggingface.co/deepseek-ai/DeepSeek-V3, config.json, without what no import reads.
inline constexpr const char* deepseek = R"({
  "model_type": "deepseek_v3", "hidden_size": 7168, "num_hidden_layers": 61, "num_attention_heads": 128,
  "num_key_value_heads": 128, "intermediate_size": 18432, "moe_intermediate_size": 2048, "n_routed_experts": 256,
  "n_shared_experts": 1, "num_experts_per_tok": 8, "first_k_dense_replace": 3, "n_group": 8, "topk_group": 4,
  "q_lora_rank": 1536, "kv_lora_rank": 512, "qk_nope_head_dim": 128, "qk_rope_head_dim": 64, "v_head_dim": 128,
  "num_nextn_predict_layers": 1, "vocab_size": 129280, "max_position_embeddings": 163840, "hidden_act": "silu",
  "tie_word_embeddings": false, "attention_bias": false, "ep_size": 1, "moe_layer_freq": 1
})";

inline constexpr const char* megatron = R"(#!/bin/bash
torchrun --nproc-per-node 8 --nnodes 2 pretrain_gpt.py \
  --num-layers 32 --hidden-size 4096 --num-attention-heads 32 --group-query-attention --num-query-groups 8 \
  --ffn-hidden-size 14336 --seq-length 8192 --max-position-embeddings 8192 --vocab-size 128256 --swiglu \
  --normalization RMSNorm --position-embedding-type rope --disable-bias-linear --hidden-dropout 0 \
  --attention-dropout 0 --untie-embeddings-and-output-weights \
  --tensor-model-parallel-size 2 --pipeline-model-parallel-size 2 --context-parallel-size 2 \
  --num-layers-per-virtual-pipeline-stage 8 --sequence-parallel --cp-comm-type p2p \
  --micro-batch-size 1 --global-batch-size 64 --bf16 --use-distributed-optimizer --overlap-grad-reduce \
  --recompute-granularity selective --lr 3e-4 --magic-number 7
)";

}  // namespace stagecraft::testing
