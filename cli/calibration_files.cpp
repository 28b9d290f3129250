#include "calibration_files.hpp"

#include "base/json_merge.hpp"
#include "spec/library.hpp"

namespace stagecraft::cli {
namespace {

constexpr const char* folder = "calibrations";

void add_profile(std::vector<std::string>& files, const std::string& name, const Library& library) {
  files.push_back(locate(name, folder, library));
  const std::string path = files.back();
  const JsonDocument profile = load_extended(path, [&](const JsonNode& node) {
    files.push_back(locate(node, folder, library));
    return files.back();
  });
  if (const auto software = profile.root().find("default_software"))
    files.push_back(locate(*software, folder, library));
}

}  // namespace

std::vector<std::string> calibration_files(const std::string& name_or_path, const Library& library) {
  std::vector<std::string> files;
  const std::size_t plus = is_path(name_or_path) ? std::string::npos : name_or_path.find('+');
  add_profile(files, name_or_path.substr(0, plus), library);
  if (plus != std::string::npos) add_profile(files, name_or_path.substr(plus + 1), library);
  return files;
}

std::vector<std::string> calibration_files(const Scenario& scenario, const Library& library) {
  std::vector<std::string> files = calibration_files(scenario.calibration, library);
  for (const OtherNodes& kind : scenario.cluster.other_nodes) {
    const std::vector<std::string> more = calibration_files(kind.calibration, library);
    files.insert(files.end(), more.begin(), more.end());
  }
  return files;
}

}  // namespace stagecraft::cli
