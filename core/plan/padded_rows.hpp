#pragma once
// Rows of experts that are filled up to what fp8 products ask for.

#include "spec/model_spec.hpp"
#include "spec/run_spec.hpp"

namespace stagecraft {

/// fp8 products ask for a multiple of 16 or 32 rows per expert. All rows are copied into places filled up to that, and
/// back, unless the router sees to it (experts.router_padding) or the dispatcher does as it puts rows in order
/// (Megatron-LM, core/transformer/moe/experts.py; TransformerEngine, pytorch/module/fp8_padding.py). Whether a run has
/// either to do; with a capacity every expert has the same rows.
bool asks_for_padded_rows(const MoeSpec& moe, const RunSpec& run);

}  // namespace stagecraft
