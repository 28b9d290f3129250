// The first and last layers of a language model: embedding, head (final norm and projection to the vocabulary), loss.

#include "exec/model/embedding.hpp"
#include "exec/model/loss.hpp"
#include "exec/model/parameter_makers.hpp"

namespace stagecraft {

namespace {

class Embedding final : public ModelLayer {
 public:
  Embedding(const ModelShape& shape, TensorGroup& group, ParameterList& parameters, bool tied)
      : shape_(shape), group_(group) {
    layer_.word =
        make_table("embedding.word", shape.padded_vocabulary, shape.hidden, initial_deviation, group, parameters);
    layer_.word->tied = tied;
    if (shape.positions != Positions::learned) return;
    Parameter position;
    position.name = "embedding.position.weight";
    position.rows = shape.length;
    position.columns = shape.hidden;
    position.deviation = initial_deviation;
    position.role = group.sequence_parallel() ? TensorRole::partial : TensorRole::replicated;
    position.pieces.push_back({position.name, shape.length, shape.hidden, 0, shape.length, 0, shape.hidden, 0});
    layer_.position = &parameters.emplace_back(std::move(position));
  }

  at::Tensor forward(const at::Tensor&, const Batch& batch, Tape* tape) override {
    return embed(layer_, batch.tokens, shape_, group_, tape);
  }

 private:
  ModelShape shape_;
  TensorGroup& group_;
  EmbeddingLayer layer_;
};

class Head final : public ModelLayer {
 public:
  Head(const ModelShape& shape, TensorGroup& group, ParameterList& parameters, Parameter* word, bool tied)
      : group_(group) {
    norm_ = make_norm("final.norm", shape.norm, shape.hidden, group, parameters);
    // A tied copy on another rank starts from the embedding's name, hence from the same values.
    linear_.weight = word != nullptr ? word
                                     : make_table(tied ? "embedding.word" : "head", shape.padded_vocabulary,
                                                  shape.hidden, initial_deviation, group, parameters);
    if (word == nullptr) linear_.weight->tied = tied;
  }

  at::Tensor forward(const at::Tensor& x, const Batch&, Tape* tape) override {
    return column_linear(linear_, normalise(norm_, x, tape), group_, tape);
  }

 private:
  TensorGroup& group_;
  NormLayer norm_;
  Linear linear_;
};

class Loss final : public ModelLayer {
 public:
  Loss(const ModelShape& shape, TensorGroup& group) : shape_(shape), group_(group) {}
  at::Tensor forward(const at::Tensor& x, const Batch& batch, Tape* tape) override {
    return cross_entropy(x, batch.labels, shape_, group_, tape);
  }

 private:
  ModelShape shape_;
  TensorGroup& group_;
};

}  // namespace

LayerPtr make_embedding(const ModelShape& shape, TensorGroup& group, ParameterList& parameters, bool tied) {
  return std::make_unique<Embedding>(shape, group, parameters, tied);
}

LayerPtr make_head(const ModelShape& shape, TensorGroup& group, ParameterList& parameters, Parameter* word, bool tied) {
  return std::make_unique<Head>(shape, group, parameters, word, tied);
}

LayerPtr make_loss(const ModelShape& shape, TensorGroup& group) {
  return std::make_unique<Loss>(shape, group);
}

}  // namespace stagecraft
