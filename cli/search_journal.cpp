#include "search_journal.hpp"

#include <fmt/format.h>

#include "input_checksum.hpp"

namespace stagecraft::cli {
namespace {

/// As the command line takes them, without those that change no figure.
std::vector<std::string> options_of(const SearchRequest& request) {
  std::vector<std::string> options;
  const auto add = [&](const char* name, std::string value) {
    options.emplace_back(name);
    options.push_back(std::move(value));
  };
  if (!request.model.empty()) add("--model", request.model);
  if (!request.cluster.empty()) add("--cluster", request.cluster);
  if (request.gpus > 0) add("--gpus", fmt::format("{}", request.gpus));
  if (request.global_batch > 0) add("--global-batch", fmt::format("{}", request.global_batch));
  add("--reserve", fmt::format("{}", request.reserve));
  if (!request.estimate) add("--simulate", fmt::format("{}", request.simulations));
  return options;
}

}  // namespace

SweepIdentity identify(const SearchRequest& request, const Scenario& scenario, const Library& library,
                       std::vector<std::string>& files) {
  SweepIdentity identity;
  identity.search = true;
  identity.scenario = request.file;
  identity.inputs = input_checksum(scenario, library, files);
  identity.kind = request.estimate ? "estimated" : "predicted";
  identity.fixed = request.overrides;
  for (const std::string& text : request.vary) identity.axes.push_back(parse_axis(text));
  identity.objectives = request.objectives;
  identity.options = options_of(request);
  return identity;
}

SearchJournal open_search_journal(const SearchRequest& request, const SweepIdentity& identity, const Console& console) {
  SearchRecord known;
  std::optional<Journal> file = open_journal(
      request.journal, identity, [&](const std::string& line) { read_record_line(line, request.journal.path, known); });
  if (request.journal.resume)
    console.message("search", fmt::format("{} candidates are judged, {} timed in closed form and {} simulated already",
                                          known.judged.size(), known.closed_form_s.size(), known.simulated_s.size()));
  return {std::move(file), std::move(known)};
}

void attach(SearchOptions& options, SearchJournal& journal) {
  if (!journal.file) return;
  options.known = &journal.known;
  options.found = [&journal](const SearchRecord& news) { journal.file->append(record_lines(news)); };
}

void detach(SearchOptions& options) {
  options.known = nullptr;
  options.found = nullptr;
}

}  // namespace stagecraft::cli
