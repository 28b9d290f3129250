#include <fmt/core.h>

#include "report/keys.hpp"

namespace stagecraft {
namespace {

bool repeats(const std::string& path) {
  for (const char* const ending : {"_low", "_high", "_evidence", ".fraction"}) {
    if (path.ends_with(ending)) return true;
  }
  return path.starts_with("critical_path.") || path.starts_with("stages[].breakdown.");
}

}  // namespace

std::string report_keys_markdown() {
  std::string out = "| key | type | meaning | formula |\n|---|---|---|---|\n";
  for (const ReportKey& key : report_keys()) {
    if (!repeats(key.path))
      out += fmt::format("| `{}` | {} | {} | {} |\n", key.path, key.type, key.meaning, key.formula);
  }
  return out;
}

}  // namespace stagecraft
