#include "plan/attended.hpp"

#include <algorithm>
#include <cmath>

namespace stagecraft {
namespace {

double of_document(const Mask& mask, double tokens) {
  const double window = mask.window > 0 ? static_cast<double>(mask.window) : tokens;
  const double seen = std::min(window, tokens);
  const double below = tokens * seen - seen * seen / 2;
  return mask.causal ? below : std::min(2 * below, tokens * tokens);
}

}  // namespace

double attended_pairs(const Mask& mask, double tokens) {
  if (mask.lengths.empty()) return of_document(mask, tokens);
  double pairs = 0;
  for (const LengthShare& part : mask.lengths) {
    const double length = std::min(static_cast<double>(part.length), tokens);
    if (length > 0) pairs += part.share * tokens / length * of_document(mask, length);
  }
  return pairs;
}

ContextPairs context_pairs(const Mask& mask, double tokens, std::int64_t context, bool zig_zag) {
  const double ranks = static_cast<double>(context);
  const double all = attended_pairs(mask, tokens);
  ContextPairs pairs{all / ranks, all / ranks};
  // Documents lie anywhere in a sequence: no slice is the dearest.
  if (zig_zag || !mask.causal || !mask.lengths.empty()) return pairs;
  pairs.busiest = all - attended_pairs(mask, tokens - tokens / ranks);
  return pairs;
}

double packing_imbalance(const Mask& mask, double tokens, double sequences, double ranks) {
  if (mask.lengths.size() < 2 || ranks < 2) return 0;
  double mean = 0, square = 0, documents = 0;  // pairs per token, weighted by tokens; documents of a sequence
  for (const LengthShare& part : mask.lengths) {
    const double length = std::min(static_cast<double>(part.length), tokens);
    const double per_token = of_document(mask, length) / length;
    mean += part.share * per_token;
    square += part.share * per_token * per_token;
    documents += part.share * tokens / length;
  }
  const double deviation = std::sqrt(std::max(0.0, square - mean * mean) / std::max(1.0, documents * sequences));
  return mean > 0 ? deviation / mean * std::sqrt(2 * std::log(ranks)) : 0;
}

}  // namespace stagecraft
