#pragma once
// What importers share: a scenario under way. They bring the JSON library that it is written with.

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "exchange/exchange.hpp"
#include "exchange/foreign_config.hpp"

namespace stagecraft {

template <class Json>
struct ScenarioDraft {
  Json json = Json::object();
  std::vector<std::string> assumed;
};

/// Degrees as the framework names them, and the key of each in its file.
struct ForeignDegrees {
  std::int64_t tensor = 1, pipeline = 1, context = 1, data = 0;  // 0: what is left of the GPUs
  const char* tensor_key = "";
  const char* pipeline_key = "";
  const char* context_key = "";
  const char* data_key = "";
};

/// What is left of the GPUs goes to data ranks.
struct PlacedDegrees {
  std::int64_t tensor = 1, pipeline = 1, context = 1, data = 1, nodes = 1;
};

/// Refuses a world size that is not the product of the degrees, with the key of their file. `gpus`: 0 if unknown.
PlacedDegrees placed(ForeignConfig& config, const ForeignDegrees& degrees, std::int64_t gpus,
                     const ImportRequest& request);

/// Sets parallel.tensor, pipeline, context, data and the cluster.
template <class Json>
void set_degrees(ScenarioDraft<Json>& draft, ForeignConfig& config, const ForeignDegrees& degrees, std::int64_t gpus,
                 const ImportRequest& request) {
  const PlacedDegrees place = placed(config, degrees, gpus, request);
  draft.assumed.push_back("cluster: " + std::to_string(place.nodes) + " nodes of " + request.cluster);
  draft.json["cluster"]["extends"] = request.cluster;
  draft.json["cluster"]["nodes"] = place.nodes;
  Json& parallel = draft.json["parallel"];
  parallel["tensor"] = place.tensor;
  parallel["pipeline"] = place.pipeline;
  parallel["context"] = place.context;
  parallel["data"] = place.data;
}

/// The model part; refuses heads that do not divide by the tensor degree under the key of their file.
void check_heads(ForeignConfig& config, std::int64_t heads, const char* heads_key, std::int64_t tensor);

/// The digits (at most nine) behind a prefix of a text.
std::optional<std::int64_t> leading_number(std::string_view text, std::string_view prefix);

template <class Json>
Imported finished(const ScenarioDraft<Json>& draft, const ForeignConfig& config) {
  return {draft.json.dump(2) + "\n", config.left(), draft.assumed};
}

}  // namespace stagecraft
