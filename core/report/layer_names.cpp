#include "report/layer_names.hpp"

#include <fmt/core.h>

namespace stagecraft {
namespace {

const char* word_of(LayerKind kind) {
  switch (kind) {
    case LayerKind::embedding:
      return "embedding";
    case LayerKind::block:
      return "block";
    case LayerKind::head:
      return "head";
    case LayerKind::loss:
      return "loss";
    case LayerKind::plain:
      return "layer";
  }
  return "";
}

std::string run_of(LayerKind kind, std::int32_t first, std::int32_t last) {
  if (kind != LayerKind::block && kind != LayerKind::plain) return word_of(kind);
  return first == last ? fmt::format("{} {}", word_of(kind), first)
                       : fmt::format("{}s {}-{}", word_of(kind), first, last);
}

}  // namespace

std::string layer_names(const Plan& plan, const std::vector<std::int32_t>& stages) {
  std::string text;
  for (const std::int32_t stage : stages) {
    const StageLayers range = plan.stages[static_cast<std::size_t>(stage)];
    for (std::int32_t i = range.first; i < range.last;) {
      const Layer first = plan.layers[static_cast<std::size_t>(i)];
      std::int32_t last = first.index;
      for (++i; i < range.last && plan.layers[static_cast<std::size_t>(i)].kind == first.kind; ++i) ++last;
      if (!text.empty()) text += ", ";
      text += run_of(first.kind, first.index, last);
    }
  }
  return text;
}

}  // namespace stagecraft
