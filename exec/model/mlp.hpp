#pragma once
// The element-wise part of an MLP between its two linear layers.

#include "exec/model/shape.hpp"
#include "exec/model/tape.hpp"

namespace stagecraft {

/// act(u), or for gated MLPs (arXiv 2002.05202) act(gate) * up with u = [gate | up], [rows, 2 inner] -> [rows, inner].
/// GELU by its tanh approximation (arXiv 1606.08415), as Megatron-LM computes it.
at::Tensor activate(const at::Tensor& u, const ModelShape& shape, Tape* tape);

}  // namespace stagecraft
