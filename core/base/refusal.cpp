#include "base/refusal.hpp"

#include <utility>

namespace stagecraft {
namespace {

std::string lines_of(const std::string& file, const Findings& findings) {
  std::string text;
  for (const Finding& finding : findings) {
    if (!text.empty()) text += "\n";
    text += file + ": " + to_text(finding);
  }
  return text;
}

}  // namespace

Refusal::Refusal(const std::string& file, Findings findings)
    : std::runtime_error(lines_of(file, findings)), findings_(std::move(findings)) {}

void refuse_errors(const std::string& file, const Findings& findings) {
  if (has_errors(findings)) throw Refusal(file, findings);
}

}  // namespace stagecraft
