#include "validate/profile_text.hpp"

#include <nlohmann/json.hpp>

namespace stagecraft {
namespace {

using Json = nlohmann::ordered_json;

Json& place(Json& profile, const std::string& name) {
  Json* at = &profile;
  for (const std::string& key : profile_keys(name)) at = &(*at)[key];
  return *at;
}

}  // namespace

std::vector<std::string> profile_keys(const std::string& name) {
  const std::size_t first = name.find('/'), last = name.rfind('/');
  if (first == std::string::npos) return {name};
  if (first == last) return {name.substr(0, first), name.substr(first + 1)};
  return {name.substr(0, first), name.substr(first + 1, last - first - 1), name.substr(last + 1)};
}

std::string to_json(const ProfileDraft& draft) {
  Json profile = {{"kind", draft.of_software ? "software" : "hardware"},
                  {"extends", draft.extends},
                  {"description", draft.description}};
  if (!draft.gpus.empty()) profile["gpus"] = draft.gpus;
  for (const auto& [name, constant] : draft.constants) {
    place(profile, name) = {{"value", constant.value},
                            {"relative_error", constant.relative_error},
                            {"evidence", to_text(constant.evidence)},
                            {"source", constant.source}};
  }
  for (const auto& [name, range] : draft.ranges) place(profile, name) = {range.min, range.max};
  for (const auto& [name, word] : draft.words) place(profile, name) = word;
  for (const auto& [name, number] : draft.numbers) place(profile, name) = number;
  return profile.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

}  // namespace stagecraft
