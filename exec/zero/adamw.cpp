#include "exec/zero/adamw.hpp"

#include <ATen/ops/sqrt.h>

#include <algorithm>
#include <cmath>

namespace stagecraft {

namespace {

/// Elements of a slice: its temporary copy shall fit a core's cache, or keep a GPU busy for longer than its launches.
std::int64_t elements_at_once(const at::Tensor& state) {
  return state.is_cpu() ? std::int64_t{1} << 16 : std::int64_t{1} << 22;
}

FlatSpan intersect(const FlatSpan& a, const FlatSpan& b) {
  const std::int64_t begin = std::max(a.begin, b.begin);
  return {begin, std::max<std::int64_t>(std::min(a.begin + a.length, b.begin + b.length) - begin, 0)};
}

struct Moments {
  at::Tensor first, second;
};

void update_slice(const at::Tensor& target, const at::Tensor& gradient, const Moments& moments, const AdamWOptions& o,
                  double factor, double decay, std::int64_t update) {
  at::Tensor g = gradient.to(target.scalar_type());
  if (factor != 1) g = at::mul(g, factor);
  moments.first.mul_(o.beta1).add_(g, 1 - o.beta1);
  moments.second.mul_(o.beta2).addcmul_(g, g, 1 - o.beta2);
  const auto steps = static_cast<double>(update);
  at::Tensor root = at::sqrt(moments.second).div_(std::sqrt(1 - std::pow(o.beta2, steps))).add_(o.epsilon);
  if (decay != 0) target.mul_(1 - o.learning_rate * decay);
  target.addcdiv_(moments.first, root, -o.learning_rate / (1 - std::pow(o.beta1, steps)));
}

/// End of the leading part of the buffer to which weight decay applies.
std::int64_t decay_end(const FlatLayout& layout) {
  std::int64_t end = 0;
  for (const ParameterSpan& span : layout.spans) {
    if (span.decayed) end = std::max(end, span.at.begin + span.at.length);
  }
  return end;
}

void update_piece(StageBuffers& buffers, const OwnedPiece& piece, const AdamWOptions& options, double factor,
                  std::int64_t update) {
  const at::Tensor gradient = reduced_gradient(buffers, piece);
  const at::Tensor value = updated_value(buffers, piece);
  const at::Tensor master =
      buffers.master.defined() ? buffers.master.narrow(0, piece.state_begin, piece.at.length) : value;
  const std::int64_t decayed = std::clamp<std::int64_t>(decay_end(buffers.layout) - piece.at.begin, 0, piece.at.length);
  for (std::int64_t at = 0; at < piece.at.length;) {
    const std::int64_t limit = at < decayed ? decayed : piece.at.length;
    const std::int64_t length = std::min(elements_at_once(buffers.first_moment), limit - at);
    const Moments moments{buffers.first_moment.narrow(0, piece.state_begin + at, length),
                          buffers.second_moment.narrow(0, piece.state_begin + at, length)};
    update_slice(master.narrow(0, at, length), gradient.narrow(0, at, length), moments, options, factor,
                 at < decayed ? options.weight_decay : 0, update);
    if (buffers.master.defined()) value.narrow(0, at, length).copy_(master.narrow(0, at, length));
    at += length;
  }
}

}  // namespace

double squared_norm(const std::vector<StageBuffers>& stages) {
  at::Tensor sum;
  for (const StageBuffers& buffers : stages) {
    for (const OwnedPiece& piece : owned_pieces(buffers)) {
      const at::Tensor gradient = reduced_gradient(buffers, piece);
      for (const ParameterSpan& span : buffers.layout.spans) {
        const FlatSpan part = intersect(span.at, piece.at);
        if (!span.counted || part.length == 0) continue;
        at::Tensor g = gradient.narrow(0, part.begin - piece.at.begin, part.length);
        if (g.scalar_type() != at::kDouble) g = g.to(at::kFloat);
        const at::Tensor squares = g.dot(g).to(at::kDouble);
        sum = sum.defined() ? sum.add_(squares) : squares;
      }
    }
  }
  return sum.defined() ? sum.item<double>() : 0;
}

void adamw_update(std::vector<StageBuffers>& stages, const AdamWOptions& options, double factor, std::int64_t update) {
  for (StageBuffers& buffers : stages) {
    for (const OwnedPiece& piece : owned_pieces(buffers)) update_piece(buffers, piece, options, factor, update);
  }
}

bool adjust_loss_scale(LossScale& scale, double squared_norm) {
  if (!scale.dynamic) return true;
  if (!std::isfinite(squared_norm)) {
    scale.value = std::max(scale.value / 2, 1.0);
    scale.good_steps = 0;
    return false;
  }
  if (++scale.good_steps == scale.interval) {
    scale.value *= 2;
    scale.good_steps = 0;
  }
  return true;
}

}  // namespace stagecraft
