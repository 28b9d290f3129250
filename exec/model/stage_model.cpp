#include "exec/model/stage_model.hpp"

#include "exec/model/out_of_memory.hpp"
#include "schedule/executable.hpp"

namespace stagecraft {

namespace {

double bytes_per_number(const Plan& plan) {
  switch (plan.run.precision) {
    case Precision::fp32:
    case Precision::tf32:
      return 4;
    default:
      return 2;
  }
}

std::string name_of(const Layer& layer) {
  switch (layer.kind) {
    case LayerKind::embedding:
      return "embedding";
    case LayerKind::block:
      return "block" + std::to_string(layer.index);
    case LayerKind::head:
      return "head";
    case LayerKind::loss:
      return "loss";
    case LayerKind::plain:
      break;
  }
  return "layer" + std::to_string(layer.index);
}

LayerPtr make_layer(const Plan& plan, const Layer& layer, const ModelShape& shape, TensorGroup& group, bool tied_apart,
                    Parameter* word, ParameterList& parameters) {
  switch (layer.kind) {
    case LayerKind::embedding:
      return make_embedding(shape, group, parameters, tied_apart);
    case LayerKind::block:
      return make_block(layer.index, shape, plan.model, group, parameters);
    case LayerKind::head:
      return make_head(shape, group, parameters, word, tied_apart);
    case LayerKind::loss:
      return make_loss(shape, group);
    case LayerKind::plain:
      break;
  }
  const auto index = static_cast<std::size_t>(layer.index);
  const PlainWidths widths = plain_widths(plan.model.plain_layers[index], bytes_per_number(plan));
  const bool last = index + 1 == plan.model.plain_layers.size();
  return make_plain(layer.index, widths.in, widths.out, last, shape, group, parameters);
}

}  // namespace

std::unique_ptr<StageModel> make_stage_model(const Plan& plan, Stage stage, const ModelShape& shape, TensorGroup& group,
                                             TiedCopy copy, Parameter* word) {
  auto model = std::make_unique<StageModel>();
  model->stage = stage;
  model->first = stage.value == 0;
  model->last = stage.index() + 1 == plan.stages.size();
  const StageLayers range = plan.stages[stage.index()];
  for (std::int32_t at = range.first; at < range.last; ++at) {
    const Layer& layer = plan.layers[static_cast<std::size_t>(at)];
    Parameter* table = nullptr;
    if (plan.model.tied_embeddings) table = word != nullptr ? word : word_table(*model);
    model->layers.push_back(
        make_layer(plan, layer, shape, group, copy == TiedCopy::other_rank, table, model->parameters));
    model->layer_names.push_back(name_of(layer));
  }
  return model;
}

Parameter* word_table(StageModel& stage) {
  for (Parameter& parameter : stage.parameters) {
    if (parameter.name == "embedding.word.weight" && stage.first) return &parameter;
  }
  return nullptr;
}

at::Tensor run_forward(StageModel& stage, const at::Tensor& x, const Batch& batch, Tape* tape) {
  at::Tensor y = x;
  for (std::size_t i = 0; i < stage.layers.size(); ++i) {
    if (tape != nullptr) tape->begin_layer(stage.layer_names[i]);
    y = naming("activations of", stage.layer_names[i], [&] { return stage.layers[i]->forward(y, batch, tape); });
  }
  return y;
}

}  // namespace stagecraft
