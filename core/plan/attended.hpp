#pragma once
// How many pairs of query and key attention works on: the whole square, half of it under a causal mask, less in a
// window or where documents are packed into one sequence.

#include <cstdint>
#include <span>

#include "spec/run_spec.hpp"

namespace stagecraft {

/// What the mask leaves.
struct Mask {
  bool causal = true;
  std::int64_t window = 0;               // tokens that a query sees at most; 0: all
  std::span<const LengthShare> lengths;  // packed documents; empty: one as long as the sequence
};

/// Pairs of the first `tokens` tokens of a sequence with their keys. A causal document of s tokens counts s^2 / 2 (the
/// diagonal halved), s w - w^2 / 2 in a window of w < s; without a causal mask s^2, or twice that of the window.
double attended_pairs(const Mask& mask, double tokens);

/// Pairs of one rank of a context group over a sequence of `tokens`: the average, and those of the busiest rank. With
/// zig-zag slices (rank i holds slices i and 2c-1-i of 2c) all ranks have the average; without them the last rank of a
/// causal sequence has 2 - 1/c times as many (arXiv 2311.09431, section 3).
struct ContextPairs {
  double average = 0, busiest = 0;
};
ContextPairs context_pairs(const Mask& mask, double tokens, std::int64_t context, bool zig_zag);

/// Tokens of the data rank with the most attention over the average, minus 1: with documents of several lengths the
/// rank that got the long ones is waited for. The standard deviation of the pairs of one rank's `sequences` sequences
/// (documents drawn by their share of tokens) times the expected largest of `ranks` normal draws, sqrt(2 ln ranks).
double packing_imbalance(const Mask& mask, double tokens, double sequences, double ranks);

}  // namespace stagecraft
