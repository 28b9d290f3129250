#pragma once
// The verbs that hold many ways to train a model against each other; they alone see the room search.

#include "verb.hpp"

namespace stagecraft::cli {

int run_sweep(const Words& words, const Console& console);
int run_merge(const Words& words, const Console& console);
int run_search(const Words& words, const Console& console);
int run_suggest(const Words& words, const Console& console);
int run_solve(const Words& words, const Console& console);

}  // namespace stagecraft::cli
