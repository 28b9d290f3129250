#include "input_checksum.hpp"

#include <fmt/format.h>

#include "base/file_io.hpp"
#include "calibration_files.hpp"
#include "trace/crc32.hpp"

namespace stagecraft::cli {

std::string input_checksum(const Scenario& scenario, const Library& library, std::vector<std::string>& files) {
  std::vector<std::string> read = scenario.files;
  for (const std::string& file : calibration_files(scenario, library)) read.push_back(file);
  std::uint32_t sum = crc32("stagecraft " STAGECRAFT_VERSION);
  for (const std::string& file : read) {
    sum = crc32(read_file(file), sum);
    files.push_back(file);
  }
  return fmt::format("{:08x}", sum);
}

}  // namespace stagecraft::cli
