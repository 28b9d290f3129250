#include "base/findings.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace stagecraft {

bool has_errors(const Findings& findings) {
  return std::any_of(findings.begin(), findings.end(),
                     [](const Finding& finding) { return finding.severity == Severity::error; });
}

std::string to_text(const Finding& finding) {
  std::string text = finding.severity == Severity::error     ? "error"
                     : finding.severity == Severity::warning ? "warning"
                                                             : "note";
  text += fmt::format(" [{}]", finding.code);
  if (!finding.pointer.empty()) text += fmt::format(" {}", finding.pointer);
  text += fmt::format(": {}", finding.message);
  if (!finding.nearest.empty()) text += fmt::format("; nearest: {}", finding.nearest);
  return text;
}

}  // namespace stagecraft
