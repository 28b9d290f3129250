#pragma once
// The journal of a search: which request it belongs to, and what an interrupted one left in it.

#include "journal.hpp"
#include "search/search.hpp"
#include "search_run.hpp"

namespace stagecraft::cli {

/// Everything that decides what the search finds; adds the files that it reads to `files`.
SweepIdentity identify(const SearchRequest& request, const Scenario& scenario, const Library& library,
                       std::vector<std::string>& files);

/// What is found goes to a file as it comes; what is in it already is not computed again.
struct SearchJournal {
  std::optional<Journal> file;
  SearchRecord known;
};
SearchJournal open_search_journal(const SearchRequest& request, const SweepIdentity& identity, const Console& console);

/// Makes the search use it. It stays the caller's.
void attach(SearchOptions& options, SearchJournal& journal);
void detach(SearchOptions& options);

}  // namespace stagecraft::cli
