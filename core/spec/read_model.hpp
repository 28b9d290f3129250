#pragma once
// A model file: JSON to ModelSpec.

#include <string>

#include "base/json_reader.hpp"
#include "spec/model_spec.hpp"
#include "spec/object_reader.hpp"

namespace stagecraft {

/// `where` is the pointer of the model in the scenario, "/model" or "". Problems and defaults go to `reading`.
ModelSpec read_model(const JsonNode& object, const std::string& where, Reading& reading);

/// The ranges of a model's fields; together they keep every product of shapes below 2^53.
namespace model_limits {
inline constexpr std::int64_t hidden = std::int64_t{1} << 18;
inline constexpr std::int64_t blocks = std::int64_t{1} << 12;
inline constexpr std::int64_t vocabulary = std::int64_t{1} << 24;
inline constexpr std::int64_t sequence = std::int64_t{1} << 24;
inline constexpr std::int64_t heads = std::int64_t{1} << 12;
inline constexpr std::int64_t head_dim = std::int64_t{1} << 12;
inline constexpr std::int64_t attention_width = std::int64_t{1} << 19;  // heads * head_dim
inline constexpr std::int64_t ffn_hidden = std::int64_t{1} << 20;
inline constexpr std::int64_t experts = std::int64_t{1} << 14;
inline constexpr std::int64_t plain_layers = std::int64_t{1} << 14;
}  // namespace model_limits

}  // namespace stagecraft
