#include "exchange/draft.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace stagecraft {

PlacedDegrees placed(ForeignConfig& config, const ForeignDegrees& degrees, std::int64_t gpus,
                     const ImportRequest& request) {
  constexpr std::int64_t most = 1 << 24;
  const std::int64_t others = degrees.tensor * degrees.pipeline * degrees.context;  // each below 2^20
  if (others > most || degrees.data > most || degrees.data * others > most) {
    config.refuse(degrees.pipeline_key, fmt::format("degrees whose product is at most {}", most));
  }
  if (gpus == 0) gpus = std::max<std::int64_t>(1, degrees.data) * others;
  if (gpus % others != 0) {
    const char* key = degrees.pipeline > 1 ? degrees.pipeline_key
                      : degrees.tensor > 1 ? degrees.tensor_key
                                           : degrees.context_key;
    config.refuse(key, fmt::format("degrees whose product divides {} GPUs (tensor {} x pipeline {} x context {} = {})",
                                   gpus, degrees.tensor, degrees.pipeline, degrees.context, others));
  }
  const std::int64_t data = degrees.data > 0 ? degrees.data : gpus / others;
  if (data * others != gpus) {
    config.refuse(degrees.data_key,
                  fmt::format("{}: {} GPUs over tensor {} x pipeline {} x context {}", gpus / others, gpus,
                              degrees.tensor, degrees.pipeline, degrees.context),
                  fmt::format("{}", gpus / others));
  }
  return {degrees.tensor, degrees.pipeline, degrees.context, data,
          (gpus + request.gpus_per_node - 1) / request.gpus_per_node};
}

void check_heads(ForeignConfig& config, std::int64_t heads, const char* heads_key, std::int64_t tensor) {
  if (heads % tensor == 0) return;
  config.refuse(heads_key, fmt::format("a number of heads that divides by {} tensor ranks", tensor),
                fmt::format("{}", (heads / tensor + 1) * tensor));
}

std::optional<std::int64_t> leading_number(std::string_view text, std::string_view prefix) {
  if (text.substr(0, prefix.size()) != prefix) return std::nullopt;
  text.remove_prefix(prefix.size());
  std::int64_t number = 0;
  std::size_t digits = 0;
  while (digits < text.size() && digits < 9 && text[digits] >= '0' && text[digits] <= '9') {
    number = 10 * number + (text[digits++] - '0');
  }
  if (digits == 0) return std::nullopt;
  return number;
}

}  // namespace stagecraft
