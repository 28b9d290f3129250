#pragma once
// Why the winner won: each of its settings held against the best candidate that has another value there.

#include <string>
#include <vector>

#include "search/search.hpp"

namespace stagecraft {

/// One sentence or two on one setting of the winner.
struct SettingReason {
  std::string path;  // "parallel.tensor"
  std::string text;  // "TP 8 keeps ... inside a node; TP 4 takes 3.1 % longer, TP 2 does not fit in memory"
};

/// In the order of candidate_paths; settings of which the space has one value are left out. Precondition: the result's
/// ranking is not empty.
std::vector<SettingReason> explain_winner(const SearchResult& result, const Scenario& scenario);

/// The same as one paragraph.
std::string winner_paragraph(const SearchResult& result, const Scenario& scenario);

/// The commonest reasons why candidates cannot run, most frequent first: how often, and an example.
struct CommonReason {
  std::int64_t count = 0;
  std::string text;
  Candidate example;
};
std::vector<CommonReason> common_reasons(const SearchResult& result);

}  // namespace stagecraft
