#pragma once
// Megatron-LM's letters for the layers of each stage (core/transformer/pipeline_parallel_layer_layout.py): E embedding,
// t block, m module of multi-token prediction, L loss, | the next stage; "t*3" and "(tt|)*30" repeat.

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

namespace stagecraft {

/// Blocks per stage, modules of multi-token prediction among them; none if the text is no layout.
std::optional<std::vector<std::int64_t>> blocks_of_layout(std::string_view text);

}  // namespace stagecraft
