#pragma once
// The model as the user wrote it: shapes and dtypes of its layers. Knows nothing of ranks.

#include <cstdint>
#include <string>
#include <vector>

#include "base/units.hpp"

namespace stagecraft {

enum class Dtype : std::uint8_t { fp32, tf32, fp16, bf16, fp8, int8, int32, int64 };
Bytes size_of(Dtype dtype);        // tf32 is stored as fp32
std::string to_text(Dtype dtype);  // as a file writes it: "bf16"

enum class Norm : std::uint8_t { layer_norm, rms_norm };
enum class Activation : std::uint8_t { gelu, relu, silu };
enum class Positions : std::uint8_t {
  none,
  learned,
  rotary,
  yarn,     // rotary, stretched and scaled by a concentration factor (arXiv 2309.00071, section 3.4)
  relative  // a bias per head and bucket
};
/// Queries and keys are rotated.
constexpr bool rotates(Positions positions) {
  return positions == Positions::rotary || positions == Positions::yarn;
}

std::string to_text(Norm norm);  // "layer_norm"
std::string to_text(Activation activation);
std::string to_text(Positions positions);

/// Multi-head latent attention (arXiv 2405.04434, section 2.1): queries, keys and values go through narrow latents.
struct LatentSpec {
  std::int64_t query_rank = 0;  // width of the query's latent; 0: queries are projected directly
  std::int64_t kv_rank = 0;     // width of the common latent of keys and values
  std::int64_t rope_dim = 0;    // part of a head that carries positions; shared by all heads in the key
  std::int64_t value_dim = 0;   // width of one head's value; head_dim is that of query and key without rope_dim
};

struct AttentionSpec {
  std::int64_t heads = 1;
  std::int64_t kv_heads = 1;  // fewer than heads: grouped-query attention
  std::int64_t head_dim = 1;
  bool causal = true;
  bool bias = true;                   // of the projections to queries, keys and values
  bool output_bias = true;            // where the projections have biases, the output projection has one too
  LatentSpec latent = {};             // kv_rank > 0: latent attention
  bool qk_norm = false;               // an RMS norm over each head of queries and keys
  std::int64_t window = 0;            // tokens that a query sees at most in windowed blocks; 0: no window
  std::int64_t global_every = 0;      // of so many blocks the last one has no window; 0: every block has it
  std::int64_t relative_buckets = 0;  // rows of the bias table of relative positions
};

struct MlpSpec {
  std::int64_t ffn_hidden = 1;
  bool gated = false;  // gate and up projection, activation(gate) * up
  Activation activation = Activation::gelu;
  bool bias = true;
  double clamp = 0;  // what enters the activation (and the gate) is held within +-clamp; 0: it is not
};

/// Experts in the place of a block's MLP; each is an MLP of the model's kind with its own inner width.
struct MoeSpec {
  std::int64_t experts = 0;  // of one block; 0: the model is dense
  std::int64_t top_k = 1;    // experts that a token is sent to
  std::int64_t ffn_hidden = 0;
  std::int64_t shared_ffn_hidden = 0;  // inner width of the experts that every token passes; 0: none
  std::int64_t dense_blocks = 0;       // the first blocks have a dense MLP
  double capacity_factor = 0;          // tokens an expert takes, over the even share; 0: dropless
  std::int64_t every = 1;              // of so many blocks the first one has experts, from dense_blocks on
  std::int64_t nodes_per_token = 0;    // node-limited routing: nodes that the experts of a token lie on; 0: any
};

/// What stands in front of the blocks beside the table of words and the positions.
struct EmbeddingSpec {
  std::int64_t patch_inputs =
      0;  // numbers of a patch that is projected (with a bias) in the place of a table; 0: table
  std::int64_t extra_tokens = 0;  // learned tokens put in front of the sequence (the class token)
  std::int64_t token_types = 0;   // rows of a second table (segments)
  bool norm = false;              // a norm over the sum
};

/// What stands behind the blocks.
struct HeadSpec {
  bool norm = true;          // final norm
  bool projection = true;    // to the vocabulary (or the classes)
  bool bias = false;         // of the projection
  bool transform = false;    // dense layer of hidden x hidden, activation and norm before the projection
  bool pooler = false;       // dense layer of hidden x hidden on the first token, beside the projection
  bool first_token = false;  // only the first token of a sequence reaches the projection (classification)
};

/// A layer of anything else (MLPs, CNNs): given by what it costs, for one sample.
struct PlainLayerSpec {
  std::string name;
  Flops forward_flops_per_sample;
  double parameters = 0;
  Bytes output_per_sample;       // sent to the next stage
  Bytes activations_per_sample;  // kept for the backward pass
};

struct ModelSpec {
  std::string name;
  std::string source;  // where the shape was published
  std::int64_t hidden = 0;
  std::int64_t blocks = 0;  // transformer blocks
  std::int64_t vocabulary = 0;
  std::int64_t sequence_length = 0;
  AttentionSpec attention;
  MlpSpec mlp;
  MoeSpec moe = {};
  EmbeddingSpec embedding = {};
  HeadSpec head = {};
  std::int64_t encoder_blocks = 0;  // the first blocks form an encoder; those behind attend to its output as well
  std::int64_t encoder_sequence_length = 0;  // tokens of the encoder's sequence; 0: as many as the decoder's
  std::int64_t prediction_modules = 0;       // multi-token prediction: modules behind the blocks (arXiv 2412.19437)
  bool post_norms = false;                   // a second norm behind attention and MLP, before the residual
  Norm norm = Norm::layer_norm;
  Positions positions = Positions::learned;
  bool tied_embeddings = true;
  double dropout = 0.0;  // > 0: masks are computed and kept
  std::vector<PlainLayerSpec>
      plain_layers;  // if not empty, the model is this list and all fields above but name are unused
};

enum class LayerKind : std::uint8_t { embedding, block, head, loss, plain };

inline bool has_output_bias(const AttentionSpec& attention) {
  return attention.bias && attention.output_bias;
}

/// Blocks and the modules of multi-token prediction behind them: what a partition deals out.
std::int64_t block_count(const ModelSpec& model);

/// One entry of the list that a partition cuts into stages. The final norm belongs to the head.
struct Layer {
  LayerKind kind = LayerKind::block;
  std::int32_t index = 0;  // among its kind: block 0 .. block_count-1, plain layer 0 .. n-1
};

/// embedding, blocks, head, loss; or the plain layers followed by loss-free nothing else.
std::vector<Layer> layers_of(const ModelSpec& model);

/// What a layer may be called where layers are counted: "embedding", "head", "block" and beside it "dense" or
/// "experts", "encoder" or "decoder", "prediction"; a plain layer's name. The loss has no name: it goes with the head.
std::vector<std::string> types_of(const ModelSpec& model, const Layer& layer);

/// Trainable parameters of one layer, unsharded. Tied embeddings count in the embedding layer only.
double parameters_of(const ModelSpec& model, const Layer& layer);
double parameters_of(const ModelSpec& model);

/// Those that every rank of a tensor group holds whole: projections down to the latents of attention, and routers.
/// Norms and biases of row-parallel layers are whole too, and too few to count.
double whole_parameters_of(const ModelSpec& model, const Layer& layer);

/// Those of the experts among them; and those that a token passes, top_k experts of each block.
double expert_parameters_of(const ModelSpec& model, const Layer& layer);
double active_parameters_of(const ModelSpec& model);

/// What a block is made of; blocks that agree in it have equal bodies.
struct BlockKind {
  bool experts = false;
  bool windowed = false;
  bool encoder = false;     // sees the encoder's sequence
  bool cross = false;       // attends to the encoder's output as well
  bool prediction = false;  // a module of multi-token prediction
  friend bool operator==(const BlockKind&, const BlockKind&) = default;
};
BlockKind block_kind(const ModelSpec& model, std::int32_t index);

}  // namespace stagecraft
