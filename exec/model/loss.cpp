#include "exec/model/loss.hpp"

#include <ATen/ops/amax.h>
#include <ATen/ops/gather.h>
#include <ATen/ops/log.h>
#include <ATen/ops/logical_or.h>

#include <algorithm>
#include <limits>

namespace stagecraft {

namespace {

/// Columns of this rank that exist only to make the vocabulary divisible take no probability.
void hide_padding(at::Tensor& logits, const ModelShape& shape, const TensorGroup& group) {
  const std::int64_t first = group.index() * logits.size(1);
  const std::int64_t real = std::clamp<std::int64_t>(shape.vocabulary - first, 0, logits.size(1));
  if (real < logits.size(1)) {
    logits.narrow(1, real, logits.size(1) - real).fill_(-std::numeric_limits<double>::infinity());
  }
}

struct Targets {
  at::Tensor columns;    // [rows, 1], within this rank's part; 0 where another rank holds the target
  at::Tensor elsewhere;  // [rows, 1] bool; undefined if this rank holds all columns
};

Targets local_targets(const at::Tensor& labels, std::int64_t width, const TensorGroup& group) {
  if (group.size() == 1) return {labels.unsqueeze(1), {}};
  const at::Tensor shifted = (labels - group.index() * width).unsqueeze(1);
  const at::Tensor outside = at::logical_or(shifted.lt(0), shifted.ge(width));
  return {shifted.masked_fill(outside, 0), outside};
}

}  // namespace

at::Tensor cross_entropy(at::Tensor logits, const at::Tensor& labels, const ModelShape& shape, TensorGroup& group,
                         Tape* tape) {
  const at::ScalarType dtype = logits.scalar_type();
  at::Tensor z = dtype == at::kDouble || dtype == at::kFloat ? logits : logits.to(at::kFloat);
  logits.reset();
  hide_padding(z, shape, group);
  const Targets targets = local_targets(labels, z.size(1), group);

  at::Tensor largest = at::amax(z, 1, /*keepdim=*/true);
  group.all_reduce(largest, Reduction::max);
  z.sub_(largest);
  at::Tensor at_target = at::gather(z, 1, targets.columns);
  if (targets.elsewhere.defined()) at_target.masked_fill_(targets.elsewhere, 0);
  group.all_reduce(at_target);
  z.exp_();
  at::Tensor sum = z.sum(1, /*keepdim=*/true);
  group.all_reduce(sum);
  z.div_(sum);

  const at::Tensor loss = at::log(sum).sub_(at_target).mean();
  if (tape != nullptr) {
    tape->push([softmax = std::move(z), targets, dtype](const at::Tensor& factor, Backward&) {
      const at::Tensor minus_one = at::ones({targets.columns.size(0), 1}, softmax.options()).neg_();
      if (targets.elsewhere.defined()) minus_one.masked_fill_(targets.elsewhere, 0);
      softmax.scatter_add_(1, targets.columns, minus_one);
      softmax.mul_(factor.to(softmax.scalar_type()) / softmax.size(0));
      return softmax.to(dtype);
    });
  }
  return loss;
}

at::Tensor mean_squared_error(const at::Tensor& output, const at::Tensor& target, Tape* tape) {
  const at::Tensor difference = at::add(output, target, -1);
  const at::Tensor loss = at::mul(difference, difference).mean();
  if (tape != nullptr) {
    tape->push([difference](const at::Tensor& factor, Backward&) {
      return at::mul(difference, factor.to(difference.scalar_type()) * (2.0 / static_cast<double>(difference.numel())));
    });
  }
  return loss;
}

}  // namespace stagecraft
