// What was adjusted so that step times come out, and on how many of them.

#include <catch2/catch.hpp>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <set>

namespace {

using Json = nlohmann::json;

struct Fitted {
  std::set<std::string> constants;  // the same value under several dtypes is one constant
  std::size_t fewest_records = 0;
};

void collect(const std::string& name, const Json& node, Fitted& fitted) {
  if (!node.is_object()) return;
  if (!node.contains("evidence")) {
    for (const auto& [key, value] : node.items()) collect(key, value, fitted);
    return;
  }
  if (node["evidence"] != "fitted") return;
  const std::string source = node["source"];
  INFO(name << ": " << source);
  const std::string opening = "fitted to ";
  REQUIRE(source.rfind(opening, 0) == 0);
  const std::size_t records = std::stoul(source.substr(opening.size()));
  CHECK(source.find("step times") != std::string::npos);
  fitted.constants.insert(name + node["value"].dump());
  fitted.fewest_records = fitted.fewest_records == 0 ? records : std::min(fitted.fewest_records, records);
}

}  // namespace

TEST_CASE("no profile has more fitted constants than a tenth of the records that it was fitted on") {
  std::size_t profiles = 0;
  const std::string folder = std::string(STAGECRAFT_SOURCE_DIR) + "/topologies/calibrations";
  for (const auto& entry : std::filesystem::directory_iterator(folder)) {
    if (entry.path().extension() != ".json") continue;
    std::ifstream file(entry.path());
    Fitted fitted;
    collect("", Json::parse(file), fitted);
    INFO(entry.path());
    CHECK(10 * fitted.constants.size() <= fitted.fewest_records);
    profiles += fitted.constants.empty() ? 0 : 1;
  }
  CHECK(profiles > 0);
}
