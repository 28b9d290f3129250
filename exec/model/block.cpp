// One transformer block: x + projection(attention(norm(x))), then x + down(act(up(norm(x)))).

#include <cmath>

#include "exec/model/attention.hpp"
#include "exec/model/mlp.hpp"
#include "exec/model/parameter_makers.hpp"

namespace stagecraft {

namespace {

class Block final : public ModelLayer {
 public:
  Block(std::int32_t index, const ModelShape& shape, const ModelSpec& model, TensorGroup& group,
        ParameterList& parameters)
      : shape_(shape), group_(group) {
    const std::string name = "block" + std::to_string(index);
    const std::int64_t query = shape.heads * shape.head_dim, key = shape.kv_heads * shape.head_dim;
    // Layers that end a residual branch start smaller (GPT-2 report, section 2.3).
    const double ending = initial_deviation / std::sqrt(2.0 * static_cast<double>(shape.blocks));
    attention_norm_ = make_norm(name + ".attention.norm", shape.norm, shape.hidden, group, parameters);
    qkv_ = make_column_linear(
        name + ".attention.qkv",
        {{name + ".attention.query", query}, {name + ".attention.key", key}, {name + ".attention.value", key}},
        shape.hidden, model.attention.bias, initial_deviation, group, parameters);
    projection_ = make_row_linear(name + ".attention.projection", shape.hidden, query, model.attention.bias, ending,
                                  group, parameters);
    mlp_norm_ = make_norm(name + ".mlp.norm", shape.norm, shape.hidden, group, parameters);
    std::vector<RowBlock> up;
    if (shape.gated) up.push_back({name + ".mlp.gate", shape.ffn});
    up.push_back({name + ".mlp.up", shape.ffn});
    up_ = make_column_linear(name + ".mlp.in", up, shape.hidden, model.mlp.bias, initial_deviation, group, parameters);
    down_ = make_row_linear(name + ".mlp.down", shape.hidden, shape.ffn, model.mlp.bias, ending, group, parameters);
    heads_ = {shape.sequences, shape.length, shape.heads / group.size(), shape.kv_heads / group.size(), shape.head_dim};
    if (shape.positions == Positions::rotary) rotary_ = rotary_tables(shape.length, shape.head_dim, shape.options());
  }

  at::Tensor forward(const at::Tensor& x, const Batch&, Tape* tape) override {
    if (tape == nullptr || shape_.recompute != Recompute::full) return run(x, tape);
    // Checkpoint: keep the input only, run once more right before the block's own backward.
    tape->push([this, x](at::Tensor g, Backward& backward) {
      Tape again;
      const double begin_s = now_s();
      run(x, &again);
      backward.recompute_s += now_s() - begin_s;
      return again.run(std::move(g), backward);
    });
    return run(x, nullptr);
  }

 private:
  at::Tensor run(const at::Tensor& x, Tape* tape) {
    const at::Tensor middle = join(x, attention(x, tape), tape);
    return join(middle, mlp(middle, tape), tape);
  }

  at::Tensor attention(const at::Tensor& x, Tape* tape) {
    fork_residual(tape);
    const at::Tensor packed = column_linear(qkv_, normalise(attention_norm_, x, tape), group_, tape);
    if (rotary_.sine.defined()) {
      rotate(packed, heads_, rotary_.cosine, rotary_.sine, 1);
      if (tape != nullptr) {
        tape->push([this](const at::Tensor& g, Backward&) {
          rotate(g, heads_, rotary_.cosine, rotary_.sine, -1);
          return g;
        });
      }
    }
    return row_linear(projection_, attend(packed, heads_, shape_, tape), group_, tape);
  }

  at::Tensor mlp(const at::Tensor& x, Tape* tape) {
    fork_residual(tape);
    const at::Tensor u = column_linear(up_, normalise(mlp_norm_, x, tape), group_, tape);
    return row_linear(down_, activate(u, shape_, tape), group_, tape);
  }

  static at::Tensor join(const at::Tensor& x, const at::Tensor& branch, Tape* tape) {
    return join_residual(x, branch, tape);
  }

  ModelShape shape_;
  TensorGroup& group_;
  NormLayer attention_norm_, mlp_norm_;
  Linear qkv_, projection_, up_, down_;
  HeadLayout heads_;
  RotaryTables rotary_;
};

}  // namespace

LayerPtr make_block(std::int32_t index, const ModelShape& shape, const ModelSpec& model, TensorGroup& group,
                    ParameterList& parameters) {
  return std::make_unique<Block>(index, shape, model, group, parameters);
}

}  // namespace stagecraft
