// Attention with the scores in memory, [sequences, heads, length, length]: products, mask, softmax in fp32, products.
// The backward of P = softmax(S): dS = P (dP - rowsum(dP P)).

#include <ATen/ops/ones.h>
#include <ATen/ops/triu.h>

#include <cmath>
#include <limits>

#include "exec/model/attention.hpp"

namespace stagecraft {

namespace {

at::Tensor heads_of(const at::Tensor& view, std::int64_t sequence, const HeadLayout& l) {  // [heads, length, head_dim]
  return view[sequence]
      .expand({l.kv_heads, l.heads_per_key(), l.length, l.head_dim})
      .reshape({l.heads, l.length, l.head_dim});
}

at::Tensor rows_as_heads(const at::Tensor& rows, std::int64_t sequence, const HeadLayout& l) {
  return rows.narrow(0, sequence * l.length, l.length).view({l.length, l.heads, l.head_dim}).permute({1, 0, 2});
}

struct Probabilities {
  at::Tensor softmax;  // fp32 (or fp64), or the activation type where the softmax is fused
  at::Tensor used;     // the same in the activation type
};

Probabilities probabilities(const at::Tensor& packed, const HeadLayout& l, const ModelShape& shape) {
  const HeadViews views = head_views(packed, l);
  at::Tensor scores = at::empty({l.sequences, l.heads, l.length, l.length}, packed.options());
  for (std::int64_t b = 0; b < l.sequences; ++b) {
    at::Tensor out = scores[b];
    at::bmm_out(out, heads_of(views.query, b, l), heads_of(views.key, b, l).transpose(1, 2));
  }
  scores.mul_(1.0 / std::sqrt(static_cast<double>(l.head_dim)));
  if (shape.causal) {
    const at::Tensor above = at::ones({l.length, l.length}, packed.options().dtype(at::kBool)).triu_(1);
    scores.masked_fill_(above, -std::numeric_limits<double>::infinity());
  }
  const bool wide = shape.attention == AttentionKernel::unfused && scores.scalar_type() != at::kDouble;
  if (wide) scores = scores.to(at::kFloat);
  Probabilities result;
  result.softmax = at::_softmax(scores, -1, /*half_to_float=*/false);
  result.used = result.softmax.to(packed.scalar_type());
  return result;
}

at::Tensor gradient_of(const at::Tensor& packed, const Probabilities& p, const at::Tensor& g, const HeadLayout& l) {
  const HeadViews views = head_views(packed, l);
  at::Tensor gradient = at::empty({packed.size(0), l.width()}, packed.options());
  const HeadViews into = head_views(gradient, l);
  const double scale = 1.0 / std::sqrt(static_cast<double>(l.head_dim));
  const auto by_key = [&](const at::Tensor& x) {
    return x.view({l.kv_heads, l.heads_per_key(), l.length, l.head_dim}).sum(1, /*keepdim=*/true);
  };
  for (std::int64_t b = 0; b < l.sequences; ++b) {
    const at::Tensor go = rows_as_heads(g, b, l);
    into.value[b].copy_(by_key(at::bmm(p.used[b].transpose(1, 2), go)));
    at::Tensor ds = at::bmm(go, heads_of(views.value, b, l).transpose(1, 2)).to(p.softmax.scalar_type());
    const at::Tensor inner = at::mul(ds, p.softmax[b]).sum(-1, /*keepdim=*/true);
    ds = ds.sub_(inner).mul_(p.softmax[b]).mul_(scale).to(packed.scalar_type());
    into.query[b].copy_(
        at::bmm(ds, heads_of(views.key, b, l)).view({l.kv_heads, l.heads_per_key(), l.length, l.head_dim}));
    into.key[b].copy_(by_key(at::bmm(ds.transpose(1, 2), heads_of(views.query, b, l))));
  }
  return gradient;
}

}  // namespace

at::Tensor attend_unfused(const at::Tensor& packed, const HeadLayout& layout, const ModelShape& shape, Tape* tape) {
  const HeadViews views = head_views(packed, layout);
  Probabilities p = probabilities(packed, layout, shape);
  at::Tensor output = at::empty({packed.size(0), layout.query_width()}, packed.options());
  for (std::int64_t b = 0; b < layout.sequences; ++b) {
    rows_as_heads(output, b, layout).copy_(at::bmm(p.used[b], heads_of(views.value, b, layout)));
  }
  if (tape == nullptr) return output;
  if (shape.recompute == Recompute::selective) {
    tape->push([packed, layout, shape](const at::Tensor& g, Backward&) {
      return gradient_of(packed, probabilities(packed, layout, shape), g, layout);
    });
  } else {
    tape->push([packed, layout, p = std::move(p)](const at::Tensor& g, Backward&) {
      return gradient_of(packed, p, g, layout);
    });
  }
  return output;
}

}  // namespace stagecraft
