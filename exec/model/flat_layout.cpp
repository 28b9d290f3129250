#include "exec/model/flat_layout.hpp"

#include <algorithm>
#include <numeric>

namespace stagecraft {

namespace {

constexpr std::int64_t alignment = 64;  // elements

std::int64_t round_up(std::int64_t value, std::int64_t step) {
  return (value + step - 1) / step * step;
}

int place_of(const Parameter& parameter) {
  if (parameter.tied) return 0;
  return parameter.vector ? 2 : 1;
}

void add_buckets(std::int64_t begin, std::int64_t end, std::int64_t size, std::vector<FlatSpan>& buckets) {
  for (std::int64_t at = begin; at < end; at += size) buckets.push_back({at, std::min(size, end - at)});
}

}  // namespace

FlatLayout lay_out(const std::deque<Parameter>& parameters, std::int64_t ranks, std::int64_t bucket_elements,
                   bool tied_counts, bool replicas_count) {
  FlatLayout layout;
  layout.ranks = ranks;
  layout.offsets.resize(parameters.size());
  std::vector<std::size_t> order(parameters.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::stable_sort(order.begin(), order.end(),
                   [&](std::size_t a, std::size_t b) { return place_of(parameters[a]) < place_of(parameters[b]); });
  const std::int64_t unit = alignment * ranks;
  const std::int64_t bucket = std::max(round_up(bucket_elements, unit), unit);
  std::int64_t at = 0, tied_end = 0;
  for (const std::size_t index : order) {
    const Parameter& parameter = parameters[index];
    layout.offsets[index] = at;
    const bool counted = parameter.tied ? tied_counts : parameter.role == TensorRole::sharded || replicas_count;
    layout.spans.push_back({{at, parameter.elements()}, !parameter.vector, counted});
    at = round_up(at + parameter.elements(), alignment);
    if (parameter.tied) at = tied_end = round_up(at, unit);
  }
  layout.elements = round_up(at, unit);
  add_buckets(0, tied_end, bucket, layout.buckets);
  layout.tied_buckets = layout.buckets.size();
  add_buckets(tied_end, layout.elements, bucket, layout.buckets);
  return layout;
}

}  // namespace stagecraft
