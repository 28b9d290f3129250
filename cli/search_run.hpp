#pragma once
// A search from the words of a command line to its result; search and suggest share it.

#include "command_line.hpp"
#include "journal.hpp"
#include "search/search.hpp"

namespace stagecraft::cli {

struct SearchRequest {
  std::string file;            // a scenario, or:
  std::string model, cluster;  // of the library, or paths
  std::int64_t gpus = 0;       // 0: those of the scenario's cluster
  std::int64_t global_batch = 0;
  std::vector<std::string> overrides, vary, objectives;
  double reserve = 0.05;  // share of memory kept free
  std::int64_t simulations = 24, keep = 10;
  int threads = 0;
  bool estimate = false;
  bool progress = false;  // a line a second on standard error
  JournalOptions journal;
  std::vector<Written> written;  // places that are written, kept apart from every file that is read
};

struct SearchRun {
  SearchContext context;
  SearchOptions options;
  SearchResult result;
  std::int64_t gpus = 0;
  std::string title;  // "gpt-145b on 1536 GPUs of selene, global batch 2304"
};

/// The scenario text of a model and a cluster, or the request's file and overrides as load_scenario takes them.
std::string scenario_text(const SearchRequest& request);
std::vector<std::string> search_overrides(const SearchRequest& request, const Library& library);

SearchRun run_request(const SearchRequest& request, const Console& console);

/// --vary, --objective, --reserve, --simulate, --estimate, --threads, --progress, --set
void add_search_options(CLI::App& app, SearchRequest& request);

/// The candidate as a scenario that runs, whole, or on top of the request's file. `place`: where it will be written.
std::string candidate_scenario(const SearchRequest& request, const SearchRun& run, const Candidate& candidate,
                               const std::string& description, const std::string& place);

}  // namespace stagecraft::cli
