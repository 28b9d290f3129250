// A layer known only by what it costs: its FLOPs as a GEMM of unknown shape, its output written and read once. The
// gradients of input and weight each cost as much as the forward pass.

#include "schedule/body_layers.hpp"

namespace stagecraft {
namespace {

Segment work(const char* name, const BodyShape& shape, const PlainLayerSpec& layer, double bytes) {
  Segment segment;
  segment.name = name;
  segment.kernel.kind = KernelKind::gemm;
  segment.kernel.dtype = shape.gemm_dtype;
  segment.kernel.flops = layer.forward_flops_per_sample * static_cast<double>(shape.sequences);
  segment.kernel.bytes = Bytes{bytes};
  return segment;
}

double moved(const BodyShape& shape, const PlainLayerSpec& layer) {
  return 2 * layer.output_per_sample.value * static_cast<double>(shape.sequences) + layer.parameters * shape.element;
}

}  // namespace

void add_plain_forward(std::vector<Segment>& out, const BodyShape& shape, const PlainLayerSpec& layer) {
  out.push_back(work("plain-forward", shape, layer, moved(shape, layer)));
}

void add_plain_backward(const BackwardList& list, const BodyShape& shape, const PlainLayerSpec& layer) {
  list.input_grad(work("plain-input-grad", shape, layer, moved(shape, layer)));
  if (layer.parameters > 0) {
    list.weight_grad(
        work("plain-weight-grad", shape, layer, moved(shape, layer) + 2 * layer.parameters * shape.gradient));
  }
}

}  // namespace stagecraft
