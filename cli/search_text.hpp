#pragma once
// What a search found, in words.

#include "search/sensitivity.hpp"
#include "search_run.hpp"

namespace stagecraft::cli {

std::string search_text(const SearchRun& run, const std::vector<Sensitivity>& sensitivity, std::size_t lines);

/// Ranking, then what was not timed, does not fit or cannot run: all candidates as points.
std::vector<Point> search_points(const SearchResult& result);

}  // namespace stagecraft::cli
