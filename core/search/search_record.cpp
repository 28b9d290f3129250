#include "search/search_record.hpp"

#include <array>
#include <nlohmann/json.hpp>

#include "base/input_error.hpp"

namespace stagecraft {
namespace {

using Json = nlohmann::ordered_json;

constexpr std::array figures{&Judgement::bound_s,   &Judgement::peak_memory_bytes, &Judgement::memory_limit_bytes,
                             &Judgement::tokens,    &Judgement::model_flops,       &Judgement::hardware_flops,
                             &Judgement::peak_flops};

void add_line(std::string& lines, const Json& entry) {
  if (!lines.empty()) lines += "\n";
  lines += entry.dump(-1, ' ', false, Json::error_handler_t::replace);
}

Json entry_of(std::int64_t candidate, const Judgement& judgement) {
  if (!judgement.reason.empty()) return {{"candidate", candidate}, {"reason", judgement.reason}};
  Json values = Json::array();
  for (const auto figure : figures) values.push_back(judgement.*figure);
  return {{"candidate", candidate}, {"fits", judgement.fits}, {"judged", std::move(values)}};
}

Judgement judgement_of(const Json& entry) {
  Judgement judgement;
  if (entry.contains("reason")) {
    judgement.reason = entry.at("reason").get<std::string>();
    return judgement;
  }
  judgement.fits = entry.at("fits").get<bool>();
  for (std::size_t i = 0; i < figures.size(); ++i) judgement.*figures[i] = entry.at("judged").at(i).get<double>();
  return judgement;
}

}  // namespace

std::string record_lines(const SearchRecord& record) {
  std::string lines;
  for (const auto& [candidate, judgement] : record.judged) add_line(lines, entry_of(candidate, judgement));
  for (const auto& [candidate, seconds] : record.closed_form_s)
    add_line(lines, {{"candidate", candidate}, {"closed_form_s", seconds}});
  for (const auto& [candidate, seconds] : record.simulated_s)
    add_line(lines, {{"candidate", candidate}, {"simulated_s", seconds}});
  return lines;
}

void read_record_line(const std::string& line, const std::string& path, SearchRecord& record) {
  try {
    const Json entry = Json::parse(line);
    const auto candidate = entry.at("candidate").get<std::int64_t>();
    if (entry.contains("closed_form_s")) {
      record.closed_form_s[candidate] = entry.at("closed_form_s").get<double>();
    } else if (entry.contains("simulated_s")) {
      record.simulated_s[candidate] = entry.at("simulated_s").get<double>();
    } else {
      record.judged[candidate] = judgement_of(entry);
    }
  } catch (const Json::exception&) {
    throw InputError(InputProblem{path, 0, 0, "", line.substr(0, 60), "what a search finds out of a candidate", ""});
  }
}

}  // namespace stagecraft
