#include "spec/read_model.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace stagecraft {
namespace {

std::int64_t divisor_at_most(std::int64_t most, std::int64_t number) {
  std::int64_t divisor = std::min(most, number);
  while (number % divisor != 0) --divisor;
  return divisor;
}

LatentSpec read_latent(const JsonNode& node, const std::string& where, std::int64_t head_dim, Reading& reading) {
  LatentSpec latent;
  ObjectReader fields(node, where, reading);
  const auto width = [](std::int64_t least) { return integer_in(least, model_limits::hidden); };
  fields.defaulted("query_rank", latent.query_rank, width(0), text_of, "queries are projected directly");
  fields.required("kv_rank", latent.kv_rank, width(1));
  fields.required("rope_dim", latent.rope_dim, integer_in(0, model_limits::head_dim));
  latent.value_dim = head_dim;
  fields.defaulted("value_dim", latent.value_dim, integer_in(1, model_limits::head_dim), text_of, "head_dim");
  fields.finish();
  return latent;
}

AttentionSpec read_attention(const JsonNode& node, const std::string& where, std::int64_t hidden, Reading& reading) {
  AttentionSpec attention;
  ObjectReader fields(node, where, reading);
  const std::size_t problems_before = reading.problems.size();
  fields.required("heads", attention.heads, integer_in(1, model_limits::heads));
  attention.kv_heads = attention.heads;
  fields.defaulted("kv_heads", attention.kv_heads, integer_in(1, model_limits::heads), text_of,
                   "as many as heads: multi-head attention");
  attention.head_dim = std::max<std::int64_t>(1, hidden / std::max<std::int64_t>(1, attention.heads));
  fields.defaulted("head_dim", attention.head_dim, integer_in(1, model_limits::head_dim), text_of, "hidden / heads");
  fields.defaulted("causal", attention.causal, read_boolean, text_of_bool, "a language model");
  fields.defaulted("bias", attention.bias, read_boolean, text_of_bool, "as in GPT");
  fields.optional("output_bias", attention.output_bias, read_boolean);
  fields.optional("qk_norm", attention.qk_norm, read_boolean);
  fields.optional("window", attention.window, integer_in(0, model_limits::sequence));
  fields.optional("global_every", attention.global_every, integer_in(0, model_limits::blocks));
  fields.optional("relative_buckets", attention.relative_buckets, integer_in(1, model_limits::hidden));
  fields.optional("latent", attention.latent, [&](const JsonNode& latent) {
    return read_latent(latent, where + "/latent", attention.head_dim, reading);
  });
  fields.finish();
  if (reading.problems.size() > problems_before) return attention;
  reading.attempt([&] {
    const JsonNode heads = node.at("heads");
    const auto head_dim = node.find("head_dim");
    if (!head_dim && hidden % attention.heads != 0)
      heads.fail(fmt::format("a divisor of hidden ({}), or the key \"head_dim\"", text_of(hidden)));
    if (attention.heads % attention.kv_heads != 0)
      node.at("kv_heads")
          .fail(fmt::format("a divisor of heads ({})", attention.heads),
                text_of(divisor_at_most(attention.kv_heads, attention.heads)));
    if (attention.heads > model_limits::attention_width / attention.head_dim)
      heads.fail(fmt::format("heads x head_dim of at most {}", text_of(model_limits::attention_width)),
                 text_of(model_limits::attention_width / attention.head_dim));
  });
  return attention;
}

MoeSpec read_moe(const JsonNode& node, const std::string& where, Reading& reading) {
  MoeSpec moe;
  ObjectReader fields(node, where, reading);
  fields.required("experts", moe.experts, integer_in(1, model_limits::experts));
  fields.required("ffn_hidden", moe.ffn_hidden, integer_in(1, model_limits::ffn_hidden));
  fields.defaulted("top_k", moe.top_k, integer_in(1, model_limits::experts), text_of, "one expert per token");
  fields.defaulted("shared_ffn_hidden", moe.shared_ffn_hidden, integer_in(0, model_limits::ffn_hidden), text_of,
                   "no shared experts");
  fields.defaulted("dense_blocks", moe.dense_blocks, integer_in(0, model_limits::blocks), text_of,
                   "every block has experts");
  fields.defaulted("capacity_factor", moe.capacity_factor, number_in(0.0, 1e3), text_of_number, "0: dropless");
  fields.optional("every", moe.every, integer_in(1, model_limits::blocks));
  fields.optional("nodes_per_token", moe.nodes_per_token, integer_in(0, model_limits::experts));
  fields.finish();
  if (moe.top_k > moe.experts) {
    reading.attempt([&] {
      node.at("top_k").fail(fmt::format("at most as many as experts ({})", moe.experts), text_of(moe.experts));
    });
  }
  return moe;
}

EmbeddingSpec read_embedding(const JsonNode& node, const std::string& where, Reading& reading) {
  EmbeddingSpec embedding;
  ObjectReader fields(node, where, reading);
  fields.optional("patch_inputs", embedding.patch_inputs, integer_in(0, model_limits::hidden));
  fields.optional("extra_tokens", embedding.extra_tokens, integer_in(0, model_limits::hidden));
  fields.optional("token_types", embedding.token_types, integer_in(0, model_limits::hidden));
  fields.optional("norm", embedding.norm, read_boolean);
  fields.finish();
  return embedding;
}

HeadSpec read_head(const JsonNode& node, const std::string& where, Reading& reading) {
  HeadSpec head;
  ObjectReader fields(node, where, reading);
  fields.optional("norm", head.norm, read_boolean);
  fields.optional("projection", head.projection, read_boolean);
  fields.optional("bias", head.bias, read_boolean);
  fields.optional("transform", head.transform, read_boolean);
  fields.optional("pooler", head.pooler, read_boolean);
  fields.optional("first_token", head.first_token, read_boolean);
  fields.finish();
  return head;
}

MlpSpec read_mlp(const JsonNode& node, const std::string& where, Reading& reading) {
  MlpSpec mlp;
  ObjectReader fields(node, where, reading);
  fields.required("ffn_hidden", mlp.ffn_hidden, integer_in(1, model_limits::ffn_hidden));
  fields.defaulted("gated", mlp.gated, read_boolean, text_of_bool, "as in GPT");
  mlp.activation = mlp.gated ? Activation::silu : Activation::gelu;
  fields.defaulted(
      "activation", mlp.activation, word_of(activation_words), [](Activation choice) { return to_text(choice); },
      "silu where the MLP is gated, gelu where it is not");
  fields.defaulted("bias", mlp.bias, read_boolean, text_of_bool, "as in GPT");
  fields.optional("clamp", mlp.clamp, number_in(0, 1e6));
  fields.finish();
  return mlp;
}

PlainLayerSpec read_plain_layer(const JsonNode& node, const std::string& where, Reading& reading) {
  PlainLayerSpec layer;
  ObjectReader fields(node, where, reading);
  fields.required("name", layer.name, read_nonempty_string);
  fields.required("forward_flops_per_sample", layer.forward_flops_per_sample,
                  [](const JsonNode& value) { return read_flops(value, {0}, {1e24}); });
  fields.required("parameters", layer.parameters, [](const JsonNode& value) {
    return static_cast<double>(read_integer(value, 0, std::int64_t{1} << 44));
  });
  fields.required("output_per_sample", layer.output_per_sample,
                  [](const JsonNode& value) { return read_bytes(value, {0}, {1e15}); });
  fields.required("activations_per_sample", layer.activations_per_sample,
                  [](const JsonNode& value) { return read_bytes(value, {0}, {1e15}); });
  fields.finish();
  return layer;
}

std::vector<PlainLayerSpec> read_plain_layers(const JsonNode& node, const std::string& where, Reading& reading) {
  const std::vector<JsonNode> elements = node.elements();
  if (elements.empty()) node.fail("at least one layer");
  if (elements.size() > static_cast<std::size_t>(model_limits::plain_layers))
    node.fail(fmt::format("at most {} layers", text_of(model_limits::plain_layers)), "",
              text_of(static_cast<std::int64_t>(elements.size())) + " layers");
  std::vector<PlainLayerSpec> layers;
  for (const JsonNode& element : elements)
    layers.push_back(read_plain_layer(element, where + "/" + std::to_string(layers.size()), reading));
  return layers;
}

void read_transformer(ObjectReader& fields, const std::string& where, ModelSpec& model) {
  Reading& reading = fields.reading();
  fields.required("hidden", model.hidden, integer_in(1, model_limits::hidden));
  fields.required("blocks", model.blocks, integer_in(1, model_limits::blocks));
  fields.required("vocabulary", model.vocabulary, integer_in(1, model_limits::vocabulary));
  fields.required("sequence_length", model.sequence_length, integer_in(1, model_limits::sequence));
  fields.required("attention", model.attention, [&](const JsonNode& node) {
    return read_attention(node, where + "/attention", model.hidden, reading);
  });
  fields.required("mlp", model.mlp, [&](const JsonNode& node) { return read_mlp(node, where + "/mlp", reading); });
  fields.optional("moe", model.moe, [&](const JsonNode& node) { return read_moe(node, where + "/moe", reading); });
  fields.optional("embedding", model.embedding,
                  [&](const JsonNode& node) { return read_embedding(node, where + "/embedding", reading); });
  fields.optional("head", model.head, [&](const JsonNode& node) { return read_head(node, where + "/head", reading); });
  fields.optional("encoder_blocks", model.encoder_blocks, integer_in(0, model_limits::blocks));
  fields.optional("encoder_sequence_length", model.encoder_sequence_length, integer_in(1, model_limits::sequence));
  fields.optional("prediction_modules", model.prediction_modules, integer_in(0, 16));
  fields.optional("post_norms", model.post_norms, read_boolean);
  if (model.encoder_blocks > model.blocks) {
    reading.attempt([&] {
      fields.object()
          .at("encoder_blocks")
          .fail(fmt::format("at most as many as blocks ({})", model.blocks), text_of(model.blocks));
    });
  }
  fields.defaulted(
      "norm", model.norm, word_of(norm_words), [](Norm choice) { return to_text(choice); }, "as in GPT");
  fields.defaulted(
      "positions", model.positions, word_of(positions_words), [](Positions choice) { return to_text(choice); },
      "as in GPT");
  fields.defaulted("tied_embeddings", model.tied_embeddings, read_boolean, text_of_bool, "as in GPT");
  fields.defaulted("dropout", model.dropout, number_in(0.0, 0.999), text_of_number, "most large models train without");
}

}  // namespace

ModelSpec read_model(const JsonNode& object, const std::string& where, Reading& reading) {
  ModelSpec model;
  ObjectReader fields(object, where, reading);
  fields.required("name", model.name, read_nonempty_string);
  fields.optional("source", model.source, read_string);
  std::string description;
  fields.optional("description", description, read_string);
  const bool plain = fields.optional("plain_layers", model.plain_layers, [&](const JsonNode& node) {
    return read_plain_layers(node, where + "/plain_layers", reading);
  });
  if (!plain) read_transformer(fields, where, model);
  fields.finish();
  return model;
}

}  // namespace stagecraft
